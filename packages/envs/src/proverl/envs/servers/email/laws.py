"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.email.app import server
from proverl.envs.servers.email.rules import MOST_KILOBYTES, MOST_RECIPIENTS
from proverl.envs.servers.email.tables import (
    Attachment,
    DraftAttachment,
    DraftRecipient,
    Email,
    EmailAttachment,
    EmailDraft,
    EmailLabel,
    EmailRecipient,
    Labelling,
)

_DRAFT, _EMAIL = EmailDraft.__table__.c, Email.__table__.c


@server.invariant
def sent_drafts_are_what_arrived(ctx: Context) -> None:
    """A sent draft and its email agree on text, recipients and files, and the user is the sender."""
    pairs = select(
        _DRAFT.id, _DRAFT.email_id, _EMAIL.sender_id, (_DRAFT.body == _EMAIL.body) & (_DRAFT.subject == _EMAIL.subject)
    )
    for draft_id, email_id, sender_id, same in ctx.db.execute(
        pairs.join(Email.__table__, _EMAIL.id == _DRAFT.email_id)
    ):
        assert same and sender_id is None, f"{draft_id} and {email_id} differ"
        for draft_rows, email_rows, column in (
            (DraftRecipient, EmailRecipient, "contact_id"),
            (DraftAttachment, EmailAttachment, "attachment_id"),
        ):
            left, right = draft_rows.__table__.c, email_rows.__table__.c
            meant = ctx.rows(select(left[column]).where(left.draft_id == draft_id).order_by(left[column]))
            got = ctx.rows(select(right[column]).where(right.email_id == email_id).order_by(right[column]))
            assert meant == got, f"{draft_id} and {email_id} differ in {column}"


@server.invariant
def one_progress_and_no_label_twice(ctx: Context) -> None:
    """Of the labels on an email none is there twice, and at most one is a progress."""
    current = (
        select(Labelling.email_id, Labelling.label_id, EmailLabel.kind)
        .join(EmailLabel.__table__, EmailLabel.id == Labelling.label_id)
        .where(~Labelling.replaced)
    )
    seen: set[tuple[str, str]] = set()
    for row in ctx.rows(current):
        key = (row["email_id"], row["label_id"] if row["kind"] == "topic" else "progress")
        assert key not in seen, f"{key[0]} carries {key[1]} twice"
        seen.add(key)


@server.invariant
def restricted_files_stay(ctx: Context) -> None:
    """No draft carries an infected file, or one whose sender does not allow forwarding."""
    held = (
        select(EmailAttachment.attachment_id)
        .join(Email.__table__, Email.id == EmailAttachment.email_id)
        .where(Email.do_not_forward)
    )
    leaks = (
        select(DraftAttachment.draft_id)
        .join(Attachment.__table__, Attachment.id == DraftAttachment.attachment_id)
        .where(Attachment.infected | Attachment.id.in_(held))
    )
    assert not ctx.rows(leaks), f"carry what must not leave: {ctx.rows(leaks)}"


@server.invariant
def drafts_stay_within_limits(ctx: Context) -> None:
    """No draft has more recipients or kilobytes than an email may have."""
    crowded = select(DraftRecipient.draft_id).group_by(DraftRecipient.draft_id).having(func.count() > MOST_RECIPIENTS)
    heavy = (
        select(DraftAttachment.draft_id)
        .join(Attachment.__table__, Attachment.id == DraftAttachment.attachment_id)
        .group_by(DraftAttachment.draft_id)
        .having(func.sum(Attachment.size_kb) > MOST_KILOBYTES)
    )
    assert not ctx.rows(crowded) and not ctx.rows(heavy), f"too much: {ctx.rows(crowded)}, {ctx.rows(heavy)}"


@server.invariant
def what_goes_out_is_addressed(ctx: Context) -> None:
    """Scheduled drafts and sent emails of the user have a To recipient."""
    to_draft = select(DraftRecipient.draft_id).where(DraftRecipient.role == "to")
    to_email = select(EmailRecipient.email_id).where(EmailRecipient.role == "to")
    drafts = select(_DRAFT.id).where(_DRAFT.status == "scheduled", _DRAFT.id.not_in(to_draft))
    emails = select(_EMAIL.id).where(_EMAIL.sender_id.is_(None), _EMAIL.id.not_in(to_email))
    assert not ctx.rows(drafts) and not ctx.rows(emails), f"to nobody: {ctx.rows(drafts)}, {ctx.rows(emails)}"

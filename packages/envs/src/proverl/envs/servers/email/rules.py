"""What the mailbox refuses. Every refusal says what would be right."""

from datetime import timedelta

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.email.tables import (
    Attachment,
    DraftAttachment,
    DraftRecipient,
    Email,
    EmailAttachment,
    EmailContact,
    EmailDraft,
)
from proverl.envs.state import Row

MOST_RECIPIENTS = 10  # beyond that the company wants a mailing list
MOST_KILOBYTES = 25_000
SOONEST = timedelta(minutes=30)
LATEST = timedelta(days=365)

_FILE = Attachment.__table__.c
_CARRIED = EmailAttachment.__table__.c
_OF_EMAIL = (
    select(_FILE.id, _FILE.filename, _FILE.size_kb, _FILE.infected)
    .join(EmailAttachment.__table__, _CARRIED.attachment_id == _FILE.id)
    .where(_CARRIED.email_id == bindparam("email"))
    .order_by(_FILE.filename, _FILE.id)
)
_SIZE_OF_DRAFT = (
    select(func.coalesce(func.sum(_FILE.size_kb), 0))
    .join(DraftAttachment.__table__, DraftAttachment.__table__.c.attachment_id == _FILE.id)
    .where(DraftAttachment.__table__.c.draft_id == bindparam("draft"))
)
_RECIPIENTS = (
    select(DraftRecipient.contact_id, DraftRecipient.role, EmailContact.name)
    .join(EmailContact.__table__, EmailContact.id == DraftRecipient.contact_id)
    .where(DraftRecipient.draft_id == bindparam("draft"))
    .order_by(DraftRecipient.contact_id)
)
_HELD_BACK_BY = (
    select(Email.id)
    .join(EmailAttachment.__table__, _CARRIED.email_id == Email.id)
    .where(_CARRIED.attachment_id == bindparam("attachment"), Email.do_not_forward)
    .order_by(Email.id)
)


def email(ctx: Context, email_id: str) -> Row:
    """The email. Raises NotFound."""
    return ctx.get(Email, email_id, "search_emails names the emails of a folder")


def kept_email(ctx: Context, email_id: str, purpose: str) -> Row:
    """The email, which is neither spam nor thrown away. Raises NotFound, or Rejected with where to move it first."""
    row = email(ctx, email_id)
    if row["folder"] in ("spam", "trash"):
        target = "inbox" if row["sender_id"] else "archive"
        raise Rejected(f"email {email_id} is in {row['folder']}; move it to the {target} before it is {purpose}")
    return row


def attachments(ctx: Context, email_id: str) -> list[Row]:
    """The files of an email, by name."""
    return ctx.rows(_OF_EMAIL, email=email_id)


def open_draft(ctx: Context, draft_id: str) -> Row:
    """The draft, which can be changed and sent. Raises NotFound, or Rejected when it is scheduled or sent."""
    row = ctx.get(EmailDraft, draft_id, "list_drafts names the drafts")
    if row["status"] == "sent":
        raise Rejected(f"draft {draft_id} was sent as email {row['email_id']}; create another draft")
    if row["status"] == "scheduled":
        raise Rejected(f"draft {draft_id} is scheduled for {row['send_at']}; unschedule it first")
    return row


def recipients(ctx: Context, draft_id: str) -> list[Row]:
    """Whom a draft goes to, with names."""
    return ctx.rows(_RECIPIENTS, draft=draft_id)


def reachable(ctx: Context, contact_id: str) -> Row:
    """The contact, to whom emails can go. Raises NotFound, or Rejected for dead and unattended addresses."""
    row = ctx.get(EmailContact, contact_id, "find_email_contacts names the contacts")
    if row["bounced_on"]:
        raise Rejected(f"{row['address']} has bounced since {row['bounced_on']}; choose another contact")
    if row["kind"] == "service":
        raise Rejected(f"{row['address']} takes no emails, it only sends them; choose a person or a mailing list")
    return row


def may_leave(ctx: Context, file: Row) -> None:
    """Raises Rejected when a file must not be passed on."""
    if file["infected"]:
        raise Rejected(f"the virus scan found {file['filename']} ({file['id']}) infected; choose another attachment")
    held = ctx.scalar(_HELD_BACK_BY, attachment=file["id"])
    if held is not None:
        raise Rejected(
            f"{file['filename']} ({file['id']}) came with {held}, whose sender does not allow forwarding; "
            "ask the sender for a copy that may be passed on"
        )


def room_for(ctx: Context, draft_id: str, size_kb: int) -> int:
    """The draft's kilobytes with that many more. Raises Rejected when they exceed what an email may carry."""
    before = int(ctx.scalar(_SIZE_OF_DRAFT, draft=draft_id))
    if before + size_kb > MOST_KILOBYTES:
        raise Rejected(
            f"draft {draft_id} carries {before:,} KB; {size_kb:,} KB more would exceed the limit of "
            f"{MOST_KILOBYTES:,} KB an email, {MOST_KILOBYTES - before:,} KB are left"
        )
    return before + size_kb


def ready(ctx: Context, row: Row) -> list[Row]:
    """The recipients of a draft that can go out. Raises Rejected when nobody gets it or nothing is in it."""
    found = recipients(ctx, row["id"])
    if not any(recipient["role"] == "to" for recipient in found):
        raise Rejected(f"draft {row['id']} has no To recipient; add one with add_draft_recipient")
    if not row["body"].strip() and not ctx.scalar(_SIZE_OF_DRAFT, draft=row["id"]):
        raise Rejected(f"draft {row['id']} has neither text nor attachment; attach a file or create another draft")
    return found


def sendable_at(ctx: Context, send_at: str) -> None:
    """Raises Rejected when that is too soon or too far away to schedule."""
    soonest = (ctx.now + SOONEST).isoformat(timespec="minutes")
    if send_at < soonest:
        raise Rejected(f"{send_at} is too soon: it is {ctx.timestamp} now; schedule for {soonest} or later")
    latest = (ctx.now + LATEST).isoformat(timespec="minutes")
    if send_at > latest:
        raise Rejected(f"{send_at} is more than a year away; schedule for {latest} or earlier")

"""Write: drafts of new emails, replies and forwards, their recipients and files."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.email import rules, words
from proverl.envs.servers.email.app import server
from proverl.envs.servers.email.correspondence import answer_to
from proverl.envs.servers.email.reading import Limit
from proverl.envs.servers.email.tables import (
    Attachment,
    AttachmentId,
    DraftAttachment,
    DraftRecipient,
    EmailContact,
    EmailContactId,
    EmailDraft,
    EmailDraftId,
    EmailId,
    EmailRecipient,
)
from proverl.envs.state import Row

Role = Literal["to", "cc", "bcc"]
Subject = Annotated[Text, Field(max_length=150, examples=list(words.SUBJECTS))]

_DRAFT = EmailDraft.__table__.c
_DRAFTS = (
    select(_DRAFT.id, _DRAFT.subject, _DRAFT.status, _DRAFT.send_at)
    .where(_DRAFT.status != "sent", or_(bindparam("status") == "", _DRAFT.status == bindparam("status")))
    .order_by(_DRAFT.written_at.desc(), _DRAFT.id)
    .limit(bindparam("limit"))
)
_NAMES = (
    select(DraftRecipient.draft_id, EmailContact.name)
    .join(EmailContact.__table__, EmailContact.id == DraftRecipient.contact_id)
    .where(DraftRecipient.draft_id.in_(_DRAFTS.with_only_columns(_DRAFT.id)))
    .order_by(DraftRecipient.role.desc(), EmailContact.name, EmailContact.id)
)
_ANSWERS = (
    select(_DRAFT.id, _DRAFT.send_at)
    .where(_DRAFT.source_id == bindparam("email"), _DRAFT.kind == "reply", _DRAFT.status == "scheduled")
    .order_by(_DRAFT.id)
)
_SENT_TO = (
    select(EmailRecipient.contact_id, EmailRecipient.role)
    .where(EmailRecipient.email_id == bindparam("email"), EmailRecipient.role != "bcc")
    .order_by(EmailRecipient.contact_id)
)
_HAS_FILE = select(func.count()).where(
    DraftAttachment.draft_id == bindparam("draft"), DraftAttachment.attachment_id == bindparam("attachment")
)


class DraftItem(TypedDict):
    """A draft in a list; `send_at` of a scheduled one."""

    draft_id: EmailDraftId
    subject: str
    recipients: list[str]
    status: Literal["open", "scheduled"]
    send_at: NotRequired[str]


class DraftList(TypedDict):
    """Drafts, the one written last first."""

    drafts: list[DraftItem]


class NewDraft(TypedDict):
    """A draft that waits to be sent."""

    draft_id: EmailDraftId
    subject: str
    recipients: int


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {status}] drafts[, {limit} at most]",
        "show me the[ {limit}] drafts that I wrote last[, only those that are {status}]",
        "check which[ {status}] drafts I have",
        "look through the[ {status}] drafts",
        "tell me what I have in the drafts folder[, up to {limit} entries]",
    ],
)
def list_drafts(
    ctx: Context,
    status: Annotated[Literal["open", "scheduled"] | None, "Only drafts in this state"] = None,
    limit: Annotated[Limit, "Most drafts listed"] = 5,
) -> DraftList:
    """List drafts that are not sent yet, with their recipients and the time they are scheduled for."""
    wanted = {"status": status or "", "limit": limit}
    rows = ctx.rows(_DRAFTS, **wanted)
    recipients: dict[str, list[str]] = {row["id"]: [] for row in rows}
    for row in ctx.rows(_NAMES, **wanted):
        recipients[row["draft_id"]].append(row["name"])
    return {"drafts": [_item(row, recipients[row["id"]]) for row in rows]}


def _item(row: Row, recipients: list[str]) -> DraftItem:
    item: DraftItem = {
        "draft_id": row["id"],
        "subject": row["subject"],
        "recipients": recipients,
        "status": row["status"],
    }
    if row["send_at"]:
        item["send_at"] = row["send_at"]
    return item


def _write(
    ctx: Context, kind: str, subject: str, body: str, source_id: str | None, to: list[tuple[str, str]]
) -> NewDraft:
    row = ctx.insert(
        EmailDraft,
        kind=kind,
        source_id=source_id,
        subject=subject,
        body=body,
        status="open",
        send_at=None,
        email_id=None,
        written_at=ctx.timestamp,
    )
    for contact_id, role in to:
        ctx.insert(DraftRecipient, draft_id=row["id"], contact_id=contact_id, role=role)
    return {"draft_id": row["id"], "subject": subject, "recipients": len(to)}


@server.tool(
    phrases=[
        "draft an email to {email_contact_id} with the subject {subject} and the text {body}",
        "write a new email to {email_contact_id}, titled {subject}, that says {body}, but don't send it yet",
        "prepare an email with the subject {subject} for {email_contact_id}; the text is {body}",
        "create a draft to {email_contact_id}, subject {subject}, text {body}",
        "start a new email to {email_contact_id} about {subject} with {body} as its text",
    ],
    brief=[
        "draft a new email",
        "draft an email to {email_contact_id} about {subject}",
        "prepare a new email to {email_contact_id} that says {body}",
    ],
)
def create_draft(
    ctx: Context,
    email_contact_id: Annotated[EmailContactId, "Whom it is for; add_draft_recipient adds others"],
    subject: Annotated[Subject, "Subject line"],
    body: Annotated[Annotated[Text, Field(examples=list(words.BODIES))], "Text of the email"],
) -> NewDraft:
    """Write a new email to a contact. It waits among the drafts until it is sent or scheduled."""
    rules.reachable(ctx, email_contact_id)
    return _write(ctx, "new", subject, body, None, [(email_contact_id, "to")])


@server.tool(
    phrases=[
        "draft a reply to {email_id} that says {body}[, addressed to the {audience}]",
        "answer {email_id} with a draft saying {body}",
        "prepare {body} as a reply to {email_id}[ for the {audience}]",
        "write {body} in response to {email_id}, but don't send it yet[; it goes to the {audience}]",
        "save an answer to {email_id} among the drafts: {body}[, to the {audience}]",
    ],
    brief=[
        "draft a reply to an email",
        "prepare an answer to {email_id}",
        "draft a reply to one of my emails that says {body}",
    ],
)
def draft_email_reply(
    ctx: Context,
    email_id: Annotated[EmailId, "Email to answer"],
    body: Annotated[Annotated[Text, Field(examples=list(words.REPLIES))], "Text of the reply"],
    audience: Annotated[
        Literal["sender", "whole_group"], "whole_group copies the reply to everyone who got the email"
    ] = "sender",
) -> NewDraft:
    """Write a reply to an email. It waits among the drafts; sent, it joins the email's thread."""
    row = rules.kept_email(ctx, email_id, "answered")
    for other in ctx.rows(_ANSWERS, email=email_id):
        raise Rejected(
            f"draft {other['id']} answers {email_id} and goes out at {other['send_at']}; "
            "unschedule it before you write another reply"
        )
    sent_to = ctx.rows(_SENT_TO, email=email_id)
    if row["sender_id"]:
        others = [other["contact_id"] for other in sent_to if other["contact_id"] != row["sender_id"]]
        to = [(row["sender_id"], "to"), *((other, "cc") for other in others if audience == "whole_group")]
    else:
        to = [
            (other["contact_id"], other["role"])
            for other in sent_to
            if audience == "whole_group" or other["role"] == "to"
        ]
    for contact_id, _ in to:
        rules.reachable(ctx, contact_id)
    return _write(ctx, "reply", answer_to(row), body, email_id, to)


@server.tool(
    phrases=[
        "draft a forward of {email_id} to {email_contact_id}[ with the note {note}]",
        "prepare to pass {email_id} on to {email_contact_id}[, adding {note}]",
        "forward {email_id} to {email_contact_id} as a draft[ that begins with {note}]",
        "set up a draft that shares {email_id} with {email_contact_id}[ and says {note}]",
        "write a draft to {email_contact_id} with {email_id} below[ and {note} above it]",
    ],
    brief=[
        "draft a forward of an email",
        "prepare to pass {email_id} on to somebody",
        "draft a forward of one of my emails to {email_contact_id}",
    ],
)
def draft_email_forward(
    ctx: Context,
    email_id: Annotated[EmailId, "Email to pass on"],
    email_contact_id: Annotated[EmailContactId, "Who gets it"],
    note: Annotated[Annotated[Text, Field(max_length=500, examples=list(words.NOTES))] | None, "Text above it"] = None,
) -> NewDraft:
    """Write a draft that passes an email on with its text and attachments."""
    row = rules.kept_email(ctx, email_id, "forwarded")
    if row["do_not_forward"]:
        raise Rejected(f"the sender of {email_id} does not allow forwarding; ask them to write to that person")
    rules.reachable(ctx, email_contact_id)
    files = rules.attachments(ctx, email_id)
    for file in files:
        rules.may_leave(ctx, file)
    sender = ctx.get(EmailContact, row["sender_id"])["name"] if row["sender_id"] else "me"
    body = f"{note or ''}\n\n--- Forwarded: {sender}, {row['sent_at'][:10]} ---\n{row['body']}".strip()
    subject = row["subject"] if row["subject"].startswith("Fwd: ") else f"Fwd: {row['subject']}"
    written = _write(ctx, "forward", subject, body, email_id, [(email_contact_id, "to")])
    for file in files:
        ctx.insert(DraftAttachment, draft_id=written["draft_id"], attachment_id=file["id"])
    return written


class AddedRecipient(TypedDict):
    """A draft with one more recipient."""

    draft_id: EmailDraftId
    recipients: int


@server.tool(
    phrases=[
        "add {email_contact_id} to the {role} line of {draft_id}",
        "put {email_contact_id} on {draft_id} in the {role} field",
        "include {email_contact_id} among the {role} recipients of {draft_id}",
        "enter {email_contact_id} under {role} in {draft_id}",
        "let {draft_id} go to {email_contact_id} as well, in the {role} field",
    ],
    brief=[
        "add a recipient to a draft",
        "add {email_contact_id} to the recipients of {draft_id}",
        "put somebody else in the {role} field of {draft_id}",
    ],
)
def add_draft_recipient(
    ctx: Context,
    draft_id: Annotated[EmailDraftId, "Open draft"],
    email_contact_id: Annotated[EmailContactId, "Who else gets it"],
    role: Annotated[Role, "How they are addressed; nobody else sees a bcc recipient"],
) -> AddedRecipient:
    """Add a recipient to a draft that is not scheduled or sent."""
    rules.open_draft(ctx, draft_id)
    rules.reachable(ctx, email_contact_id)
    present = {row["contact_id"]: row["role"] for row in rules.recipients(ctx, draft_id)}
    if email_contact_id in present:
        raise Rejected(f"{email_contact_id} is among the {present[email_contact_id]} recipients of {draft_id} already")
    if len(present) >= rules.MOST_RECIPIENTS:
        raise Rejected(
            f"draft {draft_id} has {len(present)} recipients; at most {rules.MOST_RECIPIENTS} are allowed, "
            "write to a mailing list to reach more"
        )
    ctx.insert(DraftRecipient, draft_id=draft_id, contact_id=email_contact_id, role=role)
    return {"draft_id": draft_id, "recipients": len(present) + 1}


class AttachedFile(TypedDict):
    """A draft with one more file."""

    draft_id: EmailDraftId
    filename: str
    total_size_kb: int


@server.tool(
    phrases=[
        "attach {attachment_id} to {draft_id}",
        "add {attachment_id} to the files of {draft_id}",
        "put a copy of {attachment_id} into {draft_id}",
        "include {attachment_id} in {draft_id}",
        "let {draft_id} carry {attachment_id} too",
    ],
    brief=[
        "attach a file to a draft",
        "attach a file to {draft_id}",
        "attach {attachment_id} to one of my drafts",
    ],
)
def attach_to_draft(
    ctx: Context,
    draft_id: Annotated[EmailDraftId, "Open draft"],
    attachment_id: Annotated[AttachmentId, "File of an email in the mailbox"],
) -> AttachedFile:
    """Attach a file that came with some email to a draft. An email carries 25,000 KB at most."""
    rules.open_draft(ctx, draft_id)
    file = ctx.get(Attachment, attachment_id, "get_email names the attachments of an email")
    rules.may_leave(ctx, file)
    if ctx.scalar(_HAS_FILE, draft=draft_id, attachment=attachment_id):
        raise Rejected(f"draft {draft_id} carries {file['filename']} ({attachment_id}) already")
    total = rules.room_for(ctx, draft_id, file["size_kb"])
    ctx.insert(DraftAttachment, draft_id=draft_id, attachment_id=attachment_id)
    return {"draft_id": draft_id, "filename": file["filename"], "total_size_kb": total}

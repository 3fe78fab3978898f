"""Send drafts, now or later."""

from typing import Annotated, Literal

from sqlalchemy import bindparam, insert, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDateTime, Rejected
from proverl.envs.names import folded
from proverl.envs.servers.email import rules
from proverl.envs.servers.email.app import server
from proverl.envs.servers.email.tables import (
    DraftAttachment,
    DraftRecipient,
    Email,
    EmailAttachment,
    EmailDraft,
    EmailDraftId,
    EmailId,
    EmailRecipient,
    EmailThread,
    EmailThreadId,
)
from proverl.envs.state import Row

_SEND_TO = insert(EmailRecipient).from_select(
    ["email_id", "contact_id", "role"],
    select(bindparam("email"), DraftRecipient.contact_id, DraftRecipient.role).where(
        DraftRecipient.draft_id == bindparam("draft")
    ),
)
_SEND_FILES = insert(EmailAttachment).from_select(
    ["email_id", "attachment_id"],
    select(bindparam("email"), DraftAttachment.attachment_id).where(DraftAttachment.draft_id == bindparam("draft")),
)


class SentEmail(TypedDict):
    """The email that a draft became."""

    email_id: EmailId
    email_thread_id: EmailThreadId
    subject: str
    sent_at: str


@server.tool(
    phrases=[
        "send {draft_id}",
        "get {draft_id} out now",
        "mail {draft_id} to its recipients",
        "dispatch {draft_id} right away",
        "let {draft_id} go out immediately",
    ],
    brief=[
        "send one of my drafts",
        "get a draft out now",
    ],
)
def send_draft(ctx: Context, draft_id: Annotated[EmailDraftId, "Open draft with a To recipient"]) -> SentEmail:
    """Send a draft now. It becomes an email in the sent folder and can't be called back."""
    row = rules.open_draft(ctx, draft_id)
    people = " ".join(recipient["name"] for recipient in rules.ready(ctx, row))
    thread_id = _thread(ctx, row)
    email = ctx.insert(
        Email,
        thread_id=thread_id,
        sender_id=None,
        subject=row["subject"],
        folded=folded(f"{row['subject']} {people} {row['body']}"),
        body=row["body"],
        folder="sent",
        unread=False,
        starred=False,
        do_not_forward=False,
        sent_at=ctx.timestamp,
    )
    for copied in (_SEND_TO, _SEND_FILES):
        ctx.execute(copied, email=email["id"], draft=draft_id)
    ctx.update(EmailDraft, draft_id, status="sent", email_id=email["id"])
    return {
        "email_id": email["id"],
        "email_thread_id": thread_id,
        "subject": row["subject"],
        "sent_at": ctx.timestamp,
    }


def _thread(ctx: Context, draft: Row) -> str:
    """A reply joins the thread of what it answers, anything else begins one."""
    if draft["kind"] == "reply":
        return str(ctx.get(Email, draft["source_id"])["thread_id"])
    return str(ctx.insert(EmailThread, subject=draft["subject"])["id"])


class DraftState(TypedDict):
    """A draft after a change."""

    draft_id: EmailDraftId
    status: Literal["open", "scheduled"]


class ScheduledDraft(DraftState):
    """A draft that goes out later."""

    send_at: str


@server.tool(
    phrases=[
        "schedule {draft_id} for {send_at}",
        "send {draft_id} later, at {send_at}",
        "set {draft_id} to go out at {send_at}",
        "queue {draft_id} so that it leaves at {send_at}",
        "hold {draft_id} back until {send_at} and send it then",
    ],
    brief=[
        "schedule one of my drafts",
        "send {draft_id} later",
        "set a draft to go out at {send_at}",
    ],
)
def schedule_draft(
    ctx: Context,
    draft_id: Annotated[EmailDraftId, "Open draft with a To recipient"],
    send_at: Annotated[IsoDateTime, "When it goes out: from 30 minutes to one year from now"],
) -> ScheduledDraft:
    """Schedule a draft to be sent later. Until then it can't be changed, but it can be unscheduled."""
    rules.ready(ctx, rules.open_draft(ctx, draft_id))
    rules.sendable_at(ctx, send_at)
    ctx.update(EmailDraft, draft_id, status="scheduled", send_at=send_at)
    return {"draft_id": draft_id, "status": "scheduled", "send_at": send_at}


@server.tool(
    phrases=[
        "unschedule {draft_id}",
        "stop {draft_id} from going out",
        "take {draft_id} back out of the queue",
        "cancel the scheduled sending of {draft_id}",
        "make {draft_id} an open draft again instead of sending it later",
    ],
    brief=[
        "unschedule one of my drafts",
        "cancel the scheduled sending of a draft",
    ],
)
def unschedule_draft(ctx: Context, draft_id: Annotated[EmailDraftId, "Scheduled draft"]) -> DraftState:
    """Turn a scheduled draft back into an open one that can be changed, sent or scheduled anew."""
    row = ctx.get(EmailDraft, draft_id, "list_drafts names the drafts")
    if row["status"] == "sent":
        raise Rejected(f"draft {draft_id} was sent as email {row['email_id']}; only scheduled drafts can be held back")
    if row["status"] == "open":
        raise Rejected(f"draft {draft_id} is not scheduled; schedule_draft or send_draft lets it go")
    if row["send_at"] <= ctx.timestamp:
        raise Rejected(f"draft {draft_id} has been going out since {row['send_at']}; only later ones can be held back")
    ctx.update(EmailDraft, draft_id, status="open", send_at=None)
    return {"draft_id": draft_id, "status": "open"}

"""Keep order: labels, folders, marks."""

from typing import Annotated, Literal, NotRequired

from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.email import rules
from proverl.envs.servers.email.app import server
from proverl.envs.servers.email.reading import Folder, Limit
from proverl.envs.servers.email.tables import Email, EmailId, EmailLabel, EmailLabelId, Labelling

LabelKind = Literal["topic", "progress"]
Mark = Literal["read", "unread", "starred", "unstarred"]

_MOST_TOPICS = 3
_LABEL, _LABELLING = EmailLabel.__table__.c, Labelling.__table__.c
_LABELS = (
    select(_LABEL.id, _LABEL.name, _LABEL.kind, _LABEL.retired, func.count(_LABELLING.id).label("emails"))
    .outerjoin_from(
        EmailLabel.__table__, Labelling.__table__, (_LABELLING.label_id == _LABEL.id) & ~_LABELLING.replaced
    )
    .where(or_(bindparam("kind") == "", _LABEL.kind == bindparam("kind")))
    .group_by(_LABEL.id)
    .order_by(_LABEL.name)
    .limit(bindparam("limit"))
)
_CURRENT = (
    select(_LABELLING.id, _LABELLING.label_id, _LABEL.kind)
    .join(EmailLabel.__table__, _LABEL.id == _LABELLING.label_id)
    .where(_LABELLING.email_id == bindparam("email"), ~_LABELLING.replaced)
    .order_by(_LABELLING.id)
)
_MARKS: dict[Mark, tuple[str, bool]] = {
    "read": ("unread", False),
    "unread": ("unread", True),
    "starred": ("starred", True),
    "unstarred": ("starred", False),
}


class LabelItem(TypedDict):
    """A label in a list, and how many emails carry it."""

    email_label_id: EmailLabelId
    name: str
    kind: LabelKind
    status: Literal["in_use", "retired"]
    emails: int


class LabelList(TypedDict):
    """Labels by name."""

    email_labels: list[LabelItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the[ {kind}] labels of my mailbox[, {limit} at most]",
        "show me which[ {kind}] labels there are",
        "look up the[ first {limit}][ {kind}] labels and how many emails carry them",
        "check what[ {kind}] labels I use",
        "tell me the[ {kind}] labels that I can put on emails[, up to {limit}]",
    ],
)
def list_email_labels(
    ctx: Context,
    kind: Annotated[LabelKind | None, "Only labels of this kind"] = None,
    limit: Annotated[Limit, "Most labels listed"] = 5,
) -> LabelList:
    """List labels: topics, and stages of progress of which an email has one at a time."""
    return {
        "email_labels": [
            {
                "email_label_id": row["id"],
                "name": row["name"],
                "kind": row["kind"],
                "status": "retired" if row["retired"] else "in_use",
                "emails": row["emails"],
            }
            for row in ctx.rows(_LABELS, kind=kind or "", limit=limit)
        ]
    }


class LabelledEmail(TypedDict):
    """An email with a new label; `replaced_label_id` is the progress label that it had before."""

    email_id: EmailId
    email_label_id: EmailLabelId
    name: str
    replaced_label_id: NotRequired[EmailLabelId]


@server.tool(
    phrases=[
        "apply {email_label_id} to {email_id}",
        "put {email_label_id} on {email_id}",
        "file {email_id} under {email_label_id}",
        "tag {email_id} with {email_label_id}",
        "add {email_label_id} to the labels of {email_id}",
    ],
    brief=[
        "put a label on an email",
        "put a label on {email_id}",
        "put {email_label_id} on one of my emails",
    ],
)
def apply_email_label(
    ctx: Context,
    email_id: Annotated[EmailId, "Email to label"],
    email_label_id: Annotated[EmailLabelId, "Label to put on it"],
) -> LabelledEmail:
    """Put a label on an email. It takes three topics at most; a progress label replaces the one before."""
    rules.kept_email(ctx, email_id, "labelled")
    label = ctx.get(EmailLabel, email_label_id, "list_email_labels names the labels")
    if label["retired"]:
        raise Rejected(f"label {label['name']} ({email_label_id}) is retired; use one that is still in use")
    current = ctx.rows(_CURRENT, email=email_id)
    if any(row["label_id"] == email_label_id for row in current):
        raise Rejected(f"email {email_id} carries {label['name']} ({email_label_id}) already; choose another label")
    same_kind = [row for row in current if row["kind"] == label["kind"]]
    result: LabelledEmail = {"email_id": email_id, "email_label_id": email_label_id, "name": label["name"]}
    if label["kind"] == "topic" and len(same_kind) >= _MOST_TOPICS:
        raise Rejected(
            f"email {email_id} carries {_MOST_TOPICS} topics, which is the most; it can still take a progress label"
        )
    for row in same_kind if label["kind"] == "progress" else ():
        ctx.update(Labelling, row["id"], replaced=True)
        result["replaced_label_id"] = row["label_id"]
    ctx.insert(Labelling, email_id=email_id, label_id=email_label_id, replaced=False, applied_at=ctx.timestamp)
    return result


class MovedEmail(TypedDict):
    """An email in its new folder."""

    email_id: EmailId
    folder: Folder
    moved_from: Folder


@server.tool(
    phrases=[
        "move {email_id} to the {folder} folder",
        "put {email_id} into the {folder} folder",
        "take {email_id} from where it is to the {folder} folder",
        "transfer {email_id} to {folder}",
        "have {email_id} in the {folder} folder from now on",
    ],
    brief=[
        "move an email to another folder",
        "move {email_id} to another folder",
        "put one of my emails into the {folder} folder",
    ],
)
def move_email(
    ctx: Context,
    email_id: Annotated[EmailId, "Email to move"],
    folder: Annotated[
        Literal["inbox", "archive", "spam", "trash"], "Where it goes; what the user sent goes to archive or trash only"
    ],
) -> MovedEmail:
    """Move an email to another folder. Nothing is erased: what is in the trash can be moved back."""
    row = rules.email(ctx, email_id)
    if row["folder"] == folder:
        raise Rejected(f"email {email_id} is in {folder} already; name another folder")
    if row["sender_id"] is None and folder in ("inbox", "spam"):
        raise Rejected(f"the user sent {email_id}; it can be moved to archive or trash, not to {folder}")
    if row["folder"] == "spam" and folder == "archive":
        raise Rejected(f"email {email_id} is in spam; move it to the inbox first if it is not spam")
    ctx.update(Email, email_id, folder=folder)
    return {"email_id": email_id, "folder": folder, "moved_from": row["folder"]}


class MarkedEmail(TypedDict):
    """An email and how it is marked now."""

    email_id: EmailId
    unread: bool
    starred: bool


@server.tool(
    idempotent=True,
    phrases=[
        "mark {email_id} as {mark}",
        "set {email_id} to {mark}",
        "flag {email_id} as {mark}",
        "make sure that {email_id} is {mark}",
        "let {email_id} show as {mark}",
    ],
    brief=[
        "change whether an email is marked as read or starred",
        "change how {email_id} is marked",
        "mark one of my emails as {mark}",
    ],
)
def mark_email(
    ctx: Context,
    email_id: Annotated[EmailId, "Email to mark"],
    mark: Annotated[Mark, "How it is marked from now on"],
) -> MarkedEmail:
    """Mark an email as read or unread, or put a star on it or take it off."""
    row = rules.kept_email(ctx, email_id, "starred") if mark == "starred" else rules.email(ctx, email_id)
    if mark == "unread" and row["sender_id"] is None:
        raise Rejected(f"the user sent {email_id}; only emails that came in can be unread")
    column, value = _MARKS[mark]
    ctx.update(Email, email_id, **{column: value})
    row[column] = value
    return {"email_id": email_id, "unread": row["unread"], "starred": row["starred"]}

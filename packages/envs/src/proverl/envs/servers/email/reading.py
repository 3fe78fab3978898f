"""Look around the mailbox: search, read emails and threads, find contacts."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from sqlalchemy import bindparam, func, literal, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Text
from proverl.envs.names import folded
from proverl.envs.servers.email import rules, words
from proverl.envs.servers.email.app import server
from proverl.envs.servers.email.tables import (
    AttachmentId,
    Email,
    EmailContact,
    EmailContactId,
    EmailId,
    EmailLabel,
    EmailLabelId,
    EmailRecipient,
    EmailThread,
    EmailThreadId,
    Labelling,
)

Folder = Literal["inbox", "archive", "sent", "spam", "trash"]
ContactKind = Literal["person", "mailing_list", "service"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]

_EMAIL, _CONTACT = Email.__table__.c, EmailContact.__table__.c
_RECIPIENT, _LABELLING = EmailRecipient.__table__.c, Labelling.__table__.c
_SENDER = func.coalesce(_CONTACT.name, literal("me")).label("sender")
_WITH_SENDER = Email.__table__.outerjoin(EmailContact.__table__, _CONTACT.id == _EMAIL.sender_id)
_TO_CONTACT = select(_RECIPIENT.email_id).where(_RECIPIENT.contact_id == bindparam("contact"))
_LABELLED = select(_LABELLING.email_id).where(_LABELLING.label_id == bindparam("label"), ~_LABELLING.replaced)
_FOUND = (
    select(_EMAIL.id, _EMAIL.thread_id, _EMAIL.subject, _EMAIL.sent_at, _SENDER)
    .select_from(_WITH_SENDER)
    .where(
        or_(
            _EMAIL.folder == bindparam("folder"),
            (bindparam("folder") == "") & _EMAIL.folder.not_in(("spam", "trash")),
        ),
        func.instr(_EMAIL.folded, bindparam("query")) > 0,
        or_(bindparam("contact") == "", _EMAIL.sender_id == bindparam("contact"), _EMAIL.id.in_(_TO_CONTACT)),
        or_(bindparam("label") == "", _EMAIL.id.in_(_LABELLED)),
        or_(
            bindparam("only") == "",
            (bindparam("only") == "unread") & _EMAIL.unread,
            (bindparam("only") == "starred") & _EMAIL.starred,
        ),
    )
    .order_by(_EMAIL.sent_at.desc(), _EMAIL.id)
    .limit(bindparam("limit"))
)
_OF_THREAD = (
    select(_EMAIL.id, _EMAIL.sent_at, _EMAIL.folder, _SENDER)
    .select_from(_WITH_SENDER)
    .where(_EMAIL.thread_id == bindparam("thread"))
    .order_by(_EMAIL.sent_at, _EMAIL.id)
)
_RECIPIENTS = (
    select(_RECIPIENT.contact_id, _CONTACT.name, _RECIPIENT.role)
    .join(EmailContact.__table__, _CONTACT.id == _RECIPIENT.contact_id)
    .where(_RECIPIENT.email_id == bindparam("email"))
    .order_by(_RECIPIENT.role.desc(), _CONTACT.name, _CONTACT.id)
)
_LABELS = (
    select(EmailLabel.id, EmailLabel.name)
    .join(Labelling.__table__, _LABELLING.label_id == EmailLabel.id)
    .where(_LABELLING.email_id == bindparam("email"), ~_LABELLING.replaced)
    .order_by(EmailLabel.name)
)
_CONTACTS = (
    select(EmailContact.__table__)
    .where(
        _CONTACT.saved,
        func.instr(_CONTACT.folded, bindparam("name")) > 0,
        or_(bindparam("kind") == "", _CONTACT.kind == bindparam("kind")),
    )
    .order_by(_CONTACT.name, _CONTACT.address)
    .limit(bindparam("limit"))
)


class EmailItem(TypedDict):
    """An email in a list; `sender` is "me" for what the user sent."""

    email_id: EmailId
    email_thread_id: EmailThreadId
    subject: str
    sender: str
    sent_at: str


class EmailList(TypedDict):
    """Emails, newest first."""

    emails: list[EmailItem]


@server.tool(
    read_only=True,
    phrases=[
        "search the[ {only}] emails[ in the {folder} folder][ for {query}][, {limit} at most]",
        "list my[ {only}] emails[ from or to {email_contact_id}][ in the {folder} folder]",
        "find the emails[ that mention {query}][ and carry {email_label_id}]",
        "show me the latest[ {limit}] emails[ with {email_contact_id}][ about {query}]",
        "pull up my[ {only}] emails[ that carry {email_label_id}]",
    ],
)
def search_emails(
    ctx: Context,
    query: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.SEARCHES))] | None,
        "Part of the subject, the text or a name; upper and lower case and accents make no difference",
    ] = None,
    folder: Annotated[Folder | None, "Only this folder; all but spam and trash if left out"] = None,
    email_contact_id: Annotated[EmailContactId | None, "Only emails from or to this contact"] = None,
    email_label_id: Annotated[EmailLabelId | None, "Only emails that carry this label"] = None,
    only: Annotated[Literal["unread", "starred"] | None, "Only emails marked so"] = None,
    limit: Annotated[Limit, "Most emails listed"] = 5,
) -> EmailList:
    """Search the mailbox, newest emails first."""
    if email_contact_id is not None:
        ctx.get(EmailContact, email_contact_id, "find_email_contacts names the contacts")
    if email_label_id is not None:
        ctx.get(EmailLabel, email_label_id, "list_email_labels names the labels")
    rows = ctx.rows(
        _FOUND,
        folder=folder or "",
        query=folded(query or ""),
        contact=email_contact_id or "",
        label=email_label_id or "",
        only=only or "",
        limit=limit,
    )
    return {
        "emails": [
            {
                "email_id": row["id"],
                "email_thread_id": row["thread_id"],
                "subject": row["subject"],
                "sender": row["sender"],
                "sent_at": row["sent_at"],
            }
            for row in rows
        ]
    }


class RecipientItem(TypedDict):
    """Someone an email went to, besides the user."""

    email_contact_id: EmailContactId
    name: str
    role: Literal["to", "cc", "bcc"]


class LabelName(TypedDict):
    """A label on an email."""

    email_label_id: EmailLabelId
    name: str


class AttachmentItem(TypedDict):
    """A file of an email."""

    attachment_id: AttachmentId
    filename: str
    size_kb: int


class EmailView(TypedDict):
    """An email in full; `email_contact_id` is the sender's, and lists without entries are left out."""

    email_id: EmailId
    email_thread_id: EmailThreadId
    email_contact_id: NotRequired[EmailContactId]
    sender: str
    sent_at: str
    folder: Folder
    subject: str
    body: str
    flags: NotRequired[list[Literal["unread", "starred", "do_not_forward"]]]
    recipients: NotRequired[list[RecipientItem]]
    labels: NotRequired[list[LabelName]]
    attachments: NotRequired[list[AttachmentItem]]


@server.tool(
    read_only=True,
    phrases=[
        "open {email_id}",
        "read {email_id} to me",
        "show me the full text of {email_id}",
        "check what {email_id} says and which files it carries",
        "tell me who got {email_id} and what it is about",
    ],
    brief=[
        "open one of my emails",
        "read an email to me",
    ],
)
def get_email(ctx: Context, email_id: Annotated[EmailId, "Email to read"]) -> EmailView:
    """Get an email with its text, recipients, labels and attachments. It stays unread until it is marked as read."""
    row = rules.email(ctx, email_id)
    view: EmailView = {
        "email_id": email_id,
        "email_thread_id": row["thread_id"],
        "sender": "me",
        "sent_at": row["sent_at"],
        "folder": row["folder"],
        "subject": row["subject"],
        "body": row["body"],
    }
    if row["sender_id"]:
        view["email_contact_id"] = row["sender_id"]
        view["sender"] = ctx.get(EmailContact, row["sender_id"])["name"]
    flags: list[Literal["unread", "starred", "do_not_forward"]] = ["unread", "starred", "do_not_forward"]
    if marked := [flag for flag in flags if row[flag]]:
        view["flags"] = marked
    if recipients := ctx.rows(_RECIPIENTS, email=email_id):
        view["recipients"] = [
            {"email_contact_id": other["contact_id"], "name": other["name"], "role": other["role"]}
            for other in recipients
        ]
    if labels := ctx.rows(_LABELS, email=email_id):
        view["labels"] = [{"email_label_id": label["id"], "name": label["name"]} for label in labels]
    if files := rules.attachments(ctx, email_id):
        view["attachments"] = [
            {"attachment_id": file["id"], "filename": file["filename"], "size_kb": file["size_kb"]} for file in files
        ]
    return view


class ThreadItem(TypedDict):
    """An email of a thread."""

    email_id: EmailId
    sender: str
    sent_at: str
    folder: Folder


class ThreadView(TypedDict):
    """A conversation, oldest email first."""

    email_thread_id: EmailThreadId
    subject: str
    emails: list[ThreadItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me all emails of {email_thread_id}",
        "list who wrote what and when in {email_thread_id}",
        "go through {email_thread_id} from the beginning",
        "pull up the whole conversation in {email_thread_id}",
        "tell me how the conversation in {email_thread_id} went",
    ],
    brief=[
        "show me all emails of a conversation",
        "go through one of my email threads from the beginning",
    ],
)
def get_email_thread(
    ctx: Context, email_thread_id: Annotated[EmailThreadId, "Conversation to go through"]
) -> ThreadView:
    """Get a conversation: its emails in order of time, whatever folder they are in."""
    thread = ctx.get(EmailThread, email_thread_id, "search_emails names the thread of each email")
    return {
        "email_thread_id": email_thread_id,
        "subject": thread["subject"],
        "emails": [
            {"email_id": row["id"], "sender": row["sender"], "sent_at": row["sent_at"], "folder": row["folder"]}
            for row in ctx.rows(_OF_THREAD, thread=email_thread_id)
        ],
    }


class ContactItem(TypedDict):
    """A saved contact."""

    email_contact_id: EmailContactId
    name: str
    address: str
    kind: ContactKind


class ContactList(TypedDict):
    """Contacts that fit, by name."""

    email_contacts: list[ContactItem]


@server.tool(
    read_only=True,
    phrases=[
        "find my contacts[ called {name}][, {limit} at most]",
        "go through my address book[ in search of {name}][, {kind} entries only]",
        "search the address book[ for {name}]",
        "show me the[ first {limit}] contacts that I have saved[, only of the kind {kind}]",
        "look up the addresses[ listed under {name}] in my contacts[, up to {limit}]",
    ],
)
def find_email_contacts(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.CONTACT_SEARCHES))] | None,
        "Part of the name; upper and lower case and accents make no difference. All contacts if left out",
    ] = None,
    kind: Annotated[ContactKind | None, "Only contacts of this kind; a service sends emails but takes none"] = None,
    limit: Annotated[Limit, "Most contacts listed"] = 5,
) -> ContactList:
    """Find saved contacts by name, with their addresses."""
    rows = ctx.rows(_CONTACTS, name=folded(name or ""), kind=kind or "", limit=limit)
    return {
        "email_contacts": [
            {"email_contact_id": row["id"], "name": row["name"], "address": row["address"], "kind": row["kind"]}
            for row in rows
        ]
    }

"""The mailbox's tables. Times are ISO text to the minute; sizes are whole kilobytes."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

EmailId = Ref("Email")
EmailThreadId = Ref("EmailThread")
EmailContactId = Ref("EmailContact")
EmailDraftId = Ref("EmailDraft")
EmailLabelId = Ref("EmailLabel")
AttachmentId = Ref("Attachment")


class Base(DeclarativeBase):
    """Tables of the email server."""


class EmailContact(Base):
    """Someone to write to or to hear from; one who is not `saved` merely wrote once. `folded` serves searches."""

    __tablename__ = "contact"
    __table_args__ = (COMPACT,)
    id_prefix = "CON"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded: Mapped[str]
    address: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]  # person, mailing_list, service (sends only: nobody reads what is written to it)
    saved: Mapped[bool]
    bounced_on: Mapped[str | None]  # the day when the address turned out not to exist any more


class EmailThread(Base):
    """A conversation: an email and everything that answers it."""

    __tablename__ = "thread"
    __table_args__ = (COMPACT,)
    id_prefix = "THR"
    id: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str]


class Email(Base):
    """An email that came in, or that the user sent (no `sender_id`). `folded` is what searches look in."""

    __tablename__ = "email"
    __table_args__ = (
        CheckConstraint("sender_id IS NOT NULL OR folder IN ('sent', 'archive', 'trash')"),
        CheckConstraint("sender_id IS NULL OR folder != 'sent'"),
        COMPACT,
    )
    id_prefix = "EML"
    id: Mapped[str] = mapped_column(primary_key=True)
    thread_id: Mapped[str] = mapped_column(ForeignKey("thread.id"), index=True)
    sender_id: Mapped[str | None] = mapped_column(ForeignKey("contact.id"))
    subject: Mapped[str]
    folded: Mapped[str]
    body: Mapped[str]
    folder: Mapped[str]  # inbox, archive, sent, spam, trash
    unread: Mapped[bool]
    starred: Mapped[bool]
    do_not_forward: Mapped[bool]  # the sender's wish, which the mailbox enforces
    sent_at: Mapped[str] = mapped_column(info={"audit": True})


class EmailRecipient(Base):
    """Whom an email went to, besides the user."""

    __tablename__ = "email_recipient"
    __table_args__ = (COMPACT,)
    email_id: Mapped[str] = mapped_column(ForeignKey("email.id"), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contact.id"), primary_key=True)
    role: Mapped[str]  # to, cc, bcc


class Attachment(Base):
    """A file that emails and drafts carry; one file may travel with many."""

    __tablename__ = "attachment"
    __table_args__ = (CheckConstraint("size_kb > 0"), COMPACT)
    id_prefix = "ATT"
    id: Mapped[str] = mapped_column(primary_key=True)
    filename: Mapped[str]
    size_kb: Mapped[int]
    infected: Mapped[bool]


class EmailAttachment(Base):
    """An email carries a file."""

    __tablename__ = "email_attachment"
    __table_args__ = (COMPACT,)
    email_id: Mapped[str] = mapped_column(ForeignKey("email.id"), primary_key=True)
    attachment_id: Mapped[str] = mapped_column(ForeignKey("attachment.id"), primary_key=True)


class EmailDraft(Base):
    """What the user is writing. Once sent it stays, and `email_id` names the email that it became."""

    __tablename__ = "draft"
    __table_args__ = (
        CheckConstraint("(status = 'scheduled') = (send_at IS NOT NULL)"),
        CheckConstraint("(status = 'sent') = (email_id IS NOT NULL)"),
        COMPACT,
    )
    id_prefix = "DRF"
    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]  # new, reply, forward
    source_id: Mapped[str | None] = mapped_column(ForeignKey("email.id"))  # what is answered or forwarded
    subject: Mapped[str]
    body: Mapped[str]
    status: Mapped[str]  # open, scheduled, sent
    send_at: Mapped[str | None]
    email_id: Mapped[str | None] = mapped_column(ForeignKey("email.id"))
    written_at: Mapped[str] = mapped_column(info={"audit": True})


class DraftRecipient(Base):
    """Whom a draft will go to."""

    __tablename__ = "draft_recipient"
    __table_args__ = (COMPACT,)
    draft_id: Mapped[str] = mapped_column(ForeignKey("draft.id"), primary_key=True)
    contact_id: Mapped[str] = mapped_column(ForeignKey("contact.id"), primary_key=True)
    role: Mapped[str]  # to, cc, bcc


class DraftAttachment(Base):
    """A draft carries a file."""

    __tablename__ = "draft_attachment"
    __table_args__ = (COMPACT,)
    draft_id: Mapped[str] = mapped_column(ForeignKey("draft.id"), primary_key=True)
    attachment_id: Mapped[str] = mapped_column(ForeignKey("attachment.id"), primary_key=True)


class EmailLabel(Base):
    """A label of the mailbox: a `topic`, or a `progress` of which an email has one at a time."""

    __tablename__ = "label"
    __table_args__ = (COMPACT,)
    id_prefix = "LAB"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]  # topic, progress
    retired: Mapped[bool]  # still shown on old emails, not applied any more


class Labelling(Base):
    """A label was applied to an email. Rows are only added: a newer progress marks the older one as replaced."""

    __tablename__ = "labelling"
    __table_args__ = (COMPACT,)
    id_prefix = "LBG"
    id: Mapped[str] = mapped_column(primary_key=True)
    email_id: Mapped[str] = mapped_column(ForeignKey("email.id"), index=True)
    label_id: Mapped[str] = mapped_column(ForeignKey("label.id"))
    replaced: Mapped[bool]
    applied_at: Mapped[str] = mapped_column(info={"audit": True})

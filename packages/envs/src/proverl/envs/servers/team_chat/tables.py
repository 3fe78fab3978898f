"""The workspace's tables. Times are ISO text to the minute."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

ChannelId = Ref("Channel")
MessageId = Ref("Message")
ChatMemberId = Ref("ChatMember")

SELF = "MEM-00001"  # the member who uses the chat; below every drawn id


class Base(DeclarativeBase):
    """Tables of the team chat server."""


class ChatMember(Base):
    """Someone with an account in the workspace. `folded` serves searches."""

    __tablename__ = "member"
    __table_args__ = (COMPACT,)
    id_prefix = "MEM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded: Mapped[str]
    title: Mapped[str]
    status: Mapped[str]  # active, guest (someone from outside, in one channel), deactivated (left the company)


class Channel(Base):
    """A place to talk. Its owner invites to private ones, posts announcements, and archives."""

    __tablename__ = "channel"
    __table_args__ = (CheckConstraint("NOT is_default OR archived_at IS NULL"), COMPACT)
    id_prefix = "CHN"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    topic: Mapped[str]
    visibility: Mapped[str]  # public, private
    owner_id: Mapped[str] = mapped_column(ForeignKey("member.id"))
    is_default: Mapped[bool]  # everyone in the company is in it
    announcements: Mapped[bool]  # only the owner begins threads
    archived: Mapped[bool]
    archived_at: Mapped[str | None] = mapped_column(info={"audit": True})


class Membership(Base):
    """A member is in a channel."""

    __tablename__ = "membership"
    __table_args__ = (COMPACT,)
    channel_id: Mapped[str] = mapped_column(ForeignKey("channel.id"), primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("member.id"), primary_key=True)


class Message(Base):
    """A message of a channel, or a reply in the thread of another one, its `parent_id`."""

    __tablename__ = "message"
    __table_args__ = (CheckConstraint("deleted = (text = '')"), COMPACT)
    id_prefix = "MSG"
    id: Mapped[str] = mapped_column(primary_key=True)
    channel_id: Mapped[str] = mapped_column(ForeignKey("channel.id"), index=True)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("message.id"), index=True)
    author_id: Mapped[str] = mapped_column(ForeignKey("member.id"))
    mentioned_id: Mapped[str | None] = mapped_column(ForeignKey("member.id"))
    text: Mapped[str]
    deleted: Mapped[bool]
    posted_at: Mapped[str] = mapped_column(info={"audit": True})


class Reaction(Base):
    """A member's emoji on a message."""

    __tablename__ = "reaction"
    __table_args__ = (COMPACT,)
    message_id: Mapped[str] = mapped_column(ForeignKey("message.id"), primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("member.id"), primary_key=True)
    emoji: Mapped[str] = mapped_column(primary_key=True)

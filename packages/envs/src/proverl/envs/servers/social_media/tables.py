"""The network's tables. Dates and times are ISO text."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

ProfileId = Ref("Profile")
PostId = Ref("Post")
PostCommentId = Ref("PostComment")

ME = "PRF-00001"  # the signed-in user; ids of others begin at 10000


class Base(DeclarativeBase):
    """Tables of the social network."""


class Profile(Base):
    """A person's or a club's account. Only followers see the posts of a private one; a suspended one shows nothing."""

    __tablename__ = "profile"
    __table_args__ = (COMPACT,)
    id_prefix = "PRF"
    id: Mapped[str] = mapped_column(primary_key=True)
    handle: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    folded: Mapped[str]  # name and handle as searches see them: lower case, no accents
    bio: Mapped[str]
    visibility: Mapped[str]  # public, private
    suspended: Mapped[bool]
    renamed_on: Mapped[str | None]


class Follow(Base):
    """One profile follows another, or has asked a private one to let it."""

    __tablename__ = "follow"
    __table_args__ = (CheckConstraint("follower_id != followed_id"), COMPACT)
    follower_id: Mapped[str] = mapped_column(ForeignKey("profile.id"), primary_key=True)
    followed_id: Mapped[str] = mapped_column(ForeignKey("profile.id"), primary_key=True)
    accepted: Mapped[bool]
    since: Mapped[str]


class Block(Base):
    """One profile has blocked another: neither sees the other. A lifted block stays on record."""

    __tablename__ = "block"
    __table_args__ = (CheckConstraint("blocker_id != blocked_id"), COMPACT)
    blocker_id: Mapped[str] = mapped_column(ForeignKey("profile.id"), primary_key=True)
    blocked_id: Mapped[str] = mapped_column(ForeignKey("profile.id"), primary_key=True)
    since: Mapped[str]
    lifted_on: Mapped[str | None]


class Post(Base):
    """A post; `quoted_id` is a post that it shares."""

    __tablename__ = "post"
    __table_args__ = (CheckConstraint("length(text) > 0"), CheckConstraint("quoted_id != id"), COMPACT)
    id_prefix = "PST"
    id: Mapped[str] = mapped_column(primary_key=True)
    author_id: Mapped[str] = mapped_column(ForeignKey("profile.id"))
    text: Mapped[str]
    audience: Mapped[str]  # public, followers
    comments_by: Mapped[str]  # everyone, followers, nobody
    quoted_id: Mapped[str | None] = mapped_column(ForeignKey("post.id"))
    posted_on: Mapped[str]
    posted_at: Mapped[str] = mapped_column(info={"audit": True})  # date and time, orders the feed


class PostComment(Base):
    """A comment on a post, or an answer to such a comment."""

    __tablename__ = "comment"
    __table_args__ = (CheckConstraint("reply_to_id != id"), COMPACT)
    id_prefix = "PCM"
    id: Mapped[str] = mapped_column(primary_key=True)
    post_id: Mapped[str] = mapped_column(ForeignKey("post.id"), index=True)
    author_id: Mapped[str] = mapped_column(ForeignKey("profile.id"))
    text: Mapped[str]
    reply_to_id: Mapped[str | None] = mapped_column(ForeignKey("comment.id"))
    posted_on: Mapped[str]
    posted_at: Mapped[str] = mapped_column(info={"audit": True})


class Reaction(Base):
    """What a profile thinks of a post, one reaction each."""

    __tablename__ = "reaction"
    __table_args__ = (COMPACT,)
    post_id: Mapped[str] = mapped_column(ForeignKey("post.id"), primary_key=True)
    profile_id: Mapped[str] = mapped_column(ForeignKey("profile.id"), primary_key=True)
    kind: Mapped[str]  # like, love, funny, wow, sad

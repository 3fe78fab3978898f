"""Tables of the file system. A node's key is its absolute path: equal trees are equal states, however they came about.

`parent` and `bytes` are computed by the database from `path` and `content`, so they can't disagree with them. A link's
content is its target; an archive's content is the JSON text of its members; a directory has none.
"""

from sqlalchemy import JSON, CheckConstraint, Computed, ForeignKey, Index
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT

ROOT = "/"
TRASH = ".Trash"  # in the caller's home
PATH_LIMIT = 200  # characters; no longer than a reference may be, so every path that a tool returns can be passed on
NAME_LIMIT = 80
FILE_LIMIT = 4_000  # bytes of one text file
TAG_LIMIT = 6  # tags on one path


class Base(DeclarativeBase):
    """Metadata of this server."""


class User(Base):
    """An account on this machine; quotas count what it owns on all volumes."""

    __tablename__ = "user"
    __table_args__ = COMPACT
    name: Mapped[str] = mapped_column(primary_key=True)
    full_name: Mapped[str]
    groups: Mapped[list[str]] = mapped_column(JSON)
    quota_bytes: Mapped[int]
    quota_entries: Mapped[int]


class Node(Base):
    """A file, directory, link or archive."""

    __tablename__ = "node"
    __table_args__ = (
        CheckConstraint("kind IN ('file', 'directory', 'link', 'archive')"),
        CheckConstraint("mode BETWEEN 0 AND 1023"),  # 0o1777: permission bits and the sticky bit
        CheckConstraint("kind != 'directory' OR content = ''"),
        CheckConstraint("path = '/' OR path NOT LIKE '%/'"),
        Index("node_parent", "parent"),
        Index("node_owner", "owner", "bytes"),
        COMPACT,
    )
    path: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    owner: Mapped[str] = mapped_column(ForeignKey("user.name"))
    group: Mapped[str]
    mode: Mapped[int]
    content: Mapped[str]
    # rtrim by "all characters but the slash" cuts the last name off
    parent: Mapped[str] = mapped_column(
        Computed(
            "CASE WHEN path = '/' THEN '' WHEN path NOT LIKE '/%/%' THEN '/' "
            "ELSE rtrim(rtrim(path, replace(path, '/', '')), '/') END",
            persisted=True,
        )
    )
    bytes: Mapped[int] = mapped_column(Computed("length(CAST(content AS BLOB))", persisted=True))
    modified: Mapped[str] = mapped_column(info={"audit": True})


class Volume(Base):
    """A device mounted below the root; what lies under its path is stored on it."""

    __tablename__ = "volume"
    __table_args__ = COMPACT
    path: Mapped[str] = mapped_column(ForeignKey("node.path"), primary_key=True)
    label: Mapped[str]
    read_only: Mapped[bool]
    capacity_bytes: Mapped[int]


class Tag(Base):
    """A label on a path; it follows the path when that is moved and goes with it."""

    __tablename__ = "tag"
    __table_args__ = COMPACT
    path: Mapped[str] = mapped_column(ForeignKey("node.path", onupdate="CASCADE", ondelete="CASCADE"), primary_key=True)
    label: Mapped[str] = mapped_column(primary_key=True)


class TrashedItem(Base):
    """What lies at the top of the caller's trash, and where it was before."""

    __tablename__ = "trashed_item"
    __table_args__ = COMPACT
    path: Mapped[str] = mapped_column(ForeignKey("node.path", onupdate="CASCADE", ondelete="CASCADE"), primary_key=True)
    original_path: Mapped[str]


class Shell(Base):
    """The one row that says who calls and where the caller stands.

    The working directory is no deed: it is left out of digests. It follows its directory when that is moved.
    """

    __tablename__ = "shell"
    __table_args__ = COMPACT
    user: Mapped[str] = mapped_column(ForeignKey("user.name"), primary_key=True)
    working_directory: Mapped[str] = mapped_column(ForeignKey("node.path", onupdate="CASCADE"), info={"audit": True})

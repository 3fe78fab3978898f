"""The service's tables. Moments are ISO text to the minute, in the user's own time zone."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

MeetingId = Ref("Meeting")
ParticipantId = Ref("Participant")
RecordingId = Ref("Recording")

ME = "robin.vance@lumenworks.example"
COMPANY = "@lumenworks.example"


class Base(DeclarativeBase):
    """Tables of the video meeting server."""


class Person(Base):
    """Somebody with an address. `host_key` lets the user start meetings; nobody else's is known here."""

    __tablename__ = "person"
    __table_args__ = (CheckConstraint("host_key IS NULL OR length(host_key) = 6"), COMPACT)
    email: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    host_key: Mapped[str | None]


class Meeting(Base):
    """A meeting. Confidential ones are for colleagues only and are never recorded."""

    __tablename__ = "meeting"
    __table_args__ = (CheckConstraint("minutes > 0"), CheckConstraint("max_participants > 1"), COMPACT)
    id_prefix = "MTG"
    id: Mapped[str] = mapped_column(primary_key=True)
    topic: Mapped[str]
    host: Mapped[str] = mapped_column(ForeignKey("person.email"))
    status: Mapped[str]  # scheduled, live, ended, cancelled
    starts_at: Mapped[str]
    minutes: Mapped[int]
    waiting_room: Mapped[bool]
    is_confidential: Mapped[bool]
    max_participants: Mapped[int]


class Participant(Base):
    """A person invited to a meeting, and where they are."""

    __tablename__ = "participant"
    __table_args__ = (
        UniqueConstraint("meeting_id", "email"),
        CheckConstraint("NOT is_muted OR status = 'joined'"),
        COMPACT,
    )
    id_prefix = "PRT"
    id: Mapped[str] = mapped_column(primary_key=True)
    meeting_id: Mapped[str] = mapped_column(ForeignKey("meeting.id"))
    email: Mapped[str] = mapped_column(ForeignKey("person.email"))
    role: Mapped[str]  # host, cohost, attendee
    status: Mapped[str]  # invited, declined, waiting, joined, left, removed
    is_muted: Mapped[bool]
    objects_to_recording: Mapped[bool]


class Recording(Base):
    """A cloud recording of a meeting. One that is for colleagues only cannot be shared with anybody else."""

    __tablename__ = "recording"
    __table_args__ = (CheckConstraint("(status = 'deleted') = (deleted_on IS NOT NULL)"), COMPACT)
    id_prefix = "REC"
    id: Mapped[str] = mapped_column(primary_key=True)
    meeting_id: Mapped[str] = mapped_column(ForeignKey("meeting.id"), index=True)
    status: Mapped[str]  # recording, available, deleted (by the retention rule)
    internal_only: Mapped[bool]
    started_at: Mapped[str] = mapped_column(info={"audit": True})
    stopped_at: Mapped[str | None] = mapped_column(info={"audit": True})
    deleted_on: Mapped[str | None]


class RecordingShare(Base):
    """Somebody who may watch a recording, through `expires_on`."""

    __tablename__ = "recording_share"
    __table_args__ = (COMPACT,)
    recording_id: Mapped[str] = mapped_column(ForeignKey("recording.id"), primary_key=True)
    email: Mapped[str] = mapped_column(primary_key=True)
    expires_on: Mapped[str]

"""Tables of the calendar server. Times are ISO text to the minute, in the user's local time."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs.types import Ref

SELF = "PER-10000"  # the person whose assistant calls the tools

PersonId = Ref("Person")
CalendarId = Ref("Calendar")
RoomId = Ref("Room")
SeriesId = Ref("Series")
EventId = Ref("Event")
ReminderId = Ref("Reminder")


class Base(DeclarativeBase):
    """Metadata of this server."""


class Person(Base):
    """A colleague, or a guest from outside (team `external`)."""

    __tablename__ = "person"
    id_prefix = "PER"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    email: Mapped[str] = mapped_column(unique=True)
    team: Mapped[str]
    utc_offset: Mapped[int]  # minutes east of UTC
    works_from: Mapped[str]  # in the person's own time zone
    works_until: Mapped[str]
    away_from: Mapped[str | None]  # first and last day out of office
    away_until: Mapped[str | None]


class Calendar(Base):
    """A named calendar; who may do what with it is in `access`."""

    __tablename__ = "calendar"
    id_prefix = "CAL"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    owner_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    is_primary: Mapped[bool]


class Access(Base):
    """A person's role on a calendar."""

    __tablename__ = "access"
    __table_args__ = (CheckConstraint("role IN ('owner', 'writer', 'reader')"),)
    calendar_id: Mapped[str] = mapped_column(ForeignKey("calendar.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    role: Mapped[str]


class Room(Base):
    """A meeting room; bookable on weekdays between `opens` and `closes`."""

    __tablename__ = "room"
    id_prefix = "ROOM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    building: Mapped[str]
    capacity: Mapped[int]
    opens: Mapped[str]
    closes: Mapped[str]
    in_service: Mapped[bool]


class Series(Base):
    """The rule of a recurring event; its occurrences are rows of `event`."""

    __tablename__ = "series"
    __table_args__ = (CheckConstraint("occurrences >= 2"),)
    id_prefix = "SER"
    id: Mapped[str] = mapped_column(primary_key=True)
    frequency: Mapped[str]
    first_start: Mapped[str]
    occurrences: Mapped[int]


class Event(Base):
    """One event, or one occurrence of a series; `original_start` is where the rule put it (iCalendar RECURRENCE-ID)."""

    __tablename__ = "event"
    __table_args__ = (
        CheckConstraint('"end" > start'),
        CheckConstraint("status IN ('confirmed', 'cancelled')"),
        CheckConstraint("(series_id IS NULL) = (occurrence IS NULL)"),
        UniqueConstraint("series_id", "occurrence"),
    )
    id_prefix = "EVT"
    id: Mapped[str] = mapped_column(primary_key=True)
    calendar_id: Mapped[str] = mapped_column(ForeignKey("calendar.id"))
    organizer_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    title: Mapped[str]
    description: Mapped[str]
    start: Mapped[str]
    end: Mapped[str]
    status: Mapped[str]
    room_id: Mapped[str | None] = mapped_column(ForeignKey("room.id"))
    series_id: Mapped[str | None] = mapped_column(ForeignKey("series.id"))
    occurrence: Mapped[int | None]  # 1 is the first
    original_start: Mapped[str | None]


class Invitee(Base):
    """An invitation of a person other than the organizer, and the answer to it."""

    __tablename__ = "invitee"
    __table_args__ = (CheckConstraint("response IN ('needs_action', 'accepted', 'declined', 'tentative')"),)
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    response: Mapped[str]
    attendance: Mapped[str]  # required or optional


class Reminder(Base):
    """A reminder of the user's own before an event."""

    __tablename__ = "reminder"
    __table_args__ = (UniqueConstraint("event_id", "minutes_before", "method"),)
    id_prefix = "REM"
    id: Mapped[str] = mapped_column(primary_key=True)
    event_id: Mapped[str] = mapped_column(ForeignKey("event.id"))
    minutes_before: Mapped[int]
    method: Mapped[str]  # popup or email

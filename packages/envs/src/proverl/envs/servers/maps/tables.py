"""The map's tables. Coordinates are metres east and north of one origin, so that distances agree everywhere."""

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from proverl.envs import COMPACT, Ref

PlaceId = Ref("Place")
LineId = Ref("TransitLine")
ListId = Ref("PlaceList")
ReviewId = Ref("PlaceReview")

YOU = "You"  # the author of the user's own reviews


class Base(DeclarativeBase):
    """Tables of the maps server."""


class Place(Base):
    """A business, sight, plain address or transit stop; `stop_id` is the nearest stop, a stop's own id for a stop."""

    __tablename__ = "place"
    __table_args__ = (COMPACT,)
    id_prefix = "PLC"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    category: Mapped[str]
    city: Mapped[str]
    street: Mapped[str]
    number: Mapped[int]  # 0 where there is no house number
    east: Mapped[int]
    north: Mapped[int]
    schedule: Mapped[str | None]  # key of opening.SCHEDULES; None where nobody opens or closes
    status: Mapped[str]  # operational, temporarily_closed, permanently_closed
    moved_to: Mapped[str | None]  # the place where a business that closed here goes on
    car_free: Mapped[bool]
    stop_id: Mapped[str]


class SpecialClosing(Base):
    """A day on which a place stays closed although its week says otherwise."""

    __tablename__ = "special_closing"
    __table_args__ = (COMPACT,)
    place_id: Mapped[str] = mapped_column(ForeignKey("place.id"), primary_key=True)
    day: Mapped[str] = mapped_column(primary_key=True)
    reason: Mapped[str]


class TransitLine(Base):
    """A line that runs every `headway` minutes in both directions; times are minutes after midnight."""

    __tablename__ = "transit_line"
    __table_args__ = (CheckConstraint("first < last AND headway > 0"), COMPACT)
    id_prefix = "LIN"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]  # metro, tram, bus, train
    city: Mapped[str]  # where it begins
    first: Mapped[int]  # first and last departure at both ends
    last: Mapped[int]
    headway: Mapped[int]
    minutes: Mapped[int]  # from end to end
    suspended_until: Mapped[str | None]  # the day from which it runs again
    reason: Mapped[str | None]


class LineStop(Base):
    """A stop of a line, `minutes` from its first one."""

    __tablename__ = "line_stop"
    __table_args__ = (COMPACT,)
    line_id: Mapped[str] = mapped_column(ForeignKey("transit_line.id"), primary_key=True)
    place_id: Mapped[str] = mapped_column(ForeignKey("place.id"), primary_key=True)
    minutes: Mapped[int]


class PlaceList(Base):
    """A list of places: the user's own, or one that somebody shared to be edited or only viewed."""

    __tablename__ = "place_list"
    __table_args__ = (COMPACT,)
    id_prefix = "LST"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    owner: Mapped[str]
    access: Mapped[str]  # owner, editor, viewer


class SavedPlace(Base):
    """A place on a list."""

    __tablename__ = "saved_place"
    __table_args__ = (COMPACT,)
    list_id: Mapped[str] = mapped_column(ForeignKey("place_list.id"), primary_key=True)
    place_id: Mapped[str] = mapped_column(ForeignKey("place.id"), primary_key=True)
    note: Mapped[str | None]


class PlaceReview(Base):
    """What somebody thinks of a place; everybody has at most one review of it."""

    __tablename__ = "place_review"
    __table_args__ = (UniqueConstraint("place_id", "author"), CheckConstraint("rating BETWEEN 1 AND 5"), COMPACT)
    id_prefix = "REV"
    id: Mapped[str] = mapped_column(primary_key=True)
    place_id: Mapped[str] = mapped_column(ForeignKey("place.id"))
    author: Mapped[str]
    rating: Mapped[int]
    text: Mapped[str | None]
    written_on: Mapped[str]

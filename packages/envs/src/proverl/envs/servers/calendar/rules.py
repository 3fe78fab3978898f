"""Checks that several tools share. Each raises NotFound or Rejected with a message that says what would be right."""

from typing import Any

from sqlalchemy import Select, and_, bindparam, func, or_, select

from proverl.envs.context import Context
from proverl.envs.errors import NotFound, Rejected
from proverl.envs.servers.calendar.clock import within_hours
from proverl.envs.servers.calendar.tables import SELF, Access, Calendar, Event, Invitee, Person, Room
from proverl.envs.state import Row

_YEARS_AHEAD = 10

_ROLE = and_(Access.calendar_id == Event.calendar_id, Access.person_id == SELF)
_INVITATION = and_(Invitee.event_id == Event.id, Invitee.person_id == SELF)
_EVENT = (
    select(Event.__table__, Access.role, Invitee.response, Person.name.label("organizer"))
    .join(Person, Person.id == Event.organizer_id)
    .outerjoin(Access, _ROLE)
    .outerjoin(Invitee, _INVITATION)
    .where(Event.id == bindparam("key"))
)
_CALENDAR = (
    select(Calendar.__table__, Access.role)
    .join(Access, and_(Access.calendar_id == Calendar.id, Access.person_id == SELF))
    .where(Calendar.id == bindparam("key"))
)
_INVITED = select(func.count()).select_from(Invitee).where(Invitee.event_id == bindparam("event"))
_BOOKING: Select[*tuple[Any, ...]] = (
    select(Event.id, Event.start, Event.end)
    .where(
        Event.room_id == bindparam("room"),
        Event.id != bindparam("event"),
        Event.start < bindparam("end"),
        Event.end > bindparam("start"),
        Event.status == "confirmed",
    )
    .order_by(Event.start, Event.id)
)


def seen_calendar(ctx: Context, calendar_id: str) -> Row:
    """A calendar that the user has a `role` on."""
    rows = ctx.rows(_CALENDAR, key=calendar_id)
    if not rows:
        raise NotFound(f"no calendar {calendar_id!r} among yours; list_calendars shows the ones you can use")
    return rows[0]


def writable_calendar(ctx: Context, calendar_id: str) -> Row:
    """A calendar that the user may put events on."""
    calendar = seen_calendar(ctx, calendar_id)
    if calendar["role"] == "reader":
        raise Rejected(
            f"you can only read {calendar['name']} ({calendar_id}); use a calendar where you are owner or writer"
        )
    return calendar


def seen_event(ctx: Context, event_id: str) -> Row:
    """An event that the user may look at, with the user's `role` and `response` (None if none) and the `organizer`."""
    rows = ctx.rows(_EVENT, key=event_id)
    if not rows or not (rows[0]["role"] or rows[0]["response"] or rows[0]["organizer_id"] == SELF):
        raise NotFound(f"no event {event_id!r} that you can see; list_events shows event ids")
    return rows[0]


def editable_event(ctx: Context, event_id: str) -> Row:
    """An event that the user may change and that is not cancelled."""
    event = seen_event(ctx, event_id)
    if event["organizer_id"] != SELF and event["role"] not in ("owner", "writer"):
        instead = "respond_to_invitation instead" if event["response"] else "ask the organizer"
        raise Rejected(f"only the organizer, {event['organizer']}, can change {event_id}; {instead}")
    refuse_cancelled(event)
    return event


def upcoming_event(ctx: Context, event_id: str) -> Row:
    """An editable event that has not started."""
    event = editable_event(ctx, event_id)
    if event["start"] <= ctx.timestamp:
        raise Rejected(f"{event_id} started at {event['start']} and is closed to this change; choose an upcoming event")
    return event


def refuse_cancelled(event: Row) -> None:
    """Refuse a cancelled event."""
    if event["status"] == "cancelled":
        raise Rejected(f"{event['id']} is cancelled; create_event makes a new one")


def refuse_start(ctx: Context, start: str) -> None:
    """Refuse a start that is not in the future, or too far in it."""
    if start <= ctx.timestamp:
        raise Rejected(f"start {start} is not in the future; now it is {ctx.timestamp}, choose a later time")
    if start[:4] > str(ctx.now.year + _YEARS_AHEAD):
        raise Rejected(f"start {start} is too far ahead; choose a time before the end of {ctx.now.year + _YEARS_AHEAD}")


def headcount(ctx: Context, event_id: str) -> int:
    """How many people an event seats: the organizer and all invitees."""
    return 1 + int(ctx.scalar(_INVITED, event=event_id))


def refuse_unbookable(ctx: Context, room: Row, event_id: str, start: str, end: str) -> None:
    """Refuse a time at which this room is closed or holds another event than `event_id`."""
    name = f"{room['name']} ({room['id']})"
    if not within_hours(start, end, room["opens"], room["closes"]):
        raise Rejected(
            f"{name} is open on weekdays from {room['opens']} to {room['closes']}, not {start} to {end}; "
            "choose a time within its hours"
        )
    taken = ctx.rows(_BOOKING, room=room["id"], event=event_id, start=start, end=end)
    if taken:
        raise Rejected(
            f"{name} is already booked from {taken[0]['start']} to {taken[0]['end']}; "
            "choose another time, or a room that list_rooms shows for the event"
        )


def refuse_small(room: Row, people: int) -> None:
    """Refuse a room with fewer seats than people."""
    if room["capacity"] < people:
        raise Rejected(f"{room['name']} ({room['id']}) seats {room['capacity']}, not {people}; book a larger room")


def mine() -> Any:
    """Condition on `event` joined with the user's own invitation: the user organizes it or is invited."""
    return or_(Event.organizer_id == SELF, Invitee.person_id == SELF)


def get_room(ctx: Context, room_id: str) -> Row:
    """A room by id."""
    return ctx.get(Room, room_id, "list_rooms shows room ids")


def get_person(ctx: Context, person_id: str) -> Row:
    """A person by id."""
    return ctx.get(Person, person_id, "list_people shows person ids")

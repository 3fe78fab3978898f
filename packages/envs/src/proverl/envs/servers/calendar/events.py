"""Tools on single events: find, read, create, change, move, cancel."""

from functools import cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from sqlalchemy import Select, and_, bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs.context import Context
from proverl.envs.errors import Rejected
from proverl.envs.servers.calendar import stock
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.calendars import NO_LIMIT, Limit
from proverl.envs.servers.calendar.clock import day_bounds, minutes_between, shift
from proverl.envs.servers.calendar.rules import (
    editable_event,
    get_room,
    mine,
    refuse_start,
    refuse_unbookable,
    seen_calendar,
    seen_event,
    upcoming_event,
    writable_calendar,
)
from proverl.envs.servers.calendar.tables import (
    SELF,
    Calendar,
    CalendarId,
    Event,
    EventId,
    Invitee,
    PersonId,
    Reminder,
    RoomId,
    SeriesId,
)
from proverl.envs.state import Row
from proverl.envs.types import IsoDate, IsoDateTime, Text

Show = Literal["upcoming", "unanswered", "past", "cancelled"]
Title = Annotated[Text, Field(max_length=120, examples=stock.EVENT_TITLES)]
Description = Annotated[Text, Field(max_length=1_000, examples=stock.DESCRIPTIONS)]
Minutes = Annotated[int, Field(ge=5, le=1_440, examples=[15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 120])]

_PRIMARY = select(Calendar.id).where(Calendar.is_primary)
_INVITEES = (
    select(Invitee.person_id, Invitee.response)
    .where(Invitee.event_id == bindparam("event"), Invitee.person_id != SELF)
    .order_by(Invitee.person_id)
)
_ASK_AGAIN = (
    update(Invitee)
    .where(Invitee.event_id == bindparam("event"), Invitee.person_id != SELF)
    .values(response="needs_action")
)
_REMINDERS = select(Reminder.minutes_before).where(Reminder.event_id == bindparam("event"))


class EventItem(TypedDict):
    """An event in short."""

    id: EventId
    title: str
    start: str
    end: str


class EventList(TypedDict):
    """Events in order of time."""

    events: list[EventItem]


class InviteeItem(TypedDict):
    """An invited person other than the user."""

    person_id: PersonId
    response: Literal["needs_action", "accepted", "declined", "tentative"]


class EventView(EventItem):
    """An event in full; keys without a value are left out, `organizer_id` when it is the user."""

    status: Literal["confirmed", "cancelled"]
    organizer_id: NotRequired[PersonId]
    calendar_id: NotRequired[CalendarId]
    room_id: NotRequired[RoomId]
    series_id: NotRequired[SeriesId]
    description: NotRequired[str]
    my_response: NotRequired[Literal["needs_action", "accepted", "declined", "tentative"]]
    reminder_minutes: NotRequired[list[int]]
    invitees: NotRequired[list[InviteeItem]]


class Cancellation(TypedDict):
    """A cancelled event, and how many occurrences were cancelled with it."""

    id: EventId
    status: Literal["cancelled"]
    cancelled: int


def event_item(event: Row) -> EventItem:
    """The short view of an event's row."""
    return {"id": event["id"], "title": event["title"], "start": event["start"], "end": event["end"]}


_SHOWN: dict[str, tuple[Any, ...]] = {
    "upcoming": (Event.status == "confirmed", Event.end > bindparam("now")),
    "unanswered": (Event.status == "confirmed", Event.end > bindparam("now"), Invitee.response == "needs_action"),
    "past": (Event.status == "confirmed", Event.end <= bindparam("now")),
    "cancelled": (Event.status == "cancelled",),
}


@cache
def _listing(show: Show, on_calendar: bool, on_day: bool, in_series: bool) -> Select[*tuple[Any, ...]]:
    statement = (
        select(Event.id, Event.title, Event.start, Event.end)
        .outerjoin(Invitee, and_(Invitee.event_id == Event.id, Invitee.person_id == SELF))
        .where(*_SHOWN[show])
        .order_by(Event.start.desc() if show == "past" else Event.start, Event.id)
        .limit(bindparam("limit"))
    )
    statement = statement.where(Event.calendar_id == bindparam("calendar") if on_calendar else mine())
    if on_day:
        statement = statement.where(Event.start <= bindparam("day_end"), Event.end > bindparam("day_start"))
    return statement.where(Event.series_id == bindparam("series")) if in_series else statement


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {show}] events[ on {date}][ in {calendar_id}]",
        "show me what is on my calendar[ on {date}][, only titles with {title}][, at most {limit} entries]",
        "look up the events[ of {calendar_id}][ in {series_id}][ called {title}]",
        "pull up my agenda[ for {date}][, {show} events only]",
        "look through my events[ for {title}][ among the {show} ones]",
    ],
)
def list_events(
    ctx: Context,
    show: Annotated[Show, "Which events: unanswered are invitations that wait for the user's answer"] = "upcoming",
    date: Annotated[IsoDate | None, "Only events on this day"] = None,
    title: Annotated[Annotated[Text, Field(examples=list(stock.TITLES))] | None, "Only titles containing this"] = None,
    calendar_id: Annotated[CalendarId | None, "Events of this calendar, also those without the user"] = None,
    series_id: Annotated[SeriesId | None, "Only occurrences of this series"] = None,
    limit: Annotated[Limit, "How many at most"] = 5,
) -> EventList:
    """List events in order of time: those the user organizes or is invited to, or all events of one calendar."""
    if calendar_id is not None:
        seen_calendar(ctx, calendar_id)
    statement = _listing(show, calendar_id is not None, date is not None, series_id is not None)
    day_start, day_end = day_bounds(date) if date else ("", "")
    values = {"now": ctx.timestamp, "calendar": calendar_id, "day_start": day_start, "day_end": day_end}
    rows = ctx.rows(statement, **values, series=series_id, limit=limit if title is None else NO_LIMIT)
    if title is not None:
        rows = [row for row in rows if title.casefold() in row["title"].casefold()]
    return {"events": [event_item(row) for row in rows[:limit]]}


@server.tool(
    read_only=True,
    phrases=[
        "show me the details of {event_id}",
        "open {event_id}",
        "tell me who is invited to {event_id} and where it is",
        "look at {event_id}",
    ],
    brief=[
        "show me the details of an event",
        "open one of my events",
    ],
)
def get_event(ctx: Context, event_id: Annotated[EventId, "Event to read"]) -> EventView:
    """Return one event with its room, series, invitees and the user's response and reminders."""
    event = seen_event(ctx, event_id)
    optional = {
        "organizer_id": event["organizer_id"] if event["organizer_id"] != SELF else None,
        "calendar_id": event["calendar_id"] if event["role"] else None,
        "room_id": event["room_id"],
        "series_id": event["series_id"],
        "description": event["description"],
        "my_response": event["response"],
        "reminder_minutes": sorted(row["minutes_before"] for row in ctx.rows(_REMINDERS, event=event_id)),
        "invitees": ctx.rows(_INVITEES, event=event_id),
    }
    view = {**event_item(event), "status": event["status"]}
    return {**view, **{key: value for key, value in optional.items() if value}}  # type: ignore[typeddict-item]


@server.tool(
    phrases=[
        "schedule {title} at {start} for {duration_minutes} minutes[ in {calendar_id}]",
        "create an event called {title} starting {start}, {duration_minutes} minutes long[, noting {description}]",
        "put {title} on my calendar: {start}, {duration_minutes} minutes[, described as {description}]",
        "block {duration_minutes} minutes from {start} for {title}[ on {calendar_id}]",
    ],
    brief=[
        "schedule a new event",
        "schedule {title} at {start}",
        "block {duration_minutes} minutes for {title}",
    ],
)
def create_event(
    ctx: Context,
    title: Annotated[Title, "Title of the event"],
    start: Annotated[IsoDateTime, "Start in the user's local time, in the future"],
    duration_minutes: Annotated[Minutes, "Length in minutes"],
    calendar_id: Annotated[CalendarId | None, "Calendar to put it on; the primary one if left out"] = None,
    description: Annotated[Description | None, "Longer text"] = None,
) -> EventItem:
    """Create an event that the user organizes. Invite people and book a room afterwards."""
    refuse_start(ctx, start)
    calendar = writable_calendar(ctx, calendar_id)["id"] if calendar_id is not None else ctx.scalar(_PRIMARY)
    event = ctx.insert(
        Event, calendar_id=calendar, organizer_id=SELF, title=title, description=description or "", start=start,
        end=shift(start, duration_minutes), status="confirmed", room_id=None, series_id=None, occurrence=None,
        original_start=None,
    )  # fmt: skip
    return event_item(event)


@server.tool(
    idempotent=True,
    phrases=[
        "rename {event_id} to {title}[ and set its description to {description}]",
        "change the title of {event_id} to {title}",
        "call {event_id} {title} from now on[, with the description {description}]",
        "give {event_id} the new title {title}",
    ],
    brief=[
        "rename an event",
        "change the title of {event_id}",
        "rename one of my events to {title}",
    ],
)
def update_event(
    ctx: Context,
    event_id: Annotated[EventId, "Event to change"],
    title: Annotated[Title, "New title"],
    description: Annotated[Description | None, "New description; unchanged if left out"] = None,
) -> EventItem:
    """Change the title, and if given the description, of one event. To change its time use reschedule_event."""
    event = editable_event(ctx, event_id)
    changes = {"title": title} if description is None else {"title": title, "description": description}
    ctx.update(Event, event_id, **changes)
    return event_item({**event, **changes})


@server.tool(
    idempotent=True,
    phrases=[
        "move {event_id} to {start}[ and make it {duration_minutes} minutes long]",
        "reschedule {event_id} to {start}",
        "push {event_id} to {start}[, for {duration_minutes} minutes]",
        "have {event_id} start at {start} instead",
    ],
    brief=[
        "move an event to another time",
        "reschedule {event_id}",
        "move one of my events to {start}",
    ],
)
def reschedule_event(
    ctx: Context,
    event_id: Annotated[EventId, "Event to move"],
    start: Annotated[IsoDateTime, "New start in the user's local time, in the future"],
    duration_minutes: Annotated[Minutes | None, "New length in minutes; unchanged if left out"] = None,
) -> EventItem:
    """Move one event, or one occurrence of a series, to another time. Its room moves along; invitees answer anew."""
    event = upcoming_event(ctx, event_id)
    refuse_start(ctx, start)
    end = shift(start, duration_minutes or minutes_between(event["start"], event["end"]))
    if event["series_id"] is not None:
        _refuse_crossing(ctx, event, start)
    if event["room_id"] is not None:
        refuse_unbookable(ctx, get_room(ctx, event["room_id"]), event_id, start, end)
    ctx.update(Event, event_id, start=start, end=end)
    ctx.execute(_ASK_AGAIN, event=event_id)
    return event_item({**event, "start": start, "end": end})


_OCCURRENCES = (
    select(Event.id, Event.occurrence, Event.start)
    .where(Event.series_id == bindparam("series"), Event.status == "confirmed")
    .order_by(Event.occurrence)
)


def _refuse_crossing(ctx: Context, event: Row, start: str) -> None:
    """Occurrences keep their order: one may not move past its neighbours in the series."""
    for other in ctx.rows(_OCCURRENCES, series=event["series_id"]):
        before, after = other["occurrence"] < event["occurrence"], other["occurrence"] > event["occurrence"]
        if (before and other["start"] >= start) or (after and other["start"] <= start):
            side = "after" if before else "before"
            raise Rejected(
                f"{event['id']} cannot pass {other['id']} of the same series; "
                f"choose a start {side} {other['start']}, or cancel that occurrence first"
            )


@server.tool(
    destructive=True,
    phrases=[
        "cancel {event_id}[ (scope: {scope})]",
        "call off {event_id}",
        "drop {event_id} from the calendar[ (scope: {scope})]",
        "make sure {event_id} is cancelled",
    ],
    brief=[
        "cancel an event",
        "call off one of my events",
    ],
)
def cancel_event(
    ctx: Context,
    event_id: Annotated[EventId, "Event to cancel"],
    scope: Annotated[
        Literal["single", "following", "all"], "For a series: only this one, also the later ones, or all upcoming ones"
    ] = "single",
) -> Cancellation:
    """Cancel an upcoming event: its room is freed, its reminders end and unanswered invitations are withdrawn."""
    event = upcoming_event(ctx, event_id)
    targets = [event_id] if scope == "single" else _in_scope(ctx, event, scope)
    ctx.execute(update(Event).where(Event.id.in_(targets)).values(status="cancelled", room_id=None))
    ctx.delete(Reminder, Reminder.event_id.in_(targets))
    ctx.delete(Invitee, Invitee.event_id.in_(targets), Invitee.response == "needs_action")
    return {"id": event_id, "status": "cancelled", "cancelled": len(targets)}


def _in_scope(ctx: Context, event: Row, scope: str) -> list[str]:
    if event["series_id"] is None:
        raise Rejected(f"{event['id']} is not part of a series; cancel it with scope single")
    first = event["occurrence"] if scope == "following" else 1
    rows = ctx.rows(_OCCURRENCES, series=event["series_id"])
    return [row["id"] for row in rows if row["occurrence"] >= first and row["start"] > ctx.timestamp]

"""Tools that act on an event over time: recurrence and reminders."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, insert, select
from typing_extensions import TypedDict

from proverl.envs.context import Context
from proverl.envs.errors import Rejected
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.clock import Frequency, minutes_between, occurrence_starts, shift
from proverl.envs.servers.calendar.rules import (
    get_room,
    refuse_cancelled,
    refuse_unbookable,
    seen_event,
    upcoming_event,
)
from proverl.envs.servers.calendar.tables import Event, EventId, Invitee, Reminder, ReminderId, Series, SeriesId
from proverl.envs.state import Row

Occurrences = Annotated[int, Field(ge=2, le=30, examples=[2, 3, 4, 5, 6, 7, 8, 9, 10, 12])]
MinutesBefore = Annotated[int, Field(ge=1, le=40_320, examples=[5, 10, 15, 20, 25, 30, 40, 45, 60, 90, 120])]

_MAX_REMINDERS = 5  # per event, as large calendar services have it
_INVITEES = select(Invitee.__table__).where(Invitee.event_id == bindparam("event")).order_by(Invitee.person_id)
_REMINDERS = select(Reminder.minutes_before, Reminder.method).where(Reminder.event_id == bindparam("event"))


class SeriesView(TypedDict):
    """A new series, and its last occurrence."""

    series_id: SeriesId
    event_id: EventId
    occurrences: int
    last_start: str


class ReminderView(TypedDict):
    """A new reminder and when it fires."""

    id: ReminderId
    event_id: EventId
    fires_at: str


@server.tool(
    phrases=[
        "make {event_id} repeat {frequency}, {occurrences} times in all",
        "turn {event_id} into a {frequency} series of {occurrences} occurrences",
        "repeat {event_id} {frequency} for {occurrences} occurrences",
        "have {event_id} recur {frequency} until it has taken place {occurrences} times",
    ],
    brief=[
        "turn an event into a series",
        "make {event_id} repeat {frequency}",
        "turn {event_id} into a series of {occurrences} occurrences",
    ],
)
def set_recurrence(
    ctx: Context,
    event_id: Annotated[EventId, "Event that becomes the first occurrence"],
    frequency: Annotated[Frequency, "How often it repeats"],
    occurrences: Annotated[Occurrences, "How many occurrences in all, the first included"],
) -> SeriesView:
    """Turn a single upcoming event into a series. Invitees and room are taken over into every occurrence."""
    event = upcoming_event(ctx, event_id)
    if event["series_id"] is not None:
        raise Rejected(f"{event_id} already belongs to {event['series_id']}; choose an event that does not repeat")
    starts = occurrence_starts(event["start"], frequency, occurrences)
    rows = _occurrence_rows(event, starts)
    if event["room_id"] is not None:
        room = get_room(ctx, event["room_id"])
        for row in rows[1:]:
            refuse_unbookable(ctx, room, row["id"], row["start"], row["end"])
    series = ctx.insert(Series, frequency=frequency, first_start=event["start"], occurrences=occurrences)["id"]
    ctx.update(Event, event_id, series_id=series, occurrence=1, original_start=event["start"])
    ctx.db.execute(insert(Event), [{**row, "series_id": series} for row in rows[1:]])
    invitees = ctx.rows(_INVITEES, event=event_id)
    if invitees:
        copies = [{**one, "event_id": row["id"], "response": "needs_action"} for row in rows[1:] for one in invitees]
        ctx.db.execute(insert(Invitee), copies)
    return {"series_id": series, "event_id": event_id, "occurrences": occurrences, "last_start": starts[-1]}


def _occurrence_rows(event: Row, starts: list[str]) -> list[Row]:
    """Rows of all occurrences; the later ones are named after the first, e.g. EVT-40213-2."""
    minutes = minutes_between(event["start"], event["end"])
    copied = {column.name: event[column.name] for column in Event.__table__.columns}
    return [
        {
            **copied,
            "id": event["id"] if number == 1 else f"{event['id']}-{number}",
            "start": start,
            "end": shift(start, minutes),
            "occurrence": number,
            "original_start": start,
        }
        for number, start in enumerate(starts, 1)
    ]


@server.tool(
    phrases=[
        "remind me {minutes_before} minutes before {event_id}[ by {method}]",
        "set a reminder[ by {method}] for {event_id}, {minutes_before} minutes ahead",
        "add a reminder {minutes_before} minutes before {event_id} starts[, sent as {method}]",
        "alert me about {event_id} {minutes_before} minutes in advance",
    ],
    brief=[
        "set a reminder for an event",
        "remind me of {event_id}",
        "remind me {minutes_before} minutes before one of my events",
    ],
)
def set_reminder(
    ctx: Context,
    event_id: Annotated[EventId, "Event to be reminded of"],
    minutes_before: Annotated[MinutesBefore, "How many minutes before the start"],
    method: Annotated[Literal["popup", "email"], "How to remind"] = "popup",
) -> ReminderView:
    """Add a reminder for the user before an event; at most five per event."""
    event = seen_event(ctx, event_id)
    refuse_cancelled(event)
    if event["response"] == "declined":
        raise Rejected(f"you declined {event_id}; accept it with respond_to_invitation before setting a reminder")
    fires_at = shift(event["start"], -minutes_before)
    if fires_at <= ctx.timestamp:
        raise Rejected(
            f"a reminder at {fires_at} would be in the past (now {ctx.timestamp}); "
            "use fewer minutes_before or a later event"
        )
    present = [(row["minutes_before"], row["method"]) for row in ctx.rows(_REMINDERS, event=event_id)]
    if (minutes_before, method) in present:
        raise Rejected(
            f"{event_id} already has a {method} reminder {minutes_before} minutes before; choose another time"
        )
    if len(present) >= _MAX_REMINDERS:
        raise Rejected(f"{event_id} has {len(present)} reminders, which is the most an event can have")
    reminder = ctx.insert(Reminder, event_id=event_id, minutes_before=minutes_before, method=method)
    return {"id": reminder["id"], "event_id": event_id, "fires_at": fires_at}

"""Tools on meeting rooms: find one, book it."""

from typing import Annotated

from proverl.envs.context import Context
from proverl.envs.errors import Rejected
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.calendars import Limit
from proverl.envs.servers.calendar.clock import within_hours
from proverl.envs.servers.calendar.rules import (
    get_room,
    headcount,
    refuse_small,
    refuse_unbookable,
    seen_event,
    upcoming_event,
)
from proverl.envs.servers.calendar.tables import Event, EventId, Room, RoomId
from proverl.envs.state import Row
from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

Seats = Annotated[int, Field(ge=1, le=100, examples=[2, 3, 4, 5, 6, 8, 10, 12, 14, 16])]

_ROOMS = select(Room.__table__).order_by(Room.name)
_TAKEN = select(Event.room_id).where(
    Event.room_id.is_not(None),
    Event.status == "confirmed",
    Event.start < bindparam("end"),
    Event.end > bindparam("start"),
)


class RoomItem(TypedDict):
    """A room in a list."""

    id: RoomId
    name: str
    building: str
    capacity: int


class RoomList(TypedDict):
    """Meeting rooms."""

    rooms: list[RoomItem]


class Booking(TypedDict):
    """A room booked for an event."""

    event_id: EventId
    room_id: RoomId
    start: str
    end: str


@server.tool(
    read_only=True,
    phrases=[
        "list meeting rooms[ that are free for {event_id}][, {limit} at most]",
        "find a room[ for {event_id}][ with at least {min_capacity} seats]",
        "show me which rooms there are[ for {min_capacity} people or more]",
        "check which rooms there are[ for {event_id}][, seating {min_capacity}]",
    ],
)
def list_rooms(
    ctx: Context,
    event_id: Annotated[EventId | None, "Only rooms that are free at this event's time and seat its people"] = None,
    min_capacity: Annotated[Seats | None, "Only rooms with at least so many seats"] = None,
    limit: Annotated[Limit, "How many at most"] = 5,
) -> RoomList:
    """List meeting rooms by name; with an event only those that can be booked for it, the smallest first."""
    rooms = ctx.rows(_ROOMS)
    if event_id is not None:
        rooms = _bookable(ctx, rooms, seen_event(ctx, event_id))
    items = [
        {key: room[key] for key in RoomItem.__annotations__}
        for room in rooms
        if room["capacity"] >= (min_capacity or 0)
    ]
    return {"rooms": items[:limit]}  # type: ignore[typeddict-item]


def _bookable(ctx: Context, rooms: list[Row], event: Row) -> list[Row]:
    start, end, people = event["start"], event["end"], headcount(ctx, event["id"])
    taken = {row["room_id"] for row in ctx.rows(_TAKEN, start=start, end=end)}
    fitting = [
        room
        for room in rooms
        if room["in_service"]
        and room["id"] not in taken
        and room["capacity"] >= people
        and within_hours(start, end, room["opens"], room["closes"])
    ]
    return sorted(fitting, key=lambda room: (room["capacity"], room["name"]))


@server.tool(
    phrases=[
        "book {room_id} for {event_id}",
        "reserve {room_id} for {event_id}",
        "hold {event_id} in {room_id}",
        "put {event_id} into {room_id}",
    ],
)
def book_room(
    ctx: Context,
    event_id: Annotated[EventId, "Event that needs a room"],
    room_id: Annotated[RoomId, "Room to book"],
) -> Booking:
    """Book a room for an upcoming event; a room booked for it before is given back."""
    event = upcoming_event(ctx, event_id)
    room = get_room(ctx, room_id)
    if event["room_id"] == room_id:
        raise Rejected(f"{room['name']} ({room_id}) is already booked for {event_id}; choose another room")
    if not room["in_service"]:
        raise Rejected(
            f"{room['name']} ({room_id}) is out of service; choose a room that list_rooms shows for the event"
        )
    refuse_small(room, headcount(ctx, event_id))
    refuse_unbookable(ctx, room, event_id, event["start"], event["end"])
    ctx.update(Event, event_id, room_id=room_id)
    return {"event_id": event_id, "room_id": room_id, "start": event["start"], "end": event["end"]}

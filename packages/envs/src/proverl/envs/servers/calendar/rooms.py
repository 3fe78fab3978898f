"""Tools on meeting rooms: find one, book it."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

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

Seats = Annotated[int, Field(ge=1, le=100, examples=[2, 3, 4, 5, 6, 8, 10, 12, 14, 16])]

_ITEM = (Room.id, Room.name, Room.building, Room.capacity)
_ROOMS = select(*_ITEM).where(Room.capacity >= bindparam("seats")).order_by(Room.name).limit(bindparam("limit"))
_TAKEN = select(Event.room_id).where(
    Event.room_id.is_not(None),
    Event.status == "confirmed",
    Event.start < bindparam("end"),
    Event.end > bindparam("start"),
)
_BOOKABLE = (
    select(*_ITEM, Room.opens, Room.closes)
    .where(Room.in_service, Room.capacity >= bindparam("seats"), Room.id.not_in(_TAKEN))
    .order_by(Room.capacity, Room.name)
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
    seats = min_capacity or 1
    if event_id is None:
        return {"rooms": ctx.rows(_ROOMS, seats=seats, limit=limit)}  # type: ignore[typeddict-item]
    return {"rooms": _bookable(ctx, seen_event(ctx, event_id), seats)[:limit]}


def _bookable(ctx: Context, event: Row, seats: int) -> list[RoomItem]:
    start, end = event["start"], event["end"]
    rooms = ctx.rows(_BOOKABLE, start=start, end=end, seats=max(seats, headcount(ctx, event["id"])))
    return [
        {"id": room["id"], "name": room["name"], "building": room["building"], "capacity": room["capacity"]}
        for room in rooms
        if within_hours(start, end, room["opens"], room["closes"])
    ]


@server.tool(
    phrases=[
        "book {room_id} for {event_id}",
        "reserve {room_id} for {event_id}",
        "hold {event_id} in {room_id}",
        "put {event_id} into {room_id}",
    ],
    brief=[
        "book a room",
        "book a room for {event_id}",
        "reserve {room_id} for one of my events",
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

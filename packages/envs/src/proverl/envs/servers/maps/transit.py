"""Transit: lines, and trips by them. All lines of a city meet at its central station, where the trains stop too."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from sqlalchemy import bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDateTime, Rejected
from proverl.envs.servers.maps import geometry, rules
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.geometry import City
from proverl.envs.servers.maps.opening import clock
from proverl.envs.servers.maps.tables import LineId, LineStop, Place, PlaceId, TransitLine
from proverl.envs.state import Row

Kind = Literal["metro", "tram", "bus", "train"]

_TIMETABLE = 90  # days ahead that it is published
_LONGEST_WAIT = 60  # minutes; whoever would wait longer is told that nothing runs
_LINE = TransitLine.__table__.c
_LINES = (
    select(TransitLine.__table__)
    .where(
        TransitLine.id.in_(
            select(LineStop.line_id)
            .join(Place, Place.id == LineStop.place_id)
            .where(Place.city == bindparam("city"), Place.category == "transit_stop")
        ),
        or_(bindparam("kind") == "", TransitLine.kind == bindparam("kind")),
    )
    .order_by(TransitLine.name, TransitLine.id)
)
_STOPS_OF_LINE = (
    select(LineStop.place_id, LineStop.minutes, Place.name)
    .join_from(LineStop, Place, Place.id == LineStop.place_id)
    .where(LineStop.line_id == bindparam("line"))
    .order_by(LineStop.minutes)
)
_CALLS: Any = (
    select(
        LineStop.line_id,
        LineStop.place_id,
        LineStop.minutes,
        *(_LINE[name] for name in ("name", "first", "last", "headway", "suspended_until", "reason")),
        _LINE.minutes.label("length"),
        Place.name.label("stop"),
        Place.east,
        Place.north,
    )
    .join_from(LineStop, TransitLine, TransitLine.id == LineStop.line_id)
    .join(Place, Place.id == LineStop.place_id)
    .where(
        or_(
            LineStop.place_id.in_((bindparam("start"), bindparam("end"))),
            Place.name.in_((bindparam("hub"), bindparam("other_hub"))),
        )
    )
    .order_by(TransitLine.name, LineStop.line_id, LineStop.minutes)
)


class LineItem(TypedDict):
    """A line in a list; `runs` is the time of the first and the last departure."""

    line_id: LineId
    name: str
    kind: Kind
    runs: str
    every_min: int
    suspended_until: str | None


class LineList(TypedDict):
    """Lines that serve a city, by name."""

    lines: list[LineItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the transit lines in {city}[, {kind} only]",
        "show me which[ {kind}] lines run in {city}",
        "look up public transport in {city}[ by {kind}]",
        "check what lines {city} has[ for the {kind}] and when they run",
        "tell me how often the[ {kind}] lines in {city} run and which are suspended",
    ],
    brief=[
        "list the transit lines of a city",
        "show me which {kind} lines run in a city",
    ],
)
def list_transit_lines(
    ctx: Context,
    city: Annotated[City, "City that the lines serve"],
    kind: Annotated[Kind | None, "Only lines of this kind; trains go to the other cities"] = None,
) -> LineList:
    """List the transit lines that serve a city with their hours, interval and suspensions."""
    return {
        "lines": [
            {
                "line_id": row["id"],
                "name": row["name"],
                "kind": row["kind"],
                "runs": f"{clock(row['first'])}-{clock(row['last'])}",
                "every_min": row["headway"],
                "suspended_until": row["suspended_until"],
            }
            for row in ctx.rows(_LINES, city=city, kind=kind or "")
        ]
    }


class LineStopItem(TypedDict):
    """A stop of a line, in minutes from its first stop."""

    place_id: PlaceId
    name: str
    minutes: int


class LineView(TypedDict):
    """A line with its stops in order; it runs both ways."""

    line_id: LineId
    name: str
    kind: Kind
    suspended_until: str | None
    reason: str | None
    stops: list[LineStopItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me the stops of {line_id}",
        "list where {line_id} stops",
        "look up the route of {line_id} stop by stop",
        "check whether {line_id} is running and where it goes",
        "tell me which stops {line_id} has and how long it takes between them",
    ],
    brief=[
        "show me the stops of a transit line",
        "check whether a transit line is running and where it goes",
    ],
)
def get_transit_line(ctx: Context, line_id: Annotated[LineId, "Line to read"]) -> LineView:
    """Get a line's stops in order, with the travel time from the first one, and its suspension if there is one."""
    row = ctx.get(TransitLine, line_id, "list_transit_lines names the lines of a city")
    return {
        "line_id": line_id,
        "name": row["name"],
        "kind": row["kind"],
        "suspended_until": row["suspended_until"],
        "reason": row["reason"],
        "stops": ctx.rows(_STOPS_OF_LINE, line=line_id),  # type: ignore[typeddict-item]
    }


class TransitLeg(TypedDict):
    """A ride on one line."""

    line_id: LineId
    line: str
    from_stop: str
    to_stop: str
    departs: str
    arrives: str


class TransitTrip(TypedDict):
    """A trip with the walks to the first stop and from the last one."""

    departs: str
    arrives: str
    duration_min: int
    legs: list[TransitLeg]
    walking_m: int


@dataclass(frozen=True)
class _Ride:
    """A line with the calls at which to board and to leave it."""

    board: Row
    leave: Row


@server.tool(
    read_only=True,
    phrases=[
        "plan a transit trip from {origin_place_id} to {destination_place_id}[ leaving at {departure_time}]",
        "find a connection by public transport from {origin_place_id} to {destination_place_id}[ at {departure_time}]",
        "tell me how to reach {destination_place_id} from {origin_place_id} by tram or bus[ at {departure_time}]",
        "check which lines take me from {origin_place_id} to {destination_place_id}[ after {departure_time}]",
        "work out how I get from {origin_place_id} to {destination_place_id} by transit[, not before {departure_time}]",
    ],
    brief=[
        "plan a trip by public transport",
        "find a connection by public transport to {destination_place_id}",
        "plan a transit trip that starts at {origin_place_id}[, leaving at {departure_time}]",
    ],
)
def plan_transit_trip(
    ctx: Context,
    origin_place_id: Annotated[PlaceId, "Where to start"],
    destination_place_id: Annotated[PlaceId, "Where to go"],
    departure_time: Annotated[IsoDateTime | None, "Earliest departure, up to 90 days ahead; now if left out"] = None,
) -> TransitTrip:
    """Plan the next trip by public transport between two places, changing at central stations where needed."""
    start, end = rules.place(ctx, origin_place_id), rules.place(ctx, destination_place_id)
    leave_at = _departure(ctx, departure_time or ctx.timestamp)
    metres = geometry.distance("walking", geometry.straight(start["east"], start["north"], end["east"], end["north"]))
    if start["stop_id"] == end["stop_id"]:
        raise Rejected(
            f"{destination_place_id} is {metres} m from {origin_place_id}, at the same stop; walk there, see get_route"
        )
    rides = _rides(ctx, start, end)
    first_walk, last_walk = _walk(start, rides[0].board), _walk(end, rides[-1].leave)
    moment = leave_at + timedelta(minutes=geometry.minutes("walking", first_walk))
    legs: list[TransitLeg] = []
    for ride in rides:
        _runs(ride.board, moment)
        boards, leaves = _times(ride, moment)
        legs.append(
            {
                "line_id": ride.board["line_id"],
                "line": ride.board["name"],
                "from_stop": ride.board["stop"],
                "to_stop": ride.leave["stop"],
                "departs": boards.isoformat(timespec="minutes"),
                "arrives": leaves.isoformat(timespec="minutes"),
            }
        )
        moment = leaves
    arrives = moment + timedelta(minutes=geometry.minutes("walking", last_walk))
    return {
        "departs": leave_at.isoformat(timespec="minutes"),
        "arrives": arrives.isoformat(timespec="minutes"),
        "duration_min": int((arrives - leave_at).total_seconds()) // 60,
        "legs": legs,
        "walking_m": first_walk + last_walk,
    }


def _departure(ctx: Context, time: str) -> datetime:
    """The time to leave. Raises Rejected when it has passed or is beyond the timetable."""
    if time < ctx.timestamp:
        raise Rejected(f"departure_time {time} has passed; it is {ctx.timestamp} now")
    last = (ctx.now + timedelta(days=_TIMETABLE)).date().isoformat()
    if time[:10] > last:
        raise Rejected(f"the timetable is published until {last}; {time} is beyond it")
    return datetime.fromisoformat(time)


def _walk(place: Row, stop: Row) -> int:
    """Metres between a place and its stop."""
    return geometry.distance("walking", geometry.straight(place["east"], place["north"], stop["east"], stop["north"]))


def _rides(ctx: Context, start: Row, end: Row) -> list[_Ride]:
    """The lines to take: one that serves both stops, or by way of the central stations."""
    hub, other_hub = f"{start['city']} Central", f"{end['city']} Central"
    calls = ctx.rows(_CALLS, start=start["stop_id"], end=end["stop_id"], hub=hub, other_hub=other_hub)
    at_stop: dict[str, dict[str, Row]] = {}
    hubs = {}
    for call in calls:
        at_stop.setdefault(call["place_id"], {})[call["line_id"]] = call
        if call["stop"] in (hub, other_hub):
            hubs[call["stop"]] = call["place_id"]
    direct = _shared(at_stop, start["stop_id"], end["stop_id"])
    if direct:
        return [direct]
    points = list(dict.fromkeys((start["stop_id"], hubs[hub], hubs[other_hub], end["stop_id"])))
    rides = [_shared(at_stop, a, b) for a, b in zip(points, points[1:], strict=False)]
    return [ride for ride in rides if ride]


def _shared(at_stop: dict[str, dict[str, Row]], a: str, b: str) -> _Ride | None:
    """The line that serves both stops and takes the least time, if there is one."""
    shared = [_Ride(call, at_stop[b][line]) for line, call in at_stop[a].items() if line in at_stop[b]]
    return min(shared, key=lambda ride: abs(ride.board["minutes"] - ride.leave["minutes"]), default=None)


def _runs(line: Row, moment: datetime) -> None:
    """Raises Rejected when the line is suspended on that day."""
    until = line["suspended_until"]
    if until and moment.date().isoformat() < until:
        raise Rejected(
            f"{line['name']} ({line['line_id']}) is suspended until {until} because of {line['reason']} and nothing "
            "else serves that stop; leave on that day or later, or use get_route"
        )


def _times(ride: _Ride, moment: datetime) -> tuple[datetime, datetime]:
    """When the next departure boards and leaves. Raises Rejected when nothing runs within an hour."""
    line, there = ride.board, ride.leave
    offset = line["minutes"]
    if there["minutes"] < offset:
        offset = line["length"] - offset
    first, last = line["first"] + offset, line["last"] + offset
    midnight, minute = moment.replace(hour=0, minute=0), moment.hour * 60 + moment.minute
    ride_time = abs(there["minutes"] - line["minutes"])
    for since in (1_440, 0):  # the evening before may run past midnight
        rounds = max(0, -(-(minute + since - first) // line["headway"]))
        boards = first + rounds * line["headway"] - since
        if boards + since <= last and boards - minute <= _LONGEST_WAIT:
            return midnight + timedelta(minutes=boards), midnight + timedelta(minutes=boards + ride_time)
    raise Rejected(
        f"no transit at that hour: {line['name']} leaves {line['stop']} for {there['stop']} from {clock(first)} to "
        f"{clock(last)}, and it would be {moment.isoformat(timespec='minutes')} at the stop"
    )

"""Where to go: find places, chargers and fuel, and set the route."""

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.names import folded
from proverl.envs.servers.vehicle import rules, words
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.fleet import Limit
from proverl.envs.servers.vehicle.tables import Destination, DestinationId, Drive, Vehicle, VehicleId
from proverl.envs.state import Row

Kind = Literal[
    "depot", "office", "customer", "home", "hotel", "airport", "charging_station", "fuel_station", "service_center"
]

_CHARGING = (
    select(Vehicle.place_id, func.count().label("taken"))
    .where(Vehicle.charge_limit.is_not(None))
    .group_by(Vehicle.place_id)
).subquery()
_PLACES = (
    select(
        Destination.id,
        Destination.name,
        Destination.kind,
        Destination.price,
        Destination.x,
        Destination.y,
        (Destination.bays - Destination.busy - func.coalesce(_CHARGING.c.taken, 0)).label("free"),
    )
    .outerjoin_from(Destination, _CHARGING, _CHARGING.c.place_id == Destination.id)
    .where(or_(bindparam("kind") == "", Destination.kind == bindparam("kind")))
    .order_by(Destination.name, Destination.id)
)


class DestinationItem(TypedDict):
    """A place in a list; the price is for a kWh, or for a litre at fuel stations (EUR)."""

    destination_id: DestinationId
    name: str
    kind: Kind
    free_chargers: int
    price: float | None
    distance_km: int | None


class DestinationList(TypedDict):
    """Places that fit."""

    destinations: list[DestinationItem]


_folded = lru_cache(maxsize=4096)(folded)  # the same names at every call


@server.tool(
    read_only=True,
    phrases=[
        "find destinations[ of kind {kind}][ with {name} in the name][ close to {vehicle_id}][, {limit} at most]",
        "list the places we know[ that match {name}][, only those of the kind {kind}][, nearest to {vehicle_id} first]",
        "look up places[ of the {kind} kind][ around {vehicle_id}][, up to {limit} of them]",
        "search the saved places[ for {name}][ and sort them by the distance from {vehicle_id}]",
        "show me where we could drive to[, looking for {name}][ near {vehicle_id}][, {limit} places only]",
    ],
)
def find_destinations(
    ctx: Context,
    kind: Annotated[Kind | None, "Only places of this kind"] = None,
    name: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.PLACE_SEARCHES))] | None,
        "Part of the name; case and accents make no difference",
    ] = None,
    vehicle_id: Annotated[VehicleId | None, "Give distances from this vehicle, nearest first"] = None,
    limit: Annotated[Limit, "Most places listed"] = 5,
) -> DestinationList:
    """Find places to drive to, with free chargers and prices; by name, or nearest to a vehicle first."""
    wanted = folded(name or "")
    rows = [row for row in ctx.rows(_PLACES, kind=kind or "") if wanted in _folded(row["name"])]
    if vehicle_id is None:
        return {"destinations": [_item(row, None) for row in rows[:limit]]}
    here = rules.destination(ctx, rules.vehicle(ctx, vehicle_id)["place_id"])
    near = sorted(((_km(here, row), row["id"], row) for row in rows), key=lambda item: item[:2])
    return {"destinations": [_item(row, distance) for distance, _, row in near[:limit]]}


def _km(here: Row, row: Row) -> int:
    return 0 if here["id"] == row["id"] else rules.road_km(here, row)


def _item(row: Row, distance: int | None) -> DestinationItem:
    return {
        "destination_id": row["id"],
        "name": row["name"],
        "kind": row["kind"],
        "free_chargers": row["free"],
        "price": None if row["price"] is None else row["price"] / 1000,
        "distance_km": distance,
    }


class Route(TypedDict):
    """The active route."""

    vehicle_id: VehicleId
    destination_id: DestinationId
    distance_km: int
    minutes: int
    percent_on_arrival: int


@server.tool(
    phrases=[
        "navigate {vehicle_id} to {destination_id}",
        "set the navigation of {vehicle_id} to {destination_id}",
        "send the route to {destination_id} to {vehicle_id}",
        "plan a route to {destination_id} for {vehicle_id}",
        "make {destination_id} the target of the navigation in {vehicle_id}",
    ],
    brief=[
        "start the navigation of a vehicle",
        "set a route for {vehicle_id}",
        "navigate one of the vehicles to {destination_id}",
    ],
)
def start_navigation(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle with the ignition at accessory or on"],
    destination_id: Annotated[DestinationId, "Where it is to go"],
) -> Route:
    """Set the route of a vehicle, in place of an earlier one; a vehicle under way takes the new route at once."""
    row, target = rules.vehicle(ctx, vehicle_id), rules.destination(ctx, destination_id)
    rules.no_valet(row, "navigation")
    rules.powered(row, "it navigates")
    if row["route_to"] == destination_id:
        raise Rejected(f"{vehicle_id} is navigating to {target['name']} already; choose another destination")
    if row["place_id"] == destination_id:
        where = "set off from" if row["gear"] == "drive" else "stands at"
        raise Rejected(f"{vehicle_id} {where} {target['name']} ({destination_id}); choose another destination")
    distance = rules.road_km(rules.destination(ctx, row["place_id"]), target)
    row["route_to"] = destination_id
    if row["gear"] == "drive":
        rules.roadworthy(ctx, row, target)
        _reroute(ctx, row, distance)
    ctx.update(Vehicle, vehicle_id, route_to=destination_id)
    left = max(0, row["level"] - distance * row["consumption"])
    return {
        "vehicle_id": vehicle_id,
        "destination_id": destination_id,
        "distance_km": distance,
        "minutes": rules.minutes(distance),
        "percent_on_arrival": left * 100 // row["capacity"],
    }


def _reroute(ctx: Context, row: Row, distance: int) -> None:
    """Lead the drive under way to the vehicle's new destination."""
    rules.in_range(row, distance)
    drive_id = ctx.scalar(rules.UNDER_WAY, vehicle=row["id"])
    ctx.update(Drive, drive_id, to_id=row["route_to"], distance_km=distance)

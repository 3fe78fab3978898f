"""Routes on foot, by bike and by car."""

from typing import Annotated

from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.maps import geometry, rules
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.geometry import Mode
from proverl.envs.servers.maps.tables import Place, PlaceId
from proverl.envs.state import Row

_PARKING = (
    select(Place.id, Place.name, Place.east, Place.north)
    .where(Place.city == bindparam("city"), Place.category == "car_park", Place.status == "operational")
    .order_by(Place.id)
)


class Route(TypedDict):
    """A way between two places; `via` names the streets it begins and ends in."""

    distance_m: int
    duration_min: int
    heading: str
    via: list[str]


@server.tool(
    read_only=True,
    phrases=[
        "get the {mode} route from {origin_place_id} to {destination_place_id}",
        "show me the way from {origin_place_id} to {destination_place_id} when {mode}",
        "work out how long it takes to get to {destination_place_id} from {origin_place_id} when {mode}",
        "plan a {mode} route to {destination_place_id} that begins at {origin_place_id}",
        "find out the distance from {origin_place_id} to {destination_place_id} when {mode}",
    ],
    brief=[
        "plan a route on foot, by bike or by car",
        "get the {mode} route to {destination_place_id}",
        "plan a {mode} route that begins at {origin_place_id}",
    ],
)
def get_route(
    ctx: Context,
    origin_place_id: Annotated[PlaceId, "Where to start"],
    destination_place_id: Annotated[PlaceId, "Where to go"],
    mode: Annotated[Mode, "How to travel; plan_transit_trip has trains, trams, metros and buses"],
) -> Route:
    """Get the shortest route between two places with its length and duration."""
    start, end = rules.place(ctx, origin_place_id), rules.place(ctx, destination_place_id)
    if origin_place_id == destination_place_id:
        raise Rejected(f"{origin_place_id} is both origin and destination; name two different places")
    metres = geometry.distance(mode, geometry.straight(start["east"], start["north"], end["east"], end["north"]))
    if metres > geometry.LONGEST.get(mode, metres):
        raise Rejected(
            f"{destination_place_id} is {metres / 1_000:.1f} km from {origin_place_id}; {mode} routes are at most "
            f"{geometry.LONGEST[mode] // 1_000} km, so use driving or plan_transit_trip"
        )
    if mode == "driving":
        for place in (start, end):
            if place["car_free"]:
                raise Rejected(
                    f"{place['name']} ({place['id']}) lies in the pedestrian zone; drive to or from "
                    f"{_car_park(ctx, place)} and walk the rest"
                )
    return {
        "distance_m": metres,
        "duration_min": geometry.minutes(mode, metres),
        "heading": geometry.heading(start["east"], start["north"], end["east"], end["north"]),
        "via": list(dict.fromkeys((start["street"], end["street"]))),
    }


def _car_park(ctx: Context, place: Row) -> str:
    """The car park nearest to a place, for a message."""
    near = min(
        ctx.rows(_PARKING, city=place["city"]),
        key=lambda row: geometry.straight(place["east"], place["north"], row["east"], row["north"]),
    )
    return f"{near['name']} ({near['id']})"

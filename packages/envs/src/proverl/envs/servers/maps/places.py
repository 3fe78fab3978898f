"""Finding places: by address, by name and category, around another place; what they are and when they open."""

import re
from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected, Text
from proverl.envs.names import folded
from proverl.envs.servers.maps import geometry, opening, rules, words
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.geometry import City
from proverl.envs.servers.maps.tables import Place, PlaceId, PlaceReview, SpecialClosing
from proverl.envs.state import Row

Category = Literal[
    "cafe", "restaurant", "museum", "pharmacy", "supermarket", "hotel", "park", "library", "gym", "cinema", "car_park"
]
AnyCategory = Literal[
    "cafe", "restaurant", "museum", "pharmacy", "supermarket", "hotel", "park", "library", "gym", "cinema", "car_park",
    "address", "transit_stop",
]  # fmt: skip
Status = Literal["operational", "temporarily_closed", "permanently_closed"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]
Radius = Annotated[
    int, Field(ge=50, le=5_000, examples=[200, 300, 400, 500, 600, 750, 800, 1_000, 1_200, 1_500, 2_000, 3_000])
]

_HOURS_KNOWN = 60  # days ahead
_WHERE = (Place.id, Place.name, Place.category, Place.street, Place.number, Place.city, Place.east, Place.north)
_IN_STREET = (
    select(*_WHERE)
    .where(
        func.instr(bindparam("query"), func.lower(Place.street)) > 0,
        or_(bindparam("city") == "", Place.city == bindparam("city")),
    )
    .order_by(Place.city, Place.street, Place.number, Place.id)
)
_IN_CITY = (
    select(*_WHERE, Place.status)
    .where(
        Place.city == bindparam("city"),
        or_(bindparam("category") == "", Place.category == bindparam("category")),
    )
    .order_by(Place.name, Place.id)
    .limit(bindparam("limit"))
)
_AROUND = select(*_WHERE).where(
    Place.category == bindparam("category"),
    Place.status == "operational",
    Place.id != bindparam("place"),
    Place.east.between(bindparam("west"), bindparam("east")),
    Place.north.between(bindparam("south"), bindparam("north")),
)
_RATING = select(func.sum(PlaceReview.rating).label("total"), func.count().label("count")).where(
    PlaceReview.place_id == bindparam("place")
)
_CLOSINGS = select(SpecialClosing.day, SpecialClosing.reason).where(
    SpecialClosing.place_id == bindparam("place"),
    SpecialClosing.day.in_((bindparam("day"), bindparam("today"), bindparam("eve"))),
)


class Geocoded(TypedDict):
    """A known address; `match` is street when the house number asked for isn't on the map."""

    place_id: PlaceId
    address: str
    latitude: float
    longitude: float
    match: Literal["exact", "street"]


class GeocodedList(TypedDict):
    """Addresses that fit, best first."""

    results: list[Geocoded]


@server.tool(
    read_only=True,
    phrases=[
        "geocode the address {address}[ in {city}]",
        "find {address}[ in {city}] on the map",
        "look up the coordinates of {address}[ in the city of {city}]",
        "tell me where {address} is[ in {city}]",
        "get latitude and longitude for the address {address}[ in {city}]",
    ],
    brief=[
        "find an address on the map",
        "look up the coordinates of an address[ in {city}]",
    ],
)
def geocode_address(
    ctx: Context,
    address: Annotated[
        Annotated[Text, Field(max_length=120, examples=list(words.ADDRESSES))], "Street and house number, city optional"
    ],
    city: Annotated[City | None, "Only addresses in this city; the same street may be in several"] = None,
) -> GeocodedList:
    """Turn an address into coordinates and a place id. An unknown house number gives its nearest neighbours."""
    query = address.lower()
    named = next((name for name in geometry.CENTRES if name.lower() in query), "")
    found = re.search(r"[0-9]{1,4}", query)
    number = int(found.group()) if found else 0
    rows = ctx.rows(_IN_STREET, query=query, city=city or named)
    rows.sort(key=lambda row: abs(row["number"] - number))
    return {
        "results": [
            {
                "place_id": row["id"],
                "address": rules.address(row),
                "latitude": geometry.latitude(row["north"]),
                "longitude": geometry.longitude(row["east"]),
                "match": "exact" if number and row["number"] == number else "street",
            }
            for row in rows[:3]
        ]
    }


class PlaceItem(TypedDict):
    """A place in a list."""

    place_id: PlaceId
    name: str
    category: AnyCategory
    address: str
    status: Status


class PlaceItems(TypedDict):
    """Places that fit, by name."""

    places: list[PlaceItem]


@server.tool(
    read_only=True,
    phrases=[
        "search {city} for places[ of the category {category}][, {limit} at most]",
        "find places in {city}[ with {name} in the name]",
        "list places in {city}[, category {category}][, up to {limit} of them]",
        "look for places in {city}[ whose name contains {name}][, {limit} at most]",
        "show me what there is in {city}[ in the category {category}]",
        "check whether {city} has a place with {name} in its name",
    ],
    brief=[
        "search a city for places",
        "find places of the category {category} in one of the cities",
    ],
)
def search_places(
    ctx: Context,
    city: Annotated[City, "City to search"],
    category: Annotated[AnyCategory | None, "Only places of this category"] = None,
    name: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.SEARCHES))] | None,
        "Part of the name; case and accents make no difference",
    ] = None,
    limit: Annotated[Limit, "Most places listed"] = 5,
) -> PlaceItems:
    """Search the places of a city by category and name; closed ones are listed too, with their status."""
    wanted = folded(name or "")
    rows = ctx.rows(_IN_CITY, city=city, category=category or "", limit=-1 if wanted else limit)
    if wanted:
        rows = [row for row in rows if wanted in folded(row["name"])]
    return {
        "places": [
            {
                "place_id": row["id"],
                "name": row["name"],
                "category": row["category"],
                "address": rules.address(row),
                "status": row["status"],
            }
            for row in rows[:limit]
        ]
    }


class NearbyPlace(TypedDict):
    """A place with the way on foot to it."""

    place_id: PlaceId
    name: str
    walking_distance_m: int


class NearbyPlaces(TypedDict):
    """Places around another one, the nearest first."""

    places: list[NearbyPlace]


@server.tool(
    read_only=True,
    phrases=[
        "find a {category} near {place_id}[ within {radius_m} metres][, {limit} at most]",
        "look for the {category} nearest to {place_id}[, no further than {radius_m} metres away]",
        "show me every {category} close to {place_id}[, {radius_m} metres around][, up to {limit}]",
        "search the surroundings of {place_id} for a {category}[ in a radius of {radius_m} metres]",
        "tell me if there is a {category} around {place_id}[, at most {radius_m} metres from it]",
    ],
    brief=[
        "find something nearby",
        "find the nearest {category}",
        "see what is close to {place_id}",
    ],
)
def find_nearby_places(
    ctx: Context,
    place_id: Annotated[PlaceId, "Place to search around"],
    category: Annotated[Category, "What to look for"],
    radius_m: Annotated[Radius, "Search radius in metres, straight line"] = 1_500,
    limit: Annotated[Limit, "Most places listed"] = 5,
) -> NearbyPlaces:
    """Find places of a category around another place, the nearest first; only places in business are listed."""
    here = rules.place(ctx, place_id)
    east, north = here["east"], here["north"]
    box = {"west": east - radius_m, "east": east + radius_m, "south": north - radius_m, "north": north + radius_m}
    near = []
    for row in ctx.rows(_AROUND, category=category, place=place_id, **box):
        metres = geometry.straight(east, north, row["east"], row["north"])
        if metres <= radius_m:
            near.append((metres, row["id"], row["name"]))
    return {
        "places": [
            {"place_id": key, "name": name, "walking_distance_m": geometry.distance("walking", metres)}
            for metres, key, name in sorted(near)[:limit]
        ]
    }


class PlaceView(TypedDict):
    """A place in full; `moved_to` is where a business that closed here goes on."""

    place_id: PlaceId
    name: str
    category: AnyCategory
    address: str
    latitude: float
    longitude: float
    status: Status
    rating: float | None
    review_count: int
    moved_to: PlaceId | None


@server.tool(
    read_only=True,
    phrases=[
        "show me the details of {place_id}",
        "get the address and rating of {place_id}",
        "tell me more about {place_id}",
        "check whether {place_id} is still in business",
        "look up where {place_id} is and what its average rating is",
    ],
    brief=[
        "show me the details of a place",
        "check whether a place is still in business",
    ],
)
def get_place(ctx: Context, place_id: Annotated[PlaceId, "Place to read"]) -> PlaceView:
    """Get a place's address, coordinates, status and average rating (1 to 5)."""
    row = rules.place(ctx, place_id)
    (rating,) = ctx.rows(_RATING, place=place_id)
    return {
        "place_id": place_id,
        "name": row["name"],
        "category": row["category"],
        "address": rules.address(row),
        "latitude": geometry.latitude(row["north"]),
        "longitude": geometry.longitude(row["east"]),
        "status": row["status"],
        "rating": round(rating["total"] / rating["count"], 1) if rating["count"] else None,
        "review_count": rating["count"],
        "moved_to": row["moved_to"],
    }


class OpeningHours(TypedDict):
    """Hours of a day, none when closed; a span that ends before it starts ends after midnight."""

    place_id: PlaceId
    date: str
    weekday: opening.Weekday
    hours: list[str]
    note: str | None
    open_now: bool


@server.tool(
    read_only=True,
    phrases=[
        "check the opening hours of {place_id}[ on {date}]",
        "tell me when {place_id} is open[ on {date}]",
        "look up until when {place_id} is open[ on {date}]",
        "see if {place_id} is open[ on {date}]",
        "find out at what time {place_id} opens and closes[ on {date}]",
    ],
    brief=[
        "check the opening hours of a place",
        "see if a place is open[ on {date}]",
    ],
)
def get_opening_hours(
    ctx: Context,
    place_id: Annotated[PlaceId, "Business, museum, park or other place that opens and closes"],
    date: Annotated[IsoDate | None, "Day to look at, up to 60 days ahead; today if left out"] = None,
) -> OpeningHours:
    """Get a place's opening hours on a day, special closings included, and whether it is open right now."""
    row = rules.place(ctx, place_id)
    rules.still_there(row, "look at")
    if row["schedule"] is None:
        raise Rejected(f"{row['name']} ({place_id}) is a plain address and has no opening hours")
    day = date or ctx.today
    last = (ctx.now.date() + timedelta(days=_HOURS_KNOWN)).isoformat()
    if not ctx.today <= day <= last:
        raise Rejected(f"hours are known from today ({ctx.today}) to {last}; {day} is outside")
    return _hours(ctx, row, day)


def _hours(ctx: Context, row: Row, day: str) -> OpeningHours:
    today = ctx.now.date()
    eve = (today - timedelta(days=1)).isoformat()
    special = {
        one["day"]: one["reason"] for one in ctx.rows(_CLOSINGS, place=row["id"], day=day, today=ctx.today, eve=eve)
    }
    shut = row["status"] == "temporarily_closed"
    weekday = date.fromisoformat(day).weekday()
    minute = ctx.now.hour * 60 + ctx.now.minute
    return {
        "place_id": row["id"],
        "date": day,
        "weekday": opening.WEEKDAYS[weekday],
        "hours": [] if shut or day in special else opening.spans(row["schedule"], weekday),
        "note": "temporarily closed" if shut else special.get(day),
        "open_now": not shut
        and opening.is_open(row["schedule"], today.weekday(), minute, eve not in special, ctx.today not in special),
    }

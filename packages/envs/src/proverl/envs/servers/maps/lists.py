"""Lists of places: one's own and those that others shared."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, delete, func, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.maps import rules, words
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.places import Limit, Status
from proverl.envs.servers.maps.tables import YOU, ListId, Place, PlaceId, PlaceList, SavedPlace

Access = Literal["owner", "editor", "viewer"]

_SAVED = SavedPlace.__table__.c
_LISTS = (
    select(PlaceList.__table__, func.count(_SAVED.place_id).label("places"))
    .outerjoin_from(PlaceList.__table__, SavedPlace.__table__, _SAVED.list_id == PlaceList.id)
    .where(or_(bindparam("access") == "", PlaceList.access == bindparam("access")))
    .group_by(PlaceList.id)
    .order_by(PlaceList.name, PlaceList.id)
    .limit(bindparam("limit"))
)
_OWN = select(PlaceList.id, PlaceList.name).where(PlaceList.access == "owner").order_by(PlaceList.id)
_ON_LIST = (
    select(Place.id, Place.name, Place.city, Place.status, _SAVED.note)
    .join_from(SavedPlace.__table__, Place.__table__, Place.id == _SAVED.place_id)
    .where(_SAVED.list_id == bindparam("list"))
    .order_by(Place.name, Place.id)
    .limit(bindparam("limit"))
)
_REMOVE = delete(SavedPlace).where(SavedPlace.list_id == bindparam("list"), SavedPlace.place_id == bindparam("place"))
_ONE_SAVED = select(_SAVED.note).where(_SAVED.list_id == bindparam("list"), _SAVED.place_id == bindparam("place"))


class PlaceListItem(TypedDict):
    """A list in a list; `access` says whether it is the user's own or shared for editing or viewing."""

    list_id: ListId
    name: str
    access: Access
    places: int


class PlaceLists(TypedDict):
    """Lists, by name."""

    lists: list[PlaceListItem]


@server.tool(
    read_only=True,
    phrases=[
        "list my place lists[, only those with {access} access][, {limit} at most]",
        "show me the lists I keep places on[, {access} access only]",
        "look up my saved lists[ with {access} access][, up to {limit}]",
        "check which lists of places I have[, the first {limit}]",
        "tell me which place lists there are[ with me as the {access}] and how many places each has",
    ],
)
def list_place_lists(
    ctx: Context,
    access: Annotated[Access | None, "Only own lists (owner), or lists shared for editing or viewing"] = None,
    limit: Annotated[Limit, "Most lists shown"] = 5,
) -> PlaceLists:
    """List the user's lists of places, shared ones included, with how many places each has."""
    rows = ctx.rows(_LISTS, access=access or "", limit=limit)
    return {
        "lists": [
            {"list_id": row["id"], "name": row["name"], "access": row["access"], "places": row["places"]}
            for row in rows
        ]
    }


class CreatedList(TypedDict):
    """A new, empty list."""

    list_id: ListId
    name: str


@server.tool(
    phrases=[
        "create a place list called {name}",
        "start a new list for places and name it {name}",
        "make a list of places with the name {name}",
        "set up {name} as a new place list",
        "open a fresh, empty list named {name} where I can save places",
    ],
    brief=[
        "create a new place list",
        "start a new list for places",
    ],
)
def create_place_list(
    ctx: Context,
    name: Annotated[Annotated[Text, Field(max_length=60, examples=list(words.NEW_LISTS))], "Name of the list"],
) -> CreatedList:
    """Create an empty list of one's own; names of own lists differ."""
    if not name.strip():
        raise Rejected("the name of a list can't be blank; give it a name such as 'Weekend'")
    own = ctx.rows(_OWN)
    for row in own:
        if row["name"].casefold() == name.casefold():
            raise Rejected(f"there is a list {row['name']!r} already, {row['id']}; use it or choose another name")
    if len(own) >= rules.MOST_LISTS:
        raise Rejected(f"there are {len(own)} lists of your own, the most one can have; save to one of them")
    row = ctx.insert(PlaceList, name=name, owner=YOU, access="owner")
    return {"list_id": row["id"], "name": name}


class SavedItem(TypedDict):
    """A place on a list."""

    place_id: PlaceId
    name: str
    city: str
    status: Status
    note: str | None


class SavedPlaces(TypedDict):
    """Places on a list, by name."""

    places: list[SavedItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me the places on {list_id}[, {limit} at most]",
        "list what is saved on {list_id}[, up to {limit} places]",
        "open {list_id}[ and show the first {limit} places]",
        "look through the saved places of {list_id}",
        "tell me which places {list_id} has and what the notes say[, {limit} places at most]",
    ],
    brief=[
        "show me the places on one of my lists",
        "open one of my place lists",
    ],
)
def list_saved_places(
    ctx: Context,
    list_id: Annotated[ListId, "List to read"],
    limit: Annotated[Limit, "Most places listed"] = 5,
) -> SavedPlaces:
    """List the places saved on a list, by name, with the notes made there."""
    rules.place_list(ctx, list_id)
    return {
        "places": [
            {
                "place_id": row["id"],
                "name": row["name"],
                "city": row["city"],
                "status": row["status"],
                "note": row["note"],
            }
            for row in ctx.rows(_ON_LIST, list=list_id, limit=limit)
        ]
    }


class ListChange(TypedDict):
    """A list after a change, with how many places it has now."""

    list_id: ListId
    place_id: PlaceId
    places: int


@server.tool(
    phrases=[
        "save {place_id} to {list_id}[ with the note {note}]",
        "add {place_id} to {list_id}[, noting {note}]",
        "put {place_id} on {list_id}[ and write {note} next to it]",
        "bookmark {place_id} on {list_id}[, note {note}]",
        "keep {place_id} for later on {list_id}[, together with the note {note}]",
    ],
    brief=[
        "save a place to one of my lists",
        "bookmark {place_id} on one of my lists",
        "add a place to {list_id}",
    ],
)
def save_place(
    ctx: Context,
    list_id: Annotated[ListId, "List of one's own, or shared for editing"],
    place_id: Annotated[PlaceId, "Place to save"],
    note: Annotated[
        Annotated[Text, Field(max_length=200, examples=list(words.NOTES))] | None, "Note that everyone on the list sees"
    ] = None,
) -> ListChange:
    """Save a place to a list, which holds at most 20 places."""
    row, place = rules.editable_list(ctx, list_id), rules.place(ctx, place_id)
    rules.still_there(place, "save")
    if ctx.rows(_ONE_SAVED, list=list_id, place=place_id):
        raise Rejected(f"{place['name']} ({place_id}) is on list {row['name']!r} already; choose another place or list")
    count = ctx.scalar(rules.COUNT_SAVED, list=list_id)
    if count >= rules.MOST_SAVED:
        raise Rejected(
            f"list {row['name']!r} ({list_id}) is full with {count} places; remove one by remove_saved_place first"
        )
    ctx.insert(SavedPlace, list_id=list_id, place_id=place_id, note=note)
    return {"list_id": list_id, "place_id": place_id, "places": count + 1}


@server.tool(
    destructive=True,
    phrases=[
        "remove {place_id} from {list_id}",
        "take {place_id} off {list_id}",
        "delete {place_id} from {list_id}",
        "drop {place_id} from {list_id}",
        "clear {place_id} and its note from {list_id}",
    ],
    brief=[
        "remove a place from one of my lists",
        "take {place_id} off one of my lists",
        "drop a place from {list_id}",
    ],
)
def remove_saved_place(
    ctx: Context,
    list_id: Annotated[ListId, "List of one's own, or shared for editing"],
    place_id: Annotated[PlaceId, "Place on that list"],
) -> ListChange:
    """Remove a place from a list together with its note."""
    row, place = rules.editable_list(ctx, list_id), rules.place(ctx, place_id)
    if not ctx.rows(_ONE_SAVED, list=list_id, place=place_id):
        raise Rejected(
            f"{place['name']} ({place_id}) is not on list {row['name']!r}; list_saved_places names what is on it"
        )
    ctx.execute(_REMOVE, list=list_id, place=place_id)
    return {"list_id": list_id, "place_id": place_id, "places": ctx.scalar(rules.COUNT_SAVED, list=list_id)}

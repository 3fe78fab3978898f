"""What the map refuses. Every refusal says what would be right."""

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.maps.tables import Place, PlaceList, SavedPlace
from proverl.envs.state import Row

MOST_SAVED = 20  # places on a list
MOST_LISTS = 30  # lists of one's own

COUNT_SAVED = select(func.count()).where(SavedPlace.list_id == bindparam("list"))


def place(ctx: Context, place_id: str) -> Row:
    """The place. Raises NotFound."""
    return ctx.get(Place, place_id, "search_places names the places of a city")


def address(row: Row) -> str:
    """Street and number with the city."""
    house = f"{row['street']} {row['number']}" if row["number"] else row["street"]
    return f"{house}, {row['city']}"


def still_there(row: Row, purpose: str) -> None:
    """Raises Rejected when the place has closed for good."""
    if row["status"] == "permanently_closed":
        onward = f"; it moved to {row['moved_to']}" if row["moved_to"] else f"; {purpose} places that are in business"
        raise Rejected(f"{row['name']} ({row['id']}) is permanently closed{onward}")


def place_list(ctx: Context, list_id: str) -> Row:
    """The list. Raises NotFound."""
    return ctx.get(PlaceList, list_id, "list_place_lists names the lists")


def editable_list(ctx: Context, list_id: str) -> Row:
    """The list, which the user may change. Raises NotFound, or Rejected when it is shared for viewing only."""
    row = place_list(ctx, list_id)
    if row["access"] == "viewer":
        raise Rejected(
            f"list {row['name']!r} ({list_id}) belongs to {row['owner']} and is shared for viewing only; "
            "use a list of your own or one shared for editing"
        )
    return row

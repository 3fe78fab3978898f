"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.maps import rules
from proverl.envs.servers.maps.app import server
from proverl.envs.servers.maps.geometry import straight
from proverl.envs.servers.maps.tables import YOU, LineStop, Place, PlaceList, PlaceReview, SavedPlace, TransitLine


@server.invariant
def lists_are_never_overfull(ctx: Context) -> None:
    """No list has more places than it holds, and nobody more lists than allowed."""
    crowded = select(SavedPlace.list_id).group_by(SavedPlace.list_id).having(func.count() > rules.MOST_SAVED)
    assert not ctx.rows(crowded), f"overfull: {ctx.rows(crowded)}"
    own = ctx.scalar(select(func.count()).select_from(PlaceList.__table__).where(PlaceList.access == "owner"))
    assert own <= rules.MOST_LISTS, f"{own} lists"


@server.invariant
def own_lists_have_names_of_their_own(ctx: Context) -> None:
    """The user can tell the own lists apart by name."""
    names = [row["name"].casefold() for row in ctx.rows(select(PlaceList.name).where(PlaceList.access == "owner"))]
    assert len(names) == len(set(names)), f"same names: {sorted(names)}"


@server.invariant
def the_user_reviews_what_is_in_business(ctx: Context) -> None:
    """No review by the user is of an address or a place that closed for good."""
    reviewed = select(Place.id, Place.category, Place.status).join_from(
        PlaceReview.__table__, Place.__table__, Place.id == PlaceReview.place_id
    )
    for row in ctx.rows(reviewed.where(PlaceReview.author == YOU)):
        assert row["category"] != "address", f"an address was reviewed: {row['id']}"
        assert row["status"] != "permanently_closed", f"{row['id']} was reviewed, but is closed"


@server.invariant
def every_place_knows_its_nearest_stop(ctx: Context) -> None:
    """No stop of the city is nearer to a place than its own."""
    places = ctx.rows(select(Place.__table__).order_by(Place.id))
    stops = {row["id"]: row for row in places if row["category"] == "transit_stop"}
    for row in places:
        ways = {
            key: straight(row["east"], row["north"], stop["east"], stop["north"])
            for key, stop in stops.items()
            if stop["city"] == row["city"]
        }
        assert ways[row["stop_id"]] == min(ways.values()), f"{row['id']} has a nearer stop than {row['stop_id']}"


@server.invariant
def lines_take_time_between_stops(ctx: Context) -> None:
    """A line starts at minute 0, is at one stop at a time, and ends when it should."""
    lengths = {row["id"]: row["minutes"] for row in ctx.rows(select(TransitLine.id, TransitLine.minutes))}
    lines: dict[str, list[int]] = {}
    for row in ctx.rows(select(LineStop.__table__).order_by(LineStop.line_id, LineStop.minutes)):
        lines.setdefault(row["line_id"], []).append(row["minutes"])
    for line, minutes in lines.items():
        assert (minutes[0], minutes[-1]) == (0, lengths[line]), f"{line} runs from {minutes[0]} to {minutes[-1]}"
        assert len(set(minutes)) == len(minutes) > 1, f"{line} is at two stops at once: {minutes}"

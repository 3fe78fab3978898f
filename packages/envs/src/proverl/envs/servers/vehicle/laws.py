"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.tables import Destination, Drive, Opening, Vehicle

_VEHICLE = Vehicle.__table__.c


@server.invariant
def driven_vehicles_have_one_drive_under_way(ctx: Context) -> None:
    """A vehicle in drive has one drive under way, by its driver, to where it navigates; others have none."""
    under_way = {
        (row["vehicle_id"], row["driver_id"], row["to_id"])
        for row in ctx.rows(select(Drive.__table__).where(Drive.status == "under_way"))
    }
    driven = {
        (row["id"], row["driver_id"], row["route_to"])
        for row in ctx.rows(select(Vehicle.__table__).where(Vehicle.gear == "drive"))
    }
    assert under_way == driven, f"drives {sorted(under_way)} but vehicles {sorted(driven)}"


@server.invariant
def odometer_is_sum_of_drives(ctx: Context) -> None:
    """The odometer shows its first reading in the logbook plus every finished drive."""
    sums = (
        select(Drive.vehicle_id, func.sum(Drive.distance_km).label("total"))
        .where(Drive.status == "finished")
        .group_by(Drive.vehicle_id)
    )
    totals = {row["vehicle_id"]: row["total"] for row in ctx.rows(sums)}
    for row in ctx.rows(select(_VEHICLE.id, _VEHICLE.logbook_km, _VEHICLE.odometer_km)):
        assert row["odometer_km"] == row["logbook_km"] + totals.get(row["id"], 0), f"odometer of {row['id']}"


@server.invariant
def drives_start_where_the_last_one_ended(ctx: Context) -> None:
    """Each drive starts where the vehicle stood, and the vehicle stands where the last one ended."""
    stands: dict[str, str] = {}
    for row in ctx.rows(select(Drive.__table__).order_by(Drive.started_on, Drive.started_at)):
        assert stands.get(row["vehicle_id"], row["from_id"]) == row["from_id"], f"{row['id']} starts elsewhere"
        if row["status"] == "finished":
            stands[row["vehicle_id"]] = row["to_id"]
    for row in ctx.rows(select(_VEHICLE.id, _VEHICLE.place_id)):
        assert stands.get(row["id"], row["place_id"]) == row["place_id"], f"{row['id']} stands elsewhere"


@server.invariant
def chargers_serve_one_vehicle_each(ctx: Context) -> None:
    """Nowhere do more vehicles charge than there are chargers left by strangers."""
    charging = (
        select(Destination.id)
        .join_from(Destination, Vehicle, Vehicle.place_id == Destination.id)
        .where(Vehicle.charge_limit.is_not(None))
        .group_by(Destination.id)
        .having(func.count() + Destination.busy > Destination.bays)
    )
    assert not ctx.rows(charging), f"more vehicles than chargers: {ctx.rows(charging)}"


@server.invariant
def locked_vehicles_are_closed(ctx: Context) -> None:
    """No door of a locked vehicle is open; a vehicle under way is locked."""
    ajar = (
        select(Opening.vehicle_id)
        .join_from(Opening, Vehicle, Vehicle.id == Opening.vehicle_id)
        .where(Vehicle.locked, Opening.kind == "door", Opening.position > 0)
    )
    assert not ctx.rows(ajar), f"locked with an open door: {ctx.rows(ajar)}"
    loose = select(_VEHICLE.id).where(_VEHICLE.gear == "drive", ~_VEHICLE.locked)
    assert not ctx.rows(loose), f"driven unlocked: {ctx.rows(loose)}"

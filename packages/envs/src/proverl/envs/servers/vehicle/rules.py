"""What a vehicle refuses, and the arithmetic of distance and energy. Every refusal says what would be right."""

from math import hypot

from sqlalchemy import bindparam, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.vehicle.tables import Destination, Drive, Driver, Opening, Tire, Vehicle
from proverl.envs.state import Row

LOW_BATTERY = 20  # percent below which the battery keeps its energy for driving
_FLAT = 160  # hundredths of a bar under which a tire carries nobody but to a workshop
_DETOUR = 1.3  # roads are longer than the line between two places
_FLAT_TIRES = (
    select(Tire.part, Tire.pressure)
    .where(Tire.vehicle_id == bindparam("vehicle"), Tire.pressure < _FLAT)
    .order_by(Tire.part)
)
UNDER_WAY = select(Drive.id).where(Drive.vehicle_id == bindparam("vehicle"), Drive.status == "under_way")
_OPEN = (
    select(Opening.part)
    .where(Opening.vehicle_id == bindparam("vehicle"), Opening.kind == "door", Opening.position > 0)
    .order_by(Opening.part)
)


def road_km(start: Row, end: Row) -> int:
    """Kilometres by road between two places, at least 1."""
    return max(1, round(hypot(start["x"] - end["x"], start["y"] - end["y"]) / 10 * _DETOUR))


def minutes(distance_km: int) -> int:
    """Minutes for a drive: town first, then faster roads."""
    town = min(distance_km, 20)
    return max(2, round(town / 40 * 60 + (distance_km - town) / 85 * 60))


def percent(row: Row) -> int:
    """How full the battery or tank is."""
    return int(row["level"] * 100 // row["capacity"])


def range_km(row: Row) -> int:
    """How far the vehicle gets with what it has."""
    return int(row["level"] // row["consumption"])


def vehicle(ctx: Context, vehicle_id: str) -> Row:
    """The vehicle. Raises NotFound."""
    return ctx.get(Vehicle, vehicle_id, "find_vehicles names the vehicles")


def driver(ctx: Context, driver_id: str) -> Row:
    """The driver. Raises NotFound."""
    return ctx.get(Driver, driver_id, "list_driver_profiles names the drivers")


def destination(ctx: Context, destination_id: str) -> Row:
    """The destination. Raises NotFound."""
    return ctx.get(Destination, destination_id, "find_destinations names the places that the fleet knows")


def drive(ctx: Context, drive_id: str) -> Row:
    """The drive. Raises NotFound."""
    return ctx.get(Drive, drive_id, "list_drives names the drives of a vehicle")


def parked(row: Row, purpose: str) -> None:
    """Raises Rejected when the vehicle is being driven."""
    if row["gear"] == "drive":
        raise Rejected(
            f"vehicle {row['id']} is being driven to {row['route_to']}; {purpose} only once end_drive parks it"
        )


def no_valet(row: Row, what: str) -> None:
    """Raises Rejected in valet mode."""
    if row["valet"]:
        raise Rejected(f"vehicle {row['id']} is in valet mode, which blocks {what}; turn valet mode off first")


def powered(row: Row, what: str) -> None:
    """Raises Rejected when the ignition is off."""
    if row["ignition"] == "off":
        raise Rejected(f"the ignition of {row['id']} is off; {what} once it is at accessory or on")


def open_doors(ctx: Context, vehicle_id: str) -> list[str]:
    """Names of the doors that are open, as people say them."""
    return [row["part"].replace("_", " ") for row in ctx.rows(_OPEN, vehicle=vehicle_id)]


def doors_closed(ctx: Context, row: Row, purpose: str) -> None:
    """Raises Rejected when a door is open."""
    doors = open_doors(ctx, row["id"])
    if doors:
        raise Rejected(f"the {' and the '.join(doors)} of {row['id']} must be closed {purpose}")


def comfort(row: Row, what: str) -> None:
    """Raises Rejected when a weak battery saves its energy for driving."""
    if row["energy"] == "electric" and row["charge_limit"] is None and percent(row) < LOW_BATTERY:
        raise Rejected(
            f"the battery of {row['id']} is at {percent(row)}%; below {LOW_BATTERY}% {what} works only while it charges"
        )


def in_range(row: Row, distance_km: int) -> None:
    """Raises Rejected when the battery or tank does not last for the distance."""
    if distance_km > range_km(row):
        remedy = "charge it first" if row["energy"] == "electric" else "refuel it first"
        raise Rejected(
            f"it is {distance_km} km to {row['route_to']}, but {row['id']} has energy for {range_km(row)} km; "
            f"{remedy} or choose a nearer destination"
        )


def roadworthy(ctx: Context, row: Row, target: Row) -> None:
    """Raises Rejected when a flat tire lets the vehicle go no further than to a workshop."""
    flat = ctx.rows(_FLAT_TIRES, vehicle=row["id"])
    if flat and target["kind"] != "service_center":
        raise Rejected(
            f"the {flat[0]['part'].replace('_', ' ')} tire of {row['id']} has {flat[0]['pressure'] / 100:.2f} bar, "
            f"below {_FLAT / 100:.2f}; "
            "it may only be driven to a service_center of find_destinations"
        )

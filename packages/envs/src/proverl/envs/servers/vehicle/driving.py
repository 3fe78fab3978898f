"""Ignition and drives: a drive goes where the navigation leads, and ends there."""

from typing import Annotated, Literal

from sqlalchemy import bindparam, or_, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.vehicle import rules
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.fleet import Limit
from proverl.envs.servers.vehicle.tables import (
    Destination,
    DestinationId,
    Drive,
    DriveId,
    DriverId,
    Seat,
    Tire,
    Vehicle,
    VehicleId,
)
from proverl.envs.state import Row

Ignition = Literal["off", "accessory", "on"]
Purpose = Literal["business", "commute", "private"]

_START_PERCENT = 2
_INFLATE = update(Tire).where(Tire.vehicle_id == bindparam("vehicle")).values(pressure=bindparam("recommended"))
_COLD_SEATS = update(Seat).where(Seat.vehicle_id == bindparam("vehicle")).values(heating="off")
_DRIVES = (
    select(Drive.id, Drive.started_on, Drive.driver_id, Drive.distance_km, Drive.status, Destination.name)
    .join_from(Drive, Destination, Destination.id == Drive.to_id)
    .where(
        Drive.vehicle_id == bindparam("vehicle"),
        or_(bindparam("purpose") == "", Drive.purpose == bindparam("purpose")),
    )
    .order_by(Drive.started_on.desc(), Drive.started_at.desc(), Drive.id)
    .limit(bindparam("limit"))
)


class IgnitionState(TypedDict):
    """A vehicle after its ignition was switched."""

    vehicle_id: VehicleId
    ignition: Ignition
    driver_id: DriverId | None


@server.tool(
    phrases=[
        "switch the ignition of {vehicle_id} to {state}",
        "turn the ignition of {vehicle_id} to {state}",
        "set {vehicle_id}'s ignition to {state}",
        "bring the ignition of {vehicle_id} to the {state} position",
        "change the ignition of {vehicle_id} to {state}",
    ],
    brief=[
        "change the ignition of a vehicle",
        "switch the ignition of {vehicle_id}",
        "set the ignition of one of the vehicles to {state}",
    ],
)
def set_ignition(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Parked vehicle"],
    state: Annotated[Ignition, "off also stops climate and seat heating and signs the driver out"],
) -> IgnitionState:
    """Switch the ignition of a parked vehicle. Turning it on needs closed doors and a driver who is signed in."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["ignition"] == state:
        raise Rejected(f"the ignition of {vehicle_id} is {state} already; nothing is left to do")
    rules.parked(row, "its ignition can be switched")
    if state == "on":
        _may_start(ctx, row)
    if state == "off":
        ctx.update(Vehicle, vehicle_id, ignition="off", climate="off", driver_id=None)
        ctx.execute(_COLD_SEATS, vehicle=vehicle_id)
        return {"vehicle_id": vehicle_id, "ignition": "off", "driver_id": None}
    ctx.update(Vehicle, vehicle_id, ignition=state)
    return {"vehicle_id": vehicle_id, "ignition": state, "driver_id": row["driver_id"]}


def _may_start(ctx: Context, row: Row) -> None:
    if row["driver_id"] is None and not row["valet"]:
        raise Rejected(f"nobody is signed in to {row['id']}; activate a driver profile before the ignition goes on")
    rules.doors_closed(ctx, row, "before the ignition goes on")
    if rules.percent(row) < _START_PERCENT:
        remedy = "charge it" if row["energy"] == "electric" else "refuel it"
        raise Rejected(f"{row['id']} has {rules.percent(row)}% left, too little to start; {remedy} first")


class StartedDrive(TypedDict):
    """A drive under way."""

    drive_id: DriveId
    driver_id: DriverId
    distance_km: int
    minutes: int


@server.tool(
    phrases=[
        "set off with {vehicle_id} on a {purpose} drive",
        "start a {purpose} drive with {vehicle_id}",
        "get {vehicle_id} going along its route, logged as {purpose}",
        "begin driving {vehicle_id} and note the drive as {purpose}",
        "let {vehicle_id} depart and enter {purpose} as the purpose of the drive",
    ],
    brief=[
        "start a drive",
        "set off with {vehicle_id}",
        "begin a {purpose} drive",
    ],
)
def start_drive(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle with the ignition on and a route set"],
    purpose: Annotated[Purpose, "What the logbook says the drive is for"],
) -> StartedDrive:
    """Set off along the active route with the driver who is signed in; the doors lock themselves."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["gear"] == "drive":
        raise Rejected(f"{vehicle_id} is under way to {row['route_to']} already; end that drive first")
    rules.no_valet(row, "drives of the fleet")
    if row["ignition"] != "on":
        raise Rejected(f"the ignition of {vehicle_id} is {row['ignition']}; switch it on before setting off")
    if row["driver_id"] is None:
        raise Rejected(f"nobody is signed in to {vehicle_id}; activate a driver profile before setting off")
    if row["route_to"] is None:
        raise Rejected(f"{vehicle_id} has no route; start_navigation sets one")
    if row["charge_limit"] is not None:
        raise Rejected(f"{vehicle_id} is plugged in and charging; end_charging unplugs it")
    rules.doors_closed(ctx, row, "before setting off")
    target = rules.destination(ctx, row["route_to"])
    rules.roadworthy(ctx, row, target)
    distance = rules.road_km(rules.destination(ctx, row["place_id"]), target)
    rules.in_range(row, distance)
    drive = ctx.insert(
        Drive,
        vehicle_id=vehicle_id,
        driver_id=row["driver_id"],
        from_id=row["place_id"],
        to_id=row["route_to"],
        distance_km=distance,
        purpose=purpose,
        status="under_way",
        started_on=ctx.today,
        started_at=ctx.timestamp[11:],
    )
    ctx.update(Vehicle, vehicle_id, gear="drive", locked=True)
    return {
        "drive_id": drive["id"],
        "driver_id": row["driver_id"],
        "distance_km": distance,
        "minutes": rules.minutes(distance),
    }


class FinishedDrive(TypedDict):
    """A drive that has arrived."""

    drive_id: DriveId
    parked_at_id: DestinationId
    odometer_km: int
    energy_percent: int


@server.tool(
    phrases=[
        "end {drive_id} and park",
        "finish {drive_id} at its destination",
        "close {drive_id} in the logbook now that the vehicle has arrived",
        "complete {drive_id} and put the vehicle in park",
        "bring {drive_id} to an end on arrival",
    ],
    brief=[
        "end a drive",
        "close a drive in the logbook now that the vehicle has arrived",
    ],
)
def end_drive(ctx: Context, drive_id: Annotated[DriveId, "Drive under way"]) -> FinishedDrive:
    """End a drive on arrival: the vehicle is put in park. At a service center its tires are set right."""
    drive = rules.drive(ctx, drive_id)
    if drive["status"] == "finished":
        raise Rejected(f"{drive_id} of {drive['started_on']} is finished already; only a drive under way can be ended")
    row, target = rules.vehicle(ctx, drive["vehicle_id"]), rules.destination(ctx, drive["to_id"])
    level = max(0, row["level"] - drive["distance_km"] * row["consumption"])
    odometer = row["odometer_km"] + drive["distance_km"]
    ctx.update(Drive, drive_id, status="finished")
    ctx.update(Vehicle, row["id"], gear="park", place_id=target["id"], route_to=None, level=level, odometer_km=odometer)
    if target["kind"] == "service_center":
        ctx.execute(_INFLATE, vehicle=row["id"], recommended=row["tire_pressure"])
    return {
        "drive_id": drive_id,
        "parked_at_id": target["id"],
        "odometer_km": odometer,
        "energy_percent": level * 100 // row["capacity"],
    }


class DriveItem(TypedDict):
    """A drive in a list."""

    drive_id: DriveId
    date: str
    destination: str
    distance_km: int
    driver_id: DriverId
    status: Literal["under_way", "finished"]


class DriveList(TypedDict):
    """Drives of a vehicle, newest first."""

    drives: list[DriveItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the latest[ {purpose}] drives of {vehicle_id}[, {limit} at most]",
        "show me the logbook of {vehicle_id}[, {purpose} drives only][, the last {limit} entries]",
        "look up where {vehicle_id} has been driven lately[ on {purpose} drives]",
        "check who drove {vehicle_id} and where to[, up to {limit} drives]",
        "go through the[ {purpose}] drives of {vehicle_id}[, the newest {limit} only]",
    ],
    brief=[
        "list the latest[ {purpose}] drives of a vehicle",
        "show me the logbook of one of the vehicles",
    ],
)
def list_drives(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle whose logbook is read"],
    purpose: Annotated[Purpose | None, "Only drives for this purpose"] = None,
    limit: Annotated[Limit, "Most drives listed"] = 5,
) -> DriveList:
    """List the drives of a vehicle, newest first, the one under way included."""
    rules.vehicle(ctx, vehicle_id)
    rows = ctx.rows(_DRIVES, vehicle=vehicle_id, purpose=purpose or "", limit=limit)
    return {
        "drives": [
            {
                "drive_id": row["id"],
                "date": row["started_on"],
                "destination": row["name"],
                "distance_km": row["distance_km"],
                "driver_id": row["driver_id"],
                "status": row["status"],
            }
            for row in rows
        ]
    }

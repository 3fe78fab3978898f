"""Charging and refuelling, where the vehicle stands."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.vehicle import rules
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.tables import DestinationId, Vehicle, VehicleId

_CHARGING_AT = select(func.count()).where(Vehicle.place_id == bindparam("place"), Vehicle.charge_limit.is_not(None))


class ChargingState(TypedDict):
    """A charging session that has begun."""

    vehicle_id: VehicleId
    energy_percent: int
    limit_percent: int
    destination_id: DestinationId


@server.tool(
    phrases=[
        "charge {vehicle_id}[ to {limit_percent} percent]",
        "plug {vehicle_id} in[ and charge it up to {limit_percent} percent]",
        "start charging {vehicle_id}[ with a limit of {limit_percent} percent]",
        "begin a charging session for {vehicle_id}[, stopping at {limit_percent} percent]",
        "fill the battery of {vehicle_id}[ up to {limit_percent} percent]",
    ],
    brief=[
        "charge a vehicle",
        "start charging one of the vehicles[ with a limit of {limit_percent} percent]",
    ],
)
def start_charging(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Electric vehicle, parked where a charger is free"],
    limit_percent: Annotated[
        int, Field(ge=50, le=100, examples=[50, 60, 65, 70, 75, 80, 85, 90, 95, 100]), "Charge level to stop at"
    ] = 80,
) -> ChargingState:
    """Start charging an electric vehicle at the place where it is parked."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["energy"] != "electric":
        raise Rejected(f"{vehicle_id} runs on {row['energy']}; refuel it at a fuel_station instead")
    rules.parked(row, "it can charge")
    if row["charge_limit"] is not None:
        raise Rejected(f"{vehicle_id} is charging to {row['charge_limit']}% already; end_charging ends that")
    place = rules.destination(ctx, row["place_id"])
    if not place["bays"]:
        raise Rejected(f"{vehicle_id} stands at {place['name']}, which has no chargers; drive it to a charging_station")
    if place["busy"] + ctx.scalar(_CHARGING_AT, place=place["id"]) >= place["bays"]:
        raise Rejected(f"all {place['bays']} chargers at {place['name']} are taken; find_destinations shows free ones")
    if rules.percent(row) >= limit_percent:
        raise Rejected(f"{vehicle_id} is at {rules.percent(row)}%; choose a limit above that, or leave it as it is")
    ctx.update(Vehicle, vehicle_id, charge_limit=limit_percent)
    return {
        "vehicle_id": vehicle_id,
        "energy_percent": rules.percent(row),
        "limit_percent": limit_percent,
        "destination_id": place["id"],
    }


class ChargedEnergy(TypedDict):
    """What a charging session gave; the cost in EUR."""

    vehicle_id: VehicleId
    energy_percent: int
    added_kwh: float
    cost: float


@server.tool(
    phrases=[
        "end the charging of {vehicle_id}",
        "unplug {vehicle_id}",
        "finish charging {vehicle_id} and free the charger",
        "disconnect {vehicle_id} from its charger",
        "stop the charging session of {vehicle_id}",
    ],
    brief=[
        "unplug a vehicle",
        "end the charging of one of the vehicles",
    ],
)
def end_charging(ctx: Context, vehicle_id: Annotated[VehicleId, "Vehicle that charges"]) -> ChargedEnergy:
    """Unplug a vehicle; by then it has reached the limit of its charging session."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["charge_limit"] is None:
        raise Rejected(f"{vehicle_id} is not charging; find_vehicles with state charging names those that are")
    place = rules.destination(ctx, row["place_id"])
    level = max(row["level"], -(-row["capacity"] * row["charge_limit"] // 100))
    added = level - row["level"]
    ctx.update(Vehicle, vehicle_id, charge_limit=None, level=level)
    return {
        "vehicle_id": vehicle_id,
        "energy_percent": level * 100 // row["capacity"],
        "added_kwh": round(added / 1000, 1),
        "cost": round(added * place["price"] / 1_000_000, 2),
    }


class FilledTank(TypedDict):
    """What went into the tank; the cost in EUR."""

    vehicle_id: VehicleId
    litres: float
    cost: float
    energy_percent: int


@server.tool(
    phrases=[
        "refuel {vehicle_id}[ with {litres} litres]",
        "fill up the tank of {vehicle_id}[ with {litres} litres]",
        "put[ {litres} litres of] fuel into {vehicle_id}",
        "get[ {litres} litres of] fuel for {vehicle_id}",
        "tank up {vehicle_id} at the pump[, {litres} litres]",
    ],
    brief=[
        "refuel a vehicle",
        "put[ {litres} litres of] fuel into one of the vehicles",
    ],
)
def refuel_vehicle(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Petrol or diesel vehicle, parked at a fuel station with the ignition off"],
    litres: Annotated[
        Annotated[int, Field(ge=1, le=100, examples=[5, 8, 10, 12, 15, 18, 20, 24, 25, 30])] | None,
        "Litres to take; a full tank if left out",
    ] = None,
) -> FilledTank:
    """Refuel a petrol or diesel vehicle at the fuel station where it is parked."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["energy"] == "electric":
        raise Rejected(f"{vehicle_id} is electric; start_charging charges it where a charger is free")
    rules.parked(row, "it can be refuelled")
    place = rules.destination(ctx, row["place_id"])
    if place["kind"] != "fuel_station":
        raise Rejected(f"{vehicle_id} stands at {place['name']}; drive it to a fuel_station of find_destinations first")
    if row["ignition"] != "off":
        raise Rejected(f"the ignition of {vehicle_id} is {row['ignition']}; turn it off before refuelling")
    room = row["capacity"] - row["level"]
    if room < 1_000 or (litres or 0) * 1_000 > room:
        raise Rejected(f"the tank of {vehicle_id} has room for {room / 1000:.1f} l; take no more than that")
    added = litres * 1_000 if litres else room
    ctx.update(Vehicle, vehicle_id, level=row["level"] + added)
    return {
        "vehicle_id": vehicle_id,
        "litres": round(added / 1_000, 1),
        "cost": round(added * place["price"] / 1_000_000, 2),
        "energy_percent": (row["level"] + added) * 100 // row["capacity"],
    }

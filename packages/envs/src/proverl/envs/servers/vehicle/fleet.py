"""The vehicles and who sits in them: find, read, driver profiles, valet mode."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.names import folded
from proverl.envs.servers.vehicle import rules, words
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.tables import (
    DestinationId,
    Driver,
    DriverId,
    Opening,
    Tire,
    Vehicle,
    VehicleId,
)
from proverl.envs.state import Row

State = Literal["parked", "driving", "charging"]
Energy = Literal["electric", "petrol", "diesel"]
Limit = Annotated[int, Field(ge=1, le=50, examples=[2, 3, 4, 6, 7, 8, 9, 10, 12, 15, 20])]
_FOUR_DIGITS = "^[0-9]{4}$"
DriverPin = Annotated[
    str, Field(pattern=_FOUR_DIGITS, json_schema_extra={"x-sensitive": True, "x-source": "reveal_driver_pin.pin"})
]
ValetPin = Annotated[
    str, Field(pattern=_FOUR_DIGITS, json_schema_extra={"x-sensitive": True, "x-source": "reveal_valet_pin.pin"})
]

_WARN_BELOW = 85  # percent of the recommended pressure at which the warning light comes on
_VEHICLES = select(
    Vehicle.id, Vehicle.make, Vehicle.colour, Vehicle.plate, Vehicle.energy, Vehicle.gear, Vehicle.charge_limit
).order_by(Vehicle.make, Vehicle.id)
_OPEN = (
    select(Opening.part)
    .where(Opening.vehicle_id == bindparam("vehicle"), Opening.position > 0)
    .order_by(Opening.kind, Opening.part)
)
_TIRES = select(Tire.part, Tire.pressure).where(Tire.vehicle_id == bindparam("vehicle")).order_by(Tire.part)
_DRIVERS = (
    select(Driver.id, Driver.name, Driver.licence_until, Vehicle.id.label("vehicle_id"))
    .outerjoin_from(Driver, Vehicle, Vehicle.driver_id == Driver.id)
    .order_by(Driver.name, Driver.id)
)
_SIGNED_IN = select(Vehicle.id).where(Vehicle.driver_id == bindparam("driver"))


class VehicleItem(TypedDict):
    """A vehicle in a list."""

    vehicle_id: VehicleId
    model: str
    plate: str
    energy: Energy
    state: State


class VehicleList(TypedDict):
    """Vehicles that fit."""

    vehicles: list[VehicleItem]


class VehicleView(TypedDict):
    """What a vehicle reports now; the range is what the battery or tank allows."""

    vehicle_id: VehicleId
    state: State
    ignition: Literal["off", "accessory", "on"]
    gear: Literal["park", "drive"]
    locked: bool
    valet_mode: bool
    open_parts: list[str]
    climate: str
    energy_percent: int
    range_km: int
    parked_at_id: DestinationId | None
    navigating_to_id: DestinationId | None
    driver_id: DriverId | None


def _state(row: Row) -> State:
    if row["gear"] == "drive":
        return "driving"
    return "parked" if row["charge_limit"] is None else "charging"


@server.tool(
    read_only=True,
    phrases=[
        "find the[ {energy}] vehicles[ matching {text}][ that are {state} now][, {limit} at most]",
        "list[ up to {limit}][ {energy}] vehicles of the fleet[ described as {text}][, only those {state}]",
        "show me the fleet's[ {state}] vehicles[, {energy} ones only][, searching for {text}]",
        "look up which[ {energy}] vehicles we have[ when searching for {text}]",
        "search the fleet[ for {text}][ among the {energy} vehicles][, first {limit} only]",
    ],
)
def find_vehicles(
    ctx: Context,
    text: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.SEARCHES))] | None,
        "Part of model, colour or number plate; case and accents make no difference",
    ] = None,
    energy: Annotated[Energy | None, "Only vehicles that run on this"] = None,
    state: Annotated[State | None, "Only vehicles in this state"] = None,
    limit: Annotated[Limit, "Most vehicles listed"] = 5,
) -> VehicleList:
    """Find vehicles of the fleet, by model."""
    wanted = folded(text or "")
    fitting: list[VehicleItem] = []
    for row in ctx.rows(_VEHICLES):
        now = _state(row)
        described = folded(f"{row['colour']} {row['make']} {row['plate']}")
        if wanted in described and energy in (None, row["energy"]) and state in (None, now):
            fitting.append(
                {
                    "vehicle_id": row["id"],
                    "model": f"{row['colour']} {row['make']}",
                    "plate": row["plate"],
                    "energy": row["energy"],
                    "state": now,
                }
            )
    return {"vehicles": fitting[:limit]}


@server.tool(
    read_only=True,
    phrases=[
        "check the status of {vehicle_id}",
        "show me how {vehicle_id} is doing",
        "tell me where {vehicle_id} is and how far it can still go",
        "look up whether {vehicle_id} is locked, open or in use",
        "give me a report on {vehicle_id} with its ignition, climate and driver",
    ],
    brief=[
        "check the status of a vehicle",
        "tell me where one of the vehicles is and how far it can still go",
    ],
)
def get_vehicle(ctx: Context, vehicle_id: Annotated[VehicleId, "Vehicle to read"]) -> VehicleView:
    """Get what a vehicle reports: ignition, locks, open doors and windows, climate, energy, place, route, driver."""
    row = rules.vehicle(ctx, vehicle_id)
    climate = "off" if row["climate"] == "off" else f"{row['climate']} {row['temperature'] / 10:.1f}"
    driving = row["gear"] == "drive"
    return {
        "vehicle_id": vehicle_id,
        "state": _state(row),
        "ignition": row["ignition"],
        "gear": row["gear"],
        "locked": row["locked"],
        "valet_mode": row["valet"],
        "open_parts": [row["part"] for row in ctx.rows(_OPEN, vehicle=vehicle_id)],
        "climate": climate,
        "energy_percent": rules.percent(row),
        "range_km": rules.range_km(row),
        "parked_at_id": None if driving else row["place_id"],
        "navigating_to_id": row["route_to"],
        "driver_id": row["driver_id"],
    }


class TirePressures(TypedDict):
    """Pressures in bar; `warnings` names the tires that are clearly too low."""

    vehicle_id: VehicleId
    front_left: float
    front_right: float
    rear_left: float
    rear_right: float
    recommended: float
    warnings: list[str]


@server.tool(
    read_only=True,
    phrases=[
        "check the tire pressures of {vehicle_id}",
        "tell me whether the tires of {vehicle_id} are fine",
        "read the tire sensors of {vehicle_id}",
        "see how much air the tires of {vehicle_id} have",
        "find out if any tire of {vehicle_id} is too low",
    ],
    brief=[
        "check the tire pressures of a vehicle",
        "tell me whether the tires of one of the vehicles are fine",
    ],
)
def get_tire_pressures(ctx: Context, vehicle_id: Annotated[VehicleId, "Vehicle to read"]) -> TirePressures:
    """Get the pressure of each tire in bar and which ones are too low."""
    recommended = rules.vehicle(ctx, vehicle_id)["tire_pressure"]
    pressure = {row["part"]: row["pressure"] for row in ctx.rows(_TIRES, vehicle=vehicle_id)}
    return {
        "vehicle_id": vehicle_id,
        "front_left": pressure["front_left"] / 100,
        "front_right": pressure["front_right"] / 100,
        "rear_left": pressure["rear_left"] / 100,
        "rear_right": pressure["rear_right"] / 100,
        "recommended": recommended / 100,
        "warnings": [part for part, value in pressure.items() if value * 100 < recommended * _WARN_BELOW],
    }


class DriverItem(TypedDict):
    """A driver profile in a list; `vehicle_id` is where the driver is signed in."""

    driver_id: DriverId
    name: str
    licence_until: str
    vehicle_id: VehicleId | None


class DriverList(TypedDict):
    """Driver profiles that fit."""

    drivers: list[DriverItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the driver profiles[ with {name} in the name][, {limit} at most]",
        "show me[ up to {limit}] drivers of the fleet[ whose name matches {name}]",
        "look up who may drive our vehicles[, searching for {name}]",
        "check which drivers[ with {name} in their name] are signed in to a vehicle",
        "go through the drivers[ whose name contains {name}][, first {limit} only]",
    ],
)
def list_driver_profiles(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.NAME_SEARCHES))] | None,
        "Part of the name; case and accents make no difference",
    ] = None,
    limit: Annotated[Limit, "Most profiles listed"] = 5,
) -> DriverList:
    """List driver profiles by name, with the vehicle that each driver is signed in to."""
    wanted = folded(name or "")
    fitting = [row for row in ctx.rows(_DRIVERS) if wanted in folded(row["name"])]
    return {
        "drivers": [
            {
                "driver_id": row["id"],
                "name": row["name"],
                "licence_until": row["licence_until"],
                "vehicle_id": row["vehicle_id"],
            }
            for row in fitting[:limit]
        ]
    }


class ActiveProfile(TypedDict):
    """A driver signed in; the seat has moved to its memory position (1 to 10)."""

    vehicle_id: VehicleId
    driver_id: DriverId
    seat_position: int
    temperature: float


@server.tool(
    phrases=[
        "sign {driver_id} in to {vehicle_id} with PIN {pin}",
        "activate the profile of {driver_id} in {vehicle_id}, using PIN {pin}",
        "use PIN {pin} to switch {vehicle_id} to the profile of {driver_id}",
        "log {driver_id} into {vehicle_id} with the PIN {pin}",
        "make {driver_id} the driver at the wheel of {vehicle_id}, PIN {pin}",
    ],
    brief=[
        "sign a driver in to a vehicle",
        "activate the profile of {driver_id} in {vehicle_id}",
        "sign {driver_id} in with PIN {pin}",
    ],
)
def activate_driver_profile(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Unlocked, parked vehicle"],
    driver_id: Annotated[DriverId, "Driver who takes the wheel"],
    pin: Annotated[DriverPin, "The driver's four-digit PIN, as the driver gave it"],
) -> ActiveProfile:
    """Sign a driver in to a vehicle; seat and temperature follow the profile. Whoever was signed in is signed out."""
    row, driver = rules.vehicle(ctx, vehicle_id), rules.driver(ctx, driver_id)
    rules.parked(row, "a driver can sign in")
    rules.no_valet(row, "driver profiles")
    if row["locked"]:
        raise Rejected(f"vehicle {vehicle_id} is locked; unlock it before a driver signs in")
    if row["driver_id"] == driver_id:
        raise Rejected(f"{driver_id} is signed in to {vehicle_id} already; nothing is left to do")
    elsewhere = ctx.scalar(_SIGNED_IN, driver=driver_id)
    if elsewhere:
        raise Rejected(f"{driver_id} is signed in to {elsewhere}; park that one and turn its ignition off first")
    if driver["licence_until"] < ctx.today:
        raise Rejected(
            f"the driving licence of {driver['name']} ({driver_id}) expired on {driver['licence_until']}; "
            "choose a driver with a valid one"
        )
    if driver["pin"] != pin:
        raise Rejected(f"wrong PIN for {driver_id}; ask {driver['name']} for the four-digit PIN")
    ctx.update(Vehicle, vehicle_id, driver_id=driver_id, temperature=driver["temperature"])
    return {
        "vehicle_id": vehicle_id,
        "driver_id": driver_id,
        "seat_position": driver["seat_memory"],
        "temperature": driver["temperature"] / 10,
    }


class ValetState(TypedDict):
    """A vehicle after valet mode was switched."""

    vehicle_id: VehicleId
    valet_mode: Literal["on", "off"]


@server.tool(
    phrases=[
        "turn valet mode {state} in {vehicle_id} with valet PIN {pin}",
        "switch the valet mode of {vehicle_id} {state}, using the valet PIN {pin}",
        "use valet PIN {pin} to set valet mode to {state} in {vehicle_id}",
        "make sure valet mode is {state} in {vehicle_id}, valet PIN {pin}",
        "set {vehicle_id} to valet mode {state} with {pin} as the valet PIN",
    ],
    brief=[
        "switch the valet mode of a vehicle",
        "turn valet mode {state} in {vehicle_id}",
        "turn valet mode {state} with valet PIN {pin}",
    ],
)
def set_valet_mode(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Parked vehicle"],
    state: Annotated[Literal["on", "off"], "Valet mode from now on"],
    pin: Annotated[ValetPin, "The vehicle's four-digit valet PIN, as its keeper gave it"],
) -> ValetState:
    """Turn valet mode on or off. It signs the driver out, clears the route and blocks profiles, tailgate and drives."""
    row = rules.vehicle(ctx, vehicle_id)
    rules.parked(row, "valet mode can be switched")
    if row["valet"] == (state == "on"):
        raise Rejected(f"valet mode of {vehicle_id} is {state} already; nothing is left to do")
    if row["valet_pin"] != pin:
        raise Rejected(f"wrong valet PIN for {vehicle_id}; ask the keeper of the vehicle for it")
    if state == "on":
        ctx.update(Vehicle, vehicle_id, valet=True, driver_id=None, route_to=None)
    else:
        ctx.update(Vehicle, vehicle_id, valet=False)
    return {"vehicle_id": vehicle_id, "valet_mode": state}


class Pin(TypedDict):
    """What a person knows by heart."""

    pin: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_driver_pin(ctx: Context, driver_id: Annotated[DriverId, "Driver"]) -> Pin:
    """The PIN of a driver, for writing what that person would say."""
    return {"pin": rules.driver(ctx, driver_id)["pin"]}


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_valet_pin(ctx: Context, vehicle_id: Annotated[VehicleId, "Vehicle"]) -> Pin:
    """The valet PIN of a vehicle, for writing what its keeper would say."""
    return {"pin": rules.vehicle(ctx, vehicle_id)["valet_pin"]}

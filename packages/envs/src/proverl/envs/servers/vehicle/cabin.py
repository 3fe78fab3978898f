"""Locks, doors, windows, climate and seats."""

from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import bindparam, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, one_of
from proverl.envs.servers.vehicle import rules
from proverl.envs.servers.vehicle.app import server
from proverl.envs.servers.vehicle.tables import Opening, Seat, Vehicle, VehicleId
from proverl.envs.state import Row

Door = Literal["front_left_door", "front_right_door", "rear_left_door", "rear_right_door", "tailgate"]
Window = Literal["front_left_window", "front_right_window", "rear_left_window", "rear_right_window", "sunroof"]
SeatName = Literal["driver_seat", "passenger_seat", "rear_left_seat", "rear_right_seat"]
Heating = Literal["off", "low", "medium", "high"]
Mode = Literal["off", "auto", "heat", "cool", "defrost"]

_OPENINGS = (
    select(Opening.part, Opening.position.label("value"))
    .where(Opening.vehicle_id == bindparam("vehicle"), Opening.kind == bindparam("kind"))
    .order_by(Opening.part)
)
_MOVE = (
    update(Opening)
    .where(Opening.vehicle_id == bindparam("vehicle"), Opening.part == bindparam("name"))
    .values(position=bindparam("to"))
)
_SEATS = (
    select(Seat.part, Seat.heating.label("value")).where(Seat.vehicle_id == bindparam("vehicle")).order_by(Seat.part)
)
_HEAT = (
    update(Seat)
    .where(Seat.vehicle_id == bindparam("vehicle"), Seat.part == bindparam("name"))
    .values(heating=bindparam("level"))
)


class LockState(TypedDict):
    """A vehicle after its locks were switched."""

    vehicle_id: VehicleId
    state: Literal["locked", "unlocked"]


@server.tool(
    phrases=[
        "make sure {vehicle_id} is {state}",
        "get {vehicle_id} {state}",
        "leave {vehicle_id} {state}",
        "have all doors of {vehicle_id} {state}",
        "switch the central locking of {vehicle_id} to {state}",
    ],
    brief=[
        "switch the central locking of a vehicle",
        "have one of the vehicles {state}",
        "switch the central locking of {vehicle_id}",
    ],
)
def set_door_locks(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle to lock or unlock"],
    state: Annotated[Literal["locked", "unlocked"], "All doors from now on"],
) -> LockState:
    """Lock or unlock all doors of a vehicle. Locking needs closed doors, unlocking a parked vehicle."""
    row = rules.vehicle(ctx, vehicle_id)
    if row["locked"] == (state == "locked"):
        raise Rejected(f"vehicle {vehicle_id} is {state} already; nothing is left to do")
    if state == "unlocked":
        rules.parked(row, "it can be unlocked")
    else:
        rules.doors_closed(ctx, row, "before it can be locked")
    ctx.update(Vehicle, vehicle_id, locked=state == "locked")
    return {"vehicle_id": vehicle_id, "state": state}


class DoorState(TypedDict):
    """A door after a change."""

    vehicle_id: VehicleId
    door: Door
    position: Literal["open", "closed"]


@server.tool(
    phrases=[
        "make sure the {door} of {vehicle_id} is {position}",
        "get the {door} of {vehicle_id} {position}",
        "move the {door} of {vehicle_id} until it is {position}",
        "leave the {door} of {vehicle_id} {position}",
        "set the {door} of {vehicle_id} to {position}",
    ],
    brief=[
        "move a door of one of the vehicles",
        "move the {door} of {vehicle_id}",
        "get the {door} of a vehicle {position}",
    ],
)
def set_door_position(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Parked vehicle; to open a door, unlocked"],
    door: Annotated[Door, "Vans have no rear doors but a tailgate"],
    position: Annotated[Literal["open", "closed"], "Where the door goes"],
) -> DoorState:
    """Open or close a powered door or the tailgate of a parked vehicle."""
    row = rules.vehicle(ctx, vehicle_id)
    now = _current(ctx.rows(_OPENINGS, vehicle=vehicle_id, kind="door"), door, vehicle_id)
    rules.parked(row, "its doors move")
    if (now > 0) == (position == "open"):
        raise Rejected(f"the {_said(door)} of {vehicle_id} is {position} already; nothing is left to do")
    if position == "open":
        if door == "tailgate":
            rules.no_valet(row, "the tailgate")
        if row["locked"]:
            raise Rejected(f"vehicle {vehicle_id} is locked; unlock it before a door opens")
    ctx.execute(_MOVE, vehicle=vehicle_id, name=door, to=100 if position == "open" else 0)
    return {"vehicle_id": vehicle_id, "door": door, "position": position}


class WindowState(TypedDict):
    """A window after a change."""

    vehicle_id: VehicleId
    window: Window
    open_percent: int


@server.tool(
    phrases=[
        "set the {window} of {vehicle_id} to {open_percent} percent open",
        "move the {window} of {vehicle_id} to {open_percent} percent open",
        "leave the {window} {open_percent} percent open in {vehicle_id}",
        "bring the opening of the {window} of {vehicle_id} to {open_percent} percent",
        "adjust the {window} in {vehicle_id} so that it is {open_percent} percent open",
    ],
    brief=[
        "move a window of one of the vehicles",
        "adjust the {window} of {vehicle_id}",
        "set the {window} of a vehicle to {open_percent} percent open",
    ],
)
def set_window_position(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle; to open a window further, its ignition is not off"],
    window: Annotated[Window, "Not every vehicle has rear windows or a sunroof"],
    open_percent: Annotated[
        int,
        Field(ge=0, le=100, examples=[0, 10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100]),
        "0 is closed, 100 wide open",
    ],
) -> WindowState:
    """Move a window or the sunroof. Closing works with the ignition off, opening does not."""
    row = rules.vehicle(ctx, vehicle_id)
    now = _current(ctx.rows(_OPENINGS, vehicle=vehicle_id, kind="window"), window, vehicle_id)
    if now == open_percent:
        raise Rejected(f"the {_said(window)} of {vehicle_id} is at {now}% already; choose another position")
    if open_percent > now:
        rules.powered(row, "its windows open further")
        if window == "sunroof" and row["gear"] == "drive" and open_percent > 50:
            raise Rejected(f"{vehicle_id} is being driven; its sunroof opens to 50% at most until it is parked")
    ctx.execute(_MOVE, vehicle=vehicle_id, name=window, to=open_percent)
    return {"vehicle_id": vehicle_id, "window": window, "open_percent": open_percent}


class ClimateState(TypedDict):
    """The climate control after a change."""

    vehicle_id: VehicleId
    mode: Mode
    temperature: float


@server.tool(
    phrases=[
        "set the climate of {vehicle_id} to {mode}[ at {temperature} degrees]",
        "switch the climate control in {vehicle_id} to {mode}[, {temperature} degrees]",
        "put the climate system of {vehicle_id} on {mode}[ with a target of {temperature} degrees]",
        "change the climate mode of {vehicle_id} to {mode}[ and the temperature to {temperature} degrees]",
        "choose {mode} as the climate setting of {vehicle_id}[ and aim for {temperature} °C]",
    ],
    brief=[
        "adjust the climate in a vehicle",
        "change the climate mode of {vehicle_id}[ and aim for {temperature} degrees]",
        "set the climate of one of the vehicles to {mode}",
    ],
)
def set_climate(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Electric vehicle, or one whose ignition is on"],
    mode: Annotated[Mode, "What the climate control does; off stops it"],
    temperature: Annotated[
        Annotated[
            float,
            Field(
                ge=16,
                le=28,
                multiple_of=0.5,
                examples=[17.0, 18.0, 19.0, 19.5, 20.0, 20.5, 21.0, 21.5, 22.0, 22.5, 23.0, 24.0],
            ),
        ]
        | None,
        "Degrees Celsius in steps of 0.5; as before if left out",
    ] = None,
) -> ClimateState:
    """Set the climate control. Electric vehicles also precondition while parked with the ignition off."""
    row = rules.vehicle(ctx, vehicle_id)
    if mode == "off":
        _may_stop(row, temperature)
    else:
        _may_run(ctx, row)
    target = row["temperature"] if temperature is None else round(temperature * 10)
    if (row["climate"], row["temperature"]) == (mode, target):
        raise Rejected(f"{vehicle_id} is at {mode} with {target / 10:.1f} degrees already; change mode or temperature")
    ctx.update(Vehicle, vehicle_id, climate=mode, temperature=target)
    return {"vehicle_id": vehicle_id, "mode": mode, "temperature": target / 10}


def _may_stop(row: Row, temperature: float | None) -> None:
    if row["climate"] == "off":
        raise Rejected(f"the climate control of {row['id']} is off already; nothing is left to do")
    if temperature is not None:
        raise Rejected("mode off takes no temperature; leave it out, or choose auto, heat, cool or defrost")


def _may_run(ctx: Context, row: Row) -> None:
    if row["energy"] != "electric" and row["ignition"] != "on":
        raise Rejected(
            f"{row['id']} runs on {row['energy']} and its ignition is {row['ignition']}; "
            "its climate control needs the ignition on"
        )
    rules.comfort(row, "climate control")
    rules.doors_closed(ctx, row, "before the climate control runs")


class SeatState(TypedDict):
    """A seat after a change."""

    vehicle_id: VehicleId
    seat: SeatName
    level: Heating


@server.tool(
    phrases=[
        "set the heating of the {seat} in {vehicle_id} to {level}",
        "switch the seat heating of {vehicle_id}'s {seat} to {level}",
        "put the {seat} heating of {vehicle_id} at {level}",
        "change {vehicle_id}'s {seat} heating to {level}",
        "choose {level} as the heating level of the {seat} in {vehicle_id}",
    ],
    brief=[
        "adjust the seat heating in a vehicle",
        "change the heating of the {seat} in {vehicle_id}",
        "set the seat heating in {vehicle_id} to {level}",
    ],
)
def set_seat_heating(
    ctx: Context,
    vehicle_id: Annotated[VehicleId, "Vehicle with ignition or climate control on"],
    seat: Annotated[SeatName, "Vans have no rear seats"],
    level: Annotated[Heating, "How strongly it is heated"],
) -> SeatState:
    """Set the heating of a seat. It needs the ignition on, or the climate control of an electric vehicle running."""
    row = rules.vehicle(ctx, vehicle_id)
    now = _current(ctx.rows(_SEATS, vehicle=vehicle_id), seat, vehicle_id)
    if now == level:
        raise Rejected(f"the heating of the {_said(seat)} of {vehicle_id} is {level} already; choose another level")
    if level != "off":
        if row["ignition"] != "on" and row["climate"] == "off":
            raise Rejected(
                f"the ignition of {vehicle_id} is {row['ignition']} and its climate control off; turn one of them on"
            )
        rules.comfort(row, "seat heating")
    ctx.execute(_HEAT, vehicle=vehicle_id, name=seat, level=level)
    return {"vehicle_id": vehicle_id, "seat": seat, "level": level}


def _current(parts: list[Row], part: str, vehicle_id: str) -> Any:
    """The value of a part. Raises Rejected when this vehicle has no such part."""
    values = {row["part"]: row["value"] for row in parts}
    if part not in values:
        raise Rejected(f"{vehicle_id} has no {_said(part)}; it has {one_of([_said(name) for name in values])}")
    return values[part]


def _said(part: str) -> str:
    return part.replace("_", " ")

"""Homes with their alarms, and what is in their areas."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.iot_devices import rules
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.rules import AREA, DEVICE, PLACED, PRODUCT
from proverl.envs.servers.iot_devices.tables import (
    Area,
    AreaId,
    BlindId,
    CameraId,
    Device,
    Home,
    HomeId,
    LightId,
    LockId,
    PlugId,
    SensorId,
    ThermostatId,
)
from proverl.envs.state import Row

Alarm = Literal["disarmed", "armed_home", "armed_away"]
AlarmPin = Annotated[
    str,
    Field(pattern="^[0-9]{4}$", json_schema_extra={"x-sensitive": True, "x-source": "reveal_alarm_pin.alarm_pin"}),
]
_HOMES = select(Home.__table__).order_by(Home.name, Home.id)
_AREAS = (
    select(AREA.id, AREA.name, func.count(DEVICE.id).label("devices"))
    .select_from(Area.__table__.outerjoin(Device.__table__, DEVICE.area_id == AREA.id))
    .where(AREA.home_id == bindparam("home"))
    .group_by(AREA.id)
    .order_by(AREA.name, AREA.id)
)
_CONTENTS = (
    select(Device.__table__, PRODUCT.trait)
    .select_from(PLACED)
    .where(DEVICE.area_id == bindparam("area"))
    .order_by(DEVICE.name, DEVICE.id)
)
_UNSECURED = (
    select(DEVICE.id, DEVICE.name, DEVICE.type, DEVICE.state)
    .select_from(PLACED)
    .where(AREA.home_id == bindparam("home"), DEVICE.state.in_(("open", "unlocked", "jammed", "private")))
    .order_by(DEVICE.id)
)


class HomeItem(TypedDict):
    """A home in a list."""

    home_id: HomeId
    name: str
    city: str
    alarm: Alarm


class HomeList(TypedDict):
    """The homes of this account."""

    homes: list[HomeItem]


@server.tool(
    read_only=True,
    phrases=[
        "list my homes",
        "show me all homes with the state of their alarms",
        "look up the homes on my account",
        "tell me where an alarm is armed",
        "go through the homes that I can control",
    ],
)
def list_homes(ctx: Context) -> HomeList:
    """List the homes of this account with the state of their alarms."""
    return {
        "homes": [
            {"home_id": row["id"], "name": row["name"], "city": row["city"], "alarm": row["alarm"]}
            for row in ctx.rows(_HOMES)
        ]
    }


class AlarmState(TypedDict):
    """A home's alarm after a change."""

    home_id: HomeId
    alarm: Alarm


@server.tool(
    phrases=[
        "arm the alarm of {home_id} in {level} mode",
        "set the alarm at {home_id} to {level} mode",
        "switch on the alarm system of {home_id} in {level} mode",
        "protect {home_id} with the alarm in {level} mode",
        "activate the alarm in {home_id} and choose {level} mode",
    ],
    brief=[
        "arm an alarm",
        "arm the alarm of {home_id}",
        "switch on the alarm system of one of my homes in {level} mode",
    ],
)
def arm_home_alarm(
    ctx: Context,
    home_id: Annotated[HomeId, "Home to protect"],
    level: Annotated[
        Literal["home", "away"], "home: someone stays in; away: nobody does, and all locks must be locked"
    ],
) -> AlarmState:
    """Arm the alarm of a home. Doors and windows must be closed; for away, locks locked and cameras watching."""
    row = rules.home(ctx, home_id)
    if row["alarm"] == f"armed_{level}":
        raise Rejected(f"the alarm of {home_id} is armed_{level} already; disarm_home_alarm turns it off")
    if row["alarm"] == "armed_away":
        raise Rejected(f"the alarm of {home_id} is armed_away; disarm it before it is armed for home, a lower level")
    for found in ctx.rows(_UNSECURED, home=home_id):
        if found["state"] == "open":
            raise Rejected(f"{found['name']} ({found['id']}) is open; close it before the alarm of {home_id} is armed")
        if level == "away":
            _refuse_away(found)
    ctx.update(Home, home_id, alarm=f"armed_{level}")
    return {"home_id": home_id, "alarm": "armed_home" if level == "home" else "armed_away"}


def _refuse_away(found: Row) -> None:
    what = f"{found['type']} {found['id']} ({found['name']})"
    if found["state"] == "private":
        raise Rejected(f"{what} is in privacy mode; end it with set_camera_privacy before the alarm is armed for away")
    if found["state"] == "jammed":
        raise Rejected(f"{what} is jammed, so the door is not locked; the alarm can only be armed for home")
    raise Rejected(f"{what} is unlocked; lock it with lock_smart_lock before the alarm is armed for away")


@server.tool(
    phrases=[
        "disarm the alarm of {home_id} with PIN {alarm_pin}",
        "turn off the alarm at {home_id} using the PIN {alarm_pin}",
        "use PIN {alarm_pin} to switch off the alarm system of {home_id}",
        "deactivate the alarm in {home_id}, PIN {alarm_pin}",
        "get the alarm of {home_id} disarmed, with {alarm_pin} as the PIN",
    ],
    brief=[
        "disarm an alarm",
        "turn off the alarm of {home_id}",
        "switch off the alarm of one of my homes with PIN {alarm_pin}",
    ],
)
def disarm_home_alarm(
    ctx: Context,
    home_id: Annotated[HomeId, "Home whose alarm is armed"],
    alarm_pin: Annotated[AlarmPin, "The alarm's four-digit PIN, as the user gave it"],
) -> AlarmState:
    """Disarm the alarm of a home. The alarm's PIN authorises it."""
    row = rules.home(ctx, home_id)
    if row["alarm"] == "disarmed":
        raise Rejected(f"the alarm of {home_id} is not armed; arm_home_alarm arms it")
    if row["alarm_pin"] != alarm_pin:
        raise Rejected(f"wrong PIN for the alarm of {home_id}; ask the user for it")
    ctx.update(Home, home_id, alarm="disarmed")
    return {"home_id": home_id, "alarm": "disarmed"}


class AreaItem(TypedDict):
    """An area in a list, with how many devices it has."""

    area_id: AreaId
    name: str
    devices: int


class AreaList(TypedDict):
    """The areas of a home."""

    areas: list[AreaItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the areas of {home_id}",
        "show me the rooms in {home_id}",
        "look up which areas {home_id} has",
        "tell me how {home_id} is divided into rooms",
        "give me an overview of the rooms and outdoor places of {home_id}",
    ],
    brief=[
        "list the rooms of a home",
        "show me which areas one of my homes has",
    ],
)
def list_areas(ctx: Context, home_id: Annotated[HomeId, "Home to look into"]) -> AreaList:
    """List the areas (rooms and outdoor places) of a home."""
    rules.home(ctx, home_id)
    return {
        "areas": [
            {"area_id": row["id"], "name": row["name"], "devices": row["devices"]}
            for row in ctx.rows(_AREAS, home=home_id)
        ]
    }


class LightItem(TypedDict):
    """A light of an area."""

    light_id: LightId
    name: str
    state: str


class PlugItem(TypedDict):
    """A plug of an area."""

    plug_id: PlugId
    name: str
    state: str


class BlindItem(TypedDict):
    """A blind of an area."""

    blind_id: BlindId
    name: str
    state: str


class ThermostatItem(TypedDict):
    """A thermostat of an area."""

    thermostat_id: ThermostatId
    name: str
    state: str


class LockItem(TypedDict):
    """A lock of an area."""

    lock_id: LockId
    name: str
    state: str


class SensorItem(TypedDict):
    """A sensor of an area."""

    sensor_id: SensorId
    name: str
    state: str


class CameraItem(TypedDict):
    """A camera of an area."""

    camera_id: CameraId
    name: str
    state: str


class AreaView(TypedDict):
    """An area with its devices by type and what they last reported."""

    area_id: AreaId
    home_id: HomeId
    name: str
    lights: list[LightItem]
    plugs: list[PlugItem]
    blinds: list[BlindItem]
    thermostats: list[ThermostatItem]
    locks: list[LockItem]
    sensors: list[SensorItem]
    cameras: list[CameraItem]


def reported(row: Row) -> str:
    """What a device last reported, in words."""
    if row["status"] == "offline":
        return "offline"
    if row["type"] == "light" and row["state"] == "on" and row["trait"] == "dimmable":
        return f"on at {row['level']}%"
    if row["type"] == "plug" and row["state"] == "on":
        return f"on, {row['measured']} W"
    if row["type"] == "blind":
        return f"{row['level']}% open"
    if row["type"] == "thermostat":
        target = f", target {row['level'] / 10:.1f} °C" if row["state"] in ("heat", "cool", "auto") else ""
        return f"{row['state']}{target}, room {row['measured'] / 10:.1f} °C"
    if row["trait"] == "temperature":
        return f"{row['measured'] / 10:.1f} °C"
    return f"{row['measured']}%" if row["trait"] == "humidity" else str(row["state"])


@server.tool(
    read_only=True,
    phrases=[
        "show me the devices in {area_id}",
        "check what is on in {area_id}",
        "look at {area_id} with everything in it",
        "tell me the state of {area_id}",
        "find out how the lights, locks and thermostats in {area_id} are set",
    ],
    brief=[
        "check what is on in one of the rooms",
        "show me an area with everything in it",
    ],
)
def get_area(ctx: Context, area_id: Annotated[AreaId, "Area to look at"]) -> AreaView:
    """Get an area with its lights, plugs, blinds, thermostats, locks, sensors and cameras, and their present state."""
    area = ctx.get(Area, area_id, "list_areas names the areas of a home")
    found: dict[str, list[Row]] = {}
    for row in ctx.rows(_CONTENTS, area=area_id):
        item = {f"{row['type']}_id": row["id"], "name": row["name"], "state": reported(row)}
        found.setdefault(f"{row['type']}s", []).append(item)
    view = {"area_id": area_id, "home_id": area["home_id"], "name": area["name"]}
    return {**view, **{kind: found.get(kind, []) for kind in _KINDS}}  # type: ignore[typeddict-item]


_KINDS = ("lights", "plugs", "blinds", "thermostats", "locks", "sensors", "cameras")


class PinOfAlarm(TypedDict):
    """What the people of a home know by heart."""

    alarm_pin: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_alarm_pin(ctx: Context, home_id: Annotated[HomeId, "Home of the alarm"]) -> PinOfAlarm:
    """The PIN of a home's alarm, for writing what its owner would say."""
    return {"alarm_pin": rules.home(ctx, home_id)["alarm_pin"]}

"""Devices of every type: which there are, how they are, and their firmware."""

from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.iot_devices import rules
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.homes import reported
from proverl.envs.servers.iot_devices.rules import AREA, DEVICE, PLACED, PRODUCT
from proverl.envs.servers.iot_devices.tables import AreaId, Device, DeviceId, HomeId

DeviceType = Literal["light", "plug", "blind", "thermostat", "lock", "sensor", "camera"]
Attention = Literal["offline", "low_battery", "update_available"]

_LOW_BATTERY = 20  # percent, as the app warns
_UPDATE_BATTERY = 30  # percent that a device needs, or an update may leave it dead
_WANTED: Any = bindparam("attention")
_DEVICES = (
    select(DEVICE.id, DEVICE.name, DEVICE.type, DEVICE.status, AREA.name.label("area"))
    .select_from(PLACED)
    .where(
        AREA.home_id == bindparam("home"),
        or_(bindparam("type") == "", DEVICE.type == bindparam("type")),
        or_(
            _WANTED == "",
            and_(_WANTED == "offline", DEVICE.status == "offline"),
            and_(_WANTED == "low_battery", DEVICE.battery < _LOW_BATTERY),
            and_(_WANTED == "update_available", DEVICE.firmware != PRODUCT.newest_firmware),
        ),
    )
    .order_by(AREA.name, DEVICE.name, DEVICE.id)
    .limit(bindparam("limit"))
)


class DeviceItem(TypedDict):
    """A device in a list."""

    device_id: DeviceId
    name: str
    type: DeviceType
    area: str
    status: Literal["online", "offline"]


class DeviceList(TypedDict):
    """Devices of a home, by area."""

    devices: list[DeviceItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the devices of {home_id}[ of type {type}][, only those flagged {attention}][, {limit} at most]",
        "show me what is installed in {home_id}[, only devices of type {type}][, first {limit}]",
        "check the devices at {home_id}[ for {attention}][, up to {limit} of them]",
        "go through the devices in {home_id}[ of the type {type}][ that have the flag {attention}]",
        "look up which[ {type}] devices there are in {home_id}[ with the flag {attention}]",
    ],
    brief=[
        "list the devices of a home",
        "show me what is installed in one of my homes[, only devices of type {type}]",
        "check a home for devices flagged {attention}",
    ],
)
def list_devices(
    ctx: Context,
    home_id: Annotated[HomeId, "Home to look into"],
    type: Annotated[DeviceType | None, "Only devices of this type"] = None,
    attention: Annotated[Attention | None, "Only devices that need this attention; low battery is under 20%"] = None,
    limit: Annotated[
        int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20, 30]), "Most devices listed"
    ] = 5,
) -> DeviceList:
    """List the devices of a home by area, all or only those that need some attention."""
    rules.home(ctx, home_id)
    rows = ctx.rows(_DEVICES, home=home_id, type=type or "", attention=attention or "", limit=limit)
    return {
        "devices": [
            {
                "device_id": row["id"],
                "name": row["name"],
                "type": row["type"],
                "area": row["area"],
                "status": row["status"],
            }
            for row in rows
        ]
    }


class DeviceView(TypedDict):
    """A device in full; `battery` in percent, null on mains power."""

    device_id: DeviceId
    name: str
    type: DeviceType
    model: str
    area_id: AreaId
    state: str
    battery: int | None
    firmware: str
    newest_firmware: str
    child_lock: bool


@server.tool(
    read_only=True,
    phrases=[
        "show me the details of {device_id}",
        "check the battery and firmware of {device_id}",
        "look up {device_id}",
        "tell me how {device_id} is doing",
        "get the model and present state of {device_id}",
    ],
    brief=[
        "tell me all about a device",
        "check the battery and firmware of one of the devices",
    ],
)
def get_device(ctx: Context, device_id: Annotated[DeviceId, "Device of any type"]) -> DeviceView:
    """Get a device with its model, area, present state, battery and firmware."""
    row = rules.any_device(ctx, device_id)
    return {
        "device_id": device_id,
        "name": row["name"],
        "type": row["type"],
        "model": f"{row['maker']} {row['product']}",
        "area_id": row["area_id"],
        "state": reported(row),
        "battery": row["battery"],
        "firmware": row["firmware"],
        "newest_firmware": row["newest_firmware"],
        "child_lock": row["child_lock"],
    }


class InstalledFirmware(TypedDict):
    """The firmware that a device runs after its update."""

    device_id: DeviceId
    firmware: str


@server.tool(
    phrases=[
        "update the firmware of {device_id}",
        "install the newest firmware on {device_id}",
        "bring {device_id} up to the latest firmware",
        "run the pending software update for {device_id}",
        "get {device_id} onto the newest software version",
    ],
    brief=[
        "update the firmware of a device",
        "install the pending update on one of the devices",
    ],
)
def update_device_firmware(ctx: Context, device_id: Annotated[DeviceId, "Online device"]) -> InstalledFirmware:
    """Install the newest firmware on a device. On battery it needs a charge of 30%."""
    row = rules.online(rules.any_device(ctx, device_id))
    newest = row["newest_firmware"]
    if row["firmware"] == newest:
        raise Rejected(f"{row['type']} {device_id} runs {newest}, the newest firmware; no update is needed")
    if row["battery"] is not None and row["battery"] < _UPDATE_BATTERY:
        raise Rejected(
            f"the battery of {device_id} is at {row['battery']}%; charge or replace it to at least {_UPDATE_BATTERY}% "
            "before a firmware update"
        )
    if row["type"] in ("lock", "sensor", "camera"):
        rules.disarmed(row, "updating")
    ctx.update(Device, device_id, firmware=newest)
    return {"device_id": device_id, "firmware": newest}

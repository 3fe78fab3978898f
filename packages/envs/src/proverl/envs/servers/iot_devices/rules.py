"""What the platform refuses. Every refusal says what would be right."""

from typing import Any

from sqlalchemy import bindparam, select

from proverl.envs import Context, NotFound, Rejected
from proverl.envs.servers.iot_devices.tables import Area, Device, Home, Product
from proverl.envs.state import Row

HOME, AREA, DEVICE, PRODUCT = Home.__table__.c, Area.__table__.c, Device.__table__.c, Product.__table__.c
PLACED: Any = (
    Device.__table__.join(Area.__table__, AREA.id == DEVICE.area_id)
    .join(Home.__table__, HOME.id == AREA.home_id)
    .join(Product.__table__, PRODUCT.name == DEVICE.product)
)
_PLACED_DEVICE = (
    select(
        Device.__table__,
        AREA.name.label("area"),
        AREA.home_id,
        HOME.name.label("home"),
        HOME.alarm,
        PRODUCT.maker,
        PRODUCT.trait,
        PRODUCT.newest_firmware,
    )
    .select_from(PLACED)
    .where(DEVICE.id == bindparam("device"))
)
_OPEN_CONTACTS = (
    select(DEVICE.id, DEVICE.name)
    .where(DEVICE.area_id == bindparam("area"), DEVICE.type == "sensor", DEVICE.state == "open")
    .order_by(DEVICE.id)
)


def home(ctx: Context, home_id: str) -> Row:
    """The home. Raises NotFound."""
    return ctx.get(Home, home_id, "list_homes names the homes")


def any_device(ctx: Context, device_id: str) -> Row:
    """A device with its area, home and product. Raises NotFound."""
    found = ctx.rows(_PLACED_DEVICE, device=device_id)
    if not found:
        raise NotFound(f"no device {device_id!r}; list_devices names the devices of a home")
    return found[0]


def device(ctx: Context, device_id: str, type: str) -> Row:
    """A device of this type with its area, home and product. Raises NotFound, or Rejected for another type."""
    found = ctx.rows(_PLACED_DEVICE, device=device_id)
    if not found:
        raise NotFound(f"no {type} {device_id!r}; get_area names the {type}s of an area")
    if found[0]["type"] != type:
        what = f"{device_id} ({found[0]['name']}) is a {found[0]['type']}"
        raise Rejected(f"{what}, not a {type}; get_area names the {type}s of an area")
    return found[0]


def online(row: Row) -> Row:
    """The device, which takes commands. Raises Rejected when it is offline."""
    if row["status"] == "offline":
        cause = "its battery is empty" if row["battery"] == 0 else "it has lost its connection"
        raise Rejected(
            f"{row['type']} {row['id']} ({row['name']}) is offline: {cause}; only online devices take commands"
        )
    return row


def online_device(ctx: Context, device_id: str, type: str) -> Row:
    """A device of this type that takes commands. Raises NotFound or Rejected."""
    return online(device(ctx, device_id, type))


def disarmed(row: Row, doing: str) -> None:
    """Raises Rejected when the alarm of the device's home is armed."""
    if row["alarm"] != "disarmed":
        where = f"{row['home_id']} ({row['home']})"
        raise Rejected(f"the alarm of {where} is {row['alarm']}; disarm_home_alarm before {doing} {row['id']}")


def open_contacts(ctx: Context, area_id: str) -> list[Row]:
    """Contact sensors of an area that report an open door or window."""
    return ctx.rows(_OPEN_CONTACTS, area=area_id)

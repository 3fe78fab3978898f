"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import or_, select

from proverl.envs import Context
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.rules import AREA, DEVICE, HOME, PLACED, PRODUCT
from proverl.envs.servers.iot_devices.start_state import MOST_CODES
from proverl.envs.servers.iot_devices.tables import AccessCode, Area, Automation, Device, Scene, SceneAction

_ACTION, _SCENE, _AUTOMATION = SceneAction.__table__.c, Scene.__table__.c, Automation.__table__.c
_PLACES = Device.__table__.join(Area.__table__, AREA.id == DEVICE.area_id)


@server.invariant
def homes_armed_for_away_are_secured(ctx: Context) -> None:
    """Where the alarm is armed for away, every lock is locked and every camera watches."""
    open_ = (
        select(DEVICE.id)
        .select_from(PLACED)
        .where(
            HOME.alarm == "armed_away",
            or_(DEVICE.type == "lock", DEVICE.type == "camera"),
            DEVICE.state.not_in(("locked", "live")),
        )
    )
    assert not ctx.rows(open_), f"not secured under an armed alarm: {ctx.rows(open_)}"


@server.invariant
def armed_homes_are_closed(ctx: Context) -> None:
    """Where the alarm is armed, no door or window is open."""
    open_ = select(DEVICE.id).select_from(PLACED).where(HOME.alarm != "disarmed", DEVICE.state == "open")
    assert not ctx.rows(open_), f"open under an armed alarm: {ctx.rows(open_)}"


@server.invariant
def scenes_set_devices_of_their_home(ctx: Context) -> None:
    """Scenes set lights, plugs, blinds and thermostats of their own home, and never a plug with the child lock on."""
    joined = _PLACES.join(SceneAction.__table__, _ACTION.device_id == DEVICE.id).join(
        Scene.__table__, _SCENE.id == _ACTION.scene_id
    )
    strange = (
        select(_ACTION.scene_id, _ACTION.device_id)
        .select_from(joined)
        .where(
            or_(
                AREA.home_id != _SCENE.home_id,
                DEVICE.type.not_in(("light", "plug", "blind", "thermostat")),
                DEVICE.child_lock.is_(True),
            )
        )
    )
    assert not ctx.rows(strange), f"actions that scenes can't have: {ctx.rows(strange)}"


@server.invariant
def automations_stay_in_one_home(ctx: Context) -> None:
    """An automation joins a sensor that can trip and a scene of the same home."""
    joined = PLACED.join(Automation.__table__, _AUTOMATION.sensor_id == DEVICE.id).join(
        Scene.__table__, _SCENE.id == _AUTOMATION.scene_id
    )
    strange = (
        select(_AUTOMATION.id)
        .select_from(joined)
        .where(or_(AREA.home_id != _SCENE.home_id, PRODUCT.trait.not_in(("motion", "contact", "leak", "smoke"))))
    )
    assert not ctx.rows(strange), f"automations across homes or without a trigger: {ctx.rows(strange)}"


@server.invariant
def every_lock_can_be_opened(ctx: Context) -> None:
    """Every lock keeps a permanent code, at most 8 codes, and only locks have codes."""
    codes: dict[str, list[str | None]] = {row["id"]: [] for row in ctx.rows(_LOCKS)}
    for row in ctx.rows(select(AccessCode.__table__)):
        assert row["lock_id"] in codes, f"code {row['id']} belongs to no lock"
        codes[row["lock_id"]].append(row["valid_until"])
    for lock, ends in codes.items():
        assert None in ends and len(ends) <= MOST_CODES, f"lock {lock} has codes that end on {ends}"


_LOCKS = select(DEVICE.id).where(DEVICE.type == "lock")


@server.invariant
def lights_that_are_only_switched_are_bright(ctx: Context) -> None:
    """A light that can't be dimmed is at 100 percent, on or off."""
    dimmed = select(DEVICE.id).select_from(PLACED).where(PRODUCT.trait == "switched", DEVICE.level != 100)
    assert not ctx.rows(dimmed), f"dimmed, though not dimmable: {ctx.rows(dimmed)}"

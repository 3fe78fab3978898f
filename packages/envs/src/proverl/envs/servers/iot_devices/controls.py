"""Commands to lights, plugs, blinds, thermostats and cameras."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected
from proverl.envs.servers.iot_devices import rules
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.tables import BlindId, CameraId, Device, LightId, PlugId, ThermostatId
from proverl.envs.state import Row

Power = Literal["on", "off"]
ThermostatMode = Literal["heat", "cool", "auto", "eco", "off"]

BLIND_BATTERY = 5  # percent under which the motor of a blind does not start
_RANGES = {"heats": (50, 300), "heats and cools": (90, 320)}  # targets in tenths of a degree
_FIRST_LOAD = 12  # watts that a plug shows as soon as it is switched on


class LightState(TypedDict):
    """A light after a command; brightness in percent, 0 when it is off."""

    light_id: LightId
    power: Power
    brightness: int


@server.tool(
    idempotent=True,
    phrases=[
        "adjust the lighting: turn {light_id} {power}[ at {brightness} percent]",
        "switch the bulb of {light_id} {power}[ with a brightness of {brightness} percent]",
        "set the lighting of {light_id} to {power}[, brightness {brightness} percent]",
        "make sure the lamp at {light_id} is {power}[ at {brightness} percent]",
        "change the lighting by turning {light_id} {power}[, with the brightness at {brightness} percent]",
    ],
    brief=[
        "change the lighting",
        "turn one of the lights {power}[ at {brightness} percent]",
        "adjust the lighting of {light_id}",
    ],
)
def set_light(
    ctx: Context,
    light_id: Annotated[LightId, "Light to switch"],
    power: Annotated[Power, "On or off"],
    brightness: Annotated[
        Annotated[int, Field(ge=1, le=100, examples=[10, 15, 25, 30, 40, 45, 55, 60, 70, 75, 85, 90])] | None,
        "Percent, only when turning on a dimmable light; as before if left out",
    ] = None,
) -> LightState:
    """Turn a light on or off, and dim it."""
    row = rules.online_device(ctx, light_id, "light")
    if brightness is not None and power == "off":
        raise Rejected(f"{light_id} can't be off at {brightness}%; turn it on for a brightness, or leave it out")
    if brightness is not None and row["trait"] != "dimmable":
        raise Rejected(f"light {light_id} ({row['name']}) is not dimmable; it can only be turned on or off")
    level = row["level"] if brightness is None else brightness
    ctx.update(Device, light_id, state=power, level=level)
    return {"light_id": light_id, "power": power, "brightness": level if power == "on" else 0}


class PlugState(TypedDict):
    """A plug after a command."""

    plug_id: PlugId
    power: Power


@server.tool(
    idempotent=True,
    phrases=[
        "switch the power at {plug_id} {power}",
        "turn whatever is plugged into {plug_id} {power}",
        "make sure the appliance at {plug_id} is switched {power}",
        "flip the wall socket at {plug_id} {power}",
        "set the power supply of {plug_id} to {power}",
    ],
    brief=[
        "switch a smart plug",
        "turn one of the smart plugs {power}",
        "switch the wall socket at {plug_id}",
    ],
)
def switch_plug(
    ctx: Context,
    plug_id: Annotated[PlugId, "Smart plug to switch"],
    power: Annotated[Power, "On or off"],
) -> PlugState:
    """Switch a smart plug on or off, and so what is plugged into it."""
    row = rules.online_device(ctx, plug_id, "plug")
    if row["child_lock"]:
        raise Rejected(
            f"the child lock of plug {plug_id} ({row['name']}) is on, so it stays {row['state']}; it can be switched "
            "once that lock is released at the plug"
        )
    watts = 0 if power == "off" else row["measured"] or _FIRST_LOAD
    ctx.update(Device, plug_id, state=power, measured=watts)
    return {"plug_id": plug_id, "power": power}


class BlindState(TypedDict):
    """A blind after a command; position in percent."""

    blind_id: BlindId
    position: int


@server.tool(
    idempotent=True,
    phrases=[
        "move {blind_id} to {position} percent open",
        "set the opening of {blind_id} to {position} percent",
        "adjust {blind_id} so that it is {position} percent open",
        "have {blind_id} stand {position} percent open",
        "leave {blind_id} {position} percent open",
    ],
    brief=[
        "move one of the blinds",
        "change how far {blind_id} is open",
        "set a blind to {position} percent open",
    ],
)
def set_blind_position(
    ctx: Context,
    blind_id: Annotated[BlindId, "Blind or shutter to move"],
    position: Annotated[
        int,
        Field(ge=0, le=100, examples=[0, 10, 15, 25, 30, 40, 60, 70, 75, 85, 90, 100]),
        "Percent open: 0 is closed, 100 fully open",
    ],
) -> BlindState:
    """Move a blind or shutter. A shutter is not lowered while a door or window of its area is open."""
    row = rules.online_device(ctx, blind_id, "blind")
    if row["battery"] is not None and row["battery"] < BLIND_BATTERY:
        raise Rejected(
            f"the battery of blind {blind_id} ({row['name']}) is at {row['battery']}%, too low to move; charge it first"
        )
    if row["trait"] == "shutter" and position < row["level"]:
        for contact in rules.open_contacts(ctx, row["area_id"]):
            raise Rejected(
                f"{contact['name']} ({contact['id']}) is open, so {blind_id} can't be lowered from {row['level']}%; "
                "close it first, or raise the shutter"
            )
    ctx.update(Device, blind_id, level=position)
    return {"blind_id": blind_id, "position": position}


class ThermostatState(TypedDict):
    """A thermostat after a command; degrees Celsius."""

    thermostat_id: ThermostatId
    mode: ThermostatMode
    target: float


def _thermostat_state(row: Row, mode: ThermostatMode, target: int) -> ThermostatState:
    return {"thermostat_id": row["id"], "mode": mode, "target": target / 10}


@server.tool(
    idempotent=True,
    phrases=[
        "set the heating and cooling of {thermostat_id} to {mode} mode",
        "switch the room climate at {thermostat_id} to {mode}",
        "put {thermostat_id} into the climate mode {mode}",
        "change the thermostat mode to {mode} for {thermostat_id}",
        "choose {mode} as the climate mode of {thermostat_id}",
    ],
    brief=[
        "change the mode of a thermostat",
        "put one of the thermostats into {mode} mode",
        "change the climate mode of {thermostat_id}",
    ],
)
def set_thermostat_mode(
    ctx: Context,
    thermostat_id: Annotated[ThermostatId, "Thermostat to change"],
    mode: Annotated[ThermostatMode, "cool and auto need a thermostat that can cool"],
) -> ThermostatState:
    """Set what a thermostat does: heat, cool, both (auto), save energy (eco) or nothing. It keeps its target."""
    row = rules.online_device(ctx, thermostat_id, "thermostat")
    if mode in ("cool", "auto") and row["trait"] == "heats":
        raise Rejected(f"thermostat {thermostat_id} ({row['product']}) only heats; its modes are heat, eco and off")
    ctx.update(Device, thermostat_id, state=mode)
    return _thermostat_state(row, mode, row["level"])


@server.tool(
    idempotent=True,
    phrases=[
        "set {thermostat_id} to {temperature} degrees",
        "adjust the target of {thermostat_id} to {temperature} degrees",
        "bring {thermostat_id} to {temperature} °C",
        "make it {temperature} degrees at {thermostat_id}",
        "have {thermostat_id} aim for {temperature} °C",
    ],
    brief=[
        "change the target temperature of a thermostat",
        "set one of the thermostats to {temperature} degrees",
        "adjust the temperature at {thermostat_id}",
    ],
)
def set_thermostat_temperature(
    ctx: Context,
    thermostat_id: Annotated[ThermostatId, "Thermostat in heat, cool or auto mode"],
    temperature: Annotated[
        float,
        Field(
            ge=-50,
            le=100,
            allow_inf_nan=False,
            examples=[17.5, 18.0, 18.5, 19.0, 19.5, 20.5, 21.0, 21.5, 22.5, 23.0, 24.0],
        ),
        "Target in degrees Celsius, in steps of 0.5",
    ],
) -> ThermostatState:
    """Set the target temperature of a thermostat that heats or cools; not in eco mode or when it is off."""
    row = rules.online_device(ctx, thermostat_id, "thermostat")
    if row["state"] in ("eco", "off"):
        other = "heat" if row["trait"] == "heats" else "heat, cool or auto"
        raise Rejected(
            f"thermostat {thermostat_id} ({row['name']}) is in {row['state']} mode; set its mode to {other} first"
        )
    low, high = _RANGES[row["trait"]]
    target = round(temperature * 10)
    if not low <= target <= high:
        raise Rejected(f"{temperature} °C is out of range: {thermostat_id} takes {low / 10} to {high / 10} °C")
    if temperature * 2 != round(temperature * 2):
        raise Rejected(f"{temperature} °C is no step of 0.5; use {round(temperature * 2) / 2} °C")
    ctx.update(Device, thermostat_id, level=target)
    return _thermostat_state(row, row["state"], target)


class CameraState(TypedDict):
    """A camera after a command."""

    camera_id: CameraId
    privacy: Power


@server.tool(
    phrases=[
        "turn {privacy} privacy mode for {camera_id}",
        "set the privacy mode of {camera_id} to {privacy}",
        "switch the privacy of {camera_id} {privacy}",
        "make sure privacy mode is {privacy} at {camera_id}",
        "change {camera_id} to privacy mode {privacy}",
    ],
    brief=[
        "change the privacy mode of a camera",
        "turn {privacy} privacy mode for one of the cameras",
        "change the privacy mode of {camera_id}",
    ],
)
def set_camera_privacy(
    ctx: Context,
    camera_id: Annotated[CameraId, "Camera to change"],
    privacy: Annotated[Power, "on: it sees and records nothing; off: it watches"],
) -> CameraState:
    """Turn the privacy mode of a camera on or off. It can't be turned on while the alarm is armed for away."""
    row = rules.online_device(ctx, camera_id, "camera")
    state = "private" if privacy == "on" else "live"
    if row["state"] == state:
        raise Rejected(f"privacy mode of camera {camera_id} ({row['name']}) is {privacy} already")
    if privacy == "on" and row["alarm"] == "armed_away":
        rules.disarmed(row, "turning on privacy mode of")
    ctx.update(Device, camera_id, state=state)
    return {"camera_id": camera_id, "privacy": privacy}

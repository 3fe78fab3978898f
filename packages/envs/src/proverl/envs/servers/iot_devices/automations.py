"""Automations: a scene runs whenever a sensor trips."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, select
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.iot_devices import rules, words
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.tables import Automation, AutomationId, HomeId, Scene, SceneId, SensorId

Active = Literal["always", "daytime", "night"]
AutomationState = Literal["enabled", "disabled"]
_AUTOMATION, _SCENE = Automation.__table__.c, Scene.__table__.c
_AUTOMATIONS = (
    select(Automation.__table__)
    .join_from(Automation.__table__, Scene.__table__, _SCENE.id == _AUTOMATION.scene_id)
    .where(_SCENE.home_id == bindparam("home"))
    .order_by(_AUTOMATION.name, _AUTOMATION.id)
)
_SAME = select(_AUTOMATION.id).where(
    _AUTOMATION.sensor_id == bindparam("sensor"), _AUTOMATION.scene_id == bindparam("scene")
)


class AutomationItem(TypedDict):
    """An automation in a list."""

    automation_id: AutomationId
    name: str
    sensor_id: SensorId
    scene_id: SceneId
    active: Active
    state: AutomationState


class AutomationList(TypedDict):
    """The automations of a home."""

    automations: list[AutomationItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the automations of {home_id}",
        "show me what runs by itself in {home_id}",
        "look up which automations {home_id} has",
        "check the automations set up at {home_id}",
        "go through the automations in {home_id} and what trips them",
    ],
    brief=[
        "list the automations of a home",
        "show me what runs by itself in one of my homes",
    ],
)
def list_automations(ctx: Context, home_id: Annotated[HomeId, "Home that has the automations"]) -> AutomationList:
    """List the automations of a home with the sensor that trips each, the scene that it runs, and when."""
    rules.home(ctx, home_id)
    return {
        "automations": [
            {
                "automation_id": row["id"],
                "name": row["name"],
                "sensor_id": row["sensor_id"],
                "scene_id": row["scene_id"],
                "active": row["active"],
                "state": row["state"],
            }
            for row in ctx.rows(_AUTOMATIONS, home=home_id)
        ]
    }


class ChangedAutomation(TypedDict):
    """An automation after a change."""

    automation_id: AutomationId
    name: str
    state: AutomationState


@server.tool(
    phrases=[
        "create an automation called {name} that runs {scene_id} when {sensor_id} trips[, active {active}]",
        "set up the automation {name} so {scene_id} runs whenever {sensor_id} is triggered[, active {active}]",
        "automate {scene_id} with {sensor_id} as its trigger and {name} as its name[, active {active}]",
        "have {sensor_id} start {scene_id} by itself under the name {name}[, active {active}]",
        "make {scene_id} run automatically as soon as {sensor_id} trips and call the automation {name}"
        "[, active {active}]",
    ],
    brief=[
        "set up an automation",
        "create an automation that runs {scene_id} when {sensor_id} trips",
        "automate {scene_id} under the name {name}",
    ],
)
def create_automation(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(max_length=60, examples=list(words.AUTOMATION_NAMES))], "Name of the automation"
    ],
    sensor_id: Annotated[SensorId, "Motion, contact, leak or smoke sensor that trips it"],
    scene_id: Annotated[SceneId, "Scene of the same home that it runs"],
    active: Annotated[Active, "When it may run"] = "always",
) -> ChangedAutomation:
    """Create an automation: whenever a sensor trips (motion, opened, leak, smoke), a scene of the same home runs."""
    sensor = rules.online_device(ctx, sensor_id, "sensor")
    scene = ctx.get(Scene, scene_id, "list_scenes names the scenes of a home")
    if sensor["trait"] in ("temperature", "humidity"):
        raise Rejected(
            f"sensor {sensor_id} measures {sensor['trait']} and never trips; use one for motion, contact, leak or smoke"
        )
    if sensor["home_id"] != scene["home_id"]:
        raise Rejected(
            f"sensor {sensor_id} is in home {sensor['home_id']}, scene {scene_id} in {scene['home_id']}; "
            "use two of the same home"
        )
    for same in ctx.rows(_SAME, sensor=sensor_id, scene=scene_id):
        raise Rejected(
            f"automation {same['id']} runs {scene_id} on {sensor_id} already; set_automation_state enables it"
        )
    row = ctx.insert(Automation, name=name, sensor_id=sensor_id, scene_id=scene_id, active=active, state="enabled")
    return {"automation_id": row["id"], "name": name, "state": "enabled"}


@server.tool(
    phrases=[
        "set {automation_id} to {state}",
        "change the state of {automation_id} to {state}",
        "mark {automation_id} as {state}",
        "make sure {automation_id} is {state}",
        "have {automation_id} {state} from now on",
    ],
    brief=[
        "change the state of an automation",
        "have one of the automations {state}",
        "change the state of {automation_id}",
    ],
)
def set_automation_state(
    ctx: Context,
    automation_id: Annotated[AutomationId, "Automation to change"],
    state: Annotated[AutomationState, "enabled: it runs; disabled: it is kept but does not run"],
) -> ChangedAutomation:
    """Enable or disable an automation. It can only be enabled while its sensor is online."""
    row = ctx.get(Automation, automation_id, "list_automations names the automations of a home")
    if row["state"] == state:
        raise Rejected(f"automation {automation_id} ({row['name']}) is {state} already")
    if state == "enabled":
        rules.online_device(ctx, row["sensor_id"], "sensor")
    ctx.update(Automation, automation_id, state=state)
    return {"automation_id": automation_id, "name": row["name"], "state": state}

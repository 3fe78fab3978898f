"""Scenes: states that devices of a home take together."""

from typing import Annotated

from pydantic import Field
from sqlalchemy import bindparam, exists, func, insert, select, update
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.iot_devices import rules, words
from proverl.envs.servers.iot_devices.app import server
from proverl.envs.servers.iot_devices.controls import BLIND_BATTERY
from proverl.envs.servers.iot_devices.rules import DEVICE, PRODUCT
from proverl.envs.servers.iot_devices.tables import (
    Area,
    AreaId,
    Device,
    DeviceId,
    HomeId,
    Product,
    Scene,
    SceneAction,
    SceneId,
)
from proverl.envs.state import Row

_MOST_SCENES = 16
_SCENE, _ACTION = Scene.__table__.c, SceneAction.__table__.c
_SCENES = (
    select(Scene.__table__, func.count(_ACTION.device_id).label("devices"))
    .select_from(Scene.__table__.outerjoin(SceneAction.__table__, _ACTION.scene_id == _SCENE.id))
    .where(_SCENE.home_id == bindparam("home"))
    .group_by(_SCENE.id)
    .order_by(_SCENE.name, _SCENE.id)
)
_NAMES = select(_SCENE.name).where(_SCENE.home_id == bindparam("home"))
_STATES = (
    select(DEVICE.id, DEVICE.type, DEVICE.state, DEVICE.level, PRODUCT.trait)
    .join_from(Device.__table__, Product.__table__, PRODUCT.name == DEVICE.product)
    .where(
        DEVICE.area_id == bindparam("area"),
        DEVICE.type.in_(("light", "plug", "blind", "thermostat")),
        DEVICE.status == "online",
        DEVICE.child_lock.is_(False),
    )
    .order_by(DEVICE.id)
)
_CONTACT = Device.__table__.alias("contact")
_ACTIONS = (
    select(
        _ACTION.device_id,
        _ACTION.state,
        _ACTION.level,
        DEVICE.type,
        DEVICE.status,
        DEVICE.battery,
        DEVICE.level.label("level_now"),
        DEVICE.measured,
        PRODUCT.trait,
        exists().where(_CONTACT.c.area_id == DEVICE.area_id, _CONTACT.c.state == "open").label("something_open"),
    )
    .select_from(
        SceneAction.__table__.join(Device.__table__, DEVICE.id == _ACTION.device_id).join(
            Product.__table__, PRODUCT.name == DEVICE.product
        )
    )
    .where(_ACTION.scene_id == bindparam("scene"))
    .order_by(_ACTION.device_id)
)
_ADD_ACTIONS = insert(SceneAction)
_APPLY = (
    update(Device)
    .where(DEVICE.id == bindparam("device"))
    .values(state=bindparam("to_state"), level=bindparam("to_level"), measured=bindparam("to_measured"))
)


class SceneItem(TypedDict):
    """A scene in a list, with how many devices it sets."""

    scene_id: SceneId
    name: str
    devices: int
    last_run_on: str | None


class SceneList(TypedDict):
    """The scenes of a home."""

    scenes: list[SceneItem]


@server.tool(
    read_only=True,
    phrases=[
        "list the scenes of {home_id}",
        "show me which scenes {home_id} has",
        "look up the scenes set up in {home_id}",
        "check what scenes can be run at {home_id}",
        "tell me when the scenes of {home_id} were last run",
    ],
    brief=[
        "list the scenes of a home",
        "check what scenes can be run in one of my homes",
    ],
)
def list_scenes(ctx: Context, home_id: Annotated[HomeId, "Home that has the scenes"]) -> SceneList:
    """List the scenes of a home and when each was last run."""
    rules.home(ctx, home_id)
    return {
        "scenes": [
            {
                "scene_id": row["id"],
                "name": row["name"],
                "devices": row["devices"],
                "last_run_on": row["last_run_on"],
            }
            for row in ctx.rows(_SCENES, home=home_id)
        ]
    }


class CreatedScene(TypedDict):
    """A new scene, with how many devices it sets."""

    scene_id: SceneId
    name: str
    devices: int


@server.tool(
    phrases=[
        "save the present state of {area_id} as a scene called {name}",
        "create the scene {name} from how {area_id} is right now",
        "store what is set in {area_id} as the scene {name}",
        "remember the way {area_id} is as the scene {name}",
        "make a scene named {name} out of the current settings of {area_id}",
    ],
    brief=[
        "save a new scene",
        "save the present state of {area_id} as a scene",
        "create a scene called {name}",
    ],
)
def create_scene(
    ctx: Context,
    area_id: Annotated[AreaId, "Area whose present state the scene keeps"],
    name: Annotated[
        Annotated[Text, Field(max_length=40, examples=list(words.SCENE_NAMES))], "Name, unique in the home"
    ],
) -> CreatedScene:
    """Save the present state of an area's online lights, plugs, blinds and thermostats as a scene of its home."""
    area = ctx.get(Area, area_id, "list_areas names the areas of a home")
    names = [row["name"].casefold() for row in ctx.rows(_NAMES, home=area["home_id"])]
    if name.casefold() in names:
        raise Rejected(f"home {area['home_id']} has a scene called {name!r} already; choose another name")
    if len(names) >= _MOST_SCENES:
        raise Rejected(f"home {area['home_id']} has {len(names)} scenes; at most {_MOST_SCENES} are allowed")
    states = ctx.rows(_STATES, area=area_id)
    if not states:
        raise Rejected(
            f"area {area_id} ({area['name']}) has no online light, plug, blind or thermostat; choose one that has"
        )
    scene = ctx.insert(Scene, home_id=area["home_id"], name=name, last_run_on=None)
    ctx.db.execute(_ADD_ACTIONS, [{"scene_id": scene["id"], **_action(row)} for row in states])
    return {"scene_id": scene["id"], "name": name, "devices": len(states)}


def _action(row: Row) -> Row:
    """What a scene keeps of a device: of lights that are off or can't be dimmed no brightness."""
    plain = row["type"] == "light" and (row["state"] == "off" or row["trait"] != "dimmable")
    return {"device_id": row["id"], "state": row["state"], "level": None if plain else row["level"]}


class RunScene(TypedDict):
    """What a scene did: how many devices took their state, and which could not."""

    scene_id: SceneId
    devices_set: int
    skipped_device_ids: list[DeviceId]


@server.tool(
    phrases=[
        "run {scene_id}",
        "activate {scene_id}",
        "start {scene_id} now",
        "set everything the way {scene_id} has it",
        "put {scene_id} into effect",
    ],
    brief=[
        "run a scene",
        "activate one of the scenes",
    ],
)
def activate_scene(ctx: Context, scene_id: Annotated[SceneId, "Scene to run"]) -> RunScene:
    """Run a scene: its devices take the saved states. Devices that are offline or can't move are skipped."""
    ctx.get(Scene, scene_id, "list_scenes names the scenes of a home")
    actions = ctx.rows(_ACTIONS, scene=scene_id)
    possible = [row for row in actions if _possible(row)]
    if not possible:
        raise Rejected(
            f"none of the {len(actions)} devices of scene {scene_id} can be set now; run one with online devices"
        )
    ctx.db.execute(_APPLY, [_applied(row) for row in possible])
    ctx.update(Scene, scene_id, last_run_on=ctx.today)
    skipped = [row["device_id"] for row in actions if not _possible(row)]
    return {"scene_id": scene_id, "devices_set": len(possible), "skipped_device_ids": skipped}


def _possible(row: Row) -> bool:
    if row["type"] == "blind":
        flat = row["battery"] is not None and row["battery"] < BLIND_BATTERY
        blocked = row["trait"] == "shutter" and row["something_open"] and row["level"] < row["level_now"]
        if flat or blocked:
            return False
    return bool(row["status"] == "online")


def _applied(row: Row) -> Row:
    level = row["level_now"] if row["level"] is None else row["level"]
    watts = (row["measured"] or 0) * (row["state"] == "on") if row["type"] == "plug" else row["measured"]
    return {"device": row["device_id"], "to_state": row["state"], "to_level": level, "to_measured": watts}

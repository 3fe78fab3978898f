"""The platform on the morning of a session: six homes with about 180 devices.

Awkward on purpose: "Ceiling light" and "Thermostat" in several rooms, an attic without devices, devices that are
offline, flat or behind with their firmware, an open window, a jammed lock, expired codes, a lock whose memory is full.
"""

from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import FIRST_NAMES
from proverl.envs.servers.iot_devices import words
from proverl.envs.servers.iot_devices.tables import (
    AccessCode,
    Area,
    Automation,
    Device,
    Home,
    Product,
    Scene,
    SceneAction,
)
from proverl.envs.state import Row

MOST_CODES = 8
_ALARMS = ("disarmed", "disarmed", "disarmed", "disarmed", "armed_home", "armed_away")
_RESTING = {
    "contact": "closed", "motion": "clear", "leak": "dry", "smoke": "clear", "temperature": "normal",
    "humidity": "normal",
}  # fmt: skip


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    for name, (maker, type_, trait, _, firmware) in words.PRODUCTS.items():
        draft.add(Product, name=name, maker=maker, type=type_, trait=trait, newest_firmware=firmware[-1])
    homes = _homes(draft)
    placed = {
        home["id"]: [device for area in _areas(draft, home) for device in _devices(draft, area)] for home in homes
    }
    _trouble(draft, homes, placed)
    for home in homes:
        locks = [device for device in placed[home["id"]] if device["type"] == "lock"]
        for lock in locks:
            _codes(draft, lock, rng.choice((2, 3, 3, 4, 5)))
    _fill_code_memory(draft)
    for home in homes:
        _automations(draft, placed[home["id"]], _scenes(draft, home, placed[home["id"]]))
    return draft.rows


def _homes(draft: Draft) -> list[Row]:
    rng = draft.rng
    names, cities, alarms = rng.sample(words.HOMES, 6), rng.sample(rng.choice(words.REGIONS), 6), rng.sample(_ALARMS, 6)
    return [
        draft.add(Home, name=name, city=city, alarm=alarm, alarm_pin=f"{rng.randrange(1_000, 10_000)}")
        for name, city, alarm in zip(names, cities, alarms, strict=True)
    ]


def _areas(draft: Draft, home: Row) -> list[Row]:
    others = list(words.MORE)
    extra = sorted(draft.rng.sample(others[:-1], draft.rng.choice((1, 2, 2, 3))), key=others.index)
    if home is draft.rows[Home][2]:
        extra.append("Attic")
    return [draft.add(Area, home_id=home["id"], name=name) for name in (*words.LIVING, *extra)]


def _devices(draft: Draft, area: Row) -> list[Row]:
    contents = {**words.LIVING, **words.MORE}[area["name"]]
    warmth = draft.rng.randint(172, 232)  # what all thermometers of the area agree on, more or less
    return [
        draft.add(Device, area_id=area["id"], name=name, **_device_values(draft.rng, kind, name, warmth))
        for kind, name, percent in contents
        if draft.rng.randrange(100) < percent
    ]


def _device_values(rng: Random, kind: str, name: str, warmth: int) -> Row:
    """A device of a type, or of a trait that only one type has."""
    fitting = words.KINDS.get(kind) or [product for product, facts in words.PRODUCTS.items() if kind in facts[1:3]]
    if name in words.SWITCHED_LIGHTS:
        fitting = ["Plus 1"]
    product = rng.choice(fitting)
    _, type_, trait, on_battery, releases = words.PRODUCTS[product]
    return {
        "type": type_,
        "product": product,
        "status": "online",
        "battery": rng.randint(32, 100) if on_battery else None,
        "firmware": rng.choice(releases),
        "child_lock": name in words.ALWAYS_ON,
        **_reported(rng, type_, trait, name, warmth),
    }


def _reported(rng: Random, type_: str, trait: str, name: str, warmth: int) -> Row:
    """What a device of a type last reported: `state`, `level`, `measured`."""
    if type_ == "light":
        dimmed = rng.choice((20, 35, 50, 65, 80, 100)) if trait == "dimmable" else 100
        return {"state": rng.choice(("on", "off", "off")), "level": dimmed, "measured": None}
    if type_ == "plug":
        on = name in words.ALWAYS_ON or rng.random() < 0.5
        return {"state": "on" if on else "off", "level": None, "measured": rng.randint(3, 180) if on else 0}
    if type_ == "blind":
        return {"state": "still", "level": rng.choice((0, 20, 50, 80, 100, 100)), "measured": None}
    if type_ == "thermostat":
        modes = ("heat", "heat", "heat", "eco", "off") if trait == "heats" else ("heat", "auto", "cool", "off")
        mode = rng.choice(modes)
        target = rng.randrange(235, 265, 5) if mode == "cool" else rng.randrange(180, 225, 5)
        return {"state": mode, "level": target, "measured": warmth + rng.randint(-3, 3)}
    if type_ == "sensor":
        measured = {"temperature": warmth + rng.randint(-4, 4), "humidity": rng.randint(38, 67)}.get(trait)
        return {"state": _RESTING[trait], "level": None, "measured": measured}
    return {"state": "locked" if type_ == "lock" else "live", "level": None, "measured": None}


def _trouble(draft: Draft, homes: list[Row], placed: dict[str, list[Row]]) -> None:
    """What is not as it should be; homes under an armed alarm stay as they were when it was armed."""
    rng = draft.rng
    calm = [home for home in homes if home["alarm"] == "disarmed"]
    _set_one(rng, placed[calm[1]["id"]], "Front door", "unlocked")
    _set_one(rng, placed[calm[2]["id"]], rng.choice(("Kitchen window", "Terrace door")), "open")
    _set_one(rng, placed[calm[3]["id"]], "Front door", "jammed" if rng.random() < 0.5 else "unlocked")
    for home in calm[1:]:
        devices = placed[home["id"]]
        for device in devices:
            if device["type"] == "camera" and rng.random() < 0.5:
                device["state"] = "private"
            if device["name"].endswith("motion") and rng.random() < 0.3:
                device["state"] = "motion"
    everything = [device for devices in placed.values() for device in devices]
    for device in rng.sample(everything, 9):
        device["status"] = "offline"
    for device in rng.sample([device for device in everything if device["battery"] is not None], 9):
        device["battery"] = rng.choice((0, 7, 9, 11, 14, 18) if device["type"] != "blind" else (2, 3, 4))
        if device["battery"] == 0:
            device["status"] = "offline"


def _set_one(rng: Random, devices: list[Row], name: str, state: str) -> None:
    wanted = [device for device in devices if device["name"] == name]
    closable = [device for device in devices if device["state"] == "closed"]
    for device in wanted or closable[: state == "open"]:
        device["state"] = state


def _codes(draft: Draft, lock: Row, count: int) -> None:
    """Codes of a lock: the owner's is permanent, some of the others end or have ended."""
    rng = draft.rng
    others = rng.sample((*words.HOLDERS, *FIRST_NAMES), count - 1)
    codes = rng.sample(range(100_000, 1_000_000), count)
    for holder, code in zip(("Owner", *others), codes, strict=True):
        ends = None if holder == "Owner" else rng.choice((None, None, -rng.randint(2, 90), rng.randint(1, 45)))
        used = min(ends or 0, 0) - rng.randint(1, 40)
        draft.add(
            AccessCode,
            lock_id=lock["id"],
            holder=holder,
            code=str(code),
            valid_until=None if ends is None else draft.day(ends),
            last_used_on=draft.day(used) if rng.random() < 0.8 else None,
        )


def _fill_code_memory(draft: Draft) -> None:
    """One lock has as many codes as it can keep."""
    online = {device["id"] for device in draft.rows[Device] if device["status"] == "online"}
    full = next(code["lock_id"] for code in draft.rows[AccessCode] if code["lock_id"] in online)
    held = [code["holder"] for code in draft.rows[AccessCode] if code["lock_id"] == full]
    for holder in [holder for holder in words.HOLDERS if holder not in held][: MOST_CODES - len(held)]:
        code = str(draft.rng.randrange(10**6, 10**7))  # seven digits, so that no other code of the lock equals it
        draft.add(AccessCode, lock_id=full, holder=holder, code=code, valid_until=None, last_used_on=None)


def _scenes(draft: Draft, home: Row, devices: list[Row]) -> list[Row]:
    rng = draft.rng
    scenes = []
    fixed = [scene for scene in words.SCENES if scene[0] in words.EVERY_HOME]
    others = [scene for scene in words.SCENES if scene not in fixed]
    for name, power, brightness, opening, target in (*fixed, *rng.sample(others, rng.choice((1, 2, 2, 3)))):
        used = None if rng.random() < 0.2 else draft.day(-rng.randint(1, 60))
        scene = draft.add(Scene, home_id=home["id"], name=name, last_run_on=used)
        lights = [device for device in devices if device["type"] == "light"]
        for device in rng.sample(lights, rng.randint(2, len(lights))):
            dimmed = power == "on" and words.PRODUCTS[device["product"]][2] == "dimmable"
            values = {"state": power, "level": brightness if dimmed else None}
            draft.add(SceneAction, scene_id=scene["id"], device_id=device["id"], **values)
        for type_, state, level in (("blind", "still", opening), ("thermostat", "heat", target)):
            for device in devices:
                if device["type"] == type_ and level is not None and rng.random() < 0.6:
                    values = {"state": state, "level": level}
                    draft.add(SceneAction, scene_id=scene["id"], device_id=device["id"], **values)
        scenes.append(scene)
    return scenes


def _automations(draft: Draft, devices: list[Row], scenes: list[Row]) -> None:
    rng = draft.rng
    by_name = {scene["name"]: scene for scene in scenes}
    tripping = [(device, words.TRIPS[sensed]) for device in devices if (sensed := _sensed(device)) in words.TRIPS]
    for sensor, (name, active) in rng.sample(tripping, min(len(tripping), rng.choice((3, 4, 5)))):
        scene = by_name[name]
        draft.add(
            Automation,
            name=f"{sensor['name']}: {scene['name']}",
            sensor_id=sensor["id"],
            scene_id=scene["id"],
            active=rng.choice(active),
            state=rng.choice(("enabled", "enabled", "disabled")),
        )


def _sensed(device: Row) -> str:
    """What trips a sensor: its trait, but door or window where it is a contact."""
    trait = words.PRODUCTS[device["product"]][2]
    if trait != "contact":
        return trait
    return "window" if "window" in device["name"] else "door"

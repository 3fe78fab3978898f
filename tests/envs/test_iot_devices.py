"""The smart homes: what their tools do across tools, every refusal, what each law notices."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import CursorResult, text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

SERVER = load_server("iot_devices")
ON = {"status": "online"}
KINDS = ("lights", "plugs", "blinds", "thermostats", "locks", "sensors", "cameras")


class Homes:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int) -> None:
        self.session = Session([SERVER], seed)
        self.homes, self.devices, self.areas = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def find(self, **wanted: Any) -> dict[str, Any] | None:
        return next((row for row in self.devices if wanted.items() <= row.items()), None)

    def state(self, device: str) -> str:
        return self.read("get_device", device_id=device)["state"]

    def pin(self, home: str) -> str:
        return self.read("reveal_alarm_pin", home_id=home)["alarm_pin"]

    def code(self, lock: str) -> str:
        return self.read("reveal_access_code", lock_id=lock)["access_code"]

    def codes(self, lock: str) -> list[dict[str, Any]]:
        return self.read("list_access_codes", lock_id=lock)["access_codes"]

    def sql(self, statement: str, **values: str) -> CursorResult[Any]:
        """What no tool does: look at digits, take devices off line."""
        return self.session._state(SERVER).execute(text(statement), values)

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()


@cache
def start_of(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Homes, devices with all that callers can see of them, and areas of a start state."""
    with Session([SERVER], seed) as session:
        homes = session.call("list_homes", {}).content["homes"]
        ready = {home["home_id"] for home in homes if _can_be_armed(seed, home["home_id"])}
        devices, areas = [], []
        for home in homes:
            of_home = {"home_id": home["home_id"], "alarm": home["alarm"]}
            for item in session.call("list_devices", {"home_id": home["home_id"], "limit": 50}).content["devices"]:
                view = session.call("get_device", {"device_id": item["device_id"]}).content
                facts = {
                    "id": item["device_id"],
                    "newest": view["firmware"] == view["newest_firmware"],
                    "low": view["battery"] is not None and view["battery"] < 30,
                    "ready": home["home_id"] in ready,
                    "full": len(_codes(session, item)) == 8,
                    "heats": view["state"].startswith("heat"),
                }
                devices.append({**of_home, **item, **view, **facts, "state": view["state"].split(",")[0]})
            for area in session.call("list_areas", {"home_id": home["home_id"]}).content["areas"]:
                areas.append({**of_home, **area})
    return homes, devices, areas


def _can_be_armed(seed: int, home: str) -> bool:
    with Session([SERVER], seed) as session:
        return session.call("arm_home_alarm", {"home_id": home, "level": "away"}).ok


def _codes(session: Session, device: dict[str, Any]) -> list[Any]:
    if device["type"] != "lock":
        return []
    return session.call("list_access_codes", {"lock_id": device["device_id"]}).content["access_codes"]


def everywhere() -> Iterator[Homes]:
    return (Homes(seed) for seed in range(12))


def anywhere(**wanted: Any) -> tuple[Homes, dict[str, Any]]:
    """The first start state that has such a device."""
    for homes in everywhere():
        found = homes.find(**wanted)
        if found is not None:
            return homes, found
    raise AssertionError(f"no start state has {wanted}")


# What the tools do


def test_an_area_shows_its_devices_by_type_as_the_list_does():
    homes = Homes(1)
    listed = {row["id"]: row["type"] for row in homes.devices}
    shown = {}
    for area in homes.areas:
        view = homes.read("get_area", area_id=area["area_id"])
        found = {item[f"{kind[:-1]}_id"]: kind[:-1] for kind in KINDS for item in view[kind]}
        assert len(found) == area["devices"]
        shown |= found
    assert shown == listed
    assert any(area["devices"] == 0 for area in homes.areas)


def test_a_light_is_dimmed_and_keeps_its_brightness_while_it_is_off():
    homes, light = anywhere(type="light", **ON, model="IKEA TRÅDFRI E27 806 lm")
    assert homes.read("set_light", light_id=light["id"], power="on", brightness=35)["brightness"] == 35
    assert homes.read("set_light", light_id=light["id"], power="off")["brightness"] == 0
    assert homes.state(light["id"]) == "off"
    assert homes.read("set_light", light_id=light["id"], power="on")["brightness"] == 35
    assert homes.state(light["id"]) == "on at 35%"


def test_a_plug_that_is_off_draws_no_power():
    homes, plug = anywhere(type="plug", **ON, child_lock=False)
    for power in ("on", "off"):
        assert homes.read("switch_plug", plug_id=plug["id"], power=power)["power"] == power
        assert homes.state(plug["id"]).startswith(power)
    assert "W" not in homes.state(plug["id"])


def test_a_thermostat_keeps_its_target_when_its_mode_changes():
    homes, thermostat = anywhere(type="thermostat", **ON)
    of = {"thermostat_id": thermostat["id"]}
    homes.read("set_thermostat_mode", **of, mode="heat")
    assert homes.read("set_thermostat_temperature", **of, temperature=19.5)["target"] == 19.5
    assert homes.read("set_thermostat_mode", **of, mode="off")["target"] == 19.5
    assert homes.read("set_thermostat_mode", **of, mode="heat") == {**of, "mode": "heat", "target": 19.5}


def test_the_alarm_is_armed_once_the_lock_is_locked_and_disarmed_with_its_pin():
    homes, lock = anywhere(type="lock", state="locked", alarm="disarmed", ready=True, **ON)
    here, unlock = {"home_id": lock["home_id"]}, {"lock_id": lock["id"], "access_code": homes.code(lock["id"])}
    homes.read("unlock_smart_lock", **unlock)
    assert homes.day(0) in [row["last_used_on"] for row in homes.codes(lock["id"])]
    assert "lock it with lock_smart_lock" in homes.call("arm_home_alarm", **here, level="away").message
    homes.read("lock_smart_lock", lock_id=lock["id"])
    assert homes.read("arm_home_alarm", **here, level="away")["alarm"] == "armed_away"
    assert "disarm_home_alarm before unlocking" in homes.call("unlock_smart_lock", **unlock).message
    assert homes.read("disarm_home_alarm", **here, alarm_pin=homes.pin(lock["home_id"]))["alarm"] == "disarmed"
    assert homes.read("unlock_smart_lock", **unlock)["state"] == "unlocked"


def test_a_code_opens_its_lock_until_it_is_deleted():
    homes, lock = anywhere(type="lock", **ON, state="locked", alarm="disarmed")
    created = homes.read("create_access_code", lock_id=lock["id"], holder="Tailor", access_code="915308")
    assert created["access_code_id"] in [row["access_code_id"] for row in homes.codes(lock["id"])]
    assert homes.call("unlock_smart_lock", lock_id=lock["id"], access_code="915308").ok
    assert homes.call("lock_smart_lock", lock_id=lock["id"]).ok
    homes.read("delete_access_code", access_code_id=created["access_code_id"])
    assert "wrong code" in homes.call("unlock_smart_lock", lock_id=lock["id"], access_code="915308").message


def test_codes_that_end_need_the_newest_firmware_which_an_update_brings():
    homes, lock = anywhere(type="lock", newest=False, low=False, full=False, alarm="disarmed", **ON)
    arguments = {"lock_id": lock["id"], "holder": "Tailor", "access_code": "915308", "valid_until": homes.day(3)}
    assert "codes that end need" in homes.call("create_access_code", **arguments).message
    updated = homes.read("update_device_firmware", device_id=lock["id"])
    assert updated["firmware"] == lock["newest_firmware"]
    assert homes.read("create_access_code", **arguments)["valid_until"] == homes.day(3)


def test_a_scene_brings_back_what_it_saved():
    homes, light = anywhere(type="light", **ON, model="IKEA TRÅDFRI E27 806 lm")
    homes.read("set_light", light_id=light["id"], power="on", brightness=35)
    scene = homes.read("create_scene", area_id=light["area_id"], name="Knitting")
    homes.read("set_light", light_id=light["id"], power="off")
    run = homes.read("activate_scene", scene_id=scene["scene_id"])
    assert homes.state(light["id"]) == "on at 35%"
    assert (run["devices_set"], run["skipped_device_ids"]) == (scene["devices"], [])
    listed = homes.read("list_scenes", home_id=light["home_id"])["scenes"]
    assert {**scene, "last_run_on": homes.day(0)} in listed


def test_a_scene_skips_devices_that_are_offline():
    homes, light = anywhere(type="light", **ON)
    scene = homes.read("create_scene", area_id=light["area_id"], name="Knitting")
    homes.sql("UPDATE device SET status = 'offline' WHERE type = 'light' AND id != :id", id=light["id"])
    run = homes.read("activate_scene", scene_id=scene["scene_id"])
    assert run["devices_set"] + len(run["skipped_device_ids"]) == scene["devices"]
    assert light["id"] not in run["skipped_device_ids"]
    assert all(homes.state(device) == "offline" for device in run["skipped_device_ids"])


def test_an_automation_joins_a_sensor_and_a_new_scene_and_can_be_disabled():
    homes, sensor = anywhere(type="sensor", **ON, name="Hallway motion")
    scene = homes.read("create_scene", area_id=sensor["area_id"], name="Knitting")["scene_id"]
    made = homes.read("create_automation", name="Come in", sensor_id=sensor["id"], scene_id=scene)
    homes.read("set_automation_state", automation_id=made["automation_id"], state="disabled")
    listed = homes.read("list_automations", home_id=sensor["home_id"])["automations"]
    kept = {"sensor_id": sensor["id"], "scene_id": scene, "active": "always", "state": "disabled"}
    assert {**made, **kept} in listed


def test_devices_are_listed_by_type_and_by_what_they_need():
    homes = Homes(2)
    for home in (row["home_id"] for row in homes.homes):
        of_home = [row for row in homes.devices if row["home_id"] == home]
        need = {
            "offline": [row["id"] for row in of_home if row["status"] == "offline"],
            "low_battery": [row["id"] for row in of_home if row["battery"] is not None and row["battery"] < 20],
            "update_available": [row["id"] for row in of_home if row["firmware"] != row["newest_firmware"]],
        }
        for attention, expected in need.items():
            listed = homes.read("list_devices", home_id=home, attention=attention, limit=50)["devices"]
            assert [row["device_id"] for row in listed] == expected
        lights = homes.read("list_devices", home_id=home, type="light", limit=3)["devices"]
        assert [row["device_id"] for row in lights] == [row["id"] for row in of_home if row["type"] == "light"][:3]


# Refusals


VALVE = {"model": "Danfoss Ally Radiator Thermostat", **ON}
OF_DEVICES = (  # the device, the tool, what else is given, what the message says
    ({"type": "light", "status": "offline"}, "set_light", {"power": "on"}, "is offline: it has lost its connection"),
    ({"type": "lock", "battery": 0}, "lock_smart_lock", {}, "is offline: its battery is empty; only online devices"),
    ({"type": "light", **ON}, "set_light", {"power": "off", "brightness": 20}, "can't be off at 20%; turn it on"),
    ({"model": "Shelly Plus 1", **ON}, "set_light", {"power": "on", "brightness": 9}, "is not dimmable"),
    ({"name": "Fridge", **ON}, "switch_plug", {"power": "off"}, "so it stays on; it can be switched once that lock is"),
    (VALVE, "set_thermostat_mode", {"mode": "cool"}, "only heats; its modes are heat, eco and off"),
    ({**VALVE, "state": "off"}, "set_thermostat_temperature", {"temperature": 20.0}, "set its mode to heat first"),
    ({**VALVE, "heats": True}, "set_thermostat_temperature", {"temperature": 35.0}, "takes 5.0 to 30.0 °C"),
    ({**VALVE, "heats": True}, "set_thermostat_temperature", {"temperature": 20.3}, "no step of 0.5; use 20.5 °C"),
    ({"type": "camera", "state": "live", **ON}, "set_camera_privacy", {"privacy": "off"}, "is off already"),
    (
        {"type": "camera", "alarm": "armed_away", **ON},
        "set_camera_privacy",
        {"privacy": "on"},
        "disarm_home_alarm before",
    ),
    ({"type": "light", "newest": True, **ON}, "update_device_firmware", {}, "the newest firmware; no update is needed"),
    ({"type": "sensor", "newest": False, "low": True, **ON}, "update_device_firmware", {}, "to at least 30% before"),
    (
        {"type": "sensor", "newest": False, "low": False, "alarm": "armed_away", **ON},
        "update_device_firmware",
        {},
        "disarm_home_alarm before updating",
    ),
    ({"type": "lock", "state": "locked", **ON}, "lock_smart_lock", {}, "is locked already"),
    ({"type": "lock", "state": "jammed", **ON}, "lock_smart_lock", {}, "must be freed by hand at the door"),
    ({"type": "lock", "state": "unlocked", **ON}, "unlock_smart_lock", {"access_code": "482715"}, "unlocked already"),
    (
        {"type": "lock", "state": "locked", **ON},
        "unlock_smart_lock",
        {"access_code": "00000000"},
        "wrong code for lock",
    ),
)


def refused(homes: Homes, name: str, arguments: dict[str, Any], message: str) -> None:
    before = homes.session.digest()
    result = homes.call(name, **arguments)
    assert (result.code, message in result.message) == (ErrorCode.REJECTED, True), result
    assert homes.session.digest() == before


@pytest.mark.parametrize(("wanted", "name", "more", "message"), OF_DEVICES)
def test_a_command_that_a_device_cannot_take_is_refused(wanted, name, more, message):
    homes, row = anywhere(**wanted)
    kind = next(key for key in SERVER.functions[name].tool.parameters["properties"] if key.endswith("_id"))
    refused(homes, name, {kind: row["id"], **more}, message)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("away", "is armed_away already; disarm_home_alarm turns it off"),
        ("home", "disarm it before it is armed for home, a lower level"),
        ("home", "is open; close it before the alarm"),
        ("away", "lock it with lock_smart_lock before the alarm is armed for away"),
        ("away", "so the door is not locked; the alarm can only be armed for home"),
        ("away", "end it with set_camera_privacy before the alarm is armed for away"),
    ],
)
def test_an_alarm_is_not_armed_in_a_home_that_is_not_ready(level, message):
    tried = [(homes, {"home_id": row["home_id"], "level": level}) for homes in everywhere() for row in homes.homes]
    homes, arguments = next(one for one in tried if message in one[0].call("arm_home_alarm", **one[1]).message)
    refused(Homes(homes.session.seed), "arm_home_alarm", arguments, message)


Case = Callable[[], tuple[Homes, str, dict[str, Any], str]]
REFUSALS: list[Case] = []


def refusal(case: Case) -> Case:
    REFUSALS.append(case)
    return case


@refusal
def command_a_device_of_another_type():
    homes, plug = anywhere(type="plug")
    return homes, "set_light", {"light_id": plug["id"], "power": "on"}, "is a plug, not a light; get_area names"


def lowering(message: str) -> tuple[Homes, str, dict[str, Any], str]:
    """The first blind that can't be lowered for such a reason: found as a caller would, by trying."""
    for homes in everywhere():
        for blind in [row for row in homes.devices if row["type"] == "blind"]:
            arguments = {"blind_id": blind["id"], "position": 0}
            if message in homes.call("set_blind_position", **arguments).message:
                return homes, "set_blind_position", arguments, message
    raise AssertionError(f"no blind is refused with {message!r}")


@refusal
def lower_a_shutter_onto_an_open_door():
    return lowering("close it first, or raise the shutter")


@refusal
def move_a_blind_without_charge():
    return lowering("too low to move; charge it first")


def alarm(state: str) -> tuple[Homes, str, dict[str, Any]]:
    homes = Homes(0)
    home = next(row["home_id"] for row in homes.homes if row["alarm"] == state)
    return homes, "disarm_home_alarm", {"home_id": home, "alarm_pin": homes.pin(home)}


@refusal
def disarm_what_is_not_armed():
    return *alarm("disarmed"), "is not armed; arm_home_alarm arms it"


@refusal
def disarm_with_the_wrong_pin():
    homes, name, arguments = alarm("armed_away")
    wrong = f"{(int(arguments['alarm_pin']) + 1) % 10_000:04d}"
    return homes, name, {**arguments, "alarm_pin": wrong}, "wrong PIN for the alarm"


@refusal
def unlock_under_the_alarm():
    homes, lock = anywhere(type="lock", state="locked", alarm="armed_home", **ON)
    arguments = {"lock_id": lock["id"], "access_code": homes.code(lock["id"])}
    return homes, "unlock_smart_lock", arguments, "is armed_home; disarm_home_alarm before unlocking"


@refusal
def unlock_with_an_expired_code():
    homes, lock = anywhere(type="lock", state="locked", **ON)
    arguments = {"lock_id": lock["id"], "access_code": homes.code(lock["id"])}
    homes.sql("UPDATE access_code SET valid_until = '2020-02-29'")
    return homes, "unlock_smart_lock", arguments, "was valid until 2020-02-29; use one that is still valid"


@pytest.mark.parametrize(
    ("full", "more", "message"),
    [
        (False, {"access_code": "456789"}, "is too easy to guess; avoid one repeated digit and digits in a row"),
        (False, {"access_code": "482715"}, "has a code with these digits already; choose others"),
        (False, {"holder": "WEAVER"}, "delete it first, or name another holder"),
        (False, {"valid_until": "2020-02-29"}, "is past; a code must be valid today"),
        (True, {}, "keeps 8 codes and all are taken; delete_access_code frees one"),
    ],
)
def test_a_lock_refuses_codes_that_are_weak_taken_past_or_too_many(full, more, message):
    homes, lock = anywhere(type="lock", full=full, **ON)
    homes.call("create_access_code", lock_id=lock["id"], holder="Weaver", access_code="482715")
    usual = {"lock_id": lock["id"], "holder": "Tailor", "access_code": "915308"}
    refused(homes, "create_access_code", usual | more, message)


@refusal
def delete_the_last_permanent_code():
    homes, lock = anywhere(type="lock", **ON)
    codes = [row["access_code_id"] for row in homes.codes(lock["id"]) if row["valid_until"] is None]
    for code in codes[1:]:
        homes.read("delete_access_code", access_code_id=code)
    return homes, "delete_access_code", {"access_code_id": codes[0]}, "create another one first"


@refusal
def name_a_scene_like_another():
    homes, light = anywhere(type="light", **ON)
    name = homes.read("list_scenes", home_id=light["home_id"])["scenes"][0]["name"].upper()
    return homes, "create_scene", {"area_id": light["area_id"], "name": name}, "already; choose another name"


@refusal
def save_too_many_scenes():
    homes, light = anywhere(type="light", **ON)
    for number in range(16):
        homes.call("create_scene", area_id=light["area_id"], name=f"Evening {number}")
    return homes, "create_scene", {"area_id": light["area_id"], "name": "One more"}, "at most 16 are allowed"


@refusal
def save_an_empty_area():
    homes = Homes(0)
    attic = next(row["area_id"] for row in homes.areas if row["devices"] == 0)
    return homes, "create_scene", {"area_id": attic, "name": "Dust"}, "has no online light, plug, blind or thermostat"


@refusal
def run_a_scene_none_of_whose_devices_is_online():
    homes, light = anywhere(type="light", **ON)
    scene = homes.read("create_scene", area_id=light["area_id"], name="Knitting")["scene_id"]
    homes.sql("UPDATE device SET status = 'offline'")
    return homes, "activate_scene", {"scene_id": scene}, "can be set now; run one with online devices"


def automating(sensor_name: str) -> tuple[Homes, str, dict[str, Any], dict[str, str]]:
    homes, sensor = anywhere(type="sensor", name=sensor_name, **ON)
    scene = homes.read("create_scene", area_id=sensor["area_id"], name="Knitting")["scene_id"]
    arguments = {"name": "New", "sensor_id": sensor["id"], "scene_id": scene}
    return homes, "create_automation", arguments, {"home_id": sensor["home_id"]}


@refusal
def automate_with_a_thermometer():
    return *automating("Bedroom climate")[:3], "measures temperature and never trips"


@refusal
def automate_across_homes():
    homes, name, arguments, home = automating("Hallway motion")
    other = next(row["home_id"] for row in homes.homes if row["home_id"] != home["home_id"])
    scene = homes.read("list_scenes", home_id=other)["scenes"][0]["scene_id"]
    return homes, name, {**arguments, "scene_id": scene}, "use two of the same home"


@refusal
def automate_twice():
    homes, name, arguments, _ = automating("Hallway motion")
    homes.read(name, **arguments)
    return homes, name, arguments, "already; set_automation_state enables it"


@refusal
def enable_twice():
    homes, name, arguments, _ = automating("Hallway motion")
    made = {"automation_id": homes.read(name, **arguments)["automation_id"], "state": "enabled"}
    return homes, "set_automation_state", made, "is enabled already"


@refusal
def enable_without_the_sensor():
    homes, name, arguments, _ = automating("Hallway motion")
    made = {"automation_id": homes.read(name, **arguments)["automation_id"]}
    homes.read("set_automation_state", **made, state="disabled")
    homes.sql("UPDATE device SET status = 'offline' WHERE id = :id", id=arguments["sensor_id"])
    return homes, "set_automation_state", {**made, "state": "enabled"}, "is offline: it has lost its connection"


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_the_platform_refuses_and_says_what_would_be_right(case):
    refused(*case())


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        homes = Homes(3)
        light, lock = homes.find(type="light", **ON), homes.find(type="lock", **ON)
        areas = [row["area_id"] for row in homes.areas if row["name"] in ("Kitchen", "Living room")]
        calls = [
            ("set_light", {"light_id": light["id"], "power": "on"}),
            ("create_access_code", {"lock_id": lock["id"], "holder": "Tailor", "access_code": "915308"}),
            ("create_scene", {"area_id": next(a for a in areas if a != light["area_id"]), "name": "Knitting"}),
            ("activate_scene", {"scene_id": homes.read("list_scenes", **_other_home(light))["scenes"][0]["scene_id"]}),
        ]
        assert all(homes.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(homes.session.digest())
    assert len(digests) == 1


def _other_home(light: dict[str, Any]) -> dict[str, Any]:
    return {"home_id": max(row["home_id"] for row in start_of(3)[0] if row["home_id"] != light["home_id"])}


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE device SET state = 'unlocked' WHERE type = 'lock'", "homes_armed_for_away_are_secured"),
        ("UPDATE device SET state = 'open' WHERE state = 'closed'", "armed_homes_are_closed"),
        ("UPDATE scene SET home_id = (SELECT min(id) FROM home)", "scenes_set_devices_of_their_home"),
        ("UPDATE scene SET home_id = (SELECT min(id) FROM home)", "automations_stay_in_one_home"),
        ("DELETE FROM access_code WHERE valid_until IS NULL", "every_lock_can_be_opened"),
        ("UPDATE device SET level = 40 WHERE type = 'light'", "lights_that_are_only_switched_are_bright"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in SERVER.invariants if check.__name__ == law)
    with SERVER.storage.connect(SERVER.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))

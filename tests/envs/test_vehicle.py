"""The fleet: what its tools do across each other, every refusal, its laws, its start state."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

FLEET = load_server("vehicle")


class Fleet:
    """A session and what the reading tools tell of it."""

    def __init__(self, seed: int = 3) -> None:
        self.session = Session([FLEET], seed)
        found = self.read("find_vehicles", limit=50)["vehicles"]
        self.energy = {row["vehicle_id"]: row["energy"] for row in found}
        self.places = self.read("find_destinations", limit=50)["destinations"]
        self.drivers = self.read("list_driver_profiles", limit=50)["drivers"]

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def status(self, vehicle_id: str) -> dict[str, Any]:
        return self.read("get_vehicle", vehicle_id=vehicle_id) | {"energy": self.energy[vehicle_id]}

    def vehicles(self, **wanted: Any) -> list[str]:
        """Ids of the vehicles with these values in their status."""
        return [row for row in self.energy if wanted.items() <= self.status(row).items()]

    def parked(self, **wanted: Any) -> str:
        """A healthy parked vehicle that nobody uses."""
        usual = {"state": "parked", "valet_mode": False, "ignition": "off", "open_parts": [], "locked": True}
        fitting = (row for row in self.vehicles(**usual | wanted) if self.status(row)["energy_percent"] > 25)
        return next(row for row in fitting if not self.read("get_tire_pressures", vehicle_id=row)["warnings"])

    def fuelled(self) -> str:
        return next(row for row in self.vehicles(state="parked", ignition="off") if self.energy[row] != "electric")

    def ready(self) -> str:
        """A vehicle that may set off at once."""
        return next(row for row in self.vehicles(state="parked", ignition="on") if self.status(row)["navigating_to_id"])

    def place(self, kind: str, **wanted: Any) -> str:
        return next(
            row["destination_id"] for row in self.places if row["kind"] == kind and wanted.items() <= row.items()
        )

    def driver(self) -> dict[str, Any]:
        today = self.session.now.date().isoformat()
        return next(row for row in self.drivers if row["vehicle_id"] is None and row["licence_until"] > today)

    def profile(self, vehicle_id: str, driver_id: str = "") -> dict[str, Any]:
        driver_id = driver_id or self.driver()["driver_id"]
        pin = self.read("reveal_driver_pin", driver_id=driver_id)["pin"]
        return {"vehicle_id": vehicle_id, "driver_id": driver_id, "pin": pin}

    def valet(self, vehicle_id: str, state: str = "on") -> dict[str, Any]:
        pin = self.read("reveal_valet_pin", vehicle_id=vehicle_id)["pin"]
        return {"vehicle_id": vehicle_id, "state": state, "pin": pin}

    def man(self, vehicle_id: str) -> None:
        """Somebody signs in and switches on."""
        if self.status(vehicle_id)["locked"]:
            self.read("set_door_locks", vehicle_id=vehicle_id, state="unlocked")
        self.read("activate_driver_profile", **self.profile(vehicle_id))
        self.read("set_ignition", vehicle_id=vehicle_id, state="on")

    def drive(self, vehicle_id: str, destination_id: str) -> dict[str, Any]:
        """Drive somewhere and arrive."""
        self.read("start_navigation", vehicle_id=vehicle_id, destination_id=destination_id)
        started = self.read("start_drive", vehicle_id=vehicle_id, purpose="business")
        return self.read("end_drive", drive_id=started["drive_id"])


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


# What the tools do


def test_a_drive_moves_the_vehicle_uses_energy_and_enters_the_logbook(fleet):
    vehicle = fleet.parked(energy="electric")
    before = fleet.status(vehicle)
    fleet.man(vehicle)
    near = fleet.read("find_destinations", vehicle_id=vehicle, limit=4)["destinations"]
    assert near[0]["destination_id"] == before["parked_at_id"]
    route = fleet.read("start_navigation", vehicle_id=vehicle, destination_id=near[3]["destination_id"])
    started = fleet.read("start_drive", vehicle_id=vehicle, purpose="private")
    assert started["distance_km"] == route["distance_km"] == near[3]["distance_km"]
    under_way = fleet.status(vehicle)
    assert (under_way["state"], under_way["gear"], under_way["locked"]) == ("driving", "drive", True)
    ended = fleet.read("end_drive", drive_id=started["drive_id"])
    after = fleet.status(vehicle)
    assert after["parked_at_id"] == ended["parked_at_id"] == near[3]["destination_id"]
    assert after["navigating_to_id"] is None
    assert after["energy_percent"] == ended["energy_percent"] == route["percent_on_arrival"]
    assert before["range_km"] - started["distance_km"] == after["range_km"]
    (last,) = fleet.read("list_drives", vehicle_id=vehicle, limit=1)["drives"]
    assert (last["drive_id"], last["status"]) == (started["drive_id"], "finished")
    assert last in fleet.read("list_drives", vehicle_id=vehicle, purpose="private")["drives"]


def test_turning_the_ignition_off_stops_comfort_and_frees_the_driver(fleet):
    vehicle = fleet.parked()
    profile = fleet.profile(vehicle)
    fleet.man(vehicle)
    fleet.read("set_climate", vehicle_id=vehicle, mode="heat", temperature=22.5)
    fleet.read("set_seat_heating", vehicle_id=vehicle, seat="driver_seat", level="high")
    assert fleet.status(vehicle)["climate"] == "heat 22.5"
    fleet.read("set_ignition", vehicle_id=vehicle, state="off")
    assert (fleet.status(vehicle)["climate"], fleet.status(vehicle)["driver_id"]) == ("off", None)
    refused = fleet.call("set_seat_heating", vehicle_id=vehicle, seat="driver_seat", level="off")
    assert "is off already" in refused.message
    assert fleet.read("activate_driver_profile", **profile)["seat_position"] in range(1, 11)


def test_charging_fills_up_to_the_limit_costs_money_and_holds_a_charger(fleet):
    office = next(row for row in fleet.places if row["kind"] == "office")
    vehicle = fleet.parked(energy="electric")
    fleet.man(vehicle)
    if fleet.status(vehicle)["parked_at_id"] != office["destination_id"]:
        fleet.drive(vehicle, office["destination_id"])
    begun = fleet.read("start_charging", vehicle_id=vehicle, limit_percent=100)
    (now,) = fleet.read("find_destinations", kind="office")["destinations"]
    assert now["free_chargers"] == office["free_chargers"] - 1
    assert vehicle in str(fleet.read("find_vehicles", state="charging", limit=50))
    ended = fleet.read("end_charging", vehicle_id=vehicle)
    assert ended["energy_percent"] == 100 > begun["energy_percent"]
    assert ended["cost"] == pytest.approx(ended["added_kwh"] * office["price"], abs=0.02)


def test_a_tank_is_filled_at_a_fuel_station(fleet):
    vehicle = _at_the_pump(fleet)
    part = fleet.read("refuel_vehicle", vehicle_id=vehicle, litres=3)
    rest = fleet.read("refuel_vehicle", vehicle_id=vehicle)
    assert part["litres"] == 3
    assert rest["energy_percent"] == 100 > part["energy_percent"]


def test_a_flat_tire_is_driven_to_a_workshop_and_made_right_there(fleet):
    vehicle = _with_flat_tire(fleet)
    fleet.man(vehicle)
    fleet.drive(vehicle, fleet.place("service_center"))
    tires = fleet.read("get_tire_pressures", vehicle_id=vehicle)
    assert tires["warnings"] == []
    assert tires["rear_left"] == tires["recommended"]


def test_a_vehicle_under_way_takes_a_new_route(fleet):
    vehicle = fleet.vehicles(state="driving")[0]
    status = fleet.status(vehicle)
    (drive,) = fleet.read("list_drives", vehicle_id=vehicle, limit=1)["drives"]
    elsewhere = next(
        row["destination_id"]
        for row in fleet.read("find_destinations", vehicle_id=vehicle, limit=6)["destinations"][1:]
        if row["destination_id"] != status["navigating_to_id"]
    )
    fleet.read("start_navigation", vehicle_id=vehicle, destination_id=elsewhere)
    assert fleet.read("end_drive", drive_id=drive["drive_id"])["parked_at_id"] == elsewhere


def test_valet_mode_signs_out_and_lets_the_valet_start(fleet):
    vehicle = fleet.ready()
    fleet.read("set_valet_mode", **fleet.valet(vehicle))
    status = fleet.status(vehicle)
    assert (status["driver_id"], status["navigating_to_id"], status["valet_mode"]) == (None, None, True)
    fleet.read("set_ignition", vehicle_id=vehicle, state="off")
    fleet.read("set_ignition", vehicle_id=vehicle, state="on")
    fleet.read("set_valet_mode", **fleet.valet(vehicle, "off"))
    assert not fleet.status(vehicle)["valet_mode"]


def test_windows_close_without_ignition(fleet):
    vehicle = fleet.parked()
    fleet.read("set_ignition", vehicle_id=vehicle, state="accessory")
    fleet.read("set_window_position", vehicle_id=vehicle, window="front_left_window", open_percent=40)
    fleet.read("set_ignition", vehicle_id=vehicle, state="off")
    assert fleet.status(vehicle)["open_parts"] == ["front_left_window"]
    fleet.read("set_window_position", vehicle_id=vehicle, window="front_left_window", open_percent=0)
    assert fleet.status(vehicle)["open_parts"] == []


def test_vehicles_are_found_by_what_people_call_them(fleet):
    found = fleet.read("find_vehicles", text="ŠKODA", energy="electric", limit=50)["vehicles"]
    assert found
    assert all("Škoda Enyaq" in row["model"] for row in found)
    assert fleet.read("find_vehicles", text="%")["vehicles"] == []
    assert fleet.read("list_driver_profiles", name="nobody by that name") == {"drivers": []}


def _at_the_pump(fleet: Fleet) -> str:
    pumps = {row["destination_id"] for row in fleet.places if row["kind"] == "fuel_station"}
    return next(row for row in fleet.vehicles(state="parked") if fleet.status(row)["parked_at_id"] in pumps)


def _with_flat_tire(fleet: Fleet) -> str:
    flat = (row for row in fleet.vehicles(state="parked", ignition="off", valet_mode=False))
    return next(row for row in flat if fleet.read("get_tire_pressures", vehicle_id=row)["warnings"])


def _weak(fleet: Fleet, below: int = 20) -> str:
    return next(
        row for row in fleet.vehicles(state="parked", energy="electric") if fleet.status(row)["energy_percent"] < below
    )


# Refusals

Case = Callable[[Fleet], tuple[str, dict[str, Any], str]]
REFUSALS: list[Case] = []


def refusal(case: Case) -> Case:
    REFUSALS.append(case)
    return case


def moving(fleet: Fleet) -> str:
    return fleet.vehicles(state="driving")[0]


def of(vehicle_id: str, **more: Any) -> dict[str, Any]:
    return {"vehicle_id": vehicle_id, **more}


# fmt: off
SIMPLE: list[tuple[str, Callable[[Fleet], dict[str, Any]], str]] = [
    ("set_door_locks", lambda f: of(moving(f), state="unlocked"), "it can be unlocked only"),
    ("set_door_locks", lambda f: of(moving(f), state="locked"), "is locked already"),
    ("activate_driver_profile", lambda f: f.profile(moving(f)), "a driver can sign in only once"),
    ("activate_driver_profile", lambda f: f.profile(f.parked()), "unlock it before a driver signs in"),
    ("activate_driver_profile",
     lambda f: f.profile(f.vehicles(valet_mode=True)[0]), "which blocks driver profiles; turn valet"),
    ("activate_driver_profile",
     lambda f: f.profile(f.ready(), f.status(f.ready())["driver_id"]), "already; nothing is left to do"),
    ("activate_driver_profile",
     lambda f: f.profile(f.ready(), f.status(moving(f))["driver_id"]), "turn its ignition off first"),
    ("activate_driver_profile",
     lambda f: f.profile(f.ready()) | {"pin": f.valet(f.ready())["pin"]}, "for the four-digit PIN"),
    ("set_valet_mode", lambda f: f.valet(f.vehicles(valet_mode=True)[0]), "is on already"),
    ("set_valet_mode", lambda f: f.valet(moving(f)), "valet mode can be switched only once"),
    ("set_valet_mode", lambda f: f.valet(f.ready()) | {"pin": f.profile(f.ready())["pin"]}, "wrong valet PIN"),
    ("set_ignition", lambda f: of(moving(f), state="off"), "can be switched only once"),
    ("set_ignition", lambda f: of(f.parked(), state="off"), "is off already"),
    ("set_ignition", lambda f: of(f.parked(), state="on"), "activate a driver profile before"),
    ("start_drive", lambda f: of(moving(f), purpose="private"), "end that drive first"),
    ("start_drive", lambda f: of(f.parked(), purpose="private"), "switch it on before"),
    ("start_drive", lambda f: of(f.vehicles(valet_mode=True)[0], purpose="business"), "turn valet mode off first"),
    ("start_navigation",
     lambda f: of(f.parked(), destination_id=f.place("hotel")), "it navigates once it is at accessory or on"),
    ("start_navigation",
     lambda f: of(f.vehicles(valet_mode=True)[0], destination_id=f.place("hotel")), "which blocks navigation"),
    ("start_navigation",
     lambda f: of(f.ready(), destination_id=f.status(f.ready())["parked_at_id"]), "choose another destination"),
    ("start_navigation",
     lambda f: of(f.ready(), destination_id=f.status(f.ready())["navigating_to_id"]), "already; choose another"),
    ("set_door_position", lambda f: of(moving(f), door="front_left_door", position="open"), "its doors move only once"),
    ("set_door_position",
     lambda f: of(f.parked(), door="tailgate", position="open"), "unlock it before a door opens"),
    ("set_door_position",
     lambda f: of(f.vehicles(valet_mode=True)[0], door="tailgate", position="open"), "which blocks the tailgate"),
    ("set_door_position", lambda f: of(f.parked(), door="front_left_door", position="closed"), "is closed already"),
    ("set_window_position",
     lambda f: of(f.parked(), window="front_left_window", open_percent=30), "its windows open further once"),
    ("set_window_position",
     lambda f: of(f.parked(), window="front_left_window", open_percent=0), "choose another position"),
    ("set_climate", lambda f: of(f.fuelled(), mode="heat"), "its climate control needs the ignition on"),
    ("set_climate", lambda f: of(_weak(f), mode="cool"), "only while it charges"),
    ("set_climate", lambda f: of(f.parked(), mode="off"), "is off already"),
    ("set_climate", lambda f: of(moving(f), mode="off", temperature=20), "mode off takes no temperature"),
    ("set_seat_heating", lambda f: of(f.parked(), seat="driver_seat", level="high"), "turn one of them on"),
    ("start_charging", lambda f: of(f.vehicles(energy="petrol")[0]), "refuel it at a fuel_st"),
    ("start_charging", lambda f: of(f.vehicles(state="charging")[0]), "already; end_charging ends that"),
    ("end_charging", lambda f: of(f.parked()), "with state charging names those"),
    ("refuel_vehicle", lambda f: of(f.vehicles(energy="electric")[0]), "start_charging charges"),
    ("refuel_vehicle", lambda f: of(_at_the_pump(f), litres=100), "take no more than that"),
]
# fmt: on


@refusal
def lock_with_an_open_door(fleet):
    vehicle = fleet.parked()
    fleet.read("set_door_locks", vehicle_id=vehicle, state="unlocked")
    fleet.read("set_door_position", vehicle_id=vehicle, door="tailgate", position="open")
    return "set_door_locks", of(vehicle, state="locked"), f"the tailgate of {vehicle} must be closed before"


@refusal
def start_with_an_open_door(fleet):
    vehicle = fleet.ready()
    fleet.read("set_door_position", vehicle_id=vehicle, door="front_right_door", position="open")
    return "start_drive", of(vehicle, purpose="business"), "front right door of"


@refusal
def sign_in_with_an_expired_licence(fleet):
    today = fleet.session.now.date().isoformat()
    driver = next(row["driver_id"] for row in fleet.drivers if row["licence_until"] < today)
    return "activate_driver_profile", fleet.profile(fleet.ready(), driver), "choose a driver with a valid one"


@refusal
def switch_on_an_empty_battery(fleet):
    vehicle = _weak(fleet, 2)
    fleet.read("set_door_locks", vehicle_id=vehicle, state="unlocked")
    fleet.read("activate_driver_profile", **fleet.profile(vehicle))
    return "set_ignition", of(vehicle, state="on"), "too little to start; charge it first"


@refusal
def drive_without_a_route(fleet):
    vehicle = fleet.parked()
    fleet.man(vehicle)
    return "start_drive", of(vehicle, purpose="business"), "has no route; start_navigation sets one"


@refusal
def drive_a_former_valet_car(fleet):
    vehicle = fleet.ready()
    fleet.read("set_valet_mode", **fleet.valet(vehicle))
    fleet.read("set_valet_mode", **fleet.valet(vehicle, "off"))
    return "start_drive", of(vehicle, purpose="business"), "activate a driver profile before setting off"


@refusal
def drive_while_plugged_in(fleet):
    vehicle = fleet.vehicles(state="charging")[0]
    fleet.man(vehicle)
    fleet.read("start_navigation", vehicle_id=vehicle, destination_id=fleet.place("service_center"))
    return "start_drive", of(vehicle, purpose="business"), "end_charging unplugs it"


@refusal
def drive_too_far(fleet):
    vehicle = _weak(fleet)
    if fleet.status(vehicle)["energy_percent"] < 2:
        vehicle = next(row for row in fleet.vehicles(state="parked") if 2 <= fleet.status(row)["energy_percent"] < 20)
    fleet.man(vehicle)
    far = fleet.read("find_destinations", name="Mountain lodge")["destinations"][0]["destination_id"]
    fleet.read("start_navigation", vehicle_id=vehicle, destination_id=far)
    return "start_drive", of(vehicle, purpose="business"), "or choose a nearer destination"


@refusal
def drive_on_a_flat_tire(fleet):
    vehicle = _with_flat_tire(fleet)
    fleet.man(vehicle)
    fleet.read("start_navigation", vehicle_id=vehicle, destination_id=fleet.place("home"))
    return "start_drive", of(vehicle, purpose="business"), "only be driven to a service_center"


@refusal
def end_a_drive_twice(fleet):
    drives = fleet.read("list_drives", vehicle_id=fleet.parked())["drives"]
    return "end_drive", {"drive_id": drives[0]["drive_id"]}, "only a drive under way can be ended"


@refusal
def charge_where_no_charger_is(fleet):
    bare = {row["destination_id"] for row in fleet.places if row["price"] is None}
    cars = fleet.vehicles(state="parked", energy="electric")
    return (
        "start_charging",
        of(next(row for row in cars if fleet.status(row)["parked_at_id"] in bare)),
        "has no chargers",
    )


@refusal
def charge_where_all_chargers_are_taken(fleet):
    vehicle = fleet.parked(energy="electric")
    fleet.man(vehicle)
    fleet.drive(vehicle, fleet.place("charging_station", free_chargers=0))
    return "start_charging", of(vehicle), "are taken; find_destinations shows free ones"


@refusal
def charge_a_charged_battery(fleet):
    vehicle = fleet.vehicles(state="charging")[0]
    fleet.read("end_charging", vehicle_id=vehicle)
    return "start_charging", of(vehicle, limit_percent=60), "choose a limit above that"


@refusal
def refuel_with_the_ignition_on(fleet):
    vehicle = _at_the_pump(fleet)
    fleet.read("set_ignition", vehicle_id=vehicle, state="accessory")
    return "refuel_vehicle", of(vehicle, litres=5), "turn it off before refuelling"


@refusal
def refuel_away_from_a_station(fleet):
    station = {row["destination_id"] for row in fleet.places if row["kind"] == "fuel_station"}
    cars = [row for kind in ("petrol", "diesel") for row in fleet.vehicles(state="parked", energy=kind)]
    away = next(row for row in cars if fleet.status(row)["parked_at_id"] not in station)
    return "refuel_vehicle", of(away), "drive it to a fuel_station"


@refusal
def run_climate_with_an_open_door(fleet):
    vehicle = fleet.parked(energy="electric")
    fleet.read("set_door_locks", vehicle_id=vehicle, state="unlocked")
    fleet.read("set_door_position", vehicle_id=vehicle, door="tailgate", position="open")
    return "set_climate", of(vehicle, mode="auto"), "must be closed before the climate control runs"


@refusal
def set_the_same_climate_again(fleet):
    vehicle = fleet.parked(energy="electric")
    fleet.read("set_climate", vehicle_id=vehicle, mode="auto", temperature=21)
    return "set_climate", of(vehicle, mode="auto", temperature=21), "change mode or temperature"


@refusal
def move_what_a_van_lacks(fleet):
    van = fleet.read("find_vehicles", text="Ford Transit")["vehicles"][0]["vehicle_id"]
    call = of(van, window="sunroof", open_percent=10)
    return "set_window_position", call, "has no sunroof; it has front left window or front right window"


@refusal
def open_the_roof_wide_while_driving(fleet):
    car = next(row for row in fleet.vehicles(ignition="off", valet_mode=False, state="parked") if _has_roof(fleet, row))
    fleet.man(car)
    near = fleet.read("find_destinations", kind="service_center", vehicle_id=car)["destinations"]
    fleet.read("start_navigation", vehicle_id=car, destination_id=near[0]["destination_id"])
    fleet.read("start_drive", vehicle_id=car, purpose="private")
    return "set_window_position", of(car, window="sunroof", open_percent=80), "opens to 50% at most"


def _has_roof(fleet: Fleet, vehicle_id: str) -> bool:
    status = fleet.status(vehicle_id)
    message = fleet.call("set_window_position", vehicle_id=vehicle_id, window="sunroof", open_percent=80).message
    return status["energy_percent"] > 25 and not status["open_parts"] and "its windows open further" in message


@pytest.mark.parametrize(("name", "arguments", "message"), SIMPLE)
def test_a_vehicle_refuses_at_once(fleet, name, arguments, message):
    check_refusal(fleet, name, arguments(fleet), message)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.__name__)
def test_a_vehicle_refuses_after_other_calls(fleet, case):
    check_refusal(fleet, *case(fleet))


def check_refusal(fleet: Fleet, name: str, arguments: dict[str, Any], message: str) -> None:
    before = fleet.session.digest()
    result = fleet.call(name, **arguments)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert fleet.session.digest() == before


# Laws and the start state


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE drive SET status = 'finished' WHERE status = 'under_way'", "driven_vehicles_have_one_drive_under_way"),
        ("UPDATE vehicle SET odometer_km = odometer_km + 1", "odometer_is_sum_of_drives"),
        (
            "UPDATE vehicle SET place_id = (SELECT max(id) FROM destination)",
            "drives_start_where_the_last_one_ended",
        ),
        (
            "UPDATE vehicle SET charge_limit = 80, place_id = (SELECT id FROM destination WHERE kind = 'office') "
            "WHERE energy = 'electric' AND gear = 'park'",
            "chargers_serve_one_vehicle_each",
        ),
        ("UPDATE opening SET position = 100", "locked_vehicles_are_closed"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in FLEET.invariants if check.__name__ == law)
    with FLEET.storage.connect(FLEET.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        fleet = Fleet(5)
        electric, ready = fleet.parked(energy="electric"), fleet.ready()
        calls = [
            ("start_drive", of(ready, purpose="business")),
            ("set_climate", of(electric, mode="heat", temperature=20.5)),
            ("end_charging", of(fleet.vehicles(state="charging")[0])),
            ("refuel_vehicle", of(_at_the_pump(fleet), litres=4)),
        ]
        assert all(fleet.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(fleet.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_start_state_has_every_kind_of_vehicle_and_trouble(seed):
    fleet = Fleet(seed)
    assert len(fleet.energy) == 26
    assert len(fleet.drivers) == len({row["name"] for row in fleet.drivers}) + 1
    assert len(fleet.vehicles(state="driving")) == 3
    assert fleet.vehicles(state="charging")
    assert fleet.vehicles(valet_mode=True)
    assert any(fleet.status(row)["open_parts"] for row in fleet.energy)
    assert _weak(fleet, 2)
    assert _with_flat_tire(fleet)
    today = fleet.session.now.date().isoformat()
    drives = [row for car in fleet.energy for row in fleet.read("list_drives", vehicle_id=car, limit=50)["drives"]]
    assert 80 <= len(drives) <= 200
    assert all((row["date"] == today) == (row["status"] == "under_way") for row in drives)
    people = [(row["driver_id"], row["date"]) for row in drives]
    assert len(set(people)) == len(people)


def test_a_logbook_ends_where_no_place_is_near_enough():
    assert FLEET.image(255, start_time(255))  # a world that once was drawn without end

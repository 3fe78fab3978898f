"""The fleet on the morning of a session: 26 vehicles, 22 drivers, about 45 places and two months of drives.

Awkward on purpose: two vehicles of one model and colour, two drivers of one name, flat tires, an all but empty battery,
vehicles under way, in valet mode, charging or left open, a full charging station, expired licences.
"""

from datetime import datetime
from math import cos, sin, tau
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import LAST_NAMES, STREETS, full_names
from proverl.envs.servers.vehicle import words
from proverl.envs.servers.vehicle.logbook import Logbook, suits
from proverl.envs.servers.vehicle.rules import road_km
from proverl.envs.servers.vehicle.tables import Destination, Driver, Opening, Seat, Tire, Vehicle
from proverl.envs.state import Row

_CORNERS = ("front_left", "front_right", "rear_left", "rear_right")
_LETTERS = "ABCDEFGHJKLNPRSTUVXYZ"  # of Belgian plates, which leave out what reads like another
_SCENES = {  # how the vehicles of each kind stand this morning; further ones are parked
    "electric": ("charging", "charging", "ready", "ready", "driving", "driving", "low", "low", "empty", "valet", "flat")
    + ("parked", "parked", "manned", "left open"),
    "fuel": ("filling", "filling", "ready", "driving", "valet", "flat") + ("parked", "parked", "manned", "left open"),
}


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    drivers, places = _drivers(draft), _places(draft)
    logbook = Logbook(draft, drivers, places)
    idle = [row for row in drivers if row["licence_until"] > draft.day(0)]
    for vehicle, body, scene in _vehicles(draft):
        _fit_out(draft, vehicle, body)
        place = _place_for(draft, scene, vehicle)
        logbook.fill(vehicle, place)
        vehicle["place_id"] = place["id"]
        _set_scene(draft, vehicle, scene, logbook, idle)
    return draft.rows


def _drivers(draft: Draft) -> list[Row]:
    rng = draft.rng
    expired = set(rng.sample(range(20), 2))
    return [
        draft.add(
            Driver,
            name=name,
            pin=f"{rng.randrange(10_000):04d}",
            licence_until=draft.day(-rng.randint(3, 40) if index in expired else rng.randint(90, 3_600)),
            seat_memory=rng.randint(1, 10),
            temperature=rng.randrange(190, 236, 5),
        )
        for index, name in enumerate(full_names(rng, 22))
    ]


def _place(draft: Draft, name: str, kind: str, km: float, **more: Any) -> Row:
    angle = draft.rng.random() * tau
    return draft.add(
        Destination,
        name=name,
        kind=kind,
        x=round(km * 10 * cos(angle)),
        y=round(km * 10 * sin(angle)),
        **{"bays": 0, "busy": 0, "price": None, **more},
    )


def _places(draft: Draft) -> list[Row]:
    rng = draft.rng
    _place(draft, "Main depot", "depot", 0, bays=8, price=289)
    _place(draft, "City office", "office", rng.randint(3, 8), bays=3, price=289)
    for name in rng.sample(words.CUSTOMERS, 12):
        _place(draft, name, "customer", rng.randint(2, 28))
    for name in rng.sample(LAST_NAMES, 6):
        _place(draft, f"Home of the {name} family", "home", rng.randint(3, 25))
    for name, kind, km in words.FAR:
        _place(draft, name, kind, km + rng.randint(-8, 8))
    streets = iter(rng.sample(STREETS, len(words.CHARGING) + len(words.FUEL) + 1))
    for index, name in enumerate(words.CHARGING):
        bays = rng.choice((2, 4, 4, 6, 8))
        busy = bays if index == 0 else rng.randint(0, bays - 2)
        _place(
            draft,
            f"{name} {next(streets)}",
            "charging_station",
            rng.randint(3, 45),
            bays=bays,
            busy=busy,
            price=rng.randint(45, 79) * 10,
        )
    for name in (*words.FUEL, words.FUEL[0]):
        _place(draft, f"{name} {next(streets)}", "fuel_station", rng.randint(2, 30), price=rng.randint(1_560, 1_899))
    for name in words.GARAGES:
        _place(draft, name, "service_center", rng.randint(3, 22))
    return draft.rows[Destination]


def _vehicles(draft: Draft) -> list[tuple[Row, str, str]]:
    """Vehicles with their body and this morning's scene; the last one looks like the first."""
    rng = draft.rng
    electric = [model for model in words.MODELS if model[1] == "electric"]
    fuel = [model for model in words.MODELS if model[1] != "electric"]
    chosen = [*electric, *rng.sample(electric, 6), *fuel, *rng.sample(fuel, 2)]
    rng.shuffle(chosen)
    chosen.append(chosen[0])
    scenes = {kind: list(parts) for kind, parts in _SCENES.items()}
    for kind, parts in scenes.items():
        parts += ["parked"] * (sum((model[1] == "electric") == (kind == "electric") for model in chosen) - len(parts))
        rng.shuffle(parts)
    plates = rng.sample(range(len(_LETTERS) ** 3 * 1_000), len(chosen))
    vehicles: list[tuple[Row, str, str]] = []
    for model, plate in zip(chosen, plates, strict=True):
        scene = scenes["electric" if model[1] == "electric" else "fuel"].pop()
        vehicles.append((_vehicle(draft, model, _plate(plate)), model[-1], scene))
    vehicles[-1][0]["colour"] = vehicles[0][0]["colour"]
    return vehicles


def _plate(number: int) -> str:
    digits, letters = number % 1_000, number // 1_000
    return (
        f"2-{''.join(_LETTERS[letters // len(_LETTERS) ** place % len(_LETTERS)] for place in (2, 1, 0))}-{digits:03d}"
    )


def _vehicle(draft: Draft, model: tuple[Any, ...], plate: str) -> Row:
    rng, (name, energy, capacity, consumption, pressure, _) = draft.rng, model
    odometer = rng.randint(4_000, 140_000)
    return draft.add(
        Vehicle,
        make=name,
        colour=rng.choice(words.COLOURS),
        plate=plate,
        energy=energy,
        capacity=capacity,
        level=capacity * rng.randint(30, 90) // 100,
        consumption=consumption,
        ignition="off",
        gear="park",
        locked=True,
        valet=False,
        valet_pin=f"{rng.randrange(10_000):04d}",
        driver_id=None,
        place_id="",
        route_to=None,
        charge_limit=None,
        climate="off",
        temperature=rng.choice((200, 205, 210, 215, 220)),
        tire_pressure=pressure,
        logbook_km=odometer,
        odometer_km=odometer,
    )


def _fit_out(draft: Draft, vehicle: Row, body: str) -> None:
    """Doors, windows, seats and tires; vans have none in the rear, some cars a sunroof."""
    corners = _CORNERS[:2] if body == "van" else _CORNERS
    doors = [*(f"{corner}_door" for corner in corners), "tailgate"]
    windows = [*(f"{corner}_window" for corner in corners), *(["sunroof"] if body == "glass roof" else [])]
    for part in (*doors, *windows):
        kind = "door" if part in doors else "window"
        draft.add(Opening, vehicle_id=vehicle["id"], part=part, kind=kind, position=0)
    for part in ("driver_seat", "passenger_seat", *(f"{corner}_seat" for corner in corners[2:])):
        draft.add(Seat, vehicle_id=vehicle["id"], part=part, heating="off")
    for part in _CORNERS:
        pressure = vehicle["tire_pressure"] + draft.rng.randint(-15, 10)
        draft.add(Tire, vehicle_id=vehicle["id"], part=part, pressure=pressure)


def _place_for(draft: Draft, scene: str, vehicle: Row) -> Row:
    kinds = {
        "charging": ("depot", "office"),
        "empty": ("depot",),
        "low": ("charging_station", "depot", "customer"),
        "filling": ("fuel_station",),
        "flat": ("depot", "customer"),
        "ready": ("depot", "office", "home"),
        "driving": ("depot", "office", "home"),
    }.get(scene, ("depot", "office", "customer", "home", "airport"))
    kind = draft.rng.choice(kinds)
    return draft.rng.choice([row for row in draft.rows[Destination] if row["kind"] == kind])


def _set_scene(draft: Draft, vehicle: Row, scene: str, logbook: Logbook, idle: list[Row]) -> None:
    if scene == "charging":
        _charge(draft, vehicle)
    elif scene in ("ready", "driving"):
        start, target = _get_ready(draft, vehicle, idle)
        if scene == "driving":
            vehicle.update(gear="drive", locked=True)
            logbook.depart(vehicle, start, target, f"08:{draft.rng.randint(20, 58):02d}")
    elif scene in ("low", "empty"):
        vehicle["level"] = vehicle["capacity"] * (1 if scene == "empty" else draft.rng.randint(7, 17)) // 100
    elif scene == "valet":
        vehicle.update(valet=True, locked=False, ignition=draft.rng.choice(("off", "on")))
    elif scene == "flat":
        tire = draft.rng.choice(draft.rows[Tire][-4:])
        tire["pressure"] = draft.rng.randint(60, 140)
    elif scene == "filling":
        vehicle.update(level=vehicle["capacity"] * draft.rng.randint(6, 40) // 100, locked=False)
    elif scene == "manned":
        vehicle.update(locked=False, driver_id=idle.pop()["id"], ignition=draft.rng.choice(("accessory", "on")))
    elif scene == "left open":
        _leave_open(draft, vehicle)


def _charge(draft: Draft, vehicle: Row) -> None:
    place = next(row for row in draft.rows[Destination] if row["id"] == vehicle["place_id"])
    charging = [row for row in draft.rows[Vehicle] if row["place_id"] == place["id"] and row["charge_limit"]]
    if len(charging) + place["busy"] < place["bays"]:
        vehicle.update(
            charge_limit=draft.rng.choice((80, 80, 90, 100)),
            level=vehicle["capacity"] * draft.rng.randint(12, 60) // 100,
        )


def _get_ready(draft: Draft, vehicle: Row, idle: list[Row]) -> tuple[Row, Row]:
    """Somebody has switched on and set a route. Returns where from and where to."""
    start = next(row for row in draft.rows[Destination] if row["id"] == vehicle["place_id"])
    vehicle["level"] = vehicle["capacity"] * draft.rng.randint(55, 95) // 100
    reach = vehicle["level"] // vehicle["consumption"]
    fitting = [row for row in draft.rows[Destination] if row is not start and suits(vehicle, row)]
    target = draft.rng.choice([row for row in fitting if road_km(start, row) <= reach])
    vehicle.update(ignition="on", locked=False, driver_id=idle.pop()["id"], route_to=target["id"], climate="auto")
    return start, target


def _leave_open(draft: Draft, vehicle: Row) -> None:
    """Nobody is in the vehicle, but a door or a window is open."""
    kind = draft.rng.choice(("door", "window"))
    openings = [row for row in draft.rows[Opening] if (row["vehicle_id"], row["kind"]) == (vehicle["id"], kind)]
    draft.rng.choice(openings)["position"] = 100 if kind == "door" else draft.rng.choice((10, 25, 50, 100))
    vehicle["locked"] = False

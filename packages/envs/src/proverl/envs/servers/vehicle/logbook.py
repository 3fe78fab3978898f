"""The past of each vehicle: the drives of the last weeks, one after the other, each from where the last one ended."""

from datetime import timedelta

from proverl.envs import Draft
from proverl.envs.servers.vehicle.rules import road_km
from proverl.envs.servers.vehicle.tables import Drive
from proverl.envs.state import Row

_PURPOSES = {"home": ("commute", "private"), "hotel": ("business", "private")}


def suits(vehicle: Row, place: Row) -> bool:
    """Whether a vehicle has business there: nobody drives a battery to the petrol pump."""
    return place["kind"] != ("fuel_station" if vehicle["energy"] == "electric" else "charging_station")


class Logbook:
    """Enters drives so that nobody drives two vehicles on one day."""

    def __init__(self, draft: Draft, drivers: list[Row], places: list[Row]) -> None:
        self._draft, self._drivers, self._places = draft, drivers, places
        self._taken: set[tuple[str, str]] = set()
        self._working_days = [days for days in range(1, 60) if (draft.today - timedelta(days=days)).weekday() < 5]

    def fill(self, vehicle: Row, end: Row) -> None:
        """Enter between 3 and 7 drives of the vehicle, the last one to `end`."""
        rng = self._draft.rng
        days = sorted(rng.sample(self._working_days, rng.randint(3, 7)), reverse=True)
        stops = self._stops(vehicle, end, len(days))
        for before, after, days_ago in zip(stops[:-1], stops[1:], days[len(days) + 1 - len(stops) :], strict=True):
            self._enter(vehicle, before, after, days_ago)

    def _stops(self, vehicle: Row, end: Row, drives: int) -> list[Row]:
        """Places that end at `end`, each near enough to the next for a charged or filled vehicle."""
        reach = vehicle["capacity"] // vehicle["consumption"] * 8 // 10
        stops = [end]

        def fits(place: Row) -> bool:
            return place is not stops[-1] and suits(vehicle, place) and road_km(place, stops[-1]) <= reach

        while len(stops) <= drives and any(map(fits, self._places)):  # nothing may be near enough to a far place
            place = self._draft.rng.choice(self._places)
            if fits(place):
                stops.append(place)
        return stops[::-1]

    def _enter(self, vehicle: Row, before: Row, after: Row, days_ago: int) -> None:
        rng, day = self._draft.rng, self._draft.day(-days_ago)
        free = [row for row in self._drivers if (row["id"], day) not in self._taken and row["licence_until"] > day]
        driver = rng.choice(free)
        self._taken.add((driver["id"], day))
        distance = road_km(before, after)
        vehicle["odometer_km"] += distance
        self._draft.add(
            Drive,
            vehicle_id=vehicle["id"],
            driver_id=driver["id"],
            from_id=before["id"],
            to_id=after["id"],
            distance_km=distance,
            purpose=rng.choice(_PURPOSES.get(after["kind"], ("business",))),
            status="finished",
            started_on=day,
            started_at=f"{rng.randint(6, 18):02d}:{rng.randrange(60):02d}",
        )

    def depart(self, vehicle: Row, start: Row, target: Row, at: str) -> None:
        """Enter a drive of this morning that is still under way."""
        self._draft.add(
            Drive,
            vehicle_id=vehicle["id"],
            driver_id=vehicle["driver_id"],
            from_id=start["id"],
            to_id=target["id"],
            distance_km=road_km(start, target),
            purpose="business",
            status="under_way",
            started_on=self._draft.day(0),
            started_at=at,
        )

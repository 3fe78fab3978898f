"""The agency on the morning of a session: travellers, their trips before and ahead, and what can still be booked.

Awkward on purpose: namesakes among people and hotels, expired passports and cards, a minor, flights that the airline
cancelled, full flights, holds that ran out, trips without any booking.
"""

from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft, cents
from proverl.envs.servers.travel_booking import cabins, fares, words
from proverl.envs.servers.travel_booking.start_offer import (
    add_flights,
    add_hotels,
    block_rooms,
    local_day,
    sell_seats,
)
from proverl.envs.servers.travel_booking.tables import (
    Flight,
    FlightBooking,
    Hotel,
    HotelBooking,
    HotelRoom,
    Itinerary,
    Passenger,
    Payment,
    PaymentCard,
)
from proverl.envs.servers.travel_booking.timetable import AIRPORTS, CHECK_IN_OPENS, arrival, local, text
from proverl.envs.state import Row

_ADULTS, _MINORS = 28, 5
_CARD_DIGITS = {"Visa": 3, "Mastercard": 3, "American Express": 4}
_SOON = ("confirmed", "confirmed", "confirmed", "held", "confirmed", "confirmed", "expired")
_LATER = ("held", "confirmed", "cancelled", "held", "confirmed", "held")


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    people = _people(draft)
    add_flights(draft)
    add_hotels(draft)
    draft.rows.update({FlightBooking: [], HotelBooking: [], Payment: []})
    _Trips(draft, now, people).fill()
    sell_seats(draft)
    block_rooms(draft)
    return draft.rows


def _people(draft: Draft) -> list[tuple[Row, list[Row]]]:
    """Adults, each with the minors of the family."""
    rng = draft.rng
    adults: list[tuple[Row, list[Row]]] = []
    for index, (name, nationality) in enumerate(_names(rng)):
        adult = _person(draft, name, rng.randint(20 * 365, 75 * 365), nationality, index % 6 == 4)
        for number in range(0 if index % 7 == 5 else rng.choice((1, 1, 2))):
            _card(draft, adult, expired=number == 1 and rng.random() < 0.5)
        adults.append((adult, []))
    for index in range(_MINORS):
        parent, children = adults[index * 4]
        given, family = parent["name"].split(" ", 1)
        child = rng.choice([name for name in words.PEOPLE[parent["nationality"]][0] if name != given])
        days_old = rng.randint(4 * 365, 15 * 365)
        children.append(_person(draft, f"{child} {family}", days_old, parent["nationality"], index == 3))
    return adults


def _names(rng: Random) -> list[tuple[str, str]]:
    """Names of the adults with their nationality, all different but for the last, a namesake of the first."""
    found: dict[tuple[str, str], None] = {}
    while len(found) < _ADULTS - 1:
        nationality = rng.choice(words.HOME_COUNTRIES if rng.random() < 0.5 else list(words.PEOPLE))
        given, family, _ = words.PEOPLE[nationality]
        found[f"{rng.choice(given)} {rng.choice(family)}", nationality] = None
    return [*found, next(iter(found))]


def _person(draft: Draft, name: str, days_old: int, nationality: str, expired: bool) -> Row:
    rng = draft.rng
    validity = (10 if days_old >= 28 * 365 else 5) * 365  # minors' passports last five years, also once they are of age
    return draft.add(
        Passenger,
        name=name,
        born_on=draft.day(-days_old),
        nationality=nationality,
        passport_number="".join(
            rng.choice("ABCDEFGHKLNPRTXZ" if sign == "A" else "0123456789") for sign in words.PEOPLE[nationality][2]
        ),
        passport_expires=draft.day(-rng.randint(5, 300) if expired else rng.randint(60, validity - 60)),
    )


def _card(draft: Draft, owner: Row, expired: bool) -> None:
    rng = draft.rng
    brand = rng.choice(("Visa", "Visa", "Mastercard", "American Express"))
    digits = _CARD_DIGITS[brand]
    draft.add(
        PaymentCard,
        passenger_id=owner["id"],
        brand=brand,
        last4=f"{rng.randrange(10_000):04d}",
        expires=draft.day(-rng.randint(32, 400) if expired else rng.randint(60, 1_400))[:7],
        payment_limit=cents(rng.choice((500, 1_500, 2_500, 5_000))),
        security_code=f"{rng.randrange(10**digits):0{digits}d}",
    )


class _Trips:
    """Books round trips with stays, so that nobody is in two places at once."""

    def __init__(self, draft: Draft, now: datetime, people: list[tuple[Row, list[Row]]]) -> None:
        self.draft, self.rng, self.now = draft, draft.rng, text(now)
        self.people = people
        self.check_in = text(now + CHECK_IN_OPENS)
        self.away: dict[str, list[tuple[str, str]]] = {}
        self.seats: set[tuple[str, str]] = set()
        self.taken: dict[str, int] = {}
        self.cards: dict[str, list[Row]] = {}
        for card in draft.rows[PaymentCard]:
            if card["expires"] >= draft.day(0)[:7]:
                self.cards.setdefault(card["passenger_id"], []).append(card)

    def fill(self) -> None:
        """Past trips, then those ahead, then two that are only planned."""
        flights = self.draft.rows[Flight]
        past = [flight for flight in flights if flight["leaves"] < self.now]
        ahead = [flight for flight in flights if flight["leaves"] > self.now]
        soon = [flight for flight in ahead if flight["leaves"] < self.check_in]
        for index in range(8):
            self._trip(self.rng.choice(past), past, "past", index)
        for first, kinds in ((soon, _SOON), (ahead, _LATER)):
            for index, out in enumerate(self.rng.sample(first, 17)):
                self._trip(out, ahead, kinds[index % len(kinds)], index)
        self._cancel_departures(ahead)
        for lead, _ in self.rng.sample(self.people, 3):
            self._itinerary(lead, self.rng.choice(list(words.HOTELS)), -self.rng.randint(0, 12))

    def _itinerary(self, lead: Row, city: str, days: int) -> Row:
        title = self.rng.choice(words.OCCASIONS).format(city)
        return self.draft.add(Itinerary, passenger_id=lead["id"], title=title, created_on=self.draft.day(days))

    def _trip(self, out: Row, flights: list[Row], kind: str, index: int) -> None:
        back = next(
            (
                flight
                for flight in flights
                if (flight["origin"], flight["destination"]) == (out["destination"], out["origin"])
                and local_day(flight) > arrival(out["leaves"], out["minutes"])[:10]
            ),
            None,
        )
        end = arrival(back["leaves"], back["minutes"]) if back else out["leaves"][:10] + "T23:59"
        family = self._travellers(out["leaves"], max(end, arrival(out["leaves"], out["minutes"])), kind, index)
        if family is None:
            return
        lead, children = family
        created = self._created(out, kind)
        itinerary = self._itinerary(lead, AIRPORTS[out["destination"]], created)
        held_until = self.draft.day(created + 2)
        paid_rows: list[Row] = []
        for flight in [out, back] if back else [out]:
            fare = self.rng.choice(
                [name for name in fares.FARES[flight["number"][:2]] if name != "business" or index % 3]
            )
            for person in (lead, *children):
                paid_rows.append(self._fly(itinerary, flight, person, fare, kind, held_until))
        stay = self._stay(itinerary, lead, out, back, kind, held_until)
        self._pay(itinerary, [*paid_rows, *([stay] if stay else [])], kind, created)

    def _created(self, out: Row, kind: str) -> int:
        """When the trip was booked, in days before or after today (below zero: before)."""
        start = (datetime.fromisoformat(out["leaves"]).date() - self.draft.today).days
        if kind == "held":
            return -self.rng.randint(0, 1)
        return min(start, 0) - self.rng.randint(4, 40)

    def _travellers(self, start: str, end: str, kind: str, index: int) -> tuple[Row, list[Row]] | None:
        families = self.rng.sample(self.people, len(self.people))
        if index % 4 == 0:
            families.sort(key=lambda family: not family[1])
        for lead, children in families:
            group = [lead, *children]
            busy = any(a <= end and start <= b for person in group for a, b in self.away.get(person["id"], ()))
            if busy or not self.cards.get(lead["id"]):
                continue
            for person in group:
                self.away.setdefault(person["id"], []).append((start, end))
            return lead, children
        return None

    def _fly(self, itinerary: Row, flight: Row, person: Row, fare: str, kind: str, held_until: str) -> Row:
        conditions = fares.FARES[flight["number"][:2]][fare]
        status = {"held": "held", "expired": "held", "cancelled": "cancelled"}.get(kind, "ticketed")
        valid = person["passport_expires"] >= local_day(flight)
        if flight["leaves"] < self.now or (status == "ticketed" and flight["leaves"] < self.check_in and valid):
            status = "checked_in" if flight["leaves"] < self.now or self.rng.random() < 0.2 else status
        may_sit = status == "ticketed" and (fare != "basic" or flight["leaves"] < self.check_in)
        seated = status == "checked_in" or (may_sit and self.rng.random() < 0.5)
        return self.draft.add(
            FlightBooking,
            itinerary_id=itinerary["id"],
            flight_id=flight["id"],
            passenger_id=person["id"],
            fare=fare,
            status=status,
            price=fares.price(flight["base_price"], conditions.percent),
            paid=0,
            card_id=None,
            seat=self._seat(flight, fare) if seated else None,
            held_until=held_until,
        )

    def _seat(self, flight: Row, fare: str) -> str:
        free = [
            seat.name
            for seat in cabins.plan(flight["aircraft"]).values()
            if seat.cabin == fares.cabin(fare) and not seat.exit_row and (flight["id"], seat.name) not in self.seats
        ]
        seat = self.rng.choice(free)
        self.seats.add((flight["id"], seat))
        return seat

    def _stay(self, itinerary: Row, lead: Row, out: Row, back: Row | None, kind: str, held_until: str) -> Row | None:
        first = local(out["leaves"], out["minutes"], out["destination"])[:10]
        last = local_day(back) if back else (datetime.fromisoformat(first) + timedelta(days=2)).date().isoformat()
        city = AIRPORTS[out["destination"]]
        hotels = {
            row["id"]: row
            for row in self.draft.rows[Hotel]
            if row["city"] == city and not row["closed_until"] and row["min_nights"] == 1
        }
        rooms = [
            room
            for room in self.draft.rows[HotelRoom]
            if room["hotel_id"] in hotels and room["rooms"] > self.taken.get(room["id"], 0)
        ]
        nights = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).days
        if not rooms or not 1 <= nights <= 20:
            return None
        room = self.rng.choice(rooms)
        self.taken[room["id"]] = self.taken.get(room["id"], 0) + 1
        return self.draft.add(
            HotelBooking,
            itinerary_id=itinerary["id"],
            room_id=room["id"],
            passenger_id=lead["id"],
            check_in=first,
            check_out=last,
            status={"held": "held", "expired": "held", "cancelled": "cancelled"}.get(kind, "confirmed"),
            price=nights * room["price"],
            paid=0,
            card_id=None,
            held_until=held_until,
        )

    def _pay(self, itinerary: Row, bookings: list[Row], kind: str, created: int) -> None:
        """Charge the whole trip at once; a cancelled one paid back all that was refunded."""
        if kind in ("held", "expired"):
            return
        total = sum(row["price"] for row in bookings)
        card = max(self.cards[itinerary["passenger_id"]], key=lambda row: (row["payment_limit"], row["id"]))
        card["payment_limit"] = max(card["payment_limit"], -(-total // 100_000) * 100_000)
        self._book_payment(itinerary, card, total, created + 1)
        for row in bookings:
            row["card_id"] = card["id"]
            if kind == "cancelled":
                row["price"] = self._kept(row)
            row["paid"] = row["price"]
        refund = total - sum(row["paid"] for row in bookings)
        if refund:
            self._book_payment(itinerary, card, -refund, created + 3)

    def _kept(self, booking: Row) -> int:
        """What the agency keeps of a cancelled booking's price; the stay was cancelled in time."""
        if "fare" not in booking:
            return 0
        number = next(flight["number"] for flight in self.draft.rows[Flight] if flight["id"] == booking["flight_id"])
        fee = fares.FARES[number[:2]][booking["fare"]].cancel_fee
        return int(booking["price"] if fee is None else min(fee, booking["price"]))

    def _book_payment(self, itinerary: Row, card: Row, amount: int, days: int) -> None:
        self.draft.add(
            Payment,
            itinerary_id=itinerary["id"],
            card_id=card["id"],
            amount=amount,
            paid_on=self.draft.day(days),
        )

    def _cancel_departures(self, ahead: list[Row]) -> None:
        """The airline cancels some flights, also ones that the agency's passengers have tickets for."""
        checked_in = {row["flight_id"] for row in self.draft.rows[FlightBooking] if row["status"] == "checked_in"}
        booked = {row["flight_id"] for row in self.draft.rows[FlightBooking] if row["status"] == "ticketed"}
        affected = [flight for flight in ahead if flight["id"] in booked - checked_in]
        others = [flight for flight in ahead if flight["id"] not in booked | checked_in]
        for flight in affected[1::6] + self.rng.sample(others, 5):
            flight["status"] = "cancelled"

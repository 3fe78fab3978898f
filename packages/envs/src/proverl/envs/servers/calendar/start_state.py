"""The start state: an organisation, the user's calendars, seven weeks of events around now.

Nobody is in two places at once and no room is booked twice: a time is taken only when everyone and the room are free.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs.names import FIRST_NAMES, LAST_NAMES, full_names
from proverl.envs.servers.calendar import stock
from proverl.envs.servers.calendar.clock import day_bounds, occurrence_starts, shift, text, within_hours
from proverl.envs.servers.calendar.tables import (
    SELF,
    Access,
    Base,
    Calendar,
    Event,
    Invitee,
    Person,
    Reminder,
    Room,
    Series,
)
from proverl.envs.state import Row

_QUARTERS = range(8 * 4, 18 * 4)  # quarter hours of a day at which seeded events may start
_QUARTER = timedelta(minutes=15)
_LENGTHS = (30, 30, 30, 45, 60, 60, 90)  # minutes
_OFFSETS = (-480, -300, 0, 60, 60, 330, 540)


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows of the start state, by table."""
    return _StartState(rng, now).rows


class _StartState:
    """Builds the rows; remembers who and which room is busy when."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.rng, self.now = rng, now
        self.numbers = iter(rng.sample(range(10_001, 100_000), 1_000))
        tables = (Person, Calendar, Access, Room, Series, Event, Invitee, Reminder)
        self.rows: dict[type[Base], list[Row]] = {table: [] for table in tables}
        self.busy: set[tuple[str, int]] = set()  # (person or room, quarter hour)
        self._people()
        self._rooms()
        self._calendars()
        self._series()
        self._single_events()
        self._closures()
        self._cancellations()
        self._reminders()

    def _add(self, table: type[Any], **values: Any) -> Row:
        if hasattr(table, "id_prefix"):
            values.setdefault("id", f"{table.id_prefix}-{next(self.numbers)}")
        self.rows[table].append(values)
        return values

    # people, rooms, calendars

    def _people(self) -> None:
        names = full_names(self.rng, 38, namesakes=2)
        home = self.rng.choice((-300, 0, 60))
        self.addresses: set[str] = set()
        self._person("Alex Morgan", "product", home, id=SELF)
        for index, name in enumerate(names):
            remote = self.rng.random() < 0.25
            self._person(name, stock.TEAMS[index % len(stock.TEAMS)], self.rng.choice(_OFFSETS) if remote else home)
        for _ in range(5):
            self._person(f"{self.rng.choice(FIRST_NAMES)} {self.rng.choice(LAST_NAMES)}", "external", home)
        self.colleagues = [row["id"] for row in self.rows[Person] if row["id"] != SELF and row["team"] != "external"]
        self.guests = [row["id"] for row in self.rows[Person] if row["team"] == "external"]
        for row in self.rng.sample(self.rows[Person][1:], 4):
            self._absence(row)

    def _person(self, name: str, team: str, offset: int, **fixed: str) -> None:
        plain = name.lower().replace(" ", ".").replace("'", "")
        domain = "partner.example" if team == "external" else "northwind.example"
        address, number = f"{plain}@{domain}", 2
        while address in self.addresses:
            address, number = f"{plain}{number}@{domain}", number + 1
        self.addresses.add(address)
        starts, ends = self.rng.choice((("08:00", "16:00"), ("09:00", "17:00"), ("09:00", "18:00"), ("10:00", "18:00")))
        self._add(
            Person, name=name, email=address, team=team, utc_offset=offset, works_from=starts, works_until=ends,
            away_from=None, away_until=None, **fixed,
        )  # fmt: skip

    def _absence(self, person: Row) -> None:
        first = self.rng.randrange(-2, 20)
        days = [self._day(first + index) for index in range(self.rng.randrange(2, 8))]
        person["away_from"], person["away_until"] = days[0], days[-1]
        for day in days:
            self.busy.update((person["id"], quarter) for quarter in _quarters(*day_bounds(day)))

    def _rooms(self) -> None:
        closed = self.rng.sample([name for name, _, _ in stock.ROOMS], 2)
        for name, building, capacity in stock.ROOMS:
            opens, closes = ("08:00", "18:00") if building == "Garden Annex" else ("07:00", "20:00")
            self._add(
                Room, name=name, building=building, capacity=capacity, opens=opens, closes=closes,
                in_service=name not in closed,
            )  # fmt: skip

    def _calendars(self) -> None:
        self.primary = self._calendar("Alex Morgan", SELF, is_primary=True)
        self.own = [self.primary, *(self._calendar(name, SELF) for name in stock.OWN_CALENDARS)]
        self.writable = [self._calendar(name, self._anyone(), "writer") for name in stock.WRITER_CALENDARS]
        self.readable = [self._calendar(name, self._anyone(), "reader") for name in stock.READER_CALENDARS]
        self.hidden = [self._calendar(name, self._anyone()) for name in stock.HIDDEN_CALENDARS]
        for calendar in self.own[1:4]:  # some are shared already
            self._add(
                Access, calendar_id=calendar, person_id=self._anyone(), role=self.rng.choice(("reader", "writer"))
            )

    def _calendar(self, name: str, owner: str, role: str = "", is_primary: bool = False) -> str:
        calendar = self._add(Calendar, name=name, owner_id=owner, is_primary=is_primary)
        self._add(Access, calendar_id=calendar["id"], person_id=owner, role="owner")
        if role:
            self._add(Access, calendar_id=calendar["id"], person_id=SELF, role=role)
        return str(calendar["id"])

    # events

    def _series(self) -> None:
        plans = [(SELF, self.own[:2], False)] * 3 + [("", self.hidden + self.readable, True)] * 3
        plans += [("", self.writable, False)] * 2
        for organizer, calendars, with_self in plans:
            organizer = organizer or self._anyone()
            frequency = self.rng.choice(("daily", "weekly", "weekly", "biweekly", "monthly"))
            count = self.rng.randrange(3, 7)
            invited = self._guest_list(organizer, self.rng.randrange(1, 4), with_self)
            first = self._time(range(-20, 8), [organizer, *invited], frequency, count)
            if first is None:
                continue
            series = self._add(Series, frequency=frequency, first_start=first[0], occurrences=count)
            self._occurrences(series, organizer, self.rng.choice(calendars), first[1], invited)

    def _occurrences(self, series: Row, organizer: str, calendar: str, minutes: int, invited: list[str]) -> None:
        starts = occurrence_starts(series["first_start"], series["frequency"], series["occurrences"])
        title, first_id = self.rng.choice(stock.SERIES_TITLES), f"EVT-{next(self.numbers)}"
        room = self._room(1 + len(invited), [(start, shift(start, minutes)) for start in starts])
        for number, start in enumerate(starts, 1):
            event = self._event(
                organizer, calendar, title, start, minutes, invited, room,
                id=first_id if number == 1 else f"{first_id}-{number}",
            )  # fmt: skip
            event.update(series_id=series["id"], occurrence=number, original_start=start)

    def _single_events(self) -> None:
        for _ in range(65):
            private = self.rng.random() < 0.2
            titles, size = (stock.PRIVATE_TITLES, 0) if private else (stock.TITLES, self.rng.randrange(0, 6))
            calendar = self.own[1] if private else self.rng.choice([self.primary] * 4 + self.own[2:5])
            self._single(SELF, calendar, titles, self._guest_list(SELF, size, False))
        for _ in range(30):
            organizer = self._anyone()
            invited = self._guest_list(organizer, self.rng.randrange(0, 5), True)
            self._single(organizer, self.rng.choice(self.hidden + self.readable), stock.TITLES, invited)
        for _ in range(45):
            organizer = self._anyone()
            invited = self._guest_list(organizer, self.rng.randrange(0, 5), False)
            calendars = self.writable[:-1] * 2 + self.readable + self.hidden  # the last one stays empty
            self._single(organizer, self.rng.choice(calendars), stock.TITLES, invited)

    def _single(self, organizer: str, calendar: str, titles: Sequence[str], invited: list[str]) -> None:
        placed = self._time(range(-20, 29), [organizer, *invited])
        if placed is None:
            return
        start, minutes = placed
        wants_room = titles is stock.TITLES and self.rng.random() < 0.55
        room = self._room(1 + len(invited), [(start, shift(start, minutes))]) if wants_room else None
        self._event(organizer, calendar, self.rng.choice(titles), start, minutes, invited, room)

    def _event(
        self, organizer: str, calendar: str, title: str, start: str, minutes: int, invited: list[str],
        room: str | None, **fixed: str,
    ) -> Row:  # fmt: skip
        event = self._add(
            Event, calendar_id=calendar, organizer_id=organizer, title=title,
            description=self.rng.choice(stock.DESCRIPTIONS) if invited and self.rng.random() < 0.4 else "",
            start=start, end=shift(start, minutes), status="confirmed", room_id=room,
            series_id=None, occurrence=None, original_start=None, **fixed,
        )  # fmt: skip
        for index, person in enumerate(invited):
            self._add(
                Invitee, event_id=event["id"], person_id=person, response=self._response(person, start),
                attendance="optional" if index > 1 and self.rng.random() < 0.3 else "required",
            )  # fmt: skip
        return event

    def _response(self, person: str, start: str) -> str:
        if start < text(self.now):
            return self.rng.choice(("accepted", "accepted", "accepted", "tentative", "declined"))
        pending = 5 if person == SELF else 2
        return self.rng.choice(("accepted", "accepted", "tentative", "declined", *["needs_action"] * pending))

    def _closures(self) -> None:
        closures = self.readable[stock.READER_CALENDARS.index("Office closures")]
        for title in self.rng.sample(stock.CLOSURES, 2):
            start = f"{self._day(self.rng.randrange(3, 28))}T00:00"
            self._event(self._anyone(), closures, title, start, 24 * 60, [], None)

    def _cancellations(self) -> None:
        events = self.rows[Event]
        ids = {event["id"] for event in self.rng.sample(events, len(events) // 12)}
        for event in events:
            if event["id"] in ids:
                event.update(status="cancelled", room_id=None)
        pending = "needs_action"
        self.rows[Invitee] = [
            row for row in self.rows[Invitee] if not (row["event_id"] in ids and row["response"] == pending)
        ]

    def _reminders(self) -> None:
        own = [event for event in self.rows[Event] if event["organizer_id"] == SELF and event["status"] == "confirmed"]
        for event in self.rng.sample(own, 25):
            for minutes in self.rng.sample((5, 10, 30, 60), self.rng.randrange(1, 3)):
                method = self.rng.choice(("popup", "email"))
                self._add(Reminder, event_id=event["id"], minutes_before=minutes, method=method)

    # choosing

    def _shuffled(self, items: Sequence[str]) -> list[str]:
        return self.rng.sample(list(items), len(items))

    def _anyone(self) -> str:
        return self.rng.choice(self.colleagues)

    def _guest_list(self, organizer: str, size: int, with_self: bool) -> list[str]:
        pool = [person for person in self.colleagues if person != organizer]
        invited = self.rng.sample(pool, size)
        if size > 3:
            invited[-1] = self.rng.choice(self.guests)
        return [SELF, *invited] if with_self else invited

    def _day(self, offset: int) -> str:
        """The weekday on or after the day so many days from today."""
        day = self.now.date() + timedelta(days=offset)
        return (day + timedelta(days=7 - day.weekday() if day.weekday() > 4 else 0)).isoformat()

    def _time(self, days: range, who: list[str], frequency: str = "daily", count: int = 1) -> tuple[str, int] | None:
        """A start and a length at which everyone is free, on all occurrences; None when some tries found none."""
        for _ in range(12):
            minutes = self.rng.choice(_LENGTHS)
            quarter = self.rng.choice(_QUARTERS)
            start = f"{self._day(self.rng.choice(days))}T{quarter // 4:02}:{quarter % 4 * 15:02}"
            starts = occurrence_starts(start, frequency, count)
            needed = {
                (person, slot) for begin in starts for slot in _quarters(begin, shift(begin, minutes)) for person in who
            }
            on_weekdays = all(datetime.fromisoformat(begin).weekday() < 5 for begin in starts)
            if on_weekdays and not needed & self.busy:
                self.busy |= needed
                return start, minutes
        return None

    def _room(self, people: int, times: list[tuple[str, str]]) -> str | None:
        """The id of a room that is open and free at all times and large enough, or None."""
        slots = [slot for start, end in times for slot in _quarters(start, end)]
        for room in self.rng.sample(self.rows[Room], len(self.rows[Room])):
            fits = room["in_service"] and room["capacity"] >= people
            is_open = all(within_hours(start, end, room["opens"], room["closes"]) for start, end in times)
            needed = {(room["id"], slot) for slot in slots}
            if fits and is_open and not needed & self.busy:
                self.busy |= needed
                return str(room["id"])
        return None


def _quarters(start: str, end: str) -> range:
    """The quarter hours that a time touches, numbered from the first of January of year 1."""
    first, last = (datetime.fromisoformat(moment) - datetime.min for moment in (start, end))
    return range(first // _QUARTER, -(-last // _QUARTER))

"""Texts of the start state: notes, invoices, logs, photos, code. Every function draws from the given generator only."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random

CLIENTS = ["Nordwind GmbH", "Café Aurora", "Hillside Dental", "Pérez & Hijos", "Lumen Studio", "Baltic Freight"]
WORK = [
    ("design workshop", 480),
    ("site maintenance", 180),
    ("translation", 95),
    ("data clean-up", 240),
    ("training day", 650),
    ("photo editing", 120),
    ("consulting", 375),
]
_TOPICS = [
    "release plan",
    "new hires",
    "office move",
    "client feedback",
    "budget review",
    "holiday cover",
    "backup test",
]
_ACTIONS = [
    "send the draft to the team",
    "book a room for Monday",
    "check the numbers with finance",
    "ask the client about the deadline",
    "update the handbook",
    "close the old tickets",
    "prepare the demo",
    "review the budget",
]
_EVENTS = [
    "INFO service started, version 2.4.{n}",
    "INFO request served in {n} ms",
    "WARNING disk almost full: {n} MB left",
    "ERROR connection to database lost, retry {n}",
    "INFO backup finished, {n} files",
    "WARNING login failed for user guest, attempt {n}",
    "ERROR timeout after {n} s while sending mail",
    "INFO cache cleared, {n} entries",
]
_PLACES = ["Alfama", "Belém", "harbour", "old town", "market hall", "summit", "lakeside", "station", "garden"]
_BUDGET = ["rent", "groceries", "transport", "insurance", "books", "gifts", "phone", "sports club"]


def meeting_notes(rng: Random, day: date, people: Sequence[str]) -> str:
    """Minutes of a meeting, with actions and who takes them."""
    present = rng.sample(list(people), 3)
    lines = [f"# Team meeting {day.isoformat()}", f"Present: {', '.join(present)}", ""]
    lines += [f"- {topic}" for topic in rng.sample(_TOPICS, 3)]
    lines += ["", "Actions"]
    lines += [f"- TODO {rng.choice(present)}: {action}" for action in rng.sample(_ACTIONS, 2)]
    return "\n".join(lines) + "\n"


def to_do(rng: Random) -> str:
    """A list of things to do, some of them done."""
    return "".join(f"[{rng.choice(' x')}] {action}\n" for action in rng.sample(_ACTIONS, rng.randint(3, 6)))


def invoice(rng: Random, number: str, day: date) -> tuple[str, str, int]:
    """An invoice with its client and its total in euros; the total is the sum of its lines."""
    client = rng.choice(CLIENTS)
    lines = []
    total = 0
    for work, price in rng.sample(WORK, rng.randint(1, 3)):
        count = rng.randint(1, 3)
        total += count * price
        lines.append(f"{count} x {work} @ {price}.00 = {count * price}.00")
    due = day + timedelta(days=30)
    body = "\n".join(lines)
    text = f"Invoice {number}\nDate: {day}\nClient: {client}\n\n{body}\nTotal: {total}.00 EUR\nDue: {due}\n"
    return text, client, total


def log(rng: Random, day: date) -> str:
    """A day's log, in order of time."""
    minutes = sorted(rng.sample(range(24 * 60), rng.randint(4, 8)))
    lines = []
    for minute in minutes:
        event = rng.choice(_EVENTS).format(n=rng.randint(2, 99))
        lines.append(f"{day} {minute // 60:02d}:{minute % 60:02d} {event}\n")
    return "".join(lines)


def photo(rng: Random, day: datetime, place: str = "") -> str:
    """The stand-in for a picture: what its metadata says."""
    size = rng.choice(["4032x3024", "3024x4032", "6000x4000"])
    return f"JPEG {size}\nTaken: {day.isoformat(timespec='minutes')}\nPlace: {place or rng.choice(_PLACES)}\n"


def monthly_budget(rng: Random) -> str:
    """A household budget as CSV, with its total in the last line."""
    rows = [(item, rng.randrange(20, 400, 5)) for item in rng.sample(_BUDGET, 6)]
    lines = [f"{item},{amount}\n" for item, amount in rows]
    return "item,amount\n" + "".join(lines) + f"Total,{sum(amount for _, amount in rows)}\n"


def contacts(people: Sequence[tuple[str, str]]) -> str:
    """Name and address of everyone, as CSV."""
    return "name,email\n" + "".join(f"{full_name},{name}@example.org\n" for name, full_name in people)


def code(rng: Random, project: str) -> str:
    """A small program."""
    limit = rng.randint(3, 40)
    return (
        f'"""Entry point of {project}."""\n\nLIMIT = {limit}\n\n\ndef main(items):\n'
        f"    # TODO read the limit from config.yaml\n    return sorted(items)[:LIMIT]\n"
    )


def changelog(rng: Random, day: date) -> str:
    """Past versions, newest first."""
    lines = []
    for minor in range(rng.randint(2, 4), 0, -1):
        lines.append(f"## version 0.{minor} ({day})\n- {rng.choice(_ACTIONS)}\n")
        day -= timedelta(days=rng.randint(10, 40))
    return "".join(lines)


def measurements(rng: Random) -> str:
    """A little table of numbers, with repeated lines."""
    rows = [f"{rng.choice('ABC')},{rng.randint(1, 9)}\n" for _ in range(rng.randint(5, 9))]
    return "sample,value\n" + "".join(rows) + rows[0]

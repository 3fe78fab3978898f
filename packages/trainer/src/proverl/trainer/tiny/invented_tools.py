"""Tools that no server has: random names, signatures and values, in the shapes that real ones have."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from proverl.core import Json, Tool

_NOUN_WORDS = (
    "account album alert appointment article asset badge batch bill book booking branch bucket budget bundle campaign "
    "card cargo case channel claim clinic contact contract coupon course customer dataset delivery device document "
    "driver drone event exhibit file flight folder form game garden gift group guest hotel idea image invoice issue "
    "item job journal key label lead lesson letter license list loan log machine map member memo menu message meter "
    "mission model module movie note notice offer office order page parcel partner patient payment permit photo plan "
    "playlist policy poll post profile project prompt quote receipt recipe record refund region reminder rental "
    "report request reward robot room route rule sample schedule script seat sensor session shift shipment signal "
    "site snapshot song stamp station survey table tag task team template tenant test thread ticket topic tour track "
    "transfer trip unit user vehicle vendor video visit voucher"
)
_ACT_WORDS = (
    "add archive assign cancel change check close configure convert copy create delete describe duplicate edit enable "
    "export extend fetch file find flag freeze get issue join lock make mark merge move open order pause pin print "
    "publish read release rename renew repeat replace reserve reset restore resume review rotate run schedule search "
    "send set share show sign sort split start stop submit swap tag test track transfer trim update upgrade upload "
    "verify view withdraw write"
)
_ADJECTIVE_WORDS = "active annual backup daily default direct external final guest main new open paid recurring"
NOUNS = _NOUN_WORDS.split()
_ACTS = _ACT_WORDS.split()
_ADJECTIVES = _ADJECTIVE_WORDS.split()
_SUFFIXES = ("", "", "", "_status", "_details", "_history", "_limit", "_settings", "_size", "_owner")
_ENDINGS = ("txt", "md", "csv", "log", "json")

Draw = Callable[[Random], Json]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its schema, and how a value for it is drawn."""

    name: str
    schema: dict[str, Any]
    draw: Draw
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Invention:
    """An invented tool of entity `noun`; when `takes_id`, its first parameter is that entity's id."""

    tool: Tool
    noun: str
    parameters: tuple[Parameter, ...]
    takes_id: bool

    @property
    def words(self) -> str:
        """The tool's name as a person says it."""
        return self.tool.name.replace("_", " ")


def word(rng: Random) -> str:
    """A real noun, or syllables that mean nothing."""
    if rng.random() < 0.4:
        return rng.choice(NOUNS)
    consonants, ends = "bcdfghjklmnprstvwz", ("", *"lmnrst")
    count = rng.randint(1, 3)
    return "".join(rng.choice(consonants) + rng.choice("aeiou") + rng.choice(ends) for _ in range(count))


def words(rng: Random, low: int, high: int) -> str:
    """Words as in a title."""
    text = " ".join(word(rng) for _ in range(rng.randint(low, high)))
    return text.capitalize() if rng.random() < 0.6 else text


def identifier(rng: Random, noun: str = "") -> str:
    """An id in one of the usual spellings: acc_12, acc-1234, ACC-123, acc1234, 1234."""
    stem = (noun or word(rng))[: rng.choice((2, 3, 3, 4, 9))]
    digits = "".join(rng.choice(string.digits) for _ in range(rng.choice((2, 3, 4, 4, 5))))
    upper = f"{stem.upper()}-{digits}"
    return rng.choice((f"{stem}_{digits}", f"{stem}-{digits}", upper, upper, f"{stem}{digits}", digits))


def date(rng: Random) -> str:
    """A date of these years."""
    return f"202{rng.randint(4, 8)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def _clock(rng: Random) -> str:
    return f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"


def _moment(rng: Random) -> str:
    return f"{date(rng)}T{_clock(rng)}"


def _amount(rng: Random) -> Json:
    return rng.choice((rng.randint(5, 999), rng.randint(1, 99) * 10, rng.randint(500, 99_999) / 100))


def _count(rng: Random) -> Json:
    return rng.randint(1, rng.choice((9, 99, 400)))


def _person(rng: Random) -> str:
    return " ".join(word(rng).capitalize() for _ in range(rng.choice((1, 2, 2))))


def _path(rng: Random) -> str:
    folders = "".join(f"/{word(rng)}" for _ in range(rng.randint(0, 2)))
    return f"{folders}/{word(rng)}.{rng.choice(_ENDINGS)}".removeprefix(rng.choice(("/", "")))


def _mail(rng: Random) -> str:
    return f"{word(rng)}@{word(rng)}.{rng.choice(('com', 'org', 'net'))}"


def _title(rng: Random) -> str:
    return words(rng, 1, 4)


def _several(rng: Random) -> Json:
    return [word(rng) for _ in range(rng.randint(1, 3))]


def _switch(rng: Random) -> Json:
    return rng.random() < 0.5


_STRING: dict[str, Any] = {"type": "string"}
_KINDS: tuple[tuple[str, dict[str, Any], Draw], ...] = (
    ("amount price limit balance rate total", {"type": "number"}, _amount),
    ("count days size quantity priority minutes", {"type": "integer"}, _count),
    ("date due_date from_date day", _STRING, date),
    ("start end at starts_at", _STRING, _moment),
    ("time opens_at", _STRING, _clock),
    ("title name subject note memo text message", _STRING, _title),
    ("recipient owner person guest", _STRING, _person),
    ("path source destination file", _STRING, _path),
    ("email contact", _STRING, _mail),
    ("label tag code category city", _STRING, word),
    ("pin other_id reference", _STRING, identifier),
    ("urgent enabled public recursive", {"type": "boolean"}, _switch),
    ("tags people files", {"type": "array", "items": _STRING}, _several),
)


def invent_tool(rng: Random, noun: str, takes_id: bool) -> Invention:
    """A tool that does something with entities `noun`."""
    adjective = f"{rng.choice(_ADJECTIVES)}_" if rng.random() < 0.2 else ""
    name = f"{rng.choice(_ACTS)}_{adjective}{noun}{rng.choice(_SUFFIXES)}"
    parameters = [Parameter(f"{noun}_id", _STRING, lambda rng: identifier(rng, noun))] if takes_id else []
    count = rng.choice((0, 1, 1, 2, 3) if takes_id else (1, 2, 2, 3))
    parameters += [_choice(rng) if kind is None else _plain(rng, kind) for kind in rng.sample((*_KINDS, None), count)]
    schema = {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters if not parameter.optional],
    }
    return Invention(Tool(name, name, schema, {"type": "object"}), noun, tuple(parameters), takes_id)


def _plain(rng: Random, kind: tuple[str, dict[str, Any], Draw]) -> Parameter:
    names, schema, draw = kind
    return Parameter(rng.choice(names.split()), schema, draw, rng.random() < 0.3)


def _choice(rng: Random) -> Parameter:
    """A parameter with a list of allowed values, which the signature shows or not."""
    values = sorted({word(rng) for _ in range(rng.randint(2, 4))})
    schema = {"type": "string", "enum": values} if rng.random() < 0.7 else _STRING
    name = rng.choice(("status", "mode", "color", "frequency"))
    return Parameter(name, schema, lambda rng: rng.choice(values), rng.random() < 0.3)

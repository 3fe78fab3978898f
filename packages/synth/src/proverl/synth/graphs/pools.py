"""Groups of result fields that hold the same values, and which of them a parameter's words speak of."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log

from proverl.core import Tool
from proverl.synth.graphs.probe import Field, Value

_SAME = 0.25  # share of a field's values that lie in a group, from which it belongs to it
_TELLING = 20  # groups that a word may speak of and still tell something
_STOP = {"id", "a", "an", "the", "of", "to", "from", "by", "for", "in", "on", "with", "all", "new", "name", "value"}
_STOP |= {"list", "get", "find", "search", "show"}


@dataclass
class Pool:
    """Fields that hold the same values."""

    fields: list[Field] = field(default_factory=list)
    values: dict[Value, list[Field]] = field(default_factory=dict)

    def sample(self, number: int) -> list[Value]:
        """Some values, taken in turn from the fields, so that every kind is there."""
        number = max(number, min(len(self.fields), 4 * number))
        by_field: dict[Field, list[Value]] = defaultdict(list)
        for value, fields in self.values.items():
            for one in fields:
                by_field[one].append(value)
        turns = (values[index] for index in range(number) for values in by_field.values() if index < len(values))
        return list(dict.fromkeys(turns))[:number]


def pools_of(observed: Mapping[Field, Mapping[Value, None]]) -> list[Pool]:
    """Group fields by the values that they share: through an index of values, so in time linear in what was seen.

    Numbers are told apart by their fields' names alone: 1, 2, 3 name something in every table.
    """
    pools: list[Pool] = []
    holders: dict[object, dict[int, None]] = defaultdict(dict)
    for one in sorted(observed, key=lambda one: (-len(observed[one]), one)):
        keys = [value if isinstance(value, str) else " ".join(subject(one)) for value in observed[one]]
        shared = Counter(index for key in keys for index in holders[key])
        best = max(shared, key=lambda index: (shared[index], -index), default=None)
        if best is None or shared[best] < (_SAME if shared[best] > 1 else 0.5) * len(keys):
            best = len(pools)
            pools.append(Pool())
        pools[best].fields.append(one)
        for key, value in zip(keys, observed[one], strict=True):
            holders[key][best] = None
            pools[best].values.setdefault(value, []).append(one)
    return pools


@lru_cache(maxsize=65_536)
def words(text: str) -> list[str]:
    """The words of a name or a sentence, in the singular."""
    split = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return [_singular(word) for word in split]


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("xes", "x"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return word


@lru_cache(maxsize=65_536)
def subject(one: Field) -> list[str]:
    """What a field of a result names: `accounts.*.id` and `account_id` name an account; `id` alone, the tool's."""
    parts = [part for part in one[1].split(".") if part != "*"]
    for part in reversed(parts):
        found = [word for word in words(part) if word not in _STOP]
        if found:
            return found
    return [word for word in words(one[0])[1:] if word not in _STOP]


class Ranking:
    """Pools in the order in which a parameter's words speak of them, through an index of words."""

    def __init__(self, pools: Sequence[Pool], tools: Mapping[str, Tool]) -> None:
        self._pools = pools
        self._index: dict[str, Counter[int]] = defaultdict(Counter)
        for number, pool in enumerate(pools):
            for one in pool.fields:
                for word in {*subject(one), *words(one[0])}:
                    self._index[word][number] += 3 if word in subject(one) else 1
        self._named = sorted(range(len(pools)), key=lambda number: (-_names(pools[number]), number))

    def __call__(self, tool: Tool, name: str, most: int) -> list[Pool]:
        """At most `most` pools, those that share words with the parameter first, then what looks most like a name."""
        score: Counter[int] = Counter()
        said = str(tool.parameters["properties"][name].get("description", ""))
        for weight, found in ((6, words(name)), (2, words(said)), (1, words(tool.name))):
            for word in found:
                hits = self._index.get(word, Counter()) if word not in _STOP else Counter()
                for number, count in hits.items() if len(hits) <= _TELLING else ():
                    score[number] += weight * log(1 + len(self._pools) / len(hits)) * min(count, 3)  # type: ignore[assignment]
        told = sorted(score, key=lambda number: (-score[number], number))[:most]
        return [self._pools[number] for number in dict.fromkeys([*told, *self._named[:most]])][:most]


def _names(pool: Pool) -> float:
    """How much a pool's values look like names of things: no spaces, and several fields that hold them."""
    values: Iterable[str] = [str(value) for value in list(pool.values)[:20]]
    plain = sum(not re.search(r"\s", value) for value in values) / max(len(list(values)), 1)
    return plain * (1 + min(len(pool.fields), 4)) * (1 + any(char.isdigit() for value in values for char in value))

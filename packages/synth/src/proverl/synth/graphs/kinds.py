"""From what exploring has shown to entities: groups of fields, and the kinds of things that one group mixes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

import networkx as nx

from proverl.synth.graphs.explore import Explorer, Parameter
from proverl.synth.graphs.probe import Field, Value

Seen = tuple[int, Value]  # a value in a world
_MOSTLY = 0.95  # share of a field's values of one kind, from which it is of that kind
_SAME_REFUSAL = (
    0.85  # likeness of refusals that say the same: "is a file, not an archive", "is a file, not a directory"
)
_OFTEN = 0.2  # share of calls with real values that a parameter accepts, from which its refusals are about the value


@dataclass
class Entity:
    """Fields that name the same kind of thing, and the parameters that ask for it."""

    fields: list[Field]
    parameters: list[Parameter] = field(default_factory=list)
    name: str = ""


class Evidence:
    """The answers of all worlds, and an index of which parameters a value was tried for."""

    def __init__(self, worlds: Sequence[Explorer]) -> None:
        self.worlds = worlds
        self._answers: dict[Parameter, dict[Seen, str]] = defaultdict(dict)
        self._tried: dict[Seen, dict[Parameter, None]] = defaultdict(dict)
        for at, world in enumerate(worlds):
            for key, answers in world.answers.items():
                for value, kind in answers.items():
                    self._answers[key][at, value] = kind
                    self._tried[at, value][key] = None
        self._accepting = {key for key, given in self._answers.items() if "ok" in given.values()}

    def seen_in(self, one: Field) -> set[Seen]:
        """The values that a field was seen to hold."""
        return {(at, value) for at, world in enumerate(self.worlds) for value in world.probe.values.get(one, ())}

    def answers(self, values: set[Seen]) -> dict[Parameter, dict[Seen, str]]:
        """By parameter that takes some of these values: the kinds of answer that they get.

        Refusals for another reason than a wrong value count for parameters that accept no value at all.
        """
        found: dict[Parameter, dict[Seen, str]] = {}
        for key in sorted({key for seen in values for key in self._tried.get(seen, ())}):
            here = {seen: kind for seen, kind in self._answers[key].items() if seen in values}
            if "ok" in here.values() or any(here.values()) and key not in self._accepting:
                found[key] = here
        return found


def groups(worlds: Sequence[Explorer]) -> list[list[Field]]:
    """Fields that share values in some world, or whose new values are taken where others' are."""
    same = nx.Graph()
    for world in worlds:
        for pool in world.pools:
            nx.add_path(same, pool.fields)
        same.add_edges_from(world.alike)
    return sorted(sorted(group) for group in nx.connected_components(same))


def entities_in(group: list[Field], evidence: Evidence) -> list[Entity]:
    """The entities of a group of fields: one, unless results list some apart and parameters take only those."""
    values = {one: evidence.seen_in(one) for one in group}
    kinds_of_answer = evidence.answers(set().union(*values.values()))
    if not kinds_of_answer:
        return []
    parts = _parts(values)
    often = {key: given for key, given in kinds_of_answer.items() if any(_often(given, part) for part in parts)}
    kinds = _kinds(parts, often)
    if len(kinds) < 2:
        return [Entity(group, sorted(kinds_of_answer))]
    refusals = _refusals(kinds, often)
    answers = {
        key: {
            seen: bool(kind) and not get_close_matches(kind, refusals, 1, _SAME_REFUSAL) for seen, kind in given.items()
        }
        for key, given in kinds_of_answer.items()
    }
    takes = {key: _taken(kinds, given) for key, given in answers.items()}
    entities = [Entity([], [key for key, taken in takes.items() if taken[index]]) for index in range(len(kinds))]
    mixed = Entity([], [key for key, taken in takes.items() if all(taken)])
    for one, seen in values.items():
        if _refused(seen, answers):
            continue
        found = Counter(_kind_of(value, kinds, takes, answers) for value in seen)
        del found[None]
        for index, number in found.most_common(1):
            (entities[index or 0] if number > _MOSTLY * found.total() else mixed).fields.append(one)
    return [entity for entity in (*entities, mixed) if entity.fields and entity.parameters]


def _often(given: dict[Seen, str], part: set[Seen]) -> bool:
    """Whether a parameter accepts so many of some values that it refuses others because of what they are."""
    said = [given[seen] for seen in part if given.get(seen)]
    return said.count("ok") > _OFTEN * len(said)


def _refusals(kinds: list[set[Seen]], often: dict[Parameter, dict[Seen, str]]) -> set[str]:
    """The refusals that a parameter gives to all values of a kind and to none of a kind that it accepts."""
    found: set[str] = set()
    for given in often.values():
        said = [{given[seen] for seen in kind if seen in given} for kind in kinds]
        found |= set().union(*(part for part in said if "ok" not in part)) - set().union(
            *(part for part in said if "ok" in part)
        )
    return found


def _parts(values: dict[Field, set[Seen]]) -> list[set[Seen]]:
    """Values that one result lists apart, of the result with the most such lists."""
    lists: dict[str, dict[str, set[Seen]]] = defaultdict(dict)  # by tool and list, the largest first
    for (tool, path), seen in sorted(values.items(), key=lambda item: (-len(item[1]), item[0])):
        if "*" in path and not seen & set().union(*lists[tool].values()):
            lists[tool].setdefault(path.rpartition("*")[0], seen)
    return list(max(lists.values(), key=len, default={}).values())


def _kinds(parts: list[set[Seen]], often: dict[Parameter, dict[Seen, str]]) -> list[set[Seen]]:
    """The parts, joined where no parameter takes the ones and refuses the others for what they are."""
    kinds: list[set[Seen]] = []
    for part in parts:
        alike = next((kind for kind in kinds if not _differ(kind, part, often)), None)
        if alike is None:
            kinds.append(set(part))
        else:
            alike |= part
    return kinds


def _differ(kind: set[Seen], part: set[Seen], often: dict[Parameter, dict[Seen, str]]) -> bool:
    for given in often.values():
        one, other = ({given[seen] for seen in side if seen in given} for side in (kind, part))
        if "ok" in other:
            one, other = other, one
        if "ok" in one and "ok" not in other and other - one:
            return True
    return False


def _taken(kinds: list[set[Seen]], given: dict[Seen, bool]) -> list[bool]:
    """Which kinds a parameter takes; one that was not tried, where it takes all that were."""
    tried = [[given[seen] for seen in kind if seen in given] for kind in kinds]
    every = sum(map(bool, tried)) > 1 and all(any(part) for part in tried if part)
    return [any(part) if part else every for part in tried]


def _kind_of(
    value: Seen,
    kinds: list[set[Seen]],
    takes: dict[Parameter, list[bool]],
    answers: dict[Parameter, dict[Seen, bool]],
) -> int | None:
    """The kind of a value: where it was listed, or the one that is taken wherever the value is; None when none is."""
    for index, kind in enumerate(kinds):
        if value in kind:
            return index
    given = {key: answers[key][value] for key in answers if value in answers[key]}
    if not any(given.values()):
        return None
    wrong = [sum(taken != takes[key][index] for key, taken in given.items()) for index in range(len(kinds))]
    return wrong.index(min(wrong))


def _refused(values: set[Seen], answers: dict[Parameter, dict[Seen, bool]]) -> bool:
    """Whether no parameter takes what a field holds: the former path of a deleted file."""
    tried = {seen: [given[seen] for given in answers.values() if seen in given] for seen in values}
    taken = {seen: any(given) for seen, given in tried.items() if given}
    return bool(taken) and sum(taken.values()) < _OFTEN * len(taken)

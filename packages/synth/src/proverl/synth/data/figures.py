"""What a dataset holds, counted in one streaming pass."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from proverl.core import Task
from proverl.synth.data.dataset import perturbations
from proverl.synth.data.queries import Queries


def origin(task: Task) -> str:
    """Where a task comes from: the name of an outside source, or nothing."""
    found = task.notes.get("origin")
    return str(found.get("source")) if isinstance(found, dict) else str(found or "")


def sources(task: Task) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(step, argument path, source) of every value whose source was noted. Raises ValueError for other notes."""
    noted: Any = task.notes.get("sources") or ()
    if not isinstance(noted, list | tuple) or not all(isinstance(arguments, dict) for arguments in noted):
        raise ValueError(f"notes.sources of {task.id} is {str(noted)[:80]}; it is a list of objects, one a step")
    for step, arguments in enumerate(noted):
        for path, source in arguments.items():
            yield step, path, source


_NAMES = {"turn": "said by the user", "result": "returned by an earlier call", "date": "the reference date"}


def _kinds(source: dict[str, Any]) -> Iterator[str]:
    """What a value comes from; a derived one counts as its operation and as what it was derived from."""
    if source["from"] != "derived":
        yield _NAMES.get(source["from"], source["from"])
        return
    operation = str(source["operation"])
    yield f"derived: {'a day by its distance' if ' days' in operation else operation}"
    for part in source["of"]:
        yield from _kinds(part)


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


@dataclass
class Figures:
    """Counters over the tasks of one split; they grow with what is distinct, not with the rows."""

    rows: int = 0
    own: int = 0  # rows that come from no outside source
    kinds: Counter[str] = field(default_factory=Counter)
    servers: Counter[tuple[str, str]] = field(default_factory=Counter)  # main server, kind
    calls: Counter[int] = field(default_factory=Counter)
    turns: Counter[int] = field(default_factory=Counter)
    called: Counter[str] = field(default_factory=Counter)  # rows in which a tool is expected
    offered: Counter[int] = field(default_factory=Counter)  # tools on offer in a row
    edges: Counter[str] = field(default_factory=Counter)
    information: Counter[str] = field(default_factory=Counter)  # of multi_turn rows
    personas: Counter[str] = field(default_factory=Counter)
    perturbed: Counter[str] = field(default_factory=Counter)
    recoveries: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)  # where argument values come from
    derived_rows: int = 0
    teachers: Counter[str] = field(default_factory=Counter)
    origins: Counter[str] = field(default_factory=Counter)
    worlds: set[int] = field(default_factory=set)
    chains: set[int] = field(default_factory=set)
    samples: dict[str, Task] = field(default_factory=dict)  # one of each kind, by the least hash of the id
    queries: Queries = field(default_factory=Queries)

    def add(self, task: Task) -> None:
        """Count one task."""
        kind, steps = str(task.kind), task.ground_truth.steps
        self.rows += 1
        self.kinds[kind] += 1
        self.calls[len(steps)] += 1
        self.turns[len(task.turns)] += 1
        self.called.update({step.name for step in steps})
        self.offered[len(task.tools)] += 1
        self.edges.update(edge.kind for edge in task.ground_truth.edges)
        self.queries.add(task)
        if kind not in self.samples or _digest(task.id) < _digest(self.samples[kind].id):
            self.samples[kind] = task
        self._add_notes(task, kind)
        self._add_origin(task, kind)

    def _add_notes(self, task: Task, kind: str) -> None:
        notes: Any = task.notes
        if kind == "multi_turn":  # other rows tell what little they need
            self.information[str(notes.get("information") or "not noted")] += 1
        for note, counter in (("persona", self.personas), ("teacher", self.teachers)):
            if notes.get(note):
                counter[str(notes[note])] += 1
        self.perturbed.update(perturbations(task))
        if notes.get("recovery"):
            self.recoveries[str(notes["recovery"]["kind"])] += 1
        found = Counter(name for _, _, source in sources(task) for name in _kinds(source))
        self.values.update(found)
        self.derived_rows += any(name.startswith("derived") for name in found)

    def _add_origin(self, task: Task, kind: str) -> None:
        name = origin(task)
        self.servers[name or str(task.notes.get("server") or " ".join(task.servers[:1])), kind] += 1
        if name:
            self.origins[name] += 1
            return
        self.own += 1
        self.worlds.add(task.seed)
        if chain := task.notes.get("chain"):
            self.chains.add(_digest(str(chain)))


def count(tasks: Iterable[Task]) -> Figures:
    """Count all tasks."""
    figures = Figures()
    for task in tasks:
        figures.add(task)
    return figures

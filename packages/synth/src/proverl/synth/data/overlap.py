"""Whether the data repeats a benchmark: users' turns by their word n-grams, tools by their names.

A turn is compared with all of a benchmark at once: which share of its n-grams stands anywhere in the benchmark's texts.
That is at least its share in any one text, and the time grows with the words alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from proverl.core import Task
from proverl.synth.data.queries import words
from proverl.synth.data.references import Reference, references

SIZE = 8  # words of an n-gram
THRESHOLD = 0.5  # share of a turn's n-grams from which it counts as repeated
_LEAST = 4  # words of a turn that is compared at all
_SHOWN = 5


def shingles(text: str, size: int = SIZE) -> set[str]:
    """The n-grams of a text; a short text is its own, a very short one has none."""
    spoken = words(text)
    if len(spoken) < size:
        return {" ".join(spoken)} if len(spoken) >= _LEAST else set()
    return {" ".join(spoken[at : at + size]) for at in range(len(spoken) - size + 1)}


@dataclass(frozen=True)
class Match:
    """A turn that repeats a benchmark's text."""

    task: str
    share: float
    turn: str
    text: str


@dataclass
class Found:
    """What one benchmark and the data have in common."""

    reference: str
    unit: str
    texts: int
    missing: str = ""
    lengths: Counter[int] = field(default_factory=Counter)  # words of the benchmark's texts
    touched: int = 0  # turns with some common n-gram
    highest: float = 0.0
    matches: list[Match] = field(default_factory=list)
    equal: list[str] = field(default_factory=list)  # tools of the same name
    similar: list[str] = field(default_factory=list)  # tools of the same name but for case and punctuation


@dataclass
class Report:
    """The overlap with every benchmark; `refused` are the ids of rows that repeat one."""

    threshold: float
    size: int
    turns: int
    found: list[Found]

    @property
    def refused(self) -> set[str]:
        """Ids of the rows with a turn at or above the threshold."""
        return {match.task for found in self.found for match in found.matches}

    def lines(self) -> Iterator[str]:
        """The report as Markdown."""
        yield (
            f"{self.turns:,} turns; a turn counts as repeated when {100 * self.threshold:.0f}% or more of its "
            f"{self.size}-word n-grams stand in a benchmark (shorter turns: all of their words). Equal names of tools "
            "are reported only: they follow from the paper's servers.\n"
        )
        if not self.found:
            yield "Not checked: no benchmark was given.\n"
        for found in self.found:
            yield f"- {found.reference}: {_told(found)}"
        yield ""


def _told(found: Found) -> str:
    if found.missing:
        return f"not checked: {found.missing}."
    text = (
        f"{len(found.matches)} turns repeated, {found.touched} with any common n-gram, highest share "
        f"{found.highest:.2f}, among {found.texts:,} texts. Tools of the same name: {', '.join(found.equal) or 'none'}"
    )
    text += f"; but for case and punctuation: {', '.join(found.similar)}." if found.similar else "."
    shown = [f"{match.task}: {match.turn!r} ({match.share:.2f})" for match in found.matches[:_SHOWN]]
    return text + (f" Repeated: {'; '.join(shown)}." if shown else "")


class _Compared:
    """One benchmark's n-grams, and what was found so far."""

    def __init__(self, reference: Reference, size: int) -> None:
        self.reference, self.size = reference, size
        self.index = {gram: at for at, text in enumerate(reference.queries) for gram in shingles(text, size)}
        lengths = Counter(len(words(text)) for text in reference.queries)
        self.found = Found(reference.name, reference.unit, len(reference.queries), reference.missing, lengths)

    def compare(self, task: Task, turn: str, grams: set[str], threshold: float) -> None:
        known = [self.index[gram] for gram in grams if gram in self.index]
        if not known:
            return
        share = len(known) / len(grams)
        self.found.touched += 1
        self.found.highest = max(self.found.highest, share)
        if share >= threshold:
            text = self.reference.queries[max(sorted(known), key=known.count)]
            self.found.matches.append(Match(task.id, share, turn, text))

    def compare_tools(self, names: set[str]) -> None:
        theirs = {_plain(name) for name in self.reference.tools}
        self.found.equal = sorted(names & self.reference.tools)
        self.found.similar = sorted(name for name in names - self.reference.tools if _plain(name) in theirs)


def _plain(name: str) -> str:
    """A tool's name without case, punctuation and the name of its server before a dot."""
    return re.sub(r"[\W_]", "", name.rsplit(".", 1)[-1].casefold())


@cache
def _installed() -> tuple[_Compared, ...]:
    return tuple(_Compared(reference, SIZE) for reference in references())


def repeats_benchmark(task: Task) -> str:
    """The turn of a task that repeats an installed benchmark at THRESHOLD or above, or nothing."""
    for turn in task.turns:
        grams = shingles(turn)
        if any(len(grams & one.index.keys()) >= THRESHOLD * max(len(grams), 1) for one in _installed() if grams):
            return turn
    return ""


def overlap(
    tasks: Iterable[Task], benchmarks: Sequence[Reference], threshold: float = THRESHOLD, size: int = SIZE
) -> Report:
    """Compare every user turn and every tool on offer with the benchmarks, in one pass over the tasks."""
    compared = [_Compared(reference, size) for reference in benchmarks]
    turns, names = 0, set[str]()
    for task in tasks if benchmarks else ():
        names.update(tool.name for tool in task.tools)
        for turn in task.turns:
            turns += 1
            grams = shingles(turn, size)
            for one in compared:
                one.compare(task, turn, grams, threshold)
    for one in compared:
        one.compare_tools(names)
    return Report(threshold, size, turns, [one.found for one in compared])

"""How varied the users' turns are: skeletons with every value taken out, n-grams, lengths."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from proverl.core import Json, Task

SLOT = "_"
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|tomorrow|yesterday"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
# what a value looks like wherever it stands; longer forms come first
_VALUES = re.compile(
    r'"[^"]*"|“[^”]*”|(?<!\w)\'[^\']+\'(?!\w)'  # quoted text
    r"|\S+@\S+|\w+://\S+|[~/]?[\w.-]*/[\w./-]+|\b[\w-]+\.[a-z]{2,4}\b"  # addresses, paths, files
    rf"|(?i:\b(?:{_MONTHS}) \d{{1,2}}\b(?:, \d{{4}}\b)?|\b\d{{1,2}} (?:{_MONTHS})\b(?: \d{{4}}\b)?)"
    r"|\b\d{1,2}(?::\d\d)? ?[ap]m\b"
    r"|\b[\w.-]*\d[\w:.,-]*\b"  # ids, numbers, dates, times
    rf"|(?i:\b(?:{_DAYS}|{_NUMBERS})\b)"
    r"|\b[A-Z]{2,}\b"  # symbols
)
_NAME = re.compile(r"(?<=[\w,;:] )(?!I\b)[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_RUN = re.compile(r"[_€$£%#]+(?:[\s,]*(?:and|or)?[\s,]*[_€$£%#]+)*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def literals(value: Json) -> Iterator[Json]:
    """Every value in some arguments that is not a reference to a result."""
    if isinstance(value, dict):
        for item in value.values() if "$result" not in value else ():
            yield from literals(item)
    elif isinstance(value, list):
        for item in value:
            yield from literals(item)
    else:
        yield value


def spellings(task: Task) -> re.Pattern[str] | None:
    """What finds the values that the expected calls take, longest first; None when they take none."""
    found = {str(value) for step in task.ground_truth.steps for value in literals(step.arguments)}
    found |= {text.replace("_", " ") for text in found}
    texts = sorted(found - {"", "True", "False", "None"}, key=lambda text: (-len(text), text))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)", re.IGNORECASE) if texts else None


def skeleton(text: str, values: re.Pattern[str] | None = None) -> str:
    """A text with every value, id, number, date, name and quotation replaced by a slot, and lists of slots by one."""
    if values:
        text = values.sub(SLOT, text)
    text = _NAME.sub(SLOT, _VALUES.sub(SLOT, text))
    return " ".join(_RUN.sub(SLOT, text).casefold().split())


def words(text: str) -> list[str]:
    """The words of a text, lower case."""
    return _WORD.findall(text.casefold())


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


@dataclass
class Queries:
    """Counters over users' turns; they grow with what is distinct, at 8 bytes of key an entry."""

    rows: int = 0
    lengths: Counter[int] = field(default_factory=Counter)  # words of a turn
    conversations: Counter[int] = field(default_factory=Counter)  # words of all turns of a row
    wholes: Counter[int] = field(default_factory=Counter)  # skeletons of all turns of a row
    firsts: Counter[int] = field(default_factory=Counter)
    sentences: Counter[str] = field(default_factory=Counter)
    grams: dict[int, Counter[int]] = field(default_factory=lambda: {1: Counter(), 2: Counter(), 3: Counter()})

    def add(self, task: Task) -> None:
        """Count the turns of one task."""
        self.rows += 1
        values = spellings(task)
        skeletons = [skeleton(turn, values) for turn in task.turns]
        self.wholes[_key("\n".join(skeletons))] += 1
        self.firsts[_key(skeletons[0])] += 1
        self.sentences.update(part for text in skeletons for part in _SENTENCE.split(text) if part)
        counts = [self._add_words(words(turn)) for turn in task.turns]
        self.conversations[sum(counts)] += 1

    def _add_words(self, spoken: list[str]) -> int:
        self.lengths[len(spoken)] += 1
        for size, counter in self.grams.items():
            counter.update(_key(" ".join(spoken[at : at + size])) for at in range(len(spoken) - size + 1))
        return len(spoken)

    def distinct(self, size: int) -> float:
        """Distinct-n: the share of n-grams that are the first of their kind."""
        return len(self.grams[size]) / max(self.grams[size].total(), 1)


def mean(counts: Counter[int]) -> float:
    """The mean of counted values."""
    return sum(value * count for value, count in counts.items()) / max(counts.total(), 1)


def percentile(counts: Counter[int], share: float) -> int:
    """The least counted value that at least this share of all do not exceed; 0 when nothing was counted."""
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= share * counts.total():
            return value
    return 0

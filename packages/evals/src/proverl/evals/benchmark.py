"""One interface to every benchmark: its items, what a policy does with one, and what that is worth.

A benchmark is a frozen dataclass whose fields are its settings, `evals.NAME` in a config. It is found by its name among
the entry points of the group `proverl.benchmarks`, so one of another package needs no change here.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.metadata import entry_points
from itertools import zip_longest
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from proverl.agent import Limits, Policy
from proverl.core import Json

if TYPE_CHECKING:
    from proverl.evals.isolated import Isolated
    from proverl.evals.record import Record

GROUP = "proverl.benchmarks"


@dataclass(frozen=True, slots=True)
class Item:
    """One task. `strata` sorts it, e.g. {"category": "base"}: figures are also given for each value of each key."""

    id: str
    strata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one answer and, in words, what was wrong with it.

    Figures are means over the answers that have them: one that makes no sense for an item is left out there. The
    headline is there always.
    """

    figures: dict[str, float]
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Benchmark(ABC):
    """What every benchmark has; a new one fills in the abstract methods.

    tasks: how many items, as many of every kind as there are, 0 is all. trials: attempts at each, one cluster in the
    intervals. concurrency: attempts at the same time. seconds: the deadline of one attempt; one that takes longer
    counts as failed, not as wrong. context_tokens, reply_tokens: of a whole conversation and of one reply.
    Raises ValueError when a value makes no sense.
    """

    tasks: int = 0
    trials: int = 1
    concurrency: int = 64
    seconds: float = 1800.0
    context_tokens: int = 32768
    reply_tokens: int = 4096

    name: ClassVar[str]
    headline: ClassVar[str]  # the figure that stands for the benchmark
    shares: ClassVar[frozenset[str]] = frozenset()  # figures that are 0 or 1
    macro: ClassVar[tuple[str, ...]] = ()  # strata that the overall figure is an unweighted mean over, outermost first

    def __post_init__(self) -> None:
        least_of = {"tasks": 0, "trials": 1, "concurrency": 1, "context_tokens": 1, "reply_tokens": 1}
        for name, least in least_of.items():
            if getattr(self, name) < least:
                raise ValueError(f"evals.{self.name}.{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"evals.{self.name}.seconds is {self.seconds}; it must be a finite number above 0")

    @classmethod
    def settings(cls) -> list[str]:
        """The names that a config may set."""
        return [one.name for one in fields(cls) if not one.metadata.get("given")]

    def as_config(self) -> dict[str, Json]:
        """The settings as they would be written in YAML."""
        return {name: to_jsonable_python(getattr(self, name)) for name in self.settings()}

    @property
    @abstractmethod
    def version(self) -> str:
        """Of data and scorer, as it stands in every result."""

    @abstractmethod
    def needs(self) -> list[str]:
        """What is missing on this machine, a sentence each with what to do; looked at before anything starts."""

    def model_needs(self) -> list[str]:
        """What else is missing where the policy is a model, not a script: another model to talk to, for example."""
        return []

    @abstractmethod
    def items(self) -> Sequence[Item]:
        """The items that the settings ask for, in a fixed order."""

    def prepare(self) -> None:
        """Load what attempts and scores need: called once, in the process that theirs are copies of."""
        self.items()

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone go to another process; what is read by them is read again there."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @abstractmethod
    async def attempt(self, item: Item, policy: Policy, seed: int, isolated: "Isolated") -> Json:
        """Let the policy do the item, and return all that scoring needs.

        Raises whatever the policy or the world raises: it is made once more, and then counts as failed.
        What a policy's words could turn into code or into an endless computation runs in a process of `isolated`.
        """

    @abstractmethod
    def score(self, item: Item, answer: Json) -> Score:
        """What an answer is worth. Always called in a process of its own; it neither knows nor asks the policy."""

    @abstractmethod
    def oracle(self) -> Policy:
        """The policy that does everything right."""

    @abstractmethod
    def silence(self, item: Item) -> Json:
        """The answer of a policy that does nothing: its score is the floor shown beside every figure."""

    def score_of(self, item: str, answer: Json) -> Score:
        """`score`, by the item's id. Raises ValueError when that is none that a record can keep."""
        return self._kept(self.score(self._by_id[item], answer))

    def floor_of(self, item: str) -> Score:
        """What doing nothing scores. Raises ValueError as `score_of` does."""
        return self.score_of(item, self.silence(self._by_id[item]))

    def _kept(self, found: Any) -> Score:
        if not isinstance(found, Score):
            raise ValueError(f"{self.name}.score returned {found!r}; it must return a Score")
        for name, figure in found.figures.items():
            if not (isinstance(figure, Real) and math.isfinite(figure)):
                raise ValueError(f"{self.name}.score gave {name} the value {figure!r}; it must be a finite number")
        if self.headline not in found.figures:
            raise ValueError(f"{self.name}.score gave no {self.headline}, which is the headline of {self.name}")
        return Score({name: float(figure) for name, figure in found.figures.items()}, found.detail)

    def distinct_items(self) -> Sequence[Item]:
        """`items`. Raises ValueError when there is none, two have one id, or one has not the strata of `macro`."""
        items = self.items()
        if not items:
            raise ValueError(f"evals.{self.name} leaves no item to evaluate")
        if twice := [name for name, times in Counter(item.id for item in items).items() if times > 1]:
            raise ValueError(f"{self.name}.items has {twice[0]} more than once; every item needs an id of its own")
        for item in items:
            if lacking := [key for key in self.macro if key not in item.strata]:
                raise ValueError(f"{self.name}.items has {item.id} without {lacking[0]}, which {self.name}.macro names")
        return items

    @cached_property
    def _by_id(self) -> dict[str, Item]:
        return {item.id: item for item in self.items()}

    def read_results(self, path: Path) -> list["Record"]:
        """Records, still to be scored, of a result file that the benchmark's own package wrote. Raises ValueError."""
        raise ValueError(f"{path}: of {self.name} only the folder of an evaluation can be scored")

    def notes(self, records: Sequence["Record"]) -> list[str]:
        """What a reader of the figures must know, a sentence each."""
        return []

    def limits(self) -> Limits:
        """The token limits in the form that chats take."""
        return Limits(
            prompt_tokens=self.context_tokens,
            response_tokens=self.context_tokens,
            context_tokens=self.context_tokens,
            reply_tokens=self.reply_tokens,
        )

    def chosen(self, items: Sequence[Item]) -> list[Item]:
        """As many of the items as `tasks` says: the first ones of every combination of strata, in turn."""
        if not self.tasks or self.tasks >= len(items):
            return list(items)
        kinds: dict[tuple[str, ...], list[Item]] = {}
        for item in items:
            kinds.setdefault(tuple(item.strata.values()), []).append(item)
        turns = [item for row in zip_longest(*kinds.values()) for item in row if item is not None]
        kept = {item.id for item in turns[: self.tasks]}
        return [item for item in items if item.id in kept]


def known_settings() -> Iterator[str]:
    """Every setting of the benchmarks that are installed and can be loaded, as NAME.SETTING."""
    for point in sorted(entry_points(group=GROUP)):
        with suppress(ImportError):
            made = benchmark_class(point.name)
            hints = get_type_hints(made)
            for setting in made.settings():
                inside = fields(hints[setting]) if is_dataclass(hints[setting]) else ()
                yield from (f"{point.name}.{setting}.{one.name}" for one in inside)
                if not inside:
                    yield f"{point.name}.{setting}"


def benchmark_class(name: str) -> type[Benchmark]:
    """The class behind a name. Raises ValueError, with the names there are, when it is none."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        raise ValueError(f"evals has {name}, which is no benchmark; there are {', '.join(sorted(found))}")
    loaded = found[name].load()
    if not (isinstance(loaded, type) and issubclass(loaded, Benchmark)):
        raise ValueError(f"the entry point {name} of {GROUP} is {loaded!r}; it must be a subclass of Benchmark")
    return loaded


def benchmark(name: str, settings: Mapping[str, Any]) -> Benchmark:
    """The benchmark of that name with these settings. Raises ValueError that names the setting."""
    made = benchmark_class(name)
    for setting in settings:
        if setting not in made.settings():
            near = get_close_matches(setting, made.settings(), 1)
            hint = f"did you mean {near[0]}?" if near else f"{name} has {', '.join(made.settings())}"
            raise ValueError(f"evals.{name}.{setting} is no key of the config; {hint}")
        if isinstance(settings[setting], bool) and get_type_hints(made)[setting] is not bool:
            raise ValueError(
                f"evals.{name}.{setting} is {str(settings[setting]).lower()}: it takes neither true nor false"
            )
    try:
        return TypeAdapter(made).validate_python(dict(settings))
    except ValidationError as error:
        told = error.errors()[0]
        if told["type"] == "value_error":  # a sentence of ours, that names the setting itself
            raise ValueError(told["msg"].removeprefix("Value error, ")) from None
        place = ".".join(str(part) for part in ("evals", name, *told["loc"]))
        raise ValueError(f"{place} is {told['input']!r}: {told['msg'].removeprefix('Value error, ')}") from None

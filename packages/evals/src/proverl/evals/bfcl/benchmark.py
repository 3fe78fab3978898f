"""The benchmark: its settings, and what the interface asks for. `bfcl-eval` is imported when it is first needed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from proverl.agent import Chat, Policy, ToolFormat
from proverl.core import Call, GroundTruth, Json, Task, TaskKind, Tool
from proverl.evals.benchmark import Benchmark, Item, Score
from proverl.evals.bfcl.conversation import Conversation
from proverl.evals.isolated import Isolated
from proverl.evals.record import Record

if TYPE_CHECKING:
    from proverl.evals.bfcl.world import World

Category = Literal["base", "miss_func", "miss_param", "long_context"]


@dataclass(frozen=True, kw_only=True)
class BFCL(Benchmark):
    """BFCL Multi-Turn.

    categories: of the four. prompting: the functions stand in the system prompt and calls are written as text, for
    models without function calling. step_seconds: the deadline of one step's calls.
    """

    categories: tuple[Category, ...] = ("base", "miss_func", "miss_param", "long_context")
    prompting: bool = False
    step_seconds: float = 30.0
    context_tokens: int = 98304  # the longest of the expected conversations takes 71 k tokens of Qwen2.5's

    name: ClassVar[str] = "bfcl"
    headline: ClassVar[str] = "accuracy"
    macro: ClassVar[tuple[str, ...]] = ("category",)
    shares: ClassVar[frozenset[str]] = frozenset({"accuracy", "accuracy_passable", "forced_quit"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise ValueError(f"evals.bfcl.categories is {self.categories}; it must name at least one, each once")
        if not 0 < self.step_seconds < float("inf"):
            raise ValueError(f"evals.bfcl.step_seconds is {self.step_seconds}; it must be a finite number above 0")

    @property
    def version(self) -> str:
        """Of data, executables and checker, which come in one package."""
        mode = "prompting" if self.prompting else "function calling"
        return f"bfcl-eval {version('bfcl-eval')}, v4 data, {mode}"

    def needs(self) -> list[str]:
        """The package, when it is not installed."""
        try:
            version("bfcl-eval")
        except PackageNotFoundError:
            return ["bfcl-eval is not installed; install proverl-evals[bfcl]"]
        return []

    def items(self) -> Sequence[Item]:
        """The entries of the categories."""
        from proverl.evals.bfcl.entries import entries

        return self.chosen(
            [
                Item(entry.id, {"category": entry.category})
                for entry in entries().values()
                if entry.category in self.categories
            ]
        )

    def prepare(self) -> None:
        """The data and the executables."""
        super().prepare()
        import_module("proverl.evals.bfcl.world")

    async def attempt(self, item: Item, policy: Policy, seed: int, isolated: Isolated) -> Json:
        """The package's loop over turns and steps; `ended` says what the policy's calls broke, if they did."""

        def opened(tools: tuple[Tool, ...]) -> Chat:
            task = Task(item.id, TaskKind.MULTI_TURN, (), 0, "", (), tools, GroundTruth())
            return policy.chat(task, self.limits(), seed)

        async with isolated.world("open_entry", item.id) as world:
            return await Conversation(opened, world, self.prompting, self.step_seconds).run()

    def open_entry(self, item: str) -> "World":
        """The executables of an entry as they are at first; for a process of its own."""
        from proverl.evals.bfcl.entries import entries
        from proverl.evals.bfcl.world import World

        return World(entries()[item], self.prompting)

    def score(self, item: Item, answer: Json) -> Score:
        """The package's verdict, and figures beside it."""
        from proverl.evals.bfcl.entries import entries
        from proverl.evals.bfcl.world import score

        return score(entries()[item.id], answer)

    def oracle(self) -> Policy:
        """The policy that makes the expected calls."""
        from proverl.evals.bfcl.oracle import Oracle

        return Oracle(self.prompting)

    def silence(self, item: Item) -> Json:
        """An empty reply in every turn."""
        from proverl.evals.bfcl.entries import entries

        return self._answer([[""] for _ in entries()[item.id].expected])

    def _answer(self, result: Json) -> dict[str, Json]:
        return {"result": result, "ended": "", "prompting": self.prompting}

    def notes(self, records: Sequence[Record]) -> list[str]:
        """Entries that cannot be passed, and turns in which no call is expected."""
        from proverl.evals.bfcl.entries import UNPASSABLE, entries

        impossible = sorted({record.item for record in records} & UNPASSABLE.keys())
        idle = [record for record in records if "restraint" in record.figures]
        notes = []
        if records and not any(record.figures["calls"] for record in records):
            notes.append("No call could be read in any of the answers.")
        if impossible:
            notes.append(
                f"No policy passes {', '.join(impossible)} by what it is told: accuracy is {_accuracy(records):.3f} "
                f"with them and {_accuracy([record for record in records if record.item not in impossible]):.3f} "
                "without (accuracy_passable)."
            )
        if idle:
            turns = sum(not expected for record in idle for expected in entries()[record.item].expected)
            clean = fmean(record.figures["accuracy"] * (record.figures["spurious_calls"] == 0) for record in idle)
            notes.append(
                f"{turns} turns of {len(idle)} attempts expect no call, which the package does not check: accuracy "
                f"there is {fmean(record.figures['accuracy'] for record in idle):.3f}, and {clean:.3f} when a call in "
                "such a turn counts as wrong (spurious_calls)."
            )
        return notes

    def read_results(self, path: Path, format: ToolFormat | None = None) -> list[Record]:
        """A result file of the package, a line {"id", "result"} per entry, as records that are still to be scored.

        `format` reads calls out of the texts that handlers of local models leave in it. Raises ValueError that names
        the line when it is no such line, its entry is none of the settings' or was there before, and when all steps are
        texts, which hold no calls unless `prompting`.
        """
        items = {item.id: (position, item) for position, item in enumerate(self.items())}
        records: dict[str, Record] = {}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                told = json.loads(line)
                position, item = items[told["id"]]
                result = told["result"]
            except (ValueError, KeyError, TypeError) as error:
                kind = type(error).__name__
                raise ValueError(
                    f'{path}, line {number} is no {{"id": ..., "result": ...}} of an entry of '
                    f"evals.bfcl.categories={','.join(self.categories)}: {kind}: {error}"
                ) from None
            if item.id in records:
                raise ValueError(f"{path}, line {number} is a second result of {item.id}")
            if format is not None and isinstance(result, list):
                result = [[_read(step, format) for step in turn] for turn in result]
            records[item.id] = Record(item.id, position, dict(item.strata), 0, 0, self._answer(result), {}, {})
        steps = [step for record in records.values() for step in _steps(record.answer)]
        if steps and not self.prompting and all(isinstance(step, str) for step in steps):
            raise ValueError(
                f"{path} has texts alone, in which no calls are looked for with evals.bfcl.prompting=false; where they "
                "are written as [name(argument=1)], prompting=true reads them"
            )
        return list(records.values())


def _steps(answer: Any) -> list[Any]:
    turns = answer["result"] if isinstance(answer["result"], list) else []
    return [step for turn in turns if isinstance(turn, list) for step in turn]


def _read(step: Any, format: ToolFormat) -> Json:
    """The calls in a text, in the shape of those of OpenAI's models; broken ones are left out, as local handlers do."""
    calls = format.parse(step).calls if isinstance(step, str) else ()
    return [{call.name: json.dumps(call.arguments)} for call in calls if isinstance(call, Call)] or step


def _accuracy(records: Sequence[Record]) -> float:
    """The mean over categories."""
    categories = {record.strata["category"] for record in records}
    return fmean(
        fmean(record.figures["accuracy"] for record in records if record.strata["category"] == category)
        for category in categories
    )

"""T-Eval: one reply to each question, in six dimensions and two formats, scored without a judge (arXiv:2312.14033)."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from proverl.agent import Limits, Policy, ScriptedChat
from proverl.core import GroundTruth, Json, Task, TaskKind
from proverl.evals.benchmark import Benchmark, Item, Score
from proverl.evals.isolated import Isolated
from proverl.evals.teval.data import FINISH, Question, paths, questions
from proverl.evals.teval.embedder import Embedder, missing
from proverl.evals.teval.scoring import SLIGHT, score

if TYPE_CHECKING:
    from proverl.evals.record import Record

_HUB = "uv run hf download lovesnowbest/T-Eval --repo-type dataset --include 'data/*_v2.json' --local-dir"
_SUBSET = "https://drive.google.com/file/d/1DgCMjquEIJ2v14Xu6uB6w3UEzaYXZbUL/view"  # linked in T-Eval's README


@dataclass(frozen=True, kw_only=True)
class TEval(Benchmark):
    """The mean of six dimensions, each the mean of its JSON and its string format.

    folder: with the official files *_v2.json, or with the folder `data` that has them. subset: the fifth of the
    questions in *_v2_subset.json. embedder: the sentence-transformers model of plan and reason, a folder or one of the
    hub that is on this machine. reply_tokens: 512 as published; a model that thinks needs more.
    """

    folder: Path = Path("data/teval")
    subset: bool = False
    embedder: str = "sentence-transformers/all-mpnet-base-v2"
    reply_tokens: int = 512

    name: ClassVar[str] = "teval"
    headline: ClassVar[str] = "score"
    macro: ClassVar[tuple[str, ...]] = ("dimension", "format")

    @property
    def version(self) -> str:
        """Which questions, whose formulas, and which embedder."""
        return f"T-Eval v2 ({self._digest}), scorers of open-compass/T-Eval eb9db05, {Path(self.embedder).name}"

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for path in paths(self.folder, self.subset):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:12]

    def needs(self) -> list[str]:
        """The package, the data and the embedder, each with the command that fetches it."""
        if not find_spec("sentence_transformers"):
            return ["evals.teval needs the package sentence-transformers: uv sync"]
        told = []
        if absent := [path for path in paths(self.folder, self.subset) if not path.exists()]:
            fetch = f"unpack {_SUBSET} there" if self.subset else f"{_HUB} {self.folder}"
            told.append(f"evals.teval.folder={self.folder} has no {', '.join(path.name for path in absent)}: {fetch}")
        if missing(self.embedder):
            told.append(
                f"evals.teval.embedder={self.embedder} is not on this machine: uv run hf download {self.embedder}"
            )
        return told

    def prepare(self) -> None:
        """Read the questions and load the embedder."""
        super().prepare()
        _ = self._embed

    @cached_property
    def _embed(self) -> Embedder:
        return Embedder(self.embedder)

    @cached_property
    def _questions(self) -> dict[str, Question]:
        return {question.id: question for question in questions(self.folder, self.subset)}

    def items(self) -> Sequence[Item]:
        """One item for every dimension that a row is for. Raises ValueError that names file, row and field."""
        return self._items

    @cached_property
    def _items(self) -> Sequence[Item]:
        return self.chosen(
            [
                Item(question.id, {"dimension": question.dimension, "format": question.format})
                for question in self._questions.values()
            ]
        )

    async def attempt(self, item: Item, policy: Policy, seed: int, isolated: Isolated) -> Json:
        """The text of one reply to the prompt; what a tool returned is told as a user would, as published for Qwen."""
        chat = policy.chat(_task(item.id, seed), self.limits(), seed)
        chat.observe(
            [
                {"role": "user" if message.role == "function" else message.role, "content": message.content}
                for message in self._questions[item.id].prompt
            ]
        )
        if chat.room is not None and chat.room <= 0:  # the prompt is too long
            return ""
        return (await chat.reply()).text

    def score(self, item: Item, answer: Json) -> Score:
        """`score`, and as `official` what the published scorer gives."""
        return score(self._questions[item.id], answer if isinstance(answer, str) else "", self._embed)

    def oracle(self) -> Policy:
        """The ground truth in the format asked for."""
        return _Oracle(self)

    def silence(self, item: Item) -> Json:
        """No text."""
        return ""

    def notes(self, records: Sequence["Record"]) -> list[str]:
        """How far the published scorers differ, and how many replies were cut."""
        told = []
        if differing := sum(abs(record.figures["score"] - record.figures["official"]) > SLIGHT for record in records):
            told.append(f"The published scorers differ on {differing} of {len(records)} replies (`official`).")
        if cut := sum(record.truncated for record in records):
            told.append(f"{cut} of {len(records)} replies were cut at evals.teval.reply_tokens={self.reply_tokens}.")
        return told


def _task(id: str, seed: int) -> Task:
    """A conversation without tools."""
    return Task(id, TaskKind.ABSTENTION, (), seed, "", (), (), GroundTruth(()))


@dataclass(frozen=True)
class _Oracle:
    benchmark: TEval

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> ScriptedChat:
        """Open a chat that says the ground truth."""
        return ScriptedChat([_truth(self.benchmark._questions[task.id])])


_KEYS = {"reason": "thought", "retrieve": "name", "understand": "args"}


def _truth(question: Question) -> str:
    """The reply that is right in every way."""
    truth, template = question.truth, question.template
    if question.dimension == "instruct":
        if question.format == "str":
            first, second, third, last = question.marks
            return f"{first}I call {truth.action}.{second}{truth.action}{third}{truth.args}{last}"
        said = {"thought": f"I call {truth.action}.", "action": truth.action, "args": truth.args}
        return json.dumps({template[key]: value for key, value in said.items()}, ensure_ascii=False)
    if question.dimension == "plan":
        if question.format == "str":
            steps = sorted((step for step in truth if step.name != FINISH), key=lambda step: step.id)
            return "\n".join(f"Use {step.name} to {step.args}".replace(". ", ".").replace("\n", " ") for step in steps)
        plan = [{"id": step.id, "name": step.name, "args": str(step.args)} for step in truth]
        return json.dumps(plan, ensure_ascii=False)
    if question.dimension == "review":
        return f"Answer: {truth}"
    if question.format == "str":
        return str(truth)
    return json.dumps({_KEYS[question.dimension]: truth}, ensure_ascii=False)

"""Demonstrations with invented tools: endless practice in reading signatures and copying values, before live servers.

Tools, entities, values and results are made up for every demonstration, so nothing can be learnt by heart: the model
has to read the signatures on offer and to copy the values. They go through the same oracle and the same episode loop
as live tasks; only the results come from a list instead of a server.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from proverl.agent import Limits, OracleChat, run_episode
from proverl.core import Call, GroundTruth, Json, Result, Step, Task, TaskKind, canonical_json, reference, resolve
from proverl.trainer.tiny.curriculum import Demonstration, Stage
from proverl.trainer.tiny.invented_tools import NOUNS, Invention, Parameter, date, identifier, invent_tool, words

_FRAMES = (
    *("{P}.", "Please {p}.", "{P}, please.", "Could you {p}?", "I need you to {p}.", "Hi! Can you {p}?"),
    *("Would you {p}?", "I'd like you to {p}, please.", "Quick one: {p}."),
)
_LATER = ("Now {p}.", "Next, {p}.", "Thanks. Now {p}.", "Then {p}.", "Also, {p}.", "After that, please {p}.", "{P}.")
_JOINS = (" and then ", ", then ", " and ", "; then ", ", and after that ")
_LIMITS = Limits(user_turns=99, assistant_turns=99)


class _Story:
    """One invented conversation in the making."""

    def __init__(self, stage: Stage, rng: Random) -> None:
        self.stage, self.rng = stage, rng
        self.steps: list[Step] = []
        self.results: dict[str, Json] = {}  # by the canonical JSON of [name, arguments]
        self.contents: dict[int, Json] = {}
        self.known: dict[str, tuple[int, str, str]] = {}  # noun -> step, path and wording of an id that a result gave
        nouns = rng.sample(NOUNS, rng.randint(1, 3))
        wanted = rng.randint(*stage.tools)
        inventions: dict[str, Invention] = {}
        while len(inventions) < wanted:
            item = invent_tool(rng, rng.choice(nouns), bool(inventions) and rng.random() < 0.65)
            inventions.setdefault(item.tool.name, item)
        self.inventions = list(inventions.values())
        rng.shuffle(self.inventions)

    def turn(self, turn: int, calls: int) -> str:
        """Add a user turn that asks for so many calls, and return its text."""
        text = self._perform(turn)
        for _ in range(calls - 1):
            text += self.rng.choice(_JOINS) + self._perform(turn)
        frame = self.rng.choice(_FRAMES if turn == 0 or self.rng.random() < 0.3 else _LATER)
        return frame.replace("{P}", text[:1].upper() + text[1:]).replace("{p}", text)

    def _perform(self, turn: int) -> str:
        """Choose a tool, settle its arguments and its result, and return the words that ask for it."""
        item = self.rng.choice(self._candidates())
        arguments: dict[str, Json] = {}
        said: list[tuple[Parameter, str]] = []
        for parameter in item.parameters:
            if parameter.optional and self.rng.random() < 0.5:
                continue
            known = self.known.get(item.noun) if parameter.name == f"{item.noun}_id" else None
            if known and self.rng.random() < self.stage.linked:
                arguments[parameter.name] = reference(known[0], known[1])
                said.append((parameter, known[2]))
            else:
                arguments[parameter.name] = parameter.draw(self.rng)
                said.append((parameter, _say(arguments[parameter.name], self.rng)))
        self._settle(item, arguments, turn)
        return _request(item, said, self.rng)

    def _candidates(self) -> list[Invention]:
        """Tools not used yet; mostly those that can use an id from an earlier result, where the stage links at all."""
        used = {step.name for step in self.steps}
        fresh = [item for item in self.inventions if item.tool.name not in used] or self.inventions
        linked = [item for item in fresh if item.takes_id and item.noun in self.known]
        return linked if linked and self.rng.random() < self.stage.linked else fresh

    def _settle(self, item: Invention, arguments: dict[str, Json], turn: int) -> None:
        """Add the step and its result; what the result names can be referred to from now on."""
        index = len(self.steps)
        resolved: Any = resolve(arguments, self.contents)
        content, path, wording = self._result(item, resolved)
        call = canonical_json([item.tool.name, resolved])
        self.steps.append(Step(item.tool.name, arguments, turn))
        self.contents[index] = self.results.setdefault(call, content)  # the same call again returns the same
        if self.contents[index] is content and (not item.takes_id or self.rng.random() < 0.3):
            self.known[item.noun] = (index, path, wording)

    def _result(self, item: Invention, arguments: dict[str, Json]) -> tuple[dict[str, Json], str, str]:
        """A result, the path of the id in it, and how a person refers to that."""
        rng, key = self.rng, f"{item.noun}_id"
        wording = rng.choice((f"that {item.noun}", f"this {item.noun}", f"the same {item.noun}"))
        if not item.takes_id and rng.random() < 0.3:
            count = rng.randint(1, 3)
            rows: list[Json] = [{key: identifier(rng, item.noun), "name": words(rng, 1, 2)} for _ in range(count)]
            return {f"{item.noun}s": rows}, f"{item.noun}s.0.{key}", f"the first {item.noun}" if count > 1 else wording
        content = {key: arguments.get(key, identifier(rng, item.noun))}
        content |= {name: value for name, value in arguments.items() if name != key and rng.random() < 0.4}
        if rng.random() < 0.5:
            content["status"] = rng.choice(("ok", "done", "active", "confirmed", "open"))
        return content, key, wording


def _say(value: Json, rng: Random) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return " and ".join(_say(item, rng) for item in value)
    return f'"{value}"' if isinstance(value, str) and " " in value and rng.random() < 0.8 else str(value)


def _request(item: Invention, said: Sequence[tuple[Parameter, str]], rng: Random) -> str:
    """The words that ask for one call: the entity first, then the other arguments in any order."""
    text, rest = item.words, list(said)
    if item.takes_id:
        _, words_of_id = rest.pop(0)
        text += f" {words_of_id}"
    rng.shuffle(rest)
    alone = len(item.parameters) - item.takes_id == 1
    return text + "".join(_mention(parameter, words_of_it, alone, rng) for parameter, words_of_it in rest)


def _mention(parameter: Parameter, said: str, alone: bool, rng: Random) -> str:
    """How a sentence names one argument; the label may be left out when it could be no other."""
    label = parameter.name.replace("_", " ").removesuffix(" id")
    if alone and rng.random() < 0.3:
        return f" {rng.choice(('with', 'for', 'to', 'at'))} {said}"
    shapes = (f" with {label} {said}", f", {label} {said}", f" and set {label} to {said}", f" ({label} {said})")
    return rng.choice(shapes)


def invent_task(stage: Stage, seed: int) -> tuple[Task, dict[str, Json]]:
    """One invented task and the results of its calls, by the canonical JSON of [name, arguments]."""
    rng = Random(seed)
    story = _Story(stage, rng)
    turns = rng.randint(*stage.turns)
    calls = max(rng.randint(*stage.calls), turns)
    cuts = [0, *sorted(rng.sample(range(1, calls), turns - 1)), calls]
    texts = tuple(story.turn(turn, cuts[turn + 1] - cuts[turn]) for turn in range(turns))
    steps, offered, kind = tuple(story.steps), [item.tool for item in story.inventions], TaskKind.MULTI_TURN
    if rng.random() < stage.refuse:  # the tools that the last turn needs are not on offer
        before = tuple(step for step in steps if step.turn < turns - 1)
        missing = {step.name for step in steps if step.turn == turns - 1}
        if not missing & {step.name for step in before}:
            steps, offered = before, [tool for tool in offered if tool.name not in missing]
            kind = TaskKind.CLARIFICATION if steps else TaskKind.ABSTENTION
    system = f"Act for the user with these tools. Today is {date(rng)}."
    task = Task(f"invented-{seed}", kind, (), seed, system, texts, tuple(offered), GroundTruth(steps))
    return task, story.results


@dataclass(frozen=True, slots=True)
class _Replay:
    """An environment that knows the results of the expected calls and of nothing else."""

    results: dict[str, Json]

    async def execute(self, call: Call) -> Result:
        """The prepared result. Raises KeyError for a call that was not prepared."""
        return Result(self.results[canonical_json([call.name, call.arguments])])

    async def state_digest(self) -> str:
        """There is no state."""
        return ""


async def _demonstrate(stage: Stage, seeds: Sequence[int]) -> list[Demonstration]:
    demonstrations = []
    for seed in seeds:
        task, results = invent_task(stage, seed)
        episode = await run_episode(task, _Replay(results), OracleChat(task), _LIMITS)
        if episode.error:
            raise RuntimeError(f"the oracle failed on invented task {seed}: {episode.error}")
        demonstrations.append(Demonstration(episode.messages, task.tools))
    return demonstrations


def invented(stage: Stage, seed: int, count: int) -> list[Demonstration]:
    """`count` demonstrations with invented tools, the same for the same arguments."""
    rng = Random(seed)
    return asyncio.run(_demonstrate(stage, [rng.getrandbits(62) for _ in range(count)]))

"""The scripted teacher: writes what the user says, in varied plain English, and performs the proven steps. No model."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from typing import Any

from proverl.agent import Reply
from proverl.core import Call, Tool
from proverl.synth.chain import Argument, ChainStep, Refused
from proverl.synth.scene import Ask, Scene, Vague
from proverl.synth.schema import entity_of, plain
from proverl.synth.spoken import say
from proverl.synth.voices import ANSWERS, FOLLOW_UPS, INSTEAD, JOINS, LASTS, TELLS, THENS, VOICES

# people say "on March 9" but not "on tomorrow"
_ON_TOMORROW = re.compile(
    r"\b(?:on|at) (?=today\b|tomorrow\b|yesterday\b|this \w+day\b|the day after tomorrow\b|in \w+ (?:days|weeks)\b"
    r"|a week (?:from|after)\b|\w+ days (?:ago|later)\b)"
)
_OWN_VOICE = 0.4  # share of follow-up turns in the words of the persona
_GREETING, _CLOSING = 0.5, 0.35


class ScriptedTeacher:
    """Says what was planned and calls what was proven; the same scene gives the same words."""

    name = "scripted"

    async def query(self, scene: Scene) -> str:
        """One user turn for `scene.ask`."""
        return _Writer(scene).turn(scene.ask)

    async def act(self, scene: Scene) -> Reply:
        """The next proven call of this turn, or the text that ends it."""
        done = sum(attempt.turn == scene.turn for attempt in scene.attempts)
        todo = _calls(scene.ask, scene.missing)
        if done < len(todo):
            tool, arguments = todo[done]
            return Reply("", (Call(tool.name, {name: item.value for name, item in arguments.items()}),))
        return Reply(_ending(scene))


def _calls(ask: Ask, missing: str) -> list[tuple[Tool, Mapping[str, Argument]]]:
    """The calls of a turn in order, refused ones included."""
    refused = [ask.refused] if ask.refused else []
    calls: list[Refused | ChainStep] = list(refused)
    for step in ask.steps:
        if step.tool.name == missing:
            break
        if step.refused and step.refused.kind != "give_up":
            calls.append(step.refused)
        calls.append(step)
    return [(call.tool, call.arguments) for call in calls]


def _ending(scene: Scene) -> str:
    if scene.ask.vague:
        return "I need more details to do that."
    if scene.ask.refused:
        return f"That was refused: {scene.ask.refused.message}"
    unable = scene.ask.unrelated or any(step.tool.name == scene.missing for step in scene.ask.steps)
    return "I can't do that with my tools." if unable else "Done."


class _Writer:
    """Writes one user turn."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rng: Random = scene.rng
        self.today: date = scene.today
        self.voice = VOICES[scene.persona]

    def turn(self, ask: Ask) -> str:
        """The whole turn."""
        if ask.unrelated:
            return ask.unrelated
        answer = self.scene.answering
        if answer and answer.withheld:
            return self._tell(answer, ask.steps[1:])
        first, *rest = self._sentences(ask)
        frame = self.rng.choice(ANSWERS) if answer else self._frame()
        return " ".join([frame.replace("{P}", _capital(first)).replace("{p}", first), *rest])

    def _sentences(self, ask: Ask) -> list[str]:
        """The request that is to be framed, and the sentences behind it."""
        if ask.vague:
            return [self._filled(ask.vague.step.tool, ask.vague.phrase, ask.vague.step.arguments)]
        if ask.refused:
            return [self._filled(ask.refused.tool, ask.refused.phrase, ask.refused.arguments)]
        texts = [self._step(step) for step in ask.steps]
        cut = len(texts) if len(texts) < 3 else self.rng.randint(1, 2)
        return [self._joined(texts[:cut]), *self._further(texts[cut:])]

    def _further(self, texts: Sequence[str]) -> list[str]:
        """Sentences for the rest: nobody asks for five things in one."""
        sentences: list[str] = []
        while texts:
            cut = self.rng.randint(1, min(2, len(texts)))
            opener = self.rng.choice(LASTS if cut == len(texts) and sentences else THENS)
            sentences.append(opener.replace("{p}", self._joined(texts[:cut])))
            texts = texts[cut:]
        return sentences

    def _joined(self, texts: Sequence[str]) -> str:
        joined = texts[0]
        for text in texts[1:]:
            joined += self.rng.choice(JOINS) + text
        return joined

    def _step(self, step: ChainStep) -> str:
        refused = step.refused
        if refused is None or refused.kind == "give_up":
            return self._filled(step.tool, step.phrase, step.arguments)
        first = self._filled(refused.tool, refused.phrase, refused.arguments)
        if refused.kind == "alternative":
            return first + self.rng.choice(INSTEAD) + self._filled(step.tool, step.phrase, step.arguments)
        other = self._said(step.tool, refused.changed, step.arguments[refused.changed])
        return first + self.rng.choice(INSTEAD) + self.rng.choice(("go with {}", "make it {}", "use {}")).format(other)

    def _tell(self, vague: Vague, rest: Sequence[ChainStep]) -> str:
        """The one value that was left out, and what else there is to do."""
        value = self._said(vague.step.tool, vague.withheld, vague.step.arguments[vague.withheld])
        noun = self._label(vague)
        text = self.rng.choice(TELLS).replace("{v}", value).replace("{n}", noun)
        return " ".join([_capital(text), *self._further([self._step(step) for step in rest])])

    def _label(self, vague: Vague) -> str:
        return re.sub(r"_id$", "", vague.withheld).replace("_", " ")

    def _frame(self) -> str:
        """In the words of the persona, or as one goes on in a conversation."""
        first = self.scene.turn == 0
        gave_up = not first and self.scene.asks[self.scene.turn - 1].refused is not None
        if not first and (gave_up or self.rng.random() >= _OWN_VOICE):
            return self.rng.choice(FOLLOW_UPS["refused" if gave_up else self._register()])
        frame = self.rng.choice(self.voice.frames)
        if first and self.voice.greetings and self.rng.random() < _GREETING:
            frame = f"{self.rng.choice(self.voice.greetings)} {frame}"
        if self.voice.closings and "hank" not in frame and self.rng.random() < _CLOSING:
            frame = f"{frame} {self.rng.choice(self.voice.closings)}"
        return frame

    def _register(self) -> str:
        return "plain" if not self.voice.greetings and not self.voice.closings else "varied"

    def _filled(self, tool: Tool, phrase: str, arguments: Mapping[str, Argument]) -> str:
        """A phrase with every slot said."""
        text = re.sub(r"\{(\w+)\}", lambda match: self._said(tool, match[1], arguments[match[1]]), phrase).strip()
        return _ON_TOMORROW.sub("", text)

    def _said(self, tool: Tool, name: str, argument: Argument) -> str:
        if argument.words:
            return argument.words
        schema: dict[str, Any] = plain(tool.parameters["properties"][name])
        free = entity_of(schema) is None and "examples" in schema and schema.get("type") == "string"
        return say(argument.value, self.today, quoted=free and " " in str(argument.value))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

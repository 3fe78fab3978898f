"""The scripted teacher: writes what the user says, in varied plain English, and performs the proven steps. No model."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from random import Random
from typing import Any

from proverl.agent import Reply
from proverl.core import Call, Tool, follow
from proverl.synth.chains.chain import Argument, ChainStep, Refused
from proverl.synth.chains.spoken import say
from proverl.synth.scene import Ask, Scene, Vague
from proverl.synth.schema import entity_of, plain
from proverl.synth.teachers.unrelated import opened
from proverl.synth.teachers.voices import AGAIN, ANSWERS, FOLLOW_UPS, INSTEAD, JOINS, LASTS, TELLS, THENS, VOICES

# people say "on March 9" but not "on tomorrow", "at 3 pm" but not "at March 9", "until two weeks from today"
_ON_TOMORROW = re.compile(
    r"\b(?:on|at) (?=today\b|tomorrow\b|yesterday\b|this \w+day\b|the day after tomorrow\b|in \w+ (?:days|weeks)\b"
    r"|a week (?:from|after)\b|\w+ days (?:ago|later)\b)"
)
_IN_DAYS = re.compile(
    r"\b(by|until|till|through|from|of|for|to|since|before|after|than|dated) in (\w+ (?:days|weeks))\b"
)
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_AT_DATE = re.compile(rf"\bat (?={_MONTH} \d|\d+ {_MONTH}\b|\d{{4}}-\d\d-\d\d\b|\w+day (?:next|last) week\b)")
_FINAL = re.compile(r"last thing|That's (?:all|it)|Nothing else")  # said when nothing is to follow
_ECHOED = ("me", "now")  # words that a frame does not add to a request that has them
_ONE = re.compile(r"(?<![\w.:-])1 (unit|line|case|day|minute|night|point|share)s\b")
_STREET_AND_TOWN = re.compile(r'", "(?=\d)')  # an address is one quotation
_ACRONYM = re.compile(r"\b(?:iban|pin|sku|url)\b")
_NO_NOUN = re.compile(
    r"^(?:from|to) | (?:at|before|on|part|percent)$|[^s]s$"
)  # parameters called "to store", "minutes before"
_OPENING = re.compile(r"First of all|Start like|Your task|I was told|I've never|not sure how this works")
_SHORT = 9  # words of a request behind which more can be said in the same sentence
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
            return opened(ask.unrelated, self.scene.turn == 0, self.rng)
        answer = self.scene.answering
        if answer and answer.withheld:
            return self._tell(answer, ask.steps[1:])
        first, *rest = self._sentences(ask)
        before, frame, after = ("", self._fitting(ANSWERS, first, rest), "") if answer else self._frame(first, rest)
        framed = frame.replace("{P}", _capital(first)).replace("{p}", first)
        return _polished(" ".join(part for part in (before, framed, *rest, after) if part))

    def _sentences(self, ask: Ask) -> list[str]:
        """The request that is to be framed, and the sentences behind it."""
        if ask.vague:
            return [self._filled(ask.vague.step.tool, ask.vague.phrase, ask.vague.step.arguments)]
        if ask.refused:
            return [self._filled(ask.refused.tool, ask.refused.phrase, ask.refused.arguments)]
        cut = len(ask.steps) if len(ask.steps) < 3 else self.rng.randint(1, 2)
        return [self._joined(ask.steps[:cut]), *self._further(ask.steps[cut:])]

    def _further(self, steps: Sequence[ChainStep]) -> list[str]:
        """Sentences for the rest: nobody asks for five things in one."""
        sentences: list[str] = []
        used: list[str] = []
        while steps:
            cut = self.rng.randint(1, min(2, len(steps)))
            ways = LASTS if cut == len(steps) and sentences else THENS
            opener = self.rng.choice([way for way in ways if way not in used])
            used.append(opener)
            sentences.append(opener.replace("{p}", self._joined(steps[:cut])))
            steps = steps[cut:]
        return sentences

    def _joined(self, steps: Sequence[ChainStep]) -> str:
        joined = self._again(steps[0], ("do the same for {}",)) if steps[0].again else self._step(steps[0])
        for step in steps[1:]:
            # "with the memo x, up to 7 and then ..." would run on
            joins = [join for join in JOINS if join[0] in ",;"] if re.search("[,;]", joined) else JOINS
            joined += self.rng.choice(joins) + (self._again(step, AGAIN) if step.again else self._step(step))
        return joined

    def _again(self, step: ChainStep, ways: Sequence[str]) -> str:
        """The last step with one other value; in full where "the same" could be more than that step."""
        before = self.scene.asks[self.scene.turn - 1].steps if self.scene.turn else ()
        if step is self.scene.ask.steps[0] and len(before) != 1:
            return self._step(step)
        return self.rng.choice(ways).format(self._said(step.tool, step.again, step.arguments[step.again]))

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
        ways = [way for way in TELLS if "{n}" not in way] if _NO_NOUN.search(noun) else TELLS
        text = self.rng.choice(ways).replace("{v}", value).replace("{n}", noun)
        return _polished(" ".join([text, *self._further(rest)]))

    def _label(self, vague: Vague) -> str:
        label = re.sub(r"_id$", "", vague.withheld).replace("_", " ")
        return _ACRONYM.sub(lambda match: match[0].upper(), label)

    def _frame(self, text: str, rest: Sequence[str]) -> tuple[str, str, str]:
        """What stands before, around and behind a request: in the persona's words, or as a conversation goes on."""
        first = self.scene.turn == 0
        gave_up = not first and self.scene.asks[self.scene.turn - 1].refused is not None
        if not first and (gave_up or self.rng.random() >= _OWN_VOICE):
            ways = FOLLOW_UPS["refused" if gave_up else self._register()]
            return "", self._fitting(ways, text, rest), ""
        frame = self._fitting(self.voice.frames, text, rest)
        greets = first and self.voice.greetings and self.rng.random() < _GREETING
        closes = self.voice.closings and "hank" not in frame and self.rng.random() < _CLOSING
        closings = [
            closing
            for closing in self.voice.closings
            if (self._is_last or not _FINAL.search(closing))
            and not _echoes(closing, text)
            and not any(told.endswith(closing) for told in self.scene.texts)
        ]
        return (
            self.rng.choice(self.voice.greetings) if greets else "",
            frame,
            self.rng.choice(closings) if closes and closings else "",
        )

    @property
    def _is_last(self) -> bool:
        return self.scene.turn == len(self.scene.asks) - 1

    def _fitting(self, frames: Sequence[str], text: str, rest: Sequence[str]) -> str:
        """A frame whose end can stand behind this request, and which says nothing that the rest belies."""
        return self.rng.choice([frame for frame in frames if self._fits(frame, text, rest)] or ["{P}."])

    def _fits(self, frame: str, text: str, rest: Sequence[str]) -> bool:
        if _FINAL.search(frame) and (len(self.scene.ask.steps) > 1 or not self._is_last):
            return False
        if self.scene.turn and _OPENING.search(frame):
            return False
        if _echoes(frame, text):
            return False
        start, end = re.split(r"\{p\}", frame, flags=re.IGNORECASE)
        if self._is_worn(start, rest):
            return False
        if not re.search(r"\w", end):
            return True
        if re.match(r"[.?!] ", end):
            return not rest and not self.scene.ask.vague
        return len(text.split()) <= _SHORT and not re.search(r'[":;,]', text)

    def _is_worn(self, start: str, rest: Sequence[str]) -> bool:
        """Whether a sentence of this turn begins so too, or an earlier turn with as many words as one remembers."""
        opener = start.rpartition(". ")[2]
        again = start.count(" ") > 2 and any(start in text for text in self.scene.texts)
        return again or bool(opener) and any(sentence.startswith(opener) for sentence in rest)

    def _register(self) -> str:
        return "plain" if not self.voice.greetings and not self.voice.closings else "varied"

    def _filled(self, tool: Tool, phrase: str, arguments: Mapping[str, Argument]) -> str:
        """A phrase with every slot said."""
        for name in (name for name, item in arguments.items() if item.words and isinstance(item.value, int | float)):
            phrase = re.sub(rf"€?(\{{{name}\}})(?: euros?\b| EUR\b)?", r"\1", phrase)  # not "half of that amount euros"
        text = re.sub(r"\{(\w+)\}", lambda match: self._said(tool, match[1], arguments[match[1]]), phrase).strip()
        text = _AT_DATE.sub("on ", _IN_DAYS.sub(r"\1 \2 from today", _ON_TOMORROW.sub("", text)))
        return _STREET_AND_TOWN.sub(", ", _ONE.sub(r"1 \1", text)).replace(" that that ", " that this ")

    def _said(self, tool: Tool, name: str, argument: Argument) -> str:
        if argument.words:
            return self._spoken_of(argument)
        schema: dict[str, Any] = plain(tool.parameters["properties"][name])
        if isinstance(argument.value, bool):
            return "yes" if argument.value else "no"
        if isinstance(argument.value, float) and schema.get("multipleOf") != 0.01:
            return f"{argument.value:g}"
        free = entity_of(schema) is None and "examples" in schema and schema.get("type") == "string"
        return say(argument.value, self.today, quoted=free and " " in str(argument.value))

    def _spoken_of(self, argument: Argument) -> str:
        """Its words; who asks for a list in the same turn cannot know that it will hold only "that order"."""
        index, path = argument.origin or (-1, "")
        earlier = sum(len(ask.steps) for ask in self.scene.asks[: self.scene.turn])
        word, _, noun = argument.words.partition(" ")
        listed, _, of_item = path.partition(".0.")
        # the item itself, an order of stock_orders or a category of categories, and not the stock that it names
        is_item = of_item and listed.split("_")[-1].startswith(noun.split()[-1][:-1])
        if index < earlier or word not in ("that", "this") or not is_item:
            return argument.words
        items = follow([step.content for ask in self.scene.asks for step in ask.steps], f"{index}.{listed}")
        return f"the first {noun}" if isinstance(items, list) and len(items) == 1 else argument.words


def _polished(text: str) -> str:
    """One stop is enough at the end of a quotation."""
    return re.sub(r'([.?!]")\.(?= |$)', r"\1", text)


def _echoes(frame: str, text: str) -> bool:
    return any(all(re.search(rf"\b{word}\b", part, re.IGNORECASE) for part in (frame, text)) for word in _ECHOED)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

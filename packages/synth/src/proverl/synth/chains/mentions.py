"""What a conversation has on its mind: which entities, amounts and days can be spoken of without naming them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from proverl.core import Json, Tool, follow
from proverl.envs import Server
from proverl.synth.chains.chain import Argument, ChainStep, Derived
from proverl.synth.chains.spoken import OPERATIONS, derive
from proverl.synth.schema import entities_of, plain, result_entities, values_at

_SAME = 0.3  # share of entities named before that are called "the same account" and not named again
_EXTREMES = {  # of a list's items, by a number that they have
    "price": ("the cheapest {}", "the most expensive {}"),
    "rating": ("the lowest rated {}", "the best rated {}"),
    "balance": ("the {} with the lowest balance", "the {} with the highest balance"),
    "amount": ("the {} with the smallest amount", "the {} with the largest amount"),
    "total": ("the {} with the lowest total", "the {} with the highest total"),
    "distance_km": ("the nearest {}", "the farthest {}"),
    "duration_min": ("the shortest {}", "the longest {}"),
    "quantity": ("the {} with the smallest quantity", "the {} with the largest quantity"),
    "capacity": ("the smallest {}", "the largest {}"),
}
_BY_EXTREME = 0.6  # share of list items spoken of by what they have most or least of, where that is possible
_FIGURES = {  # a result's figures, by how people call them
    "balance": "that balance",
    "total": "that total",
    "amount": "that amount",
    "price": "that price",
    "subtotal": "that subtotal",
    "available": "that available amount",
    "spent": "what was spent",
    "due": "that amount due",
    "cost": "that cost",
}
_WHOLE = ("balance", "amount", "available", "due", "total")  # of which people take all
_DAYS_LATER = {"the day after that": "+1 days", "a week after that": "+7 days", "two days later": "+2 days"}


@dataclass(frozen=True)
class _Mention:
    value: str
    origin: tuple[int, str] | None
    words: Sequence[str]  # ways to speak of it; none when it is named again


@dataclass(frozen=True)
class _Known:
    """An amount or a day that was said or returned."""

    value: Json
    step: int
    path: str
    result: bool = False

    def derived(self, operation: str) -> Derived:
        return Derived(operation, "result" if self.result else "argument", self.step, self.path)


class Mentions:
    """What was mentioned so far, the latest last."""

    def __init__(self, server: Server, indirect: float, rng: Random) -> None:
        self._server = server
        self._indirect = indirect
        self._rng = rng
        self._salient: dict[str, _Mention] = {}
        self._origins: dict[str, tuple[int, str] | None] = {}  # where each value was first seen; None: the user said it
        self._amount: _Known | None = None
        self._figure: _Known | None = None
        self._day: _Known | None = None
        self._named: set[str] = set()  # kinds of which the user has named one
        accepted = (entities_of(schema) for tool in server.tools for schema in tool.parameters["properties"].values())
        self._kinds = {kinds[0]: set(kinds) for kinds in accepted if len(kinds) > 1}  # a path may be a file's

    @property
    def entities(self) -> set[str]:
        """Kinds of entities that can be spoken of."""
        return set(self._salient)

    @property
    def known_by_results(self) -> set[str]:
        """Those of them whose value only a result knows."""
        return {entity for entity, mention in self._salient.items() if mention.origin is not None}

    def is_sayable(self, value: Json) -> bool:
        """Whether the user may name this value: no result of the conversation has brought it up."""
        return self._origins.get(str(value)) is None

    def recall(self, entities: Sequence[str], taken: Sequence[Json]) -> Argument | None:
        """The latest mention of one of these kinds, as an argument."""
        for entity in reversed(self._salient):
            mention = self._salient[entity]
            if entity in entities and mention.value not in taken:
                named = mention.origin is None and (not mention.words or self._rng.random() >= _SAME)
                words = "" if named else self._rng.choice(mention.words)
                return Argument(mention.value, mention.origin, entity, words)
        return None

    def related(self, schema: dict[str, Any]) -> Argument | None:
        """A value that is spoken of by its relation to an amount or a day known by then."""
        if schema.get("multipleOf") == 0.01:
            found = self._related_amount()
            return found if found and 0 < float(found.value) <= schema.get("maximum", 1e12) else None  # type: ignore[arg-type]
        if schema.get("format") == "date" and self._day is not None:
            words = self._rng.choice(("the same day", *_DAYS_LATER))
            if words == "the same day":
                return Argument(self._day.value, words=words)
            operation = _DAYS_LATER[words]
            return Argument(derive(operation, self._day.value), words=words, derived=self._day.derived(operation))
        return None

    def _related_amount(self) -> Argument | None:
        figure, amount = self._figure, self._amount
        if figure is not None and self._rng.random() < 0.5:
            name = _FIGURES[figure.path]
            if figure.path in _WHOLE and self._rng.random() < 0.4:
                full = name.replace("that", "the full")
                return Argument(figure.value, (figure.step, figure.path), words=full)
            return self._part(figure, name)
        if amount is None:
            return None
        if self._rng.random() < 0.3:
            return Argument(amount.value, words="the same amount")
        return self._part(amount, "that amount")

    def _part(self, known: _Known, of: str) -> Argument:
        operation = self._rng.choice(list(OPERATIONS))
        words = f"{operation} of {of}" if operation != "twice" else f"twice {of}"
        return Argument(derive(operation, known.value), words=words, derived=known.derived(operation))

    def add(self, index: int, step: ChainStep) -> None:
        """Take note of a step's arguments and of what it returned."""
        tool, arguments, content = step.tool, step.arguments, step.content
        mentioned: dict[str, dict[str, _Mention]] = {}
        for argument in arguments.values():
            entity = argument.entity
            for value in argument.value if isinstance(argument.value, list) else [argument.value]:
                if entity and isinstance(value, str):
                    origin = self._origins.setdefault(value, argument.origin)
                    words = self._definite("the same" if origin is None else "that", entity)
                    mentioned.setdefault(entity, {})[value] = _Mention(value, origin, words)
        self._note_named(arguments)
        listed = self._add_result(index, step, mentioned)
        for entity, mentions in mentioned.items():
            before = self._salient.pop(entity, None)
            clear = self._clear(entity, list(mentions.values()), listed.get(entity), content)
            if clear is not None:
                self._salient[entity] = _unmistakable(clear, before)
        self._note_values(index, tool, arguments, content)

    def forget(self, arguments: Mapping[str, Argument]) -> None:
        """Arguments of a refused call were spoken of: another of their kind is no longer the last one that was."""
        self._note_named(arguments)
        for argument in arguments.values():
            if argument.entity and isinstance(argument.value, str):
                self._origins.setdefault(argument.value, argument.origin)
            mention = self._salient.get(argument.entity or "")
            if mention is not None and mention.value != argument.value:
                del self._salient[argument.entity or ""]
        self._amount = self._figure = self._day = None

    def forget_results(self) -> None:
        """The last step was done twice: what each result told is no longer the only one of its kind."""
        self._salient = {entity: item for entity, item in self._salient.items() if item.origin is None}
        self._figure = None

    def _note_named(self, arguments: Mapping[str, Argument]) -> None:
        self._named |= {item.entity for item in arguments.values() if item.entity and item.origin is None}

    def _add_result(self, index: int, step: ChainStep, mentioned: dict[str, dict[str, _Mention]]) -> dict[str, str]:
        """Note the entities of a result; return the path of those that are several, by entity."""
        listed: dict[str, str] = {}
        lists: set[str] = set()
        shown: set[str] = set()  # kinds of the items of all lists
        content = step.content
        asked = re.sub(r"\{\w+\}", "", step.phrase)
        for pattern, entity in result_entities(step.tool.returns):
            found = [(path, value) for path, value in values_at(content, pattern) if isinstance(value, str)]
            several = "*" in pattern and len(found) > 1
            own = pattern.rpartition("*")[0] not in lists  # an item's first entity is the item itself
            lists.add(pattern.rpartition("*")[0])
            shown |= {entity} if "*" in pattern and found else set()
            items = list(values_at(content, pattern[: pattern.rfind("*") + 1]))  # some may lack the value
            # "that order" would be one that the user named before, unless an order is what was asked for
            other = self._kinds.get(entity, {entity}) & self._named and self._noun(entity).split()[-1] not in asked
            for path, value in found:
                known = self._origins.setdefault(value, (index, path))
                # told again on its own, it is no longer one of the list that it was first seen in
                if known is not None and ("*" in pattern or any(part.isdigit() for part in known[1].split("."))):
                    self._origins[value] = (index, path)
                words = [] if len(items) > 1 or other else self._definite("that", entity)
                mentioned.setdefault(entity, {}).setdefault(value, _Mention(value, self._origins[value], words))
            if several and own and pattern.count("*") == 1:
                listed.setdefault(entity, pattern)
        # beside a list of files, "the first item" of a list of paths could be a file
        return {
            entity: path for entity, path in listed.items() if not (self._kinds.get(entity, set()) - {entity}) & shown
        }

    def _noun(self, entity: str) -> str:
        return self._server.nouns.get(entity.split(".")[-1], "one")

    def _definite(self, word: str, entity: str) -> list[str]:
        noun = self._noun(entity)
        return [f"that {noun}", f"that {noun}", f"this {noun}"] if word == "that" else [f"{word} {noun}"]

    def _clear(self, entity: str, mentions: list[_Mention], pattern: str | None, content: Json) -> _Mention | None:
        """What can be spoken of without ambiguity: the only one mentioned, or one of a list by its place."""
        if len(mentions) == 1 and mentions[0].words:
            return mentions[0]
        items = [] if pattern is None else _listed(pattern, content, mentions)
        if pattern is None or len(items) < 2 or any(item.words or item.origin is None for item in items):
            return None
        noun = self._noun(entity)
        place_in = "listed" if noun == "list" else "on the list"
        if self._rng.random() >= self._indirect:
            return _Mention(items[0].value, items[0].origin, [f"the first {noun}"])
        found = _extreme(content, pattern, noun, self._rng) if self._rng.random() < _BY_EXTREME else None
        for mention in items:
            if found and mention.origin is not None and mention.origin[1] == found[1]:
                return _Mention(mention.value, mention.origin, [found[0]])
        place, word = self._rng.choice(((0, "first"), (1, "second"), (-1, "last")))
        words = [f"the {word} {noun} {place_in}"]  # "the last order" alone would be the latest
        if word != "last":
            words.append(f"the {word} {noun}")
        return _Mention(items[place].value, items[place].origin, words)

    def _note_values(self, index: int, tool: Tool, arguments: dict[str, Argument], content: Json) -> None:
        properties = tool.parameters["properties"]
        amount: _Known | None = None
        for name, argument in arguments.items():
            schema = plain(properties[name])
            if schema.get("multipleOf") == 0.01:
                amount = self._amount = _Known(argument.value, index, name)
            if schema.get("format") == "date":
                self._day = _Known(argument.value, index, name)
        self._figure = next(
            (
                _Known(content[name], index, name)
                for name in _FIGURES
                if isinstance(content, dict) and isinstance(content.get(name), int | float)
            ),
            None,
        )
        if self._figure is None:
            return
        if amount is None:  # an older amount would be taken for this figure
            self._amount = None
        elif self._figure.path == "amount" and self._figure.value != amount.value:
            self._figure = None


def _listed(pattern: str, content: Json, mentions: Sequence[_Mention]) -> list[_Mention]:
    """The items of a list in its order; none when a place would be unclear: one stands twice, or has no name."""
    values = [str(value) for _, value in values_at(content, pattern)]
    items = list(values_at(content, pattern[: pattern.rfind("*") + 1]))
    by_value = {mention.value: mention for mention in mentions}
    if len(set(values)) < len(items) or not all(value in by_value for value in values):
        return []
    return [by_value[value] for value in values]


def _unmistakable(mention: _Mention, before: _Mention | None) -> _Mention:
    """Without words once the user has named two of a kind: "the same account" would leave open which."""
    if before is None or before.origin is not None or mention.origin is not None:
        return mention
    return mention if before.value == mention.value and before.words else replace(mention, words=())


def _extreme(content: Json, pattern: str, noun: str, rng: Random) -> tuple[str, str] | None:
    """Words for the one item of a list that has the least or most of something, and the path to its id."""
    items_at, _, key = pattern.partition(".*.")
    items = follow(content, items_at) if key else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    for name, words in _EXTREMES.items():
        numbers = [item.get(name) for item in items]  # type: ignore[union-attr]
        if len(numbers) > 1 and all(isinstance(number, int | float) for number in numbers):
            most = rng.random() < 0.5
            best = (max if most else min)(numbers)  # type: ignore[type-var]
            if numbers.count(best) == 1:
                return words[most].format(noun), f"{items_at}.{numbers.index(best)}.{key}"
    return None

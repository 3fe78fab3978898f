"""Whether a query that a model wrote can be used (paper, Synthesis 2 and 3: entities of the context only)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from proverl.agent.formats import split_thinking
from proverl.core import Json, canonical_json
from proverl.envs import load_server
from proverl.synth.chains.chain import Argument
from proverl.synth.chains.spoken import contains, is_said
from proverl.synth.scene import Ask, Information, MalformedReply, Scene
from proverl.synth.schema import plain
from proverl.synth.teachers.briefing import requests

_LONGEST = 1_200  # characters
_LABEL = re.compile(r"^(?:user|person|query|message)\s*:\s*", re.IGNORECASE)
_QUOTES = re.compile(r'^(["“])([^"“”]*)["”]$', re.DOTALL)
_MARKUP = re.compile(r'```|</?\w+(?:_\w+)*>|[{\[]\s*["{\[]|\b\w+\((?:\w+\s*=|\))')
_ID = re.compile(r"\b[A-Z]{2,8}[-_]\d{3,}\b")  # what all servers' ids look like, where they are not names
_LATIN = 0.9  # share of the letters of an English text


def checked_query(text: str, scene: Scene) -> str:
    """The query in a model's reply. Raises MalformedReply that says why there is none to use."""
    query = _QUOTES.sub(r"\2", _LABEL.sub("", split_thinking(text)[1].strip())).strip()
    problem = next(_problems(query, scene), "")
    if problem:
        raise MalformedReply(problem)
    return query


def _problems(query: str, scene: Scene) -> Iterator[str]:
    if not any(letter.isalnum() for letter in query):
        yield "it is empty"
    if len(query) > _LONGEST:
        yield f"it has {len(query)} characters, and a message has at most {_LONGEST}"
    if found := _MARKUP.search(query):
        yield f"it holds {found[0]!r}, as no person writes"
    letters = [letter for letter in query if letter.isalpha()]
    if sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters) < _LATIN * len(letters):
        yield "it is not in English"
    names = {tool.name for tool in (*scene.tools, *load_server(scene.server).tools) if "_" in tool.name}
    if named := sorted(name for name in names if contains(query, name)):
        yield f"it names the tool {named[0]}"
    yield from _leaks(query, scene)
    yield from _gaps(query, scene)


def _leaks(query: str, scene: Scene) -> Iterator[str]:
    """What the user cannot know, or is not to tell yet."""
    earlier = "\n".join(scene.texts)
    for argument in _arguments(scene.asks):
        for value in _texts(argument.value) if argument.origin is not None else ():
            if contains(query, value) and not contains(earlier, value):
                yield f"it quotes {value!r}, which only the assistant has seen"
    told = [argument.value for argument in _arguments(scene.asks) if argument.origin is None]
    known = _ID.findall(canonical_json([earlier, told, scene.context]))  # type: ignore[list-item]
    for name in _ID.findall(query):
        if name not in known:
            yield f"it names {name}, which is neither in the brief nor was said before"
    for argument in _held_back(scene.ask):
        if is_said(argument.value, query, scene.today):
            yield f"it tells {argument.value!r}, which is to be left out"


def _held_back(ask: Ask) -> list[Argument]:
    if ask.vague is None:
        return []
    arguments = ask.vague.step.arguments
    if ask.vague.information == Information.MINIMAL:
        return [argument for argument in arguments.values() if argument.entity]
    return [arguments[ask.vague.withheld]]


def _gaps(query: str, scene: Scene) -> Iterator[str]:
    """Ids and secrets that the turn must tell: nothing else can stand for them."""
    for request in requests(scene):
        for name, argument in request.told.items():
            secret = "x-source" in plain(request.tool.parameters["properties"][name])
            if argument.origin is not None or argument.words:
                continue
            for value in _texts(argument.value):
                if (secret or _ID.fullmatch(value)) and not contains("\n".join([*scene.texts, query]), value):
                    yield f"it does not say {value}"


def _arguments(asks: Sequence[Ask]) -> Iterator[Argument]:
    for ask in asks:
        for step in (*ask.steps, *([ask.vague.step] if ask.vague else [])):
            yield from step.arguments.values()
        for refused in (ask.refused, *(step.refused for step in ask.steps)):
            yield from refused.arguments.values() if refused else ()


def _texts(value: Json) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]

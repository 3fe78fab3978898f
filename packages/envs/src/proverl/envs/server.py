"""A server: tables, a seeded start state, typed tools, rules, and the words people use for them.

A server module reads like this:

    class Base(DeclarativeBase): ...
    class Note(Base):
        __tablename__ = "note"
        id_prefix = "NOTE"
        id: Mapped[str] = mapped_column(primary_key=True)
        text: Mapped[str]

    NoteId = Ref("Note")
    server = Server("notes", "Short notes.", Base, seed=start_state)

    class NoteView(TypedDict):
        id: NoteId
        text: str

    @server.tool(read_only=True, phrases=["show me note {note_id}", "open note {note_id}", "read note {note_id}"])
    def get_note(ctx: Context, note_id: Annotated[NoteId, "Note to read"]) -> NoteView:
        "Return one note."
        return ctx.get(Note, note_id)
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import lru_cache
from random import Random
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import DeclarativeBase

from proverl.core import Tool
from proverl.envs.context import Context
from proverl.envs.schema import parameters_model, parameters_schema, result_check, returns_schema
from proverl.envs.state import Row, Storage, digest

Function = TypeVar("Function", bound=Callable[..., Any])
Seed = Callable[[Random, datetime], dict[type[Any], list[Row]]]
Invariant = Callable[[Context], None]


@dataclass(frozen=True)
class ToolFunction:
    """A tool with the function behind it and the model that checks its arguments."""

    tool: Tool
    function: Callable[..., Any]
    model: type[BaseModel]
    fits: Callable[[Any], None]

    def check_result(self, content: Any, wrote: bool) -> None:
        """Raise TypeError when a call did not do what the tool's definition says."""
        self.fits(content)
        if wrote and self.tool.read_only:
            raise TypeError(f"{self.tool.name} is declared read_only but wrote; leave out read_only=True")


class Server:
    """One server, as a module builds it. It holds no state of any session."""

    def __init__(
        self,
        name: str,
        description: str,
        base: type[DeclarativeBase],
        seed: Seed,
        nouns: Mapping[str, str] | None = None,
    ) -> None:
        """`seed(rng, now)` returns the rows of the start state; `nouns` are people's words for entities."""
        self.name = name
        self.description = description
        self.nouns = dict(nouns or {})
        self.functions: dict[str, ToolFunction] = {}
        self.phrases: dict[str, tuple[str, ...]] = {}
        self.brief: dict[str, tuple[str, ...]] = {}
        self.invariants: list[Invariant] = []
        self.storage = Storage(name, base)
        self._seed = seed

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool, hidden ones included, in the order of definition."""
        return tuple(entry.tool for entry in self.functions.values())

    def tool(
        self,
        *,
        phrases: Sequence[str],
        brief: Sequence[str] = (),
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        hidden: bool = False,
    ) -> Callable[[Function], Function]:
        """Register a function as a tool; its docstring is the description that models read.

        `phrases` are ways to ask for it: imperative verb phrases with `{parameter}` slots; a part in square brackets is
        said only when the parameters in it are given. `brief` are ways to ask without telling everything that is
        required, as people do who expect to be asked back. Raises ValueError when a phrase names an unknown parameter
        or leaves a required one out, or when a brief one leaves none out.
        """

        def register(function: Function) -> Function:
            model = parameters_model(function)
            tool = Tool(
                name=function.__name__,
                description=inspect.cleandoc(function.__doc__ or ""),
                parameters=parameters_schema(model, self.name),
                returns=returns_schema(function, self.name),
                server=self.name,
                read_only=read_only,
                destructive=destructive,
                idempotent=idempotent or read_only,
                hidden=hidden,
            )
            self._check(tool, phrases, brief)
            self.functions[tool.name] = ToolFunction(tool, function, model, result_check(function))
            self.phrases[tool.name] = tuple(phrases)
            self.brief[tool.name] = tuple(brief)
            return function

        return register

    def invariant(self, check: Invariant) -> Invariant:
        """Register a function that raises AssertionError when the state breaks a law of this server."""
        self.invariants.append(check)
        return check

    def check(self) -> None:
        """Raise ValueError when a tool names an entity without a noun, or a secret's source that there is not."""
        for tool in self.tools:
            for parameter, schema in tool.parameters["properties"].items():
                where = f"{self.name}.{tool.name}, parameter {parameter}"
                self._check_entity(schema, where)
                if "x-source" in schema:
                    self._check_source(schema["x-source"], where)
            self._check_entity(tool.returns, f"{self.name}.{tool.name}, result")

    def _check_entity(self, schema: Any, where: str) -> None:
        if isinstance(schema, list):
            for item in schema:
                self._check_entity(item, where)
        if not isinstance(schema, dict):
            return
        server, _, entity = str(schema.get("x-entity", "")).rpartition(".")
        if server == self.name and entity not in self.nouns:
            near = get_close_matches(entity, list(self.nouns), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "give its noun to the Server"
            raise ValueError(f"{where}: entity {entity!r} is none of the server's nouns; {hint}")
        for item in schema.values():
            self._check_entity(item, where)

    def _check_source(self, source: str, where: str) -> None:
        name, _, field = source.partition(".")
        hidden = [tool.name for tool in self.tools if tool.hidden]
        if name not in hidden:
            raise ValueError(f"{where}: x-source {source!r} names no hidden tool; there are {hidden or 'none'}")
        fields = list(self.functions[name].tool.returns["properties"])
        if field not in fields:
            raise ValueError(f"{where}: x-source {source!r} names no field of its result; there are {fields}")

    def image(self, seed: int, now: datetime) -> bytes:
        """The start state for a seed, as the bytes of a SQLite database; built once per seed and process."""
        return _image(self, seed, now)

    def digest(self, seed: int, now: datetime) -> str:
        """The digest of the start state; computed once per seed and process."""
        return _start_digest(self, seed, now)

    def build(self, seed: int, now: datetime) -> bytes:
        """Build the start state; the same seed and time give the same rows."""
        return self.storage.build(lambda rng: self._seed(rng, now), Random(f"{self.name}:{seed}"))

    def _check(self, tool: Tool, phrases: Sequence[str], brief: Sequence[str]) -> None:
        if not tool.description:
            raise ValueError(f"tool {self.name}.{tool.name} needs a docstring: models read it")
        if tool.name in self.functions:
            raise ValueError(f"server {self.name} has two tools named {tool.name!r}")
        for field, texts in (("phrases", phrases), ("brief", brief)):
            if isinstance(texts, str):
                raise ValueError(f"{field} of {self.name}.{tool.name} are one string; write a list: [{texts!r}]")
        for phrase in (*phrases, *brief):
            unknown = phrase_slots(phrase) - set(tool.parameters["properties"])
            missing = set(tool.required) - phrase_slots(phrase, optional=False)
            if unknown or (missing and phrase in phrases):
                raise ValueError(
                    f"phrase {phrase!r} of {self.name}.{tool.name}: unknown slots {sorted(unknown)}, "
                    f"required parameters not said outside brackets {sorted(missing)}"
                )
            if not missing and phrase not in phrases:
                raise ValueError(f"brief phrase {phrase!r} of {self.name}.{tool.name} leaves no required parameter out")


@lru_cache(maxsize=512)
def _image(server: Server, seed: int, now: datetime) -> bytes:
    return server.build(seed, now)


@lru_cache(maxsize=4096)
def _start_digest(server: Server, seed: int, now: datetime) -> str:
    with server.storage.connect(server.image(seed, now)) as connection:
        return digest(connection, server.storage)


def phrase_slots(phrase: str, optional: bool = True) -> set[str]:
    """Names of the `{slots}` of a phrase; with `optional=False` only of those outside square brackets."""
    slots: set[str] = set()
    for index, part in enumerate(phrase.replace("]", "[").split("[")):
        if optional or index % 2 == 0:
            slots.update(piece.split("}")[0] for piece in part.split("{")[1:])
    return slots

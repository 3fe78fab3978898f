"""Tools, calls of tools, and their results."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proverl.core.json import Json


class ErrorCode(StrEnum):
    """Why a call failed. Errors are data: a failed call changes nothing and never raises through the loop."""

    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    REJECTED = "rejected"
    TIMEOUT = "timeout"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a server.

    `parameters` and `returns` are JSON Schemas of objects. A value that names an entity carries the keyword `x-entity`
    with `server.Entity`, so that dependency edges and argument sources can be read from the schemas alone.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any]
    server: str = ""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    hidden: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters that a call must give."""
        return tuple(self.parameters.get("required", ()))


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that could be parsed. `id` pairs it with its result; it may be empty."""

    name: str
    arguments: dict[str, Json]
    id: str = ""


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A piece of a model's reply that was meant as a call and could not be parsed."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returned: content, or an error code and what was wrong and what would be right."""

    content: Json = None
    code: ErrorCode | None = None
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.code is None

    def text(self) -> str:
        """The JSON text that the policy reads."""
        body = self.content if self.ok else {"error": str(self.code), "message": self.message}
        return json.dumps(body, separators=(",", ":"), ensure_ascii=False)

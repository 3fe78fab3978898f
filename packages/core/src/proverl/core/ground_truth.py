"""What a task expects: the ground-truth calls `G` and the dependency edges among them `E` (paper, Reward).

An argument that an earlier call of the same episode produces is not known beforehand. It stands in the arguments as a
reference, the JSON object `{"$result": {"step": 0, "field": "event.id"}}`, at any depth.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from proverl.core.json import Json

_MARK = "$result"


@dataclass(frozen=True, slots=True)
class Step:
    """One expected call. `turn` is the index of the first user turn by which all of its arguments were given.

    `returned` is what it returned when the task was made; only `reward.paper_exact` compares with it.
    """

    name: str
    arguments: dict[str, Json]
    turn: int = 0
    returned: Json = None


@dataclass(frozen=True, slots=True)
class Edge:
    """Step `before` must be matched before step `after`.

    kind `value`: an argument of `after` comes from the result of `before`, which must stand in an earlier message.
    kind `state`: `after` is refused unless `before` has run; an earlier position in the same message is enough.
    """

    before: int
    after: int
    kind: Literal["value", "state"] = "value"


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The expected steps and the edges among them, by index into `steps`."""

    steps: tuple[Step, ...] = ()
    edges: tuple[Edge, ...] = field(default=())


def reference(step: int, path: str) -> dict[str, Json]:
    """The JSON form of "the value at `path` of what step `step` returned"; `path` joins keys and indices with dots."""
    return {_MARK: {"step": step, "field": path}}


def find_references(value: Json) -> Iterator[tuple[int, str]]:
    """Yield (step, path) of every reference inside a JSON value."""
    if isinstance(value, dict):
        mark = value.get(_MARK)
        if isinstance(mark, dict):
            yield int(mark["step"]), str(mark["field"])  # type: ignore[arg-type]
            return
        for item in value.values():
            yield from find_references(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_references(item)


def follow(content: Json, path: str) -> Json:
    """Return the value at a dotted path of a result. Raises KeyError when the path leads nowhere."""
    value: Any = content
    for key in path.split("."):
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            raise KeyError(f"no value at {path!r} of {content!r}") from None
    return value


def resolve(value: Json, contents: Mapping[int, Json]) -> Json:
    """Replace every reference by what the step returned (`contents`: step index -> result content).

    Raises KeyError when a step has no content or the path leads nowhere.
    """
    if isinstance(value, dict):
        for step, path in find_references(value) if _MARK in value else ():
            if step not in contents:
                raise KeyError(f"step {step} has returned nothing yet")
            return follow(contents[step], path)
        return {key: resolve(item, contents) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, contents) for item in value]
    return value

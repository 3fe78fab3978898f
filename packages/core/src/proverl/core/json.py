"""JSON values: their type, their one canonical text, and the equality that the reward uses."""

import json
from typing import TYPE_CHECKING, TypeAlias, Union

from typing_extensions import TypeAliasType

if TYPE_CHECKING:
    Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
else:  # pydantic reads a recursive type only when it has a name
    Json = TypeAliasType("Json", Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]])  # noqa: UP007


def canonical_json(value: Json) -> str:
    """Return the one text of a JSON value: sorted keys, no spaces. Raises ValueError on NaN or infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def json_equal(left: Json, right: Json) -> bool:
    """JSON equality: 1 equals 1.0, true never equals 1, strings compare after trimming white space."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left.strip() == right.strip()
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(json_equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    return left == right

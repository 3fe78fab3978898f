"""From a tool's Python signature to its JSON Schemas and its argument check.

The check is strict (no string becomes a number) and its errors are sentences for a model to act on.
"""

import copy
import inspect
from collections.abc import Callable, Collection
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from proverl.envs.context import Context
from proverl.envs.types import MAX_TEXT

_SAFE_INTEGER = 2**53 - 1  # the largest integer that every JSON reader keeps


def _described(annotation: Any) -> tuple[Any, str]:
    """Split `Annotated[T, "text", ...]` into the type and its description."""
    if get_origin(annotation) is not Annotated:
        return annotation, ""
    base, *extras = get_args(annotation)
    texts = [item for item in extras if isinstance(item, str)]
    kept = [item for item in extras if not isinstance(item, str)]
    return (Annotated[tuple([base, *kept])] if kept else base), " ".join(texts)


def _bounded(annotation: Any) -> Any:
    """The type with the limits that every text and number has, also inside lists and where None may stand."""
    if annotation is str:
        return Annotated[str, Field(max_length=MAX_TEXT)]
    if annotation is int:
        return Annotated[int, Field(ge=-_SAFE_INTEGER, le=_SAFE_INTEGER)]
    if annotation is float:
        return Annotated[float, Field(allow_inf_nan=False)]
    if get_origin(annotation) is Annotated:
        base, *extras = get_args(annotation)
        limited = any(getattr(extra, "metadata", None) for extra in extras)
        return annotation if limited else Annotated[tuple([_bounded(base), *extras])]
    if get_origin(annotation) is list:
        return list[_bounded(get_args(annotation)[0])]  # type: ignore[misc]
    if get_origin(annotation) in (Union, UnionType):
        return reduce(or_, map(_bounded, get_args(annotation)))
    return annotation


def _check_signature(function: Callable[..., Any], hints: dict[str, Any]) -> None:
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or hints.get(parameters[0].name) is not Context:
        raise TypeError(f"tool {name!r}: its first parameter must be `ctx: Context`, not {parameters[:1]}")
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"tool {name!r} is async; write a plain function")
    for parameter in parameters[1:]:
        if parameter.name not in hints or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool {name!r}: parameter `{parameter}` needs a name and a type, e.g. `limit: Count = 5`")


def parameters_model(function: Callable[..., Any]) -> type[BaseModel]:
    """The pydantic model of a tool's parameters; the function's first parameter is the context and is left out."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, tuple[Any, FieldInfo]] = {}
    _check_signature(function, hints)
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        kind, text = _described(hints[parameter.name])
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (_bounded(kind), Field(default, description=text or None))
    config = ConfigDict(extra="forbid", strict=True)
    return create_model(function.__name__, __config__=config, **fields)  # type: ignore[call-overload]


def _tidy(schema: Any, server: str) -> Any:
    """Drop pydantic's titles, name the server in `x-entity`, keep everything else."""
    if isinstance(schema, list):
        return [_tidy(item, server) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "x-entity" and isinstance(value, str):
            tidy[key] = value if "." in value else f"{server}.{value}"
        elif key in ("properties", "$defs"):
            tidy[key] = {name: _tidy(item, server) for name, item in value.items()}
        elif key in ("default", "enum", "const", "examples"):
            tidy[key] = value
        else:
            tidy[key] = _tidy(value, server)
    return tidy


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    """Replace `$ref` by what it names: models read a flat schema better, and no reader has to resolve it."""
    if isinstance(schema, list):
        return [_inline(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    return {key: _inline(value, definitions) for key, value in schema.items() if key != "$defs"}


def _clean(schema: dict[str, Any], server: str) -> dict[str, Any]:
    tidy = _tidy(schema, server)
    return dict(_inline(tidy, tidy.get("$defs", {})))


def parameters_schema(model: type[BaseModel], server: str) -> dict[str, Any]:
    """JSON Schema (object) of a tool's parameters."""
    schema = _clean(model.model_json_schema(), server)
    schema.setdefault("properties", {})
    schema.pop("description", None)
    return schema


def result_check(function: Callable[..., Any]) -> Callable[[Any], None]:
    """The check that a result is what the tool's signature promises; it raises TypeError. Made when first used."""
    annotation = get_type_hints(function, include_extras=True)["return"]

    def check(content: Any) -> None:
        try:
            _adapter(annotation).validator.validate_python(content, strict=True)
        except ValidationError as error:
            raise TypeError(f"its result is no {annotation.__name__}: {explain(error, whole='result')}") from None

    return check


@cache  # several tools return the same type
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _result_schema(annotation: Any) -> dict[str, Any]:
    """What pydantic writes for a TypedDict of plain types, in a quarter of its time: an import makes hundreds."""
    if is_typeddict(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        properties = {name: _result_schema(_without_marks(hint)) for name, hint in hints.items()}
        required = [name for name in hints if name in annotation.__required_keys__]
        text = {"description": inspect.cleandoc(annotation.__doc__)} if annotation.__doc__ else {}
        return {**text, "properties": properties, **({"required": required} if required else {}), "type": "object"}
    if get_origin(annotation) is list:
        return {"items": _result_schema(get_args(annotation)[0]), "type": "array"}
    return _leaf_schema(annotation)


def _without_marks(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint


def _leaf_schema(annotation: Any) -> dict[str, Any]:
    name = repr(annotation)  # whole, and a type with extras has no hash
    if name not in _leaves:
        _leaves[name] = TypeAdapter(annotation).json_schema()
    return copy.deepcopy(_leaves[name])


_leaves: dict[str, dict[str, Any]] = {}


def returns_schema(function: Callable[..., Any], server: str) -> dict[str, Any]:
    """JSON Schema (object) of a tool's result. Raises TypeError when the tool does not return a typed object."""
    annotation = get_type_hints(function, include_extras=True).get("return")
    schema = _clean(_result_schema(annotation), server) if annotation is not None else {}
    if schema.get("type") != "object":
        raise TypeError(f"tool {function.__name__!r} must return a TypedDict, not {annotation!r}")
    return schema


def explain(error: ValidationError, known: Collection[str] = (), whole: str = "arguments") -> str:
    """One sentence for a model: which argument, what was wrong, what was given; `known` are the arguments there are."""
    parts = []
    for item in error.errors(include_url=False)[:3]:
        where = ".".join(str(part)[:80] for part in item["loc"]) or whole
        if item["type"] == "missing":
            parts.append(f"{where}: required argument is missing")
        elif item["type"] == "extra_forbidden":
            parts.append(f"{where}: no such argument; this tool takes {', '.join(known) or 'none'}")
        else:
            parts.append(f"{where}: {_sentence(item['msg'])}, got {brief(item['input'])}")
    return "; ".join(parts)


def _sentence(message: str) -> str:
    text = message.removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


def brief(value: Any) -> str:
    """The value as Python writes it, cut to a line."""
    try:
        text = repr(value[:100] if isinstance(value, str) else value).encode("utf-8", "backslashreplace").decode()
    except ValueError:  # an integer that Python refuses to write
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."

"""How each model family writes tool calls, and how tools and messages are handed to its chat template."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, TypeAlias

from proverl.agent.chat import Reply
from proverl.core import Call, MalformedCall, Tool

Calls: TypeAlias = list[Call | MalformedCall]
ReadCalls: TypeAlias = Callable[[str], tuple[Calls, str]]  # the calls at the start of a text, and what follows them


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """A model family: `parse` reads what the model wrote, `options` go to the tokenizer's chat template."""

    name: str
    parse: Callable[[str], Reply]
    options: dict[str, Any] = field(default_factory=dict)


def tool_format(name: str) -> ToolFormat:
    """Return the format of a model family. Raises ValueError that lists the known ones."""
    if name not in FORMATS:
        raise ValueError(f"no tool format {name!r}; known formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def tiny_chat_template() -> str:
    """The chat template (Jinja) of the tiny model; its tokenizer needs the marks in it as single special tokens."""
    return _template("tiny")


def _template(name: str) -> str:
    return resources.files("proverl.agent").joinpath("templates", f"{name}.jinja").read_text("utf-8")


def render_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tools as chat templates and endpoints take them, without what is for synthesis: `x-...` keywords and examples."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": _plain(tool.parameters)},
        }
        for tool in tools
    ]


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "examples" and not key.startswith("x-")}
    return {
        key: {name: _plain(part) for name, part in value.items()} if key == "properties" else _plain(value)
        for key, value in kept.items()
    }


def split_thinking(text: str) -> tuple[str, str]:
    """Split a reply into its thinking and the rest; thinking that is never closed takes all of it.

    A block stands before the first call: behind it the marks may be part of an argument.
    """
    head = text.partition("<tool_call>")[0]
    if "<think>" in head:
        before, _, text = text.partition("<think>")
    elif "</think>" in head:  # the chat template itself opened the block
        before = ""
    else:
        return "", text
    thinking, _, rest = text.partition("</think>")
    return thinking.strip(), before + rest.lstrip()


def parse_hermes(text: str) -> Reply:
    """`<tool_call>{"name": ..., "arguments": {...}}</tool_call>`, as Qwen2.5, Qwen3 and Granite 4 write it.

    Calls inside a thinking block are not calls.
    """
    return _parse(text, "<tool_call>", "</tool_call>", _hermes_call)


def parse_smollm(text: str) -> Reply:
    """`<tool_call>[{"name": ..., "arguments": {...}}, ...]</tool_call>`, one list for all, as SmolLM2 writes it."""
    return _parse(text, "<tool_call>", "</tool_call>", _listed_calls)


def parse_tiny(text: str) -> Reply:
    """`<|call|>name{"key":"value"}<|/call|>`, as the shipped tiny model writes it; it never thinks."""
    return _parse(text, "<|call|>", "<|/call|>", _tiny_call, thinks=False)


def _parse(text: str, opening: str, closing: str, read: ReadCalls, thinks: bool = True) -> Reply:
    """Take the thinking and the marked blocks out of `text`; a block that cannot be read is a malformed call."""
    thinking, text = split_thinking(text) if thinks else ("", text)
    thought, kept, calls = [thinking], [], Calls()
    while True:
        while thinks and "<think>" in text.partition(opening)[0]:  # further blocks: each round takes one away
            thinking, text = split_thinking(text)
            thought.append(thinking)
        before, found, rest = text.partition(opening)
        kept.append(before)
        if not found:
            return Reply("".join(kept).strip(), tuple(calls), thinking="\n".join(filter(None, thought)))
        try:
            read_calls, after = read(rest)
            if not after.lstrip().startswith(closing):
                raise ValueError(f"expected {closing} after the arguments")
            calls += read_calls
            text = after.lstrip()[len(closing) :]
        except ValueError as error:
            body, text = _skip(rest, opening, closing)
            calls.append(MalformedCall(opening + body, str(error)))


def _skip(rest: str, opening: str, closing: str) -> tuple[str, str]:
    """Split after a broken block: at its closing mark, or before the next opening mark, whichever is first."""
    ends = [at for at in (rest.find(opening), rest.find(closing)) if at >= 0]
    end = min(ends, default=len(rest))
    return rest[:end], rest[end:].removeprefix(closing)


def _hermes_call(text: str) -> tuple[Calls, str]:
    value, after = _read_json(text)
    return [_named_call(value)], after


def _listed_calls(text: str) -> tuple[Calls, str]:
    value, after = _read_json(text)
    return [_named_call(item) for item in (value if isinstance(value, list) else [value])], after


def _tiny_call(text: str) -> tuple[Calls, str]:
    name, brace, _ = text.partition("{")
    if not brace:
        raise ValueError("a call must be a tool name followed by its arguments as a JSON object")
    value, after = _read_json(text[len(name) :])
    return [_call(name.strip(), value)], after


def _named_call(value: Any) -> Call:
    if not isinstance(value, dict):
        raise ValueError('a call must be an object {"name": ..., "arguments": {...}}')
    return _call(value.get("name"), value.get("arguments", {}))


def _call(name: Any, arguments: Any) -> Call:
    if not isinstance(name, str) or not name or any(mark in name for mark in "<>|"):
        raise ValueError(f"the tool name must be a non-empty string, not {name!r}")
    if isinstance(arguments, str):  # some models escape the object once more
        arguments, after = _read_json(arguments)
        if after.strip():
            raise ValueError("the arguments string holds more than one JSON object")
    if not isinstance(arguments, dict):
        raise ValueError(f"arguments must be a JSON object, not {json.dumps(arguments)}")
    return Call(name, arguments)


def read_arguments(text: str) -> dict[str, Any]:
    """Return the JSON object in `text` (an endpoint's arguments). Raises ValueError that says what is wrong."""
    return _call("name", text or "{}").arguments


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"the number {text} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def _read_json(text: str) -> tuple[Any, str]:
    """The JSON value at the start of `text` and what follows. Raises ValueError for what no tool could be given."""
    start = len(text) - len(text.lstrip())
    try:
        value, end = _DECODER.raw_decode(text, start)
        json.dumps(value, ensure_ascii=False).encode()
        if _deeper(value, _DEEPEST):
            raise RecursionError
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at character {error.pos - start}") from None
    except RecursionError:
        raise ValueError("not valid JSON: nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("not valid JSON: an escape names half a character (a lone surrogate)") from None
    return value, text[end:]


_DEEPEST = 100  # levels of a value; what keeps episodes and records reads back 200, its own included


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    return levels == 0 or any(
        _deeper(part, levels - 1) for part in (value.values() if isinstance(value, dict) else value)
    )


# Qwen3 alone knows the option, other templates ignore it; off is the paper's choice (what is left open)
_THINKING, _NOT_THINKING = {"enable_thinking": True}, {"enable_thinking": False}

FORMATS = {
    "tiny": ToolFormat("tiny", parse_tiny),
    "qwen": ToolFormat("qwen", parse_hermes, _NOT_THINKING),
    "qwen_thinking": ToolFormat("qwen_thinking", parse_hermes, _THINKING),
    "granite": ToolFormat("granite", parse_hermes),
    # its own template knows no tools
    "smollm2": ToolFormat("smollm2", parse_smollm, {"chat_template": _template("smollm2")}),
}

"""What a model is told that writes the user's next turn, and one that plays the assistant (paper, Synthesis 3)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proverl.core import Json, Tool
from proverl.synth.chains.chain import Argument, ChainStep
from proverl.synth.scene import Information, Scene
from proverl.synth.schema import plain

_WRITER = """You play a person who talks to an assistant. Write that person's next message, and nothing else.
- One to three sentences of natural English, in the voice of the persona.
- Never name a tool, a function or a parameter. No JSON, no code, no lists, no quotation marks around the message.
- Ids and names of things come from the brief or from what the person said before, and from nowhere else.
- What only the assistant has seen is spoken of as people do ("that booking"); its id is never written.
- Values marked "free" are yours to choose, of the same kind; say them so that one can act on them.
- Do not add requests that the brief does not have, and do not mention the brief."""

_ASSISTANT = """
- Use the tools for whatever they can do, step by step. Calls that do not need each other may go into one message.
- Arguments come from the user, a tool's result or this message. Ask the user for what is required and missing.
- When a call is refused, read why: correct the arguments, use another tool, or explain why it cannot be done.
- When no tool can do what is asked, say so and call nothing.
- Finish with one or two plain sentences of English."""


@dataclass(frozen=True)
class Request:
    """One thing that a turn asks for: the tool that does it, and the arguments that the user tells."""

    tool: Tool
    told: Mapping[str, Argument]
    heading: str = "Ask for this"


def requests(scene: Scene) -> list[Request]:
    """What the current turn asks for, in order."""
    ask = scene.ask
    if ask.vague:
        step, withheld = ask.vague.step, ask.vague.withheld
        if ask.vague.information == Information.MINIMAL:
            return [Request(step.tool, {}, "Say only that this is wanted, with no detail at all; you will be asked")]
        told = {name: argument for name, argument in step.arguments.items() if name != withheld}
        return [Request(step.tool, told, f"Ask for this, but do not tell {_description(step.tool, withheld)!r}")]
    found = [Request(ask.refused.tool, ask.refused.arguments)] if ask.refused else []
    for place, step in enumerate(ask.steps):
        found.extend(_of_step(step, scene.answering.withheld if scene.answering and place == 0 else None))
    return found


def _of_step(step: ChainStep, withheld: str | None) -> Iterator[Request]:
    if withheld is not None:
        told = {withheld: step.arguments[withheld]} if withheld else step.arguments
        yield Request(step.tool, told, "Answer the assistant: tell what was left out of this request")
        return
    instead = step.refused is not None and step.refused.kind != "give_up"
    if step.refused and instead:
        yield Request(step.refused.tool, step.refused.arguments)
    yield Request(
        step.tool, step.arguments, "Say that, should it be impossible, this is to be done" * instead or "Ask for this"
    )


def query_messages(scene: Scene, fault: str = "") -> list[dict[str, Any]]:
    """The prompt for the user's next turn; `fault` says why the last attempt could not be used."""
    parts = [f"Persona: {scene.persona}", f"Today: {scene.today:%A %Y-%m-%d}", *_wanted(scene)]
    if not scene.ask.unrelated:
        parts.append("Things that exist; speak of no others:\n" + "\n".join(_context(scene)))
    spoken = [m for m in scene.messages if m["role"] in ("user", "assistant") and m["content"]]
    names = {"user": "Person", "assistant": "Assistant"}
    said = "\n".join(f"{names[message['role']]}: {message['content']}" for message in spoken)
    parts.append(f"The conversation so far:\n{said}" if said else "This is the first message of the conversation.")
    if fault:
        parts.append(f"Your last attempt could not be used: {fault}. Write another one.")
    return [{"role": "system", "content": _WRITER}, {"role": "user", "content": "\n\n".join(parts)}]


def _wanted(scene: Scene) -> Iterator[str]:
    if scene.ask.unrelated:
        yield f"Ask this in your own words, and nothing else: {scene.ask.unrelated}"
    for request in requests(scene):
        lines = [f"{request.heading}: {request.tool.description.splitlines()[0]}"]
        properties = request.tool.parameters["properties"]
        lines += [
            f"- {name.replace('_', ' ')} ({_description(request.tool, name)}): {_how(item, plain(properties[name]))}"
            for name, item in request.told.items()
        ]
        yield "\n".join(lines)


def _description(tool: Tool, name: str) -> str:
    return str(tool.parameters["properties"][name].get("description", name.replace("_", " ")))


def _how(argument: Argument, schema: dict[str, Any]) -> str:
    if argument.origin is not None:
        return f'only the assistant knows it; call it "{argument.words or "that one"}"'
    if argument.words:
        return f'say "{argument.words}"'
    value = json.dumps(argument.value, ensure_ascii=False)
    return value if argument.entity or "x-source" in schema else f"{value} (free)"


def _context(scene: Scene) -> Iterator[str]:
    for entity, records in scene.context.items():
        rows = [json.dumps(record, ensure_ascii=False) for record in records]
        yield "\n".join([f"{entity.rpartition('.')[2]}:", *rows])


def assistant_messages(scene: Scene, fault: str = "") -> list[dict[str, Any]]:
    """The prompt for the assistant's next message, in the shape that every endpoint takes."""
    system = scene.system + _ASSISTANT
    if fault:  # in the first message: chat templates refuse a later one that is not the user's
        system += f"\n- Your last attempt could not be used: {fault}. Answer in another way."
    return [{"role": "system", "content": system}, *(_sent(message) for message in scene.messages)]


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: message[key] for key in ("role", "content", "tool_call_id") if key in message}
    if message.get("tool_calls"):
        kept["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _text(call["function"]["arguments"])}}
            for call in message["tool_calls"]
        ]
    return kept


def _text(arguments: Json) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

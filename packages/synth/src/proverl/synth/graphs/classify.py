"""The dependency graph as the paper makes it: a model says of every pair of tools how they depend (Synthesis 1).

One question asks about one tool and all that may come before it, not about one pair. Answers are kept on disk under a
hash of the question, which holds the schemas. Nothing is proven here; `infer` and `state_edges` are the way that is.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from proverl.agent import EndpointPolicy
from proverl.core import Json, Tool
from proverl.synth.graphs.store import read, write

_TOGETHER = 60  # tools in one question
_AT_ONCE = 8  # questions under way
_KINDS = ("explicit", "implicit")

_ASK = """You analyse the tools of a server. For the tool TARGET, say which of the tools SOURCES it depends on:
- explicit: a value in the source's result is needed as an argument of the target;
- implicit: the source must run first to bring about a state in which the target succeeds.
Answer with one JSON object from names of sources to "explicit" or "implicit"; leave out all sources without either.

TARGET
{target}

SOURCES
{sources}"""


async def classify(
    tools: Sequence[Tool], policy: EndpointPolicy, folder: Path | None = None, attempts: int = 3
) -> nx.DiGraph:
    """Ask a model for the graph of some tools; `kind` of an edge is explicit or implicit, its `entities` are not known.

    A malformed answer is told what is wrong with it and asked for again, `attempts` times in all. Raises ValueError
    when none is well-formed, openai.OpenAIError when the endpoint fails.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(tool.name for tool in tools)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(target: Tool, sources: Sequence[Tool]) -> None:
        async with gate:
            answer = await _answer(target, sources, policy, folder, attempts)
        graph.add_edges_from((source, target.name, {"kind": kind, "entities": ()}) for source, kind in answer.items())

    others = [(target, [tool for tool in tools if tool.name != target.name]) for target in tools]
    parts = [(target, all_[at : at + _TOGETHER]) for target, all_ in others for at in range(0, len(all_), _TOGETHER)]
    await asyncio.gather(*(ask(*part) for part in parts))
    return graph


async def _answer(
    target: Tool, sources: Sequence[Tool], policy: EndpointPolicy, folder: Path | None, attempts: int
) -> dict[str, str]:
    question = _ASK.format(target=_shown(target), sources="\n".join(map(_shown, sources)))
    key: Json = ["classify", policy.model, dict(policy.options), question]
    names = {tool.name for tool in sources}
    kept = read(folder, key)
    if kept is not None:
        return _read(json.dumps(kept), names)
    messages: list[Any] = [{"role": "user", "content": question}]
    for _ in range(attempts):
        text = await _reply(policy, messages)
        try:
            answer = _read(text, names)
        except ValueError as error:
            wrong = str(error)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": f"{wrong}. Answer again."}]
            continue
        write(folder, key, dict(answer))
        return answer
    raise ValueError(f"{policy.model} gave no answer about {target.name} in {attempts} attempts; the last: {wrong}")


async def _reply(policy: EndpointPolicy, messages: list[Any]) -> str:
    completion = await policy.client.chat.completions.create(
        model=policy.model, messages=messages, **dict(policy.options)
    )
    return (completion.choices[0].message.content or "") if completion.choices else ""


def _read(text: str, names: set[str]) -> dict[str, str]:
    """The answer in a model's reply, which may have words around it. Raises ValueError saying what is wrong with it."""
    start, end = text.find("{"), text.rfind("}")
    try:
        answer = json.loads(text[start : end + 1]) if start >= 0 else None
    except ValueError as error:
        raise ValueError(f"This is no JSON object ({error})") from None
    if not isinstance(answer, dict):
        raise ValueError("This holds no JSON object")
    unknown = sorted(answer.keys() - names)
    if unknown:
        raise ValueError(f"These are none of the sources: {', '.join(unknown)}")
    odd = sorted(name for name, kind in answer.items() if kind not in _KINDS)
    if odd:
        raise ValueError(f"These are neither explicit nor implicit: {', '.join(odd)}")
    return answer


def _shown(tool: Tool) -> str:
    """A tool on one line, types of ours left out: the model is to find them."""
    shown = {"name": tool.name, "description": tool.description, "parameters": tool.parameters, "result": tool.returns}
    return json.dumps(_plain(shown), separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if not key.startswith("x-")}
    return schema

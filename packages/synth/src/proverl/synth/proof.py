"""Leaving each call out: what then fails (state edges), and whether the call was needed at all."""

from collections.abc import Sequence
from typing import Any

import networkx as nx

from proverl.core import Json, Result, Step, find_references, resolve
from proverl.envs import Session
from proverl.synth.reasons import Reason, Unproven


def state_edges(
    servers: Sequence[str], seed: int, steps: Sequence[Step], writes: Sequence[bool], digest: str
) -> set[tuple[int, int]]:
    """Pairs (a, b): step b, which takes no value that rests on a, is refused when a is left out.

    `digest` is the final state's. Raises Unproven for a writing step that does not show there, whether it changes
    nothing or is undone later: who leaves it out would have done the task.
    """
    flow: nx.DiGraph = nx.DiGraph()
    flow.add_nodes_from(range(len(steps)))
    flow.add_edges_from(
        (source, index) for index, step in enumerate(steps) for source, _ in find_references(step.arguments)
    )
    edges: set[tuple[int, int]] = set()
    for left_out in range(len(steps)):
        if not writes[left_out]:
            continue
        refused, state = _without(servers, seed, steps, left_out, flow)
        edges |= {(left_out, index) for index in refused}
        if state == digest:
            raise Unproven(
                Reason.NEEDLESS, f"step {left_out} ({steps[left_out].name}) does not show in the final state"
            )
    return edges


def _without(
    servers: Sequence[str], seed: int, steps: Sequence[Step], left_out: int, flow: nx.DiGraph
) -> tuple[set[int], str]:
    """The later steps that are refused without this one, and the digest of the final state."""
    lost = nx.descendants(flow, left_out) | {left_out}
    refused: set[int] = set()
    contents: dict[int, Json] = {}
    with Session(servers, seed) as session:
        for index, step in enumerate(steps):
            if index in lost:
                continue
            result = _call(session, step, contents)
            if result is not None and result.ok:
                contents[index] = result.content
            else:
                lost |= nx.descendants(flow, index) | {index}
                refused |= {index} if index > left_out else set()
        return refused, session.digest()


def _call(session: Session, step: Step, contents: dict[int, Json]) -> Result | None:
    """The result, or None when a value that the step takes is not there."""
    try:
        arguments: Any = resolve(step.arguments, contents)
    except KeyError:
        return None
    return session.call(step.name, arguments)

"""Leaving each call out: what then fails (state edges), and whether the call was needed at all."""

from collections.abc import Sequence
from typing import Any

import networkx as nx

from proverl.core import Step, find_references, resolve
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.session import fresh_session


def state_edges(
    servers: Sequence[str], seed: int, steps: Sequence[Step], writes: Sequence[bool], digest: str
) -> set[tuple[int, int]]:
    """Pairs (a, b): step b, which takes no value that rests on a, is refused when a is left out.

    `digest` is the final state's. Raises Unproven for a writing step that does not show there, whether it changes
    nothing or is undone later: who leaves it out, alone or with all that rests on it, would have done the task.
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
        resting = nx.descendants(flow, left_out)
        refused, state = _without(servers, seed, steps, {left_out}, flow)
        edges |= {(left_out, index) for index in refused - resting if index > left_out}
        if state == digest or (resting and _without(servers, seed, steps, {left_out} | resting, flow)[1] == digest):
            raise Unproven(
                Reason.NEEDLESS, f"step {left_out} ({steps[left_out].name}) does not show in the final state"
            )
    return edges


def _without(
    servers: Sequence[str], seed: int, steps: Sequence[Step], left_out: set[int], flow: nx.DiGraph
) -> tuple[set[int], str]:
    """The steps that are refused without these, and the digest of the final state.

    Values are those of the whole task: who leaves a step out may know elsewhere what it returned.
    """
    lost = set(left_out)
    refused: set[int] = set()
    contents = {index: step.returned for index, step in enumerate(steps)}
    with fresh_session(servers, seed) as session:
        for index, step in enumerate(steps):
            if index in lost:
                continue
            arguments: Any = resolve(step.arguments, contents)
            if not session.call(step.name, arguments).ok:
                lost |= nx.descendants(flow, index)
                refused.add(index)
        return refused, session.digest()

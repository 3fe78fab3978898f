"""The dependency graph of a server's tools (paper, Synthesis 1).

An explicit edge A -> B says that a field of A's result names an entity that a parameter of B asks for; it is read from
the types. An implicit edge says that A must run first for B to be accepted; `state_edges` proves it.
"""

from collections.abc import Sequence
from functools import cache

import networkx as nx

from proverl.core import Tool
from proverl.envs import load_server
from proverl.synth.schema import entities_of, result_entities


def dependency_graph(tools: Sequence[Tool]) -> nx.DiGraph:
    """Tools as nodes (by name) and explicit edges, which have `kind` "explicit".

    `entities` of an edge is the sorted tuple of entities that flow along it.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(tool.name for tool in tools)
    given = {tool.name: {entity for _, entity in result_entities(tool.returns)} for tool in tools}
    asked = {tool.name: parameter_entities(tool) for tool in tools}
    for source in given:
        for target in asked:
            shared = given[source] & asked[target]
            if shared and source != target:
                graph.add_edge(source, target, kind="explicit", entities=tuple(sorted(shared)))
    return graph


def parameter_entities(tool: Tool) -> set[str]:
    """The entities that the parameters of a tool name."""
    return {entity for schema in tool.parameters["properties"].values() for entity in entities_of(schema)}


@cache
def server_graph(server: str) -> nx.DiGraph:
    """The explicit edges among an installed server's visible tools. Raises ValueError for an unknown server."""
    return dependency_graph(visible_tools(server))


@cache
def server_needs(server: str) -> dict[str, set[str]]:
    """`parameter_entities` of each of a server's visible tools. Raises ValueError for an unknown server."""
    return {tool.name: parameter_entities(tool) for tool in visible_tools(server)}


def visible_tools(server: str) -> list[Tool]:
    """The tools of an installed server that models see. Raises ValueError for an unknown server."""
    return [tool for tool in load_server(server).tools if not tool.hidden]

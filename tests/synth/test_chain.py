"""Chains are walked on live state: every step succeeds, edges are real, values come from somewhere."""

from random import Random

import pytest

from proverl.core import find_references, resolve
from proverl.envs import Session
from proverl.synth.chain import walk
from proverl.synth.graph import dependency_graph, server_graph
from proverl.synth.sampler import sample_entities

SERVERS = ["banking", "calendar", "filesystem"]


def chains(server, number=12):
    drawn = (walk(server, seed % 3, 3, Random(f"{server}{seed}")) for seed in range(number))
    return [chain for chain in drawn if chain is not None]


@pytest.mark.parametrize("server", SERVERS)
def test_ground_truth_replays_with_its_references_resolved(server):
    for chain in chains(server):
        truth = chain.ground_truth([0, 0, 1])
        contents = {}
        with Session([server], chain.seed) as session:
            for index, step in enumerate(truth.steps):
                result = session.call(step.name, resolve(step.arguments, contents))
                assert result.ok, result
                contents[index] = result.content
                assert result.content == chain.steps[index].content


@pytest.mark.parametrize("server", SERVERS)
def test_value_edges_are_exactly_the_references_and_state_edges_are_proven(server):
    found = 0
    for chain in chains(server, 30):
        truth = chain.ground_truth([0, 0, 0])
        references = {
            (source, index) for index, step in enumerate(truth.steps) for source, _ in find_references(step.arguments)
        }
        assert {(edge.before, edge.after) for edge in truth.edges if edge.kind == "value"} == references
        for edge in truth.edges:
            assert edge.before < edge.after
            if edge.kind == "state":
                found += 1
                assert not succeeds_without(server, chain, truth, edge.before, edge.after)
    assert found or server != "banking"  # freezing a card and then unfreezing it, at least


def succeeds_without(server, chain, truth, left_out, wanted):
    contents = {}
    with Session([server], chain.seed) as session:
        for index, step in enumerate(truth.steps[: wanted + 1]):
            if index == left_out:
                continue
            try:
                result = session.call(step.name, resolve(step.arguments, contents))
            except KeyError:
                continue
            if result.ok:
                contents[index] = result.content
    return wanted in contents


@pytest.mark.parametrize("server", SERVERS)
def test_entities_come_from_read_only_tools_and_reading_them_is_repeatable(server):
    entities = sample_entities(server, 1)
    sample_entities.cache_clear()
    assert sample_entities(server, 1) == entities
    assert all(len(set(values)) == len(values) for values in entities.values())
    assert max(len(values) for values in entities.values()) >= 10


@pytest.mark.parametrize("server", SERVERS)
def test_every_visible_tool_can_appear_in_a_chain(server):
    missing = set(server_graph(server).nodes)
    for seed in range(3_000):
        chain = walk(server, seed % 4, 3, Random(f"all{seed}"))
        missing -= set(chain.names if chain else ())
        if not missing:
            return
    raise AssertionError(f"no chain ever reaches {missing}")


def test_graph_edges_say_which_entity_flows():
    graph = server_graph("banking")
    assert "banking.Account" in graph.edges["open_account", "transfer_funds"]["entities"]
    assert not dependency_graph([]).nodes


def test_the_same_seed_walks_the_same_chain():
    assert walk("banking", 1, 3, Random(5)) == walk("banking", 1, 3, Random(5))

"""Chains are walked on live state: every step succeeds and every value comes from somewhere."""

from random import Random

import pytest

from proverl.envs import Session
from proverl.synth.chains.walk import walk
from proverl.synth.graphs.graph import dependency_graph, server_graph

SERVERS = ["banking", "calendar", "filesystem"]


def chains(server, number=12, **settings):
    drawn = (walk(server, seed % 3, 3, Random(f"{server}{seed}"), **settings) for seed in range(number))
    return [chain for chain in drawn if chain is not None]


@pytest.mark.parametrize("server", SERVERS)
def test_a_chain_replays_on_a_fresh_session_and_what_it_refused_is_refused(server):
    refused = 0
    for chain in chains(server, 90, refusing=True, indirect=0.7):
        with Session([server], chain.seed) as session:
            for step in chain.steps:
                if step.refused:
                    refused += 1
                    arguments = {name: item.value for name, item in step.refused.arguments.items()}
                    assert session.call(step.refused.tool.name, arguments).code == step.refused.code
                arguments = {name: item.value for name, item in step.arguments.items()}
                assert session.call(step.tool.name, arguments).content == step.content
    assert refused >= 5


def test_the_target_is_in_the_chain():
    reached = [walk("banking", 1, 3, Random(seed), targets=["open_account"]) for seed in range(8)]
    assert any(reached)
    assert all("open_account" in chain.names for chain in reached if chain)


def test_a_corrected_call_differs_in_the_one_argument_that_is_named():
    found = 0
    for chain in chains("banking", 150, refusing=True):
        for step in chain.steps:
            if step.refused and step.refused.kind == "corrected":
                found += 1
                before, after = step.refused.arguments, step.arguments
                assert {name for name in after if before[name].value != after[name].value} == {step.refused.changed}
    assert found


def test_indirect_speech_names_no_value_that_only_a_result_knows():
    derived = 0
    for server in SERVERS:
        for chain in chains(server, 30, indirect=1.0):
            for step in chain.steps:
                for argument in step.arguments.values():
                    derived += argument.derived is not None
                    assert argument.words or argument.origin is None
                    assert not (argument.origin and str(argument.value) in argument.words)
    assert derived >= 5


@pytest.mark.parametrize("server", SERVERS)
def test_every_visible_tool_can_appear_in_a_chain(server):
    missing = set(server_graph(server).nodes)
    for seed in range(3_000):
        chain = walk(server, seed % 4, 3, Random(f"all{seed}"), targets=[min(missing)])
        missing -= set(chain.names if chain else ())
        if not missing:
            return
    raise AssertionError(f"no chain ever reaches {missing}")


def test_graph_edges_say_which_entity_flows():
    graph = server_graph("banking")
    assert "banking.Account" in graph.edges["open_account", "transfer_funds"]["entities"]
    assert not dependency_graph([]).nodes


def test_the_same_seed_walks_the_same_chain():
    chain = walk("banking", 1, 3, Random(5), indirect=0.8)
    assert chain is not None
    assert chain == walk("banking", 1, 3, Random(5), indirect=0.8)

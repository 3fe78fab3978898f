"""Tasks: proven, traced, distinct, split apart, and the same bytes for the same seed."""

import asyncio
import dataclasses
import re

import pytest

from proverl.agent import Limits, OraclePolicy, run_episode
from proverl.core import GroundTruth, Step, TaskKind, find_references, resolve, task_to_json
from proverl.envs import Session, load_server
from proverl.reward import RewardConfig, score
from proverl.synth import Impossible, SynthConfig, is_heldout, synthesize
from proverl.synth.assemble import strip_enums
from proverl.synth.block import kind_at
from proverl.synth.config import PERSONAS
from proverl.synth.reasons import Unproven
from proverl.synth.validate import Deduplicator, check_sources, replay

LIMITS = Limits()
CONFIG = SynthConfig()
RICH = SynthConfig(
    servers=("banking", "calendar", "filesystem", "travel_booking", "shopping"),
    information=(0.4, 0.3, 0.3),
    indirect=0.8,
    recovery=0.5,
    irrelevant=0.2,
    personas=PERSONAS,
    max_tools=0,
    max_characters=0,
)


@pytest.fixture(scope="module")
def train():
    return synthesize(CONFIG, 0, "train", 60, LIMITS)


@pytest.fixture(scope="module")
def rich():
    return synthesize(RICH, 0, "train", 150, LIMITS)


@pytest.fixture(scope="module")
def heldout():
    return synthesize(CONFIG, 0, "heldout", 15, LIMITS)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(train):
    again = synthesize(CONFIG, 0, "train", 60, LIMITS)
    assert [task_to_json(task) for task in again] == [task_to_json(task) for task in train]
    assert not {task.turns for task in synthesize(CONFIG, 1, "train", 10, LIMITS)} & {task.turns for task in train}


def test_heldout_tasks_share_no_chain_and_no_world_with_training(train, heldout):
    def chains(tasks):
        return {tuple(task.notes["chain"]) for task in tasks if task.notes["chain"]}

    assert all(is_heldout(chain) for chain in chains(heldout))
    assert not any(is_heldout(chain) for chain in chains(train))
    assert not {task.seed for task in train} & {task.seed for task in heldout}


@pytest.mark.parametrize(("total", "wanted"), [(13_517, (10_895, 1_500, 1_122)), (100, (81, 11, 8))])
def test_kinds_come_in_the_configured_numbers(total, wanted):
    config = SynthConfig(clarification=0.110972, abstention=0.083007)
    kinds = [kind_at(config, number) for number in range(total)]
    assert tuple(kinds.count(kind) for kind in TaskKind) == wanted


def test_servers_and_kinds_are_spread_evenly(train):
    servers = [task.notes["server"] for task in train]
    assert {servers.count(name) for name in CONFIG.servers} == {20}
    assert sum(task.kind == TaskKind.ABSTENTION for task in train) == 5
    assert sum(task.kind == TaskKind.CLARIFICATION for task in train) == 7


def test_rows_have_the_promised_shape(train, rich):
    for config, tasks in ((CONFIG, train), (RICH, rich)):
        for task in tasks:
            offered = [tool.name for tool in task.tools]
            assert len(offered) == len(set(offered)) <= (config.max_tools or 1000)
            assert {tool.server for tool in task.tools} <= set(task.servers)
            assert task.notes.get("missing") not in offered
            assert len(task.turns) <= 3
            assert len(task.notes["sources"]) == len(task.ground_truth.steps)
            if task.kind == TaskKind.MULTI_TURN:
                assert 2 <= len(task.ground_truth.steps) <= 5
                assert len(task.turns) >= 2
                assert {step.name for step in task.ground_truth.steps} <= set(offered)
            if task.kind == TaskKind.ABSTENTION:
                assert task.ground_truth == GroundTruth()


def test_each_information_level_leaves_out_what_it_says(rich):
    seen = {level: 0 for level in ("complete", "missing", "minimal")}
    for task in rich:
        if task.kind != TaskKind.MULTI_TURN:
            continue
        seen[task.notes["information"]] += 1
        expected = {step.turn for step in task.ground_truth.steps}
        silent = set(range(len(task.turns))) - expected
        extra = bool(task.notes.get("irrelevant")) + (task.notes.get("recovery", {}).get("kind") == "give_up")
        assert len(silent) == extra + (task.notes["information"] != "complete")
    assert min(seen.values()) >= 15


def test_every_kind_of_recovery_and_derived_value_is_there(rich):
    kinds = [task.notes["recovery"]["kind"] for task in rich if "recovery" in task.notes]
    assert set(kinds) == {"corrected", "alternative", "give_up"}
    sources = [source for task in rich for step in task.notes["sources"] for source in step.values()]
    assert {source["from"] for source in sources} == {"turn", "result", "derived"}
    assert len({source["operation"] for source in sources if source["from"] == "derived"}) >= 4


def test_the_oracle_earns_the_most_and_dropping_any_call_earns_less(rich):
    config = RewardConfig()

    async def reward(task, truth):
        with Session(task.servers, task.seed) as session:
            chat = OraclePolicy().chat(dataclasses.replace(task, ground_truth=truth), LIMITS)
            episode = await run_episode(task, session, chat, LIMITS)
        return score(episode.calls, task.ground_truth, task.tools, config, replied=True).total

    for task in rich[:60]:
        steps = task.ground_truth.steps
        if not steps:
            continue
        best = asyncio.run(reward(task, task.ground_truth))
        assert best == pytest.approx(1.3)
        for left_out in range(len(steps)):
            needed = {left_out}
            for index, step in enumerate(steps):
                if any(source in needed for source, _ in find_references(step.arguments)):
                    needed.add(index)
            if len(needed) < len(steps):
                assert asyncio.run(reward(task, _without(task.ground_truth, needed))) < best


def _without(truth, dropped):
    """The ground truth without these steps, references renumbered."""
    kept = [index for index in range(len(truth.steps)) if index not in dropped]
    number = {old: new for new, old in enumerate(kept)}

    def renumber(value):
        if isinstance(value, dict) and "$result" in value:
            mark = value["$result"]
            return {"$result": {**mark, "step": number[mark["step"]]}}
        if isinstance(value, dict):
            return {key: renumber(item) for key, item in value.items()}
        return [renumber(item) for item in value] if isinstance(value, list) else value

    steps = [dataclasses.replace(truth.steps[i], arguments=renumber(truth.steps[i].arguments)) for i in kept]
    return GroundTruth(tuple(steps))


def test_leaving_out_a_step_changes_a_later_result_or_the_state_or_leaves_a_question_open(rich):
    for task in rich[:80]:
        reads = {tool.name for tool in task.tools if tool.read_only}
        for left_out, step in enumerate(task.ground_truth.steps):
            if step.name not in reads:
                assert _differs_without(task, left_out), (task.id, step.name)


def _differs_without(task, left_out):
    contents = {}
    with Session(task.servers, task.seed) as session:
        for index, step in enumerate(task.ground_truth.steps):
            if index == left_out:
                continue
            try:
                result = session.call(step.name, resolve(step.arguments, contents))
            except KeyError:
                return True
            if not result.ok or result.content != step.returned:
                return True
            contents[index] = result.content
        return session.digest() != task.digest


def test_state_edges_are_proven_and_value_edges_follow_the_sources(rich):
    proven = 0
    for task in rich:
        value = {(edge.before, edge.after) for edge in task.ground_truth.edges if edge.kind == "value"}
        for index, step in enumerate(task.ground_truth.steps):
            assert {(source, index) for source, _ in find_references(step.arguments)} <= value
        for edge in task.ground_truth.edges:
            assert edge.before < edge.after
            proven += edge.kind == "state"
    assert proven >= 5


def test_a_replay_that_differs_is_found(train):
    task = next(task for task in train if task.kind == TaskKind.MULTI_TURN)
    asyncio.run(replay(task, LIMITS))
    with pytest.raises(Unproven, match="final state"):
        asyncio.run(replay(dataclasses.replace(task, digest="0"), LIMITS))
    step = dataclasses.replace(task.ground_truth.steps[-1], returned={"other": 1})
    truth = dataclasses.replace(task.ground_truth, steps=(*task.ground_truth.steps[:-1], step))
    with pytest.raises(Unproven, match="the replay differs"):
        asyncio.run(replay(dataclasses.replace(task, ground_truth=truth), LIMITS))


def test_users_never_quote_what_only_a_result_knows(rich):
    for task in rich:
        for index, step in enumerate(task.ground_truth.steps):
            for source, path in find_references(step.arguments):
                value = _follow(task.ground_truth.steps[source].returned, path)
                assert not re.fullmatch(r"[A-Z]+-\d+", str(value)) or value not in " ".join(task.turns), index


def _follow(content, path):
    for key in path.split("."):
        content = content[int(key)] if isinstance(content, list) else content[key]
    return content


def test_an_argument_without_a_true_source_is_found(train):
    task = next(task for task in train if task.kind == TaskKind.MULTI_TURN)
    truth = GroundTruth((Step("list_customers", {"name": "Nobody Said This"}),))

    def noted(*sources):
        return dataclasses.replace(task, ground_truth=truth, notes={"sources": list(sources)})

    for sources in ((), ({},), ({"name": {"from": "turn", "turn": 0}},), ({"name": {"from": "turn", "turn": 9}},)):
        with pytest.raises(Unproven, match="Nobody Said This"):
            check_sources(noted(*sources))
    late = GroundTruth((Step("a", {"id": {"$result": {"step": 0, "field": "id"}}}),))
    with pytest.raises(Unproven, match="no source"):
        check_sources(
            dataclasses.replace(
                task, ground_truth=late, notes={"sources": [{"id": {"from": "result", "step": 0, "field": "id"}}]}
            )
        )


def test_a_derived_value_is_computed_again(train):
    task = dataclasses.replace(train[0], turns=("Move 300, then half of that amount.",))
    half = {"from": "derived", "operation": "half", "of": [{"from": "turn", "turn": 0}], "base": 300}
    for amount, fits in ((150, True), (100, False)):
        truth = GroundTruth((Step("a", {"amount": amount}),))
        other = dataclasses.replace(task, ground_truth=truth, notes={"sources": [{"amount": half}]})
        if fits:
            check_sources(other)
        else:
            with pytest.raises(Unproven):
                check_sources(other)


def test_some_tasks_have_distractors_some_lost_their_enums(train):
    assert any(task.notes.get("distractors") for task in train)
    assert any(task.notes.get("enums_stripped") for task in train)
    assert any(len(task.servers) > 1 for task in train)


def test_near_duplicates_are_dropped_at_the_threshold():
    def mark(letters):
        return frozenset(map(ord, letters))

    unique = Deduplicator(0.7)
    assert unique.is_new(mark("abcdefg"))
    assert not unique.is_new(mark("gfedcba"))
    assert unique.is_new(mark("abcdwxyz"))
    assert not unique.is_new(mark("abcdefgh"))


def test_stripping_enums_keeps_everything_else():
    for tool in load_server("banking").tools:
        stripped = strip_enums(tool)
        assert "'enum'" not in str(stripped.parameters)
        assert stripped.parameters["properties"].keys() == tool.parameters["properties"].keys()
        assert dataclasses.replace(stripped, parameters=tool.parameters) == tool


def test_impossible_settings_say_what_failed():
    with pytest.raises(Impossible, match="max_characters"):
        synthesize(dataclasses.replace(CONFIG, max_characters=10, servers=("banking",)), 0, "train", 1, LIMITS)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"abstention": 1.5}, r"synth.abstention is 1.5"),
        ({"information": (0.5, 0.2, 0.2)}, r"synth.information is \[0.5, 0.2, 0.2\]"),
        ({"personas": ("grumpy",)}, r"synth.personas has \['grumpy'\]"),
        ({"tasks_per_world": 0}, r"synth.tasks_per_world is 0"),
        ({"train_tasks": 10**20}, r"synth.train_tasks is 1000.*at most 10,000,000"),
        ({"max_tools": -1}, r"synth.max_tools is -1; it is at least 0"),
        ({"max_characters": -1}, r"synth.max_characters is -1; it is at least 0"),
        ({"when2call": -1}, r"synth.when2call is -1; it is at least 0"),
        ({"information": (float("nan"), 0, 0)}, r"synth.information is \[nan, 0, 0\]"),
        ({"chain_length": (2, 101)}, r"synth.chain_length is \[2, 101\].*most <= 100"),
        ({"own_tasks": "none.jsonl"}, r"synth.own_tasks is 'none.jsonl'; there is no such file"),
        ({"servers": ("bankin",)}, r"no server 'bankin'; did you mean 'banking'"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(settings, told):
    with pytest.raises(ValueError, match=told):
        SynthConfig(**settings)

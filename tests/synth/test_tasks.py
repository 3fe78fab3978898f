"""Tasks: proven, traced, distinct, split apart, and the same bytes for the same seed."""

import dataclasses

import datasets
import pytest

from proverl.agent import Limits
from proverl.core import Call, CallRecord, Episode, GroundTruth, Result, Step, TaskKind, find_references, task_to_json
from proverl.envs import load_server
from proverl.synth import Impossible, SynthConfig, is_heldout, read_tasks, synthesize, write_tasks
from proverl.synth.assemble import strip_enums
from proverl.synth.validate import Deduplicator, Unproven, check_sources
from proverl.synth.values import say

LIMITS = Limits()
CONFIG = SynthConfig(worlds=6)


@pytest.fixture(scope="module")
def train():
    return synthesize(CONFIG, 0, "train", 60, LIMITS)


@pytest.fixture(scope="module")
def heldout():
    return synthesize(CONFIG, 0, "heldout", 15, LIMITS)


def test_the_same_seed_gives_the_same_bytes(train, tmp_path):
    again = synthesize(CONFIG, 0, "train", 60, LIMITS)
    write_tasks(train, tmp_path / "one.parquet")
    write_tasks(again, tmp_path / "two.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert [task_to_json(task) for task in synthesize(CONFIG, 1, "train", 5, LIMITS)] != [
        task_to_json(task) for task in train[:5]
    ]


def test_more_tasks_begin_with_the_same_ones(train):
    assert synthesize(CONFIG, 0, "train", 10, LIMITS) == train[:10]


def test_heldout_tasks_share_no_chain_and_no_world_with_training(train, heldout):
    def chains(tasks):
        return {tuple(task.notes["chain"]) for task in tasks if task.notes["chain"]}

    assert all(is_heldout(chain) for chain in chains(heldout))
    assert not any(is_heldout(chain) for chain in chains(train))
    assert not {task.seed for task in train} & {task.seed for task in heldout}


def test_kinds_come_in_the_configured_mix(train):
    shares = {kind: sum(task.kind == kind for task in train) / len(train) for kind in TaskKind}
    assert shares[TaskKind.MULTI_TURN] > 0.65
    assert 0 < shares[TaskKind.CLARIFICATION] < 0.25
    assert 0 < shares[TaskKind.ABSTENTION] < 0.2


def test_rows_have_the_promised_shape(train):
    for task in train:
        offered = [tool.name for tool in task.tools]
        assert len(offered) == len(set(offered)) <= CONFIG.max_tools
        assert {tool.server for tool in task.tools} <= set(task.servers)
        assert task.notes.get("missing") not in offered
        if task.kind == TaskKind.MULTI_TURN:
            assert 2 <= len(task.ground_truth.steps) <= 5
            assert 2 <= len(task.turns) <= 3
            assert {step.turn for step in task.ground_truth.steps} == set(range(len(task.turns)))
            assert {step.name for step in task.ground_truth.steps} <= set(offered)
        if task.kind == TaskKind.ABSTENTION:
            assert task.ground_truth == GroundTruth()


def test_users_never_quote_what_only_a_result_knows(train):
    for task in train:
        for step in task.ground_truth.steps:
            for name, value in step.arguments.items():
                if list(find_references(value)):
                    assert (
                        "that" in task.turns[step.turn]
                        or "this" in task.turns[step.turn]
                        or "first" in task.turns[step.turn]
                    ), name


def test_some_tasks_have_distractors_some_lost_their_enums(train):
    assert any(task.notes.get("distractors") for task in train)
    assert any(task.notes.get("enums_stripped") for task in train)
    assert any(len(task.servers) > 1 for task in train)


def test_parquet_loads_in_datasets_and_reads_back(train, tmp_path):
    path = tmp_path / "train.parquet"
    write_tasks(train, path)
    assert read_tasks(path) == train
    table = datasets.Dataset.from_parquet(str(path), cache_dir=str(tmp_path / "cache"))
    assert table["turns"][0] == list(train[0].turns)


def test_a_bad_row_is_named_with_its_field(train, tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(task_to_json(train[0]) + "\n" + task_to_json(train[1]).replace('"seed":', '"sead":') + "\n")
    with pytest.raises(ValueError, match=r"row 1: .*\n?seed"):
        read_tasks(path)
    with pytest.raises(FileNotFoundError, match="no tasks at"):
        read_tasks(tmp_path / "none.parquet")


def test_an_argument_that_nobody_said_is_found(train):
    task = next(task for task in train if task.kind == TaskKind.MULTI_TURN)
    steps = (dataclasses.replace(task.ground_truth.steps[0], arguments={"note": "nobody said this"}),)
    with pytest.raises(Unproven, match="nobody said 'nobody said this'"):
        check_sources(dataclasses.replace(task, ground_truth=GroundTruth(steps)), Episode(task.id))
    late = GroundTruth((Step("a", {"id": {"$result": {"step": 0, "field": "id"}}}),))
    with pytest.raises(Unproven, match="not earlier"):
        check_sources(dataclasses.replace(task, ground_truth=late), Episode(task.id))


def test_near_duplicates_are_dropped_at_the_threshold(train):
    def episode(*names):
        return Episode("x", calls=[CallRecord(Call(name, {}), Result({}), 0, 0) for name in names])

    unique = Deduplicator(0.7)
    assert unique.is_new(train[0], episode(*"abcdefg"))
    assert not unique.is_new(train[0], episode(*"gfedcba"))
    assert unique.is_new(train[0], episode(*"abcdwxyz"))
    assert not unique.is_new(train[0], episode(*"abcdefgh"))


def test_stripping_enums_keeps_everything_else():
    for tool in load_server("banking").tools:
        text = str(strip_enums(tool).parameters)
        assert "'enum'" not in text
        assert strip_enums(tool).parameters["properties"].keys() == tool.parameters["properties"].keys()


def test_impossible_settings_say_what_failed():
    with pytest.raises(Impossible, match="characters"):
        synthesize(dataclasses.replace(CONFIG, max_characters=10, servers=("banking",)), 0, "train", 1, LIMITS)
    with pytest.raises(ValueError, match=r"synth.abstention is 1.5"):
        SynthConfig(abstention=1.5)


@pytest.mark.parametrize(
    ("value", "text"),
    [(250.0, "250"), (12.5, "12.50"), (7, "7"), (True, "on"), (["a", "b"], "a and b"), ("x y", "x y")],
)
def test_values_are_written_as_people_write_them(value, text):
    assert say(value, quoted=False) == text


def test_a_server_that_is_not_there_is_refused_with_the_settings():
    with pytest.raises(ValueError, match="no server 'bankin'; did you mean 'banking'"):
        SynthConfig(servers=("bankin",))

"""Kept rollouts come back as they were, a file a step, whole or absent."""

from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_rollouts import called, episode

from proverl.core import Call, CallRecord, ErrorCode, MalformedCall, Result, Step
from proverl.trainer import rollouts

TASK = Step("list_notes", {})
NUMBERS = {"reward/total": 1.25, "reward/validity": 1.0, "episode/calls": 1.0, "seconds/reward": 0.5, "stop/time": 0.0}


def kept(tmp_path, *episodes, step=7, task):
    packed = [rollouts.packed(task, 3, number, one) for number, one in enumerate(episodes)]
    rollouts.write(tmp_path / "rollouts", step, packed, [NUMBERS] * len(packed))
    return rollouts.read(tmp_path / "rollouts", step)


def test_an_episode_comes_back_without_its_tokens_but_with_their_numbers(tmp_path, task_of):
    task = task_of(1, TASK)
    before = episode(task, called(("list_notes", {})))
    (found,) = kept(tmp_path, before, task=task)
    assert (found.step, found.group, found.rollout) == (7, 3, 0)
    assert (found.kind, found.servers) == ("multi_turn", ("notes",))
    assert (found.prompt_tokens, found.response_tokens, found.sampled_tokens) == (3, 3, 2)
    assert found.numbers == {name: value for name, value in NUMBERS.items() if name != "stop/time"}
    reward, seconds = {"total": 1.25, "validity": 1.0}, {"reward": 0.5}
    assert found.episode == replace(before, transcript=None, reward=reward, seconds=seconds)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
results = st.builds(Result, json_values) | st.builds(Result, st.none(), st.sampled_from(ErrorCode), st.text())
written = st.builds(Call, st.text(), st.dictionaries(st.text(), json_values, max_size=3), st.text())
malformed = st.builds(MalformedCall, st.text(), st.text())


@settings(deadline=None, max_examples=50)  # each writes a file
@given(st.lists(st.builds(CallRecord, written | malformed, results, st.integers(0, 9), st.integers(0, 99))))
def test_calls_and_results_of_any_form_come_back(tmp_path_factory, task_of, calls):
    task = task_of(1, TASK)
    (found,) = kept(tmp_path_factory.mktemp("any"), replace(episode(task, []), calls=calls), task=task)
    assert found.episode.calls == calls


def test_what_no_column_can_hold_is_kept_as_its_escape(tmp_path, task_of):
    lone = chr(0xD800)  # a model can write half of a pair in a JSON string
    one = episode(task_of(1, TASK), called(("list_notes", {"a": lone}), (lone, {})), text=lone)
    (found,) = kept(tmp_path, one, task=task_of(1, TASK))
    assert [record.call.arguments for record in found.episode.calls] == [{"a": lone}, {}]
    assert found.episode.messages[-1]["content"] == lone
    assert found.episode.calls[1].call.name == "\\ud800"


def test_a_step_run_again_replaces_its_file_and_half_a_file_counts_for_nothing(tmp_path, task_of):
    task = task_of(1, TASK)
    kept(tmp_path, episode(task, []), episode(task, []), task=task)
    (tmp_path / "rollouts" / "step-00008.partial").write_bytes(b"PAR1")
    assert len(kept(tmp_path, episode(task, []), task=task)) == 1
    assert rollouts.steps(tmp_path / "rollouts") == [7]


def test_what_is_not_there_is_said(tmp_path, task_of):
    with pytest.raises(FileNotFoundError, match="no rollouts in"):
        rollouts.steps(tmp_path)
    task = task_of(1, TASK)
    kept(tmp_path, episode(task, []), task=task)
    with pytest.raises(ValueError, match="no rollouts of step 9 .* steps 7 to 7"):
        rollouts.read(tmp_path / "rollouts", 9)


def test_other_tools_can_query_the_columns(tmp_path, task_of):
    task = task_of(1, TASK)
    kept(tmp_path, episode(task, called(("list_notes", {"a": "é"}), ok=False)), task=task)
    frame = pq.read_table(tmp_path / "rollouts" / "step-00007.parquet").to_pandas()
    assert frame.loc[0, ["step", "task", "stop", "reward/total"]].tolist() == [7, "task-1", "completed", 1.25]
    assert frame["calls"][0][0]["arguments"] == '{"a":"é"}'
    assert frame["calls"][0][0]["code"] == "rejected"
    (row,) = rollouts.overview(tmp_path / "rollouts", 7)
    assert row["tools"] == {"list_notes"} and row["reward"] == 1.25

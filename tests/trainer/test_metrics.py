"""Names and values of what is logged of a step, and the file it is kept in."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proverl.core import StopReason
from proverl.trainer import metrics


def info(total=0.5, calls=2.0, stop="completed", **changes):
    parts = dict.fromkeys(("validity", "coverage", "efficiency", "name", "arg"), 0.25)
    return {
        **{f"reward/{part}": value for part, value in parts.items()},
        **{f"stop/{reason}": float(reason == stop) for reason in StopReason},
        "reward/total": total,
        "episode/calls": calls,
        "episode/tool_errors": 1.0,
        "episode/replies": 3.0,
        "episode/success": 0.0,
        "seconds/environment": 0.5,
        "seconds/reward": 0.25,
        "seconds/environment_processor": 0.125,
        "seconds/reward_processor": 0.0625,
        **changes,
    }


def test_means_and_groups():
    infos = [info(1.0), info(0.0), info(0.5, stop="tokens"), info(0.5)]
    found = metrics.summarize(
        infos, ["a", "a", "b", "b"], 4, {"timing_s/step": 4.0, "timing_s/update_actor": 1.5, "timing_s/ref": 0.5}
    )
    assert found["reward/mean"] == 0.5
    assert found["reward/validity"] == 0.25
    assert found["reward/zero_variance_share"] == 0.5
    assert found["reward/std"] == 0.25  # prompt a deviates by 0.5, b not at all
    assert found["stop/tokens"] == 0.25
    assert found["episode/calls"] == 2.0
    assert (found["episode/count"], found["episode/failed"]) == (4, 0)
    assert (found["time/step_s"], found["time/update_s"], found["time/log_probs_s"]) == (4.0, 2.0, 0.5)
    assert (found["time/environment_s"], found["time/reward_s"]) == (2.0, 1.0)
    assert (found["time/environment_processor_s"], found["time/reward_processor_s"]) == (0.5, 0.25)


def test_rollouts_that_could_not_be_run_are_counted_not_scored():
    found = metrics.summarize([info(1.0)], ["a"], 4, {})
    assert (found["episode/failed"], found["reward/mean"]) == (3, 1.0)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-1, 2)), min_size=1, max_size=20))
def test_names_do_not_depend_on_the_values(rows):
    def names(rows):
        return set(metrics.summarize([info(reward) for _, reward in rows], [p for p, _ in rows], 20, {}))

    assert names(rows) == names([("a", 0.0)])


def test_what_was_appended_is_read_back(tmp_path):
    path = tmp_path / "metrics.jsonl"
    assert list(metrics.read(path)) == []
    for step in (1, 2, 3):
        metrics.append(path, step, {"x": step / 2})
    assert list(metrics.read(path, after=1)) == [(2, {"x": 1.0}), (3, {"x": 1.5})]


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "x": 1}\n{"step": 2, "x"')
    assert [step for step, _ in metrics.read(path)] == [1]


@pytest.mark.parametrize("step", [0, 2, 9])
def test_truncating_drops_later_steps_and_a_torn_line(tmp_path, step):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps({"step": n, "x": n}) + "\n" for n in (1, 2, 3)) + '{"step": 4')
    metrics.truncate(path, step)
    assert [found for found, _ in metrics.read(path)] == [n for n in (1, 2, 3) if n <= step]
    metrics.append(path, 5, {})
    assert [found for found, _ in metrics.read(path)][-1] == 5


def test_truncating_a_file_that_is_not_there_makes_an_empty_one(tmp_path):
    metrics.truncate(tmp_path / "metrics.jsonl", 0)
    assert (tmp_path / "metrics.jsonl").read_text() == ""

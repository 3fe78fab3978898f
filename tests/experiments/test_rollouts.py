"""A sample of the training episodes in MLflow, on a real store."""

import json
from dataclasses import replace

import pytest
from kept_rollouts import called, episode
from mlflow.tracking import MlflowClient

from experiments.compose import check
from experiments.rollouts import sample
from experiments.tracking import Tracker
from proverl.core import CallRecord, ErrorCode, GroundTruth, MalformedCall, Result, StopReason, Task, TaskKind
from proverl.trainer import rollouts

TASK = Task("task-0", TaskKind.MULTI_TURN, ("notes",), 0, "Be brief.", ("What notes?",), (), GroundTruth())


@pytest.fixture
def kept(tmp_path):
    """Step 3: eight rollouts of one task, whose numbers tell them apart."""
    torn = CallRecord(MalformedCall("list_notes{", "no end"), Result(code=ErrorCode.INVALID_ARGUMENTS), 0, 2)
    made = [episode(TASK, called(("list_notes", {"limit": n}))) for n in range(7)]
    made.append(replace(episode(TASK, [], stop=StopReason.TOKENS), calls=[torn]))
    packed = [rollouts.packed(TASK, 5, number, one) for number, one in enumerate(made)]
    rollouts.write(tmp_path / "rollouts", 3, packed, [{"reward/total": number / 8} for number in range(8)])
    return tmp_path / "rollouts"


def test_a_sample_is_the_same_at_every_call_and_no_larger_than_the_step(kept):
    first = [one.rollout for one in sample(kept, 3, 2)]
    assert len(set(first)) == 2 and first == [one.rollout for one in sample(kept, 3, 2)]
    assert len(list(sample(kept, 3, 99))) == 8
    assert list(sample(kept, 3, 0)) == list(sample(kept, 4, 2)) == list(sample(kept / "none", 3, 2)) == []


def test_episodes_become_traces_of_the_run(kept, tmp_path, with_store):
    runs = with_store(tmp_path)
    (config,) = check([f"runs_dir={runs}"])
    tracker = Tracker(config, runs / "jobs" / "one")
    tracker.rollouts(sample(kept, 3, 99))
    run = json.loads((runs / "jobs" / "one" / "mlflow.json").read_text())["run_id"]
    client = MlflowClient(config.tracking.uri)
    traces = client.search_traces(locations=[client.get_run(run).info.experiment_id], run_id=run)
    by_rollout = {trace.info.tags["rollout"]: trace for trace in traces}
    assert len(traces) == len(by_rollout) == 8
    whole, torn = by_rollout["6"], by_rollout["7"]
    assert {"step": "3", "group": "5", "task": "task-0", "stop": "completed"}.items() <= whole.info.tags.items()
    assert whole.info.tags["reward"] == "0.750"
    root, call = sorted(whole.data.spans, key=lambda span: span.parent_id is not None)
    assert [message["role"] for message in root.inputs["messages"]] == ["system", "user"]
    assert root.outputs["messages"][-1]["content"] == "Done."
    assert (call.name, call.inputs, call.outputs) == ("list_notes", {"limit": 6}, {"content": {"id": "NOTE-1"}})
    assert (str(torn.info.state), torn.data.spans[1].inputs["text"]) == ("ERROR", "list_notes{")


def test_a_store_that_cannot_be_reached_costs_no_trace_and_no_error(kept, tmp_path):
    (config,) = check([f"runs_dir={tmp_path}", "tracking.uri=http://127.0.0.1:9"])
    told = []
    Tracker(config, tmp_path / "jobs" / "one", told.append).rollouts(sample(kept, 3, 2))
    assert len(told) == 1

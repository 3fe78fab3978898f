"""Evaluation against the real servers: what the oracle and a silent policy get, resuming, and failures."""

from dataclasses import replace

import pytest

from proverl.agent import Limits, OraclePolicy, ScriptedChat, ScriptedPolicy
from proverl.core import Call, GroundTruth, MalformedCall, Step, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import (
    EvaluationFailed,
    attempted,
    benchmark,
    compare,
    evaluate,
    heldout,
    read_records,
    score,
    summarize,
)
from proverl.evals.record import FILE
from proverl.reward import RewardConfig

TOOLS = load_server("filesystem").tools
OFFERED = tuple(tool for tool in TOOLS if not tool.hidden)


def task(number, *steps, turns=("Do it.",)):
    kind = TaskKind.MULTI_TURN if steps else TaskKind.ABSTENTION
    return Task(f"task-{number}", kind, ("filesystem",), number, "Be brief.", turns, OFFERED, GroundTruth(steps))


TASKS = [
    task(0, Step("create_directory", {"name": "plans"})),
    task(1, Step("list_directory", {"path": "/"})),
    task(2),
]


def run(policy, folder, tasks=TASKS, seed=0, progress=lambda done, total, note: None, **config):
    given = replace(heldout(tasks, Limits(), RewardConfig()), **config)
    return evaluate(given, policy, folder, seed, progress).records


class Counting:
    """The oracle, counting how many episodes it is asked for; fails on the tasks named."""

    def __init__(self, fails=()):
        self.opened, self.fails = [], fails

    def chat(self, task, limits, seed=0):
        self.opened.append((task.id, seed))
        return Broken() if task.id in self.fails else OraclePolicy().chat(task, limits)


class Broken(ScriptedChat):
    async def reply(self):
        raise ConnectionError("the endpoint is gone")


def test_oracle_does_every_task(tmp_path):
    records = run(OraclePolicy(), tmp_path)
    assert [record.figures["total"] for record in records] == pytest.approx([1.3, 1.3, 1.0])
    assert all(record.figures["success"] and record.figures["state_equal"] for record in records)
    assert [record.strata for record in records] == [
        {"server": "filesystem", "kind": "multi_turn"},
        {"server": "filesystem", "kind": "multi_turn"},
        {"server": "filesystem", "kind": "abstention"},
    ]
    assert [attempted(record).episode.stop for record in records] == ["completed"] * 3
    assert [record.calls for record in records] == [1, 1, 0]
    assert [record.floor["total"] for record in records] == [0, 0, 0]


def test_silent_policy_does_nothing(tmp_path):
    records = run(ScriptedPolicy(), tmp_path)
    assert [record.figures["total"] for record in records] == [0, 0, 0]
    assert [record.figures["state_equal"] for record in records] == [0, 1, 1]
    assert not any(record.figures["success"] for record in records)


def test_records_survive_the_disk(tmp_path):
    policy = ScriptedPolicy((((Call("create_directory", {"name": "x"}), MalformedCall("{", "no JSON"))), "Done."))
    records = run(policy, tmp_path)
    assert read_records(tmp_path) == records
    done = attempted(records[0])
    assert isinstance(done.episode.calls[1].call, MalformedCall)
    assert done.episode.reward["total"] == records[0].figures["total"]
    assert done.task == TASKS[0]


def test_order_of_records_is_that_of_the_tasks_however_many_run_at_once(tmp_path):
    one = run(OraclePolicy(), tmp_path / "one", concurrency=1)
    many = run(OraclePolicy(), tmp_path / "many", concurrency=3)
    assert [record.item for record in one] == [record.item for record in many] == ["task-0", "task-1", "task-2"]
    assert [attempted(record).episode.digest for record in one] == [attempted(record).episode.digest for record in many]


@pytest.mark.parametrize("torn", [b"", b'{"item":"task-2","posi'])
def test_a_killed_evaluation_goes_on_where_it_was(tmp_path, torn):
    whole = run(OraclePolicy(), tmp_path)
    lines = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:2]) + torn)
    policy = Counting()
    again = run(policy, tmp_path)
    assert len(policy.opened) == 1
    assert [record.figures for record in again] == [record.figures for record in whole]
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 3


def test_a_finished_evaluation_runs_nothing(tmp_path):
    run(OraclePolicy(), tmp_path)
    policy = Counting()
    run(policy, tmp_path)
    assert policy.opened == []


def test_too_many_failures_name_one_and_keep_the_rest(tmp_path):
    told = "1 of 3 attempts failed, the last one .task-1. with EpisodeCrashed: .*task-1: ConnectionError: .* is gone"
    policy = Counting(fails=["task-1"])
    with pytest.raises(EvaluationFailed, match=told):
        run(policy, tmp_path, concurrency=1)
    assert [name for name, _ in policy.opened].count("task-1") == 2  # once more, then left out
    assert [record.item for record in read_records(tmp_path)] == ["task-0", "task-2"]
    assert len(run(OraclePolicy(), tmp_path)) == 3


def test_a_few_failures_are_left_out_and_counted(tmp_path):
    tasks = [task(number) for number in range(20)]
    given = heldout(tasks, Limits(), RewardConfig())
    found = evaluate(given, Counting(fails=["task-7"]), tmp_path)
    assert [failure.item for failure in found.failures] == ["task-7"]
    assert len(found.records) == 19


def test_a_policy_that_always_fails_is_not_asked_for_ever(tmp_path):
    tasks = [task(number) for number in range(40)]
    policy = Counting(fails=[one.id for one in tasks])
    with pytest.raises(EvaluationFailed, match="the first 16 attempts failed"):
        evaluate(replace(heldout(tasks, Limits(), RewardConfig()), concurrency=1), policy, tmp_path)
    assert len(policy.opened) == 32


def test_scoring_again_gives_the_same_and_mends_what_was_changed(tmp_path):
    records = run(OraclePolicy(), tmp_path)
    changed = [replace(record, figures={"success": 0.0, "total": 0.0}) for record in records]
    assert score(heldout(TASKS, Limits(), RewardConfig()), changed) == records
    with pytest.raises(ValueError, match="holds records of other items, such as task-0"):
        score(heldout(TASKS[::-1], Limits(), RewardConfig()), records)


def test_what_a_kind_asks_for_is_measured_where_it_is_asked(tmp_path):
    busy = ScriptedPolicy(((Call("list_directory", {"path": "/"}),), "Done."))
    records = run(busy, tmp_path)
    assert [record.figures.get("abstention_recall") for record in records] == [None, None, 0]
    assert not any("abstention_precision" in record.figures for record in records)
    quiet = run(ScriptedPolicy(("No.",)), tmp_path / "quiet")
    assert [record.figures["abstention_precision"] for record in quiet] == [0, 0, 1]
    assert summarize(quiet, "abstention_precision").mean == pytest.approx(1 / 3)


def test_records_of_other_tasks_are_refused(tmp_path):
    run(OraclePolicy(), tmp_path)
    with pytest.raises(ValueError, match="holds records of other items, such as task-0; use another folder"):
        run(OraclePolicy(), tmp_path, tasks=TASKS[::-1])


def test_trials_have_seeds_of_their_own(tmp_path):
    policy = Counting()
    records = run(policy, tmp_path, seed=5, trials=2)
    assert sorted(policy.opened) == [(f"task-{number}", seed) for number in range(3) for seed in (10, 11)]
    assert [(record.position, record.trial) for record in records] == [(n, r) for n in range(3) for r in range(2)]
    assert compare(records, records, "total").difference.n == 3


def test_progress_counts_episodes(tmp_path):
    seen = []
    run(OraclePolicy(), tmp_path, concurrency=1, progress=lambda *state: seen.append(state))
    assert seen == [(0, 3, ""), (1, 3, "success 1.000"), (2, 3, "success 1.000"), (3, 3, "success 1.000")]


def test_comparison_pairs_by_task(tmp_path):
    before, after = run(ScriptedPolicy(), tmp_path / "before"), run(OraclePolicy(), tmp_path / "after")
    assert compare(before, after[::-1], "total").difference.mean == pytest.approx(1.2)
    assert compare(before, after, "success").difference.mean == 1
    with pytest.raises(ValueError, match=r"differ in 1 attempts, the first being .* \('task-2', 0\)"):
        compare(before, after[:2], "total")


def test_missing_and_broken_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no evaluation records at .*run the evaluation first"):
        read_records(tmp_path)
    (tmp_path / FILE).write_text('{"position": 0}\n')
    with pytest.raises(ValueError, match="line 1 is no evaluation record: Field required"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tasks": -1}, "evals.heldout.tasks is -1; it must be at least 0"),
        ({"trials": 0}, "evals.heldout.trials is 0; it must be at least 1"),
        ({"concurrency": 0}, "evals.heldout.concurrency is 0; it must be at least 1"),
        ({"seconds": float("nan")}, "evals.heldout.seconds is nan; it must be a finite number above 0"),
        ({"trials": "many"}, "evals.heldout.trials is 'many': Input should be a valid integer"),
        ({"trails": 2}, "evals.heldout.trails is no key of the config; did you mean trials?"),
        ({"given": []}, "evals.heldout.given is no key of the config"),
    ],
)
def test_bad_settings_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        benchmark("heldout", values)

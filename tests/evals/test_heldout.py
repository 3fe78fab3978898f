"""Evaluation against the real servers: what the oracle and a silent policy get, resuming, and failures."""

import pytest

from proverl.agent import Limits, OraclePolicy, ScriptedChat, ScriptedPolicy
from proverl.core import Call, GroundTruth, MalformedCall, Step, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import EvalsConfig, EvaluationFailed, compare, evaluate, read_records
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
    return evaluate(
        tasks, policy, folder, EvalsConfig(**{"tasks": 3, **config}), Limits(), RewardConfig(), seed, progress
    )


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
    assert [record.figures()["total"] for record in records] == pytest.approx([1.3, 1.3, 1.0])
    assert all(record.success and record.state_equal for record in records)
    assert [(record.server, record.expected_calls, record.episode.stop) for record in records] == [
        ("filesystem", 1, "completed"),
        ("filesystem", 1, "completed"),
        ("filesystem", 0, "completed"),
    ]


def test_silent_policy_does_nothing(tmp_path):
    records = run(ScriptedPolicy(), tmp_path)
    assert [record.figures()["total"] for record in records] == [0, 0, 0]
    assert [record.state_equal for record in records] == [False, True, True]
    assert not any(record.success for record in records)


def test_records_survive_the_disk(tmp_path):
    policy = ScriptedPolicy((((Call("create_directory", {"name": "x"}), MalformedCall("{", "no JSON"))), "Done."))
    records = run(policy, tmp_path)
    assert read_records(tmp_path) == records
    assert isinstance(records[0].episode.calls[1].call, MalformedCall)
    assert records[0].episode.reward == records[0].breakdown.as_dict()
    assert records[0].task == TASKS[0]


def test_order_of_records_is_that_of_the_tasks_however_many_run_at_once(tmp_path):
    one = run(OraclePolicy(), tmp_path / "one", concurrency=1)
    many = run(OraclePolicy(), tmp_path / "many", concurrency=3)
    assert [record.task.id for record in one] == [record.task.id for record in many] == ["task-0", "task-1", "task-2"]
    assert [record.episode.digest for record in one] == [record.episode.digest for record in many]


@pytest.mark.parametrize("torn", [b"", b'{"position":2,"repe'])
def test_a_killed_evaluation_goes_on_where_it_was(tmp_path, torn):
    whole = run(OraclePolicy(), tmp_path)
    lines = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:2]) + torn)
    policy = Counting()
    again = run(policy, tmp_path)
    assert len(policy.opened) == 1
    assert [record.figures() for record in again] == [record.figures() for record in whole]
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 3


def test_a_finished_evaluation_runs_nothing(tmp_path):
    run(OraclePolicy(), tmp_path)
    policy = Counting()
    run(policy, tmp_path)
    assert policy.opened == []


def test_failure_names_the_task_and_keeps_the_rest(tmp_path):
    with pytest.raises(
        EvaluationFailed, match="the policy failed on task task-1: ConnectionError: the endpoint is gone"
    ):
        run(Counting(fails=["task-1"]), tmp_path, concurrency=1)
    kept = [record.task.id for record in read_records(tmp_path)]
    assert "task-0" in kept and "task-1" not in kept
    assert len(run(OraclePolicy(), tmp_path)) == 3


def test_records_of_other_tasks_are_refused(tmp_path):
    run(OraclePolicy(), tmp_path)
    with pytest.raises(ValueError, match="holds records of other tasks, such as task-0; use another folder"):
        run(OraclePolicy(), tmp_path, tasks=TASKS[::-1])


def test_repeats_have_seeds_of_their_own(tmp_path):
    policy = Counting()
    records = run(policy, tmp_path, seed=5, repeats=2, temperature=1.0)
    assert sorted(policy.opened) == [(f"task-{number}", seed) for number in range(3) for seed in (10, 11)]
    assert [(record.position, record.repeat) for record in records] == [(n, r) for n in range(3) for r in range(2)]
    assert compare(records, records, "total").n == 3


def test_progress_counts_episodes(tmp_path):
    seen = []
    run(OraclePolicy(), tmp_path, concurrency=1, progress=lambda *state: seen.append(state))
    assert seen == [(0, 3, ""), (1, 3, "reward 1.300"), (2, 3, "reward 1.300"), (3, 3, "reward 1.200")]


def test_comparison_pairs_by_task(tmp_path):
    before, after = run(ScriptedPolicy(), tmp_path / "before"), run(OraclePolicy(), tmp_path / "after")
    assert compare(before, after[::-1], "total").mean == pytest.approx(1.2)
    assert compare(before, after, "success").mean == 1
    with pytest.raises(ValueError, match=r"differ in 1 episodes, the first being .* \('task-2', 0\)"):
        compare(before, after[:2], "total")


def test_missing_and_broken_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no evaluation records at .*run the evals stage first"):
        read_records(tmp_path)
    (tmp_path / FILE).write_text('{"position": 0}\n')
    with pytest.raises(ValueError, match="line 1 is no evaluation record: Field required"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tasks": 1}, "evals.tasks is 1; it must be at least 2"),
        ({"repeats": 0}, "evals.repeats is 0; it must be at least 1"),
        ({"concurrency": 0}, "evals.concurrency is 0; it must be at least 1"),
        ({"temperature": -1.0}, "evals.temperature is -1.0; it must be a finite number of at least 0"),
        ({"temperature": float("nan")}, "evals.temperature is nan"),
        ({"repeats": 2}, "evals.repeats is 2 but evals.temperature is 0"),
    ],
)
def test_bad_settings_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        EvalsConfig(**values)

"""The journal of paid answers: one file, several processes, nothing lost and nothing counted twice."""

import multiprocessing
import os

from proverl.synth.teachers.journal import Journal, Spent, Usage

FORK = multiprocessing.get_context("fork")


def test_the_first_answer_to_a_key_counts_and_both_are_paid(tmp_path):
    journal = Journal(tmp_path / "new" / "answers.db", "run")
    assert journal.find("a") is None
    assert journal.keep("a", "one", Usage(10, 2, 1)) == "one"
    assert journal.keep("a", "two", Usage(10, 3)) == "one"
    assert journal.find("a") == "one"
    assert journal.spent() == Spent(2, 20, 5, 1, reused=1)


def test_runs_share_answers_and_are_summed_apart(tmp_path):
    Journal(tmp_path / "answers.db", "one").keep("a", "text", Usage(10, 2))
    other = Journal(tmp_path / "answers.db", "two")
    assert other.spent() == Spent()
    assert other.find("a") == "text"
    assert other.spent() == Spent(reused=1)


def _write(path, barrier, number):
    barrier.wait()
    journal = Journal(path, "run")
    for place in range(25):
        journal.keep(f"{number}-{place}", "x" * 2_000, Usage(3, 2, 1))
        assert journal.find(f"{number}-{place}")
    os._exit(0)  # as if killed: nothing is closed


def test_processes_that_create_and_fill_it_at_the_same_time_lose_nothing(tmp_path):
    barrier = FORK.Barrier(4)
    workers = [FORK.Process(target=_write, args=(tmp_path / "answers.db", barrier, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert Journal(tmp_path / "answers.db", "run").spent() == Spent(100, 300, 200, 100, reused=100)


def _inherit(journal):
    journal.keep("child", "text", Usage(1, 1))
    os._exit(0)


def test_a_connection_is_not_carried_over_a_fork(tmp_path):
    journal = Journal(tmp_path / "answers.db")
    journal.keep("parent", "text", Usage(1, 1))
    child = FORK.Process(target=_inherit, args=(journal,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert journal.find("child") == "text"
    assert journal.spent().requests == 2

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


def _write(folder, barrier, number):
    for file in range(20):
        barrier.wait(20)  # the moment of creation is where they could be in each other's way
        journal = Journal(folder / f"{file}.db", "run")
        journal.keep(f"{number}", "x" * 2_000, Usage(3, 2, 1))
        assert journal.find(f"{number}")
    os._exit(0)  # as if killed: nothing is closed


def test_processes_that_create_and_fill_it_at_the_same_time_lose_nothing(tmp_path):
    barrier = FORK.Barrier(6)
    workers = [FORK.Process(target=_write, args=(tmp_path, barrier, number)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 6
    assert {Journal(file, "run").spent() for file in tmp_path.glob("*.db")} == {Spent(6, 18, 12, 6, reused=6)}


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

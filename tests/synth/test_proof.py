"""What leaving a call out shows: whether it was needed, and what is refused without it."""

import pytest

from proverl.core import GroundTruth, Step, resolve
from proverl.envs import Session
from proverl.synth.assemble import final_digest
from proverl.synth.proof import state_edges
from proverl.synth.reasons import Unproven


def performed(server, *steps):
    """The steps with what they return, and the digest of the final state."""
    contents = {}
    with Session([server], 0) as session:
        for index, step in enumerate(steps):
            result = session.call(step.name, resolve(step.arguments, contents))
            assert result.ok, result.message
            contents[index] = result.content
    done = tuple(Step(step.name, step.arguments, returned=contents[index]) for index, step in enumerate(steps))
    return done, final_digest([server], 0, GroundTruth(done))


def of(step, path):
    return {"$result": {"step": step, "field": path}}


def edges(server, writes, *steps):
    done, digest = performed(server, *steps)
    return state_edges([server], 0, done, writes, digest)


TAG = Step("tag_path", {"path": "projects", "tag": "review"})


def test_a_write_that_a_later_one_undoes_is_needless_also_when_the_later_takes_its_result():
    for path in ("projects", of(0, "path")):
        with pytest.raises(Unproven, match="step 0 .tag_path. does not show"):
            edges("filesystem", [True, True], TAG, Step("untag_path", {"path": path, "tag": "review"}))


def test_a_write_is_needless_when_what_takes_its_result_ends_alike_without_it():
    with pytest.raises(Unproven, match="step 0 .tag_path. does not show"):
        edges("filesystem", [True, True], TAG, Step("delete_path", {"path": of(0, "path"), "recursive": True}))


def test_what_is_refused_without_another_rests_on_it():
    steps = (
        Step("create_directory", {"name": "letters"}),
        Step("create_file", {"name": "first.txt", "directory": "letters", "content": "Dear all"}),
    )
    assert edges("filesystem", [True, True], *steps) == {(0, 1)}
    taken = Step("create_file", {"name": "first.txt", "directory": of(0, "path"), "content": "Dear all"})
    assert edges("filesystem", [True, True], steps[0], taken) == set()  # the value orders them already

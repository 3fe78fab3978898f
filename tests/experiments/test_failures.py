import errno
import os
import sqlite3

import pytest

from experiments.config import ConfigError, RunError
from experiments.failures import sentence


def caught(action):
    with pytest.raises(BaseException) as info:
        action()
    return info.value


def test_a_full_disk_is_named_with_what_to_do():
    def fill():
        with open("/dev/full", "w") as file:  # noqa: PTH123
            file.write("x")

    told = sentence(caught(fill))
    assert "full" in told
    assert "free some space" in told


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "runs/x"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        sqlite3.OperationalError("database or disk is full"),
        RuntimeError("training ended with code 1: OSError: [Errno 28] No space left on device"),
    ],
)
def test_a_full_disk_is_recognised_however_deep_it_lies(error):
    def wrapped():
        try:
            raise error
        except Exception as cause:
            raise RuntimeError("stage failed") from cause

    for one in (error, caught(wrapped)):
        assert "is full" in sentence(one)


def test_a_missing_file_and_a_closed_folder_are_named(tmp_path):
    assert "nothing.txt is not there" in sentence(caught((tmp_path / "nothing.txt").read_text))
    assert "secret may not be used" in sentence(PermissionError(errno.EACCES, "Permission denied", "secret"))


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP])
def test_a_folder_that_cannot_be_is_named_with_what_to_do(number):
    told = sentence(OSError(number, os.strerror(number), "runs/x"))
    assert told == f"runs/x can't be made ({os.strerror(number)}): set runs_dir to a folder that can be written."


def test_what_was_written_for_the_user_is_told_as_it_is():
    assert sentence(RunError("Do this.")) == "Do this."
    assert sentence(ConfigError("Do that.")) == "Do that."


def test_a_bug_gets_no_sentence_so_that_its_traceback_shows():
    assert sentence(KeyError("x")) is None
    assert sentence(ValueError("x")) is None

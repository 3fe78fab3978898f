"""Completion, by the words and in a real bash."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.completion import candidates, script

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("word", "becomes"),
    [
        ("mod", ["model.", "model="]),
        ("model=gr", ["model=granite"]),
        ("reward.b", ["reward.beta="]),
        ("reward.beta=", ["reward.beta=0.5"]),
        ("model.architecture.vo", ["model.architecture.vocab_size="]),
        ("plan=", ["plan=false", "plan=true"]),
        ("evals=[b", ["evals=[bfcl]"]),
        ("evals.bfcl.pro", ["evals.bfcl.prompting="]),
        ("--h", ["--help"]),
        ("nothing", []),
    ],
)
def test_a_word_becomes_what_there_is(word, becomes):
    assert candidates(word) == becomes


def test_what_is_taken_by_default_comes_with_its_value():
    assert "trainer.steps=25" in candidates("trainer.steps=")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("uv run python -m experiments.run model=gran", "run python -m experiments.run model=granite"),
        (
            "uv run python -m experiments.run -m seed=0,1 reward.be",
            "run python -m experiments.run -m seed=0,1 reward.beta=",
        ),
        ("uv run python -m experiments.evaluate policy=ora", "run python -m experiments.evaluate policy=oracle"),
        ("uv run proverl serv", "run proverl serve"),
    ],
)
def test_bash_completes(typed, completed):
    printed = in_bash(f"uv() {{ printf 'typed:%s:\\n' \"$*\"; }}\n{typed}\t\n")
    assert re.search(r"\ntyped:(.*?) ?:\r", printed)[1].rstrip() == completed, printed


def in_bash(keys):
    """What an interactive bash with our completion prints for these keys."""
    terminal, end = pty.openpty()
    environment = os.environ | {"PS1": "$ ", "TERM": "dumb", "HISTFILE": ""}
    command = ["bash", "--norc", "--noprofile", "-i"]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment, cwd="/", start_new_session=True):
        os.close(end)
        os.write(terminal, f'eval "$(cd {ROOT} && {sys.executable} -m experiments.run -sc install=bash)"\n'.encode())
        os.write(terminal, f"{keys}exit\n".encode())
        printed = b""
        try:
            while part := os.read(terminal, 4096):
                printed += part
        except OSError:  # the other end is closed
            pass
    os.close(terminal)
    return printed.decode()


def test_the_script_is_bash():
    assert subprocess.run(["bash", "-n"], input=script(), text=True).returncode == 0

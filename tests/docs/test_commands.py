"""Every command in README.md and docs/ is one that works.

A command falls in exactly one class, by how it begins; one that falls in none fails here. What takes no time is run as
it stands; of what would train, or needs a GPU, an endpoint or a run that is not here, the config is composed and its
stages planned, or the command's own parser reads the words.
"""

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments.cache import StageCache
from experiments.compose import check
from experiments.evaluate import _stages
from experiments.pipeline import entries, wanted
from experiments.report import ui_command
from experiments.stages import stages
from proverl.envs.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {
    "cluster.md": "tests/trainer/test_cluster_page.py",
    "own_server.md": "tests/docs/test_own_pages.py",
    "own_benchmark.md": "tests/docs/test_own_pages.py",
    "own_reward.md": "tests/docs/test_own_pages.py",
}
FENCED = re.compile(r"^```(\S*).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "bash", "console", "sh")
COMMAND = re.compile(r"\$? ?(uv|pip|proverl|python|\.venv/bin/\S+|eval|source|export)\b")
COMPLETION = 'eval "$(uv run python -m experiments.run -sc install=bash)"'
WORDS = {  # what a reader puts in their place
    "URL": "http://127.0.0.1:8000/v1",
    "HOST": "127.0.0.1",
    "NAME": "some-model",
    "RUN": "0123abcd",
    "RUN_ID": "0123abcd",
    "FILE": "BFCL_v4_multi_turn_base_result.json",
    "FOLDER": "folder",
    "OTHER": "other",
}


@dataclass(frozen=True)
class Command:
    page: str
    line: str

    @property
    def words(self) -> list[str]:
        """As the shell would split it, placeholders filled in."""
        filled = re.sub(r"\b[A-Z_]{3,}\b", lambda found: WORDS.get(found[0], found[0]), self.line)
        return shlex.split(filled, comments=True)

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def commands(page: Path):
    for kind, block in FENCED.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines() if kind in SHELL else ():
            if COMMAND.match(line):
                for part in line.removeprefix("$ ").split(" && "):
                    yield Command(page.name, part)


ALL = [command for page in PAGES for command in commands(page)]
HERE = [command for command in ALL if command.page not in ELSEWHERE]


def classify(command: Command):
    """The check of a command's class, with what it is given. Raises ValueError for a command of no class."""
    words = command.words
    if words[:2] == ["uv", "run"]:
        words = words[2:]
        while words[0].startswith("--"):
            words = words[2:] if words[0] in ("--extra", "--group") else words[1:]
    head, rest = " ".join(words[:3]), words[3:]
    if head.startswith("python -m benchmarks."):
        return has_options, [words[2], rest]
    checks = {
        "python -m experiments.run": (composes, [rest]),
        "python -m experiments.evaluate": (evaluates, [rest]),
        "python -m experiments.compare": (has_options, ["experiments.compare", rest]),
        "python -m experiments.rerun": (has_options, ["experiments.rerun", rest]),
    }
    if head in checks:
        return checks[head]
    if command.line in ("uv run --group docs sphinx-build -EW --keep-going --quiet docs site", COMPLETION):
        return nothing, []  # a step of .ci/run, and test_completion.py
    if words[0] == "proverl":
        return (runs if " ".join(words[1:2]) in ("servers", "tools", "call") else parses), [words[1:]]
    if words[0] == "mlflow":
        return told_by_a_run, [command.line]
    if words[0] == "pytest":
        return is_there, [[word for word in words[1:] if "/" in word]]
    if " ".join(words[:2]) == "hf download":
        return hf_parses, [words[1:]]
    if re.fullmatch(r"pip install -q uv|uv sync( --extra gpu| --inexact)?|uv pip install -e \S+", " ".join(words)):
        return nothing, []
    raise ValueError(f"{command} is in no class: say here how it is checked")


@pytest.mark.parametrize("command", HERE, ids=str)
def test_a_command_works(command, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "RUNS", tmp_path / "runs")
    check_it, given = classify(command)
    check_it(*given)


def test_commands_are_found_and_those_of_other_tests_are_tested_there():
    assert len(ALL) > 40
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / test).read_text()
        assert any(command.page == page for command in ALL)


def test_a_command_of_no_class_is_refused():
    for line in ("uv run python -m experiments.conjure", "uv run rm -r runs", "uv teleport"):
        with pytest.raises(ValueError, match="is in no class"):
            classify(Command("page.md", line))
    for line in ("uv run python -m experiments.run reward.betta=0", "uv run proverl tools bankin"):
        check_it, given = classify(Command("page.md", line))
        with pytest.raises((AssertionError, Exception)):
            check_it(*given)


RUNS = Path("runs")


def composes(words):
    """The config of every job, and the stages that it would run."""
    if {"--help", "--cfg", "-sc"} & set(words):
        done = run_module("experiments.run", *words)
        assert done.returncode == 0 and done.stdout, done.stderr
        return
    jobs = check([*words, f"runs_dir={RUNS}"])
    assert jobs
    for config in jobs:
        found = stages(config)
        assert wanted(config, found, entries(config, found, StageCache(RUNS / "stages")))


def evaluates(words):
    if not any(word.startswith("stages=") for word in words):
        words = [*words, f"stages=[{','.join(_stages(words))}]"]
    composes(words)


def runs(words):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and done.output, done.output


def parses(words):
    """The command's own parser takes the words."""
    command, context = typer.main.get_command(app), None
    name, left = "proverl", list(words)
    while True:
        context = command.make_context(name, list(left), parent=context, resilient_parsing=False)
        if not hasattr(command, "resolve_command"):
            return
        name, command, left = command.resolve_command(context, list(left))


def has_options(module, words):
    """The module is there and names every option; most import torch, so they are read rather than asked."""
    text = source(module)
    if "experiments.store" in text:  # which has the options of all commands about recorded runs
        text += source("experiments.store")
    for word in words:
        if word.startswith("-"):
            assert f'"{word.partition("=")[0]}"' in text, f"{module} has no {word}"


def source(module):
    return (ROOT / f"{module.replace('.', '/')}.py").read_text()


def run_module(module, *words):
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def told_by_a_run(line):
    assert ui_command("sqlite:///runs/mlflow.db").startswith(line)


def hf_parses(words):
    told = subprocess.run(
        [Path(sys.executable).with_name("hf"), words[0], "--help"], capture_output=True, text=True, timeout=60
    ).stdout
    assert all(word in told for word in words if word.startswith("--"))


def is_there(paths):
    assert all((ROOT / path).exists() for path in paths)


def nothing():
    """It installs, which no test does."""

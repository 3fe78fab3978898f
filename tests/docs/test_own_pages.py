"""The commands of own_server.md, own_benchmark.md and own_reward.md, with what these pages write down."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = {"python": [sys.executable], "proverl": [sys.executable, "-m", "proverl.envs.cli"]}


def blocks(page, kind):
    text = (ROOT / "docs" / page).read_text()
    return [
        text for found, text in re.findall(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if found == kind
    ]


def commands(page):
    """Those behind `uv run`, as this Python runs them."""
    for line in "".join(blocks(page, "")).splitlines():
        words = shlex.split(line, comments=True)
        assert words[:2] == ["uv", "run"], line
        yield [*PYTHON[words[2]], *words[3:]]


def installed(page, folder):
    """Make of the page's code and pyproject.toml what installing them makes."""
    (code,), (text,) = blocks(page, "python"), blocks(page, "toml")
    project = tomllib.loads(text)
    (module,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    (folder / module).write_text(code)
    info = folder / f"{project['project']['name'].replace('-', '_')}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['project']['name']}\nVersion: 0.1\n")
    lines = []
    for group, points in project["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run(words, folder, cwd=ROOT):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    if "experiments.run" in words or "experiments.evaluate" in words:
        words = [*words, *([] if "plan=true" in words else ["plan=true"]), f"runs_dir={folder / 'runs'}"]
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("page", ["own_server.md", "own_benchmark.md"])
def test_what_is_installed_as_the_page_says_is_used_by_its_commands(page, tmp_path):
    installed(page, tmp_path)
    found = list(commands(page))
    assert len(found) >= 2
    for words in found:
        if "serve" in words:
            serves(words, tmp_path)
            continue
        done = run(words, tmp_path)
        assert done.returncode == 0 and done.stdout, f"{words}\n{done.stdout}{done.stderr}"


def serves(words, folder):
    """It says where it listens, and ends when it is asked to."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    words = [port if word == "8000" else word for word in words]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    with subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr.readline() == f"serving library at http://127.0.0.1:{port}/mcp\n"
        server.terminate()  # Ctrl-C is ignored where the tests run in the background


def test_a_reward_of_ones_own_is_trained_with(tmp_path):
    (code,), (settings,) = blocks("own_reward.md", "python"), blocks("own_reward.md", "yaml")
    for text in (code, settings):
        name = text.splitlines()[0].removeprefix("# ")
        if name.startswith("conf/"):
            shutil.copytree(ROOT / "conf", tmp_path / "conf")
        (tmp_path / name).write_text(text)
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    found = list(commands("own_reward.md"))
    runs = [words for words in found if "experiments.run" in words]
    assert len(runs) == 3
    for words in runs:
        done = run(words, tmp_path, cwd=tmp_path)
        assert done.returncode == 0 and "Plan: " in done.stdout, f"{words}\n{done.stdout}{done.stderr}"
    for words in found:
        if "rescore" in words:
            done = run(words, tmp_path, cwd=tmp_path)
            assert "RUN is no stage's folder" in done.stderr, done.stderr  # and everything else of it was read

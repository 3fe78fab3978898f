"""What `--help` says, and that it is what the config is."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.compose import composed
from experiments.config import Config, keys_of
from experiments.options import chosen, options, run_settings
from experiments.usage import answered

ROOT = Path(__file__).parents[2]


def test_every_option_says_what_it_is():
    assert all(one.summary for found in options().values() for one in found)


def test_settings_are_known_keys_and_have_the_values_that_are_composed():
    known, whole = set(keys_of(Config)), composed([])
    taken = [one for group, found in options().items() for one in found if one.name in chosen().get(group, ())]
    settings = [*run_settings(), *(one for option in taken for one in option.settings)]
    assert len(settings) > 100
    for setting in settings:
        assert setting.key in known, setting.key
        value = whole
        for part in setting.key.split("."):
            value = value[part]
        if not (isinstance(setting.value, str) and "${" in setting.value):
            same = value == setting.value or float(value) == float(setting.value)  # 3e-4 is a text for PyYAML
            assert same, setting.key


def test_help_shows_commands_groups_and_where_things_lie():
    said = answered(["--help"])
    for words in ("uv run python -m experiments.run reward.beta=0", "* tiny", "plan=true", "--cfg job", "runs/"):
        assert words in said
    assert "trainer.kl_in=loss" in answered(["--help", "trainer"]) and "trainer.kl_in" not in said
    assert answered(["--help", "trainers"]).startswith("trainers is no group; groups are ")
    assert "policy=\n" in answered(["-h"], evaluate=True)
    assert answered(["model=tiny"]) == answered(["--cfg", "job"]) == ""


@pytest.mark.parametrize("module", ["experiments.run", "experiments.evaluate"])
def test_help_is_printed_and_nothing_else(module, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{answered(['--help'], module.endswith('evaluate'))}\n"
    assert not list(tmp_path.iterdir())


def test_a_reader_of_help_may_have_enough_of_it():
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.run", "--help"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()  # before anything is written
    assert (process.stderr.read(), process.wait(60)) == (b"", -signal.SIGPIPE)

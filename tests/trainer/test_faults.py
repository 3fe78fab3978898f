"""Faults planted around the training process: a full disk and deaths cost what they must, and it is said."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from proverl.trainer import checkpoints, metrics
from proverl.trainer.run_folder import private_folder
from proverl.trainer.train import Steps, TrainingFailed, run_process
from proverl.trainer.verl_config import RunPaths


def checkpoint(folder, step, size=100):
    path = folder / f"global_step_{step}" / "actor"
    path.mkdir(parents=True)
    (path / "weights").write_bytes(b"x" * size)
    (path.parent / "COMPLETE").touch()


def disk_with(monkeypatch, free):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(total=10**9, used=10**9 - free, free=free))


def test_there_is_room_for_a_checkpoint_as_large_as_the_last_one(monkeypatch, tmp_path):
    disk_with(monkeypatch, 0)
    assert checkpoints.has_room(tmp_path)  # nothing is known of the size of the first
    checkpoint(tmp_path, 2, size=50)
    checkpoint(tmp_path, 10, size=100)
    for free, enough in ((99, False), (100, True)):
        disk_with(monkeypatch, free)
        assert checkpoints.has_room(tmp_path) == enough


def test_a_full_disk_loses_the_metrics_of_a_step_and_says_so(tmp_path, capsys):
    (tmp_path / "metrics.jsonl").symlink_to("/dev/full")
    metrics.append(tmp_path / "metrics.jsonl", 3, {"x": 1.0})
    assert "the metrics of step 3 are lost" in capsys.readouterr().out


def test_a_line_that_was_half_written_when_the_disk_was_full_is_taken_back(tmp_path, monkeypatch, capsys):
    path = tmp_path / "metrics.jsonl"
    metrics.append(path, 1, {"x": 1.0})
    really_open = Path.open

    def fill_the_disk(self, *arguments):
        file = really_open(self, *arguments)
        file.write('{"step": 2, "x"')
        file.close()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "open", fill_the_disk)
        metrics.append(path, 2, {"x": 2.0})
    metrics.append(path, 3, {"x": 3.0})
    assert list(metrics.read(path)) == [(1, {"x": 1.0}), (3, {"x": 3.0})]
    assert "step 2 are lost" in capsys.readouterr().out


def process(monkeypatch, tmp_path, code):
    """Run `code` as the training process of a run in `tmp_path`, whose log is that of `run_process`."""
    (tmp_path / "fake_driver.py").write_text("import pathlib, sys\nfolder = pathlib.Path(sys.argv[1])\n" + code)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    paths = RunPaths(tmp_path)
    paths.checkpoints.mkdir(exist_ok=True)
    run_process(["fake_driver"], paths, False, Steps(paths.metrics, None, 0))
    return paths


def test_a_log_on_a_full_disk_does_not_end_the_process_that_prints(monkeypatch, tmp_path):
    (tmp_path / "train.log").symlink_to("/dev/full")
    code = "for n in range(2000):\n    print('x' * 100, flush=True)\n(folder / 'model').mkdir()\n"
    assert process(monkeypatch, tmp_path, code).model.exists()


def test_temporary_files_of_the_training_process_go_with_it(monkeypatch, tmp_path):
    code = "import tempfile\n(folder / 'where').write_text(tempfile.mkdtemp())\n(folder / 'model').mkdir()\n"
    process(monkeypatch, tmp_path, code)
    where = Path((tmp_path / "where").read_text()).parent
    assert where == private_folder(tmp_path) and not where.exists()


CHECKPOINT = """
step = len(list((folder / "checkpoints").iterdir())) + 1
place = folder / "checkpoints" / f"global_step_{step}"
place.mkdir()
(place / "COMPLETE").touch()
"""


def test_a_process_that_dies_is_started_again_as_long_as_it_gets_further(monkeypatch, tmp_path, caplog):
    code = CHECKPOINT + "if step < 3:\n    raise RuntimeError(f'died after {step}')\n"
    assert checkpoints.latest(process(monkeypatch, tmp_path, code).checkpoints) == 3
    assert "died after 1" in caplog.text and "goes on from step 2" in caplog.text


@pytest.mark.parametrize(
    "printed",
    ["ValueError: too small", "[rank1]: ValueError: too small\ntorch.distributed.elastic.X: ChildFailedError: no more"],
)
def test_a_fault_that_comes_back_is_reported_with_what_was_raised(monkeypatch, tmp_path, printed):
    with pytest.raises(TrainingFailed, match="ended with code 3: ValueError: too small; the whole story is in"):
        process(monkeypatch, tmp_path, f"print({printed!r})\nsys.exit(3)\n")


def test_a_step_without_any_rollout_is_reported_with_the_reason_of_the_last(monkeypatch, tmp_path):
    printed = "proverl.trainer.agent_loop.RolloutFailed: rollout 1|3|0 of task a was not scored: reward X failed.\\n"
    printed += "RuntimeError: Sync replay buffer selected terminal groups with no materializable trajectories."
    told = (
        "none of a step's rollouts could be run; the last one: rollout 1.3.0 of task a was not scored: reward X failed;"
    )
    with pytest.raises(TrainingFailed, match=told):
        process(monkeypatch, tmp_path, f"print('{printed}')\nsys.exit(1)\n")


@pytest.mark.verl
def test_a_checkpoint_without_room_is_left_out_but_never_the_last_one(verl, monkeypatch, tmp_path, capsys):
    from verl.trainer.ppo.v1 import PPOTrainer

    from proverl.trainer.ppo import Trainer

    saved = []
    monkeypatch.setattr(PPOTrainer, "_save_checkpoint", lambda self: saved.append(self.global_steps))
    made = type("Made", (Trainer,), {name: None for name in Trainer.__abstractmethods__})  # verl's mode brings them
    trainer = object.__new__(made)
    trainer.config = SimpleNamespace(trainer=SimpleNamespace(default_local_dir=str(tmp_path)))
    trainer.total_training_steps = 4
    checkpoint(tmp_path, 1)
    for step, free in ((2, 0), (3, 10**6), (4, 0)):
        disk_with(monkeypatch, free)
        trainer.global_steps = step
        trainer._save_checkpoint()
    assert saved == [3, 4]
    assert "no room for the checkpoint of step 2" in capsys.readouterr().out

"""What lies in a run's folder: rows, checkpoints, and how a broken run is reported."""

import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from proverl.agent import Limits
from proverl.core import task_from_json
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, TrainerConfig, check_requirements, checkpoints, rows, train
from proverl.trainer.train import TrainingFailed, drop_torn, environment
from proverl.trainer.verl_config import RunPaths


def order(path):
    return [task_from_json(row["extra_info"]["task"]).id for row in pq.read_table(path).to_pylist()]


def test_every_task_is_used_once_before_any_is_used_twice(task_of, tmp_path):
    tasks = [task_of(number) for number in range(5)]
    rows.write_rows(tasks, 12, 0, tmp_path / "rows.parquet")
    found = order(tmp_path / "rows.parquet")
    assert sorted(found[:5]) == sorted(found[5:10]) == sorted(task.id for task in tasks)
    assert len(found) == 12


def test_the_order_depends_on_the_seed_only(task_of, tmp_path):
    tasks = [task_of(number) for number in range(8)]
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        rows.write_rows(tasks, 16, seed, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert order(tmp_path / "a") != order(tmp_path / "c")


def test_rows_say_where_they_stand(task_of, tmp_path):
    rows.write_rows([task_of()], 3, 0, tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["extra_info"]["index"] for row in table] == [0, 1, 2]
    assert [message["role"] for message in table[0]["prompt"]] == ["system", "user"]


def test_an_empty_dataset_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no training tasks"):
        rows.write_rows([], 3, 0, tmp_path / "rows.parquet")


def save(folder, step, keep=2):
    path = folder / f"global_step_{step}"
    path.mkdir()
    (path / "weights").write_text("x")
    config = SimpleNamespace(trainer={"keep_checkpoints": keep})
    checkpoints.MarkComplete(config).on_save(None, step, str(path))


def test_only_complete_checkpoints_count_and_the_last_ones_stay(tmp_path):
    assert checkpoints.latest(tmp_path) == 0
    for step in (5, 10, 15):
        save(tmp_path, step)
    (tmp_path / "global_step_20").mkdir()  # its saving was cut off
    assert checkpoints.latest(tmp_path) == 15
    checkpoints.remove_incomplete(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["global_step_10", "global_step_15"]


def flip(file):
    file.write_bytes(b"y" + file.read_bytes()[1:])


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-1]), "weights is not"),
        (lambda file: file.unlink(), "weights is not"),
        (flip, "weights is not"),  # a file of another model of the same size
        (lambda file: (file.parent / "COMPLETE").write_text("{"), "COMPLETE is not"),
    ],
)
def test_a_damaged_checkpoint_is_refused_with_what_to_do(tmp_path, harm, named):
    paths = RunPaths(tmp_path)
    paths.checkpoints.mkdir()
    for step in (1, 2):
        save(paths.checkpoints, step)
    drop_torn(paths)
    harm(paths.checkpoints / "global_step_2" / "weights")
    with pytest.raises(TrainingFailed, match=f"global_step_2 is damaged: {named} what was saved; delete that folder"):
        drop_torn(paths)
    shutil.rmtree(paths.checkpoints / "global_step_2")
    drop_torn(paths)
    assert checkpoints.latest(paths.checkpoints) == 1


def test_a_checkpoint_whose_prints_find_no_room_counts_all_the_same(tmp_path, monkeypatch):
    def no_room(self, text):
        raise OSError(28, "No space left on device")

    paths = RunPaths(tmp_path)
    paths.checkpoints.mkdir()
    place = paths.checkpoints / "global_step_1"
    place.mkdir()
    monkeypatch.setattr(type(place), "write_text", no_room)
    checkpoints.MarkComplete(SimpleNamespace(trainer={})).on_save(None, 1, str(place))
    monkeypatch.undo()
    drop_torn(paths)
    assert checkpoints.latest(paths.checkpoints) == 1


def test_a_line_of_metrics_that_cannot_be_read_is_named(tmp_path):
    paths = RunPaths(tmp_path)
    paths.metrics.write_bytes(b'{"step": 1}\n\x00\x00{"st\n{"step": 3}\n')
    with pytest.raises(TrainingFailed, match=r"line 2 of .*metrics.jsonl is no step's metrics; delete that line"):
        drop_torn(paths)


def test_a_failing_training_process_is_reported_with_its_last_error(task_of, tmp_path, start_model, monkeypatch):
    broken = ModelConfig(path=str(start_model))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(TrainingFailed, match="ended with code 1.*train.log"):
        train([task_of()], tmp_path, TrainerConfig(steps=1), broken, Limits(), RewardConfig())


def test_a_finished_folder_returns_its_model_and_its_steps_at_once(tmp_path, task_of):
    from proverl.trainer import metrics

    (tmp_path / "model").mkdir()
    metrics.append(tmp_path / "metrics.jsonl", 1, {"x": 1.0})
    metrics.append(tmp_path / "metrics.jsonl", 2, {"x": 2.0})
    seen = []
    found = train(
        [task_of()],
        tmp_path,
        TrainerConfig(),
        ModelConfig(),
        Limits(),
        RewardConfig(),
        on_step=lambda step, values: seen.append((step, values["x"])),
        after=1,
    )
    assert (found, seen) == (tmp_path.resolve() / "model", [(2, 2.0)])


def test_the_training_process_ends_with_the_one_that_started_it_and_leaves_nothing(tmp_path):
    (tmp_path / "left").mkdir()
    code = "import threading, time; from pathlib import Path; from proverl.trainer.driver import end_with_parent; "
    code += f"threading.Thread(target=end_with_parent, args=[Path({str(tmp_path / 'left')!r})], daemon=True).start(); "
    code += "print('up', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"up\n"
    started = time.monotonic()
    process.stdin.close()
    assert process.wait(timeout=20) == 1
    assert not (tmp_path / "left").exists()
    assert time.monotonic() - started < 20


def test_missing_things_are_named_at_once(tmp_path, start_model):
    assert check_requirements(ModelConfig(path=str(start_model)), TrainerConfig(), tmp_path) == []
    (problem,) = check_requirements(ModelConfig(path=str(tmp_path)), TrainerConfig(), tmp_path)
    assert "config.json" in problem
    wrong = ModelConfig(path=str(start_model), format="tny")
    format_problem, gpu_problem = check_requirements(wrong, TrainerConfig(gpus_per_node=8), tmp_path)
    assert "model.format" in format_problem and "gpus_per_node is 8" in gpu_problem


def test_a_chat_template_that_the_format_does_not_fit_is_refused_before_anything_starts(tmp_path, start_model):
    (problem,) = check_requirements(ModelConfig(path=str(start_model), format="qwen"), TrainerConfig(), tmp_path)
    assert f"{start_model} cannot be used with format 'qwen'" in problem
    assert "writes calls in another way" in problem


def test_what_a_gpu_model_lacks_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("proverl.trainer.machine._reachable", lambda name: False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    model = ModelConfig("qwen3_4b", "nobody/not-here", "qwen", 1e-6, gpu=True)
    weights, gpus, vllm = check_requirements(model, TrainerConfig(gpus_per_node=8), tmp_path)
    assert "nobody/not-here" in weights and "8 GPUs" in gpus and "vLLM" in vllm


def test_processes_get_one_thread_and_no_visible_devices(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    found = environment(gpu=False)
    assert found["OMP_NUM_THREADS"] == "1" and "CUDA_VISIBLE_DEVICES" not in found


def test_the_public_names_are_the_documented_ones():
    import proverl.trainer

    assert all(hasattr(proverl.trainer, name) for name in proverl.trainer.__all__)
    code = "import sys, proverl.trainer; print([m for m in ('torch', 'verl', 'ray') if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"

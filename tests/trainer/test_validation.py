"""What is logged of a validation, and which checkpoint is best."""

from types import SimpleNamespace

from proverl.trainer import checkpoints, metrics, validation


def columns(count):
    names = ("reward/total", *(f"reward/{part}" for part in metrics.PARTS), "episode/success", "episode/calls")
    return {name: [float(number) for number in range(count)] for name in (*names, "stop/completed")}


def test_figures_are_means_and_lost_episodes_are_counted():
    found = validation.summarize(columns(3), 4)
    assert found["validation/reward"] == found["validation/success"] == 1.0
    assert (found["validation/count"], found["validation/failed"]) == (3, 1)


def test_without_any_episode_there_are_counts_only():
    assert validation.summarize({}, 4) == {"validation/count": 0.0, "validation/failed": 4.0}


def steps(path, rewards):
    for step, reward in enumerate(rewards, 1):
        metrics.append(path, step, {} if reward is None else {validation.BEST: reward})


def test_the_best_step_is_the_first_with_the_highest_reward(tmp_path):
    path = tmp_path / "metrics.jsonl"
    assert validation.best_step(path, range(9)) == 0
    steps(path, [None, 0.5, None, 0.9, None, 0.9, 0.7])
    assert validation.best_step(path, range(9)) == 4
    assert validation.best_step(path, [2, 7]) == 7  # whose checkpoints are there
    metrics.truncate(path, 3)  # a killed run that goes on from step 3 knows of no later best
    assert validation.best_step(path, range(9)) == 2


def save(folder, mark, step):
    path = folder / "checkpoints" / f"global_step_{step}"
    path.mkdir(parents=True)
    mark.on_save(trainer=None, global_step=step, checkpoint_dir=str(path))


def test_the_best_checkpoint_stays_beside_the_last_ones(tmp_path):
    mark = checkpoints.MarkComplete(SimpleNamespace(trainer={"keep_checkpoints": 2}))
    for step, reward in enumerate([0.1, 0.8, 0.2, 0.3, 0.4, 0.5], 1):
        metrics.append(tmp_path / "metrics.jsonl", step, {validation.BEST: reward})
        save(tmp_path, mark, step)
    kept = {path.name for path in (tmp_path / "checkpoints").iterdir()}
    assert kept == {"global_step_2", "global_step_5", "global_step_6"}


def test_a_checkpoint_counts_only_once_its_step_has_ended(tmp_path):
    mark = checkpoints.MarkAfterStep(SimpleNamespace(trainer={}))
    save(tmp_path, mark, 1)
    assert checkpoints.latest(tmp_path / "checkpoints") == 0
    mark.step_ended()
    assert checkpoints.latest(tmp_path / "checkpoints") == 1
    mark.step_ended()  # a step that saved nothing

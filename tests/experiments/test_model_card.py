import shutil

import pytest
from huggingface_hub import ModelCard
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from mlflow.tracking import MlflowClient
from transformers import AutoConfig, AutoTokenizer

from experiments.cache import StageCache
from experiments.compose import CONF, check
from experiments.cost import costs
from experiments.model_card import differences, publish
from experiments.pipeline import entries
from experiments.stages import stages
from experiments.tracking import Tracker
from proverl.trainer.tiny import checkpoint_path

ROW = {"metric": "total", "by": "all", "stratum": "all", "before": 0.7, "after": 0.9, "difference": 0.2, "items": 128}
ROW |= {"low": 0.1, "high": 0.3, "noise": False}


def config(*overrides):
    return check(list(overrides))[0]


@pytest.fixture
def published(tmp_path):
    """What a run that trained the tiny model on four tasks publishes."""
    asked = config(f"runs_dir={tmp_path}", "stages=[synth,grpo]", "trainer.steps=3")
    cache = StageCache(tmp_path / "stages")
    found = {name: one for name, one in entries(asked, stages(asked), cache).items() if name in ("synth", "grpo")}
    cache.compute(found["synth"], lambda folder: (folder / "train.parquet").touch())
    cache.compute(found["grpo"], lambda folder: shutil.copytree(checkpoint_path(), folder / "model") and None)
    figures = {
        "benchmarks": [{"benchmark": "heldout", "version": "v1", "figures": [ROW]}],
        "cost": costs(found, asked.profile, "job"),
    }
    about = {"git.commit": "abc123", "hardware.cpu": "a CPU"}
    (one,) = publish(asked, found, figures, about, tmp_path / "job")
    return asked, found, one


def test_the_folder_is_a_model_with_its_card_and_the_stage_is_untouched(published):
    _, outputs, one = published
    outputs["grpo"].check()
    assert AutoConfig.from_pretrained(one.folder).hidden_size == 128
    assert AutoTokenizer.from_pretrained(one.folder).chat_template
    assert (one.folder / "README.md").read_text() == one.card
    assert not (one.folder / "README.md").is_symlink() and (one.folder / "model.safetensors").is_symlink()


def test_the_card_says_what_it_was_made_of_how_good_it_is_and_what_it_is_not(published):
    asked, outputs, one = published
    card = ModelCard.load(one.folder / "README.md")
    assert (card.data.base_model, card.data.license) == ("tiny", "apache-2.0")
    assert card.data.datasets == f"synth-{outputs['synth'].key}" and card.data.metrics == ["total"]
    (result,) = card.data.eval_results
    assert (result.dataset_type, result.metric_type, result.metric_value) == ("heldout", "total", 0.9)
    text = card.text
    for part in (
        "GRPO, 3 steps of 8 x 8 rollouts",
        "banking, calendar, filesystem",
        "| heldout | total | 0.700 | 0.900 | +0.200 [+0.100, +0.300] | 128 |",
        "| `trainer.steps` | 350 | 3 |",
        "abc123",
        "estimates",
        "not whether what it says is true",
    ):
        assert part in text
    assert len(one.card) < 5000  # what MLflow's registry takes


def test_only_settings_of_the_training_that_differ_are_named():
    assert differences(config("experiment=main", "trainer.nodes=2"), "grpo") == {}
    assert differences(config("experiment=main", "reward.beta=0"), "grpo") == {"reward.beta": (0.5, 0)}
    assert "trainer.steps" not in differences(config(), "sft")


def test_the_papers_settings_are_found_inside_a_job_too():
    with initialize_config_dir(str(CONF), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        assert "trainer.steps" in differences(config("trainer.steps=3"), "grpo")
        assert GlobalHydra.instance().hydra is hydra


def test_a_run_registers_its_model_once_and_later_tells_of_it_anew(published, tmp_path, with_store):
    asked, _, one = published
    with_store(tmp_path)
    for text in ("first", "second"):
        Tracker(asked, tmp_path / "job").register(one.name, one.folder, text, one.tags)
    (version,) = MlflowClient(asked.tracking.uri).search_model_versions("name = 'proverl-tiny'")
    assert (version.description, version.source) == ("second", one.folder.as_uri())
    assert version.tags["experiment"] == "default" and version.tags["base_model"] == "tiny"
    assert version.run_id


def test_a_server_without_a_registry_is_said_and_the_run_goes_on(published, tmp_path, with_store, monkeypatch):
    asked, _, one = published
    with_store(tmp_path)
    said = []
    tracker = Tracker(asked, tmp_path / "job", said.append)

    def refuse(*arguments, **options):
        raise RuntimeError("no such API")

    monkeypatch.setattr(tracker._client, "search_model_versions", refuse)
    tracker.register(one.name, one.folder, one.card, one.tags)
    assert len(said) == 1 and "in no registry (no such API)" in said[0]
    tracker.tags({"still": "written"})
    assert MlflowClient(asked.tracking.uri).get_run(tracker.run_id).data.tags["still"] == "written"

"""What `plan=true` reckons for a step on GPUs."""

import json

import pytest

from proverl.agent import Limits
from proverl.trainer import ModelConfig, TrainerConfig
from proverl.trainer.config import Architecture
from proverl.trainer.estimate import PACKING, PADDED, Gpu, architecture, estimate

H100 = Gpu(memory=80, tflops=989, bandwidth=3.35)
SHAPE = Architecture(4096, 12288, 36, 32, 8, 128, 151936)
PAPER = {"prompts": 16, "rollouts": 16, "gpus_per_node": 8, "tensor_parallel": 2, "micro_batch_tokens": 28768}


def of(shape=SHAPE, gpu=H100, limits=None, **settings):
    return estimate(TrainerConfig(**{**PAPER, "parallel_sequences": 256, **settings}), shape, limits or Limits(), gpu)


def parts(estimate):
    return {part.name: part.amount for part in (*estimate.memory, *estimate.seconds)}


@pytest.mark.parametrize(
    ("model", "billions"), [("qwen3_4b", 4.02), ("qwen3_8b", 8.19), ("qwen2_5_7b", 7.62), ("granite", 8.38)]
)
def test_the_shapes_in_conf_have_the_published_sizes(model, billions):
    from experiments.compose import check

    (run,) = check([f"model={model}", "experiment=main"])
    assert run.model.architecture.parameters / 1e9 == pytest.approx(billions, abs=0.006)


def test_the_shape_in_conf_is_that_of_the_model_that_ships():
    from experiments.compose import check
    from proverl.trainer import model_path

    (run,) = check([])
    assert architecture(ModelConfig(path=str(model_path(run.model)))) == run.model.architecture


def test_a_local_folder_speaks_for_itself(tmp_path):
    written = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 128}
    (tmp_path / "config.json").write_text(json.dumps(written | {"vocab_size": 100, "torch_dtype": "bfloat16"}))
    found = architecture(ModelConfig(path=str(tmp_path), architecture=SHAPE))
    assert found == Architecture(64, 128, 2, 4, 4, 16, 100)
    assert architecture(ModelConfig(path="owner/name", architecture=SHAPE)) == SHAPE


def test_weights_gradients_and_optimizer_are_sharded():
    found, more = parts(of()), parts(of(nodes=2))
    for name, each in (("weights", 4), ("gradients", 4), ("optimizer", 8)):
        assert found[name] * 2**30 == pytest.approx(each * SHAPE.parameters / 8)
        assert more[name] == pytest.approx(found[name] / 2)
    assert more["logits"] == found["logits"]


def test_an_adapter_has_small_gradients_and_whole_weights():
    found, adapter = parts(of()), parts(of(lora_rank=8))
    assert adapter["weights"] == found["weights"]
    assert adapter["optimizer"] < found["optimizer"] / 100


def test_the_cache_takes_what_vllm_has_beside_the_weights():
    found = of()
    assert parts(found)["sampler's weights"] + parts(found)["KV cache"] == pytest.approx(0.5 * 80)
    assert found.cache_tokens * (2 * 36 * 8 * 128 * 2 / 2) == pytest.approx(parts(found)["KV cache"] * 2**30)


def test_longer_episodes_take_longer_and_one_that_is_no_longer_filtered_less():
    short = of(limits=Limits(prompt_tokens=12384, response_tokens=8192)).step_seconds
    assert short < of().step_seconds < of(filter_groups=3).step_seconds
    assert of(kl=0.0).step_seconds < of().step_seconds


def test_padding_is_in_memory_and_seconds_of_the_trainer_alike():
    for packs in ({PACKING: True}, {"actor_rollout_ref": {"model": {"use_remove_padding": True}}}):
        padded, packed = parts(of()), parts(of(verl_overrides=packs))
        for name in ("activations", "logits", "old probabilities", "reference", "gradient"):
            assert padded[name] == pytest.approx(PADDED * packed[name])
        for name in ("decode", "read prompts and results", "optimizer"):
            assert padded[name] == packed[name]


def test_a_downloaded_model_speaks_for_itself(tmp_path, monkeypatch):
    from huggingface_hub import constants

    snapshot = tmp_path / "models--owner--name" / "snapshots" / "0"
    (tmp_path / "models--owner--name" / "refs").mkdir(parents=True)
    (tmp_path / "models--owner--name" / "refs" / "main").write_text("0")
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text(json.dumps({"hidden_size": 64, "vocab_size": 100}))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    assert architecture(ModelConfig(path="owner/name")) == Architecture(hidden_size=64, vocab_size=100)


def test_what_does_not_fit_is_said_with_what_to_try():
    assert of(verl_overrides={PACKING: True}).too_much(H100) == []
    (padded,) = of().too_much(H100)
    assert "pack sequences" in padded
    small = Gpu(memory=40, tflops=312, bandwidth=1.6)
    (told,) = of(gpu=small, gpu_memory=0.5).too_much(small)
    assert "update needs about" in told and "which has 40" in told and "micro_batch_tokens" in told
    assert any("gpu_memory leaves vLLM no room" in told for told in of(gpu=small, gpu_memory=0.1).too_much(small))


def test_a_model_of_unknown_shape_is_refused():
    with pytest.raises(ValueError, match="model.architecture is not known"):
        of(shape=Architecture())

"""The exported folder: what transformers loads from it computes what was trained."""

import json

import pytest
import torch
from omegaconf import OmegaConf
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from typer.testing import CliRunner

from proverl.trainer import RunPaths
from proverl.trainer.export import app, export, export_run

IDS = torch.arange(5, 45).reshape(2, 20)


def logits(model):
    with torch.no_grad():
        return model.eval()(IDS).logits


def changed(start_model):
    """The start model after some training."""
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_pretrained(start_model, dtype=torch.float32)
    for parameter in model.parameters():
        parameter.data += 0.05 * torch.randn_like(parameter)
    return model


def save(model, start_model, saved):
    """Write a checkpoint as verl does: config and tokenizer of the start model, whatever the weights are named."""
    folder = saved / "huggingface"
    config = AutoConfig.from_pretrained(start_model)
    empty = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    state = {name: value for name, value in model.state_dict().items() if not name.endswith("lm_head.weight")}
    empty.save_pretrained(folder, state_dict=state)
    AutoTokenizer.from_pretrained(start_model).save_pretrained(folder)
    return saved


@pytest.fixture
def adapted(start_model):
    torch.manual_seed(2)
    settings = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "o_proj", "up_proj"], init_lora_weights=False)
    return get_peft_model(changed(start_model), settings)


def test_the_exported_model_computes_the_same_and_brings_all_a_server_reads(start_model, tmp_path):
    model = changed(start_model)
    folder = export(save(model, start_model, tmp_path / "actor"), tmp_path / "model", start_model)
    assert torch.equal(logits(AutoModelForCausalLM.from_pretrained(folder)), logits(model))
    tokenizer, start = AutoTokenizer.from_pretrained(folder), AutoTokenizer.from_pretrained(start_model)
    assert (tokenizer.get_vocab(), tokenizer.chat_template) == (start.get_vocab(), start.chat_template)
    assert GenerationConfig.from_pretrained(folder).eos_token_id == model.config.eos_token_id
    assert json.loads((folder / "config.json").read_text())["dtype"] == "float32"
    assert list(tmp_path.glob("*.partial")) == []


def test_an_adapter_is_merged_into_the_weights(start_model, adapted, tmp_path):
    saved = save(adapted, start_model, tmp_path / "actor")
    (saved / "lora_train_meta.json").write_text(json.dumps({"r": 4, "lora_alpha": 8, "task_type": "CAUSAL_LM"}))
    folder = export(saved, tmp_path / "model", start_model)
    found = logits(AutoModelForCausalLM.from_pretrained(folder))
    assert torch.allclose(found, logits(adapted), atol=1e-5)
    with adapted.disable_adapter():
        assert not torch.allclose(found, logits(adapted), atol=1e-2)
    assert not any("lora" in name for name in load_file(folder / "model.safetensors"))


def test_weights_are_written_in_the_precision_of_the_start_model(start_model, tmp_path):
    half = tmp_path / "half"
    AutoModelForCausalLM.from_pretrained(start_model, dtype=torch.bfloat16).save_pretrained(half)
    AutoTokenizer.from_pretrained(start_model).save_pretrained(half)
    model = changed(start_model)
    folder = export(save(model, start_model, tmp_path / "actor"), tmp_path / "model", half)
    weights = load_file(folder / "model.safetensors")
    assert all(torch.equal(value, model.state_dict()[name].to(torch.bfloat16)) for name, value in weights.items())
    assert AutoModelForCausalLM.from_pretrained(folder).dtype == torch.bfloat16


def test_an_adapter_that_does_not_fit_is_refused(start_model, adapted, tmp_path):
    saved = save(adapted, start_model, tmp_path / "actor")
    (saved / "lora_train_meta.json").write_text(json.dumps({"r": 4, "lora_alpha": 8}))
    path = saved / "huggingface" / "model.safetensors"
    from safetensors.torch import save_file

    weights = load_file(path)
    weights.pop(next(name for name in weights if "lora_B" in name))
    save_file(weights, path)
    with pytest.raises(ValueError, match="do not fit the model.*lora_B"):
        export(saved, tmp_path / "model", start_model)
    assert not (tmp_path / "model").exists()


def test_a_model_without_a_chat_template_is_refused(start_model, tmp_path):
    saved = save(changed(start_model), start_model, tmp_path / "actor")
    (saved / "huggingface" / "chat_template.jinja").unlink()
    with pytest.raises(ValueError, match="lacks a chat template"):
        export(saved, tmp_path / "model", start_model)


@pytest.fixture
def run(start_model, tmp_path):
    """A killed run with checkpoints of two steps, one of them torn."""
    paths = RunPaths(tmp_path / "run")
    for step in (3, 4):
        saved = paths.checkpoints / f"global_step_{step}"
        save(changed(start_model), start_model, saved / "actor")
    (paths.checkpoints / "global_step_3" / "COMPLETE").touch()
    OmegaConf.save(OmegaConf.create({"actor_rollout_ref": {"model": {"path": str(start_model)}}}), paths.verl)
    return paths


def test_a_killed_run_gives_its_last_complete_checkpoint(run, start_model, tmp_path):
    folder = export_run(run, tmp_path / "mine")
    assert torch.equal(logits(AutoModelForCausalLM.from_pretrained(folder)), logits(changed(start_model)))


def test_what_is_not_there_is_named(run, tmp_path):
    with pytest.raises(FileNotFoundError, match="no complete checkpoint of step 4; it holds those of steps 3$"):
        export_run(run, tmp_path / "mine", step=4)
    with pytest.raises(FileExistsError, match="is there already"):
        export_run(run, run.folder)


@pytest.fixture
def finished(tmp_path, start_model):
    """The folder of a run that has its model."""
    export(save(changed(start_model), start_model, tmp_path / "actor"), tmp_path / "run" / "model", start_model)
    (tmp_path / "run" / "rollouts").mkdir()
    return tmp_path / "run"


def test_the_command_copies_the_model_of_a_finished_run(finished, tmp_path):
    told = CliRunner().invoke(app, [str(finished), str(tmp_path / "copy")])
    assert (told.exit_code, told.output.strip()) == (0, str(tmp_path / "copy"))
    files = {path.name: path.read_bytes() for path in (finished / "model").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()} == files


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (lambda model: (model / "model.safetensors").unlink(), "lacks weights in safetensors"),
        (lambda model: (model / "config.json").write_text("{"), "config.json is damaged"),
        (lambda model: truncate(model / "model.safetensors"), "model.safetensors is damaged"),
    ],
)
def test_a_damaged_model_is_named_and_nothing_is_written(finished, tmp_path, harm, named):
    harm(finished / "model")
    told = CliRunner().invoke(app, [str(finished), str(tmp_path / "copy")])
    assert (told.exit_code, named in told.output) == (2, True), told.output
    assert not (tmp_path / "copy").exists()


def truncate(file):
    file.write_bytes(file.read_bytes()[:-1])


def test_a_finished_run_says_that_its_model_is_what_is_left_of_it(tmp_path):
    paths = RunPaths(tmp_path / "run")
    paths.model.mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="of step 3; it holds none.*keeps its trained model only: .*run/model"):
        export_run(paths, tmp_path / "mine", step=3)


def test_a_run_before_its_first_checkpoint_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no complete checkpoint yet.*trainer.save_every"):
        export_run(RunPaths(tmp_path / "run"), tmp_path / "mine")

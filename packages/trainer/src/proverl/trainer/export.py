"""A trained model as a Hugging Face folder that `from_pretrained` and `vllm serve` take.

    proverl export RUN FOLDER             # the trained model, or a killed run's last checkpoint
    proverl export RUN FOLDER --step 40

Weights are written in the precision of the start model (verl saves what it trains, float32), adapters merged in.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from omegaconf import OmegaConf

from proverl.trainer import checkpoints
from proverl.trainer.run_folder import training_folder
from proverl.trainer.verl_config import RunPaths

_ADAPTER = "lora_train_meta.json"  # what verl writes beside an adapter's weights: rank r and lora_alpha
_WRAPPER = "base_model.model."  # peft's, before the name of each of its modules

app = typer.Typer(add_completion=False, help="Write a trained model as a Hugging Face folder.")


@app.command()
def command(
    run: Annotated[str, typer.Argument(help="An MLflow run's id, a job's folder, or a GRPO stage's folder")],
    target: Annotated[Path, typer.Argument(help="Folder to write; must not be there yet")],
    step: Annotated[
        int, typer.Option(min=0, help="Checkpoint to take; 0 is the trained model, or else the last one")
    ] = 0,
    runs_dir: Annotated[Path, typer.Option(help="The runs folder, where an MLflow run is looked up")] = Path("runs"),
) -> None:
    """Write a trained model as a Hugging Face folder that `vllm serve` takes."""
    try:
        typer.echo(str(export_run(RunPaths(training_folder(run, runs_dir)), target, step)))
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def export_run(paths: RunPaths, target: Path, step: int = 0) -> Path:
    """Write the run's model, or the one of a step's checkpoint, to `target` and return that.

    Raises FileExistsError when the target is there, FileNotFoundError when the run holds no such checkpoint, and
    ValueError as `export`.
    """
    if target.exists():
        raise FileExistsError(f"{target} is there already; name a folder that is not")
    if paths.model.exists() and not step:
        return _publish(paths.model, target)
    step = step or checkpoints.latest(paths.checkpoints)
    saved = paths.checkpoints / f"global_step_{step}"
    if not checkpoints.complete(saved):
        raise FileNotFoundError(_absent(paths, step))
    checkpoints.check(saved)
    return export(saved / "actor", target, str(OmegaConf.load(paths.verl).actor_rollout_ref.model.path))


def _absent(paths: RunPaths, step: int) -> str:
    """What there is in place of a checkpoint that is not there."""
    kept = checkpoints.steps(paths.checkpoints)
    there = f"it holds those of steps {', '.join(map(str, kept))}" if kept else "it holds none"
    if paths.model.exists():
        there += f", since a finished run keeps its trained model only: {paths.model}, exported without --step"
    elif not kept:
        return f"{paths.folder} holds no complete checkpoint yet; the first one comes after trainer.save_every steps"
    return f"{paths.folder} holds no complete checkpoint of step {step}; {there}"


def export(saved: Path, target: Path, start: str | Path) -> Path:
    """Write what verl saved of the actor in `saved` as a Hugging Face folder, and return that.

    `start` is the start model. The folder appears complete or not at all. Raises ValueError that names what a server
    would miss in it, or weights that do not fit.
    """
    source = saved / "huggingface"
    _check_files(source)
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    if (saved / _ADAPTER).exists():
        shutil.copytree(source, partial, ignore=shutil.ignore_patterns("*.safetensors*"))
        _merge(source, partial, json.loads((saved / _ADAPTER).read_text()))
    else:
        shutil.copytree(source, partial)
    _restore_dtype(partial, start)
    _check(partial)
    partial.replace(target)
    return target


def _publish(source: Path, target: Path) -> Path:
    _check_files(source)
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source, partial)
    _check(partial)
    return partial.replace(target)


def _check_files(folder: Path) -> None:
    """Raise ValueError that names a file of a Hugging Face folder which can't be read."""
    from safetensors import SafetensorError, safe_open

    for path in [*sorted(folder.glob("*.json")), *sorted(folder.glob("*.safetensors"))]:
        try:
            if path.suffix == ".json":
                json.loads(path.read_text())
            else:
                safe_open(path, "pt")  # compares the file's size with what its header lists
        except (SafetensorError, ValueError, OSError) as error:
            raise ValueError(f"{path} is damaged ({error}); take another step or train anew") from None


def _merge(source: Path, target: Path, adapter: dict[str, Any]) -> None:
    """Add the adapter's product to the weights that it stands beside, and write these to `target` in float32."""
    import torch
    from peft import LoraConfig, get_peft_model
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForCausalLM

    weights = {name: value for file in sorted(source.glob("*.safetensors")) for name, value in load_file(file).items()}
    adapted = {name.split(".lora_A.")[0].removeprefix(_WRAPPER) for name in weights if ".lora_A." in name}
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(source), dtype=torch.float32)
    settings = LoraConfig(r=adapter["r"], lora_alpha=adapter["lora_alpha"], target_modules=sorted(adapted))
    wrapped = get_peft_model(model, settings)
    lacking, unknown = wrapped.load_state_dict(weights, strict=False)
    tied = {_WRAPPER + name for name in model._tied_weights_keys or ()}
    if unknown or set(lacking) - tied:
        raise ValueError(f"{source}: the adapter's weights do not fit the model: {[*unknown, *lacking][:3]}")
    wrapped.merge_and_unload().save_pretrained(target)


def _restore_dtype(folder: Path, start: str | Path) -> None:
    """Write weights in the start model's precision, and say so: verl's config says bfloat16 whatever they are."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig

    path = folder / "config.json"
    config = json.loads(path.read_text())
    dtype = AutoConfig.from_pretrained(start).dtype or getattr(torch, config.get("dtype", "float32"))
    for file in folder.glob("*.safetensors"):
        weights = load_file(file)
        if any(value.is_floating_point() and value.dtype != dtype for value in weights.values()):
            cast = {name: v.to(dtype) if v.is_floating_point() else v for name, v in weights.items()}
            save_file(cast, file, metadata={"format": "pt"})
    path.write_text(json.dumps(config | {"dtype": str(dtype).removeprefix("torch.")}, indent=2))


def _check(folder: Path) -> None:
    """Complete the generation config; refuse a folder without weights, tokenizer or chat template."""
    from transformers import AutoConfig, GenerationConfig

    if not (folder / "generation_config.json").exists():
        GenerationConfig.from_model_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)
    lacking = [what for what, there in _parts(folder) if not there]
    if lacking:
        raise ValueError(f"{folder} lacks {' and '.join(lacking)}; the start model must have what a server needs")


def _parts(folder: Path) -> Iterable[tuple[str, bool]]:
    tokenizer = folder / "tokenizer_config.json"
    yield "weights in safetensors", any(folder.glob("*.safetensors"))
    yield "a tokenizer", tokenizer.exists()
    template = tokenizer.exists() and "chat_template" in json.loads(tokenizer.read_text())
    yield "a chat template", template or (folder / "chat_template.jinja").exists()

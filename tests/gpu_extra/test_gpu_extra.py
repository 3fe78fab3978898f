"""What a run on GPUs does with the `gpu` extra up to its first call of CUDA, on a machine without a GPU.

vLLM takes the machine for H100s (`site/h100.py`) and decides as it would there. Weights are never read.
"""

import asyncio
import logging
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from omegaconf import OmegaConf

from experiments.compose import check
from proverl.agent import Limits
from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.envs import Session
from proverl.reward import RewardConfig
from proverl.trainer import ModelConfig, RunPaths, TrainerConfig, TrainingFailed, train
from proverl.trainer.train import environment, prepare

ROOT = Path(__file__).parents[2]
CHATML = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ROLES = ["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"]
MODELS = {  # architecture, longest context, TRL's name of the chat template, marks of the tokenizer
    "qwen3_4b": ("Qwen3", 262144, "qwen3_instruct_2507", CHATML),
    "qwen3_8b": ("Qwen3", 40960, "qwen3", CHATML),
    "qwen2_5_7b": ("Qwen2", 32768, "qwen2_5", CHATML),
    "granite": ("Granite", 131072, "", ROLES),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folder of each model as it is downloaded, but for a tokenizer of bytes and no weights."""
    import transformers

    found = {}
    for name, (family, context, template, marks) in MODELS.items():
        found[name] = folder = tmp_path_factory.mktemp(name)
        shape = asdict(check([f"model={name}"])[0].model.architecture)
        kind = getattr(transformers, f"{family}Config")
        kind(
            max_position_embeddings=context, dtype="bfloat16", architectures=[f"{family}ForCausalLM"], **shape
        ).save_pretrained(folder)
        granite = ROOT / "tests" / "agent" / "granite.jinja"
        text = files("trl").joinpath("chat_templates", f"{template}.jinja") if template else granite
        tokenizer(marks, text.read_text("utf-8")).save_pretrained(folder)
        (folder / "model.safetensors").write_bytes(bytes(2))
    return found


def tokenizer(marks, template):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator([], trainers.BpeTrainer(special_tokens=marks, initial_alphabet=alphabet))
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=marks[-1], pad_token=marks[0], chat_template=template
    )


@pytest.fixture(scope="module")
def ray():
    """A Ray that believes in one GPU, and verl's variables as the training processes have them."""
    from proverl.trainer.cluster import _private

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as short:
        for name, value in environment(gpu=True).items():
            patch.setenv(name, value)
        with _private(1, Path(short)):
            import ray

            yield ray


def tasks():
    with Session(["banking"], 0) as session:
        tools = session.tools[:2]
    truth = GroundTruth((Step(tools[0].name, {}),))
    return [Task("task-0", TaskKind.MULTI_TURN, ("banking",), 0, "", ("Show me.",), tools, truth)]


def test_vllms_compiled_parts_load_beside_this_torch():
    import torch  # noqa: F401  (its libraries are theirs)
    import vllm

    folder = Path(vllm.__file__).parent
    parts = [path.relative_to(folder.parent).as_posix().split(".")[0] for path in folder.rglob("*.abi3.so")]
    assert {"vllm/_C_stable_libtorch", "vllm/cumem_allocator", "vllm/vllm_flash_attn/_vllm_fa3_C"} <= set(parts)
    for part in parts:
        import_module(part.replace("/", "."))


@pytest.mark.parametrize("model", MODELS)
def test_vllm_takes_what_verl_makes_of_our_settings(ray, folders, tmp_path, monkeypatch, model):
    from verl.utils.config import omega_conf_to_dataclass
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.usage.usage_lib import UsageContext

    made = []

    async def stop(server, arguments):
        made.append(AsyncEngineArgs.from_cli_args(arguments).create_engine_config(UsageContext.OPENAI_API_SERVER))

    config = config_of(folders[model], tmp_path, model)
    server = server_of(config, monkeypatch)
    monkeypatch.setattr(type(server), "run_server", stop)
    asyncio.run(server.launch_server())
    (engine,) = made
    assert engine.device_config.device_type == "cuda"
    assert engine.model_config.architecture == f"{MODELS[model][0]}ForCausalLM"
    assert (str(engine.model_config.dtype), engine.model_config.max_model_len) == ("torch.bfloat16", 12384 + 16384)
    assert engine.model_config.enable_sleep_mode and engine.model_config.logprobs_mode == "processed_logprobs"
    assert (engine.parallel_config.tensor_parallel_size, engine.parallel_config.world_size) == (2, 2)
    assert engine.scheduler_config.max_num_seqs == config.actor_rollout_ref.rollout.max_num_seqs
    assert engine.cache_config.gpu_memory_utilization == config.actor_rollout_ref.rollout.gpu_memory_utilization
    assert engine.load_config.load_format == "dummy"  # the trainer sends the weights
    assert omega_conf_to_dataclass(config.actor_rollout_ref.rollout).enable_sleep_mode


@pytest.mark.parametrize("model", MODELS)
def test_verl_finds_our_agent_loop_and_its_own_engine_without_flash_attention(ray, folders, tmp_path, model):
    import torch
    from hydra.utils import instantiate
    from transformers import AutoModelForCausalLM
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.engine import EngineRegistry

    from proverl.trainer.agent_loop import EpisodeLoop
    from proverl.trainer.verl_config import validate

    config = config_of(folders[model], tmp_path, model)
    validate(config)
    start = omega_conf_to_dataclass(config.actor_rollout_ref.model)
    (settings,) = OmegaConf.load(RunPaths(tmp_path).agent_loop)
    loop = instantiate(
        settings, trainer_config=SimpleNamespace(config=config), server_manager=None, tokenizer=start.tokenizer
    )
    assert isinstance(loop, EpisodeLoop)
    engine = EngineRegistry.get_engine_cls("language_model", config.actor_rollout_ref.actor.strategy)
    assert engine.__name__ == "FSDPEngineWithLMHead"
    assert find_spec("flash_attn") is None
    with torch.device("meta"):
        policy = AutoModelForCausalLM.from_config(start.hf_config)
    assert policy.config._attn_implementation == "sdpa"


def config_of(folder, run, model):
    (settings,) = check(["experiment=main", "profile=h100x8", f"model={model}", f"model.path={folder}"])
    paths = RunPaths(run)
    prepare(tasks(), paths, settings.trainer, settings.model, settings.envs.limits, settings.reward, settings.seed)
    return OmegaConf.load(paths.verl)


def server_of(config, monkeypatch):
    """verl's vLLM server of one replica, as its Ray actor holds it."""
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.rollout.replica import RolloutMode
    from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer

    for name in ("CUDA_VISIBLE_DEVICES", "VERL_REPLICA_RANK", "VERL_RAY_JOB_ID"):
        monkeypatch.setenv(name, "")  # it sets them, and they are put back
    kind = type("Server", (vLLMHttpServer,), {})
    rollout, model = (omega_conf_to_dataclass(config.actor_rollout_ref[name]) for name in ("rollout", "model"))
    gpus = rollout.tensor_model_parallel_size
    return kind(rollout, model, RolloutMode.HYBRID, [None] * gpus, 0, 0, gpus, 1, ",".join(map(str, range(gpus))))


def test_vllms_workers_start_with_verls_extension_and_find_no_gpu(ray, folders, tmp_path, monkeypatch, caplog):
    server = server_of(config_of(folders["qwen3_4b"], tmp_path, "qwen3_4b"), monkeypatch)
    log = logging.FileHandler(tmp_path / "vllm.log")  # its processes are forks of this one and write there too
    logging.getLogger("vllm").addHandler(log)
    caplog.set_level(logging.INFO, "vllm")
    with pytest.raises(RuntimeError, match="Engine core initialization failed"):
        asyncio.run(server.launch_server())
    logging.getLogger("vllm").removeHandler(log)
    printed = (tmp_path / "vllm.log").read_text()
    extension = "verl.workers.rollout.vllm_rollout.utils.vLLMColocateWorkerExtension"
    assert printed.count(f"Injected <class '{extension}'> into <class 'vllm.v1.worker.gpu_worker.Worker'>") == 2
    errors = re.findall(r"^(\w+Error: .*)", printed, re.MULTILINE)
    no_gpu = "AssertionError: DP adjusted local rank {} is out of bounds for 0 devices."
    assert sorted(errors) == [no_gpu.format(rank) for rank in range(2)]


def test_a_training_process_joins_ray_and_ends_at_its_workers_first_call_of_cuda(ray, folders, tmp_path):
    trainer = TrainerConfig(
        steps=1, prompts=1, gpus_per_node=1, agent_workers=1, ray=ray.get_runtime_context().gcs_address
    )
    model = ModelConfig(path=str(folders["qwen3_4b"]), format="qwen", gpu=True)
    with pytest.raises(TrainingFailed, match="no GPUs"):
        train(tasks(), tmp_path, trainer, model, Limits(prompt_tokens=1024, response_tokens=256), RewardConfig())


def test_the_plan_names_the_missing_gpus_and_nothing_else(folders, tmp_path):
    what = [
        "model=qwen3_4b",
        "experiment=main",
        "plan=true",
        f"model.path={folders['qwen3_4b']}",
        f"runs_dir={tmp_path}",
    ]
    done = subprocess.run([sys.executable, "-m", "experiments.run", *what], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    (needs,) = done.stderr.splitlines()
    assert needs.startswith("Needs: the model needs 8 GPUs a node and nvidia-smi shows 0 here")

"""A small world for the trainer: a server found by its entry point, tasks on it, and a model of random weights."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proverl.core import GroundTruth, Step, Task, TaskKind, Tool
from proverl.envs import Session
from proverl.trainer.train import environment

SITE = Path(__file__).parent / "site"


@pytest.fixture(scope="session", autouse=True)
def notes_server() -> Iterator[None]:
    """Make the server `notes` known here and in every process started from here."""
    from proverl.envs import registry

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SITE))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(SITE), *filter(None, [os.environ.get("PYTHONPATH")])]))
        registry._entries.cache_clear()
        yield
    registry._entries.cache_clear()


@pytest.fixture(scope="session")
def verl() -> None:
    """Import verl as the training processes do (12 s)."""
    assert "verl" not in sys.modules or os.environ.get("VERL_PLATFORM") == "cpu"
    os.environ.update({key: value for key, value in environment(gpu=False).items() if key.startswith("VERL_")})
    import verl  # noqa: F401


@pytest.fixture(scope="session")
def tools(notes_server: None) -> tuple[Tool, ...]:
    with Session(["notes"], 0) as session:
        return session.tools


@pytest.fixture(scope="session")
def task_of(tools: tuple[Tool, ...]) -> Callable[..., Task]:
    """Makes tasks on the notes server: with steps they expect calls, without they expect none."""

    def make(number: int = 0, *steps: Step, turns: tuple[str, ...] = ("What notes?",)) -> Task:
        kind = TaskKind.MULTI_TURN if steps else TaskKind.ABSTENTION
        return Task(f"task-{number}", kind, ("notes",), number, "Be brief.", turns, tools, GroundTruth(steps))

    return make


@pytest.fixture(scope="session")
def start_model(tools: tuple[Tool, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Qwen3-shaped model of random weights with a tokenizer of its own, as `from_pretrained` reads it."""
    from proverl.trainer.tiny.model import build_model, tiny_config
    from proverl.trainer.tiny.tokenizer import train_tokenizer

    folder = tmp_path_factory.mktemp("start")
    tokenizer = train_tokenizer(["What notes? Be brief.", *(str(tool) for tool in tools)], 300)
    config = tiny_config(len(tokenizer), tokenizer.pad_token_id, tokenizer.eos_token_id)
    config.num_hidden_layers, config.layer_types = 2, config.layer_types[:2]
    build_model(config, seed=0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

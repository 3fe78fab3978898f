"""A checkpoint on disk becomes a policy that does real episodes, the same ones each time."""

from pathlib import Path

import pytest

from proverl.agent import Limits
from proverl.core import GroundTruth, Task, TaskKind
from proverl.envs import load_server
from proverl.evals import attempted, evaluate, heldout, load_policy
from proverl.reward import RewardConfig
from proverl.trainer.tiny.model import build_model, tiny_config
from proverl.trainer.tiny.tokenizer import END, PAD, train_tokenizer


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tokenizer = train_tokenizer(["Move the file to the folder, then list the folder."], vocabulary=270)
    pad, end = tokenizer.convert_tokens_to_ids([PAD, END])
    build_model(tiny_config(len(tokenizer), pad, end), seed=0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_loaded_policy_does_episodes_and_is_deterministic(checkpoint, tmp_path):
    tools = load_server("filesystem").tools[:2]
    truth = GroundTruth()
    tasks = [Task(f"t{n}", TaskKind.ABSTENTION, ("filesystem",), n, "", ("Hi.",), tools, truth) for n in range(2)]
    limits = Limits(reply_tokens=12, response_tokens=200)
    first, second = (
        [
            attempted(record).episode.messages
            for record in evaluate(
                heldout(tasks, limits, RewardConfig()), load_policy(checkpoint, "tiny", 1.0), tmp_path / name, seed=3
            ).records
        ]
        for name in ("first", "second")
    )
    assert first == second
    assert first[0][1]["role"] == "assistant"
    assert first[0][1]["content"] != first[1][1]["content"]


def test_missing_model_is_named():
    with pytest.raises(FileNotFoundError, match="no model at /nowhere: config.json is not there"):
        load_policy(Path("/nowhere"), "tiny")

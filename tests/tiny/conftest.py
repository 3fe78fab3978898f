from dataclasses import replace

import pytest
from transformers import PreTrainedTokenizerFast

from proverl.trainer.tiny.curriculum import CURRICULUM, Demonstration
from proverl.trainer.tiny.data import render
from proverl.trainer.tiny.invented import invented
from proverl.trainer.tiny.tokenizer import train_tokenizer

# every feature at once: several turns, values from results, missing tools
STAGE = replace(CURRICULUM[-1], live=0.0, refuse=0.2)


@pytest.fixture(scope="session")
def shown() -> list[Demonstration]:
    return invented(STAGE, 11, 300)


@pytest.fixture(scope="session")
def tokenizer(shown) -> PreTrainedTokenizerFast:
    return train_tokenizer(map(render, shown))

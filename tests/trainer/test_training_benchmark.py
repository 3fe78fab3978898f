"""The benchmark of training: a step's parts add up, and TRL reads the tiny model's replies as we do."""

import pytest
from transformers.utils.chat_parsing_utils import recursive_parse

from benchmarks.training import SCHEMA, processor, split
from proverl.agent.formats import parse_tiny


def test_the_parts_of_a_step_add_up():
    names = ("step", "generate", "environment", "reward", "update", "log_probs", "sync", "save")
    steps = [{f"time/{name}_s": value for name, value in zip(names, values, strict=True)} for values in (
        (20.0, 8.0, 1.0, 0.5, 10.0, 4.0, 1.0, 1.0),
        (10.0, 4.0, 0.5, 0.5, 5.0, 2.0, 0.5, 0.5),
    )]  # fmt: skip
    found = split([{"reward/mean": 0.5, **values} for values in steps])
    assert (found["generate"], found["update"], found["rest"]) == (4.75, 3.75, 0.75)
    assert sum(value for name, value in found.items() if name != "step") == found["step"] == 15


def test_processor_time_is_of_environment_and_reward():
    logged = [{"time/environment_processor_s": one, "time/reward_processor_s": 2 * one} for one in (1.0, 3.0)]
    assert processor(logged) == {"environment": 2.0, "reward": 4.0}


@pytest.mark.parametrize(
    "text",
    [
        'Let me see.<|call|>find_customers{"limit":2,"name":"a {b} c"}<|/call|><|call|>list_all{}<|/call|>',
        '<|call|>move{"to":{"x":[1,2]}}<|/call|>',
        "Nothing to do.",
    ],
)
def test_trl_reads_replies_as_we_do(text):
    found, ours = recursive_parse(text + "<|end|>", SCHEMA), parse_tiny(text)
    assert found["content"] == ours.text
    calls = [call["function"] for call in found.get("tool_calls") or []]
    assert calls == [{"name": call.name, "arguments": call.arguments} for call in ours.calls]

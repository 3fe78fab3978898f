"""Demonstrations: the tokens of the oracle's episodes, what of them is learned, and what is left out."""

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from transformers import AutoTokenizer

from proverl.agent import ChatTemplate, Limits, Reply, render_tools, tool_format
from proverl.core import Step, StopReason
from proverl.envs import Session
from proverl.trainer.sft_config import SFTConfig
from proverl.trainer.sft_data import demonstrate, write_demonstrations

LIMITS = Limits(prompt_tokens=512, response_tokens=400, reply_tokens=60, tool_output_tokens=64)


@pytest.fixture(scope="module")
def template(start_model):
    return ChatTemplate(AutoTokenizer.from_pretrained(start_model), tool_format("tiny"))


@pytest.fixture(scope="module")
def task(task_of):
    return task_of(1, Step("list_notes", {}), Step("add_note", {"text": "milk"}, turn=1), turns=("Notes?", "Add milk."))


async def test_the_tokens_are_those_of_the_whole_conversation_in_the_models_template(template, task):
    episode = await demonstrate(task, template, LIMITS)
    ids = episode.transcript.prompt_ids + episode.transcript.response_ids
    messages = [{**message, "content": message.get("content") or ""} for message in episode.messages]
    whole = template.tokenizer.apply_chat_template(messages, tools=render_tools(task.tools), tokenize=False)
    assert whole.removesuffix("\n") == template.tokenizer.decode(ids)
    assert ids == template.tokenizer.encode(whole, add_special_tokens=False)


async def test_exactly_what_the_assistant_says_is_learned(template, task):
    transcript = (await demonstrate(task, template, LIMITS)).transcript
    spans, last = [], 0
    for token, mine in zip(transcript.response_ids, transcript.mask, strict=True):
        if mine and not last:
            spans.append([])
        if mine:
            spans[-1].append(token)
        last = mine
    assert [template.tokenizer.decode(span) for span in spans] == [
        "<|call|>list_notes{}<|/call|><|end|>",
        "Done.<|end|>",
        '<|call|>add_note{"text":"milk"}<|/call|><|end|>',
        "Done.<|end|>",
    ]


def test_what_does_not_fit_the_limits_is_left_out_and_counted(template, task, task_of, tmp_path, caplog):
    long = task_of(2, Step("add_note", {"text": "milk " * 60}))
    path = tmp_path / "rows.parquet"
    assert write_demonstrations([task, long], template, LIMITS, path) == 1
    assert pq.read_table(path)["task_id"].to_pylist() == ["task-1"]
    assert json.loads((tmp_path / "demonstrations.json").read_text()) == {"completed": 1, "tokens": 1}
    assert "1 of 2 demonstrations are left out (tokens 1)" in caplog.text
    with pytest.raises(ValueError, match="none of 1 demonstrations can be used"):
        write_demonstrations([long], template, LIMITS, tmp_path / "none.parquet")
    assert not (tmp_path / "none.parquet").exists()


async def test_a_demonstration_whose_session_is_lost_runs_once_more(template, task, monkeypatch):
    lost, execute = [], Session.execute

    async def fail_once(self, call):
        if not lost:
            lost.append(self.id)
            raise RuntimeError("lost")
        return await execute(self, call)

    monkeypatch.setattr(Session, "execute", fail_once)
    assert (await demonstrate(task, template, LIMITS)).stop == StopReason.COMPLETED
    monkeypatch.setattr(Session, "execute", lambda self, call: 1 / 0)
    assert (await demonstrate(task, template, LIMITS)).stop == StopReason.CRASHED


async def test_what_the_format_reads_otherwise_is_no_demonstration(template, task, monkeypatch):
    deaf = replace(template.format, parse=lambda text: Reply(text))
    monkeypatch.setattr(template, "format", deaf)
    episode = await demonstrate(task, template, LIMITS)
    assert episode.stop == StopReason.CRASHED and "format 'tiny' reads" in episode.error


def test_every_demonstration_is_used_as_often_as_there_are_epochs():
    assert SFTConfig(epochs=3, batch=32).steps(512) == 48
    assert SFTConfig(epochs=1, batch=4).steps(5) == 2  # the last update is filled up
    assert SFTConfig(epochs=1, batch=32).steps(1) == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epochs": 0}, "sft.epochs is 0; it must be a whole number of at least 1"),
        ({"learning_rate": 0.0}, "sft.learning_rate is 0.0; it must be above 0 and at most 1"),
        ({"warmup": 1.0}, "sft.warmup is 1.0; it is a share"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        SFTConfig(**changes)

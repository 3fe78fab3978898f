"""Messages to tokens through a tokenizer's own chat template, a piece at a time.

Training must never tokenise again what the model wrote, so only what the environment adds is rendered: the new messages
follow a placeholder reply, and what the template writes after the placeholder is their text, from the end of the
assistant's turn to the opening of the next one. That this text does not depend on what stands before it, that its
tokens are the same wherever it is joined on, and that the template writes calls as the format reads them, is checked
once, when the template is built.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from proverl.agent.chat import Message, Reply, Tokenizer
from proverl.agent.formats import ToolFormat, render_tools
from proverl.core import Call, MalformedCall, Tool

_PLACEHOLDER = "Placeholder-Reply"
_USER: Message = {"role": "user", "content": "Hi"}
_REPLY: Message = {"role": "assistant", "content": _PLACEHOLDER}
_TOOL = Tool("look_up_weather", "Look up.", {"type": "object", "properties": {"city": {"type": "string"}}}, {})
_CALLS = [Call(_TOOL.name, {"city": "Rome"}), Call(_TOOL.name, {"city": 'é "<b>" \\n'})]


def _written(messages: Sequence[Message]) -> str:
    """Messages as a key, in the order of their fields, which a template may show."""
    return json.dumps([dict(item) for item in messages])


def _tool_message(n: int) -> Message:
    return {"role": "tool", "tool_call_id": f"call_{n}", "name": _TOOL.name, "content": f'{{"n":{n}}}'}


def _tool_call(n: int, call: Call | MalformedCall) -> dict[str, Any]:
    if isinstance(call, MalformedCall):
        raise ValueError(f"a demonstration holds a call that cannot be read: {call.reason}")
    return {"id": f"call_{n}", "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


@dataclass(frozen=True, slots=True, eq=False)
class _Offered:
    """Tools as a key: the same ones, not equal ones, since telling that takes longer than rendering them.

    A cache that holds the key holds the tools too, so their identity is nobody else's meanwhile.
    """

    tools: Sequence[Tool]

    def __hash__(self) -> int:
        return id(self.tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Offered) and self.tools is other.tools


_SAMPLES: list[list[Message]] = [[_USER], [_tool_message(0)], [_tool_message(0), _tool_message(1)]]


class ChatTemplate:
    """A tokenizer and a tool format, checked to fit together; build it once and share it among chats.

    Raises ValueError, with the reason, when the tokenizer's chat template cannot be used a piece at a time.
    """

    def __init__(self, tokenizer: Tokenizer, tool_format: ToolFormat) -> None:
        self.tokenizer = tokenizer
        self.format = tool_format
        # the rollouts of one task share their prompt, their users' turns and many results
        self._cached_prompt = lru_cache(maxsize=256)(self._prompt)
        self._cached_following = lru_cache(maxsize=1024)(self._following)
        self._check()
        self.end_of_turn = self.following([_USER])[0]
        opening = self._tail([_USER, _REPLY, _USER])
        self._opens_thinking = opening.rfind("<think>") > opening.rfind("</think>")
        # a reply may also end with the tokenizer's end of text, which most templates do not write between turns
        self.stop_ids = frozenset({self.end_of_turn, tokenizer.eos_token_id or self.end_of_turn})

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Ids of a conversation's opening: the tools, the messages, and the start of the first reply."""
        return list(self._cached_prompt(_written(messages), _Offered(tools)))

    def following(self, messages: Sequence[Message], last: int | None = None) -> list[int]:
        """Ids of what comes after a reply: the end of its turn, the new messages, and the start of the next reply.

        `last` is the last token of the reply; when it is the end of the turn already, that one is not repeated.
        """
        ids = self._cached_following(_written(messages))
        return list(ids[1:] if ids[0] == last else ids)

    def written(self, reply: Reply) -> list[int]:
        """Ids of a reply as the template writes it, to the token that ends it: what a demonstration teaches.

        Raises ValueError when the template does not write it behind the opening of a reply that `prompt` ends with.
        """
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.calls:
            message["tool_calls"] = [_tool_call(number, call) for number, call in enumerate(reply.calls)]
        opening, whole = self._render([_USER]), self._render([_USER, message], opening=False)
        end = self._render([_USER, _REPLY], opening=False).rpartition(_PLACEHOLDER)[2]
        if not (whole.startswith(opening) and whole.endswith(end)):
            raise ValueError(f"the chat template opens or ends this reply in another way than a sampled one: {whole!r}")
        return [*self._encode(whole[len(opening) : len(whole) - len(end)]), self.end_of_turn]

    def text(self, ids: Sequence[int]) -> str:
        """The text of a sampled reply, without the token that ended it; thinking that the template opened is marked."""
        kept = list(ids)
        while kept and kept[-1] in self.stop_ids:
            kept.pop()
        return "<think>" * self._opens_thinking + self.tokenizer.decode(kept, skip_special_tokens=False)

    def _prompt(self, messages: str, offered: "_Offered") -> list[int]:
        return self._encode(self._render(json.loads(messages), render_tools(offered.tools)))

    def _following(self, messages: str) -> list[int]:
        # the first one: the messages may hold these very words
        return self._encode(self._render([_USER, _REPLY, *json.loads(messages)]).partition(_PLACEHOLDER)[2])

    def _render(self, messages: Sequence[Message], tools: Sequence[dict] = (), opening: bool = True) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=list(tools) or None,
                tokenize=False,
                add_generation_prompt=opening,
                **self.format.options,
            )
        )

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))

    def _tail(self, messages: Sequence[Message], tools: Sequence[dict] = ()) -> str:
        """What the template writes after the (last) placeholder reply."""
        return self._render(messages, tools).rpartition(_PLACEHOLDER)[2]

    def _check(self) -> None:
        """Refuse a template whose pieces do not add up to the whole."""
        tools = render_tools([_TOOL])
        system: Message = {"role": "system", "content": "Be brief."}
        try:
            opening = self._render([system, _USER], tools, opening=False)
            if _TOOL.name not in opening:
                raise ValueError("it does not show the tools")
            self._check_calls([system, _USER], tools)
            for sample in _SAMPLES:
                self._check_sample(sample, [system, _USER, _REPLY, _tool_message(2), _REPLY], tools, opening)
        except Exception as error:  # a template raises whatever its author chose
            name = getattr(self.tokenizer, "name_or_path", "") or type(self.tokenizer).__name__
            raise ValueError(
                f"the chat template of {name} cannot be used with format {self.format.name!r}: {error}"
            ) from error

    def _check_calls(self, history: list[Message], tools: Sequence[dict]) -> None:
        asked = [_tool_call(number, call) for number, call in enumerate(_CALLS)]
        before = self._render(history, tools, opening=False)
        whole = self._render(
            [*history, {"role": "assistant", "content": "", "tool_calls": asked}], tools, opening=False
        )
        if self.format.parse(whole.removeprefix(before)).calls != tuple(_CALLS):
            raise ValueError(f"it writes calls in another way than this format reads them: {whole[len(before) :]!r}")

    def _check_sample(self, sample: list[Message], history: list[Message], tools: Sequence[dict], opening: str) -> None:
        tail = self._tail([_USER, _REPLY, *sample])
        whole = self._render([*history, *sample], tools)
        if whole.count(_PLACEHOLDER) != 2:
            raise ValueError("it does not write replies as they are")
        if not tail or self._tail([*history, *sample], tools) != tail:
            raise ValueError("what it writes for new messages depends on the messages before them")
        ids, first, joined = self._encode(tail), self._encode(opening), self._encode(whole)
        if joined[: len(first)] != first:
            raise ValueError("the first prompt is not a token prefix of the conversation")
        for reply in ("Yes", "42", '{"a":1}', "no. ", "\n"):
            if self._encode(reply + tail) != self._encode(reply) + ids:
                raise ValueError("its end of turn merges with the text before it into other tokens")

"""The policy that makes the expected calls of every turn."""

from collections.abc import Sequence
from dataclasses import dataclass

from proverl.agent import Limits, Message, Reply, ScriptedChat
from proverl.core import Task
from proverl.evals.bfcl.entries import Entry, entries, expected_call

_RESULTS = "[{'role': 'tool'"  # with prompting the results of calls come as the user's words


@dataclass(frozen=True)
class Oracle:
    """Knows the entry by the task's id; writes calls as text when `prompting`."""

    prompting: bool = False

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> "OracleChat":
        """Open a chat that makes the calls."""
        return OracleChat(entries()[task.id], self.prompting)


class OracleChat(ScriptedChat):
    """All calls of a turn in one message, then a closing word."""

    def __init__(self, entry: Entry, prompting: bool) -> None:
        super().__init__()
        self._entry, self._prompting = entry, prompting
        self._turn = -1

    def observe(self, messages: Sequence[Message]) -> None:
        """Count the user's turns; a new one puts its calls on the list."""
        super().observe(messages)
        said = [message["content"] for message in messages if message["role"] == "user"]
        turns = sum(not text.startswith(_RESULTS) for text in said)
        if turns:
            self._turn += turns
            self._replies = [self._calls(self._entry.expected[self._turn])]

    def _calls(self, texts: list[str]) -> Reply:
        calls = tuple(expected_call(self._entry, text) for text in texts)
        if not (self._prompting and calls):
            return Reply("", calls)
        written = (f"{call.name}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())})" for call in calls)
        return Reply(f"[{', '.join(written)}]")

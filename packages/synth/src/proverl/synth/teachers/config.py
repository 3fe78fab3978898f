"""Settings of the `teacher` group: the script, or a model behind an OpenAI-compatible endpoint."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_OWN = frozenset({"model", "messages", "tools", "seed", "temperature", "top_p", "max_completion_tokens", "max_tokens"})
_LEAST = {
    "temperature": 0, "top_p": 0, "reply_tokens": 1, "concurrency": 1, "retries": 0,
    "dollars_per_million_prompt": 0, "dollars_per_million_completion": 0,
}  # fmt: skip


@dataclass(frozen=True)
class TeacherConfig:
    """Who writes queries and demonstrations (paper, Synthesis 6: gemma-4-31B-it, in an ablation Qwen3-32B).

    `name` is recorded in every row; with `scripted` nothing else counts. `options` go into the body of every request
    as they are (`top_k`, `chat_template_kwargs`). `concurrency` bounds the requests of one process. The endpoint's key
    is no setting: it is read from OPENAI_API_KEY. Raises ValueError that names the key, its value, and what is right.
    """

    name: str = "scripted"
    model: str = ""  # as the endpoint lists it
    base_url: str = ""
    temperature: float = 1.0
    top_p: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)
    reply_tokens: int = 2048
    concurrency: int = 32
    retries: int = 5  # of one request, with a growing wait
    seconds: float = 300.0  # for one answer
    dollars_per_million_prompt: float = 0.0
    dollars_per_million_completion: float = 0.0

    @property
    def scripted(self) -> bool:
        """Whether no model is asked."""
        return self.name == "scripted"

    def __post_init__(self) -> None:
        for key, least in _LEAST.items():
            if getattr(self, key) < least:
                raise ValueError(f"teacher.{key} is {getattr(self, key)}; it is at least {least}")
        if self.seconds <= 0 or not 0 < self.top_p <= 1:
            key = "seconds" if self.seconds <= 0 else "top_p"
            told = "it is more than 0" + (" and at most 1" if key == "top_p" else "")
            raise ValueError(f"teacher.{key} is {getattr(self, key)}; {told}")
        if taken := sorted(_OWN & self.options.keys()):
            raise ValueError(f"teacher.options has {taken[0]!r}, which is set by itself; leave it out of the options")
        self._check_endpoint()

    def _check_endpoint(self) -> None:
        if not self.name:
            raise ValueError("teacher.name is empty; every row records it: scripted, or a name of your own")
        if self.scripted and self.model:
            raise ValueError(f"teacher.model is {self.model!r}, but teacher.name is scripted; give it another name")
        if not self.scripted and not self.model:
            raise ValueError("teacher.model is empty; name it as the endpoint lists it, e.g. google/gemma-4-31B-it")
        if not self.scripted and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(
                f"teacher.base_url is {self.base_url!r}; write http://HOST:PORT/v1, or set OPENAI_BASE_URL"
            )

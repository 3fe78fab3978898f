"""Settings of the `synth` group."""

from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from proverl.envs import Session
from proverl.synth.teachers.voices import VOICES

_SHARES = ("irrelevant", "turn_decay", "indirect", "recovery")
PERSONAS = tuple(VOICES)
_BOUNDS = {
    "train_tasks": (1, 10_000_000), "heldout_tasks": (1, 10_000_000), "tasks_per_world": (1, 10_000),
    "max_tools": (0, 10_000), "max_characters": (0, 10**9), "when2call": (0, 10_000_000),
    "xlam_irrelevance": (0, 10_000_000),
}  # fmt: skip
_LONGEST = 100  # of a chain, a conversation, a list of distractors


@dataclass(frozen=True)
class SynthConfig:
    """How many tasks of which kind, from which servers, in which shape (paper, Synthesis).

    `tasks_per_world` is how many tasks a start state gives; training and held-out tasks never share a world or chain.
    `information` are the shares of queries that are complete, lack one required parameter, or are minimal; `indirect`
    is how often values are said by relation to others ("half of that amount", "tomorrow"); `recovery` the share of
    conversations with a call that the state refuses. `max_tools` bounds the tools offered (0: all tools of the task's
    server); `max_characters` bounds the text of the oracle's episode (0: no bound), so that every kept row fits a small
    model's window. `when2call` and `xlam_irrelevance` are how many of the abstention tasks come from there, at most
    (in a smaller set than they are meant for, fewer in proportion); `own_tasks` is a JSONL file of further ones.
    `holdout_servers` are servers that only held-out tasks are made from, and all of them.
    """

    servers: tuple[str, ...] = ("banking", "calendar", "filesystem")
    train_tasks: int = 512
    heldout_tasks: int = 128
    tasks_per_world: int = 4
    clarification: float = 0.11  # 1,500 of 13,517
    abstention: float = 0.083  # 1,122 of 13,517
    distractors: float = 0.4
    distractor_tools: tuple[int, int] = (3, 8)
    strip_enums: float = 0.3
    irrelevant: float = 0.0
    chain_length: tuple[int, int] = (2, 5)
    user_turns: tuple[int, int] = (2, 3)
    turn_decay: float = 0.5
    information: tuple[float, float, float] = (1.0, 0.0, 0.0)
    indirect: float = 0.0
    recovery: float = 0.0
    personas: tuple[str, ...] = ("plain", "polite", "brisk", "chatty")
    max_tools: int = 10
    max_characters: int = 1_400
    jaccard: float = 0.7
    when2call: int = 0
    xlam_irrelevance: int = 0
    own_tasks: str = ""
    holdout_servers: tuple[str, ...] = ()

    def of(self, split: str) -> "SynthConfig":
        """The settings of one split: with `holdout_servers`, those are the held-out tasks' servers and no others'."""
        if not self.holdout_servers:
            return self
        heldout = split == "heldout"
        servers = tuple(name for name in self.servers if (name in self.holdout_servers) == heldout)
        return replace(self, servers=servers, holdout_servers=())

    def __post_init__(self) -> None:
        for name in ("clarification", "abstention", "distractors", "strip_enums", "jaccard", *_SHARES):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"synth.{name} is {value}; it is a share between 0 and 1")
        for name in ("distractor_tools", "chain_length", "user_turns"):
            low, high = getattr(self, name)
            if not 1 <= low <= high <= _LONGEST:
                told = f"give [least, most] with 1 <= least <= most <= {_LONGEST}"
                raise ValueError(f"synth.{name} is [{low}, {high}]; {told}")
        if self.clarification + self.abstention > 1:
            raise ValueError("synth.clarification and synth.abstention are shares of all tasks; together at most 1")
        if (
            len(self.information) != 3
            or not all(map(isfinite, self.information))
            or abs(sum(self.information) - 1) > 1e-6
            or min(self.information) < 0
        ):
            told = "give the shares of complete, missing and minimal queries, e.g. [0.6, 0.2, 0.2]"
            raise ValueError(f"synth.information is {list(self.information)}; {told}")
        if not self.personas or (unknown := set(self.personas) - set(PERSONAS)):
            raise ValueError(f"synth.personas has {sorted(unknown) if self.personas else 'none'}; there are {PERSONAS}")
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"synth.{name} is {getattr(self, name)}; it is at least {least} and at most {most:,}")
        if self.own_tasks and not Path(self.own_tasks).is_file():
            raise ValueError(f"synth.own_tasks is {self.own_tasks!r}; there is no such file")
        if unknown := set(self.holdout_servers) - set(self.servers):
            raise ValueError(f"synth.holdout_servers has {min(unknown)}, which synth.servers has not")
        if self.holdout_servers and set(self.holdout_servers) == set(self.servers):
            raise ValueError("synth.holdout_servers has all of synth.servers; leave some to train on")
        if not self.servers:
            raise ValueError("synth.servers is empty; name at least one server, e.g. [banking]")
        try:
            Session(self.servers, seed=0).close()  # each can be loaded, and no two offer tools of one name
        except ValueError as error:
            raise ValueError(f"synth.servers is {list(self.servers)}: {error}") from None

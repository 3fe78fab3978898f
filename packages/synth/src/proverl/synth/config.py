"""Settings of the `synth` group."""

from dataclasses import dataclass

from proverl.envs import Session


@dataclass(frozen=True)
class SynthConfig:
    """How many tasks of which kind, from which servers, in which shape (paper, Synthesis).

    `worlds` is the number of start states per split; training and held-out tasks never share a world or a chain.
    `max_tools` bounds the tools offered (0: all tools of the task's server); `max_characters` bounds the text of the
    oracle's episode (0: no bound), so that every kept row fits a small model's window.
    """

    servers: tuple[str, ...] = ("banking", "calendar", "filesystem")
    train_tasks: int = 512
    heldout_tasks: int = 128
    worlds: int = 64
    clarification: float = 0.11  # 1,500 of 13,517
    abstention: float = 0.083  # 1,122 of 13,517
    distractors: float = 0.4
    distractor_tools: tuple[int, int] = (3, 8)
    strip_enums: float = 0.3
    chain_length: tuple[int, int] = (2, 5)
    user_turns: tuple[int, int] = (2, 3)
    max_tools: int = 10
    max_characters: int = 1_400
    jaccard: float = 0.7

    def __post_init__(self) -> None:
        for name in ("clarification", "abstention", "distractors", "strip_enums", "jaccard"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"synth.{name} is {value}; it is a share between 0 and 1")
        for name in ("distractor_tools", "chain_length", "user_turns"):
            low, high = getattr(self, name)
            if not 1 <= low <= high:
                raise ValueError(f"synth.{name} is [{low}, {high}]; give [least, most] with 1 <= least <= most")
        if self.clarification + self.abstention > 1:
            raise ValueError("synth.clarification and synth.abstention are shares of all tasks; together at most 1")
        if not self.servers:
            raise ValueError("synth.servers is empty; name at least one server, e.g. [banking]")
        Session(self.servers, seed=0).close()  # each can be loaded, and no two offer tools of one name

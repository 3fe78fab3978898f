"""Why a row is dropped; the dataset's card counts them."""

from enum import StrEnum


class Reason(StrEnum):
    """Everything that drops a row."""

    STUCK = "the walk found no chain"
    WRONG_SPLIT = "the chain belongs to the other split"
    UNSAYABLE = "a value has no words, or no brief phrase leaves it out"
    TEACHER = "the teacher gave no usable reply"
    ERRORS = "more than 30% of the calls were refused"
    UNTRACED = "an argument value has no source"
    NEEDLESS = "a writing call does not show in the final state"
    LIMITS = "the oracle's episode does not fit the limits"
    REPLAY = "the replay differs"
    TOO_LONG = "the oracle's episode is over max_characters"
    OVERLAP = "a turn repeats a benchmark's"
    SIMILAR = "the calls are too similar to a kept row's"


class Unproven(ValueError):
    """A row that is dropped, for a reason and with what was seen."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason

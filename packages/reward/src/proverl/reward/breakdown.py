"""What a score consists of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One episode's reward and its parts.

    The parts are unweighted; `total` is their weighted sum, or 1 or 0 on a task that expects no call (`abstention`),
    where every part is 0. `budget` is B, the number of calls that cost nothing. `matched` holds, for every
    ground-truth step, the position of the call that stands for it, or None.
    """

    validity: float = 0.0
    coverage: float = 0.0
    efficiency: float = 0.0
    name: float = 0.0
    arg: float = 0.0
    total: float = 0.0
    n_calls: int = 0
    budget: int = 0
    matched: tuple[int | None, ...] = ()
    abstention: bool = False

    def as_dict(self) -> dict[str, float]:
        """Return the same keys for every task, all floats, ready to be averaged and logged."""
        return {
            "validity": self.validity,
            "coverage": self.coverage,
            "efficiency": self.efficiency,
            "name": self.name,
            "arg": self.arg,
            "total": self.total,
            "calls": float(self.n_calls),
            "budget": float(self.budget),
            "matched": float(sum(position is not None for position in self.matched)),
            "abstention": float(self.abstention),
        }

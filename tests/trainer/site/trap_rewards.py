"""Rewards that are well on the small episodes they are tried on, and do harm on live ones."""

import threading

from proverl.reward import Breakdown

go_on = threading.Event()


class Trap:
    def __init__(self, harm: str) -> None:
        self.harm = harm

    def score(self, calls, ground_truth, tools, *, replied):
        if not any(record.call.name == "list_notes" for record in calls):
            return Breakdown()
        if self.harm == "raise":
            raise RuntimeError("no such call")
        if self.harm == "exit":
            raise SystemExit(3)
        if self.harm == "wait":
            return Breakdown(total=float(go_on.wait(60)))
        if self.harm == "change":
            ground_truth.steps[0].arguments["changed"] = True
            tools[0].parameters.clear()
            calls.clear()
        return Breakdown(total=float("nan") if self.harm == "nan" else 1.0)

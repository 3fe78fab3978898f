"""A benchmark that does one thing wrong; which, its setting `fault` says."""

import math
import os
import subprocess
import time
from dataclasses import dataclass

from proverl.agent import ScriptedPolicy
from proverl.evals import Benchmark, Item, Score

ANSWERS = {"set": {1, 2}, "nan answer": math.nan, "half a character": "\ud800"}
FIGURES = {
    "nan": {"right": math.nan},
    "text": {"right": "yes"},
    "no headline": {"other": 1.0},
}
ITEMS = {"none": [], "twice": [Item("a"), Item("b"), Item("a")], "no kind": [Item("a", {"kind": "x"}), Item("b")]}


@dataclass(frozen=True, kw_only=True)
class Faulty(Benchmark):
    fault: str = ""
    name = "faulty"
    headline = "right"
    version = "1"

    @property
    def macro(self):
        return ("kind",) if self.fault == "no kind" else ()

    def needs(self):
        return []

    def items(self):
        return ITEMS.get(self.fault, [Item(name) for name in "abcd"])

    async def attempt(self, item, policy, seed, isolated):
        return ANSWERS.get(self.fault, item.id)

    def score(self, item, answer):
        if self.fault == "none":
            return None
        if self.fault == "program":  # that says that the answer is wrong
            return Score({"right": float(subprocess.run(["false"]).returncode == 0)})
        if self.fault == "forgotten fork":
            if os.fork() == 0:
                return Score({"right": 0.0})
            time.sleep(0.1)
        if self.fault == "print":
            print('{"value": {"figures": {"right": 0.0}, "detail": ""}}', flush=True)
        if self.fault == "one answer" and answer == "a":
            os._exit(1)
        if self.fault == "own figures":
            return Score({"right": 1.0, f"of_{item.id}": 2.0} if answer else {"right": 0.0})
        return Score(FIGURES.get(self.fault, {"right": 1.0}))

    def silence(self, item):
        return ""

    def oracle(self):
        return ScriptedPolicy()

"""What policies that miss the point earn: the table in docs/reward.md.

    uv run python -m benchmarks.degenerate_policies --tasks 128

Every policy does the same held-out tasks on live sessions. Ends with an error when one beats the oracle on any task.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from proverl.agent import Limits, OraclePolicy, Policy, Reply, ScriptedChat
from proverl.core import Call, Json, MalformedCall, Task, Tool
from proverl.evals import Record, attempted, evaluate, heldout
from proverl.reward import RewardConfig
from proverl.synth import SynthConfig, synthesize

LIMITS = Limits(user_turns=100, assistant_turns=100, calls=200)
PARTS = ("validity", "coverage", "efficiency", "name", "arg")

Turns = list[list[Call]]  # the calls of each user turn
Script = Callable[[Task, Turns], Sequence[Sequence[Call | MalformedCall]]]


@dataclass(frozen=True)
class Variation:
    """A policy that makes, in each user turn, the calls that `script` makes of the oracle's, one call a message."""

    script: Script
    oracle: dict[str, Turns]  # by task id
    says: str = "Done."

    def chat(self, task: Task, limits: Limits, seed: int = 0) -> ScriptedChat:
        """Open a chat that follows the script."""
        replies: list[Reply] = []
        for calls in self.script(task, self.oracle[task.id]):
            replies += [Reply("", (call,)) for call in calls]
            replies.append(Reply(self.says))
        return ScriptedChat(replies)


def nothing(task: Task, turns: Turns) -> Turns:
    """No call at all."""
    return [[] for _ in turns]


def one_safe_call(task: Task, turns: Turns) -> Turns:
    """One read-only call that cannot fail, then talk."""
    return [safe_calls(task)[:1], *([] for _ in turns[1:])]


def chatty(task: Task, turns: Turns) -> Turns:
    """Everything expected, and five safe calls before it in every turn."""
    safe = safe_calls(task)
    return [[safe[index % len(safe)] for index in range(5) if safe] + calls for calls in turns]


def repeats(task: Task, turns: Turns) -> Turns:
    """Every expected call three times."""
    return [[call for call in calls for _ in range(3)] for calls in turns]


def first_call_forever(task: Task, turns: Turns) -> Turns:
    """The first expected call, ten times a turn."""
    first = next((call for calls in turns for call in calls), None)
    return [[first] * 10 if first else [] for _ in turns]


def wrong_values(task: Task, turns: Turns) -> Turns:
    """The expected calls with every value wrong, of the right type."""
    return [
        [Call(call.name, {key: wrong(value) for key, value in call.arguments.items()}) for call in calls]
        for calls in turns
    ]


def names_only(task: Task, turns: Turns) -> Turns:
    """The expected names without arguments."""
    return [[Call(call.name, {}) for call in calls] for calls in turns]


def backwards(task: Task, turns: Turns) -> Turns:
    """All expected calls in the last turn, last one first."""
    return [*([] for _ in turns[1:]), [call for calls in reversed(turns) for call in reversed(calls)]]


def all_at_once(task: Task, turns: Turns) -> Turns:
    """All expected calls in the first turn, before the user has said what they need."""
    return [[call for calls in turns for call in calls], *([] for _ in turns[1:])]


def last_call_missing(task: Task, turns: Turns) -> Turns:
    """All expected calls but the last one."""
    kept = [list(calls) for calls in turns]
    next((calls for calls in reversed(kept) if calls), [Call("", {})]).pop()
    return kept


def broken_syntax(task: Task, turns: Turns) -> list[list[MalformedCall]]:
    """The expected calls, but none can be parsed."""
    return [[MalformedCall(call.name, "no JSON") for call in calls] for calls in turns]


def every_tool(task: Task, turns: Turns) -> Turns:
    """Every offered tool once, with empty arguments."""
    return [[Call(tool.name, {}) for tool in task.tools], *([] for _ in turns[1:])]


SCRIPTS: dict[str, tuple[Script, str]] = {
    "silent: no call, no text": (nothing, ""),
    "talks, never calls": (nothing, "I can't do that."),
    "one safe call": (one_safe_call, "Done."),
    "every tool once, no arguments": (every_tool, "Done."),
    "right names, no arguments": (names_only, "Done."),
    "right calls, broken syntax": (broken_syntax, "Done."),
    "right names, wrong values": (wrong_values, "Done."),
    "first right call, ten times a turn": (first_call_forever, "Done."),
    "all right, in the first turn": (all_at_once, "Done."),
    "all right, backwards": (backwards, "Done."),
    "all right but the last call": (last_call_missing, "Done."),
    "all right, each three times": (repeats, "Done."),
    "all right, five more calls a turn": (chatty, "Done."),
}


def safe_calls(task: Task) -> list[Call]:
    """Calls of offered read-only tools that need no argument; if there is none, of those that take a number or text."""
    readers = sorted((tool for tool in task.tools if tool.read_only), key=lambda tool: len(tool.required))
    fewest = len(readers[0].required) if readers else 0
    return [Call(tool.name, filled(tool)) for tool in readers if len(tool.required) == fewest]


def filled(tool: Tool) -> dict[str, Json]:
    """Made-up values for the required parameters."""
    kinds = {name: tool.parameters["properties"][name].get("type", "string") for name in tool.required}
    made_up: dict[str, Json] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return {name: made_up.get(kind, "x") for name, kind in kinds.items()}


def wrong(value: Json) -> Json:
    """Return another value of the same JSON type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [wrong(item) for item in value] or ["nothing"]
    if isinstance(value, dict):
        return {key: wrong(item) for key, item in value.items()}
    return f"not {value}"


def oracle_turns(record: Record) -> Turns:
    """Return the oracle's calls by user turn, with the values that it found."""
    done = attempted(record)
    turns: Turns = [[] for _ in done.task.turns]
    for made in done.episode.calls:
        if isinstance(made.call, Call):
            turns[made.turn].append(Call(made.call.name, made.call.arguments))
    return turns


def run(policy: Policy, tasks: Sequence[Task]) -> list[Record]:
    """Evaluate one policy."""
    with tempfile.TemporaryDirectory() as folder:
        return evaluate(heldout(tasks, LIMITS, RewardConfig()), policy, Path(folder)).records


def row(name: str, records: Sequence[Record]) -> str:
    """One line of the table: means over tasks that expect calls, then reward of the others, then success of all."""
    acting = [record.figures for record in records if "validity" in record.figures]
    waiting = [record.figures["total"] for record in records if "validity" not in record.figures]
    means = [fmean(figures[part] for figures in acting) for part in ("total", *PARTS, "calls")]
    means += [fmean(waiting), fmean(record.figures["success"] for record in records)]
    return f"| {name} | " + " | ".join(f"{mean + 0.0:.2f}" for mean in means) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tasks = synthesize(SynthConfig(), options.seed, "heldout", options.tasks, Limits())
    best = run(OraclePolicy(parallel=False), tasks)
    turns = {record.item: oracle_turns(record) for record in best}
    print(
        "| policy | reward | validity | coverage | efficiency | name | arg | calls | reward, none expected | success |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, (script, says) in SCRIPTS.items():
        found = run(Variation(script, turns, says), tasks)
        print(row(name, found), flush=True)
        for one, other in zip(found, best, strict=True):
            if one.figures["total"] > other.figures["total"] + 1e-9:
                sys.exit(f"{name!r} earns {one.figures['total']} on {one.item}, the oracle {other.figures['total']}")
    print(row("**oracle**", best))


if __name__ == "__main__":
    main()

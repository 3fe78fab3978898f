"""The alarms of a training stage: which are on after each step, what is said of them, and where."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proverl.trainer.alarms import BY_NAME, raised

_LOG = logging.getLogger(__name__)

Row = dict[str, Any]


def with_alarms(rows: Mapping[int, Row], steps: Sequence[int]) -> list[Row]:
    """The rows of these steps, each with `alarm/NAME`: 1 where the alarm is on after it, else 0.

    `rows` holds all steps so far; those without metrics of GRPO have no alarms and get no such names.
    """
    return [rows[step] | _on(rows, step) for step in steps]


def summary(rows: Mapping[int, Row]) -> list[dict[str, Any]]:
    """Every alarm that was on after some step: first and last such step, its last figure, and the sentence."""
    found: dict[str, dict[str, Any]] = {}
    for step in sorted(rows):
        for name, figure in raised(_history(rows, step)).items():
            first = found.get(name, {"first_step": step})["first_step"]
            sentence = BY_NAME[name].sentence(figure)
            found[name] = {"name": name, "first_step": first, "last_step": step, "figure": figure, "says": sentence}
    return list(found.values())


class Teller:
    """Says each alarm once, on the screen and in the job's log, when it is first on."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._told: set[str] = set()

    def tell(self, rows: Mapping[int, Row]) -> None:
        """Look at all steps so far."""
        for alarm in summary(rows):
            if alarm["name"] not in self._told:
                self._told.add(alarm["name"])
                text = told(alarm)
                self._say(text)
                _LOG.warning(text)


def told(alarm: Mapping[str, Any]) -> str:
    """The line about one alarm of `summary`."""
    first, last = alarm["first_step"], alarm["last_step"]
    when = f"step {first}" if first == last else f"steps {first} to {last}"
    return f"Alarm {alarm['name']}, {when}: {alarm['says']}"


def _history(rows: Mapping[int, Row], step: int) -> list[Row]:
    return [rows[number] for number in sorted(rows) if number <= step]


def _on(rows: Mapping[int, Row], step: int) -> Row:
    on = raised(_history(rows, step))
    watched = [name for name, alarm in BY_NAME.items() if all(metric in rows[step] for metric in alarm.metrics)]
    return {f"alarm/{name}": float(name in on) for name in watched}

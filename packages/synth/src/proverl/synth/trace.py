"""From a demonstration to the ground truth: which calls count, and where every argument value comes from.

A value is said in a user turn, returned by an earlier call (then the ground truth refers to that result), the reference
date or derived from one of these by a named operation. What has no source is no training data (paper, Synthesis 5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from proverl.core import Edge, GroundTruth, Json, Step, Tool, follow, reference
from proverl.synth.chains.chain import Argument, Derived
from proverl.synth.chains.spoken import OPERATIONS, contains, derive, is_said, relative_moments, shift
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.scene import Attempt
from proverl.synth.schema import plain

Source = dict[str, Json]
Hints = Mapping[str, Argument]  # what a teacher knows about the arguments of a call


@dataclass
class Trace:
    """The ground truth in the making: steps, and for each the source of every argument value by its dotted path."""

    texts: Sequence[str]
    today: date
    steps: list[Step] = field(default_factory=list)
    sources: list[dict[str, Source]] = field(default_factory=list)

    def add(self, attempt: Attempt, tool: Tool, hints: Hints) -> None:
        """Add a successful call. Raises Unproven when one of its values has no source."""
        expected: dict[str, Json] = {}
        found: dict[str, Source] = {}
        for name, value in attempt.call.arguments.items():
            schema = plain(tool.parameters["properties"].get(name, {}))
            try:
                expected[name] = self._expected(name, value, attempt.turn, hints.get(name), found)
            except Unproven:
                if name in tool.required or value != schema.get("default"):
                    raise
                # a default said by nobody: the call means the same without it
        self.steps.append(Step(attempt.call.name, expected, attempt.turn, attempt.result.content))
        self.sources.append(found)

    def ground_truth(self, state_edges: set[tuple[int, int]]) -> GroundTruth:
        """Steps with value edges from where values come from, and these state edges."""
        value = {
            (step, index)
            for index, sources in enumerate(self.sources)
            for source in sources.values()
            for step in results(source)
        }
        edges = [Edge(*pair, "value") for pair in sorted(value)]
        edges += [Edge(*pair, "state") for pair in sorted(state_edges - value)]
        return GroundTruth(tuple(self.steps), tuple(edges))

    def _expected(self, path: str, value: Json, turn: int, hint: Argument | None, found: dict[str, Source]) -> Json:
        """The value as the ground truth holds it; notes the sources of its parts."""
        if isinstance(value, dict):
            return {key: self._expected(f"{path}.{key}", item, turn, None, found) for key, item in value.items()}
        if isinstance(value, list):
            return [self._expected(f"{path}.{place}", item, turn, None, found) for place, item in enumerate(value)]
        if value is None:
            return value
        source = self._hinted(value, turn, hint) or self._searched(value, turn)
        if source is None:
            raise Unproven(Reason.UNTRACED, f"{value!r}, {path} of step {len(self.steps)}")
        found[path] = source
        if source["from"] == "result":
            return reference(source["step"], source["field"])  # type: ignore[arg-type]
        return value

    def _hinted(self, value: Json, turn: int, hint: Argument | None) -> Source | None:
        if hint is None or hint.value != value:
            return None
        if hint.origin is not None:
            step, path = hint.origin
            return {"from": "result", "step": step, "field": path} if self._returned(step, path) == value else None
        if hint.derived is not None:
            return self._derived(value, turn, hint.derived)
        return None

    def _derived(self, value: Json, turn: int, derived: Derived) -> Source | None:
        base: Json
        of: Source
        if derived.base == "date":
            base, of = self.today.isoformat(), {"from": "date"}
        elif derived.base == "result":
            base, of = self._returned(derived.step, derived.path), _result(derived.step, derived.path)
        else:
            base = self.steps[derived.step].arguments.get(derived.path)
            of = self.sources[derived.step].get(derived.path, {})
        if base is None or not of or derive(derived.operation, base) != value:
            return None
        return {"from": "derived", "operation": derived.operation, "of": [of], "base": base}

    def _returned(self, step: int, path: str) -> Json:
        try:
            return follow(self.steps[step].returned, path)
        except (KeyError, IndexError):
            return None

    def _searched(self, value: Json, turn: int) -> Source | None:
        for number in range(turn, -1, -1):  # the latest: a bare number may stand anywhere earlier
            if is_said(value, self.texts[number], self.today):
                return {"from": "turn", "turn": number}
        if isinstance(value, bool):
            return None
        for step, done in enumerate(self.steps):
            for path, told in _leaves(done.returned):
                if type(told) is type(value) and told == value:
                    return _result(step, path)
        return self._related(value, turn)

    def _related(self, value: Json, turn: int) -> Source | None:
        """A day told by its relation to the reference date, or a part of an amount that is known."""
        said = " ".join(self.texts[: turn + 1])
        if isinstance(value, str):
            try:
                words = list(relative_moments(value, self.today))
            except ValueError:
                return None
            if not any(contains(said, text) for text in words):
                return None
            operation = shift(self.today, value)
            return {"from": "derived", "operation": operation, "of": [{"from": "date"}], "base": self.today.isoformat()}
        for operation in (name for name in OPERATIONS if contains(said, name)):
            for base, of in self._numbers():
                if OPERATIONS[operation](base) == value:
                    return {"from": "derived", "operation": operation, "of": [of], "base": base}
        return None

    def _numbers(self) -> Iterator[tuple[float, Source]]:
        for step, sources in zip(self.steps, self.sources, strict=True):
            for path, source in sources.items():
                value = step.arguments.get(path)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    yield value, source
        for index, step in enumerate(self.steps):
            for path, told in _leaves(step.returned):
                if isinstance(told, int | float) and not isinstance(told, bool):
                    yield told, _result(index, path)


def _result(step: int, path: str) -> Source:
    return {"from": "result", "step": step, "field": path}


def results(source: Any) -> Iterator[int]:
    """The steps that a source rests on, at any depth."""
    if source["from"] == "result":
        yield source["step"]
    for part in source.get("of", ()):
        yield from results(part)


def _leaves(content: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(content, dict):
        for key, item in content.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(content, list):
        for place, item in enumerate(content):
            yield from _leaves(item, f"{path}.{place}" if path else str(place))
    elif content is not None:
        yield path, content

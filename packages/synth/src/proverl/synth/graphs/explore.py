"""Finding out by calls which values every parameter of a server takes; names only decide what is tried first.

A parameter takes a value when the server accepts it where it refuses a wrong one of the same form.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any

from proverl.core import Json, Result, Tool, canonical_json
from proverl.synth.chains.values import NoValue, invent
from proverl.synth.graphs.pools import Pool, Ranking, pools_of, subject
from proverl.synth.graphs.probe import Field, OpenSession, Probe, Value, is_refused_name, label, matching, wrong
from proverl.synth.schema import plain

_ROUNDS = 5  # looks around: what needs nothing, what needs something that was found, ...
_GROUPS = 16  # groups of values tried for one parameter
_CONTEXTS = 3  # sets of other arguments in which a parameter is tried
_SAMPLE = 12  # values of a group that are tried where some are taken
_READS = 12  # successful calls of a reading tool per round
_WRITES = 6  # successful calls of a writing tool
_TRIES = 60  # calls of a tool for that
_NEW = 3  # calls of a writing tool whose new values are followed
_FOLLOWED = 6  # parameters that a new value is tried for

Parameter = tuple[str, str]
Answers = dict[
    Value, str
]  # by value the kind of answer: "ok", a later refusal, or "" where a wrong value gets the same


class Explorer:
    """What one world (seed) of a server shows."""

    def __init__(self, tools: Sequence[Tool], open_session: OpenSession, seed: int, now: datetime) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.probe = Probe(tools, open_session, seed)
        self.answers: dict[Parameter, Answers] = {}
        self.pools: list[Pool] = []
        self.alike: list[
            tuple[Field, Field]
        ] = []  # a field with new values, and one whose values are taken where they are
        self._now, self._rng = now, Random(f"infer:{seed}")
        self._free: set[Parameter] = set()  # parameters that take any text
        self._worked: dict[str, dict[str, Json]] = {}  # arguments that a tool has accepted
        self._contexts: dict[Parameter, dict[str, Json]] = {}  # other arguments with which a parameter is looked at

    def explore(self) -> None:
        """Read what can be read, then write what can be written, and look at all results."""
        readers = [tool for tool in self.tools.values() if tool.read_only] or list(self.tools.values())
        for _ in range(_ROUNDS):
            before = sum(map(len, self.probe.values.values()))
            self._look(readers)
            if sum(map(len, self.probe.values.values())) == before:
                break
        for _ in range(2):  # the second time with what writing has shown
            self._look(list(self.tools.values()))
        self._regroup()
        for tool, name in list(self.answers):
            self._measure(self.tools[tool], name, self._worked.get(tool) or self._contexts[tool, name])
        self._regroup()
        self._follow_new()
        self.probe.close()

    def _look(self, tools: Sequence[Tool]) -> None:
        self._regroup()
        for tool in tools:
            self._resolve(tool)
            self._run(tool)

    def _regroup(self) -> None:
        self.pools = pools_of(self.probe.values)
        self._rank = Ranking(self.pools, self.tools)
        self._pool = {(value, one): pool for pool in self.pools for value, ones in pool.values.items() for one in ones}
        self.known = {value: pool for pool in self.pools for value in pool.values}

    def _run(self, tool: Tool) -> None:
        """Call a tool with what its parameters are known to take, to see its results."""
        missing = _READS if tool.read_only else _WRITES
        for attempt in range(_TRIES):
            arguments, before = self._arguments(tool, optional=attempt % 2 == 1), self.probe.calls
            if self.probe.ask(tool.name, arguments).ok:
                self._worked[tool.name] = arguments
                missing -= self.probe.calls - before  # nothing new is seen in an answer that is remembered
            if missing <= 0 or not tool.parameters.get("properties"):
                return

    def _arguments(self, tool: Tool, optional: bool = False) -> dict[str, Json]:
        """Arguments as good as is known."""
        chosen: dict[str, Json] = {}
        for name, schema in tool.parameters.get("properties", {}).items():
            if name in tool.required or optional and self._rng.random() < 0.4:
                chosen[name] = self._value(tool, name, schema, list(chosen.values()))
            elif plain(schema).get("maximum") and plain(schema).get("type") == "integer" and self._rng.random() < 0.7:
                chosen[name] = min(int(plain(schema)["maximum"]), 50)  # how many to list
        return chosen

    def _value(self, tool: Tool, name: str, schema: dict[str, Any], used: list[Json]) -> Json:
        good = self._good((tool.name, name))
        if not good and self._candidate((tool.name, name), schema):
            good = [value for pool in self._rank(tool, name, 1) for value in pool.sample(4) if _fits(schema, value)]
        if good:
            return _wrapped(schema, self._rng.choice([value for value in good if value not in used] or good))
        try:
            return invent(schema, self._now, self._rng)
        except NoValue:
            return matching(_item(schema).get("pattern", "text"), self._rng)

    def _good(self, key: Parameter) -> list[Value]:
        """Values that a parameter takes, or half of the time others that were seen in the same field."""
        best = self._taken(key)
        if best and self._rng.random() < 0.5:
            value = self._rng.choice(best)
            return list(self.probe.values[self._rng.choice(self.known[value].values[value])])
        answers = self.answers.get(key, {})
        alike = self._rng.choice(sorted({answers[value] for value in best})) if best else ""  # perhaps one kind of them
        return [value for value in best if answers[value] == alike]

    def _candidate(self, key: Parameter, schema: dict[str, Any]) -> bool:
        """Whether a parameter may name something at all."""
        schema = _item(schema)
        if key in self._free or {"enum", "const", "format", "maximum", "examples"} & schema.keys():
            return False
        return schema.get("type", "string") in ("string", "integer")

    def _resolve(self, tool: Tool) -> None:
        """Find what the parameters take: one that is accepted may let the server look at the next."""
        schemas = tool.parameters.get("properties", {})
        names = [name for name in schemas if self._candidate((tool.name, name), schemas[name])]
        progress = True
        while progress:
            progress = False
            for name in names:
                answers = self.answers.get((tool.name, name))
                if answers is None and self._find(tool, name):
                    progress = True
                elif answers and "ok" not in answers.values():  # perhaps values of the right kind were not known yet
                    self._measure(tool, name, self._worked.get(tool.name) or self._arguments(tool))

    def _find(self, tool: Tool, name: str) -> bool:
        for _ in range(_CONTEXTS):
            context = self._arguments(tool)
            for pool in self._rank(tool, name, _GROUPS):
                if (tool.name, name) in self._free:
                    return False
                if self._takes(tool, name, pool, context, 2):
                    self._measure(tool, name, context)
                    return True
        return False

    def _measure(self, tool: Tool, name: str, context: dict[str, Json]) -> None:
        """Try more of what a parameter takes, from every group that it may."""
        self._contexts[tool.name, name] = context
        for pool in self._rank(tool, name, _GROUPS):
            if self._takes(tool, name, pool, context, 2):
                self._takes(tool, name, pool, context, _SAMPLE)

    def _takes(self, tool: Tool, name: str, pool: Pool, context: dict[str, Json], number: int) -> bool:
        """Whether the server accepts values of a group where it refuses wrong ones of the same form."""
        values = [value for value in pool.sample(number) if _fits(tool.parameters["properties"][name], value)]
        bad = [wrong(values[0], turn, self.known) for turn in (1, 2) if values]
        results = {value: self._ask(tool, name, value, context) for value in (*bad, *values)}
        if bad and all(results[value].ok for value in bad):
            kinds = {value: "ok" if self._picks(tool, name, value, context) else "" for value in values}
            if not tool.read_only or name in tool.required and not any(kinds.values()):
                self._free.add((tool.name, name))
        else:
            kinds = _kinds(results, bad, context)
        if any(kinds.values()):
            self.answers.setdefault((tool.name, name), {}).update(kinds)
        return any(kinds.values())

    def _ask(self, tool: Tool, name: str, value: Value, context: dict[str, Json]) -> Result:
        return self.probe.ask(tool.name, {**context, name: _wrapped(tool.parameters["properties"][name], value)})

    def _picks(self, tool: Tool, name: str, value: Value, context: dict[str, Json]) -> bool:
        """Whether a filter picks by this very value: part of it finds no more than a wrong one does."""
        if not tool.read_only or not isinstance(value, str) or not re.fullmatch(r"\S*\d\S*", value):
            return False
        tried = (value, value[:-1], wrong(value, 1, self.known))
        right, part, bad = (_told(self._ask(tool, name, one, context), one) for one in tried)
        return right != part == bad

    def _follow_new(self) -> None:
        """Try the new values that writing tools return, in the same session, for what takes values like them."""
        takers: dict[int, list[Parameter]] = {}
        for key in sorted(self._contexts, key=self._ease):
            for held in {id(self.known[value]) for value in self._taken(key)}:
                takers.setdefault(held, []).append(key)
        index: dict[str, dict[int, Pool]] = {}  # groups by how their values begin and by the words of their fields
        for pool in [pool for pool in self.pools if id(pool) in takers]:
            for clue in _clues(next(iter(pool.values)), pool.fields[:8]):
                index.setdefault(clue, {})[id(pool)] = pool
        for name, made in self.probe.successes.items():
            for arguments, content in made[:_NEW]:
                for path, value in self.probe.leaves(name, content):
                    if id(self._pool[value, (name, path)]) in takers or not isinstance(value, str):
                        continue
                    alike = [pool for clue in _clues(value, [(name, path)]) for pool in index.get(clue, {}).values()]
                    by_id = {id(pool): pool for pool in alike}
                    for near, _ in Counter(map(id, alike)).most_common(_FOLLOWED):
                        if self._follow((name, arguments), value, takers[near][:_FOLLOWED]):
                            self.alike.append(((name, path), by_id[near].fields[0]))
                            break

    def _ease(self, key: Parameter) -> tuple[bool, int, Parameter]:
        """Parameters in the order in which they are easily asked: of reading tools, with few others."""
        return not self.tools[key[0]].read_only, len(self._contexts[key]), key

    def _follow(self, made: tuple[str, dict[str, Json]], value: Value, takers: Sequence[Parameter]) -> bool:
        """Whether a value that a call has just made is taken by parameters that take values like it."""
        bad = wrong(value, 1, self.known)
        calls = []
        for tool, name in takers:
            schema = self.tools[tool].parameters["properties"][name]
            calls += [(tool, {**self._contexts[tool, name], name: _wrapped(schema, one)}) for one in (bad, value)]
        results = self.probe.ask_after(made, calls)
        taken = False
        for key, amiss, result in zip(takers, results[::2], results[1::2], strict=True):
            kind = _kinds({bad: amiss, value: result}, [bad], self._contexts[key])[value]
            if amiss.ok and result.ok and re.fullmatch(r"\S*\d\S*", str(value)):  # a filter that finds it
                kind = "ok" if _told(result, value) != _told(amiss, bad) else ""
            self.answers[key][value] = kind
            taken |= bool(kind)
        return taken

    def _taken(self, key: Parameter) -> list[Value]:
        """The values that a parameter takes; where none is accepted, those that are refused for another reason."""
        answers = self.answers.get(key, {})
        return [value for value, kind in answers.items() if kind == "ok"] or [
            value for value in answers if answers[value]
        ]


def _kinds(results: dict[Value, Result], bad: Sequence[Value], context: dict[str, Json]) -> Answers:
    """By value the kind of answer, "" where a bad one gets the same."""
    said = (*context.values(), *results)
    kinds = {value: "" if is_refused_name(result, value) else label(result, said) for value, result in results.items()}
    amiss = {kinds[value] for value in bad}
    return {value: "" if kind in amiss else kind for value, kind in kinds.items() if value not in bad}


def _told(result: Result, value: Value) -> str:
    return canonical_json(result.content).replace(str(value), "_")


def _clues(value: Value, fields: Sequence[Field]) -> list[str]:
    """What new values are matched by: how they begin, and the words of the fields that hold them."""
    begins = [str(value)[:length] for length in (1, 2, 3, 4)]
    return begins + sorted({f" {word}" for one in fields for word in subject(one)})


def _item(schema: dict[str, Any]) -> dict[str, Any]:
    schema = plain(schema)
    return plain(schema.get("items", {})) if schema.get("type") == "array" else schema


def _fits(schema: dict[str, Any], value: Value) -> bool:
    """Whether a value has the type and the form that a parameter asks for."""
    item = _item(schema)
    if isinstance(value, str) != (item.get("type", "string") == "string"):
        return False
    return isinstance(value, int) or bool(re.search(item.get("pattern", ""), value))


def _wrapped(schema: dict[str, Any], value: Value) -> Json:
    return [value] if plain(schema).get("type") == "array" else value

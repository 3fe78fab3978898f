"""Walking a chain of calls on a live session: every step is executed as it is chosen; only successful ones are kept.

The walk remembers what the conversation has on its mind (`mentions`): a later step takes an entity from there, as
people do ("that account"), or a fresh one from the sampled state. A value that only a result knows becomes a reference
to it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from proverl.core import ErrorCode, Json, Result, Tool
from proverl.envs import Server, Session, load_server, phrase_slots
from proverl.synth.chains.chain import Argument, Chain, ChainStep, Derived, Refused
from proverl.synth.chains.mentions import Mentions
from proverl.synth.chains.sampler import Entities, supporting_entities
from proverl.synth.chains.spoken import relative_moments, shift, spellings
from proverl.synth.chains.values import NoValue, invent
from proverl.synth.graphs.graph import server_graph, server_needs
from proverl.synth.schema import entities_of, entity_of, plain
from proverl.synth.session import fresh_session

_ATTEMPTS = 8  # tries for one step before the walk gives up
_CONNECTED = 0.85  # share of steps that must take up something mentioned
_RECALL = 0.85  # share of entity arguments taken from what was mentioned, where that is possible
_WRITING = 3  # how much likelier a writing tool is than a reading one: readers succeed far more often
_FLOWING = 3  # how much likelier a tool is that can use what only a result told
_OPTIONAL = 0.4  # share of optional parts of a phrase that are said
_AGAIN = 0.15  # of indirect speech: how often a step repeats the last one with one change
_CORRECTED = 0.6  # share of refused calls that the user corrects, where that is possible
_MOMENTS = ("date", "date-time")


class _Walk:
    """The state of one walk."""

    def __init__(
        self, server: Server, session: Session, indirect: float, targets: Sequence[str], refusing: bool, rng: Random
    ) -> None:
        self.server = server
        self.session = session
        self.entities: Entities = {}  # those that support the tool at hand
        self.rng = rng
        self.targets = targets
        self.indirect = indirect
        self.refusing = refusing  # whether one refused call is still to stay in the conversation
        self.refused: Refused | None = None
        self.tools = {tool.name: tool for tool in server.tools if not tool.hidden}
        self.graph = server_graph(server.name)
        self.needs = server_needs(server.name)
        self.chain = Chain(server.name, session.seed)
        self.mentions = Mentions(server, indirect, rng)

    def step(self, left: int) -> bool:
        """Add one step, with `left` still to come including it; False when no attempt succeeds."""
        self.refused = None
        for _ in range(_ATTEMPTS):
            if self.chain.steps and self.rng.random() < self.indirect * _AGAIN and self._again():
                return True
            tool = self._choose(left)
            if tool is None:
                return False
            try:
                phrase = self._settle(self.rng.choice(self.server.phrases[tool.name]))
                arguments = self._arguments(tool, phrase)
            except NoValue:
                continue
            result = self._call(tool, arguments)
            if result.ok:
                refused: Refused | None = self.refused if self._is_instead(arguments) else None
                self._keep(ChainStep(tool, phrase, arguments, result.content, refused))
                return True
            if self.refusing and self.refused is None and result.code == ErrorCode.REJECTED:
                self.refused = self._refusal(tool, phrase, arguments, result)
                if self.rng.random() < _CORRECTED and self._correct(self.refused):
                    return True
                self.mentions.forget(arguments)
        return False

    def _call(self, tool: Tool, arguments: dict[str, Argument]) -> Result:
        return self.session.call(tool.name, {name: argument.value for name, argument in arguments.items()})

    def _keep(self, step: ChainStep) -> None:
        self.mentions.add(len(self.chain.steps), step)
        self.chain.steps.append(step)
        if step.refused:
            self.refusing = False

    def _choose(self, left: int) -> Tool | None:
        used = set(self.chain.names)
        wanted = [name for name in self.targets if name not in used]
        if wanted and self.rng.random() < len(wanted) / left:
            return self.tools[self.rng.choice(wanted)]
        fresh = [tool for name, tool in self.tools.items() if name not in used and self.server.phrases[name]]
        known = self.mentions.entities
        if self.chain.steps and self.rng.random() < _CONNECTED:
            fresh = [tool for tool in fresh if self.needs[tool.name] & known]
        elif not self.chain.steps:
            fresh = [tool for tool in fresh if self.graph.out_degree(tool.name)]
        told = self.mentions.known_by_results
        weights = [
            (1 if tool.read_only else _WRITING) * (_FLOWING if self.needs[tool.name] & told else 1) for tool in fresh
        ]
        return self.rng.choices(fresh, weights)[0] if fresh else None

    def _settle(self, phrase: str) -> str:
        def keep(match: re.Match[str]) -> str:
            return match[1] if self.rng.random() < _OPTIONAL else ""

        return re.sub(r"\[(.*?)\]", keep, phrase)

    def _arguments(self, tool: Tool, phrase: str) -> dict[str, Argument]:
        self.entities = supporting_entities(self.server.name, self.session.seed, tool.name)
        arguments: dict[str, Argument] = {}
        slots = phrase_slots(phrase)
        properties = tool.parameters["properties"]
        late = [name for name in properties if name in slots and "x-source" in plain(properties[name])]
        for name in [name for name in properties if name in slots and name not in late]:
            arguments[name] = self._argument(properties[name], [item.value for item in arguments.values()])
        for name in late:
            arguments[name] = Argument(self._reveal(plain(properties[name])["x-source"], tool, arguments))
        return {name: arguments[name] for name in properties if name in arguments}

    def _argument(self, schema: dict[str, Any], taken: list[Json]) -> Argument:
        entities = entities_of(schema)
        if not entities:
            return self._value(plain(schema))
        several = plain(schema).get("type") == "array"
        if not several and self.rng.random() < _RECALL:
            known = self.mentions.recall(entities, taken)
            if known is not None:
                return known
        return self._fresh(entities, taken, several)

    def _fresh(self, entities: tuple[str, ...], taken: list[Json], several: bool = False) -> Argument:
        """An entity of the sampled state that the user names."""
        entity = self.rng.choice([entity for entity in entities if self.entities.get(entity)] or entities)
        pool = [value for value in self.entities.get(entity, ()) if value not in taken]
        pool = [value for value in pool if self.mentions.is_sayable(value)]
        if not pool:
            raise NoValue(f"no {entity} to name")
        if several:
            return Argument(self.rng.sample(pool, min(len(pool), self.rng.randint(1, 2))), entity=entity)
        return Argument(self.rng.choice(pool), entity=entity)

    def _value(self, schema: dict[str, Any]) -> Argument:
        """A value that names no entity: by its relation to something known, or made up and said in one of its ways."""
        draw = self.rng.random()
        if draw < self.indirect / 2:
            related = self.mentions.related(schema)
            if related is not None:
                return related
        value = invent(schema, self.session.now, self.rng)
        if "enum" in schema and isinstance(value, str):
            return Argument(value, words=value if "." in value else value.replace("_", " "))
        spoken = draw < self.indirect or (schema.get("format") == "date-time" and self.indirect > 0)
        if schema.get("format") not in _MOMENTS or not spoken:
            return Argument(value)
        today = self.session.now.date()
        relative = list(relative_moments(str(value), today))
        if relative and draw < self.indirect / 2:
            words = self.rng.choice(relative)
            return Argument(value, words=words, derived=Derived(shift(today, str(value)), "date"))
        return Argument(value, words=self.rng.choice(spellings(value, today)[1:]))

    def _reveal(self, source: str, tool: Tool, arguments: dict[str, Argument]) -> Json:
        """What the user would know by heart (a PIN): the synthesizer asks a hidden tool for it."""
        name, _, field_name = source.partition(".")
        hidden = self.server.functions[name].tool
        by_entity = {argument.entity: argument.value for argument in arguments.values()}
        wanted = {key: by_entity.get(entity_of(hidden.parameters["properties"][key])) for key in hidden.required}
        content = self.session.call(name, wanted).content
        if not isinstance(content, dict) or field_name not in content:
            raise NoValue(f"{source} tells nothing for {wanted}")
        return content[field_name]

    def _again(self) -> bool:
        """Repeat the last step with one other entity ("do the same for ..."); whether that succeeds."""
        last = self.chain.steps[-1]
        said = [name for name, item in last.arguments.items() if item.entity and isinstance(item.value, str)]
        if len(said) != 1 or last.again or last.refused or "x-source" in str(last.tool.parameters["properties"]):
            return False
        name = said[0]
        before = self.chain.steps[-2].arguments.values() if len(self.chain.steps) > 1 else ()
        if any(item.entity == last.arguments[name].entity for item in before):
            return False  # "the same" could be both steps
        try:
            other = self._fresh((last.arguments[name].entity or "",), [last.arguments[name].value])
        except NoValue:
            return False
        arguments = {key: replace(item, words="") for key, item in last.arguments.items()} | {name: other}
        if any(item.origin or item.derived for item in arguments.values()):
            return False
        result = self._call(last.tool, arguments)
        if not result.ok:
            return False
        self._keep(ChainStep(last.tool, last.phrase, arguments, result.content, again=name))
        self.mentions.forget_results()
        return True

    def _refusal(self, tool: Tool, phrase: str, arguments: dict[str, Argument], result: Result) -> Refused:
        kind = self.rng.choice(("alternative", "give_up"))
        return Refused(tool, phrase, arguments, ErrorCode.REJECTED, result.message, kind)  # type: ignore[arg-type]

    def _is_instead(self, arguments: dict[str, Argument]) -> bool:
        """Whether a step can stand for what was refused: something else for the same thing, or a next request."""
        if self.refused is None or self.refused.kind == "give_up":
            return True
        named = {str(item.value) for item in self.refused.arguments.values() if item.entity}
        return bool(named & {str(item.value) for item in arguments.values() if item.entity})

    def _correct(self, refused: Refused) -> bool:
        """Find one argument whose change makes the refused call succeed, and keep that as the step."""
        properties = refused.tool.parameters["properties"]
        said = [name for name, item in refused.arguments.items() if item.origin is None and not item.words]
        named = [name for name, item in refused.arguments.items() if item.entity]
        for name in self.rng.sample(said, len(said)):
            if name in named and len(named) > 1:
                continue  # "make it X" would leave open which of them
            schema = plain(properties[name])
            taken = [item.value for item in refused.arguments.values()]
            try:
                entities = entities_of(schema)
                other = (
                    self._fresh(entities, taken) if entities else Argument(invent(schema, self.session.now, self.rng))
                )
            except NoValue:
                continue
            arguments = {**refused.arguments, name: other}
            if (
                "x-source" in schema
                or other.value in taken
                or any("x-source" in plain(properties[key]) for key in said)
            ):
                continue
            result = self._call(refused.tool, arguments)
            if result.ok:
                kept = replace(refused, kind="corrected", changed=name)
                self._keep(ChainStep(refused.tool, refused.phrase, arguments, result.content, kept))
                return True
        return False


def walk(
    server: str,
    seed: int,
    length: int,
    rng: Random,
    *,
    indirect: float = 0.0,
    targets: Sequence[str] = (),
    refusing: bool = False,
) -> Chain | None:
    """A chain of exactly `length` successful calls on a fresh session, or None when the walk got stuck.

    It has every tool of `targets`, and with `refusing` one call that the state refuses; `indirect` is how often people
    say values by their relation to others.
    """
    with fresh_session([server], seed) as session:
        state = _Walk(load_server(server), session, indirect, targets, refusing, rng)
        for done in range(length):
            if not state.step(length - done):
                return None
    return None if state.refusing or set(targets) - set(state.chain.names) else state.chain

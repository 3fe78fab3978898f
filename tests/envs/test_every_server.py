"""What holds for every server: the paper's table, documented tools, and whatever is called, the laws."""

from functools import cache
from pathlib import Path
from random import Random
from typing import get_type_hints

import jsonschema
import pytest
from plausible import Caller
from pydantic import TypeAdapter

from proverl.core import ErrorCode
from proverl.envs import Server, Session, load_server, phrase_slots, server_names, start_time
from proverl.envs.catalogue import catalogue

PAPER = {  # "Environments" in the paper: server -> tools that models see
    "banking": 17, "trading": 13, "payments": 10, "calendar": 17, "email": 17, "filesystem": 40, "shopping": 23,
    "marketplace": 13, "retail_chain": 11, "travel_booking": 20, "maps": 16, "social_media": 15, "team_chat": 11,
    "iot_devices": 25, "vehicle": 20, "crm": 16, "issue_tracker": 20, "budget": 12, "food_delivery": 17,
    "video_meeting": 10,
}  # fmt: skip


@pytest.fixture(scope="module", params=server_names())
def server(request: pytest.FixtureRequest) -> Server:
    return load_server(request.param)


def visible(server: Server):
    return [tool for tool in server.tools if not tool.hidden]


def test_the_papers_twenty_servers_have_its_343_tools_under_names_of_their_own():
    tools = [tool.name for name in PAPER for tool in load_server(name).tools]
    assert {name: len(visible(load_server(name))) for name in PAPER} == PAPER
    assert sum(PAPER.values()) == 343
    assert len(set(tools)) == len(tools), sorted({name for name in tools if tools.count(name) > 1})


def test_every_tool_and_parameter_is_described_typed_and_can_be_invented(server):
    for tool in server.tools:
        assert tool.description, tool.name
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        jsonschema.Draft202012Validator.check_schema(tool.returns)
        for name, schema in tool.parameters["properties"].items():
            where = f"{tool.name}.{name}"
            plain = next(one for one in schema.get("anyOf", [schema]) if one.get("type") != "null")
            item = plain.get("items", plain)
            assert schema.get("description"), where
            assert "x-entity" in item or not name.endswith(("_id", "_ids")), f"{where} names no entity"
            sayable = {"x-entity", "enum", "const", "x-source", "properties"} & {*item, *plain, *schema}
            sayable |= {item.get("format")} - {None}
            assert sayable or item["type"] in ("number", "boolean") or len(set(item["examples"])) >= 10, where


def test_results_are_described_as_pydantic_describes_them(server):
    for tool in server.tools:
        annotation = get_type_hints(server.functions[tool.name].function, include_extras=True)["return"]
        theirs = TypeAdapter(annotation).json_schema()
        assert _without_names(tool.returns) == _without_names(_inlined(theirs, theirs.get("$defs", {}))), tool.name


def _inlined(schema, definitions):
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items() if key != "$defs"}


def _without_names(schema, names=False):
    """Without titles, and without the server's name before an entity; `names` says that keys are fields' names."""
    if isinstance(schema, list):
        return [_without_names(item) for item in schema]
    if not isinstance(schema, dict):
        return schema.rpartition(".")[2] if isinstance(schema, str) else schema
    kept = {key: value for key, value in schema.items() if names or key != "title"}
    return {key: _without_names(value, names=key == "properties") for key, value in kept.items()}


def test_hidden_tools_only_reveal_what_a_person_knows(server):
    sources = {
        schema["x-source"].split(".")[0]
        for tool in visible(server)
        for schema in tool.parameters["properties"].values()
        if "x-source" in schema
    }
    hidden = {tool.name for tool in server.tools if tool.hidden}
    assert hidden == sources
    assert all(server.functions[name].tool.read_only for name in hidden)


def test_people_can_ask_for_every_tool_and_parameter_in_several_ways(server):
    for tool in visible(server):
        phrases = server.phrases[tool.name]
        assert len({phrase.split()[0] for phrase in phrases}) >= 3, tool.name
        assert set().union(*map(phrase_slots, phrases)) == set(tool.parameters["properties"]), tool.name
        assert not any(phrase != phrase.strip(" .") or phrase[:2].istitle() for phrase in phrases), tool.name


def test_every_entity_has_peoples_word(server):
    entities = {
        found.removeprefix(f"{server.name}.")
        for tool in server.tools
        for found in _entities({"parameters": tool.parameters, "returns": tool.returns})
    }
    assert entities <= set(server.nouns), entities - set(server.nouns)


def _entities(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("x-entity"), str):
            yield schema["x-entity"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for item in schema:
            yield from _entities(item)


def test_start_states_are_small_lawful_and_the_same_for_a_seed(server):
    images = set()
    for seed in range(8):
        with Session([server], seed) as session:
            session.check_invariants()
        image = server.image(seed, start_time(seed))
        assert image == server.build(seed, start_time(seed))
        assert len(image) < 200_000
        images.add(image)
    assert len(images) == 8


@pytest.mark.parametrize("seed", range(4))
def test_a_callers_walk_keeps_the_laws_and_its_results_fit_their_schemas(server, seed):
    with Session([server], seed) as session:
        caller = Caller(server, session, Random(f"walk:{seed}"))
        caller.look_around()
        done = {tool.name: 0 for tool in caller.visible}
        for _ in range(6):
            for tool in caller.rng.sample(caller.visible, len(caller.visible)):
                done[tool.name] += _checked(caller, tool, caller.arguments(tool))
    assert sum(map(bool, done.values())) >= 0.6 * len(done), [name for name, times in done.items() if not times]


def _checked(caller: Caller, tool, arguments) -> bool:
    """Call; check what holds after any call. Returns whether the call succeeded."""
    session = caller.session
    before = (session.digest(), session.now)
    result = caller.call(tool, arguments)
    told = f"{tool.name}({arguments!r}) -> {result}"
    assert result.code is not ErrorCode.CRASHED, told
    if result.ok:
        jsonschema.validate(result.content, tool.returns)
    else:
        assert len(result.message) > 10, told
    if tool.read_only or not result.ok:
        assert (session.digest(), session.now) == before, told
    session.check_invariants()
    return result.ok


@pytest.mark.parametrize("seed", range(4))
def test_hostile_calls_are_answered_and_break_nothing(server, seed):
    with Session([server], seed) as session:
        caller = Caller(server, session, Random(f"hostile:{seed}"))
        caller.look_around(1)
        for _ in range(8):
            for tool in caller.visible:
                _checked(caller, tool, caller.spoiled(tool))


def test_every_tool_succeeds_for_somebody(server):
    missing = {tool.name for tool in visible(server)}
    for seed in range(12):
        with Session([server], seed) as session:
            caller = Caller(server, session, Random(f"use:{seed}"))
            caller.look_around()
            for _ in range(12):
                for tool in caller.visible:
                    if caller.call(tool, caller.arguments(tool)).ok:
                        missing.discard(tool.name)
        if not missing:
            return
    assert not missing


def test_unknown_ids_are_refused(server):
    with Session([server], 1) as session:
        caller = Caller(server, session, Random("unknown"))
        caller.look_around()
        for tool in caller.visible:
            for name, schema in tool.parameters["properties"].items():
                if "x-entity" in schema and name in tool.required and not schema.get("examples"):
                    result = caller.call(tool, caller.arguments(tool) | {name: "XXX-1"})
                    assert result.code in (ErrorCode.NOT_FOUND, ErrorCode.INVALID_ARGUMENTS, ErrorCode.REJECTED), (
                        f"{tool.name}({name}='XXX-1') -> {result}"
                    )


@pytest.mark.parametrize("seed", range(2))
def test_interleaved_sessions_equal_the_same_sessions_run_alone(server, seed):
    calls = []
    with Session([server], seed) as session:
        caller = Caller(server, session, Random(f"alone:{seed}"))
        caller.look_around(1)
        for tool in caller.rng.choices(caller.visible, k=60):
            arguments = caller.arguments(tool)
            calls.append((tool.name, arguments, caller.call(tool, arguments)))
        digest = session.digest()
    with Session([server], seed) as again, Session([server], seed + 100) as other, Session([server], seed) as late:
        for index, (name, arguments, expected) in enumerate(calls):
            other.call(name, arguments)
            # look_around read only, so the state is the same without it
            assert again.call(name, arguments) == expected
            if index % 2:
                late.call(*calls[index // 2][:2])
        assert again.digest() == digest


def test_a_thousand_interleaved_sessions_equal_the_same_sessions_run_alone():
    names = server_names()
    scripts = [_script(names[number % len(names)], number // len(names) % 3) for number in range(1_000)]
    alone = {}
    for name, seed, calls in scripts:
        if (name, seed) not in alone:
            with Session([name], seed) as session:
                alone[name, seed] = [session.call(*call) for call in calls], session.digest()
    sessions = [Session([name], seed) for name, seed, _ in scripts]
    turns = [index for index, (_, _, calls) in enumerate(scripts) for _ in calls]
    Random(0).shuffle(turns)
    results = [[] for _ in scripts]
    for index in turns:
        results[index].append(sessions[index].call(*scripts[index][2][len(results[index])]))
    for (name, seed, _), session, found in zip(scripts, sessions, results, strict=True):
        assert (found, session.digest()) == alone[name, seed]
        session.close()


@cache
def _script(name: str, seed: int):
    """A server, a seed, and six calls that mostly succeed."""
    with Session([name], seed) as session:
        caller = Caller(load_server(name), session, Random(f"script:{seed}"))
        caller.look_around(1)
        calls = []
        for tool in caller.rng.sample(caller.visible, 6):
            calls.append((tool.name, caller.arguments(tool)))
            caller.call(tool, calls[-1][1])
    return name, seed, calls


def test_the_page_about_the_servers_is_up_to_date():
    page = Path(__file__).parents[2] / "docs" / "servers.md"
    assert page.read_text() == catalogue(tuple(sorted(PAPER))), "make it again: proverl catalogue > docs/servers.md"

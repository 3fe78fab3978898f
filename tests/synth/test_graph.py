"""Explicit edges come from the types, implicit ones are proven by execution; people can look at both."""

import subprocess
import sys
from threading import Thread

import pytest
from typer.testing import CliRunner

from proverl.envs import Session
from proverl.envs.cli import app
from proverl.synth.graphs import state_edges as proving
from proverl.synth.graphs.graph import server_graph, visible_tools
from proverl.synth.graphs.picture import draw, told
from proverl.synth.graphs.state_edges import full_graph, masked, state_edges
from proverl.synth.graphs.store import kept


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


def test_a_server_has_explicit_and_implicit_edges(folder):
    graph = full_graph("banking", folder)
    assert set(graph.nodes) == {tool.name for tool in visible_tools("banking")}
    assert graph.edges["list_accounts", "get_account"] == {"kind": "explicit", "entities": ("banking.Account",)}
    assert graph.edges["freeze_card", "unfreeze_card"] == {"kind": "implicit", "entities": ("banking.Card",)}
    assert {kind for _, _, kind in graph.edges(data="kind")} == {"explicit", "implicit"}
    assert {kind for _, _, kind in server_graph("banking").edges(data="kind")} == {"explicit"}


def test_an_implicit_edge_is_what_happens():
    found = state_edges("video_meeting")
    assert ("start_meeting", "end_meeting") in found
    assert ("end_meeting", "start_meeting") not in found
    with Session(["video_meeting"], 0) as session:
        listed = session.call("list_meetings", {"status": "scheduled", "limit": 50}).content["meetings"]
        refused = [session.call("end_meeting", {"meeting_id": meeting["meeting_id"]}) for meeting in listed]
        assert {result.code for result in refused} == {"rejected"}


def test_two_proofs_find_the_same_edges_and_none_without_calls():
    found = state_edges("team_chat")
    assert state_edges("team_chat") == found
    assert ("join_channel", "post_message") in found
    assert not state_edges("team_chat", calls=0)


def test_what_the_clock_alone_allows_is_no_edge(monkeypatch):
    """A call that also succeeds a minute later without the other is a counter-example."""
    world = proving._World(proving.load_server("banking"), 0, 10_000)
    refusal = proving._World.refusal
    monkeypatch.setattr(
        proving._World,
        "refusal",
        lambda self, *calls, later=False: None if later else refusal(self, *calls),
    )
    assert not list(world.refusals())


@pytest.mark.parametrize(("lifted", "edges"), [([True], 9), ([True, False], 0), ([True, True, False], 9)])
def test_a_refusal_that_stays_as_often_as_it_is_lifted_is_a_counter_example(lifted, edges, monkeypatch):
    tool = next(tool for tool in visible_tools("banking") if tool.name == "unfreeze_card")
    refused = [proving._Refused(tool, {"lifted": outcome}, "why") for outcome in lifted]
    monkeypatch.setattr(proving._World, "refusals", lambda self: iter(refused))
    monkeypatch.setattr(proving._World, "lifts", lambda self, before, refused: refused.arguments["lifted"])
    assert len(state_edges("banking")) == edges  # from every other writing tool


def test_a_cause_is_a_message_without_its_values():
    assert masked("card CRD-12 is active, not frozen; freeze it") == masked("card CRD-77 is active, not frozen")
    assert masked("'a.txt' is read-only") == masked("'b c.txt' is read-only") != masked("'a.txt' is a directory")


def test_proving_again_reads_what_was_kept(folder, monkeypatch):
    first = full_graph("banking", folder)
    monkeypatch.setattr(proving, "state_edges", lambda server: pytest.fail("proved again"))
    assert dict(full_graph("banking", folder).edges) == dict(first.edges)


def test_a_broken_file_is_made_again_and_many_writers_leave_one(tmp_path):
    threads = [Thread(target=kept, args=(tmp_path, "key", lambda: [1, 2])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = tmp_path.iterdir()
    file.write_text("[1,")
    assert kept(tmp_path, "key", lambda: "again") == "again"
    assert kept(tmp_path, "key", lambda: "never") == "again"
    assert kept(None, "key", lambda: "new") == "new"


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_names_every_tool(ending, tmp_path):
    path = tmp_path / f"banking.{ending}"
    draw(server_graph("banking"), visible_tools("banking"), "banking", path)
    assert path.stat().st_size > 10_000


def test_a_tool_tells_only_what_it_was_not_asked_for():
    tools = {tool.name: tool for tool in visible_tools("banking")}
    assert told(tools["freeze_card"]) == set()
    assert told(tools["list_cards"]) == {"banking.Card"}


def test_the_command_prints_a_table_or_draws(tmp_path):
    printed = CliRunner().invoke(app, ["graph", "banking", "--explicit"]).output
    assert "list_accounts" in printed and "Account" in printed
    picture = tmp_path / "banking.svg"
    assert CliRunner().invoke(app, ["graph", "banking", "--explicit", "--output", str(picture)]).exit_code == 0
    assert picture.exists()
    wrong = CliRunner().invoke(app, ["graph", "bankng"])
    assert (wrong.exit_code, "did you mean 'banking'?" in wrong.output) == (2, True)
    unknown = CliRunner().invoke(app, ["graph", "banking", "--explicit", "--output", str(tmp_path / "a.xyz")])
    assert (unknown.exit_code, "xyz" in unknown.output) == (2, True)


def test_added_commands_are_imported_only_when_asked_for():
    code = "import sys; from proverl.envs.cli import app; app(['servers'], standalone_mode=False)"
    code += "; print('proverl.synth' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "False"
    assert "graph" in CliRunner().invoke(app, ["--help"]).output


def test_a_command_that_cannot_be_loaded_says_so(monkeypatch):
    from importlib.metadata import EntryPoint

    from proverl.envs import cli

    entry = EntryPoint("odd", "no.such:module", "proverl.commands")
    monkeypatch.setattr(cli, "_added", lambda: {"odd": entry})
    result = CliRunner().invoke(app, ["odd", "--some", "thing"])
    assert (result.exit_code, "no.such:module" in result.output) == (2, True)
    assert CliRunner().invoke(app, ["servers"]).exit_code == 0

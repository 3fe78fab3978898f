"""The command for people: answers, and one sentence for what cannot be done."""

import socket
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from proverl.envs import registry
from proverl.envs.cli import app


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_servers_and_tools_are_listed():
    assert "banking" in run("servers").output
    assert "find_customers" in run("tools", "banking").output


def test_calls_run_in_order_on_one_session():
    done = run("call", "banking", 'find_customers={"limit": 1}', "find_customers", "--seed", "3")
    assert done.exit_code == 0
    assert len(done.output.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("tools", "bankin"), "no server 'bankin'; did you mean 'banking'?"),
        (("call", "banking", "find_customers", "{bad"), "'{bad' is no tool's name"),
        (("call", "banking", "find_customers={bad"), "arguments of find_customers are not JSON"),
        (("call", "banking", "find_customers=[1]"), "write a JSON object"),
        (("call", "banking", "find_customers=" + "[" * 100_000), "arguments of find_customers are not JSON"),
        (("serve", "banking", "--http", "8000", "--host", "0.0.0.0"), "give --token"),
        (("serve", "banking", "--http", "70000"), "from 1 to 65535"),
    ],
)
def test_a_mistake_gets_one_sentence_and_nothing_runs(arguments, sentence):
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert "customer_id" not in done.output


def test_a_taken_port_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("serve", "banking", "--http", str(taken.getsockname()[1]))
    assert done.exit_code == 2
    assert "choose another with --http" in done.output


INSTALLED = {
    "banking": ["proverl.envs.servers.banking:server"],
    "broken": ["no_such_package:server"],
    "misnamed": ["proverl.envs.servers.banking:server"],
    "twice": ["one:server", "two:server"],
}


def entry_points_of(group, name=None):
    return [EntryPoint(one, value, group) for one in ([name] if name else INSTALLED) for value in INSTALLED[one]]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broken", "entry point 'broken' = 'no_such_package:server' cannot be loaded: ModuleNotFoundError"),
        ("misnamed", "is a server named 'banking'; use one name"),
        ("twice", "server 'twice' is both"),
    ],
)
def test_a_server_that_cannot_be_loaded_is_told_and_hides_no_other(monkeypatch, name, sentence):
    monkeypatch.setattr(registry, "entry_points", entry_points_of)
    registry._entries.cache_clear()
    try:
        one, every = run("tools", name), run("servers")
    finally:
        registry._entries.cache_clear()
    assert sentence in one.output
    assert every.exit_code == 2
    assert sentence in every.output
    assert "A retail bank" in every.output

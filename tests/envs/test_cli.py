"""The command for people: answers, and one sentence for what cannot be done."""

import socket

import pytest
from typer.testing import CliRunner

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

"""tau2-bench through its own orchestrator and scorer, with scripts for the policy and a real endpoint for the user."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
from endpoint_server import answer, serving

from proverl.agent import Reply, ScriptedChat, ScriptedPolicy
from proverl.core import Call, MalformedCall
from proverl.evals.evaluation import evaluate, score
from proverl.evals.record import FILE
from proverl.evals.tau2 import Tau2, UserSimulator

SOME = Tau2(tasks=6, concurrency=2)
SOLO = Tau2(solo=True, domains=("telecom",), tasks=6, concurrency=2)


class Full(ScriptedChat):
    """One without a token left."""

    room = 0


@dataclass(frozen=True)
class ByItem:
    """A policy with a script for some items (None: no tokens for it) and few words for the others."""

    scripts: Mapping[str, tuple]

    def chat(self, task, limits, seed=0):
        script = self.scripts.get(task.id, ("Goodbye.",))
        return Full() if script is None else ScriptedChat(script)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oracle")
    return folder, evaluate(SOME, SOME.oracle(), folder).records


def test_the_oracle_passes_and_doing_nothing_passes_what_asks_for_no_change(oracle):
    _, records = oracle
    assert [record.figures["reward"] for record in records] == [1.0] * 6
    floors = [record.floor["reward"] for record in records]
    assert floors == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    for record in records:
        assert record.floor.keys() == record.figures.keys()
        assert record.detail == "user_stop"
    assert any(message["content"] == "Hi! How can I help you today?" for message in records[0].messages)
    assert "database" not in records[3].detail and records[3].figures["db"] == 1.0
    telecom = records[5].figures  # the user's own actions were performed too
    assert (telecom["assertions"], telecom["actions"]) == (1.0, 1.0) and "db" not in telecom


def test_stored_answers_are_scored_again(oracle):
    changed = [replace(record, figures={"reward": 0.5}, floor={"reward": 0.5}) for record in oracle[1]]
    assert score(SOME, changed) == oracle[1]


def test_a_result_file_of_tau2_is_scored(oracle, tmp_path):
    (record,) = [record for record in oracle[1] if record.item == "retail/1"]
    simulation = record.answer["simulation"] | {"trial": 2, "seed": 5, "reward_info": {"reward": 0.0}}
    path = tmp_path / "results.json"
    told = {"info": {"environment_info": {"domain_name": "retail"}}, "tasks": [], "simulations": [simulation]}
    path.write_text(json.dumps(told))
    read = Tau2().read_results(path)
    assert [(one.item, one.trial, one.seed, one.position) for one in read] == [("retail/1", 2, 5, 51)]
    assert score(Tau2(), read)[0].figures == record.figures
    with pytest.raises(ValueError, match="has the task retail/1, which is not among"):
        Tau2(domains=("airline",)).read_results(path)
    path.write_text('{"simulations": []}')
    with pytest.raises(ValueError, match="no result file of tau2"):
        Tau2().read_results(path)


def test_a_killed_evaluation_makes_only_the_attempts_that_it_lacks(oracle, tmp_path):
    folder, records = oracle
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join(lines[:4]) + lines[4][:100])  # killed while it wrote the fifth
    kept = {json.loads(line)["item"] for line in lines[:4]}
    made = []

    @dataclass(frozen=True)
    class Counted(type(SOME.oracle())):
        def chat(self, task, limits, seed=0):
            made.append(task.id)
            return super().chat(task, limits, seed)

    found = evaluate(SOME, Counted(solo=False), tmp_path).records
    assert [record.item for record in found] == [record.item for record in records]
    assert set(made) == {record.item for record in records} - kept and len(made) == 2


def test_the_silent_policy_earns_the_floor(tmp_path):
    records = evaluate(replace(SOME, tasks=3), ScriptedPolicy(), tmp_path).records
    assert [record.figures for record in records] == [record.floor for record in records]
    assert [record.figures["reward"] for record in records] == [1.0, 0.0, 0.0]


def test_solo_needs_no_user_and_takes_only_calls(tmp_path):
    items = [item.id for item in SOLO.items()]
    oracle = SOLO.oracle()

    @dataclass(frozen=True)
    class Partly(ByItem):
        def chat(self, task, limits, seed=0):
            return super().chat(task, limits, seed) if task.id in self.scripts else oracle.chat(task, limits, seed)

    scripts = {
        items[0]: ("I will see to it.",),
        items[1]: ([Call("done", {})],),
        items[2]: ([Call("toggle_airplane_mode", {})], [Call("no_such_tool", {})], [Call("done", {})]),
    }
    records = evaluate(SOLO, Partly(scripts), tmp_path).records
    assert [record.figures["reward"] for record in records] == [0, 0, 0, 1, 1, 1]
    assert [record.floor["reward"] for record in records] == [0] * 6
    assert records[0].detail == "agent_error: ValueError: an agent without a user may only call tools"
    assert records[1].detail.startswith("agent_stop; not so: ")
    system = records[2].messages[0]
    assert system["role"] == "system" and "<ticket>" in system["content"] and "`done` tool" in system["content"]
    results = [message["content"] for message in records[2].messages if message["role"] == "tool"]
    assert results[0].startswith("Airplane Mode is now") and results[1] == "Error: Tool 'no_such_tool' not found."


def user(request):
    """What the user's endpoint says: it wants something, calls its own tool where it has one, and then stops."""
    *_, last = request["messages"]
    if "Say nothing" in str(last["content"]):
        return answer("")
    if last["role"] == "user" and last["content"] == "Hi! How can I help you today?":
        return answer("I need help.")
    if last["role"] == "user" and last["content"] == "Please look.":
        return answer("", [("check_status_bar", "{}"), ("no_such_tool", '{"a": 1}')])
    if last["role"] == "tool":
        return answer("I looked.")
    return answer("Thank you. ###STOP###")


@pytest.fixture(scope="module")
def endpoint():
    with serving() as server:
        server.default = user
        yield server


@pytest.fixture(scope="module")
def asked(endpoint, tmp_path_factory):
    """Records by what the policy did, in retail and telecom, with an endpoint as the user."""
    settings = Tau2(
        domains=("retail", "telecom"),
        tasks=24,
        concurrency=4,
        call_seconds=10,
        max_steps=30,
        user=UserSimulator(base_url=endpoint.url, model="customer", options={"temperature": 0.25}),
    )
    call, bye = Call("calculate", {"expression": "1+1"}), "Goodbye."
    retail = {
        "hangs": ([Call("calculate", {"expression": "9**9**9**9"})], bye),
        "parser": (
            [Call("calculate", {"expression": "(" * 50_000})],
            [Call("calculate", {"expression": "-" * 10**6})],
            bye,
        ),
        "names": ([Call(name, {}) for name in ("no_such_tool", "__class__", "get_db_hash", "_get_user", "")], bye),
        "arguments": (
            [
                Call("calculate", {"expression": ["1"]}),
                Call("calculate", {"self": 1, "tool_name": "x", "requestor": "user"}),
                Call("calculate", {}),
                Call("get_order_details", {"order_id": {"a": [1]}}),
            ],
            bye,
        ),
        "malformed": ([MalformedCall("calculate([1])", "arguments must be a JSON object, not [1]"), call], bye),
        "huge": ("x" * 3_000_000, [Call("transfer_to_human_agents", {"summary": "y" * 3_000_000})], bye),
        "empty": ("",),
        "errors": (*[[Call("no_such_tool", {})]] * 12, bye),
        "both": (Reply("One moment.", (call, call)), bye),
        "steps": tuple([call] for _ in range(40)),
        "no room": None,
        "mute user": ("Say nothing.", bye),
    }
    telecom = {"user tools": ("Please look.", bye), "stop words": ("###STOP###", bye)}
    items = settings.items()
    scripts, names = {}, {}
    for domain, wanted in (("retail", retail), ("telecom", telecom)):
        ids = [item.id for item in items if item.strata["domain"] == domain]
        for (name, script), item in zip(wanted.items(), ids, strict=False):
            scripts[item], names[item] = script, name

    found = evaluate(settings, ByItem(scripts), tmp_path_factory.mktemp("asked"))
    return {names.get(record.item, record.item): record for record in found.records}, found.failures


def results(record):
    return [message["content"] for message in record.messages if message["role"] == "tool"]


def test_a_call_that_never_returns_fails_the_task(asked):
    record = asked[0]["hangs"]
    assert record.figures["reward"] == 0 and record.figures["db"] == 0
    assert record.detail == "agent_error: a tool call did not return within evals.tau2.call_seconds=10"


def test_hostile_names_and_arguments_are_answered_with_errors(asked):
    records, _ = asked
    assert len(results(records["parser"])) == 2
    assert all(text.startswith("Error: Tool '") and text.endswith("' not found.") for text in results(records["names"]))
    assert len(results(records["names"])) == 5
    assert all(text.startswith("Error: ") for text in results(records["arguments"]))
    assert results(records["malformed"]) == ["Error: arguments must be a JSON object, not [1]", "2.0"]
    for name in ("parser", "names", "arguments", "malformed", "huge"):
        assert records[name].detail.startswith("user_stop; ")


def test_the_orchestrators_rules_hold(asked):
    records, failures = asked
    assert records["empty"].detail.startswith("agent_error: ValueError: AssistantMessage must have either content")
    assert records["errors"].detail == "too_many_errors" and records["errors"].calls == 10
    assert records["steps"].detail == "max_steps"
    assert records["no room"].detail == "agent_error: no tokens left for a reply" and records["no room"].truncated
    assert results(records["both"]) == ["2.0", "2.0"]
    assert {records[name].figures["reward"] for name in ("empty", "errors", "steps", "no room")} == {0.0}
    assert records["stop words"].detail.startswith("user_stop")  # an agent with a user has no words to stop with
    # what the user's model does wrong is no fault of the policy
    (failure,) = failures
    assert failure.reason == "ValueError: the user's model 'customer' gave 4 replies that cannot be used"
    assert "mute user" not in records


def test_the_users_model_sees_what_tau2_shows_it(asked, endpoint):
    record = asked[0]["user tools"]
    requests = [one for one in endpoint.requests if "Please look." in str(one["messages"])]
    assert [one["messages"][-1]["role"] for one in requests] == ["user", "tool", "user"]
    first, last = requests[0], requests[-1]
    assert (first["model"], first["temperature"], first["seed"]) == ("customer", 0.25, 0)
    assert "check_status_bar" in {tool["function"]["name"] for tool in first["tools"]}
    roles = [message["role"] for message in last["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert (
        "<scenario>" in last["messages"][0]["content"] and "make a tool call" in last["messages"][0]["content"].lower()
    )
    calls = last["messages"][4]["tool_calls"]
    assert [call["id"] for call in calls] == [message["tool_call_id"] for message in last["messages"][5:7]]
    assert last["messages"][6]["content"] == "Error: Tool 'no_such_tool' not found."
    # the policy sees neither the user's calls nor their results, and the tokens of the two are kept apart
    assert [message["content"] for message in record.messages if message["role"] == "user"] == [
        "I need help.",
        "I looked.",
    ]
    assert results(record) == []
    assert (record.figures["user_prompt_tokens"], record.figures["user_completion_tokens"]) == (400, 80)
    assert record.prompt_tokens == 0
    retail = next(one for one in endpoint.requests if "One moment." in str(one["messages"]) or "tools" not in one)
    assert "tools" not in retail


def test_the_agent_gets_tau2s_prompt_once_and_the_greeting_before_the_first_words(asked):
    messages = asked[0]["both"].messages
    assert [message["role"] for message in messages[:3]] == ["system", "assistant", "user"]
    assert messages[0]["content"].startswith("<instructions>\nYou are a customer service agent")
    assert sum(message["role"] == "system" for message in messages) == 1

"""BFCL: nothing that a policy writes runs as code, never ends, or reaches another scoring."""

import ast
import json
import subprocess
import sys

import pytest

from proverl.agent import Reply, ScriptedChat, ScriptedPolicy
from proverl.core import Call, MalformedCall
from proverl.evals import evaluation
from proverl.evals.bfcl import BFCL, package
from proverl.evals.bfcl.calls import decoded, refusal
from proverl.evals.bfcl.entries import entries, expected_call
from proverl.evals.bfcl.world import World, _fresh_name
from proverl.evals.evaluation import UNSCORABLE, evaluate, score
from proverl.evals.isolated import Isolated
from proverl.evals.listening import ListenedPolicy

ENTRY = entries()["multi_turn_base_0"]
RUN = "open('{}', 'w').close()"

NAMES = [
    "{run} or cd",
    "[{run}][0] or cd",
    "exec(\"{run}\") or cd",
    "(lambda folder: {run})",
    "cd(folder=str({run})) or cd",
    'print(f"{{{run}}}") or cd',
    "(x := {run}, cd)[1]",
    "[{run} for x in [1]] and cd",
    "{run}, cd",
    "{run} #",
    "{run} if True else cd",
]  # fmt: skip
KEYS = ["folder={run}, a", "**dict(a={run}), folder", "folder='document', more={run}, x"]
TEXTS = [
    "[cd(folder={run} + 1)]",
    "[cd(folder=[{run}] * 2)]",
    "[cd(folder=-(1 + {run}))]",
    "[cd(folder={{\"document', 'b': {run}, 'c\": 1}})]",
    '[cd(folder={{"str({run}) or cd": {{}}}})]',
    "[cd(folder=str(object={run} + ''))]",
    "[cd(folder=(lambda: {run}))]",
    "[(lambda x: {run})(x=1)]",
    "[cd(folder=x[{run}])]",
]


def calls_of(entry):
    return [[expected_call(entry, text) for text in texts] for texts in entry.expected]


@pytest.fixture
def marked(tmp_path):
    return tmp_path / "ran"


def as_calls(template, marked):
    run = RUN.format(marked)
    hostile = template.format(run=run)
    if template in NAMES:
        return [{hostile: '{"folder": "document"}'}]
    return [{"cd": json.dumps({hostile: 1})}]


@pytest.mark.parametrize("template", NAMES + KEYS)
def test_names_and_keys_never_run(template, marked):
    step = as_calls(template, marked)
    told = World(ENTRY, prompting=False).step(step)
    assert told and told[0].startswith("Error during execution: ")
    assert not BFCL().score_of(ENTRY.id, {"result": [[step]] * 4, "ended": "", "prompting": False}).figures["accuracy"]
    assert not marked.exists()
    # and the package would have run it
    texts = package.decoding.convert_to_function_call(step)
    config, name = ENTRY.raw["initial_config"], _fresh_name()
    package.execution.execute_multi_turn_func_call(texts, config, ENTRY.classes, name, ENTRY.id)
    assert marked.exists()


@pytest.mark.parametrize("template", TEXTS)
def test_prompted_calls_never_run_code(template, marked):
    text = template.format(run=RUN.format(marked))
    told = World(ENTRY, prompting=True).step(text)
    assert told is None or all(
        result["content"].startswith(("Error during execution", '{"error"')) for result in ast.literal_eval(told[0])
    )
    assert not BFCL().score_of(ENTRY.id, {"result": [[text]] * 4, "ended": "", "prompting": True}).figures["accuracy"]
    assert not marked.exists()


def test_arithmetic_in_prompted_calls_is_worked_out():
    assert decoded("[fillFuelTank(fuelAmount=60 * 0.5 - 2)]", True) == ["fillFuelTank(fuelAmount=28.0)"]
    assert decoded("[post_tweet(content='a' + 'b')]", True) == ["post_tweet(content='ab')"]
    assert decoded("[post_tweet(content='a' * 1000000000000)]", True) == []
    assert decoded("[fillFuelTank(fuelAmount=9**9**9**9)]", True) == []
    assert decoded("[fillFuelTank(fuelAmount=1 << 10000000000000)]", True) == []
    assert decoded("[post_tweet(content='%999999999d' % 1)]", True) == []


NO_CALLS = [
    "", " ", "@", "(", ")", "cd)", "(cd)", "é", "cd cd", "cd@", "cd\\\n", "\n@cd\n", "cd\x00", "True",
    "x" * 100_000, "(" * 50_000, "a." * 50_000, "-" * 50_000,
    "_load_scenario", "entry.cd", "(entry.cd)", "entry", "str", "eval", "refused",
]  # fmt: skip


@pytest.mark.parametrize("name", NO_CALLS, ids=lambda name: repr(name[:12]))
def test_names_that_are_none_give_an_error_and_the_conversation_goes_on(name):
    world = World(ENTRY, prompting=False)
    (told,) = world.step([{name: '{"folder": "document"}'}])
    assert told.startswith("Error during execution: ") and len(told) < 300
    (told,) = world.step([{"cd": '{"folder": "document"}'}])
    assert json.loads(told) == {"current_working_directory": "document"}


def test_another_scorings_world_cannot_be_named():
    first = World(ENTRY, prompting=False)
    first.step([{"pwd": "{}"}])
    (instance,) = (name for name in vars(package.execution) if name.startswith(first._model) and "Gorilla" in name)
    for name in (instance, f"{instance}.cd", f"({instance}.cd)", f"{instance}.cd\\\n"):
        assert refusal(f"{name}(folder='document')", ENTRY.names)
    assert refusal("cd(folder=(gorilla.cd)(folder='x'))", ENTRY.names)
    assert not refusal("cd(folder=pwd())", ENTRY.names)


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


UNREADABLE = [
    Call("cd", {"folder": 10 ** (10**6)}),
    Call("cd", {"folder": deep(10_000)}),
    Call("cd", {"folder": {1, 2}}),
    MalformedCall('{"folder": "document"}', "it has no name"),
    MalformedCall("<tool_call>{", "not valid JSON"),
]
ODD = [
    Call("cd", {"folder": float("nan")}),
    Call("cd", {"folder": float("inf")}),
    Call("cd", {"folder": deep(90)}),
    Call("cd", {"folder": "\ud800"}),
    Call("cd", {"folder": "x" * 1_000_000}),
    Call("cd", {"class": 1, "1": 2, "a b": 3, "": 4}),
    Call("cd", {"self": 1}),
]


class ByTurn(ScriptedPolicy):
    """Says the replies, then performs the expected calls as the oracle does."""

    def chat(self, task, limits, seed=0):
        return ScriptedChat([[call] for call in self.replies] + [list(calls) for calls in self.then(task)])

    def then(self, task):
        return [calls for turn in calls_of(entries()[task.id]) for calls in (turn, ())]


async def attempt(policy, **settings):
    benchmark = BFCL(categories=("base",), tasks=1, **settings)
    (item,) = benchmark.items()
    async with Isolated(benchmark) as isolated:
        answer = await benchmark.attempt(item, ListenedPolicy(policy), 0, isolated)
        async with isolated.world() as world:
            return answer, await world.run("score_of", item.id, answer)


@pytest.mark.parametrize("call", ODD, ids=lambda call: repr(call.arguments)[:20])
async def test_odd_arguments_are_the_executables_business(call):
    _, score = await attempt(ByTurn((call,)))
    assert score["figures"]["accuracy"] == 1, score["detail"]


@pytest.mark.parametrize("number", range(len(UNREADABLE)))
async def test_a_call_that_cannot_be_read_ends_its_turn_as_in_the_package(number):
    answer, score = await attempt(ByTurn((UNREADABLE[number],)))
    assert len(answer["result"][0]) == 1  # then the second turn begins
    assert score["detail"].startswith("empty_turn_model_response") and score["detail"].endswith("turn 0")


ENDLESS = [
    ("power", {"base": 7, "exponent": 10**9}),
    ("power", {"base": 10**4000, "exponent": 10**6}),
    ("logarithm", {"value": 7, "base": 3, "precision": 10**8}),
]


@pytest.mark.parametrize(("name", "arguments"), ENDLESS)
async def test_a_call_that_never_ends_ends_the_conversation(name, arguments):
    benchmark = BFCL(step_seconds=0.5)
    item = next(item for item in benchmark.items() if "MathAPI" in entries()[item.id].classes)
    policy = ScriptedPolicy(([Call(name, arguments)],))
    async with Isolated(benchmark) as isolated:
        answer = await benchmark.attempt(item, ListenedPolicy(policy), 0, isolated)
        async with isolated.world() as world:  # nothing is run again
            score = await world.run("score_of", item.id, answer, seconds=30)
    assert score["detail"] == "ended in turn 0: step took longer than 0.5 seconds"
    assert score["figures"]["accuracy"] == 0


def test_an_answer_of_others_that_never_ends_counts_as_the_floor(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation, "_SCORE_SECONDS", 1.0)
    name = next(entry.id for entry in entries().values() if "MathAPI" in entry.classes)
    endless = [[[{"power": '{"base": 7, "exponent": 1000000000}'}]] for _ in entries()[name].expected]
    (tmp_path / "results.json").write_text(json.dumps({"id": name, "result": endless}))
    (record,) = score(BFCL(), BFCL().read_results(tmp_path / "results.json"))
    assert record.detail.startswith(UNSCORABLE) and record.figures == record.floor


def test_an_evaluation_outlives_a_policy_that_breaks_everything(tmp_path):
    calls = (*UNREADABLE[3:], *ODD[:3], *ODD[4:])
    policy = ScriptedPolicy(tuple(Reply("", (call,)) for call in calls))
    done = evaluate(BFCL(tasks=8), policy, tmp_path)
    assert done.failures == [] and [record.figures["accuracy"] for record in done.records] == [0.0] * 8
    assert score(BFCL(tasks=8), done.records) == done.records


def test_model_names_do_not_matter_since_none_is_used():
    names = [_fresh_name() for _ in range(100)]
    assert len(set(names)) == 100 and all(name.isidentifier() for name in names)
    # garbage passes in the package when the model's name makes no identifier
    garbage = [[["pwd(a=1)"] * len(texts)] for texts in ENTRY.expected]
    by = package.checker.multi_turn_checker(garbage, ENTRY.expected, ENTRY.raw, "base", "my model")
    assert by["valid"]
    turns = [[[{"pwd": '{"a": 1}'} for _ in texts]] for texts in ENTRY.expected]
    assert not BFCL().score_of(ENTRY.id, {"result": turns, "ended": "", "prompting": False}).figures["accuracy"]


def test_importing_neither_prints_nor_imports_nor_writes_beside_the_package(tmp_path):
    code = "import sys; from proverl.evals.bfcl import BFCL; print('bfcl_eval' in sys.modules); BFCL().items()"
    code += "; import os; from bfcl_eval.constants.eval_config import PROJECT_ROOT; print(PROJECT_ROOT.name)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded, folder = ran.stdout.splitlines()
    assert loaded == "False" and folder.startswith("proverl-bfcl-")
    assert ran.stderr == ""

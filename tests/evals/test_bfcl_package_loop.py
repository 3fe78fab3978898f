"""Our loop gives what the package's own loop gives on the same replies: results of calls, answer and verdict."""

import ast
import asyncio
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proverl.agent import Reply, ScriptedChat
from proverl.core import Call, MalformedCall
from proverl.evals.bfcl import BFCL
from proverl.evals.bfcl.conversation import MOST_STEPS
from proverl.evals.bfcl.entries import entries, expected_call
from proverl.evals.isolated import Isolated
from proverl.evals.listening import ListenedPolicy

BROKEN = '{"a": '
STRIDE = int(os.environ.get("BFCL_STRIDE", 9))  # every how many entries; odd, so that all sorts are met


def fuzzed(entry, rng):
    """Replies near the expected ones: each a text, or a list of (name, arguments as JSON text)."""
    turns = [
        [(call.name, json.dumps(call.arguments)) for call in (expected_call(entry, text) for text in texts)]
        for texts in entry.expected
    ]
    for _ in range(rng.choice([0, 0, 1, 2, 4])):
        rng.choice(MUTATIONS)(turns, rng)
    replies = []
    for calls in turns:
        one_by_one = len(calls) > MOST_STEPS
        while calls:
            size = 1 if one_by_one else rng.randint(1, len(calls))
            replies.append(calls[:size])
            calls = calls[size:]
        replies.append(rng.choice(["", "Done.", "What next? sort(x)", "[]"]))
    if rng.random() < 0.1:
        replies.insert(rng.randrange(len(replies)), "That is all.")
    return replies


def drop(turns, rng):
    if calls := rng.choice(turns):
        calls.pop(rng.randrange(len(calls)))


def double(turns, rng):
    if calls := rng.choice(turns):
        calls.insert(rng.randint(0, len(calls)), rng.choice(calls))


def shuffle(turns, rng):
    rng.shuffle(rng.choice(turns))


def move(turns, rng):
    if calls := rng.choice(turns):
        rng.choice(turns).append(calls.pop(rng.randrange(len(calls))))


def change(turns, rng):
    calls = rng.choice(turns)
    whole = [at for at, call in enumerate(calls) if call[1] != BROKEN]
    if not whole:
        return
    at = rng.choice(whole)
    name, arguments = calls[at][0], json.loads(calls[at][1])
    if arguments:
        key = rng.choice(sorted(arguments))
        other = [
            arguments[key],
            None,
            7,
            -1.5,
            True,
            "",
            'it\'s "x"\n',
            ["a", {"b": [1]}],
            {},
            {"a": {"b": 1}},
            "mv (x)",
        ]
        arguments[key] = rng.choice(other)
    if rng.random() < 0.2:
        arguments["more"] = 1
    if arguments and rng.random() < 0.2:
        arguments.pop(sorted(arguments)[0])
    calls[at] = (name, json.dumps(arguments))


def break_arguments(turns, rng):
    rng.choice(turns).append(("pwd", BROKEN))


def invent(turns, rng):
    rng.choice(turns).insert(0, (rng.choice(["no_such_tool", "Sort", "make.file"]), '{"a": 1}'))


def go_on(turns, rng):
    at = rng.randrange(len(turns))
    turns[at] += [("no_such_tool", "{}")] * (MOST_STEPS + 3)


MUTATIONS = [drop, double, shuffle, move, change, change, break_arguments, invent, go_on]


class Scripts:
    """Says each entry's replies, also across the two chats of an entry that gets more tools."""

    def __init__(self, replies):
        self.left = {name: [reply_of(said) for said in script] for name, script in replies.items()}

    def chat(self, task, limits, seed=0):
        chat = ScriptedChat()
        chat._replies = self.left[task.id]
        return chat


def reply_of(said):
    return said if isinstance(said, str) else Reply("", tuple(read(*call) for call in said))


def read(name, arguments):
    try:
        return Call(name, json.loads(arguments))
    except ValueError as error:
        return MalformedCall(f"{name}({arguments})", str(error))


def written(said):
    """Calls as a prompted model writes them."""
    if isinstance(said, str):
        return said
    calls = []
    for name, arguments in said:
        try:
            given = json.loads(arguments)
        except ValueError:
            return "[pwd(a=]"
        calls.append(f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})")
    return f"[{', '.join(calls)}]"


def by_package(folder, scripts, prompting):
    out = folder / "package.json"
    environment = {"BFCL_PROJECT_ROOT": str(folder), "PATH": os.environ["PATH"]}
    subprocess.run(
        [sys.executable, Path(__file__).with_name("bfcl_package_loop.py"), out],
        input=json.dumps({"prompting": prompting, "scripts": scripts}),
        text=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(out.read_text())


async def play(benchmark, policy, names):
    """What each entry's attempt gives: the answer, the conversation, the score."""
    items = {item.id: item for item in benchmark.items()}
    slots = asyncio.Semaphore(16)

    async def one(name):
        heard = ListenedPolicy(policy)
        async with slots:
            answer = await benchmark.attempt(items[name], heard, 0, isolated)
            async with isolated.world() as world:
                return answer, heard.messages, await world.run("score_of", name, answer)

    async with Isolated(benchmark) as isolated:
        return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))


def told(messages, prompting):
    if not prompting:
        results = [message["content"] for message in messages if message["role"] == "tool"]
        return [text for text in results if not text.startswith("Error: the calls could not be read")]
    said = [message["content"] for message in messages if message["role"] == "user"]
    lists = [ast.literal_eval(text) for text in said if text.startswith("[{'role': 'tool'")]
    return [result["content"] for results in lists for result in results]


def plain(result):
    """An answer without how a broken call is kept, which is each loop's own business."""
    return [
        [step if isinstance(step, str) else [kept(*call.items()) for call in step] for step in turn] for turn in result
    ]


def kept(call):
    try:
        return [call[0], json.loads(call[1])]
    except ValueError:
        return "broken"


@pytest.mark.parametrize("prompting", [False, True])
async def test_every_entry_gets_what_the_package_gives_it(tmp_path, prompting):
    chosen = list(entries().values())[prompting :: STRIDE * (1 + prompting)]
    scripts = {entry.id: fuzzed(entry, random.Random(entry.id)) for entry in chosen}
    if prompting:
        scripts = {name: [written(said) for said in script] for name, script in scripts.items()}
    expected = by_package(tmp_path, scripts, prompting)
    ours = await play(BFCL(prompting=prompting), Scripts(scripts), list(scripts))
    for name, (answer, messages, score) in ours.items():
        theirs = expected[name]
        # the package puts the model's name before a function's name in an argument's text
        heard = [re.sub(r"proverl\d+_multi", "scripted_multi", text) for text in told(messages, prompting)]
        assert heard == theirs["told"][: len(heard)], name
        # nobody hears the results of the step after which the conversation is ended
        assert len(heard) == len(theirs["told"]) or score["figures"]["forced_quit"], name
        assert plain(answer["result"]) == plain(theirs["result"]), name
        assert score["figures"]["accuracy"] == theirs["valid"], (name, score["detail"])
    figures = [score["figures"] for _, _, score in ours.values()]
    assert 0.1 * len(chosen) < sum(one["accuracy"] for one in figures) < 0.9 * len(chosen)  # both verdicts are met
    assert any(one["forced_quit"] for one in figures)


def test_the_step_limit_is_the_packages():
    from proverl.evals.bfcl import package

    assert package.prompts.MAXIMUM_STEP_LIMIT == MOST_STEPS

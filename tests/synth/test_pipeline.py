"""Datasets: the same bytes however they are made, nothing lost by a kill, every draw accounted for."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest
from endpoint_server import answer, serving

from proverl.agent import Limits
from proverl.core import TaskKind
from proverl.synth import (
    Impossible,
    ScriptedTeacher,
    SynthConfig,
    Synthesis,
    Workers,
    pipeline,
    read_tasks,
    synthesize,
    write_dataset,
)
from proverl.synth.block import Block, BlockMaker
from proverl.synth.data.own import InvalidTasks
from proverl.synth.teachers.config import TeacherConfig
from proverl.synth.teachers.endpoint import EndpointTeacher
from proverl.synth.validate import check_sources, replay

CONFIG = SynthConfig(servers=("banking", "calendar"), train_tasks=40, heldout_tasks=8)
FILES = ("train.parquet", "heldout.parquet")
SCRIPT = """
import sys
from pathlib import Path
from tests_config import CONFIG
from proverl.agent import Limits
from proverl.synth import Synthesis, write_dataset
write_dataset(Synthesis(CONFIG, 0, Limits()), Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    write_dataset(Synthesis(CONFIG, 0, Limits()), folder)
    return folder


def same(one, other):
    return all((one / file).read_bytes() == (other / file).read_bytes() for file in FILES)


def test_two_processes_make_the_same_bytes_as_one(unbroken, tmp_path):
    write_dataset(Synthesis(CONFIG, 0, Limits(), workers=Workers(2)), tmp_path)
    assert same(unbroken, tmp_path)


def test_a_killed_synthesis_goes_on_and_ends_with_the_same_bytes(unbroken, tmp_path):
    folder = tmp_path / "killed"
    config = f"from proverl.synth import SynthConfig\nCONFIG = {CONFIG!r}\n"
    (tmp_path / "tests_config.py").write_text(config)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for blocks in (1, 3):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], env=environment)
        while process.poll() is None and len(list(folder.glob("parts/*.jsonl"))) < blocks:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (folder / "counts.json").exists()
    kept = {part: part.read_bytes() for part in folder.glob("parts/*.jsonl")}
    assert len(kept) >= 3
    write_dataset(Synthesis(CONFIG, 0, Limits()), folder)
    assert same(unbroken, folder)
    assert not (folder / "parts").exists()


def test_every_draw_is_accounted_for(unbroken):
    counts = json.loads((unbroken / "counts.json").read_text())
    for split, size in (("train", 40), ("heldout", 8)):
        assert counts[split]["kept"] == size == len(read_tasks(unbroken / f"{split}.parquet"))
        assert counts[split]["candidates"] == size + sum(counts[split]["dropped"].values())
    assert counts["settings"]["train_tasks"] == 40


def test_own_tasks_are_added_and_a_faulty_one_stops_before_any_work(tmp_path):
    row = {"servers": ["banking"], "seed": 3, "turns": ["Who are they?"], "calls": [[{"name": "find_customers"}]]}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row) + "\n")
    config = SynthConfig(servers=("banking",), train_tasks=4, heldout_tasks=1, own_tasks=str(path))
    write_dataset(Synthesis(config, 0, Limits()), tmp_path)
    tasks = read_tasks(tmp_path / "train.parquet")
    assert len(tasks) == 5
    assert sum(task.notes.get("origin") == "own" for task in tasks) == 1
    path.write_text(json.dumps({**row, "turns": [""]}) + "\n")
    with pytest.raises(InvalidTasks):
        write_dataset(Synthesis(config, 0, Limits()), tmp_path / "never")
    assert not (tmp_path / "never").exists()


def test_abstention_rows_are_made_here_when_the_hub_cannot_be_reached(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    config = SynthConfig(servers=("banking", "calendar"), train_tasks=20, heldout_tasks=1, abstention=0.2, when2call=4)
    write_dataset(Synthesis(config, 0, Limits()), tmp_path)
    told = json.loads((tmp_path / "counts.json").read_text())["outside"]["when2call"]
    tasks = read_tasks(tmp_path / "train.parquet")
    assert sum(task.kind == TaskKind.ABSTENTION for task in tasks) == 4
    assert told.startswith("none of 4 tasks: when2call")


class Prompted:
    """An endpoint teacher whose model happens to say what the script says."""

    name = "some-model"

    def __init__(self, endpoint, journal):
        config = TeacherConfig(name=self.name, model="some-model", base_url=endpoint.url)
        self.endpoint, self.asked, self.script = endpoint, EndpointTeacher(config, journal), ScriptedTeacher()

    async def query(self, scene):
        self.endpoint.default = answer(await self.script.query(scene))
        return await self.asked.query(scene)

    async def act(self, scene):
        reply = await self.script.act(scene)
        calls = [(call.name, json.dumps(call.arguments)) for call in reply.calls]
        self.endpoint.default = answer(reply.text, calls)
        return await self.asked.act(scene)


def test_a_model_behind_an_endpoint_makes_proven_rows_and_is_paid_once(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    config = SynthConfig(
        servers=("banking", "calendar"), tasks_per_world=1, information=(0.4, 0.3, 0.3), indirect=0.5, recovery=0.3
    )
    with serving() as endpoint:
        tasks = synthesize(config, 0, "train", 12, Limits(), Prompted(endpoint, tmp_path / "journal.sqlite"))
        asked = len(endpoint.requests)
        again = synthesize(config, 0, "train", 12, Limits(), Prompted(endpoint, tmp_path / "journal.sqlite"))
        assert len(endpoint.requests) == asked > 40
    assert again == tasks
    assert {task.notes["teacher"] for task in tasks} == {"some-model"}
    for task in tasks:  # what the model did not tell, tracing has found: the same checks as for any row
        check_sources(task)
        asyncio.run(replay(task, Limits()))
    assert any(edge.kind == "value" for task in tasks for edge in task.ground_truth.edges)


def test_a_model_that_only_talks_makes_no_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr("proverl.synth.block._TRIES", 2)
    monkeypatch.setattr("proverl.synth.pipeline._BARREN", 2)
    with serving() as endpoint:
        endpoint.default = answer("{}")
        teacher = EndpointTeacher(
            TeacherConfig(name="some-model", model="some-model", base_url=endpoint.url), tmp_path / "journal.sqlite"
        )
        config = SynthConfig(servers=("banking",), abstention=0, clarification=0)
        with pytest.raises(Impossible, match="the teacher gave no usable reply"):
            synthesize(config, 0, "train", 1, Limits(), teacher)


class _Silent(BlockMaker):
    """Calendar has no chain to give."""

    async def make(self, split, server, number):
        return Block() if server == "calendar" else await super().make(split, server, number)


def test_what_a_server_has_no_more_of_others_make_and_the_counts_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "BlockMaker", _Silent)
    write_dataset(Synthesis(replace(CONFIG, train_tasks=8, heldout_tasks=2), 0, Limits()), tmp_path)
    assert {task.notes["server"] for task in read_tasks(tmp_path / "train.parquet")} == {"banking"}
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert (counts["train"]["kept"], counts["train"]["ceded"]) == (8, {"calendar": 4})


def test_when_no_server_has_more_the_error_says_how_many_there_were(monkeypatch):
    monkeypatch.setattr(pipeline, "BlockMaker", _Silent)
    with pytest.raises(Impossible, match="calendar gave 0 train tasks .* synth.train_tasks, or name more servers"):
        synthesize(replace(CONFIG, servers=("calendar",)), 0, "train", 4, Limits())


def test_every_server_has_its_share_of_every_kind():
    config = replace(CONFIG, abstention=0.5, clarification=0.0)
    tasks = synthesize(config, 0, "train", 8, Limits())
    found = Counter((task.notes["server"], task.kind) for task in tasks)
    assert set(found.values()) == {2} and len(found) == 4


def test_servers_held_out_are_in_held_out_tasks_alone_and_in_all_of_them(tmp_path):
    config = replace(CONFIG, servers=("banking", "calendar", "email"), holdout_servers=("calendar",), train_tasks=24)
    write_dataset(Synthesis(config, 0, Limits()), tmp_path)
    train, heldout = (read_tasks(tmp_path / file) for file in FILES)
    assert {name for task in train for name in task.servers} == {"banking", "email"}
    assert {name for task in heldout for name in task.servers} == {"calendar"}
    # not even the tools of the server are seen in training
    assert {tool.server for task in train for tool in task.tools} == {"banking", "email"}


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (("email",), "synth.holdout_servers has email, which synth.servers has not"),
        (("banking", "calendar"), "synth.holdout_servers has all of synth.servers; leave some to train on"),
    ],
)
def test_servers_that_cannot_be_held_out_are_refused(held, told):
    with pytest.raises(ValueError, match=told):
        replace(CONFIG, holdout_servers=held)

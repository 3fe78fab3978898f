"""Comparisons of made-up runs in a real store: figures against numbers worked by hand, and the page they stand on."""

import gzip
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import pytest
from made_runs import Made, record
from mlflow.tracking import MlflowClient
from scipy import stats

from experiments.attempts import read_attempts
from experiments.comparison.changed_episodes import changed
from experiments.comparison.findings import Row, corrected, findings
from experiments.comparison.page import against, main_results, page, settings
from experiments.comparison.paper import paper
from experiments.comparison.recorded import _named, find
from experiments.comparison.words import agreement, sentences
from experiments.config import RunError
from experiments.store import opened

ROOT = Path(__file__).parents[2]
HOSTILE = "</div><script>alert('x')</script><img src=http://evil.example/x>"
SWEEP = {"sweep.ab12": "small"}
BOTH = ("heldout/success/before", "heldout/success/after")


@pytest.fixture(scope="module")
def ids(tmp_path_factory, with_store):
    """A store with a sweep of two variants by two seeds, runs of other kinds, and the ids of all of them."""
    folder = with_store(tmp_path_factory.mktemp("runs"))
    long = Made(
        "no_efficiency", 0, extra=2.0, tags=SWEEP, said=HOSTILE, metrics={"cost/hours": 0.25}, tasks=12, steps=10
    )
    made = {
        "full-0": Made(seed=0, tags=SWEEP, tasks=12, steps=10, metrics={"cost/hours": 0.5}),
        "full-1": Made(seed=1, tags=SWEEP, tasks=12, steps=10),
        "long-0": long,
        "long-1": Made(**{**vars(long), "seed": 1}),
        "other tasks": Made("sft", 0, world=7, tasks=12, steps=0),
        "failed": Made("no_arg", 0, status="FAILED", evaluated=False, steps=0),
        "no attempts": Made("no_name", 0, evaluated=False, steps=0, metrics={"heldout/success/before": 0.5}),
        "none after": Made("beta0", 0, trained=False, metrics=dict.fromkeys(BOTH, 0.5)),
        "4b": Made(
            "main", 0, tasks=6, steps=0, bfcl={"base": ([0, 0, 1, 0], [1, 0, 1, 1]), "miss_func": ([0, 0], [0, 1])}
        ),
        "4b beta0": Made(
            "beta0",
            0,
            tasks=6,
            steps=0,
            overrides=("model=qwen3_4b",),
            bfcl={"base": ([0, 0, 1, 0], [1, 0, 1, 0]), "miss_func": ([0, 0], [0, 0])},
        ),
    }
    found = {name: record(folder, one) for name, one in made.items()}
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    tags = {"sweep": "small", "sweep.id": "ab12", "sweep.command": "uv run python -m experiments.run -m seed=0,1"}
    group = client.get_experiment_by_name("proverl").experiment_id
    sweep = client.create_run(group, tags=tags, run_name="small-ab12").info.run_id
    return {**found, "sweep": sweep, "folder": folder, "client": client}


def chosen(ids, *names, **wanted):
    return find(ids["client"], "proverl", [ids.get(name, name) for name in names], **wanted)


@pytest.fixture(scope="module")
def small(ids):
    """The findings about the sweep."""
    return findings(chosen(ids, "sweep").runs)


def names(ids, selection):
    known = {key: name for name, key in ids.items() if isinstance(key, str)}
    return {known[run.id] for run in selection.runs}


SMALL = {"full-0", "full-1", "long-0", "long-1"}


def test_runs_are_chosen_by_sweep_id_name_overlay_and_tag(ids):
    for name in ("small", "ab12", "small-ab12", ids["sweep"][:9]):
        assert names(ids, chosen(ids, name)) == SMALL
    assert names(ids, chosen(ids, ids["full-0"][:8], "4b")) == {"full-0", "4b"}
    assert names(ids, chosen(ids, experiments=["sft", "main"])) == {"other tasks", "4b"}
    assert names(ids, chosen(ids, tags=["model=tiny", "seed=1"])) == {"full-1", "long-1"}
    assert names(ids, chosen(ids)) == SMALL | {"other tasks", "4b", "4b beta0"}


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"names": ["nobody"]}, "nobody is neither the id nor the name of a run or a sweep"),
        ({"tags": ["model"]}, "--tag model is no KEY=VALUE"),
        ({"names": [""]}, "A name is empty"),
    ],
)
def test_a_choice_of_nothing_is_one_sentence(ids, wanted, told):
    with pytest.raises(RunError, match=told):
        find(ids["client"], "proverl", **wanted)


def test_the_start_of_several_ids_is_no_choice():
    runs = [SimpleNamespace(info=SimpleNamespace(run_id=key), data=SimpleNamespace(tags={})) for key in ("ab", "ac")]
    with pytest.raises(RunError, match="a is the start of 2 runs: give more of the id"):
        _named(None, "0", runs, "a")
    assert _named(None, "0", runs, "ab") == runs[:1]


def test_what_cannot_be_compared_is_said_with_the_reason(ids):
    left = {one.name.rpartition("-")[0]: one.reason for one in chosen(ids).left_out}
    assert left["no_arg-tiny-s0"] == "failed"
    lacks = "lacks attempts among its artifacts ({}): its command, typed again, adds them"
    assert left["no_name-tiny-s0"] == lacks.format("before-heldout")
    assert left["beta0-tiny-s0"] == lacks.format("after-heldout")  # else it would pass for an evaluation
    selection = chosen(ids)
    assert "Left out: no_arg" in list(sentences(findings(selection.runs, selection.left_out)))[-1]


def test_a_sweep_whose_runs_all_are_compared_is_known(ids):
    assert chosen(ids, "sweep").sweep == chosen(ids, *SMALL).sweep == ids["sweep"]
    assert chosen(ids, "sweep").sweep_command.endswith("-m seed=0,1")
    assert chosen(ids, "full-0", "4b").sweep == ""


def per_seed(ids, variant, figure, when="after"):
    """The figure of every attempt, for each seed."""
    runs = {run.seed: run for run in chosen(ids, "sweep").runs if run.experiment == variant}
    return [
        [one.figures[figure] for one in read_attempts(runs[seed].evaluations[f"{when}-heldout"]).records]
        for seed in sorted(runs)
    ]


def row(found, variant, benchmark="heldout"):
    rows = [one for table in found.tables if table.benchmark == benchmark for one in table.rows]
    return next(one for one in rows if one.variant.name == variant)


def test_a_difference_is_paired_and_its_interval_is_the_wider_of_seeds_and_items(ids, small):
    pairs = zip(per_seed(ids, "default", "calls"), per_seed(ids, "no_efficiency", "calls"), strict=True)
    gaps = [[after - before for before, after in zip(*pair, strict=True)] for pair in pairs]
    seeds = [fmean(gap) for gap in gaps]
    items = gaps[0] + gaps[1]
    halves = [stats.t.ppf(0.975, len(of) - 1) * stats.sem(of) for of in (seeds, items)]
    found = row(small, "no_efficiency").figures["calls"]
    assert found.seeds == 2
    assert found.against.difference.mean == pytest.approx(fmean(seeds))
    assert found.against.difference.high - fmean(seeds) == pytest.approx(max(halves))
    assert found.against.p == pytest.approx(stats.ttest_1samp(seeds, 0).pvalue)


def test_what_training_gains_is_paired_too(ids, small):
    before, after = (per_seed(ids, "default", "success", when) for when in ("before", "after"))
    found = row(small, "default").figures["success"]
    assert found.before.mean == pytest.approx(fmean(map(fmean, before)))
    assert found.gain.difference.mean == pytest.approx(fmean(map(fmean, after)) - fmean(map(fmean, before)))
    assert found.against is None


def test_an_ablated_reward_is_compared_on_the_scale_of_the_whole_one(ids, small):
    own = fmean(value for seed in per_seed(ids, "no_efficiency", "total") for value in seed)
    penalty = fmean(value for seed in per_seed(ids, "no_efficiency", "efficiency") for value in seed)
    assert penalty < 0
    assert row(small, "no_efficiency").figures["total"].after.mean == pytest.approx(own + 0.15 * penalty)


def test_other_tasks_of_the_same_names_are_not_compared(ids):
    found = row(findings(chosen(ids, "full-0", "other tasks").runs), "sft")
    assert found.note == "not compared: other tasks"
    assert found.figures["success"].against is None and found.figures["success"].after


def test_p_values_hold_for_all_variants_of_a_figure_at_once(ids):
    found = findings(chosen(ids, "sweep", "other tasks").runs, reference="no_efficiency")
    raw = row(found, "default").figures["calls"]
    assert raw.adjusted == raw.against.p  # sft has other tasks, so nothing else is tested
    kept = zip(found.variants, (0.04, 0.01, 0.03), strict=True)
    rows = [Row(one, 1, 0, {"calls": replace(raw, against=replace(raw.against, p=p))}) for one, p in kept]
    assert [one.figures["calls"].adjusted for one in corrected(rows)] == pytest.approx([0.06, 0.03, 0.06])


def test_a_reference_that_is_not_there_is_one_sentence(ids):
    with pytest.raises(RunError, match="--reference full is none of the variants: default, no_efficiency"):
        findings(chosen(ids, "sweep").runs, reference="full")


def test_of_two_runs_of_one_seed_the_later_counts(tmp_path, with_store):
    folder = with_store(tmp_path)
    first, second = (record(folder, Made(tasks=4, steps=0)) for _ in range(2))
    found = findings(find(MlflowClient(f"sqlite:///{folder}/mlflow.db"), "proverl").runs)
    assert found.variants[0].runs[0].id == second != first
    assert found.left_out[0].reason == "was repeated later (seed 0 of default)"


def test_runs_of_one_overlay_are_told_apart_by_what_was_set(tmp_path, with_store):
    folder = with_store(tmp_path)
    for algorithm in ("grpo", "dr_grpo"):
        record(folder, Made(tasks=4, steps=0, overrides=(f"trainer.algorithm={algorithm}",)))
    found = findings(find(MlflowClient(f"sqlite:///{folder}/mlflow.db"), "proverl").runs)
    assert {one.name for one in found.variants} == {
        "default trainer.algorithm=grpo",
        "default trainer.algorithm=dr_grpo",
    }
    (grid,) = settings(found)
    assert [cell.text for cell in grid.rows[0]] == ["trainer.algorithm", "dr_grpo", "grpo"]


def test_an_evaluation_is_not_a_run_that_trained(tmp_path, with_store):
    folder = with_store(tmp_path)
    trained = record(folder, Made(tasks=4, steps=0))
    stages, later = "stages=[synth,evals]", dict(tasks=4, steps=0, trained=False)
    record(folder, Made(**later, overrides=(stages,)))
    record(folder, Made(**later, overrides=(stages, "policy=oracle")))
    record(folder, Made(**later, overrides=(stages, "policy=endpoint", "policy.base_url=http://x", "policy.model=m")))
    found = findings(find(MlflowClient(f"sqlite:///{folder}/mlflow.db"), "proverl").runs)
    assert {(one.name, one.model) for one in found.variants} == {
        ("default", "tiny"),
        ("default (evaluation)", "tiny"),
        ("default", "the oracle policy"),
        ("default", "m"),
    }
    assert not found.left_out
    assert found.references["tiny"].runs[0].id == trained


def test_evaluations_of_two_checkpoints_are_two_variants(tmp_path, with_store):
    folder = with_store(tmp_path)
    for place in ("a", "b"):
        record(folder, Made(tasks=4, steps=0, trained=False, overrides=(f"model.path={place}",)))
    found = findings(find(MlflowClient(f"sqlite:///{folder}/mlflow.db"), "proverl").runs)
    assert {one.name for one in found.variants} == {"default model.path=a", "default model.path=b"}


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", gzip.compress(b"{}", mtime=0), gzip.compress(b"[1]", mtime=0)[:-4]],
    ids=["empty", "garbage", "another schema", "cut short"],
)
def test_a_run_whose_attempts_are_damaged_is_left_out_and_named(tmp_path, with_store, content):
    folder = with_store(tmp_path)
    whole, damaged = (record(folder, Made(seed=seed, tasks=2, steps=0)) for seed in (0, 1))
    file = folder / "artifacts" / damaged / "artifacts" / "attempts" / "after-heldout.json.gz"
    file.write_bytes(content)
    found = find(MlflowClient(f"sqlite:///{folder}/mlflow.db"), "proverl")
    assert [run.id for run in found.runs] == [whole]
    assert "has attempts that can't be read" in found.left_out[0].reason


def test_a_store_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "mlflow.db").write_text("no database")
    with pytest.raises(RunError, match="can't be read .*give --uri or --runs-dir"):
        opened(f"sqlite:///{tmp_path}/mlflow.db")


def texts(grid):
    return {row[0].text: [cell.text for cell in row[1:]] for row in grid.rows}


def test_the_papers_table_has_our_figures_of_the_benchmarks_that_were_run(ids):
    found = findings(chosen(ids, "4b", "4b beta0").runs)
    (grid,) = main_results(found)
    assert grid.headings[1:] == ["BFCL base", "BFCL miss func", "BFCL multi-turn"]
    rows = texts(grid)
    assert rows["main, before"] == ["25.0", "0.0", "12.5"]  # the overall figure is the mean of the categories
    assert rows["main, after"] == ["75.0", "50.0", "62.5"]
    assert rows["paper: base"] == ["23.5", "14.0", "18.8"]
    assert rows["paper: beta0"] == ["", "", "22.4"]
    assert "another model" not in grid.caption


def test_differences_stand_beside_the_papers(ids, small):
    grids = {grid.title: grid for grid in against(findings(chosen(ids, "4b", "4b beta0").runs))}
    grid = grids["Against main: bfcl, qwen3_4b"]
    ours = dict(zip(grid.headings, [cell.text for cell in grid.rows[0]], strict=True))
    assert ours["accuracy, %"] == "−37.5" and ours["paper: BFCL multi-turn"] == "−6.6"
    (grid,) = against(findings(chosen(ids, "sweep", "other tasks").runs, reference="no_efficiency"))
    rows = texts(grid)
    assert grid.headings[-3:] == ["paper: BFCL multi-turn", "paper: tau2", "paper: T-Eval"]
    assert (rows["default"][-3:], rows["sft"][-3:]) == (["+4.0", "+0.1", "+1.7"], ["+1.2", "−8.9", "−1.8"])
    (grid,) = against(small)
    assert "tiny is another model" in grid.caption
    assert dict(zip(grid.headings, grid.rows[0], strict=True))["paper: tau2"].text == "−0.1"


def test_figures_of_the_paper_agree_with_each_other():
    strata = {"bfcl": ("base", "miss_param", "miss_func", "long_context"), "tau2": ("airline", "retail", "telecom")}
    for model, variants in paper().variants.items():
        assert model in paper().models
        for name in ("base", "full"):
            for benchmark, parts in strata.items():
                mean = fmean(variants[name][f"{benchmark}/{part}"] for part in parts)
                assert variants[name][benchmark] == pytest.approx(mean, abs=0.06), (model, name, benchmark)
    assert paper().difference("qwen3_4b", "no_arg", "full", "bfcl") == pytest.approx(1.6)
    assert paper().difference("qwen3_4b", "no_arg", "sft", "bfcl") == pytest.approx(4.4)
    assert paper().difference("granite", "no_arg", "full", "bfcl") is None
    assert paper().difference("qwen3_4b", "full", "full", "bfcl") is None


def test_an_order_of_two_is_none(small):
    assert agreement(small.tables[0]) is None


def test_the_summary_says_what_the_tests_bear(small):
    told = " ".join(sentences(small))
    assert "4 runs of tiny: 2 variants, seeds 0, 1; the reference is default." in told
    calls = row(small, "no_efficiency").figures["calls"]
    said = next(one for one in sentences(small) if "no_efficiency against default in calls per task" in one)
    assert f": +{calls.against.difference.mean:.3f} [" in said
    assert said.endswith("which is noise.") != calls.clear


def test_a_reference_that_is_not_the_whole_method_is_said(ids):
    told = next(sentences(findings(chosen(ids, "long-0", "other tasks").runs)))
    assert told.endswith("; the reference is no_efficiency, since the whole method is not among them.")


def test_the_episodes_that_changed_most_come_first_with_what_was_expected(small):
    ((title, kept),) = changed(small)
    assert title == "no_efficiency against default, held-out tasks"
    changes = [abs(one.change) for one in kept]
    assert len(kept) == 3 and changes == sorted(changes, reverse=True) and changes[-1] > 0
    one = kept[0]
    assert one.first.variant == "default" and one.first.record.item == one.second.record.item
    assert all(re.fullmatch(r'\w+_\d\(to="ACC-\d+"\)', call) for call in one.expected)
    call = next(message for message in one.second.messages if "call" in message)
    assert call["result"] == '{"ok":true}' and not call["failed"]


class Loads(HTMLParser):
    """What a browser would load or run, and the text of the styles."""

    def __init__(self):
        super().__init__()
        self.loads, self.styles, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action", "poster") or name.endswith("href") or name.startswith("on"):
                self.loads += [] if name == "href" and value.startswith("#") else [(tag, name, value)]
            if value and ("url(" in value.replace("url(#", "") or "javascript:" in value):
                self.loads.append((tag, name, value))

    def handle_data(self, data):
        if self.lasttag == "style":
            self.styles.append(data)


@pytest.fixture(scope="module")
def html(small):
    return page(small, "uv run python -m experiments.compare small", "uv run python -m experiments.run -m seed=0,1")


def test_the_page_loads_nothing_and_runs_nothing(html):
    parser = Loads()
    parser.feed(html)
    assert parser.loads == [] and not parser.tags & {"script", "link", "iframe", "img", "object", "embed", "base"}
    assert not re.search(r"@import|url\((?!#)", "".join(parser.styles))
    assert {"svg", "table", "details"} <= parser.tags


def test_what_a_model_said_is_never_markup(html):
    assert "<script" not in html and "&lt;script&gt;alert(" in html


def test_every_colour_has_a_value_in_light_and_in_dark(html):
    light, dark = re.search(
        r":root \{(.*?)\}.*?prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", html, re.DOTALL
    ).groups()
    used = set(re.findall(r"var\((--[\w-]+)\)", html))
    assert {"--ink", "--v0"} <= used
    for theme in (light, dark):
        assert used <= set(re.findall(r"(--[\w-]+):", theme))
    assert not re.search(r"(stroke|fill): #", html[html.index("<svg") :])  # no colour of a picture is its own


def test_the_page_says_what_it_is_made_of(html):
    for part in (
        "no_efficiency",
        "reward.efficiency",
        "0.25",
        "c0ffee",
        "experiments.run -m seed=0,1",
        "compare small",
    ):
        assert part in html
    assert "n = 24 items" in html and "2 seeds" in html


def test_a_single_run_has_a_page_too(ids):
    found = findings(chosen(ids, "full-0").runs)
    text = page(found, "compare")
    (name,) = (run.name for one in found.variants for run in one.runs.values())
    assert f"uv run python -m experiments.rerun {name}\n" in text
    assert "1 run of tiny: 1 variant, seed 0." in text and "Against" not in text
    assert row(found, "default").figures["success"].gain.difference.low < 1
    assert not any(math.isnan(one.before.low) for one in row(found, "default").figures.values())


def run(*arguments):
    command = [sys.executable, "-m", "experiments.compare", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)


def test_the_command_prints_tables_writes_both_files_and_keeps_them_in_the_sweeps_run(ids, tmp_path):
    done = run("small", "--runs-dir", ids["folder"], "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Against default: held-out tasks, tiny" in done.stdout and "no_efficiency" in done.stdout
    assert done.stdout.splitlines()[-1] == str(tmp_path / "figures.json")
    found = json.loads((tmp_path / "figures.json").read_text())
    (table,) = found["benchmarks"]
    rows = {one["variant"]: one["figures"]["calls"] for one in table["rows"]}
    assert rows["no_efficiency"]["against"]["items"] == 24 and rows["default"]["against"] is None
    kept = [file.path for file in ids["client"].list_artifacts(ids["sweep"], "compare")]
    assert kept == ["compare/figures.json", "compare/report.html"]


def test_runs_of_no_one_sweep_have_their_comparison_in_a_run_of_its_own_once(ids, tmp_path):
    from experiments.compare import log

    of = [ids["full-0"], ids["4b"]]
    for name in ("report.html", "figures.json"):
        (tmp_path / name).write_text("{}")
    group = ids["client"].get_experiment_by_name("proverl").experiment_id
    first, again = (log(ids["client"], group, "", of, tmp_path) for _ in range(2))
    assert first == again != log(ids["client"], group, "", of[:1], tmp_path)
    assert len(names(ids, chosen(ids))) == len(SMALL) + 3  # it is no run to compare


def test_a_store_without_runs_ends_with_a_sentence(tmp_path, with_store):
    done = run("--runs-dir", tmp_path)
    assert done.returncode == 2
    assert "is not there: run `uv run python -m experiments.run` first" in done.stderr
    done = run("--runs-dir", with_store(tmp_path))
    assert done.returncode == 2
    assert (
        "can be compared: `uv run python -m experiments.run` makes one." in done.stderr
        and "Traceback" not in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--output", "README.md"], "README.md can't be made (File exists)"),
        (["--tag", "model=none"], "can be compared that is model=none: leave some of it out."),
        (["--uri", "http://127.0.0.1:9"], "The store http://127.0.0.1:9 can't be read"),
    ],
)
def test_a_mistake_is_one_sentence(ids, arguments, told):
    done = run("--runs-dir", ids["folder"], "--no-log", *arguments)
    assert (done.returncode, done.stderr.count("\n"), told in done.stderr) == (2, 1, True), done.stderr

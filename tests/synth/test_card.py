"""The card of a dataset: its figures, its pictures, the same bytes for the same rows."""

import json
from collections import Counter
from importlib.metadata import version

import pytest
import yaml

from proverl.core import GroundTruth, Step, Task, TaskKind
from proverl.synth.data.card import write_card
from proverl.synth.data.dataset import write_tasks
from proverl.synth.data.figures import count
from proverl.synth.data.queries import Queries, mean, percentile, skeleton, spellings
from proverl.synth.data.references import Reference

COUNTS = {
    "train": {"candidates": 10, "kept": 4, "dropped": {"too similar": 5, "stuck": 1}, "seconds": 12.3},
    "heldout": {"candidates": 2, "kept": 1, "dropped": {"stuck": 1}, "seconds": 1.0},
    "seed": 7,
    "settings": {"worlds": 6},
}


@pytest.fixture
def folder(handmade, tmp_path):
    write_tasks(handmade, tmp_path / "train.parquet")
    write_tasks(handmade[1:2], tmp_path / "heldout.parquet")
    (tmp_path / "counts.json").write_text(json.dumps(COUNTS))
    return tmp_path


def test_the_card_begins_with_what_the_hub_reads(folder):
    header = yaml.safe_load(write_card(folder).read_text().split("---")[1])
    assert header["license"] == ["apache-2.0"] and header["language"] == ["en"]
    assert header["size_categories"] == ["n<1K"]
    assert header["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.parquet"},
        {"split": "heldout", "path": "heldout.parquet"},
    ]


def test_the_card_tells_mix_yield_shape_and_tools(folder):
    text = write_card(folder).read_text()
    assert "| multi_turn | 2 (50.0%) | 1 (100.0%) | 10,895 (80.6%) |" in text
    assert "| kept | 4 (40.0%) | 1 (50.0%) |" in text
    assert text.index("| too similar | 5 (50.0%) | 0 (0.0%) |") < text.index("| stuck | 1 (10.0%) | 1 (50.0%) |")
    assert "| 2 | 2 (50.0%) | 1 (100.0%) |" in text  # calls
    assert "| minimal | 1 (50.0%) | 0 (0.0%) | 20% |" in text  # of the multi_turn rows
    assert "| distractors | 1 (25.0%) | 1 (100.0%) | 40% |" in text
    assert "| corrected | 1 (25.0%) | 0 (0.0%) | - |" in text
    assert "| derived: sum | 1 | 0 |" in text and "Rows with derived values: 1 (25.0%) of train" in text
    assert "list_accounts (3)" in text and "transfer_funds (0)" in text
    assert "Held-out rows share 1 start states and 1 chains" in text
    assert "Seed 7;" in text and f"| proverl-synth | {version('proverl-synth')} |" in text
    assert all(kind in text.partition("## Samples")[2] for kind in TaskKind)


def test_equal_datasets_have_equal_cards_and_light_pictures(folder):
    first = {path.name: path.read_bytes() for path in write_card(folder).parent.iterdir()}
    second = {path.name: path.read_bytes() for path in write_card(folder).parent.iterdir()}
    assert first == second
    pictures = {name for name in first if name.endswith(".png")}
    assert pictures == {"calls.png", "turns.png", "tools.png", "words.png"}
    assert all(f"]({name})" in first["README.md"].decode() for name in pictures)
    assert not any(b"Software" in first[name] for name in pictures)


def test_a_card_needs_no_counts_and_only_one_split(handmade, tmp_path):
    with pytest.raises(FileNotFoundError, match="no train.parquet or heldout.parquet"):
        write_card(tmp_path)
    write_tasks(handmade, tmp_path / "train.parquet")
    text = write_card(tmp_path).read_text()
    assert "there is no counts.json" in text and "no benchmark was given" in text and "heldout" not in text


def test_the_card_tells_the_overlap_and_the_benchmarks_lengths(folder, handmade):
    text = write_card(folder, [Reference("Other", "user turn", (handmade[0].turns[0],))]).read_text()
    assert "- Other: 1 turns repeated" in text
    assert "| Other, user turn | 6.0 | 6 | 6 | 6 | 6 | 6 |" in text


def test_outside_rows_are_counted_apart_with_their_licence(handmade, tmp_path):
    notes = {"origin": {"source": "when2call", "row": "5"}}
    row = Task("a", TaskKind.ABSTENTION, (), 1, "", ("Hello there.",), (), GroundTruth(), notes)
    write_tasks([*handmade, row], tmp_path / "train.parquet")
    text = write_card(tmp_path).read_text()
    assert "- cc-by-4.0" in text and "From when2call: 1 train rows." in text
    assert "| when2call | 0 | 0 | 1 |" in text
    assert count([*handmade, row]).own == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Move "Team sync" to 2026-03-09T10:00.', "move _ to _."),
        ("Pay 12.50 from ACC-54927, ACC-1 and ACC-2.", "pay _ from _."),
        ("Rename ~/docs/a.txt to report.pdf", "rename _ to _"),
        ("Invite nora@lumen.example on 3 May at 9:30 am, please.", "invite _ on _ at _, please."),
        ("Could you ask Maria Lopez about Friday next week?", "could you ask _ about _ next week?"),
        ("Turn off the living room light.", "turn _ the living room light."),
        ("I'd like to, and I can wait.", "i'd like to, and i can wait."),
    ],
)
def test_values_leave_a_skeleton(text, expected):
    task = Task(
        "a", TaskKind.MULTI_TURN, (), 1, "", (text,), (), GroundTruth((Step("x", {"state": "off", "n": True}),))
    )
    assert skeleton(text, spellings(task)) == expected


def test_queries_that_differ_in_values_only_are_one():
    queries = Queries()
    for text in ("Show me ACC-1.", "Show me ACC-2.", "List the cards of ACC-2."):
        queries.add(Task("a", TaskKind.MULTI_TURN, (), 1, "", (text, "Thanks."), (), GroundTruth()))
    assert len(queries.wholes) == len(queries.firsts) == 2
    assert queries.sentences == {"show me _.": 2, "list the cards of _.": 1, "thanks.": 3}
    assert queries.distinct(1) == 9 / 14  # show me acc 1 2 list the cards of thanks


def test_means_and_percentiles_of_counted_values():
    counts = Counter({1: 90, 100: 10})
    assert (mean(counts), percentile(counts, 0.5), percentile(counts, 0.9), percentile(counts, 0.95)) == (
        10.9,
        1,
        1,
        100,
    )
    assert percentile(Counter(), 0.5) == 0

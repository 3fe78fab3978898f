"""Task files: typed for `datasets`, streamed, atomic, the same bytes for equal tasks."""

import dataclasses
import json
import tracemalloc

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proverl.core import task_to_json
from proverl.synth.data.dataset import SCHEMA, iter_tasks, read_tasks, write_tasks


def many(tasks, count):
    for number in range(count):
        yield dataclasses.replace(tasks[number % len(tasks)], id=f"row-{number}")


def test_tasks_read_back_equal(handmade, tmp_path):
    write_tasks(iter(handmade), tmp_path / "a.parquet")
    assert read_tasks(tmp_path / "a.parquet") == handmade
    (tmp_path / "a.jsonl").write_text("\n\n".join(task_to_json(task) for task in handmade), encoding="utf-8")
    assert list(iter_tasks(tmp_path / "a.jsonl")) == handmade


def test_equal_tasks_give_equal_bytes(handmade, tmp_path):
    for name in ("a", "b"):
        write_tasks(many(handmade, 300), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("count", [0, 1, 2, 600])
def test_types_do_not_depend_on_the_rows(handmade, tmp_path, count):
    write_tasks(many(handmade, count), tmp_path / "a.parquet")  # the first row has no calls and no edges
    assert pq.read_schema(tmp_path / "a.parquet").equals(SCHEMA)
    assert pq.read_metadata(tmp_path / "a.parquet").num_rows == count


def test_datasets_loads_the_columns_as_typed(handmade, tmp_path):
    for split in ("train", "heldout"):
        write_tasks(handmade if split == "train" else handmade[:1], tmp_path / f"{split}.parquet")
    files = {split: str(tmp_path / f"{split}.parquet") for split in ("train", "heldout")}
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(tmp_path / "cache"))
    assert loaded["train"].features == loaded["heldout"].features
    row = loaded["train"][1]
    assert row["calls"][0]["name"] == "list_accounts" and row["calls"][1]["turn"] == 1
    assert json.loads(row["calls"][1]["arguments"])["account_id"]["$result"]["step"] == 0
    assert row["edges"] == [{"before": 0, "after": 1, "kind": "value"}]
    assert row["persona"] == "plain" and row["perturbations"] == ["distractors"]
    assert [loaded["train"][index]["perturbations"] for index in (0, 2, 3)] == [
        ["irrelevant_query"],
        ["enums_stripped"],
        ["missing_function"],
    ]
    one = datasets.Dataset.from_parquet(files["train"], cache_dir=str(tmp_path / "cache"))
    assert one.features == loaded["train"].features


def test_memory_is_flat_in_the_number_of_rows(handmade, tmp_path):
    def peak(count):
        tracemalloc.start()
        write_tasks(many(handmade, count), tmp_path / "a.parquet")
        for _ in iter_tasks(tmp_path / "a.parquet"):
            pass
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return top + pa.total_allocated_bytes()

    assert peak(1_536) < 1.5 * peak(512)


def test_a_failure_leaves_the_old_file_and_no_other(handmade, tmp_path):
    path = tmp_path / "a.parquet"
    write_tasks(handmade, path)

    def broken():
        yield handmade[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_tasks(broken(), path)
    assert read_tasks(path) == handmade
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_tasks_are_named(tmp_path):
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"text.parquet is no Parquet file"):
        read_tasks(tmp_path / "text.parquet")
    pq.write_table(pa.table({"question": ["?"]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="no column 'task'; its columns are question"):
        read_tasks(tmp_path / "other.parquet")
    pq.write_table(pa.table({"task": ["{}"]}), tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match=r"empty.parquet, row 0"):
        read_tasks(tmp_path / "empty.parquet")
    with pytest.raises(FileNotFoundError, match="no tasks at"):
        read_tasks(tmp_path / "none.parquet")

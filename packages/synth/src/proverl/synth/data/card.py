"""The card of a dataset: what is in it, what was dropped on the way and why, as the hub's README with pictures."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from platform import python_version
from typing import Any

from proverl.synth.data import card_sections as sections
from proverl.synth.data.dataset import iter_tasks
from proverl.synth.data.figures import Figures, count
from proverl.synth.data.overlap import Report, overlap
from proverl.synth.data.plots import draw
from proverl.synth.data.references import Reference
from proverl.synth.data.transcript import transcript

SPLITS = ("train", "heldout")
_PACKAGES = ("proverl-core", "proverl-envs", "proverl-agent", "proverl-synth", "datasets", "pyarrow")
_LICENCES = {"when2call": "cc-by-4.0", "xlam_irrelevance": "cc-by-4.0"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def write_card(folder: Path, references: Sequence[Reference] = ()) -> Path:
    """Write README.md and its pictures from train.parquet, heldout.parquet and counts.json, those that are there.

    Memory does not grow with the rows. Raises FileNotFoundError when there is no split, ValueError for a bad row.
    """
    files = {split: folder / f"{split}.parquet" for split in SPLITS if (folder / f"{split}.parquet").exists()}
    if not files:
        raise FileNotFoundError(f"no {' or '.join(f'{split}.parquet' for split in SPLITS)} in {folder}")
    splits = {split: count(iter_tasks(path)) for split, path in files.items()}
    report = overlap(chain.from_iterable(map(iter_tasks, files.values())), references)
    counts_file = folder / "counts.json"
    counts = json.loads(counts_file.read_text(encoding="utf-8")) if counts_file.exists() else {}
    path = folder / "README.md"
    path.write_text(render(splits, counts, report, draw(splits, folder)), encoding="utf-8")
    return path


def render(
    splits: Mapping[str, Figures], counts: Mapping[str, Any], report: Report, pictures: Mapping[str, str]
) -> str:
    """The text of the card."""
    parts: list[Iterable[str]] = [
        _header(splits),
        _what(splits),
        sections.mix(splits),
        sections.yields({split: counts[split] for split in SPLITS if split in counts}),
        sections.shape(splits),
        sections.perturbations(splits),
        sections.values(splits),
        sections.tools(splits),
        sections.queries(splits, report),
        ["## Overlap with benchmarks\n", *report.lines()],
        [f"![{text}]({name})\n" for name, text in pictures.items()],
        _samples(next(iter(splits.values()))),
        _made(splits, counts),
    ]
    return "\n".join(chain.from_iterable(parts))


def _header(splits: Mapping[str, Figures]) -> Iterable[str]:
    """The hub's metadata, in YAML."""
    rows = sum(found.rows for found in splits.values())
    origins = {name for found in splits.values() for name in found.origins}
    licences = ["apache-2.0", *sorted({_LICENCES[name] for name in origins if name in _LICENCES})]
    yield "---\nlicense:"
    yield from (f"- {licence}" for licence in licences)
    yield "language:\n- en\npretty_name: Grounded multi-turn tool use\nsize_categories:"
    yield f"- {next((name for bound, name in _SIZES if rows < bound), 'n>1M')}"
    yield "task_categories:\n- text-generation\ntags:\n- function-calling\n- tool-use\n- multi-turn\n- mcp\n- synthetic"
    yield "configs:\n- config_name: default\n  data_files:"
    yield from (f"  - split: {split}\n    path: {split}.parquet" for split in splits)
    yield "---\n"


def _what(splits: Mapping[str, Figures]) -> Iterable[str]:
    yield "# Grounded multi-turn tool use\n"
    yield (
        "Conversations with scripted user turns, the calls that are expected and the order that they need, made on "
        "live, stateful MCP servers. Every call was executed; every argument value was said by the user, returned by "
        "an earlier call, is the reference date, or is derived from these by a named operation. The language is "
        "English.\n"
    )
    yield "```python\nfrom datasets import load_dataset\n"
    yield 'rows = load_dataset("parquet", data_files="train.parquet")\n```\n'
    yield "`task` holds the whole row as JSON (`proverl.synth.read_tasks`); the other columns are for people.\n"
    if all(split in splits for split in SPLITS):
        train, heldout = (splits[split] for split in SPLITS)
        yield (
            f"Held-out rows share {len(train.worlds & heldout.worlds)} start states and "
            f"{len(train.chains & heldout.chains)} chains of tools with training rows.\n"
        )


def _samples(found: Figures) -> Iterable[str]:
    yield "## Samples\n"
    for kind in sections.KINDS:
        if task := found.samples.get(kind):
            yield f"{task.id} ({task.kind})\n\n```text\n{transcript(task)}\n```\n"


def _made(splits: Mapping[str, Figures], counts: Mapping[str, Any]) -> Iterable[str]:
    yield "## How it was made\n"
    worlds = ", ".join(f"{len(found.worlds):,} start states in {split}" for split, found in splits.items())
    yield f"Seed {counts.get('seed', 'not known')}; {worlds}. Same seed and settings: the same bytes.\n"
    versions = [[name, _version(name)] for name in _PACKAGES]
    yield sections.table(["package", "version"], [["Python", python_version()], *versions])
    if counts.get("settings"):
        yield f"```json\n{json.dumps(counts['settings'], indent=1, sort_keys=True, ensure_ascii=False)}\n```\n"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"

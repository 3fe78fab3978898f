"""The MLflow store that commands about recorded runs read."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

_SQLITE = "sqlite:///"


def parsed(parser: ArgumentParser) -> Namespace:
    """The arguments of a command, with `runs_dir` and `uri`. Ends it when the store is not there."""
    parser.add_argument("--runs-dir", default="runs", help="the runs folder")
    parser.add_argument("--uri", help="the tracking URI; by default the SQLite store in the runs folder")
    found = parser.parse_args()
    found.uri = found.uri or f"{_SQLITE}{found.runs_dir}/mlflow.db"
    if found.uri.startswith(_SQLITE) and not Path(found.uri.removeprefix(_SQLITE)).exists():
        parser.error(f"{found.uri} is not there: run `uv run python -m experiments.run` first, or give --runs-dir.")
    return found

"""The MLflow store: how patiently it is asked, and what commands about recorded runs need of it."""

import os
import textwrap
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from experiments.config import RunError

_SQLITE = "sqlite:///"


def parsed(parser: ArgumentParser) -> Namespace:
    """The arguments of a command, with `runs_dir` and `uri`. Ends it when the store is not there."""
    parser.add_argument("--runs-dir", default="runs", help="the runs folder")
    parser.add_argument("--uri", help="the tracking URI; by default the SQLite store in the runs folder")
    found = parser.parse_args()
    found.uri = found.uri or f"{_SQLITE}{found.runs_dir}/mlflow.db"
    if found.uri.startswith(_SQLITE) and not Path(found.uri.removeprefix(_SQLITE)).is_file():
        parser.error(f"{found.uri} is not there: run `uv run python -m experiments.run` first, or give --runs-dir.")
    return found


def be_brief() -> None:
    """Have MLflow ask a server once and wait shortly: its own patience with one that is down is minutes."""
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")


def opened(uri: str) -> Any:
    """A client of the store. Raises RunError when it can't be read."""
    be_brief()
    from mlflow.tracking import MlflowClient

    try:
        client = MlflowClient(uri)
        client.search_experiments(max_results=1)
    except Exception as error:  # whatever a database or a server says
        reason = textwrap.shorten(str(error).splitlines()[0], 200, placeholder=" ...")
        raise RunError(
            f"The store {uri} can't be read ({reason.rstrip('.')}): give --uri or --runs-dir of another."
        ) from error
    return client

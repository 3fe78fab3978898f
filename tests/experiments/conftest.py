"""An empty MLflow store, made once: its tables take MLflow 5 to 15 seconds."""

import shutil

import pytest
from filelock import FileLock


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory, worker_id):
    """Path of a database file that a test copies to `runs/mlflow.db`."""
    shared = tmp_path_factory.getbasetemp() if worker_id == "master" else tmp_path_factory.getbasetemp().parent
    path = shared / "empty" / "mlflow.db"
    with FileLock(shared / "empty.lock"):
        if not path.exists():
            from mlflow.tracking import MlflowClient

            path.parent.mkdir()
            MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture(scope="session")
def with_store(empty_store):
    """Turn a folder into a runs folder whose store exists already."""

    def prepare(runs):
        shutil.copy(empty_store, runs / "mlflow.db")
        return runs

    return prepare

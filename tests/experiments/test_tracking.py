import json
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from mlflow.tracking import MlflowClient

from experiments.compose import check
from experiments.tracking import Follower, Tracker, read_rows, rows_by_step


@pytest.fixture(scope="module")
def store(tmp_path_factory, with_store):
    return with_store(tmp_path_factory.mktemp("runs"))


def config(store, *overrides):
    return check([f"runs_dir={store}", *overrides])[0]


def row(step, reward=0.5):
    return {"step": step, "reward/mean": reward, "episode/calls": 3}


def history(store, tracker, key="reward/mean"):
    found = MlflowClient(f"sqlite:///{store}/mlflow.db").get_metric_history(tracker.run_id, key)
    return sorted((metric.step, metric.value) for metric in found)


def test_the_store_is_a_file_beside_the_runs_and_artifacts_lie_there_too(store, tmp_path):
    tracker = Tracker(config(store), tmp_path)
    (tmp_path / "note.html").write_text("<p>hello")
    tracker.artifact(tmp_path / "note.html", "episodes")
    assert (store / "mlflow.db").exists()
    assert (store / "artifacts" / tracker.run_id / "artifacts" / "episodes" / "note.html").read_text() == "<p>hello"


def test_steps_tags_params_and_results_arrive(store, tmp_path):
    tracker = Tracker(config(store), tmp_path)
    tracker.params({f"key.{n}": n for n in range(250)})
    tracker.tags({"git.commit": "abc"})
    tracker.steps([row(n, n / 10) for n in range(1, 31)])
    tracker.results({"heldout/success/after": 0.75})
    tracker.close("FINISHED")
    run = MlflowClient(f"sqlite:///{store}/mlflow.db").get_run(tracker.run_id)
    assert run.info.status == "FINISHED"
    assert len(run.data.params) == 250
    assert run.data.tags["git.commit"] == "abc"
    assert run.data.metrics["heldout/success/after"] == 0.75
    assert history(store, tracker) == [(n, pytest.approx(n / 10)) for n in range(1, 31)]


def test_a_resumed_job_goes_on_in_its_run_and_logs_no_step_twice(store, tmp_path):
    first = Tracker(config(store), tmp_path)
    first.steps([row(1), row(2), row(3)])
    second = Tracker(config(store), tmp_path)  # as after kill -9: nothing was closed
    assert second.run_id == first.run_id
    second.steps([row(2, 9.0), row(3, 9.0), row(4), row(4, 9.0)])
    assert history(store, second) == [(1, 0.5), (2, 0.5), (3, 0.5), (4, 0.5)]


def test_two_training_stages_of_a_run_count_their_steps_apart(store, tmp_path):
    first = Tracker(config(store), tmp_path)
    first.steps([{"step": n, "sft/loss": 1.0} for n in (1, 2, 3)], "sft/step")
    first.steps([row(1)])
    second = Tracker(config(store), tmp_path)
    second.steps([{"step": n, "sft/loss": 2.0} for n in (3, 4)], "sft/step")
    second.steps([row(1), row(2)])
    assert history(store, second, "sft/loss") == [(1, 1.0), (2, 1.0), (3, 1.0), (4, 2.0)]
    assert history(store, second, "sft/step") == [(n, n) for n in (1, 2, 3, 4)]
    assert history(store, second, "step") == [(1, 1), (2, 2)]


def test_final_figures_that_are_held_already_are_not_logged_again(store, tmp_path):
    for _ in range(2):
        tracker = Tracker(config(store), tmp_path)
        tracker.results({"heldout/total/after": 0.5})
    assert history(store, tracker, "heldout/total/after") == [(0, 0.5)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_store_that_is_down_is_said_once_and_ends_nothing(store, tmp_path):
    said = []
    started = time.monotonic()
    tracker = Tracker(config(store, f"tracking.uri=http://127.0.0.1:{free_port()}"), tmp_path, said.append)
    tracker.params({"a": 1})
    tracker.steps([row(1)])
    tracker.results({"b": 1.0})
    tracker.artifact(tmp_path / "missing")
    tracker.close("FINISHED")
    assert len(said) == 1
    assert "can't be written" in said[0]
    assert str(tmp_path) in said[0]
    assert time.monotonic() - started < 20


@pytest.fixture
def server():
    """A tracking server as far as a run's first steps need one; it counts what it is sent."""
    sent = []

    class Answers(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            sent.append(self.path.rpartition("/")[2].partition("?")[0])
            run = {"info": {"run_id": "r1", "run_uuid": "r1", "experiment_id": "1", "status": "RUNNING"}}
            body = json.dumps({"experiment": {"experiment_id": "1", "name": "proverl"}, "run": run}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        http.sent = sent
        yield http
        http.shutdown()


def test_a_server_that_goes_away_is_said_once_and_ends_nothing(store, server, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    said = []
    uri = f"tracking.uri=http://127.0.0.1:{server.server_port}"
    tracker = Tracker(config(store, uri), tmp_path, said.append)
    tracker.steps([row(1)])
    assert not said and server.sent.count("log-batch") == 1
    server.shutdown()
    server.server_close()
    for step in (2, 3, 4):
        tracker.steps([row(step)])
    tracker.close("FINISHED")
    assert len(said) == 1 and "the run goes on" in said[0] and str(tmp_path) in said[0]


def test_a_store_that_is_no_database_is_said_once_and_ends_nothing(tmp_path):
    (tmp_path / "mlflow.db").write_bytes(b"no database" * 500)
    said = []
    tracker = Tracker(config(tmp_path), tmp_path, said.append)
    tracker.steps([row(1)])
    assert len(said) == 1


def test_only_complete_lines_of_a_growing_file_are_read(tmp_path):
    path = tmp_path / "metrics.jsonl"
    assert read_rows(path) == ([], 0)
    path.write_text('{"step": 1}\n{"st')
    rows, offset = read_rows(path)
    assert rows == [{"step": 1}]
    path.write_text('{"step": 1}\n{"step": 2}\n')
    assert read_rows(path, offset)[0] == [{"step": 2}]


def test_a_file_cut_back_to_a_checkpoint_is_read_from_its_start(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(f'{{"step": {n}}}\n' for n in range(1, 6)))
    _, offset = read_rows(path)
    path.write_text('{"step": 1}\n')
    assert read_rows(path, offset)[0] == [{"step": 1}]


def test_of_a_repeated_step_the_last_row_counts(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(row(*one)) + "\n" for one in [(1, 0.1), (2, 0.2), (2, 0.3)]))
    assert {step: found["reward/mean"] for step, found in rows_by_step(path).items()} == {1: 0.1, 2: 0.3}


def test_a_follower_hands_on_every_row_once_and_the_last_ones_at_the_end(tmp_path):
    path, seen = tmp_path / "metrics.jsonl", []
    with Follower(path, seen.extend, seconds=0.01):
        for n in range(1, 4):
            with path.open("a") as file:
                file.write(json.dumps({"step": n}) + "\n")
            time.sleep(0.03)
        with path.open("a") as file:
            file.write(json.dumps({"step": 4}) + "\n")
    assert [found["step"] for found in seen] == [1, 2, 3, 4]

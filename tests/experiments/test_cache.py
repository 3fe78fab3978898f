import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.cache import MANIFEST, StageCache, code_digest, digest
from experiments.config import RunError


@pytest.fixture
def cache(tmp_path):
    return StageCache(tmp_path / "stages")


def write(text):
    return lambda folder: (folder / "out.txt").write_text(text)


def test_an_output_is_computed_once_and_then_found(cache):
    entry = cache.entry("synth", {"seed": 0})
    assert cache.compute(entry, write("a")) is True
    assert cache.compute(entry, write("b")) is False
    assert (entry.directory / "out.txt").read_text() == "a"


def test_what_it_depends_on_decides_the_key_and_the_order_of_keys_does_not(cache):
    assert cache.entry("s", {"a": 1, "b": 2}) == cache.entry("s", {"b": 2, "a": 1})
    assert cache.entry("s", {"a": 1}).key != cache.entry("s", {"a": 2}).key


def test_the_manifest_tells_inputs_time_and_files(cache):
    entry = cache.entry("s", {"seed": 0})
    cache.compute(entry, write("a"), depends={"seed": 0})
    manifest = entry.manifest()
    assert manifest["depends"] == {"seed": 0}
    assert list(manifest["files"]) == ["out.txt"]
    assert manifest["seconds"] >= 0


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (lambda folder: (folder / "out.txt").write_text("ab"), "out.txt"),
        (lambda folder: (folder / "out.txt").unlink(), "out.txt"),
        (lambda folder: (folder / MANIFEST).unlink(), MANIFEST),
        (lambda folder: (folder / MANIFEST).write_text("{"), MANIFEST),
    ],
)
def test_a_damaged_output_is_refused_with_what_to_do(cache, harm, named):
    entry = cache.entry("synth", {"seed": 0})
    entry.check()  # not there: nothing to say
    cache.compute(entry, write("abc"))
    entry.check()
    harm(entry.directory)
    with pytest.raises(RunError, match=rf"{entry.directory} is damaged \({named} not as .*synth.*: delete that folder"):
        entry.check()


def test_equal_files_have_equal_data_hashes(cache):
    first, second, other = (cache.entry("s", {"n": n}) for n in range(3))
    for entry, text in ((first, "a"), (second, "a"), (other, "b")):
        cache.compute(entry, write(text))
    assert first.data_hash() == second.data_hash() != other.data_hash()


def test_a_failed_stage_leaves_no_output(cache):
    def fail(folder):
        (folder / "half").write_text("")
        raise OSError(errno.ENOSPC, "No space left on device")

    entry = cache.entry("s", 1)
    with pytest.raises(OSError, match="No space"):
        cache.compute(entry, fail)
    assert not entry.directory.exists()
    assert cache.compute(entry, write("a")) is True


@pytest.mark.parametrize("resumes", [True, False])
def test_only_a_stage_that_resumes_finds_what_a_failed_call_left(cache, resumes):
    seen = []

    def work(folder):
        seen.append((folder / "step").exists())
        (folder / "step").touch()
        if len(seen) == 1:
            raise RuntimeError("killed")

    entry = cache.entry("s", 1)
    with pytest.raises(RuntimeError):
        cache.compute(entry, work, resumes=resumes)
    cache.compute(entry, work, resumes=resumes)
    assert seen == [False, resumes]


_WORKER = """
import sys, time
from pathlib import Path
from experiments.cache import StageCache

root, seconds = Path(sys.argv[1]), float(sys.argv[2])
cache = StageCache(root)

def work(folder):
    with (folder / "calls").open("a") as file:
        file.write("x")
    print("working", flush=True)
    time.sleep(seconds)

cache.compute(cache.entry("s", 1), work, resumes=True, waiting=lambda: print("waiting", flush=True))
print("done", flush=True)
"""


def worker(root, seconds):
    root_of_checkout = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(root), str(seconds)],
        cwd=root_of_checkout,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_that_want_the_same_output_compute_it_once(tmp_path):
    first = worker(tmp_path, 3)
    assert first.stdout.readline() == "working\n"
    second = worker(tmp_path, 3)
    assert (first.communicate(timeout=600)[0], first.returncode) == ("done\n", 0)
    said = second.communicate(timeout=600)[0].splitlines()
    assert said in (["waiting", "done"], ["done"])  # the latter where the machine was slow to start it
    entry = StageCache(tmp_path).entry("s", 1)
    assert (entry.directory / "calls").read_text() == "x"


def test_after_kill_9_the_lock_is_free_and_the_work_goes_on(tmp_path):
    killed = worker(tmp_path, 60)
    assert killed.stdout.readline() == "working\n"
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait(10)
    cache, seen = StageCache(tmp_path), []
    entry = cache.entry("s", 1)
    assert not entry.done
    cache.compute(entry, lambda folder: seen.append((folder / "calls").read_text()), resumes=True)
    assert seen == ["x"]
    assert json.loads((entry.directory / MANIFEST).read_text())["stage"] == "s"


def test_code_digest_sees_a_change_in_a_package_and_ignores_its_bytecode(tmp_path, monkeypatch):
    def package(name, body):
        folder = tmp_path / name
        (folder / "__pycache__").mkdir(parents=True)
        (folder / "__init__.py").write_text(body)
        (folder / "__pycache__" / "x.pyc").write_text(name)
        return folder

    monkeypatch.syspath_prepend(str(tmp_path))
    for name, body in (("pack_one", "x = 1"), ("pack_two", "x = 2")):
        package(name, body)
    one, two = code_digest(["pack_one"]), code_digest(["pack_two"])
    assert one != two
    assert code_digest(["pack_two", "pack_one"]) == code_digest(["pack_one", "pack_two"])
    assert code_digest(["proverl.core"]) == code_digest(["proverl.core"]) != digest([])

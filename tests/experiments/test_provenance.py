import json
import shutil
import subprocess

import pytest

from experiments import provenance as module
from experiments.compose import check
from experiments.provenance import hardware, hash_once, model_hash, provenance, write_changes
from proverl.trainer.tiny import checkpoint_path


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one commit of one file, in place of ours."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "code.py").write_text("x = 1\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    monkeypatch.setattr(module, "ROOT", root)
    return root


def test_a_change_shows_in_the_tags_and_the_diff_itself_is_written(checkout, tmp_path):
    clean = provenance()
    assert clean["git.dirty"] == "false" and len(clean["git.commit"]) == 40
    assert list(write_changes(tmp_path)) == []
    (checkout / "code.py").write_text("x = 2\n")
    (checkout / "mine.txt").write_text("secret")
    dirty = provenance()
    assert dirty["git.dirty"] == "true" and dirty["git.diff.sha256"] != clean["git.diff.sha256"]
    diff, untracked = write_changes(tmp_path)
    assert "+x = 2" in diff.read_text()
    assert untracked.read_text() == "mine.txt\n"  # the name alone


def test_what_is_written_of_changes_is_bounded(checkout, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LONGEST_DIFF", 100)
    monkeypatch.setattr(module, "_MOST_NAMES", 2)
    (checkout / "code.py").write_text("y = 3\n" * 1000)
    for number in range(5):
        (checkout / f"new{number}").touch()
    diff, untracked = write_changes(tmp_path)
    assert len(diff.read_text()) < 200 and "... cut: 7," in diff.read_text()
    assert untracked.read_text().splitlines() == ["new0", "new1", "... and 3 more"]


def test_outside_a_checkout_nothing_is_made_up(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    found = provenance()
    assert (found["git.commit"], found["git.dirty"], found["lock.sha256"]) == ("unknown", "unknown", "unknown")


def test_the_machine_is_described():
    found = hardware()
    assert int(found["hardware.cores"]) >= 1 and found["hardware.memory"].endswith("GiB") and found["hardware.cpu"]


def test_a_large_file_is_hashed_once_until_it_changes(tmp_path):
    file, kept = tmp_path / "weights", tmp_path / "hashes.json"
    file.write_text("one")
    first = hash_once(file, kept)
    (key,) = json.loads(kept.read_text())
    kept.write_text(json.dumps({key: "remembered"}))
    assert hash_once(file, kept) == "remembered"
    file.write_text("other")
    assert hash_once(file, kept) not in (first, "remembered")


def test_the_model_is_known_by_its_files_not_by_their_place(tmp_path):
    def found(path):
        return model_hash(check([f"runs_dir={tmp_path}", f"model.path={path}"])[0])

    copy = shutil.copytree(checkpoint_path(), tmp_path / "copy")
    assert found(copy) == found('""') != {}
    with (copy / "model.safetensors").open("ab") as file:
        file.write(b"x")
    assert found(copy) != found('""')
    assert found("nobody/nothing") == {}

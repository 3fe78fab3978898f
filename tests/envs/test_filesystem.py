"""The file system: paths, permissions, links, volumes, quotas, trash and archives behave as on a POSIX machine."""

import hashlib
import posixpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proverl.core import ErrorCode
from proverl.envs import Session, load_server, phrase_slots, start_time
from proverl.envs.servers.filesystem.paths import Caller, absolute

SEED = 5
SERVER = load_server("filesystem")
TOOLS = {tool.name: tool for tool in SERVER.tools}


@pytest.fixture
def disk():
    with Session([SERVER], SEED) as session:
        yield session
        session.check_invariants()


@pytest.fixture
def home(disk):
    return ok(disk, "get_working_directory")["path"]


def ok(session, tool, **arguments):
    result = session.call(tool, arguments)
    assert result.ok, result.message
    return result.content


def refused(session, code, part, tool, **arguments):
    """The call is refused with a message that has this part, and nothing has changed."""
    before, now = session.digest(), session.now
    result = session.call(tool, arguments)
    assert result.code == code, result
    assert part in result.message
    assert (session.digest(), session.now) == (before, now)


# What there is


def test_forty_tools_are_offered_and_each_can_be_asked_for_in_several_ways():
    assert len([tool for tool in SERVER.tools if not tool.hidden]) == 40
    for tool in SERVER.tools:
        phrases = SERVER.phrases[tool.name]
        assert len(set(phrases)) >= 3
        assert set().union(*map(phrase_slots, phrases)) == set(tool.parameters["properties"]), tool.name


def test_free_text_parameters_have_examples_to_draw_from():
    for tool in SERVER.tools:
        for name, schema in tool.parameters["properties"].items():
            (plain, *_) = schema.get("anyOf", [schema])
            if plain["type"] == "string" and "x-entity" not in plain and "enum" not in plain:
                assert len(set(plain["examples"])) >= 10, (tool.name, name)


@pytest.mark.parametrize("seed", range(4))
def test_the_start_state_keeps_the_laws_is_small_and_has_the_size_of_a_persons_home(seed):
    assert len(SERVER.build(seed, start_time(seed))) < 200_000
    with Session([SERVER], seed) as session:
        session.check_invariants()
        top = ok(session, "get_working_directory")["path"]
        usage = ok(session, "get_disk_usage", path=top)
        assert 90 <= usage["files"] <= 200
        assert 20 <= usage["directories"] <= 60
        names = [user["full_name"] for user in ok(session, "list_system_users", limit=20)["users"]]
        assert len(names) == 6
        assert len(set(names)) == 5  # two people of one name


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    now = start_time(1)
    assert SERVER.build(1, now) == SERVER.build(1, now)
    assert SERVER.build(1, now) != SERVER.build(2, now)


def test_invoices_add_up_and_agree_with_their_summary(disk, home):
    for year in ok(disk, "list_directory", path="invoices")["directories"]:
        rows = ok(disk, "read_file", path=f"{year['path']}/summary.csv")["content"].splitlines()[1:]
        assert len(rows) == 6
        for row in rows:
            number, client, total = row.split(",")
            text = ok(disk, "read_file", path=f"{year['path']}/inv-{number}.txt")["content"]
            amounts = [float(line.rpartition("= ")[2]) for line in text.splitlines() if "= " in line]
            assert sum(amounts) == float(total)
            assert f"Client: {client}\n" in text
            assert f"Total: {total}.00 EUR" in text


# Paths


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b c", "ü"]), max_size=9), st.sampled_from(["", "/", "~/"]))
def test_paths_are_normalised_as_posix_does(parts, start):
    who = Caller("ann", ("staff",), "/srv/team")
    text = start + "/".join(parts)
    meant = who.home + text[1:] if start == "~/" else posixpath.join(who.working_directory, text)
    assert absolute(who, text) == posixpath.normpath(meant).replace("//", "/")


def test_relative_paths_follow_the_working_directory(disk, home):
    assert ok(disk, "change_directory", path="projects/../notes/./")["path"] == f"{home}/notes"
    assert ok(disk, "read_file", path="todo.txt")["path"] == f"{home}/notes/todo.txt"
    assert ok(disk, "change_directory", path="../../../../..")["path"] == "/"
    assert ok(disk, "read_file", path="etc/hosts")["path"] == "/etc/hosts"
    assert ok(disk, "change_directory", path="~")["path"] == home


def test_the_working_directory_moves_with_its_directory_and_is_no_part_of_the_digest(disk, home):
    before = disk.digest()
    ok(disk, "change_directory", path="notes/old")
    assert disk.digest() == before
    ok(disk, "rename_path", path="~/notes", new_name="notebooks")
    assert ok(disk, "get_working_directory")["path"] == f"{home}/notebooks/old"


def test_absolute_and_relative_calls_end_in_equal_states(home):
    with Session([SERVER], SEED) as one, Session([SERVER], SEED) as two:
        ok(one, "change_directory", path="notes")
        ok(one, "create_file", name="a.txt", content="hello")
        ok(one, "move_path", source="a.txt", destination="../photos")
        ok(two, "create_file", name="a.txt", directory=f"{home}/photos")
        ok(two, "write_file", path=f"{home}/photos/a.txt", content="hello")
        assert one.digest() == two.digest()


def test_links_are_followed_when_read_and_not_when_removed(disk, home):
    project = ok(disk, "get_path_info", path="current")["target"]
    assert ok(disk, "read_file", path="current/README.md")["path"] == f"{project}/README.md"
    assert ok(disk, "change_directory", path="current")["path"] == project
    ok(disk, "delete_path", path="~/current")
    assert ok(disk, "read_file", path=f"{project}/README.md")
    refused(disk, ErrorCode.NOT_FOUND, "no such file or directory", "read_file", path="~/current/README.md")


def test_a_link_to_a_renamed_file_is_broken_and_can_become_a_loop(disk, home):
    ok(disk, "create_file", name="a.txt")
    ok(disk, "create_link", target="a.txt", name="to-a")
    ok(disk, "rename_path", path="a.txt", new_name="b.txt")
    refused(disk, ErrorCode.NOT_FOUND, f"'{home}/to-a' goes through a link", "read_file", path="to-a")
    ok(disk, "create_link", target="to-a", name="a.txt")
    refused(disk, ErrorCode.REJECTED, "links in a loop; delete one of the links", "read_file", path="to-a")


def test_a_misspelt_path_gets_the_nearest_name(disk, home):
    refused(disk, ErrorCode.NOT_FOUND, f"did you mean '{home}/notes/ideas.txt'?", "read_file", path="notes/idea.txt")
    refused(disk, ErrorCode.NOT_FOUND, f"list_directory shows what '{home}'", "read_file", path="zzzz/qqqq.txt")


# Looking


def test_a_listing_sorts_limits_and_hides(disk, home):
    hidden = ok(disk, "list_directory", path="~", show_hidden=True, limit=50)
    shown = ok(disk, "list_directory", path="~", limit=50)
    assert hidden["entries"] - shown["entries"] == 3  # .bashrc, .ssh, .Trash
    few = ok(disk, "list_directory", path="notes", limit=2)
    assert few["entries"] > len(few["files"]) + len(few["directories"]) == 2
    sizes = [file["bytes"] for file in ok(disk, "list_directory", path="notes", sort_by="size", limit=50)["files"]]
    assert sizes == sorted(sizes, reverse=True)
    ok(disk, "append_to_file", path="notes/ideas.txt", text="Another one.")
    (newest, *_) = ok(disk, "list_directory", path="notes", sort_by="newest", limit=1)["files"]
    assert newest["path"] == f"{home}/notes/ideas.txt"


def test_a_tree_shows_directories_with_a_slash_and_goes_as_deep_as_asked(disk, home):
    one = ok(disk, "show_directory_tree", path="photos", depth=1)["tree"]
    two = ok(disk, "show_directory_tree", path="photos", depth=2)
    assert one.splitlines()[-1] == "to-sort/"
    assert len(one.splitlines()) == 4
    assert len(two["tree"].splitlines()) == 4 + 3 * 4
    assert ok(disk, "show_directory_tree", path="photos", depth=2, limit=10)["omitted"] == 6


def test_find_matches_names_below_a_directory_and_leaves_the_trash_out(disk, home):
    found = ok(disk, "find_paths", pattern="TODO*", limit=50)
    assert {match["path"] for match in found["matches"]} == {
        *(f"{entry['path']}/TODO.md" for entry in ok(disk, "list_directory", path="projects")["directories"]),
        f"{home}/notes/todo.txt",
        f"{home}/notes/old/todo.txt",
    }
    kinds = {match["kind"] for match in ok(disk, "find_paths", pattern="*", kind="archive", limit=50)["matches"]}
    assert kinds == {"archive"}
    assert ok(disk, "find_paths", pattern="*o*", directory="/", limit=3)["total"] > 3


def test_closed_directories_are_not_searched(disk, home):
    everyone = ok(disk, "find_paths", pattern="notes.txt", directory="/home", limit=50)
    assert everyone["total"] == 3  # five colleagues, two of whom have closed their homes
    matches = ok(disk, "search_in_files", text="root:", path="/etc")
    assert matches["total"] == 0


def test_usage_adds_up_and_tells_what_a_volume_has_left(disk):
    usage = ok(disk, "get_disk_usage", path="/mnt/usb")
    files = ok(disk, "list_directory", path="/mnt/usb")["files"]
    music = ok(disk, "get_disk_usage", path="/mnt/usb/music")
    assert usage["bytes"] == music["bytes"] + sum(file["bytes"] for file in files)
    assert (usage["volume"], usage["free_bytes"]) == ("USB-STICK", 3_000 - usage["bytes"])
    assert (usage["files"], usage["directories"]) == (2, 1)


def test_tags_are_found_and_move_with_what_they_mark(disk, home):
    ok(disk, "create_directory", name="letters")
    ok(disk, "tag_path", path="letters", tag="to-print")
    ok(disk, "rename_path", path="letters", new_name="paper")
    assert ok(disk, "find_paths_by_tag", tag="to-print")["matches"] == [{"path": f"{home}/paper", "kind": "directory"}]
    assert ok(disk, "untag_path", path="paper", tag="to-print")["tags"] == []
    refused(disk, ErrorCode.REJECTED, "'to-print'; its tags: none", "untag_path", path="paper", tag="to-print")


# Reading and editing


def test_heads_tails_counts_and_checksums_agree_with_the_text(disk):
    text = ok(disk, "read_file", path="notes/reading list.txt")["content"]
    lines = text.splitlines()
    assert ok(disk, "show_file_head", path="notes/reading list.txt", lines=2)["content"].splitlines() == lines[:2]
    assert ok(disk, "show_file_tail", path="notes/reading list.txt", lines=2)["content"].splitlines() == lines[-2:]
    count = ok(disk, "count_file_words", path="notes/reading list.txt")
    assert (count["lines"], count["words"], count["characters"]) == (len(lines), len(text.split()), len(text))
    digest = ok(disk, "checksum_file", path="notes/reading list.txt", algorithm="sha256")["checksum"]
    assert digest == hashlib.sha256(text.encode()).hexdigest()


def test_comparing_shows_what_only_one_file_has(disk):
    same = ok(disk, "compare_files", path="documents/budget.csv", other_path="downloads/budget.csv")
    assert same == {"identical": True, "removed": 0, "added": 0, "differences": []}
    ok(disk, "append_to_file", path="downloads/budget.csv", text="cinema,30")
    other = ok(disk, "compare_files", path="documents/budget.csv", other_path="downloads/budget.csv")
    assert other == {"identical": False, "removed": 0, "added": 1, "differences": ["+cinema,30"]}


def test_search_gives_the_lines_of_a_file_or_of_a_directory(disk, home):
    hits = ok(disk, "search_in_files", text="middleMARCH", path="notes/reading list.txt")
    assert [match["line"] for match in hits["matches"]] == [1, 4]
    below = ok(disk, "search_in_files", text="middlemarch", path="~")
    assert below["matches"] == hits["matches"]


def test_editing_changes_the_text_and_the_size(disk, home):
    assert ok(disk, "create_file", name="a.txt", content="b\na") == {"path": f"{home}/a.txt", "bytes": 3}
    assert ok(disk, "append_to_file", path="a.txt", text="b")["bytes"] == 6
    assert ok(disk, "replace_in_file", path="a.txt", old_text="b", new_text="é")["replacements"] == 2
    assert ok(disk, "sort_file_lines", path="a.txt", order="descending", unique=True)["lines"] == 2
    assert ok(disk, "read_file", path="a.txt")["content"] == "é\na\n"
    assert ok(disk, "get_path_info", path="a.txt")["bytes"] == 5
    assert ok(disk, "write_file", path="a.txt", content="new")["bytes"] == 3


def test_splitting_and_joining_give_the_text_back(disk, home):
    text = ok(disk, "read_file", path="notes/ideas.txt")["content"]
    parts = ok(disk, "split_file", path="notes/ideas.txt", lines_per_part=2)["parts"]
    assert [part["lines"] for part in parts] == [2, 1]
    first, second = (part["path"] for part in parts)
    joined = ok(disk, "concatenate_files", first=first, second=second, name="whole.txt", directory="documents")
    assert joined["path"] == f"{home}/documents/whole.txt"
    assert ok(disk, "read_file", path=joined["path"])["content"] == text


# Arranging


def test_copies_are_deep_and_independent(disk, home):
    copy = ok(disk, "copy_path", source="photos", destination="documents", new_name="pictures")
    assert copy == {"path": f"{home}/documents/pictures", "entries": 1 + 3 + 12 + 1}
    ok(disk, "delete_path", path="photos", recursive=True)
    assert ok(disk, "find_paths", pattern="*.jpg", directory="documents/pictures")["total"] == 12


def test_a_moved_directory_takes_everything_along(disk, home):
    before = ok(disk, "get_disk_usage", path="projects")
    moved = ok(disk, "move_path", source="projects", destination="documents")
    assert moved == {"path": f"{home}/documents/projects", "old_path": f"{home}/projects"}
    after = ok(disk, "get_disk_usage", path="documents/projects")
    assert {**after, "path": ""} == {**before, "path": ""}


def test_similar_names_are_no_children(disk, home):
    for name in ("notes0", "notes2", "notes-old", "not"):
        ok(disk, "create_directory", name=name)
        ok(disk, "create_file", name="kept.txt", directory=name)
    ok(disk, "rename_path", path="notes", new_name="n")
    ok(disk, "delete_path", path="n", recursive=True)
    for name in ("notes0", "notes2", "notes-old", "not"):
        assert ok(disk, "read_file", path=f"{name}/kept.txt")["content"] == ""


def test_trash_and_restore_give_the_same_state_back(disk, home):
    before = disk.digest()
    trashed = ok(disk, "trash_path", path="projects")
    assert trashed == {"name": "projects", "original_path": f"{home}/projects"}
    assert ok(disk, "list_trashed_paths", limit=20)["total"] == 5
    assert ok(disk, "restore_trashed_path", name="projects")["path"] == f"{home}/projects"
    assert disk.digest() == before


def test_equal_names_stay_apart_in_the_trash(disk, home):
    name = ok(disk, "trash_path", path="notes/todo.txt")["name"]
    assert name == "todo.txt.2"
    text = ok(disk, "read_file", path=f"~/.Trash/{name}")["content"]
    assert ok(disk, "restore_trashed_path", name=name)["path"] == f"{home}/notes/todo.txt"
    assert ok(disk, "read_file", path="notes/todo.txt")["content"] == text


def test_emptying_the_trash_frees_quota(disk):
    before = ok(disk, "get_disk_quota")
    emptied = ok(disk, "empty_trash_bin")
    after = ok(disk, "get_disk_quota")
    assert before["used_bytes"] - after["used_bytes"] == emptied["freed_bytes"] > 0
    assert before["used_entries"] - after["used_entries"] == emptied["entries"] == 5
    assert emptied["items"] == 4


def test_an_archive_unpacks_to_what_was_packed(disk, home):
    packed = ok(disk, "create_archive", source="photos", name="pictures.tar", directory="documents")
    assert packed["path"] == f"{home}/documents/pictures.tar"
    ok(disk, "create_directory", name="out")
    assert ok(disk, "extract_archive", path=packed["path"], destination="out") == {
        "path": f"{home}/out/photos",
        "entries": packed["entries"],
    }
    trees = [ok(disk, "show_directory_tree", path=path)["tree"] for path in ("photos", "out/photos")]
    assert trees[0] == trees[1]


def test_new_things_are_the_callers_and_open_to_read(disk, home):
    ok(disk, "create_file", name="minutes.md", directory="/srv/team")
    info = ok(disk, "get_path_info", path="/srv/team/minutes.md")
    assert (info["mode"], f"/home/{info['owner']}", info["group"]) == ("644", home, "staff")


def test_a_file_given_away_counts_for_its_new_owner(disk):
    mates = [user["user"] for user in ok(disk, "list_system_users", limit=20)["users"]]
    me = ok(disk, "get_disk_quota")["user"]
    mate = next(name for name in mates if name != me)
    before = ok(disk, "get_disk_quota")["used_bytes"]
    size = ok(disk, "get_path_info", path="notes/ideas.txt")["bytes"]
    assert ok(disk, "change_path_owner", path="notes/ideas.txt", owner=mate)["owner"] == mate
    assert ok(disk, "get_disk_quota")["used_bytes"] == before - size
    refused(disk, ErrorCode.REJECTED, "permission denied", "write_file", path="notes/ideas.txt", content="mine again")


# Refusals

REJECTED, NOT_FOUND = ErrorCode.REJECTED, ErrorCode.NOT_FOUND
REFUSALS = [
    (NOT_FOUND, "no such file or directory", "read_file", {"path": "nothing.txt"}),
    (NOT_FOUND, "list_trashed_paths shows", "restore_trashed_path", {"name": "qqq"}),
    (NOT_FOUND, "did you mean 'memo.txt'?", "restore_trashed_path", {"name": "memos.txt"}),
    (NOT_FOUND, "list_system_users shows", "change_path_owner", {"path": "notes", "owner": "zoe"}),
    (REJECTED, "control characters", "read_file", {"path": "no\x00tes"}),
    (REJECTED, "is a directory, not a file; list_directory", "read_file", {"path": "notes"}),
    (REJECTED, "is an archive, not a file; extract_archive", "read_file", {"path": "downloads/fonts.tar"}),
    (REJECTED, "is a file, not a directory; the directory", "change_directory", {"path": "readme.txt"}),
    (REJECTED, "is a file, not a directory", "read_file", {"path": "readme.txt/more"}),
    (REJECTED, "is a file, not an archive", "extract_archive", {"path": "readme.txt", "destination": "notes"}),
    (REJECTED, "links in a loop", "read_file", {"path": "projects/latest"}),
    (NOT_FOUND, "'/srv/site'", "change_directory", {"path": "old-site"}),
    (REJECTED, "may not read '/etc/shadow' (owner root, group root, mode 600)", "read_file", {"path": "/etc/shadow"}),
    (REJECTED, "may not add anything to '/etc'", "create_file", {"name": "a", "directory": "/etc"}),
    (REJECTED, "may not write '/etc/hosts'", "write_file", {"path": "/etc/hosts", "content": "a"}),
    (REJECTED, "you, its owner, can set that", "append_to_file", {"path": "invoices/template.txt", "text": "a"}),
    (REJECTED, "only its owner may do this", "change_path_permissions", {"path": "/etc/hosts", "mode": "644"}),
    (REJECTED, "may not tag", "tag_path", {"path": "/etc/hosts", "tag": "work"}),
    (REJECTED, "is sticky", "delete_path", {"path": "/tmp/upload.part"}),
    (REJECTED, "read-only volume 'ARCHIVE'", "create_file", {"name": "a", "directory": "/mnt/archive"}),
    (REJECTED, "mount point", "delete_path", {"path": "/mnt/usb", "recursive": True}),
    (REJECTED, "mount point", "trash_path", {"path": "/"}),
    (REJECTED, "holds your home directory", "trash_path", {"path": "~"}),
    (REJECTED, "already exists; choose another name", "create_directory", {"name": "notes"}),
    (REJECTED, "contains '/'", "create_file", {"name": "notes/a.txt"}),
    (REJECTED, "is no valid name", "rename_path", {"path": "notes", "new_name": ".."}),
    (REJECTED, "name is too long: 100 characters", "create_file", {"name": "a" * 100}),
    (REJECTED, "can't move", "move_path", {"source": "notes", "destination": "notes/old"}),
    (REJECTED, "can't copy", "copy_path", {"source": "notes", "destination": "notes"}),
    (REJECTED, "already lies in", "move_path", {"source": "notes", "destination": "."}),
    (REJECTED, "directory not empty", "delete_path", {"path": "notes"}),
    (REJECTED, "file too large: 8000 bytes", "write_file", {"path": "readme.txt", "content": "é" * 4000}),
    (REJECTED, "does not occur in", "replace_in_file", {"path": "readme.txt", "old_text": "zebra", "new_text": "a"}),
    (REJECTED, "give fewer per part", "split_file", {"path": "readme.txt", "lines_per_part": 9}),
    (REJECTED, "the name of an archive ends in .tar", "create_archive", {"source": "notes", "name": "a.zip"}),
    (REJECTED, "is in the trash; restore_trashed_path", "delete_path", {"path": "~/.Trash/memo.txt"}),
    (REJECTED, "is in the trash", "move_path", {"source": "notes", "destination": "~/.Trash"}),
    (REJECTED, "is gone; create that directory first", "restore_trashed_path", {"name": "memo.txt"}),
    (REJECTED, "already exists", "restore_trashed_path", {"name": "todo.txt"}),
    (REJECTED, "is not in the group staff", "change_path_owner", {"path": "notes", "owner": "root"}),
]


@pytest.mark.parametrize(("code", "part", "tool", "arguments"), REFUSALS)
def test_refusals_say_what_would_be_right(disk, code, part, tool, arguments):
    refused(disk, code, part, tool, **arguments)


def test_the_working_directory_can_not_be_removed_from_under_the_caller(disk):
    ok(disk, "change_directory", path="notes/old")
    refused(disk, REJECTED, "change_directory out of it first", "trash_path", path="~/notes")
    ok(disk, "change_directory", path="~")
    assert ok(disk, "trash_path", path="~/notes")


def test_the_owner_may_open_what_was_closed(disk):
    ok(disk, "change_path_permissions", path="invoices/template.txt", mode="644")
    assert ok(disk, "append_to_file", path="invoices/template.txt", text="Thank you.")
    ok(disk, "change_path_permissions", path="notes", mode="600")
    refused(disk, REJECTED, "may not enter", "read_file", path="notes/todo.txt")
    refused(disk, REJECTED, "may not read", "list_directory", path="notes")
    ok(disk, "change_path_permissions", path="notes", mode="500")
    refused(disk, REJECTED, "may not take 'todo.txt' out of", "delete_path", path="notes/todo.txt")
    refused(disk, REJECTED, "may not remove what is in", "delete_path", path="notes", recursive=True)


def test_a_small_volume_and_the_quota_set_limits(disk):
    file = ok(disk, "create_file", name="big.txt", content="x" * 3_900)
    refused(
        disk, REJECTED, "no space left on volume 'USB-STICK'", "copy_path", source="big.txt", destination="/mnt/usb"
    )
    quota = ok(disk, "get_disk_quota")
    for number in range((quota["limit_bytes"] - quota["used_bytes"]) // file["bytes"]):
        ok(disk, "copy_path", source="big.txt", destination=".", new_name=f"big-{number}.txt")
    refused(disk, REJECTED, "empty_trash_bin frees space", "copy_path", source="big.txt", destination=".", new_name="b")
    ok(disk, "delete_path", path="big-0.txt")
    assert ok(disk, "copy_path", source="big.txt", destination=".", new_name="b")


def test_entries_are_limited_too(disk):
    refusal = None
    for number in range(6):
        result = disk.call("copy_path", {"source": "photos", "destination": "/tmp", "new_name": f"p{number}"})
        refusal = refusal or result.message
    assert "entries; delete_path or empty_trash_bin frees space" in refusal


def test_deep_paths_are_refused_when_they_get_too_long(disk):
    path = "~"
    for _ in range(2):
        path = ok(disk, "create_directory", name="d" * 80, directory=path)["path"]
    refused(disk, REJECTED, "path too long", "create_file", name="e" * 80, directory=path)
    refused(disk, REJECTED, "path too long", "copy_path", source="projects", destination=path)


def test_tags_are_limited_and_given_once(disk):
    ok(disk, "create_file", name="a.txt")
    for tag in "abcdef":
        ok(disk, "tag_path", path="a.txt", tag=tag)
    refused(disk, REJECTED, "already tagged 'a'", "tag_path", path="a.txt", tag="a")
    refused(disk, REJECTED, "6 tags, the most allowed", "tag_path", path="a.txt", tag="g")


def test_an_empty_trash_can_not_be_emptied(disk):
    ok(disk, "empty_trash_bin")
    refused(disk, REJECTED, "the trash is empty already", "empty_trash_bin")


def test_too_many_parts_and_a_full_receiver_are_refused(disk):
    ok(disk, "create_file", name="long.txt", content="a\n" * 30)
    refused(disk, REJECTED, "at most 10 are allowed", "split_file", path="long.txt", lines_per_part=1)
    answers = []
    for seed in range(10):  # not every start state has a receiver without room
        with Session(["filesystem"], seed) as other:
            ok(other, "create_file", name="long.txt", content="x" * 3_990)
            answers += [
                other.call("change_path_owner", {"path": "long.txt", "owner": user["user"]}).message
                for user in ok(other, "list_system_users", limit=20)["users"]
            ]
    assert any(message.startswith("disk quota of") for message in answers)
    assert any("already belongs to" in message for message in answers)


# Any sequence of calls

PATHS = [
    ".", "..", "~", "/", "/tmp", "/mnt/usb", "/mnt/archive", "/etc/hosts", "/srv/team", "/srv/finance", "notes",
    "notes/old", "notes/todo.txt", "notes/ideas.txt", "~/readme.txt", "~/current", "old-site", "projects",
    "projects/latest", "photos", "invoices", "downloads/fonts.tar", "documents", "drafts", "documents/drafts", "a",
    "a.txt", "b", "notes/a", "../../../../etc/passwd", "~/.Trash", "~/.Trash/memo.txt", "'; DROP TABLE node; --", "é",
    "{{7*7}}", "%", "_", "notes/%", "x" * 200,
]  # fmt: skip
NAMES = ["a", "b", "a.txt", "a.tar", "drafts", "..", "a/b", "é x", "%", "'--", "x" * 90]


def values(schema):
    (plain, *_) = schema.get("anyOf", [schema])
    if "enum" in plain:
        return st.sampled_from(plain["enum"])
    if plain["type"] == "boolean":
        return st.booleans()
    if plain["type"] == "integer":
        return st.integers(1, 4)
    if "x-entity" not in plain:
        return st.sampled_from(NAMES + plain["examples"])
    users = ["akim", "akim2", "root", "nobody"]
    return st.sampled_from({"User": users, "TrashedItem": NAMES + ["memo.txt", "todo.txt", "drafts"]}.get(
        plain["x-entity"].partition(".")[2], PATHS))  # fmt: skip


def calls_of(tool):
    properties, required = tool.parameters["properties"], tool.required
    return st.tuples(
        st.just(tool.name),
        st.fixed_dictionaries(
            {name: values(properties[name]) for name in required},
            optional={name: values(schema) for name, schema in properties.items() if name not in required},
        ),
    )


WRITERS = st.one_of([calls_of(tool) for tool in SERVER.tools if not tool.read_only])
READERS = st.one_of([calls_of(tool) for tool in SERVER.tools if tool.read_only])


@given(st.integers(0, 2), st.lists(WRITERS, min_size=4, max_size=14), st.lists(READERS, max_size=6))
@settings(max_examples=20, deadline=None)
def test_no_sequence_of_calls_breaks_a_law(seed, writes, reads):
    with Session([SERVER], seed) as session:
        for name, arguments in writes:
            before, now = session.digest(), session.now
            result = session.call(name, arguments)
            session.check_invariants()
            assert result.code != ErrorCode.CRASHED, result.message
            if result.ok:
                Draft202012Validator(TOOLS[name].returns).validate(result.content)
                assert session.now > now
            else:
                assert (session.digest(), session.now) == (before, now)
        before, now = session.digest(), session.now
        for name, arguments in reads:
            result = session.call(name, arguments)
            assert result.code != ErrorCode.CRASHED, result.message
            if result.ok:
                Draft202012Validator(TOOLS[name].returns).validate(result.content)
        assert (session.digest(), session.now) == (before, now)


@given(st.lists(WRITERS, max_size=10))
@settings(max_examples=10, deadline=None)
def test_what_a_result_names_is_there(calls):
    with Session([SERVER], SEED) as session:
        for name, arguments in calls:
            result = session.call(name, arguments)
            if result.ok and "x-entity" in TOOLS[name].returns["properties"].get("path", {}):
                assert session.call("get_path_info", {"path": result.content["path"]}).ok

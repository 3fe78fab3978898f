"""The start state: a shared machine with six accounts, and the home of one of them after two years of use."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs.servers.filesystem import start_content as content
from proverl.envs.servers.filesystem.disk import Disk, Home
from proverl.envs.servers.filesystem.start_home import fill_home, fill_trash
from proverl.envs.servers.filesystem.tables import Node, Shell, Tag, TrashedItem, User, Volume
from proverl.envs.state import Row

_PEOPLE = [
    ("mara", "Mara Lindqvist"),
    ("jonas", "Jonas Weber"),
    ("priya", "Priya Nair"),
    ("tomas", "Tomás Herrera"),
    ("aiko", "Aiko Tanaka"),
    ("lea", "Léa Fontaine"),
    ("samir", "Samir Haddad"),
    ("nora", "Nora O'Brien"),
]
_NAMESAKES = [("akim", "Alex Kim"), ("akim2", "Alex Kim")]


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows of every table, by table."""
    people = rng.sample(_PEOPLE, 4) + _NAMESAKES
    me = people[0][0]
    groups = {name: ["staff", *sorted(rng.sample(["finance", "design"], rng.randint(0, 1)))] for name, _ in people}
    disk = Disk(rng, now)
    _system(disk, people)
    home = Home(disk, me)
    tags = fill_home(home, people)
    trashed = fill_trash(home)
    owned = [row for row in disk.rows.values() if row["owner"] == me]
    used = sum(len(row["content"].encode()) for row in owned)
    users = [
        {
            "name": name,
            "full_name": full_name,
            "groups": groups[name],
            "quota_bytes": (used // 1000 + rng.randint(8, 14)) * 1000 if name == me else rng.choice([2_000, 20_000]),
            "quota_entries": len(owned) + rng.randint(60, 90) if name == me else 400,
        }
        for name, full_name in people
    ]
    root = {"name": "root", "full_name": "Administrator", "groups": ["root"]}
    return {
        User: [{**root, "quota_bytes": 10**9, "quota_entries": 10**6}, *users],
        Node: list(disk.rows.values()),
        Volume: _volumes(),
        Tag: tags,
        TrashedItem: trashed,
        Shell: [{"user": me, "working_directory": home.path}],
    }


def _volumes() -> list[Row]:
    return [
        {"path": "/mnt/archive", "label": "ARCHIVE", "read_only": True, "capacity_bytes": 100_000},
        {"path": "/mnt/usb", "label": "USB-STICK", "read_only": False, "capacity_bytes": 3_000},
    ]


def _system(disk: Disk, people: Sequence[tuple[str, str]]) -> None:
    """What belongs to the machine and to everyone but the caller."""
    rng, today = disk.rng, disk.now.date()
    for path in ("/", "/etc", "/home", "/mnt", "/srv", "/var", "/var/log"):
        disk.directory(path)
    disk.directory("/tmp", mode=0o1777)
    disk.file("/etc/hosts", "127.0.0.1 localhost\n10.0.0.4 fileserver\n10.0.0.9 printer\n")
    disk.file("/etc/motd", "Welcome. Backups run every night at 02:00; keep your quota in mind.\n")
    disk.file("/etc/shadow", "root:*:20000:0\n", mode=0o600)
    disk.file("/var/log/syslog", content.log(rng, today - timedelta(days=1)), group="ops", mode=0o640)
    disk.file("/var/log/backup.log", content.log(rng, today - timedelta(days=2)))
    _shared(disk, people)
    _mounts(disk, people[0][0])
    for index, (name, _) in enumerate(people[1:]):
        home = Home(disk, name, mode=0o700 if index % 2 else 0o755)
        home.file("notes.txt", content.to_do(rng))
        home.file(".profile", "export EDITOR=nano\n", mode=0o600)
    mate = people[1][0]
    disk.file("/tmp/upload.part", "half of an upload\n", mate, "staff")
    disk.file("/tmp/poll-results.txt", "pizza 4\nsushi 3\nsalad 1\n", mate, "staff", 0o666)


def _shared(disk: Disk, people: Sequence[tuple[str, str]]) -> None:
    rng, today, names = disk.rng, disk.now.date(), [name for name, _ in people]
    mate = names[1]
    for name, group, mode in (("team", "staff", 0o775), ("finance", "finance", 0o770), ("design", "design", 0o775)):
        disk.directory(f"/srv/{name}", "root", group, mode)
    disk.file("/srv/team/handbook.md", "# Handbook\nAsk before you delete. Review drafts in pairs.\n", group="staff")
    disk.file("/srv/team/contacts.csv", content.contacts(people), mate, "staff", 0o664)
    disk.file("/srv/team/roadmap.md", f"# Roadmap\n{content.to_do(rng)}", mate, "staff", 0o664)
    disk.directory("/srv/team/minutes", mate, "staff", 0o775)
    for weeks in (1, 2, 4):
        day = today - timedelta(weeks=weeks)
        disk.file(f"/srv/team/minutes/{day}.md", content.meeting_notes(rng, day, names), mate, "staff", 0o664)
    disk.directory("/srv/team/templates", "root", "staff", 0o555)
    disk.file("/srv/team/templates/letter.txt", "Dear {name},\n\n{text}\n\nKind regards\n", group="staff", mode=0o444)
    disk.file("/srv/finance/salaries.csv", "month,total\n01,18200\n02,18450\n", group="finance", mode=0o640)
    disk.file("/srv/design/palette.txt", "ink #1b1f24\nsand #e8dcc4\nmoss #5b7553\n", group="design", mode=0o664)
    disk.directory("/srv/design/sketches", "root", "design", 0o775)


def _mounts(disk: Disk, me: str) -> None:
    rng, today = disk.rng, disk.now.date()
    disk.directory("/mnt/archive")
    disk.directory("/mnt/usb", me, "staff")
    for age in (4, 3):
        year = today.year - age
        disk.directory(f"/mnt/archive/{year}", me, "staff")
        disk.file(
            f"/mnt/archive/{year}/report.txt",
            f"Annual report {year}\nTotal: {rng.randint(40, 90)} orders\n",
            me,
            "staff",
        )
        disk.file(f"/mnt/archive/{year}/budget.csv", content.monthly_budget(rng), me, "staff")
    disk.file("/mnt/usb/slides.txt", "Slide 1: who we are\nSlide 2: what we do\nSlide 3: contact\n", me, "staff")
    disk.directory("/mnt/usb/music", me, "staff")
    disk.file("/mnt/usb/music/playlist.txt", "Nordlys\nSodade\nБерёзы\nLa Mer\n", me, "staff")

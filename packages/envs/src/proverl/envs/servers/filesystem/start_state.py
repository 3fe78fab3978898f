"""The start state: a shared machine with six accounts, and the home of one of them after two years of use."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.core import canonical_json
from proverl.envs.servers.filesystem import start_content as content
from proverl.envs.servers.filesystem.tables import ROOT, TRASH, Node, Shell, Tag, TrashedItem, User, Volume
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
_PROJECTS = ["atlas", "beacon", "cobalt", "dune", "ember", "fjord", "garnet", "harbor", "iris"]
_TRIPS = ["lisbon", "tatra-hike", "oslo", "family-visit", "naples", "baltic-sea"]


class _Disk:
    """Nodes being laid out; a parent must be there before its children."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.rng = rng
        self.now = now
        self.rows: dict[str, Row] = {}

    def add(self, path: str, kind: str, text: str, owner: str, group: str, mode: int) -> str:
        parent = path.rpartition("/")[0] or ROOT
        if path != ROOT and self.rows[parent]["kind"] != "directory":
            raise ValueError(f"{parent!r} is no directory")
        age = timedelta(days=self.rng.randint(1, 700), minutes=self.rng.randrange(600))
        self.rows[path] = {
            "path": path,
            "kind": kind,
            "owner": owner,
            "group": group,
            "mode": mode,
            "content": text,
            "modified": (self.now - age).isoformat(timespec="minutes"),
        }
        return path

    def directory(self, path: str, owner: str = "root", group: str = "root", mode: int = 0o755) -> str:
        return self.add(path, "directory", "", owner, group, mode)

    def file(self, path: str, text: str, owner: str = "root", group: str = "root", mode: int = 0o644) -> str:
        return self.add(path, "file", text, owner, group, mode)


class _Home:
    """The home directory of one user; what is added belongs to that user."""

    def __init__(self, disk: _Disk, user: str, mode: int = 0o755) -> None:
        self.disk = disk
        self.user = user
        self.path = disk.directory(f"/home/{user}", user, "staff", mode)

    def directory(self, name: str, mode: int = 0o755) -> str:
        self.disk.directory(f"{self.path}/{name}", self.user, "staff", mode)
        return name

    def file(self, name: str, text: str, mode: int = 0o644) -> str:
        return self.disk.file(f"{self.path}/{name}", text, self.user, "staff", mode)

    def link(self, name: str, target: str) -> str:
        return self.disk.add(f"{self.path}/{name}", "link", target, self.user, "staff", 0o777)

    def archive(self, name: str, members: Iterable[tuple[str, str, int, str]]) -> str:
        text = canonical_json([list(member) for member in members])
        return self.disk.add(f"{self.path}/{name}", "archive", text, self.user, "staff", 0o644)


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows of every table, by table."""
    people = rng.sample(_PEOPLE, 4) + _NAMESAKES
    me = people[0][0]
    groups = {name: ["staff", *sorted(rng.sample(["finance", "design"], rng.randint(0, 1)))] for name, _ in people}
    disk = _Disk(rng, now)
    _system(disk, people)
    home = _Home(disk, me)
    tags = _fill_home(home, people)
    trashed = _fill_trash(home)
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
        {"path": "/mnt/usb", "label": "USB-STICK", "read_only": False, "capacity_bytes": 4_000},
    ]


def _system(disk: _Disk, people: Sequence[tuple[str, str]]) -> None:
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
        home = _Home(disk, name, mode=0o700 if index % 2 else 0o755)
        home.file("notes.txt", content.to_do(rng))
        home.file(".profile", "export EDITOR=nano\n", mode=0o600)
    mate = people[1][0]
    disk.file("/tmp/upload.part", "half of an upload\n", mate, "staff")
    disk.file("/tmp/poll-results.txt", "pizza 4\nsushi 3\nsalad 1\n", mate, "staff", 0o666)


def _shared(disk: _Disk, people: Sequence[tuple[str, str]]) -> None:
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


def _mounts(disk: _Disk, me: str) -> None:
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


def _fill_home(home: _Home, people: Sequence[tuple[str, str]]) -> list[Row]:
    """Everything in the caller's home but the trash; returns its tags."""
    names = [name for name, _ in people]
    rng = home.disk.rng
    for name, text, mode in (
        (".bashrc", "export EDITOR=vim\nalias ll='ls -l'\n", 0o644),
        ("readme.txt", "Home of everything: work in projects, the rest in documents.\n", 0o644),
    ):
        home.file(name, text, mode)
    home.directory(".ssh", 0o700)
    home.file(".ssh/config", "Host fileserver\n  Port 2222\n", 0o600)
    projects = rng.sample(_PROJECTS, 3)
    home.directory("projects")
    for project in projects:
        _project(home, project, names)
    _notes(home, names)
    _invoices(home)
    _logs(home)
    _photos(home)
    _documents(home, people)
    _downloads(home)
    _links(home, projects[0])
    return _tags(home)


def _project(home: _Home, name: str, people: Sequence[str]) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    top = home.directory(f"projects/{name}")
    lead = rng.choice(list(people))
    home.file(
        f"{top}/README.md", f"# {name.title()}\nLead: {lead}\nStatus: {rng.choice(['draft', 'in review', 'live'])}\n"
    )
    home.file(f"{top}/TODO.md", content.to_do(rng))
    home.file(f"{top}/LICENSE", f"Copyright {today.year}, all rights reserved.\n", 0o444)
    for part in ("src", "docs", "data", "empty" if rng.random() < 0.5 else "build"):
        home.directory(f"{top}/{part}")
    home.file(f"{top}/src/main.py", content.code(rng, name))
    home.file(f"{top}/src/config.yaml", f"name: {name}\nlimit: {rng.randint(3, 40)}\ndebug: false\n")
    home.file(f"{top}/docs/changelog.md", content.changelog(rng, today - timedelta(days=rng.randint(3, 30))))
    home.file(f"{top}/docs/design.md", f"# Design of {name}\nOne process, one queue.\nOpen: deadline, budget.\n")
    home.file(f"{top}/data/measurements.csv", content.measurements(rng))
    if rng.random() < 0.5:
        home.file(f"{top}/data/raw data (old).csv", content.measurements(rng))


def _notes(home: _Home, people: Sequence[str]) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    home.directory("notes")
    for weeks in range(1, 6):
        day = today - timedelta(weeks=weeks)
        home.file(f"notes/{day}-meeting.md", content.meeting_notes(rng, day, people))
    home.file("notes/todo.txt", content.to_do(rng))
    home.file("notes/ideas.txt", "A map of every bench in town\nBackup for the backup\nA quieter keyboard\n")
    home.file("notes/reading list.txt", "Middlemarch\nPedro Páramo\n雪国\nMiddlemarch\nThe Waves\n")
    home.file("notes/café menu.txt", "espresso 2.20\ncortado 2.80\ntarte 4.50\n")
    home.file("notes/scratch.txt", "")
    home.directory("notes/old")
    home.file("notes/old/todo.txt", content.to_do(rng))
    home.file("notes/old/passport renewal.txt", "Bring two photos and the old passport.\n")


def _invoices(home: _Home) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    home.directory("invoices")
    for year in (today.year - 2, today.year - 1):
        home.directory(f"invoices/{year}")
        summary = ["number,client,total"]
        for index, month in enumerate(sorted(rng.sample(range(1, 13), 6)), start=1):
            number = f"{year}-{index:03d}"
            day = datetime(year, month, rng.randint(1, 28)).date()
            text, client, total = content.invoice(rng, number, day)
            home.file(f"invoices/{year}/inv-{number}.txt", text)
            summary.append(f"{number},{client},{total}")
        home.file(f"invoices/{year}/summary.csv", "\n".join(summary) + "\n")
    home.file("invoices/template.txt", "Invoice {number}\nDate: {date}\nClient: {client}\nTotal: {total} EUR\n", 0o444)


def _logs(home: _Home) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    home.directory("logs")
    for days in range(1, 6):
        day = today - timedelta(days=days)
        home.file(f"logs/app-{day}.log", content.log(rng, day))
    home.directory("logs/crash")
    home.file("logs/crash/report.txt", f"version 2.4.{rng.randint(1, 9)}\nERROR out of memory\n", 0o400)


def _photos(home: _Home) -> None:
    rng, now = home.disk.rng, home.disk.now
    home.directory("photos")
    for trip in rng.sample(_TRIPS, 3):
        start = now - timedelta(days=rng.randint(40, 700))
        folder = home.directory(f"photos/{start.year}-{trip}")
        for number in sorted(rng.sample(range(100, 999), 4)):
            start += timedelta(minutes=rng.randint(5, 600))
            home.file(f"{folder}/IMG_{number:04d}.jpg", content.photo(rng, start))
    home.directory("photos/to-sort")


def _documents(home: _Home, people: Sequence[tuple[str, str]]) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    full_name = dict(people)[home.user]
    home.directory("documents")
    home.file("documents/résumé.md", f"# {full_name}\n- analyst since {today.year - 6}\n- speaks three languages\n")
    home.file("documents/budget.csv", content.monthly_budget(rng))
    home.file("documents/report.txt", f"Quarterly report\nTotal: {rng.randint(40, 90)} orders\nStatus: draft\n")
    home.file("documents/contacts.csv", content.contacts(people))
    home.directory("documents/contracts", 0o700)
    for client in rng.sample(content.CLIENTS, 3):
        name = client.split()[0].lower()
        text = f"Contract with {client}\nValid until {today + timedelta(days=rng.randint(60, 500))}\nNotice: 30 days\n"
        home.file(f"documents/contracts/{name}.txt", text, 0o600)
    home.directory("documents/letters")
    home.file("documents/letters/landlord.txt", "Dear Ms Brandt,\nthe heating is cold again. Please send someone.\n")
    home.file("documents/letters/bank.txt", "Dear Sir or Madam,\nplease close my second account.\n")


def _downloads(home: _Home) -> None:
    rng, now = home.disk.rng, home.disk.now
    home.directory("downloads")
    for name, size in (("fonts", 2), ("tax-forms", 3), ("wallpapers", 2), (f"backup-{now.year - 1}", 3)):
        files = [(f"{name}/part-{part}.txt", "file", 0o644, f"{name}, part {part}\n") for part in range(1, size + 1)]
        home.archive(f"downloads/{name}.tar", [(name, "directory", 0o755, ""), *files])
    home.file("downloads/ticket.txt", f"Train 714, coach {rng.randint(1, 12)}, seat {rng.randint(1, 80)}\n")
    home.file("downloads/ticket (1).txt", home.disk.rows[f"{home.path}/downloads/ticket.txt"]["content"])
    home.file("downloads/budget.csv", home.disk.rows[f"{home.path}/documents/budget.csv"]["content"])
    home.file("downloads/manual.txt", "1. Unpack.\n2. Plug in.\n3. Wait for the green light.\n")


def _links(home: _Home, project: str) -> None:
    home.link("current", f"{home.path}/projects/{project}")
    home.link("team", "/srv/team")
    home.link("old-site", "/srv/site")  # its target is gone
    home.link("projects/latest", f"{home.path}/projects/stable")  # these two lead to each other
    home.link("projects/stable", f"{home.path}/projects/latest")


def _tags(home: _Home) -> list[Row]:
    rng = home.disk.rng
    own = [row["path"] for row in home.disk.rows.values() if row["path"].startswith(f"{home.path}/")]
    own = [path for path in own if "/.ssh" not in path]
    return [
        {"path": path, "label": label}
        for label in ("urgent", "client", "family", "taxes", "draft", "reference")
        for path in sorted(rng.sample(own, rng.randint(1, 4)))
    ]


def _fill_trash(home: _Home) -> list[Row]:
    trash = home.directory(TRASH, 0o700)
    home.file(f"{trash}/old-list.txt", "eggs\nflour\nlemons\n")
    home.file(f"{trash}/todo.txt", "[x] nothing left to do\n")  # its old place is taken by now
    home.file(f"{trash}/memo.txt", "The memo that nobody read.\n")  # its old directory is gone
    home.directory(f"{trash}/drafts")
    home.file(f"{trash}/drafts/speech.txt", "Dear colleagues,\ntoday is a good day.\n")
    origins = {
        "old-list.txt": "notes/old-list.txt",
        "todo.txt": "notes/todo.txt",
        "memo.txt": "memos/memo.txt",
        "drafts": "documents/drafts",
    }
    return [
        {"path": f"{home.path}/{trash}/{name}", "original_path": f"{home.path}/{origin}"}
        for name, origin in origins.items()
    ]

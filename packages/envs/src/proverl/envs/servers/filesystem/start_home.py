"""The caller's home as it looks after two years of use: projects, notes, invoices, logs, photos and papers."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from proverl.envs.servers.filesystem import start_content as content
from proverl.envs.servers.filesystem.disk import Home
from proverl.envs.servers.filesystem.tables import TRASH
from proverl.envs.state import Row

_PROJECTS = ["atlas", "beacon", "cobalt", "dune", "ember", "fjord", "garnet", "harbor", "iris"]
_TRIPS = ["lisbon", "tatra-hike", "oslo", "family-visit", "naples", "baltic-sea"]


def fill_home(home: Home, people: Sequence[tuple[str, str]]) -> list[Row]:
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


def _project(home: Home, name: str, people: Sequence[str]) -> None:
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


def _notes(home: Home, people: Sequence[str]) -> None:
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


def _invoices(home: Home) -> None:
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


def _logs(home: Home) -> None:
    rng, today = home.disk.rng, home.disk.now.date()
    home.directory("logs")
    for days in range(1, 6):
        day = today - timedelta(days=days)
        home.file(f"logs/app-{day}.log", content.log(rng, day))
    home.directory("logs/crash")
    home.file("logs/crash/report.txt", f"version 2.4.{rng.randint(1, 9)}\nERROR out of memory\n", 0o400)


def _photos(home: Home) -> None:
    rng, now = home.disk.rng, home.disk.now
    home.directory("photos")
    for trip in rng.sample(_TRIPS, 3):
        start = now - timedelta(days=rng.randint(40, 700))
        folder = home.directory(f"photos/{start.year}-{trip}")
        for number in sorted(rng.sample(range(100, 999), 4)):
            start += timedelta(minutes=rng.randint(5, 600))
            home.file(f"{folder}/IMG_{number:04d}.jpg", content.photo(rng, start))
    home.directory("photos/to-sort")


def _documents(home: Home, people: Sequence[tuple[str, str]]) -> None:
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


def _downloads(home: Home) -> None:
    rng, now = home.disk.rng, home.disk.now
    home.directory("downloads")
    for name, size in (("fonts", 2), ("tax-forms", 3), ("wallpapers", 2), (f"backup-{now.year - 1}", 3)):
        files = [(f"{name}/part-{part}.txt", "file", 0o644, f"{name}, part {part}\n") for part in range(1, size + 1)]
        home.archive(f"downloads/{name}.tar", [(name, "directory", 0o755, ""), *files])
    home.file("downloads/ticket.txt", f"Train 714, coach {rng.randint(1, 12)}, seat {rng.randint(1, 80)}\n")
    home.file("downloads/ticket (1).txt", home.disk.rows[f"{home.path}/downloads/ticket.txt"]["content"])
    home.file("downloads/budget.csv", home.disk.rows[f"{home.path}/documents/budget.csv"]["content"])
    home.file("downloads/manual.txt", "1. Unpack.\n2. Plug in.\n3. Wait for the green light.\n")


def _links(home: Home, project: str) -> None:
    home.link("current", f"{home.path}/projects/{project}")
    home.link("team", "/srv/team")
    home.link("old-site", "/srv/site")  # its target is gone
    home.link("projects/latest", f"{home.path}/projects/stable")  # these two lead to each other
    home.link("projects/stable", f"{home.path}/projects/latest")


def _tags(home: Home) -> list[Row]:
    rng = home.disk.rng
    own = [row["path"] for row in home.disk.rows.values() if row["path"].startswith(f"{home.path}/")]
    own = [path for path in own if "/.ssh" not in path]
    return [
        {"path": path, "label": label}
        for label in ("urgent", "client", "family", "taxes", "draft", "reference")
        for path in sorted(rng.sample(own, rng.randint(10, 18)))
    ]


def fill_trash(home: Home) -> list[Row]:
    """Put four things in the trash, two of which can't go back; returns their records."""
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

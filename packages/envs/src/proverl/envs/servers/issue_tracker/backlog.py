"""The issues of a project and the traces of work on them, each no earlier than it could be and before today."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta

from proverl.envs import Draft
from proverl.envs.servers.issue_tracker import words
from proverl.envs.servers.issue_tracker.tables import Comment, Issue, Label, Link, Watcher, Worklog
from proverl.envs.state import Row

_POINTS = (1, 2, 2, 3, 3, 5, 5, 8, 13)
_LOGGED_A_DAY = 240  # minutes of one person in the start state: leaves room below the daily limit


@dataclass
class Backlog:
    """A project being filled; `ended` tells how many days ago an issue was resolved."""

    draft: Draft
    project: Row
    team: list[str]
    issues: list[Row] = field(default_factory=list)
    age: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, summary: str, age: int, **values: object) -> Row:
        """An issue that is `age` days old and not started."""
        rng = self.draft.rng
        row: Row = {
            "project_id": self.project["id"],
            "type": kind,
            "summary": summary,
            "search": summary.casefold(),
            "description": rng.choice(words.DESCRIPTIONS) if rng.random() < 0.4 else None,
            "status": "to_do",
            "resolution": None,
            "priority": rng.choice((1, 2, 2, 3, 3, 3, 4, 5)),
            "assignee_id": None,
            "sprint_id": None,
            "parent_id": None,
            "points": None,
            "due_on": self.draft.day(rng.randint(-min(6, age), 40)) if rng.random() < 0.25 else None,
            "created_on": self.draft.day(-age),
        }
        issue = self.draft.add(Issue, **row | values)
        self.issues.append(issue)
        self.age[issue["id"]] = age
        return issue

    def move(self, issue: Row, status: str, resolution: str | None = None, ended: int = 1) -> None:
        """Put an issue where its work has come to."""
        issue["status"], issue["resolution"] = status, resolution
        if status in ("in_progress", "in_review") or resolution in ("fixed", "cannot_reproduce"):
            issue["assignee_id"] = self.draft.rng.choice(self.team[:-1])  # not the leaver, who comes last
        if resolution:
            self.ended[issue["id"]] = min(ended, self.age[issue["id"]])


def fill(draft: Draft, project: Row, team: list[str], sprints: list[Row], logged: Counter[tuple[str, str]]) -> None:
    """Draw the project's epics, issues and sub-tasks, place them, and leave traces; `logged` is by person and day."""
    backlog = Backlog(draft, project, team)
    epics, texts = words.PROJECTS[project["name"]]
    chosen = draft.rng.sample(texts, draft.rng.randint(14, 15))
    held = [backlog.add("epic", title, draft.rng.randint(100, 170)) for title in epics]
    backlog.move(held[0], "in_progress")
    plain = [_plain(backlog, held, kind, text, recent=place < 4) for place, (kind, text) in enumerate(chosen)]
    left = list(plain)
    _dead_ends(backlog, left)
    if sprints:
        _onto_sprints(backlog, sprints, left)
    else:
        _onto_board(backlog, left)
    if not project["archived"]:
        _assign(backlog)
    _subtasks(backlog, plain)
    _links(backlog, plain)
    _traces(backlog, logged)


def _plain(backlog: Backlog, epics: list[Row], kind: str, text: str, recent: bool) -> Row:
    rng = backlog.draft.rng
    return backlog.add(
        kind,
        text,
        rng.randint(3, 40) if recent else rng.randint(60, 99),
        parent_id=rng.choice(epics)["id"] if rng.random() < 0.4 else None,
        points=rng.choice(_POINTS) if rng.random() < 0.75 else None,
    )


def _onto_sprints(backlog: Backlog, sprints: list[Row], left: list[Row]) -> None:
    rng = backlog.draft.rng
    for number, sprint in enumerate(sprints):
        empty = sprint["state"] == "future" and number == len(sprints) - 1 and sprints[-2]["state"] == "future"
        size = (
            0
            if empty
            else {"closed": rng.choice((1, 2, 2)), "active": 5, "future": rng.choice((1, 2))}[sprint["state"]]
        )
        taken = [left.pop() for _ in range(size)]
        for place, issue in enumerate(taken):
            issue["sprint_id"] = sprint["id"]
            issue["points"] = issue["points"] or rng.choice(_POINTS[:6])
            if sprint["state"] == "closed":
                backlog.move(issue, "done", "fixed", ended=_days_ago(backlog, sprint["ends_on"]) + rng.randint(1, 6))
            elif sprint["state"] == "active":
                status = ("in_progress", "in_review", "to_do", "done", rng.choice(("to_do", "in_progress")))[place]
                backlog.move(issue, status, "fixed" if status == "done" else None, ended=rng.randint(1, 3))
        if sprint["state"] == "future" and taken and rng.random() < 0.4:
            taken[0]["points"] = None
        committed = sum(issue["points"] or 0 for issue in taken)
        sprint["capacity"] = max(5, committed + rng.choice((0, 3, 5, 8, 13)))


def _days_ago(backlog: Backlog, day: str) -> int:
    return (backlog.draft.today - date.fromisoformat(day)).days


def _onto_board(backlog: Backlog, left: list[Row]) -> None:
    rng = backlog.draft.rng
    for _ in range(backlog.project["wip_limit"] - rng.choice((0, 1))):
        backlog.move(left.pop(), "in_progress")
    for _ in range(2):
        backlog.move(left.pop(), "in_review")
    for _ in range(4):
        backlog.move(left.pop(), "done", "fixed", ended=rng.randint(1, 40))


def _dead_ends(backlog: Backlog, left: list[Row]) -> None:
    """Close three of the oldest issues without work, one as a duplicate of an issue that is left."""
    rng = backlog.draft.rng
    bug = next(issue for issue in reversed(left) if issue["type"] == "bug")
    left.remove(bug)
    wish, copy = left.pop(), left.pop()
    for issue, resolution in ((bug, "cannot_reproduce"), (wish, "wont_do"), (copy, "duplicate")):
        backlog.move(issue, "done", resolution, ended=rng.randint(2, 30))
    older = [issue for issue in left if backlog.age[issue["id"]] >= backlog.age[copy["id"]]]
    backlog.draft.add(Link, issue_id=copy["id"], other_id=rng.choice(older or left)["id"], relation="duplicates")


def _assign(backlog: Backlog) -> None:
    for issue in backlog.issues:
        if issue["status"] == "to_do" and backlog.draft.rng.random() < 0.7:
            issue["assignee_id"] = backlog.draft.rng.choice(backlog.team)


def _subtasks(backlog: Backlog, plain: list[Row]) -> None:
    rng = backlog.draft.rng
    started = [issue for issue in plain if issue["status"] in ("in_progress", "in_review")]
    waiting = [issue for issue in plain if issue["status"] == "to_do"]
    done = [issue for issue in plain if issue["resolution"] == "fixed"]
    for parent in [*started[:2], *waiting[:1], *done[:1]]:
        age = backlog.age[parent["id"]]
        for text in rng.sample(words.SUBTASKS, rng.choice((1, 2, 2))):
            ended = backlog.ended.get(parent["id"], 1)
            part = backlog.add("subtask", text, rng.randint(max(ended, age // 2), age), parent_id=parent["id"])
            if parent["status"] == "done" or (parent["status"] != "to_do" and rng.random() < 0.4):
                backlog.move(part, "done", "fixed", ended=ended + 1)


def _links(backlog: Backlog, plain: list[Row]) -> None:
    """Earlier issues block later ones, so that no circle comes about."""
    rng, draft = backlog.draft.rng, backlog.draft
    openly = [issue for issue in plain if issue["status"] != "done"]
    waiting = [issue for issue in openly if issue["status"] == "to_do"]
    for later in waiting[-3:]:
        earlier = openly[: openly.index(later)]
        if earlier:
            draft.add(Link, issue_id=rng.choice(earlier)["id"], other_id=later["id"], relation="blocks")
    pairs = [sorted(issue["id"] for issue in rng.sample(plain, 2)) for _ in range(2)]
    others = [issue["id"] for issue in draft.rows[Issue] if issue["project_id"] != backlog.project["id"]]
    if others:
        pairs.append(sorted((rng.choice(plain)["id"], rng.choice(others))))
    for low, high in sorted({tuple(pair) for pair in pairs}):
        draft.add(Link, issue_id=low, other_id=high, relation="relates_to")


def _traces(backlog: Backlog, logged: Counter[tuple[str, str]]) -> None:
    """Labels, watchers, comments and logged work."""
    rng, draft = backlog.draft.rng, backlog.draft
    for issue in backlog.issues:
        age, ended = backlog.age[issue["id"]], backlog.ended.get(issue["id"], 1)
        for label in rng.sample(words.LABELS, rng.choice((0, 0, 1, 1, 2))):
            draft.add(Label, issue_id=issue["id"], label=label)
        for user in rng.sample(backlog.team, rng.choice((0, 0, 1, 1, 2))):
            draft.add(Watcher, issue_id=issue["id"], user_id=user)
        said = words.PLANNING_COMMENTS if issue["status"] == "to_do" or not issue["assignee_id"] else words.COMMENTS
        for body in rng.sample(said, rng.choice((0, 0, 0, 1, 1, 2, 3))):
            draft.add(
                Comment,
                issue_id=issue["id"],
                author_id=rng.choice(backlog.team),
                body=body,
                written_on=draft.day(-rng.randint(ended, age)),
                written_at=f"{rng.randint(8, 18):02d}:{rng.randrange(60):02d}",
            )
        if issue["type"] == "epic" or not issue["assignee_id"] or issue["status"] == "to_do":
            continue
        days = [rng.randint(ended, min(age, ended + 12)) for _ in range(rng.choice((1, 1, 2)))]
        if not any([_log(draft, issue, day, logged) for day in days]):
            any(_log(draft, issue, day, logged) for day in range(ended, age))  # the last day that has room


def _log(draft: Draft, issue: Row, days: int, logged: Counter[tuple[str, str]]) -> bool:
    """Log work on the last working day at that time. False when the issue is younger, or the person's day full."""
    weekday = (draft.today - timedelta(days=days)).weekday()
    day, minutes = draft.day(-days - max(weekday - 4, 0)), draft.rng.randint(2, 14) * 15
    worker = issue["assignee_id"]
    if issue["created_on"] > day or logged[worker, day] + minutes > _LOGGED_A_DAY:
        return False
    logged[worker, day] += minutes
    draft.add(Worklog, issue_id=issue["id"], user_id=worker, minutes=minutes, worked_on=day)
    return True

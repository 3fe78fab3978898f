"""The tracker on the morning of a session: six projects of 22 people, with half a year behind them.

Awkward on purpose: two users of one name, one who left and still has work, an archived project, one where the caller
only reads, an overdue sprint, full sprints, a board at its limit or one below, empty future sprints, duplicates.
"""

from collections import Counter
from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.issue_tracker import words
from proverl.envs.servers.issue_tracker.backlog import fill
from proverl.envs.servers.issue_tracker.tables import SELF, Member, Project, Sprint, User
from proverl.envs.state import Row

_PEOPLE = 22
_SPRINT_DAYS = 11  # Monday to the Friday of the next week
# board, the caller's role, weeks since the Monday of the running sprint (None: between two sprints), future sprints
_PLAN = (
    ("scrum", "admin", 1, 2),
    ("scrum", "developer", 1, 1),
    ("scrum", "admin", None, 2),
    ("kanban", "admin", None, 0),
    ("scrum", "viewer", 2, 1),
    ("scrum", "admin", None, 0),
)
_ARCHIVED = len(_PLAN) - 1


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    users = _users(draft)
    logged: Counter[tuple[str, str]] = Counter()
    for number, name in enumerate(rng.sample(list(words.PROJECTS), len(_PLAN))):
        project = _project(draft, number, name)
        team = _team(draft, project, users, _PLAN[number][1])
        sprints = _sprints(draft, project, _PLAN[number][2], _PLAN[number][3]) if project["board"] == "scrum" else []
        fill(draft, project, team, sprints, logged)
    return draft.rows


def _users(draft: Draft) -> list[Row]:
    first, *others = full_names(draft.rng, _PEOPLE)
    names = [*others, first]  # the namesakes are last, and neither is the caller
    leaver = draft.rng.randrange(1, _PEOPLE - 1)
    users = [draft.add(User, id=SELF, name=names[0], active=True)]
    return users + [
        draft.add(User, name=name, active=number != leaver) for number, name in enumerate(names[1:], start=1)
    ]


def _project(draft: Draft, number: int, name: str) -> Row:
    board = _PLAN[number][0]
    return draft.add(
        Project,
        name=name,
        board=board,
        wip_limit=draft.rng.choice((3, 4)) if board == "kanban" else None,
        time_tracking=number % 2 == 0,
        archived=number == _ARCHIVED,
    )


def _team(draft: Draft, project: Row, users: list[Row], own_role: str) -> list[str]:
    """Members by role; returns those who do the work, a leaver last."""
    rng = draft.rng
    others = rng.sample(users[1:], rng.randint(7, 10))
    others.sort(key=lambda user: not user["active"])  # who left was a developer, not the admin
    roles = ["admin", "viewer", *["developer"] * (len(others) - 2)]
    for user, role in [(users[0], own_role), *zip(others, roles, strict=True)]:
        draft.add(Member, project_id=project["id"], user_id=user["id"], role=role)
    workers = [user["id"] for user, role in zip(others, roles, strict=True) if role != "viewer"]
    return workers if own_role == "viewer" else [SELF, *workers]


def _sprints(draft: Draft, project: Row, running_weeks: int | None, future: int) -> list[Row]:
    """One or two closed sprints, the active one if there is one, future ones; without capacity yet."""
    monday = -draft.today.weekday() - 7 * (running_weeks or 0)
    closed = draft.rng.choice((1, 2, 2))
    first = draft.rng.randint(11, 38)
    windows: list[tuple[str, int | None]] = [("closed", monday - 14 * back) for back in range(closed, 0, -1)]
    windows += [("active", monday)] if running_weeks else []
    windows += [("future", None)] * future
    return [
        draft.add(
            Sprint,
            project_id=project["id"],
            name=f"Sprint {first + number}",
            state=state,
            capacity=0,
            starts_on=None if start is None else draft.day(start),
            ends_on=None if start is None else draft.day(start + _SPRINT_DAYS),
        )
        for number, (state, start) in enumerate(windows)
    ]

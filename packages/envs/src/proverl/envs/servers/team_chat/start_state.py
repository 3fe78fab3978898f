"""The workspace on the morning of a session: who is in which channel, and two months of talk.

Awkward on purpose: members of one name, people who left, guests, an empty channel, archived ones, announcements,
deleted messages whose thread lives on.
"""

from datetime import datetime
from random import Random
from typing import Any

from proverl.envs import Draft, names
from proverl.envs.names import folded
from proverl.envs.servers.team_chat import talk, words
from proverl.envs.servers.team_chat.conversations import Room, converse
from proverl.envs.servers.team_chat.tables import SELF, Channel, ChatMember
from proverl.envs.state import Row

_COLLEAGUES, _LEAVERS, _GUESTS = 32, 3, 4
_JOINED = 0.55  # share of the public channels that the user is in


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    draft = Draft(rng, now)
    members = _members(draft)
    staff = [row for row in members if row["status"] != "guest"]
    active = [row for row in staff if row["status"] == "active"]
    rooms = [
        _room(draft, ("general", "Everyone, everything", talk.GENERAL, 1), active[1:], staff, is_default=True),
        _room(draft, ("announcements", "Read me", talk.NEWS, 1), active[1:], staff, announcements=True),
    ]
    public = [_room(draft, spec, active, _some(rng, staff, spec[3])) for spec in (*words.CHANNELS, words.EMPTY)]
    private = [
        _room(draft, spec, active, [members[0], *_some(rng, active[1:], spec[3])], visibility="private")
        for spec in words.PRIVATE
    ]
    archived = [_room(draft, spec, active, _some(rng, staff, spec[3]), archived=True) for spec in words.ARCHIVED]
    joined = [room for room in public if room.has(SELF)]
    for room in (joined[0], joined[2], joined[-3], joined[-2], private[-1]):
        room.channel["owner_id"] = SELF
    projects = [room for room in public if room.channel["name"].startswith("proj-")]
    for room, guest in zip(rng.sample(projects, _GUESTS - 1), members[-_GUESTS:-1], strict=True):
        room.enter(draft, guest)  # the last guest is in no channel yet
    for room in [*rooms, *public, *private, *archived]:
        converse(draft, room, now)
    return draft.rows


def _members(draft: Draft) -> list[Row]:
    """The user first, then colleagues, people who left, and guests."""
    rng = draft.rng
    people = names.full_names(rng, 1 + _COLLEAGUES + _LEAVERS + _GUESTS, namesakes=0)
    people[5] = people[4]  # two colleagues of one name, told apart by their jobs
    titles = [rng.choice(words.TITLES) for _ in people]
    titles[4:6] = rng.sample(words.TITLES, 2)
    titles[-_GUESTS:] = rng.sample(words.GUEST_TITLES, _GUESTS)
    statuses = ["active"] * (1 + _COLLEAGUES) + ["deactivated"] * _LEAVERS + ["guest"] * _GUESTS
    ids = [{"id": SELF}] + [{}] * (len(people) - 1)
    return [
        draft.add(ChatMember, **key, name=name, folded=folded(name), title=title, status=status)
        for key, name, title, status in zip(ids, people, titles, statuses, strict=True)
    ]


def _some(rng: Random, staff: list[Row], share: float) -> list[Row]:
    """A share of the people; the user is in more channels than most."""
    chosen = [row for row in staff if rng.random() < (_JOINED if row["id"] == SELF else share)]
    return chosen if len(chosen) > 2 else staff[2:5]


def _room(
    draft: Draft,
    spec: tuple[str, str, tuple[tuple[str, ...], ...], float],
    active: list[Row],
    people: list[Row],
    visibility: str = "public",
    is_default: bool = False,
    announcements: bool = False,
    archived: bool = False,
) -> Room:
    """A channel with people in it, one of whom, never the user, owns it."""
    name, topic, threads, _ = spec
    owner = draft.rng.choice([row for row in people if row in active and row["id"] != SELF])
    channel = draft.add(
        Channel,
        name=name,
        topic=topic,
        visibility=visibility,
        owner_id=owner["id"],
        is_default=is_default,
        announcements=announcements,
        archived=archived,
        archived_at=None,
    )
    room = Room(channel, threads)
    for person in people:
        room.enter(draft, person)
    return room

"""What was said in a channel so far: threads of `talk` by the people in it, with their reactions."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from proverl.envs import Draft, names
from proverl.envs.servers.team_chat import words
from proverl.envs.servers.team_chat.tables import Membership, Message, Reaction
from proverl.envs.state import Row

_HISTORY = 60  # days
_QUIET = 75  # days since the last message of an archived channel, at least
_LEFT = 25  # days since the last of those who left said something, at least
_CALM = ("thumbs_up", "thumbs_up", "thumbs_up", "eyes", "heart", "white_check_mark")
_GLAD = ("tada", "heart", "joy", "raised_hands", "rocket")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass
class Room:
    """A channel while it fills: who is in it and what they talk about."""

    channel: Row
    threads: tuple[tuple[str, ...], ...]
    people: list[Row] = field(default_factory=list)

    def has(self, member_id: str) -> bool:
        """Whether someone is in the channel."""
        return any(row["id"] == member_id for row in self.people)

    def enter(self, draft: Draft, person: Row) -> None:
        """Add someone to the channel."""
        self.people.append(person)
        draft.add(Membership, channel_id=self.channel["id"], member_id=person["id"])


def converse(draft: Draft, room: Room, now: datetime) -> None:
    """Add the channel's messages, in order; an archived channel fell silent long ago and was then closed."""
    rng = draft.rng
    end = now - timedelta(days=_QUIET) if room.channel["archived"] else now
    count = min(len(room.threads), rng.randint(4, 6))
    moments = sorted(_working_time(rng, end, _HISTORY) for _ in range(count))
    chosen = sorted(rng.sample(range(len(room.threads)), count))
    for place, begun in zip(chosen, moments, strict=True):
        _thread(draft, room, room.threads[place], begun, now)
    if room.channel["archived"]:
        closed = end + timedelta(days=rng.randint(2, 20), minutes=rng.randint(0, 400))
        room.channel["archived_at"] = closed.isoformat(timespec="minutes")


def _working_time(rng: Random, end: datetime, days: int) -> datetime:
    """A moment of a weekday before `end`, more often of a recent one."""
    day = end - timedelta(days=1 + int(days * rng.random() ** 2))
    day -= timedelta(days=max(0, day.weekday() - 4))
    return day.replace(hour=rng.randint(8, 16), minute=rng.randrange(60))


def _thread(draft: Draft, room: Room, thread: tuple[str, ...], begun: datetime, now: datetime) -> None:
    rng = draft.rng
    speakers = _speakers(rng, room, begun > now - timedelta(days=_LEFT))
    slots = {
        "asker": speakers[0]["name"].split()[0],
        "other": speakers[1]["name"].split()[0],
        "city": rng.choice(names.CITIES),
        "project": rng.choice(words.PROJECTS),
        "day": rng.choice(_DAYS),
        "number": rng.randint(3, 42),
    }
    root, at = None, begun
    for place, line in enumerate(thread):
        author = speakers[0] if line.startswith("^") or place == 0 else speakers[1 + (place + 1) % 2]
        text = line.removeprefix("^").format(**slots)
        row = _say(draft, room, author, text, at, root)
        root = root or row
        at += timedelta(minutes=rng.choice((2, 4, 9, 25, 50)))
    if len(thread) > 2 and rng.random() < 0.1 and root is not None:
        root.update(text="", deleted=True)
        draft.rows[Reaction] = [row for row in draft.rows.get(Reaction, []) if row["message_id"] != root["id"]]


def _speakers(rng: Random, room: Room, recently: bool) -> list[Row]:
    """Who begins a thread, and who answers."""
    owner = next(row for row in room.people if row["id"] == room.channel["owner_id"])
    here = [row for row in room.people if row["status"] != "deactivated" or not recently]
    first = owner if room.channel["announcements"] else rng.choice(here)
    others = [row for row in here if row is not first]
    return [first, *rng.sample(others, 2)] if len(others) > 1 else [first, *others, *others]


def _say(draft: Draft, room: Room, author: Row, text: str, at: datetime, root: Row | None) -> Row:
    row = draft.add(
        Message,
        channel_id=room.channel["id"],
        parent_id=root and root["id"],
        author_id=author["id"],
        mentioned_id=None,
        text=text,
        deleted=False,
        posted_at=at.isoformat(timespec="minutes"),
    )
    rng = draft.rng
    fans = [person for person in room.people if person is not author]
    if rng.random() < (0.25 if root else 0.5):
        emojis = rng.sample(_GLAD if "!" in text else _CALM, 2)
        for person in rng.sample(fans, min(len(fans), rng.choice((1, 1, 2, 3)))):
            draft.add(Reaction, message_id=row["id"], member_id=person["id"], emoji=rng.choice(emojis))
    return row

"""The user's account on the morning of a session: some 110 meetings of five months, who came, what was recorded.

The user is never in two meetings at once, people are only where a meeting goes on, recordings fit their meetings.
Awkward on purpose: topics that come again and again, two people of one name, declined invitations, nobody else invited,
a meeting at its limit, confidential meetings, people who object to recordings, recordings long deleted, one host live.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from random import Random
from typing import Any

from proverl.envs import Draft
from proverl.envs.names import full_names
from proverl.envs.servers.video_meeting import words
from proverl.envs.servers.video_meeting.tables import (
    COMPANY,
    ME,
    Meeting,
    Participant,
    Person,
    Recording,
    RecordingShare,
)
from proverl.envs.state import Row

_CLIENTS = 22
_KEPT_DAYS = 120  # recordings
_PAST, _RECENT, _FUTURE = (-150, -60), (-59, -1), (0, 35)  # days


def start_state(rng: Random, now: datetime) -> dict[type[Any], list[Row]]:
    """Rows by table, as the seed and the date decide."""
    return _Account(rng, now).draft.rows


class _Account:
    """Draws the account: people first, then meetings by when they are."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.rng, self.now = rng, now
        self.draft = Draft(rng, now)
        self.taken: set[datetime] = set()
        self._people()
        self._live()
        for days, count in ((_PAST, 16), (_RECENT, 32)):
            for _ in range(count):
                self._ended(days)
        for _ in range(44):
            self._meeting("scheduled", self._slot(_FUTURE))
        for days in (_RECENT, _FUTURE, _FUTURE, _FUTURE):
            self._meeting("cancelled", self._slot(days), mine=True)
        self._fill_one_up()

    def _people(self) -> None:
        self.draft.add(Person, email=ME, name="Robin Vance", host_key=f"{self.rng.randrange(1_000_000):06d}")
        for name in words.COLLEAGUES:
            self.draft.add(Person, email=_mailbox(name) + COMPANY, name=name, host_key=None)
        self.colleagues = [row["email"] for row in self.draft.rows[Person][1:]]
        self.clients = []
        for index, name in enumerate(full_names(self.rng, _CLIENTS)):
            email = f"{_mailbox(name)}@{words.CLIENT_DOMAINS[index % len(words.CLIENT_DOMAINS)]}"
            self.draft.add(Person, email=email, name=name, host_key=None)
            self.clients.append(email)

    def _slot(self, days: tuple[int, int]) -> datetime:
        """A half hour of a working day in which the user has nothing yet."""
        while True:
            day = self.now + timedelta(days=self.rng.randint(*days))
            start = day.replace(hour=self.rng.randint(9, 16), minute=self.rng.choice((0, 30)))
            is_free = not any(start + timedelta(minutes=shift) in self.taken for shift in (-30, 0, 30))
            if is_free and start.weekday() < 5 and (start > self.now or days[1] < 0):
                self.taken.add(start)
                return start

    def _live(self) -> None:
        """One meeting goes on with the user in it, two others without."""
        begun = self.now.replace(hour=8, minute=30)
        self.taken.update((begun, self.now))
        mine = self.rng.random() < 0.3
        first = self._meeting("live", begun, mine=mine, my_role="cohost", minutes=60)
        if self.rng.random() < 0.3 and not first["is_confidential"]:
            self._remove_objectors(first)
            self._recording(first, begun + timedelta(minutes=5), None)
        hosts = {first["host"]}
        for role in ("attendee", "cohost"):
            other = self._meeting(
                "live", begun + timedelta(minutes=15), mine=False, my_role=role, minutes=45, not_by=hosts
            )
            hosts.add(other["host"])
            for row in self.draft.rows[Participant]:
                if row["meeting_id"] == other["id"] and row["email"] == ME:
                    row.update(status="invited", is_muted=False)

    def _ended(self, days: tuple[int, int]) -> None:
        rng, start = self.rng, self._slot(days)
        meeting = self._meeting("ended", start)
        if meeting["is_confidential"] or rng.random() < 0.35:
            return
        begun = start + timedelta(minutes=rng.randint(0, 6))
        self._remove_objectors(meeting)
        recording = self._recording(meeting, begun, start + timedelta(minutes=meeting["minutes"] - rng.randint(0, 4)))
        if recording["status"] == "available" and meeting["host"] == ME:
            for email in rng.sample(self.colleagues, rng.choice((0, 0, 1, 2))):
                last_day = start + timedelta(days=30)
                self.draft.add(
                    RecordingShare, recording_id=recording["id"], email=email, expires_on=last_day.date().isoformat()
                )

    def _recording(self, meeting: Row, begun: datetime, stopped: datetime | None) -> Row:
        gone = begun + timedelta(days=_KEPT_DAYS)
        deleted = stopped is not None and gone < self.now
        return self.draft.add(
            Recording,
            meeting_id=meeting["id"],
            status="deleted" if deleted else "available" if stopped else "recording",
            internal_only=stopped is not None and self.rng.random() < 0.3,
            started_at=begun.isoformat(timespec="minutes"),
            stopped_at=stopped and stopped.isoformat(timespec="minutes"),
            deleted_on=gone.date().isoformat() if deleted else None,
        )

    def _remove_objectors(self, meeting: Row) -> None:
        for row in self.draft.rows[Participant]:
            if row["meeting_id"] == meeting["id"] and row["status"] in ("joined", "left"):
                row["objects_to_recording"] = False

    def _meeting(
        self,
        status: str,
        start: datetime,
        mine: bool | None = None,
        my_role: str = "",
        minutes: int = 0,
        not_by: Collection[str] = (),
    ) -> Row:
        rng = self.rng
        confidential = rng.random() < 0.08
        mine = rng.random() < 0.8 if mine is None else mine
        host = ME if mine else rng.choice([email for email in self.colleagues if email not in not_by])
        meeting = self.draft.add(
            Meeting,
            topic=rng.choice(words.CONFIDENTIAL_TOPICS if confidential else words.TOPICS),
            host=host,
            status=status,
            starts_at=start.isoformat(timespec="minutes"),
            minutes=minutes or rng.choice((15, 30, 30, 30)),
            waiting_room=rng.random() < 0.7 or status == "live",
            is_confidential=confidential,
            max_participants=100,
        )
        self._participants(meeting, my_role or rng.choice(("attendee", "attendee", "attendee", "cohost")))
        return meeting

    def _participants(self, meeting: Row, my_role: str) -> None:
        rng = self.rng
        pool = self.colleagues if meeting["is_confidential"] else self.colleagues + self.clients
        others = [email for email in rng.sample(pool, rng.choice((0, 1, 2, 2, 3, 3, 4, 5))) if email != meeting["host"]]
        roles = {email: "attendee" for email in others} | {ME: my_role} | {meeting["host"]: "host"}
        for email, role in roles.items():
            status = self._whereabouts(meeting, role, email == ME)
            self.draft.add(
                Participant,
                meeting_id=meeting["id"],
                email=email,
                role=role,
                status=status,
                is_muted=status == "joined" and role != "host" and rng.random() < 0.4,
                objects_to_recording=role == "attendee" and rng.random() < (0.12 if email in self.clients else 0.03),
            )
        if rng.random() < 0.15:
            meeting["max_participants"] = max(2, len(roles) + rng.randint(0, 3))

    def _whereabouts(self, meeting: Row, role: str, is_me: bool) -> str:
        rng = self.rng
        if meeting["status"] == "live":
            return (
                "joined"
                if role == "host" or is_me
                else rng.choice(("joined", "joined", "waiting", "waiting", "invited"))
            )
        if role != "host" and rng.random() < 0.12:
            return "declined"
        if meeting["status"] == "ended":
            came = role == "host" or rng.random() < 0.88
            return "left" if came else "removed" if rng.random() < 0.15 and not is_me else "invited"
        return "invited"

    def _fill_one_up(self) -> None:
        """One upcoming meeting of the user is at its limit."""
        rows = self.draft.rows
        sizes = Counter(row["meeting_id"] for row in rows[Participant])
        mine = (row for row in rows[Meeting] if row["status"] == "scheduled" and row["host"] == ME)
        meeting = next(row for row in mine if sizes[row["id"]] > 1)
        meeting["max_participants"] = sizes[meeting["id"]]


def _mailbox(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.translate(str.maketrans("øØłŁıß", "oOlLis")))
    return ".".join(
        "".join(char for char in plain if char.isascii() and (char.isalpha() or char == " ")).lower().split()
    )

"""Video meetings: what the tools do across each other, every refusal, the laws."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import text

from proverl.core import ErrorCode, Result
from proverl.envs import Context, Session, load_server, start_time

SERVICE = load_server("video_meeting")
COLLEAGUE, OUTSIDER = "mei.chen@lumenworks.example", "grace.walker@atlasfreight.example"


@cache
def start_of(seed: int) -> list[dict[str, Any]]:
    """All meetings in full, as the reading tools show them at the start."""
    with Session([SERVICE], seed) as session:
        return [
            row | session.call("get_meeting", {"meeting_id": row["meeting_id"]}).content
            for status in ("live", "scheduled", "ended", "cancelled")
            for row in session.call("list_meetings", {"status": status, "limit": 50}).content["meetings"]
        ]


class Account:
    """A session, and what the reading tools found in its start state."""

    def __init__(self, seed: int = 1) -> None:
        self.session = Session([SERVICE], seed)
        self.meetings = start_of(seed)

    def call(self, name: str, /, **arguments: Any) -> Result:
        return self.session.call(name, arguments)

    def read(self, name: str, /, **arguments: Any) -> Any:
        result = self.call(name, **arguments)
        assert result.ok, result.message
        return result.content

    def meeting(self, **wanted: Any) -> dict[str, Any]:
        return next(row for row in self.meetings if wanted.items() <= row.items())

    def participant(self, status: str, **wanted: Any) -> str:
        """Somebody else with this status in a meeting that fits."""
        return next(
            person["participant_id"]
            for row in self.meetings
            if wanted.items() <= row.items()
            for person in row["participants"]
            if person["status"] == status and person["role"] == "attendee" and person["name"] != "Robin Vance"
        )

    def recording(self, status: str, **wanted: Any) -> str:
        return next(
            item["recording_id"]
            for row in self.meetings
            if wanted.items() <= row.items()
            for item in row["recordings"]
            if item["status"] == status
        )

    def day(self, days: int) -> str:
        return (self.session.now.date() + timedelta(days=days)).isoformat()

    def plan(self, topic: str = "Design critique", **changes: Any) -> str:
        """Schedule a meeting. Returns its id."""
        arguments = {"topic": topic, "start_time": f"{self.day(3)}T15:00", **changes}
        return self.read("schedule_meeting", **arguments)["meeting_id"]

    def keyed(self, meeting_id: str) -> dict[str, Any]:
        return {"meeting_id": meeting_id, **self.read("reveal_host_key", meeting_id=meeting_id)}

    def begin(self, *invited: str, **plan: Any) -> str:
        """Schedule a meeting, invite people, start it. Returns its id."""
        meeting = self.plan(**plan)
        for email in invited:
            self.read("invite_participant", meeting_id=meeting, email=email)
        self.read("start_meeting", **self.keyed(meeting))
        return meeting

    def people(self, meeting_id: str) -> dict[str, str]:
        """Where everybody is, by name."""
        found = self.read("get_meeting", meeting_id=meeting_id)["participants"]
        return {row["name"]: row["status"] for row in found}


@pytest.fixture
def account() -> Account:
    return Account()


# What the tools do


def test_invited_people_wait_until_they_are_admitted_and_all_leave_at_the_end(account):
    meeting = account.plan()
    account.read("invite_participant", meeting_id=meeting, email="Mei.Chen@LumenWorks.example", role="cohost")
    assert account.people(meeting) == {"Robin Vance": "invited", "Mei Chen": "invited"}
    waiting = account.read("start_meeting", **account.keyed(meeting))["waiting"]
    assert [row["name"] for row in waiting] == ["Mei Chen"]
    admitted = account.read("update_participant", participant_id=waiting[0]["participant_id"], action="admit")
    assert admitted["status"] == "joined"
    late = account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)
    assert (late["status"], late["name"]) == ("waiting", "Grace Walker")
    account.read("update_participant", participant_id=late["participant_id"], action="remove")
    account.read("end_meeting", meeting_id=meeting)
    assert account.people(meeting) == {"Robin Vance": "left", "Mei Chen": "left", "Grace Walker": "removed"}
    assert account.read("list_meetings", status="ended", topic="critique", limit=50)["meetings"][0]["meeting_id"] == meeting


def test_without_a_waiting_room_people_come_straight_in(account):
    meeting = account.begin(COLLEAGUE, waiting_room="off")
    assert account.people(meeting) == {"Robin Vance": "joined", "Mei Chen": "joined"}


def test_who_declined_does_not_come(account):
    meeting = next(
        row
        for row in account.meetings
        if (row["status"], row["my_role"]) == ("scheduled", "host")
        and any(person["status"] == "declined" for person in row["participants"])
    )
    account.read("start_meeting", **account.keyed(meeting["meeting_id"]))
    assert "declined" in account.people(meeting["meeting_id"]).values()


def test_a_recording_ends_with_its_meeting_and_can_then_be_shared(account):
    meeting = account.begin()
    recording = account.read("start_recording", meeting_id=meeting)["recording_id"]
    assert account.read("get_meeting", meeting_id=meeting)["recordings"] == [
        {"recording_id": recording, "status": "recording", "minutes": None}
    ]
    assert account.read("end_meeting", meeting_id=meeting)["recording_id"] == recording
    (made,) = account.read("get_meeting", meeting_id=meeting)["recordings"]
    assert (made["status"], made["minutes"]) == ("available", 1)
    shared = account.read("share_recording", recording_id=recording, email=OUTSIDER)
    assert shared["expires_on"] == account.day(30)


def test_a_cancelled_meeting_leaves_the_schedule_and_the_others_are_told(account):
    meeting = account.plan("Pricing workshop")
    account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)
    assert account.read("cancel_meeting", meeting_id=meeting, message="We will find a new date")["told"] == 1
    assert meeting in str(account.read("list_meetings", status="cancelled", limit=50))
    assert meeting not in str(account.read("list_meetings", limit=50))


def test_upcoming_meetings_come_soonest_first_and_of_one_day_when_asked(account):
    times = [row["starts_at"] for row in account.read("list_meetings", limit=50)["meetings"]]
    assert times == sorted(times)
    past = [row["starts_at"] for row in account.read("list_meetings", status="ended", limit=50)["meetings"]]
    assert past == sorted(past, reverse=True)
    day = times[4][:10]
    assert {row["starts_at"][:10] for row in account.read("list_meetings", date=day)["meetings"]} == {day}
    assert account.read("list_meetings", topic="%") == {"meetings": []}


def test_a_co_host_runs_a_meeting_that_somebody_else_hosts(account):
    meeting = account.meeting(status="live", my_role="cohost")["meeting_id"]
    invited = account.read("invite_participant", meeting_id=meeting, email="ivan@hoshino-labs.example")
    account.read("update_participant", participant_id=invited["participant_id"], action="admit")
    assert account.read("update_participant", participant_id=invited["participant_id"], action="mute")["muted"]


# Refusals

Case = Callable[[Account], dict[str, Any]]


def planning(**changes: Any) -> Case:
    return lambda account: {"topic": "Kick-off", "start_time": f"{account.day(3)}T15:00", **changes}


def planned_twice(account: Account) -> dict[str, Any]:
    account.plan("Kick-off")
    return planning()(account)


def of(more: dict[str, Any] | None = None, **wanted: Any) -> Case:
    """A call about a meeting that fits."""
    return lambda account: {"meeting_id": account.meeting(**wanted)["meeting_id"], **(more or {})}


def starting(**wanted: Any) -> Case:
    return lambda account: account.keyed(account.meeting(**wanted)["meeting_id"])


def a_second_start(account: Account) -> dict[str, Any]:
    account.begin()
    return account.keyed(account.plan("Another"))


def with_the_wrong_key(account: Account) -> dict[str, Any]:
    right = account.keyed(account.plan())
    return right | {"host_key": f"{(int(right['host_key']) + 1) % 10**6:06d}"}


def inviting(email: str, **more: Any) -> Case:
    return lambda account: {"meeting_id": account.plan(), "email": email, **more}


def to_a_confidential_meeting(account: Account) -> dict[str, Any]:
    mine = (row for row in account.meetings if (row["my_role"], row["status"]) == ("host", "scheduled"))
    found = next(row["meeting_id"] for row in mine if row["topic"] in CONFIDENTIAL)
    return {"meeting_id": found, "email": OUTSIDER}


CONFIDENTIAL = ("Salary round", "Hiring decisions", "Legal matters", "Performance reviews")


def to_a_full_meeting(account: Account) -> dict[str, Any]:
    meeting = account.plan(max_participants=2)
    account.read("invite_participant", meeting_id=meeting, email=COLLEAGUE)
    return {"meeting_id": meeting, "email": OUTSIDER}


def invited_again(action: str) -> Case:
    def invite(account: Account) -> dict[str, Any]:
        meeting = account.begin()
        person = account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)["participant_id"]
        if action:
            account.read("update_participant", participant_id=person, action=action)
        return {"meeting_id": meeting, "email": OUTSIDER}

    return invite


def acting(action: str, *before: str) -> Case:
    """An action on somebody in a live meeting, after others."""

    def act(account: Account) -> dict[str, Any]:
        meeting = account.begin()
        person = account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)["participant_id"]
        for earlier in before:
            account.read("update_participant", participant_id=person, action=earlier)
        return {"participant_id": person, "action": action}

    return act


def on(status: str, action: str, **wanted: Any) -> Case:
    return lambda account: {"participant_id": account.participant(status, **wanted), "action": action}


def removing_the_host(account: Account) -> dict[str, Any]:
    people = account.meeting(status="live", my_role="cohost")["participants"]
    host = next(row["participant_id"] for row in people if row["role"] == "host")
    return {"participant_id": host, "action": "remove"}


def started_with(message: str) -> Callable[[Account], tuple[str, dict[str, Any]]]:
    """Start one meeting of the user's after the other until recording it is refused with this message."""

    def find(account: Account) -> dict[str, Any]:
        for row in account.meetings:
            if (row["my_role"], row["status"]) == ("host", "scheduled"):
                for person in account.read("start_meeting", **account.keyed(row["meeting_id"]))["waiting"]:
                    account.read("update_participant", participant_id=person["participant_id"], action="admit")
                if message in account.call("start_recording", meeting_id=row["meeting_id"]).message:
                    return {"meeting_id": row["meeting_id"]}
                account.read("end_meeting", meeting_id=row["meeting_id"])
        raise AssertionError(f"no recording is refused with {message}")

    return find


def recorded_twice(account: Account) -> dict[str, Any]:
    meeting = account.begin()
    account.read("start_recording", meeting_id=meeting)
    return {"meeting_id": meeting}


def an_objector_at_the_door(account: Account) -> dict[str, Any]:
    meeting = started_with("does not agree to be recorded")(account)["meeting_id"]
    account.read("end_meeting", meeting_id=meeting)
    for row in account.meetings:
        if (row["my_role"], row["status"]) == ("host", "scheduled"):
            started = account.call("start_meeting", **account.keyed(row["meeting_id"]))
            recorded = started.ok and account.call("start_recording", meeting_id=row["meeting_id"]).ok
            for person in started.content["waiting"] if recorded else ():
                arguments = {"participant_id": person["participant_id"], "action": "admit"}
                if "does not agree" in account.call("update_participant", **arguments).message:
                    return arguments
            if started.ok:
                account.read("end_meeting", meeting_id=row["meeting_id"])
    raise AssertionError("nobody objects")


def sharing(**more: Any) -> Case:
    """Share the recording of a meeting held now."""

    def share(account: Account) -> dict[str, Any]:
        recording = account.read("start_recording", meeting_id=account.begin())["recording_id"]
        account.read("end_meeting", meeting_id=account.meeting_of(recording))
        return {"recording_id": recording, "email": COLLEAGUE, **more}

    return share

"""Every refusal of the video meeting service, with what would be right."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from meeting_account import COLLEAGUE, OUTSIDER, Account

from proverl.core import ErrorCode
from proverl.envs.servers.video_meeting.tables import ME
from proverl.envs.servers.video_meeting.words import CONFIDENTIAL_TOPICS

Case = Callable[[Account], dict[str, Any]]


@pytest.fixture
def account() -> Account:
    return Account()


def planning(**changes: Any) -> Case:
    return lambda account: {"topic": "Kick-off", "start_time": f"{account.day(3)}T15:00", **changes}


def planned_twice(account: Account) -> dict[str, Any]:
    account.plan("Kick-off")
    return planning()(account)


def of(more: dict[str, Any] | None = None, **wanted: Any) -> Case:
    """A call about a meeting that fits."""
    return lambda account: {"meeting_id": account.one(**wanted)["meeting_id"], **(more or {})}


def starting(**wanted: Any) -> Case:
    return lambda account: account.keyed(account.one(**wanted)["meeting_id"])


def a_second_start(account: Account) -> dict[str, Any]:
    account.begin()
    return account.keyed(account.plan("Another"))


def with_the_wrong_key(account: Account) -> dict[str, Any]:
    right = account.keyed(account.plan())
    return right | {"host_key": f"{(int(right['host_key']) + 1) % 10**6:06d}"}


def inviting(email: str, *before: str, **more: Any) -> Case:
    """Invite somebody to a meeting for two at most, after others."""

    def invite(account: Account) -> dict[str, Any]:
        meeting = account.plan(max_participants=2)
        for earlier in before:
            account.read("invite_participant", meeting_id=meeting, email=earlier)
        return {"meeting_id": meeting, "email": email, **more}

    return invite


def a_confidential_meeting(account: Account) -> str:
    mine = account.fitting(my_role="host", status="scheduled")
    return next(row["meeting_id"] for row in mine if row["topic"] in CONFIDENTIAL_TOPICS)


def recording_a_confidential_meeting(account: Account) -> dict[str, Any]:
    meeting = a_confidential_meeting(account)
    account.read("start_meeting", **account.keyed(meeting))
    return {"meeting_id": meeting}


def an_outsider(account: Account, *actions: str) -> dict[str, Any]:
    """Somebody who came to a meeting of now, and with whom the host did this."""
    meeting = account.begin()
    person = account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)["participant_id"]
    for action in actions:
        account.read("update_participant", participant_id=person, action=action)
    return {"meeting_id": meeting, "participant_id": person}


def acting(*actions: str) -> Case:
    return lambda account: {
        "participant_id": an_outsider(account, *actions[:-1])["participant_id"], "action": actions[-1]
    }  # fmt: skip


def invited_after_removal(account: Account) -> dict[str, Any]:
    return {"meeting_id": an_outsider(account, "remove")["meeting_id"], "email": OUTSIDER}


def on_others(action: str, index: int = -1, **wanted: Any) -> Case:
    """An action on a participant of a meeting that fits; the first one is the host."""
    return lambda account: {
        "participant_id": account.one(**wanted)["participants"][index]["participant_id"], "action": action
    }  # fmt: skip


def myself_as_cohost(account: Account) -> dict[str, Any]:
    people = account.one(status="live", my_role="cohost")["participants"]
    me = next(row["participant_id"] for row in people if row["email"] == ME)
    return {"participant_id": me, "action": "remove"}


def each_meeting_started(account: Account) -> Iterator[tuple[str, list[str]]]:
    """The user's meetings one after the other, live, with the people in their waiting rooms."""
    for row in account.fitting(my_role="host", status="scheduled"):
        waiting = account.read("start_meeting", **account.keyed(row["meeting_id"]))["waiting"]
        yield row["meeting_id"], [person["participant_id"] for person in waiting]
        account.read("end_meeting", meeting_id=row["meeting_id"])


def with_an_objector_inside(account: Account) -> dict[str, Any]:
    for meeting, waiting in each_meeting_started(account):
        for person in waiting:
            account.read("update_participant", participant_id=person, action="admit")
        if "does not agree" in account.call("start_recording", meeting_id=meeting).message:
            return {"meeting_id": meeting}
    raise AssertionError("nobody objects")


def an_objector_at_the_door(account: Account) -> dict[str, Any]:
    for meeting, waiting in each_meeting_started(account):
        account.call("start_recording", meeting_id=meeting)
        for call in ({"participant_id": person, "action": "admit"} for person in waiting):
            if "does not agree" in account.call("update_participant", **call).message:
                return call
    raise AssertionError("nobody objects")


def recorded(account: Account, *, ended: bool = True) -> dict[str, str]:
    """A recording of a meeting that began now."""
    meeting = account.begin()
    recording = account.read("start_recording", meeting_id=meeting)["recording_id"]
    if ended:
        account.read("end_meeting", meeting_id=meeting)
    return {"meeting_id": meeting, "recording_id": recording}


def sharing(ended: bool = True, **more: Any) -> Case:
    return lambda account: {
        "recording_id": recorded(account, ended=ended)["recording_id"], "email": COLLEAGUE, **more
    }  # fmt: skip


def shared_twice(account: Account) -> dict[str, Any]:
    account.read("share_recording", **(arguments := sharing()(account)))
    return arguments


def an_old_one(reason: str, role: str = "host") -> Case:
    """The old recording that cannot be shared for this reason."""

    def share(account: Account) -> dict[str, Any]:
        recordings = (item["recording_id"] for row in account.fitting(my_role=role) for item in row["recordings"])
        calls = ({"recording_id": recording, "email": OUTSIDER} for recording in recordings)
        return next(call for call in calls if reason in account.call("share_recording", **call).message)

    return share


REFUSALS = {
    "schedule_meeting": (
        (planning(start_time="2020-01-01T10:00"), "is not in the future; it is"),
        (planning(start_time="9999-12-31T23:59"), "start_time 9999-12-31 must be from today ("),
        (planned_twice, "at this time already; use it or change topic or time"),
    ),
    "cancel_meeting": (
        (of(my_role="cohost", status="scheduled"), "only the host can cancel it: choose a meeting that"),
        (lambda account: {"meeting_id": account.begin()}, "cannot be cancelled; end_meeting ends it"),
        (of(my_role="host", status="ended"), "only scheduled meetings can be cancelled"),
    ),
    "start_meeting": (
        (starting(my_role="attendee", status="scheduled"), "only the host can start it"),
        (starting(my_role="host", status="cancelled"), "only scheduled meetings can be started"),
        (lambda account: account.keyed(account.begin()), "is live and cannot be started"),
        (a_second_start, "right now; end it before you start another meeting"),
        (with_the_wrong_key, "wrong host key; use the six digits from your account profile"),
    ),
    "end_meeting": (
        (of(my_role="cohost", status="live"), "only the host can end it"),
        (of(my_role="host", status="scheduled"), "is scheduled, not live; to end a meeting, start it first"),
        (of(my_role="host", status="ended"), "is ended, not live; to end a meeting, choose a live meeting"),
    ),
    "invite_participant": (
        (of({"email": COLLEAGUE}, status="ended"), "invite people to a scheduled or live meeting"),
        (of({"email": COLLEAGUE}, status="live", my_role="attendee"), "and co-hosts can invite people"),
        (inviting("somebody"), "is no e-mail address; write it like"),
        (inviting("x@lumenworks.example"), "nobody at your company has the address x@lumenworks"),
        (inviting(OUTSIDER, role="cohost"), "cannot be co-host; invite them as attendee"),
        (
            lambda account: {"meeting_id": a_confidential_meeting(account), "email": OUTSIDER},
            "is confidential; invite colleagues (@lumenworks.example) only",
        ),
        (inviting(OUTSIDER, COLLEAGUE), "is full: it is limited to 2 participants"),
        (inviting(COLLEAGUE, COLLEAGUE), "already, as PRT-"),
        (invited_after_removal, "and cannot come back; invite somebody else"),
    ),
    "update_participant": (
        (on_others("mute", status="live", my_role="attendee"), "co-hosts can mute participants"),
        (on_others("mute", status="scheduled", my_role="host"), "to mute a participant, start it"),
        (acting("admit", "admit"), "is joined; only people in the waiting room (status waiting)"),
        (an_objector_at_the_door, "does not agree to be recorded and REC-"),
        (acting("mute"), "is waiting; only people who have joined can be muted"),
        (acting("admit", "mute", "mute"), "is muted already; they unmute themselves"),
        (on_others("remove", 0, status="live", my_role="cohost"), "is the host and cannot be removed"),
        (myself_as_cohost, "is you; only other participants can be removed"),
        (acting("remove", "remove"), "is removed; only people who wait or have joined can be removed"),
    ),
    "start_recording": (
        (of(status="live", my_role="attendee"), "and co-hosts can record it"),
        (of(status="scheduled", my_role="host"), "to record a meeting, start it first"),
        (recording_a_confidential_meeting, "is confidential and cannot be recorded"),
        (
            lambda account: {"meeting_id": recorded(account, ended=False)["meeting_id"]},
            "is being recorded already, as REC-",
        ),
        (with_an_objector_inside, "remove them first or go on without a recording"),
    ),
    "share_recording": (
        (an_old_one("only the host", "attendee"), "only the host can share its recordings"),
        (an_old_one("was deleted"), "120 days after it was made; share one that is"),
        (an_old_one("colleagues only"), "share it with an address of @lumenworks.example"),
        (sharing(ended=False), "is still being made; end_meeting on MTG-"),
        (sharing(expires_on="2020-01-01"), "expires_on 2020-01-01 must be from today ("),
        (shared_twice, "already, until"),
    ),
}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [pytest.param(name, *case, id=case[1]) for name, cases in REFUSALS.items() for case in cases],
)
def test_the_service_refuses_and_says_what_would_be_right(account, name, arguments, message):
    given = arguments(account)
    before = account.session.digest()
    result = account.call(name, **given)
    assert result.code == ErrorCode.REJECTED
    assert message in result.message
    assert account.session.digest() == before

"""Video meetings: what the tools do across each other, and the laws."""

import pytest
from meeting_account import COLLEAGUE, OUTSIDER, SERVICE, Account
from sqlalchemy import text

from proverl.envs import Context, start_time


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
    assert (
        account.read("list_meetings", status="ended", topic="critique", limit=50)["meetings"][0]["meeting_id"]
        == meeting
    )


def test_without_a_waiting_room_people_come_straight_in(account):
    meeting = account.begin(COLLEAGUE, waiting_room="off")
    assert account.people(meeting) == {"Robin Vance": "joined", "Mei Chen": "joined"}
    assert account.read("invite_participant", meeting_id=meeting, email=OUTSIDER)["status"] == "joined"


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
    meeting = account.one(status="live", my_role="cohost")["meeting_id"]
    invited = account.read("invite_participant", meeting_id=meeting, email="ivan@hoshino-labs.example")
    account.read("update_participant", participant_id=invited["participant_id"], action="admit")
    assert account.read("update_participant", participant_id=invited["participant_id"], action="mute")["muted"]


# Laws


def test_independent_calls_commute():
    digests = set()
    for turn in (1, -1):
        account = Account()
        first, second, third = account.plan("Town hall"), account.plan("Q&A"), account.begin()
        calls = [
            ("invite_participant", {"meeting_id": first, "email": OUTSIDER}),
            ("invite_participant", {"meeting_id": second, "email": OUTSIDER}),
            ("schedule_meeting", {"topic": "Kick-off", "start_time": f"{account.day(3)}T15:00"}),
            ("start_recording", {"meeting_id": third}),
        ]
        assert all(account.call(name, **arguments).ok for name, arguments in calls[::turn])
        digests.add(account.session.digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("corruption", "law"),
    [
        ("UPDATE meeting SET status = 'live' WHERE status = 'scheduled'", "nobody_hosts_two_meetings_at_once"),
        ("UPDATE participant SET status = 'joined'", "people_are_only_in_live_meetings"),
        ("UPDATE participant SET role = 'attendee'", "every_meeting_has_its_host_and_no_more_people_than_allowed"),
        ("UPDATE recording SET status = 'recording', deleted_on = NULL", "recordings_are_made_openly"),
        ("UPDATE recording SET status = 'recording', deleted_on = NULL", "only_what_may_be_seen_is_shared"),
    ],
)
def test_each_law_notices_a_state_that_breaks_it(corruption, law):
    now = start_time(2)
    check = next(check for check in SERVICE.invariants if check.__name__ == law)
    with SERVICE.storage.connect(SERVICE.image(2, now)) as connection:
        check(Context(connection, now, ""))
        connection.execute(text(corruption))
        with pytest.raises(AssertionError):
            check(Context(connection, now, ""))

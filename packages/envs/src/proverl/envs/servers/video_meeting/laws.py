"""What always holds, whatever is called. Column checks (see `tables`) hold the laws of single rows."""

from sqlalchemy import func, select

from proverl.envs import Context
from proverl.envs.servers.video_meeting import rules
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.tables import COMPANY, Meeting, Participant, Recording, RecordingShare

_MEETING, _PARTICIPANT = Meeting.__table__.c, Participant.__table__.c
_RECORDING, _SHARE = Recording.__table__.c, RecordingShare.__table__.c
_PEOPLE = Participant.__table__.join(Meeting.__table__, _MEETING.id == _PARTICIPANT.meeting_id)
_MADE = Recording.__table__.join(Meeting.__table__, _MEETING.id == _RECORDING.meeting_id)


@server.invariant
def nobody_hosts_two_meetings_at_once(ctx: Context) -> None:
    """A host has at most one live meeting."""
    live = select(_MEETING.host, func.count().label("number")).where(_MEETING.status == "live").group_by(_MEETING.host)
    assert all(row["number"] == 1 for row in ctx.rows(live)), f"two at once: {ctx.rows(live)}"


@server.invariant
def people_are_only_in_live_meetings(ctx: Context) -> None:
    """Nobody waits for, or has joined, a meeting that does not go on, or waits where there is no waiting room."""
    present = _PARTICIPANT.status.in_(rules.PRESENT) & (_MEETING.status != "live")
    lost = ctx.rows(select(_PARTICIPANT.id).select_from(_PEOPLE).where(present))
    assert not lost, f"in meetings that are not live: {lost}"
    waits = (_PARTICIPANT.status == "waiting") & ~_MEETING.waiting_room
    outside = ctx.rows(select(_PARTICIPANT.id).select_from(_PEOPLE).where(waits))
    assert not outside, f"waiting where there is no waiting room: {outside}"


@server.invariant
def every_meeting_has_its_host_and_no_more_people_than_allowed(ctx: Context) -> None:
    """Each meeting has one host among its participants, the one it names, and keeps its limit."""
    counts = (
        select(
            _MEETING.id,
            _MEETING.max_participants,
            func.sum((_PARTICIPANT.role == "host") & (_PARTICIPANT.email == _MEETING.host)).label("hosts"),
            func.sum(_PARTICIPANT.role == "host").label("host_roles"),
            func.sum(_PARTICIPANT.status != "removed").label("people"),
        )
        .select_from(_PEOPLE)
        .group_by(_MEETING.id)
    )
    for row in ctx.rows(counts):
        assert row["hosts"] == row["host_roles"] == 1, f"{row['id']} has no host, or two"
        assert row["people"] <= row["max_participants"], f"{row['id']} is over its limit"


@server.invariant
def recordings_are_made_openly(ctx: Context) -> None:
    """A recording is made of one live meeting that is not confidential, of people who agree to it."""
    made = select(_RECORDING.id, _RECORDING.meeting_id, _RECORDING.status, _MEETING.status.label("goes"))
    running: set[str] = set()
    for row in ctx.rows(made.add_columns(_MEETING.is_confidential).select_from(_MADE)):
        assert not row["is_confidential"], f"{row['id']} is of a confidential meeting"
        if row["status"] == "recording":
            assert row["goes"] == "live", f"{row['id']} is made of a meeting that is {row['goes']}"
            assert row["meeting_id"] not in running, f"{row['meeting_id']} is recorded twice"
            assert not rules.objector(ctx, row["meeting_id"]), f"{row['id']} records somebody who objects"
            running.add(row["meeting_id"])


@server.invariant
def only_what_may_be_seen_is_shared(ctx: Context) -> None:
    """Recordings are shared once they are made, and those for colleagues with colleagues only."""
    joined = RecordingShare.__table__.join(Recording.__table__, _RECORDING.id == _SHARE.recording_id)
    shared = select(_SHARE.email, _RECORDING.id, _RECORDING.status, _RECORDING.internal_only).select_from(joined)
    for row in ctx.rows(shared):
        assert row["status"] != "recording", f"{row['id']} is shared and not made yet"
        assert not row["internal_only"] or row["email"].endswith(COMPANY), f"{row['id']} is shared with {row['email']}"

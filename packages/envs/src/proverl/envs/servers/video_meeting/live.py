"""A meeting in progress: start, end."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, case, select, update
from typing_extensions import TypedDict

from proverl.envs import Context
from proverl.envs.servers.video_meeting import rules
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.tables import (
    ME,
    Base,
    Meeting,
    MeetingId,
    Participant,
    ParticipantId,
    Person,
    Recording,
    RecordingId,
)

HostKey = Annotated[
    str, Field(pattern="^[0-9]{6}$", json_schema_extra={"x-sensitive": True, "x-source": "reveal_host_key.host_key"})
]

_PARTICIPANT = Participant.__table__.c
_ARRIVE = (
    update(Base.metadata.tables["participant"])
    .where(and_(_PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.status == "invited"))
    .values(status=case((_PARTICIPANT.email == ME, "joined"), else_=bindparam("arrive_as")))
)
_LEAVE = (
    update(Base.metadata.tables["participant"])
    .where(and_(_PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.status.in_(rules.PRESENT)))
    .values(status="left", is_muted=False)
)
_WAITING = (
    select(_PARTICIPANT.id, Person.name)
    .join_from(Participant.__table__, Person.__table__, Person.email == _PARTICIPANT.email)
    .where(_PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.status == "waiting")
    .order_by(_PARTICIPANT.id)
)


class WaitingParticipant(TypedDict):
    """Somebody in the waiting room."""

    participant_id: ParticipantId
    name: str


class StartedMeeting(TypedDict):
    """A meeting that goes on now, with the people in its waiting room."""

    meeting_id: MeetingId
    status: Literal["live"]
    waiting: list[WaitingParticipant]


@server.tool(
    phrases=[
        "start {meeting_id} with host key {host_key}",
        "open {meeting_id} now, using host key {host_key}",
        "use host key {host_key} to begin {meeting_id}",
        "get {meeting_id} going with my host key {host_key}",
        "let {meeting_id} begin, with {host_key} as the host key",
    ],
    brief=[
        "start one of my meetings",
        "get {meeting_id} going",
        "begin a meeting with my host key {host_key}",
    ],
)
def start_meeting(
    ctx: Context,
    meeting_id: Annotated[MeetingId, "Scheduled meeting that you host"],
    host_key: Annotated[HostKey, "Your six-digit host key, from your account profile"],
) -> StartedMeeting:
    """Start a meeting that you host. Whoever did not decline comes in, or waits where there is a waiting room."""
    row = rules.meeting(ctx, meeting_id)
    rules.hosted(row, "start it")
    rules.upcoming(row, "started")
    rules.nothing_else_live(ctx)
    rules.right_key(ctx, host_key)
    ctx.update(Meeting, meeting_id, status="live")
    ctx.execute(_ARRIVE, meeting=meeting_id, arrive_as="waiting" if row["waiting_room"] else "joined")
    waiting = ctx.rows(_WAITING, meeting=meeting_id)
    return {
        "meeting_id": meeting_id,
        "status": "live",
        "waiting": [{"participant_id": person["id"], "name": person["name"]} for person in waiting],
    }


class EndedMeeting(TypedDict):
    """A meeting that is over; `recording_id` names the recording that this made available, if any."""

    meeting_id: MeetingId
    status: Literal["ended"]
    recording_id: RecordingId | None


@server.tool(
    destructive=True,
    phrases=[
        "end {meeting_id} for everybody",
        "close {meeting_id} now",
        "finish {meeting_id} and send all participants home",
        "wrap up {meeting_id}",
        "bring {meeting_id} to an end",
    ],
    brief=[
        "end a meeting for everybody",
        "wrap up a meeting that is going on",
    ],
)
def end_meeting(ctx: Context, meeting_id: Annotated[MeetingId, "Live meeting that you host"]) -> EndedMeeting:
    """End a live meeting for everybody. A recording that is being made stops and becomes available."""
    row = rules.meeting(ctx, meeting_id)
    rules.hosted(row, "end it")
    rules.live(row, "end a meeting")
    ctx.update(Meeting, meeting_id, status="ended")
    ctx.execute(_LEAVE, meeting=meeting_id)
    recording = rules.running_recording(ctx, meeting_id)
    if recording:
        ctx.update(Recording, recording, status="available", stopped_at=ctx.timestamp)
    return {"meeting_id": meeting_id, "status": "ended", "recording_id": recording}


class KnownHostKey(TypedDict):
    """What the user finds in the account profile."""

    host_key: str


@server.tool(read_only=True, hidden=True, phrases=[])
def reveal_host_key(ctx: Context, meeting_id: Annotated[MeetingId, "Meeting to start"]) -> KnownHostKey:
    """The user's host key, for writing what the user would say."""
    rules.meeting(ctx, meeting_id)
    return {"host_key": ctx.get(Person, ME)["host_key"]}

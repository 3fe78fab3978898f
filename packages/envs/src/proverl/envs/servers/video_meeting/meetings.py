"""Meetings: list, read."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Text
from proverl.envs.servers.video_meeting import rules, words
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.tables import (
    ME,
    Meeting,
    MeetingId,
    Participant,
    ParticipantId,
    Person,
    Recording,
    RecordingId,
)
from proverl.envs.state import Row

MeetingStatus = Literal["scheduled", "live", "ended", "cancelled"]
Role = Literal["host", "cohost", "attendee"]

_PARTICIPANT, _RECORDING = Participant.__table__.c, Recording.__table__.c
_FITTING = (
    select(Meeting.id, Meeting.topic, Meeting.starts_at, Meeting.status, Person.name)
    .join_from(Meeting.__table__, Person.__table__, Person.email == Meeting.host)
    .where(
        Meeting.status == bindparam("status"),
        or_(bindparam("day") == "", Meeting.starts_at.startswith(bindparam("day"))),
    )
)
_SOONEST_FIRST = _FITTING.order_by(Meeting.starts_at, Meeting.id)
_LATEST_FIRST = _FITTING.order_by(Meeting.starts_at.desc(), Meeting.id)
_PARTICIPANTS = (
    select(_PARTICIPANT.id, _PARTICIPANT.role, _PARTICIPANT.status, _PARTICIPANT.email, Person.name)
    .join_from(Participant.__table__, Person.__table__, Person.email == _PARTICIPANT.email)
    .where(_PARTICIPANT.meeting_id == bindparam("meeting"))
    .order_by(_PARTICIPANT.role.desc(), _PARTICIPANT.email)
)
_RECORDINGS = (
    select(_RECORDING.id, _RECORDING.status, _RECORDING.started_at, _RECORDING.stopped_at)
    .where(_RECORDING.meeting_id == bindparam("meeting"))
    .order_by(_RECORDING.started_at, _RECORDING.id)
)


class MeetingItem(TypedDict):
    """A meeting in a list."""

    meeting_id: MeetingId
    topic: str
    host: str
    starts_at: str


class MeetingList(TypedDict):
    """Meetings that fit: upcoming ones soonest first, past ones latest first."""

    meetings: list[MeetingItem]


@server.tool(
    read_only=True,
    phrases=[
        "list my[ {status}] meetings[ on {date}][ about {topic}][, {limit} at most]",
        "show me which[ {status}] meetings there are[ with {topic} in the topic]",
        "look up the[ first {limit}][ {status}] meetings[ of {date}]",
        "check what meetings I have[ on {date}][ with the status {status}]",
        "go through my[ {status}] meetings[ that are about {topic}][, no more than {limit}]",
    ],
)
def list_meetings(
    ctx: Context,
    status: Annotated[MeetingStatus, "Status of the meetings"] = "scheduled",
    date: Annotated[IsoDate | None, "Only meetings of this day"] = None,
    topic: Annotated[
        Annotated[Text, Field(max_length=80, examples=list(words.SEARCHES))] | None,
        "Part of the topic; upper and lower case make no difference",
    ] = None,
    limit: Annotated[int, Field(ge=1, le=50, examples=[3, 4, 6, 7, 8, 9, 10, 12, 15, 20]), "Most meetings listed"] = 5,
) -> MeetingList:
    """List the meetings that you host or are invited to. Upcoming ones come soonest first, past ones latest first."""
    wanted = (topic or "").casefold()
    statement = _SOONEST_FIRST if status in ("scheduled", "live") else _LATEST_FIRST
    rows = ctx.rows(statement, status=status, day=date or "")
    fitting = [row for row in rows if wanted in row["topic"].casefold()][:limit]
    return {
        "meetings": [
            {"meeting_id": row["id"], "topic": row["topic"], "host": row["name"], "starts_at": row["starts_at"]}
            for row in fitting
        ]
    }


class ParticipantItem(TypedDict):
    """A participant of a meeting."""

    participant_id: ParticipantId
    name: str
    email: str
    role: Role
    status: Literal["invited", "declined", "waiting", "joined", "left", "removed"]


class RecordingItem(TypedDict):
    """A recording of a meeting; `minutes` is null while it is being made."""

    recording_id: RecordingId
    status: Literal["recording", "available", "deleted"]
    minutes: int | None


class MeetingView(TypedDict):
    """A meeting in full."""

    meeting_id: MeetingId
    topic: str
    status: MeetingStatus
    starts_at: str
    duration_minutes: int
    my_role: Role
    confidential: bool
    participants: list[ParticipantItem]
    recordings: list[RecordingItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me {meeting_id} with its participants and recordings",
        "check who is in {meeting_id}",
        "pull up the details of {meeting_id}",
        "look at {meeting_id} and what was recorded of it",
        "tell me when {meeting_id} begins and who takes part",
    ],
    brief=[
        "check who is in a meeting",
        "pull up the details of one of my meetings",
    ],
)
def get_meeting(ctx: Context, meeting_id: Annotated[MeetingId, "Meeting to read"]) -> MeetingView:
    """Get a meeting with its participants, where they are, and its recordings."""
    row = rules.meeting(ctx, meeting_id)
    people = ctx.rows(_PARTICIPANTS, meeting=meeting_id)
    return {
        "meeting_id": meeting_id,
        "topic": row["topic"],
        "status": row["status"],
        "starts_at": row["starts_at"],
        "duration_minutes": row["minutes"],
        "my_role": next((person["role"] for person in people if person["email"] == ME), "attendee"),
        "confidential": row["is_confidential"],
        "participants": [
            {
                "participant_id": person["id"],
                "name": person["name"],
                "email": person["email"],
                "role": person["role"],
                "status": person["status"],
            }
            for person in people
        ],
        "recordings": [
            {"recording_id": item["id"], "status": item["status"], "minutes": _minutes(item)}
            for item in ctx.rows(_RECORDINGS, meeting=meeting_id)
        ],
    }


def _minutes(recording: Row) -> int | None:
    if recording["stopped_at"] is None:
        return None
    taken = datetime.fromisoformat(recording["stopped_at"]) - datetime.fromisoformat(recording["started_at"])
    return max(1, int(taken.total_seconds()) // 60)

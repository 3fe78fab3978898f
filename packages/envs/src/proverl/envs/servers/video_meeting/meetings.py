"""Meetings: list, read, schedule, cancel."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, IsoDateTime, Rejected, Text
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

_FURTHEST_DAYS = 365
_USUAL_LIMIT = 100  # participants
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
_SAME = select(Meeting.id).where(
    and_(
        Meeting.host == ME,
        Meeting.status == "scheduled",
        Meeting.topic == bindparam("topic"),
        Meeting.starts_at == bindparam("starts_at"),
    )
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
        "look up the[ next {limit}][ {status}] meetings[ of {date}]",
        "check what meetings I have[ on {date}][ that are {status}]",
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
    rows = ctx.db.execute(statement, {"status": status, "day": date or ""})
    found: list[MeetingItem] = []
    for row in rows:
        if wanted in row.topic.casefold():
            found.append({"meeting_id": row.id, "topic": row.topic, "host": row.name, "starts_at": row.starts_at})
            if len(found) == limit:
                break
    return {"meetings": found}


class ParticipantItem(TypedDict):
    """A participant of a meeting."""

    participant_id: ParticipantId
    name: str
    role: Role
    status: Literal["invited", "waiting", "joined", "left", "removed"]


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
    participants: list[ParticipantItem]
    recordings: list[RecordingItem]


@server.tool(
    read_only=True,
    phrases=[
        "show me {meeting_id} with its participants and recordings",
        "check who is in {meeting_id}",
        "pull up the details of {meeting_id}",
        "look at {meeting_id} and what was recorded of it",
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
        "participants": [
            {
                "participant_id": person["id"],
                "name": person["name"],
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


class ScheduledMeeting(TypedDict):
    """A meeting just scheduled."""

    meeting_id: MeetingId
    starts_at: str
    join_url: str


@server.tool(
    phrases=[
        "schedule a[ {duration_minutes}-minute] meeting about {topic} at {start_time}",
        "set up a meeting called {topic} for {start_time}[ with the waiting room {waiting_room}]",
        "plan a video call on {topic} at {start_time}[, {duration_minutes} minutes][, waiting room {waiting_room}]",
        "arrange a meeting with the topic {topic} at {start_time}[ for at most {max_participants} people]",
    ],
)
def schedule_meeting(
    ctx: Context,
    topic: Annotated[Annotated[Text, Field(max_length=120, examples=list(words.TOPICS))], "What it is about"],
    start_time: Annotated[IsoDateTime, "When it begins, e.g. 2026-03-09T14:30"],
    duration_minutes: Annotated[
        int, Field(ge=5, le=480, examples=[15, 20, 25, 40, 45, 50, 60, 75, 90, 120]), "Planned length in minutes"
    ] = 30,
    waiting_room: Annotated[Literal["on", "off"], "Whether people wait until the host admits them"] = "on",
    max_participants: Annotated[
        Annotated[int, Field(ge=2, le=500, examples=[3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 50])] | None,
        "Most participants, you included; 100 if left out",
    ] = None,
) -> ScheduledMeeting:
    """Schedule a meeting that you host. Nobody else is invited yet: invite_participant does that."""
    if start_time <= ctx.timestamp:
        raise Rejected(f"start_time {start_time} is not in the future; it is {ctx.timestamp} now")
    rules.within_days(ctx, "start_time", start_time[:10], _FURTHEST_DAYS)
    for row in ctx.rows(_SAME, topic=topic, starts_at=start_time):
        raise Rejected(f"{row['id']} is scheduled with this topic at this time already; use it or change topic or time")
    meeting = ctx.insert(
        Meeting,
        topic=topic,
        host=ME,
        status="scheduled",
        starts_at=start_time,
        minutes=duration_minutes,
        waiting_room=waiting_room == "on",
        is_confidential=False,
        max_participants=max_participants or _USUAL_LIMIT,
    )
    ctx.insert(
        Participant,
        meeting_id=meeting["id"],
        email=ME,
        role="host",
        response="accepted",
        status="invited",
        is_muted=False,
        objects_to_recording=False,
    )
    url = f"https://meet.lumenworks.example/j/{meeting['id'].lower()}"
    return {"meeting_id": meeting["id"], "starts_at": start_time, "join_url": url}


class CancelledMeeting(TypedDict):
    """A meeting that does not take place; `told` counts the invited people who got a message."""

    meeting_id: MeetingId
    status: Literal["cancelled"]
    told: int


@server.tool(
    destructive=True,
    phrases=[
        "cancel {meeting_id}[ and tell everybody {message}]",
        "call off {meeting_id}[ with the message {message}]",
        "drop {meeting_id} from the schedule[, telling the others {message}]",
        "let everybody know that {meeting_id} will not happen[: {message}]",
    ],
)
def cancel_meeting(
    ctx: Context,
    meeting_id: Annotated[MeetingId, "Scheduled meeting that you host"],
    message: Annotated[
        Annotated[Text, Field(max_length=300, examples=list(words.MESSAGES))] | None, "Text sent to all who are invited"
    ] = None,
) -> CancelledMeeting:
    """Cancel a meeting that has not begun, for good. Everybody invited is told."""
    row = rules.meeting(ctx, meeting_id)
    rules.hosted(row, "cancel it")
    rules.upcoming(row, "cancelled")
    ctx.update(Meeting, meeting_id, status="cancelled")
    people = ctx.rows(_PARTICIPANTS, meeting=meeting_id)
    return {"meeting_id": meeting_id, "status": "cancelled", "told": sum(row["email"] != ME for row in people)}

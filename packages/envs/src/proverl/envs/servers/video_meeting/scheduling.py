"""Meetings to come: schedule, cancel."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import and_, bindparam, func, select
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDateTime, Rejected, Text
from proverl.envs.servers.video_meeting import rules, words
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.tables import ME, Meeting, MeetingId, Participant

_FURTHEST_DAYS = 365
_USUAL_LIMIT = 100  # participants
_SAME = select(Meeting.id).where(
    and_(
        Meeting.host == ME,
        Meeting.status == "scheduled",
        Meeting.topic == bindparam("topic"),
        Meeting.starts_at == bindparam("starts_at"),
    )
)
_OTHERS = select(func.count()).where(Participant.meeting_id == bindparam("meeting"), Participant.email != ME)


class ScheduledMeeting(TypedDict):
    """A meeting just scheduled."""

    meeting_id: MeetingId
    starts_at: str
    join_url: str


@server.tool(
    phrases=[
        "schedule a[ {duration_minutes}-minute] meeting about {topic} at {start_time}",
        "set up a meeting called {topic} for {start_time}[ with the waiting room {waiting_room}]",
        "plan a video call on {topic} at {start_time}[, {duration_minutes} minutes long]"
        "[, waiting room {waiting_room}]",
        "arrange a meeting with the topic {topic} at {start_time}[ for at most {max_participants} people]",
        "put a[ {duration_minutes}-minute] meeting on {topic} in my schedule for {start_time}"
        "[, limited to {max_participants} participants]",
    ],
    brief=[
        "schedule a meeting",
        "set up a[ {duration_minutes}-minute] meeting about {topic}",
        "plan a video call at {start_time}",
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
        "scrap {meeting_id}[ and let everybody know why: {message}]",
        "take {meeting_id} off the calendar[ and send the invited people the text {message}]",
    ],
    brief=[
        "cancel a meeting",
        "call off one of my meetings[ with the message {message}]",
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
    return {"meeting_id": meeting_id, "status": "cancelled", "told": ctx.scalar(_OTHERS, meeting=meeting_id)}

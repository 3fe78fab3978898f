"""Recordings: make one of a live meeting, share one that is ready."""

from datetime import timedelta
from typing import Annotated, Literal

from sqlalchemy import and_, bindparam, select
from sqlalchemy.dialects.sqlite import insert
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Rejected
from proverl.envs.servers.video_meeting import rules
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.participants import Email
from proverl.envs.servers.video_meeting.tables import COMPANY, Base, MeetingId, Recording, RecordingId, RecordingShare
from proverl.envs.state import Row

_USUAL_DAYS, _MOST_DAYS = 30, 90
_SHARED = RecordingShare.__table__.c
_SHARED_UNTIL = select(_SHARED.expires_on).where(
    and_(_SHARED.recording_id == bindparam("recording"), _SHARED.email == bindparam("email"))
)
_NEW = insert(Base.metadata.tables["recording_share"])
_SHARE = _NEW.on_conflict_do_update(
    index_elements=["recording_id", "email"], set_={"expires_on": _NEW.excluded.expires_on}
)  # an access that has expired is given anew


class StartedRecording(TypedDict):
    """A recording that is being made."""

    recording_id: RecordingId
    status: Literal["recording"]


@server.tool(
    phrases=[
        "record {meeting_id}",
        "start recording {meeting_id} to the cloud",
        "turn on the recording in {meeting_id}",
        "make a recording of {meeting_id} from now on",
        "have {meeting_id} recorded until it ends",
    ],
    brief=[
        "record a meeting",
        "start a cloud recording",
    ],
)
def start_recording(
    ctx: Context, meeting_id: Annotated[MeetingId, "Live meeting that you host or co-host"]
) -> StartedRecording:
    """Record a live meeting to the cloud until it ends. Everybody in it must agree to be recorded."""
    row = rules.meeting(ctx, meeting_id)
    rules.run_by_me(ctx, row, "record it")
    rules.live(row, "record a meeting")
    if row["is_confidential"]:
        raise Rejected(f"meeting {meeting_id} is confidential and cannot be recorded; record another meeting")
    running = rules.running_recording(ctx, meeting_id)
    if running:
        raise Rejected(f"{meeting_id} is being recorded already, as {running}; end_meeting stops the recording")
    objector = rules.objector(ctx, meeting_id)
    if objector:
        raise Rejected(
            f"participant {objector['id']} ({objector['name']}) does not agree to be recorded; "
            "remove them first or go on without a recording"
        )
    recording = ctx.insert(
        Recording,
        meeting_id=meeting_id,
        status="recording",
        internal_only=False,
        started_at=ctx.timestamp,
        stopped_at=None,
        deleted_on=None,
    )
    return {"recording_id": recording["id"], "status": "recording"}


class SharedRecording(TypedDict):
    """Who may watch a recording now, and until when."""

    recording_id: RecordingId
    email: str
    expires_on: str


@server.tool(
    phrases=[
        "share {recording_id} with {email}[ until {expires_on}]",
        "give {email} access to {recording_id}[, expiring on {expires_on}]",
        "send {email} a link to {recording_id}[ that works until {expires_on}]",
        "let {email} watch {recording_id}[ through {expires_on}]",
        "make {recording_id} available to {email}[ with {expires_on} as the last day]",
    ],
    brief=[
        "share a recording",
        "share {recording_id} with somebody[ until {expires_on}]",
        "let {email} watch one of my recordings",
    ],
)
def share_recording(
    ctx: Context,
    recording_id: Annotated[RecordingId, "Available recording of a meeting that you host"],
    email: Annotated[Email, "E-mail address of the person who may watch it"],
    expires_on: Annotated[IsoDate | None, "Last day of access, at most 90 days ahead; in 30 days if left out"] = None,
) -> SharedRecording:
    """Share a recording of a meeting that you hosted with one person, for a limited time."""
    row = ctx.get(Recording, recording_id, "get_meeting names the recordings of a meeting")
    rules.hosted(rules.meeting(ctx, row["meeting_id"]), "share its recordings")
    _ready(row)
    who = rules.address(ctx, email)
    if row["internal_only"] and not who.endswith(COMPANY):
        raise Rejected(f"recording {recording_id} is for colleagues only; share it with an address of {COMPANY}")
    if expires_on is not None:
        rules.within_days(ctx, "expires_on", expires_on, _MOST_DAYS)
    last_day = expires_on or (ctx.now.date() + timedelta(days=_USUAL_DAYS)).isoformat()
    until = ctx.scalar(_SHARED_UNTIL, recording=recording_id, email=who)
    if until is not None and until >= ctx.today:
        raise Rejected(f"{who} can watch {recording_id} already, until {until}; share it with somebody else")
    ctx.execute(_SHARE, recording_id=recording_id, email=who, expires_on=last_day)
    return {"recording_id": recording_id, "email": who, "expires_on": last_day}


def _ready(row: Row) -> None:
    if row["status"] == "recording":
        raise Rejected(
            f"recording {row['id']} is still being made; end_meeting on {row['meeting_id']} makes it available"
        )
    if row["status"] == "deleted":
        raise Rejected(
            f"recording {row['id']} was deleted on {row['deleted_on']}, 120 days after it was made; "
            "share one that is available"
        )

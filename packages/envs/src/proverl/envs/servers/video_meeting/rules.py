"""What the service refuses. Every refusal says what would be right."""

import re
from datetime import timedelta

from sqlalchemy import bindparam, func, select

from proverl.envs import Context, Rejected
from proverl.envs.servers.video_meeting.tables import COMPANY, ME, Meeting, Participant, Person, Recording
from proverl.envs.state import Row

PRESENT = ("waiting", "joined")
_EMAIL = re.compile(r"[\w.+'-]+@[a-z0-9-]+(\.[a-z0-9-]+)+", re.ASCII)

_PARTICIPANT, _RECORDING = Participant.__table__.c, Recording.__table__.c
_MY_ROLE = select(_PARTICIPANT.role).where(
    _PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.email == ME, _PARTICIPANT.status != "removed"
)
_MINE_LIVE = select(Meeting.id, Meeting.topic).where(Meeting.host == ME, Meeting.status == "live").order_by(Meeting.id)
_OBJECTORS = (
    select(_PARTICIPANT.id, Person.name)
    .join_from(Participant.__table__, Person.__table__, Person.email == _PARTICIPANT.email)
    .where(
        _PARTICIPANT.meeting_id == bindparam("meeting"),
        _PARTICIPANT.status == "joined",
        _PARTICIPANT.objects_to_recording,
    )
    .order_by(_PARTICIPANT.id)
)
_RUNNING = select(_RECORDING.id).where(
    _RECORDING.meeting_id == bindparam("meeting"), _RECORDING.status == "recording"
)  # fmt: skip
_INVITED = select(func.count()).where(
    _PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.status != "removed"
)  # fmt: skip
_BY_EMAIL = select(_PARTICIPANT.id, _PARTICIPANT.status).where(
    _PARTICIPANT.meeting_id == bindparam("meeting"), _PARTICIPANT.email == bindparam("email")
)


def meeting(ctx: Context, meeting_id: str) -> Row:
    """The meeting. Raises NotFound."""
    return ctx.get(Meeting, meeting_id, "list_meetings names your meetings")


def my_role(ctx: Context, meeting_id: str) -> str:
    """The user's role in a meeting."""
    return ctx.scalar(_MY_ROLE, meeting=meeting_id) or "attendee"


def hosted(row: Row, action: str) -> None:
    """Raises Rejected unless the user hosts the meeting."""
    if row["host"] != ME:
        raise Rejected(f"{row['host']} hosts {row['id']}; only the host can {action}: choose a meeting that you host")


def run_by_me(ctx: Context, row: Row, action: str) -> None:
    """Raises Rejected unless the user is host or co-host of the meeting."""
    if row["host"] != ME and my_role(ctx, row["id"]) != "cohost":
        raise Rejected(
            f"you are an attendee of {row['id']}; only its host ({row['host']}) and co-hosts can {action}"
        )  # fmt: skip


def live(row: Row, purpose: str) -> None:
    """Raises Rejected unless the meeting is in progress."""
    if row["status"] != "live":
        hint = "start it first" if row["status"] == "scheduled" else "choose a live meeting"
        raise Rejected(f"meeting {row['id']} is {row['status']}, not live; to {purpose}, {hint}")


def upcoming(row: Row, action: str) -> None:
    """Raises Rejected unless the meeting has not begun."""
    if row["status"] == "live":
        raise Rejected(f"meeting {row['id']} is live and cannot be {action}; end_meeting ends it")
    if row["status"] != "scheduled":
        raise Rejected(f"meeting {row['id']} is {row['status']} already; only scheduled meetings can be {action}")


def right_key(ctx: Context, host_key: str) -> None:
    """Raises Rejected when the host key is not the user's."""
    if ctx.get(Person, ME)["host_key"] != host_key:
        raise Rejected("wrong host key; use the six digits from your account profile")


def nothing_else_live(ctx: Context) -> None:
    """Raises Rejected when the user hosts a meeting that is in progress."""
    for row in ctx.rows(_MINE_LIVE):
        raise Rejected(
            f"you are hosting {row['id']} ({row['topic']}) right now; end it before you start another meeting"
        )


def objector(ctx: Context, meeting_id: str) -> Row | None:
    """Somebody in the meeting who does not agree to be recorded."""
    rows = ctx.rows(_OBJECTORS, meeting=meeting_id)
    return rows[0] if rows else None


def running_recording(ctx: Context, meeting_id: str) -> str | None:
    """The recording that is being made of a meeting."""
    return ctx.scalar(_RUNNING, meeting=meeting_id)


def address(ctx: Context, email: str) -> str:
    """The address in lower case. Raises Rejected when it is none, or an unknown one of the own company."""
    folded = email.strip().lower()
    if not _EMAIL.fullmatch(folded):
        raise Rejected(f"{email!r} is no e-mail address; write it like mei.chen{COMPANY}")
    if folded.endswith(COMPANY) and ctx.find(Person, folded) is None:
        raise Rejected(f"nobody at your company has the address {folded}; check the spelling, e.g. mei.chen{COMPANY}")
    return folded


def room_for_one_more(ctx: Context, row: Row) -> None:
    """Raises Rejected when a meeting has as many participants as it may have."""
    if ctx.scalar(_INVITED, meeting=row["id"]) >= row["max_participants"]:
        raise Rejected(
            f"meeting {row['id']} is full: it is limited to {row['max_participants']} participants; "
            "schedule one with a higher limit"
        )


def not_yet_invited(ctx: Context, meeting_id: str, email: str) -> None:
    """Raises Rejected when this person is, or was, in the meeting."""
    for row in ctx.rows(_BY_EMAIL, meeting=meeting_id, email=email):
        if row["status"] == "removed":
            raise Rejected(f"{email} was removed from {meeting_id} and cannot come back; invite somebody else")
        raise Rejected(f"{email} is a participant of {meeting_id} already, as {row['id']}; invite somebody else")


def within_days(ctx: Context, name: str, day: str, most: int) -> None:
    """Raises Rejected unless the date is today or at most `most` days later."""
    last = (ctx.now.date() + timedelta(days=most)).isoformat()
    if not ctx.today <= day <= last:
        raise Rejected(f"{name} {day} must be from today ({ctx.today}) to {last}")

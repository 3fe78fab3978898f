"""Participants: invite, and the host's controls over those who came."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from proverl.envs import Context, Rejected, Text
from proverl.envs.servers.video_meeting import rules, words
from proverl.envs.servers.video_meeting.app import server
from proverl.envs.servers.video_meeting.tables import COMPANY, ME, MeetingId, Participant, ParticipantId, Person
from proverl.envs.state import Row

Email = Annotated[Text, Field(max_length=120, examples=list(words.INVITED))]
ParticipantStatus = Literal["invited", "waiting", "joined", "removed"]


class InvitedParticipant(TypedDict):
    """Somebody just invited; to a live meeting they have come."""

    participant_id: ParticipantId
    name: str
    status: ParticipantStatus


@server.tool(
    phrases=[
        "invite {email} to {meeting_id}[ as {role}]",
        "add {email} to the participants of {meeting_id}[ in the role of {role}]",
        "ask {email} to join {meeting_id}[ as {role}]",
        "send {email} an invitation to {meeting_id}[ with the role {role}]",
        "put {email} on the guest list of {meeting_id}[, role {role}]",
    ],
    brief=[
        "invite somebody to a meeting",
        "invite {email} to one of my meetings[ as {role}]",
        "add one more person to {meeting_id}",
    ],
)
def invite_participant(
    ctx: Context,
    meeting_id: Annotated[MeetingId, "Scheduled or live meeting that you host or co-host"],
    email: Annotated[Email, "E-mail address of the person"],
    role: Annotated[Literal["attendee", "cohost"], "Co-hosts must be colleagues"] = "attendee",
) -> InvitedParticipant:
    """Invite somebody to a meeting. They come to a live one at once, into its waiting room if there is one."""
    row = rules.meeting(ctx, meeting_id)
    if row["status"] in ("ended", "cancelled"):
        raise Rejected(f"meeting {meeting_id} is {row['status']}; invite people to a scheduled or live meeting")
    rules.run_by_me(ctx, row, "invite people")
    who = rules.address(ctx, email)
    _suitable(row, who, role)
    rules.not_yet_invited(ctx, meeting_id, who)
    rules.room_for_one_more(ctx, row)
    person = ctx.find(Person, who) or ctx.insert(Person, email=who, name=_name(who), host_key=None)
    arrives_as = "waiting" if row["waiting_room"] else "joined"
    participant = ctx.insert(
        Participant,
        meeting_id=meeting_id,
        email=who,
        role=role,
        status=arrives_as if row["status"] == "live" else "invited",
        is_muted=False,
        objects_to_recording=False,
    )
    return {"participant_id": participant["id"], "name": person["name"], "status": participant["status"]}


def _suitable(row: Row, email: str, role: str) -> None:
    """Raises Rejected when somebody from outside may not have this part in the meeting."""
    if email.endswith(COMPANY):
        return
    if row["is_confidential"]:
        raise Rejected(f"meeting {row['id']} is confidential; invite colleagues ({COMPANY}) only")
    if role == "cohost":
        raise Rejected(f"{email} is not a colleague and cannot be co-host; invite them as attendee")


def _name(email: str) -> str:
    return email.split("@")[0].replace(".", " ").replace("_", " ").title()


class ChangedParticipant(TypedDict):
    """A participant after the host's action."""

    participant_id: ParticipantId
    status: ParticipantStatus
    muted: bool


@server.tool(
    phrases=[
        "{action} {participant_id}",
        "use the host controls to {action} {participant_id}",
        "go ahead and {action} {participant_id}",
        "take action in the meeting and {action} {participant_id}",
        "use my rights as the host to {action} {participant_id}",
    ],
    brief=[
        "use the host controls on somebody",
        "{action} somebody in the live meeting",
        "use the host controls on {participant_id}",
    ],
)
def update_participant(
    ctx: Context,
    participant_id: Annotated[ParticipantId, "Participant of a live meeting that you host or co-host"],
    action: Annotated[Literal["admit", "mute", "remove"], "Admit from the waiting room, mute, or remove for good"],
) -> ChangedParticipant:
    """Admit, mute or remove somebody in a live meeting. Who is removed cannot come back."""
    row = ctx.get(Participant, participant_id, "get_meeting names the participants of a meeting")
    meeting = rules.meeting(ctx, row["meeting_id"])
    rules.run_by_me(ctx, meeting, f"{action} participants")
    rules.live(meeting, f"{action} a participant")
    match action:
        case "admit":
            _may_enter(ctx, row)
            status: ParticipantStatus = "joined"
        case "mute":
            _may_be_muted(row)
            status = "joined"
        case _:
            _may_be_removed(row)
            status = "removed"
    ctx.update(Participant, participant_id, status=status, is_muted=action == "mute")
    return {"participant_id": participant_id, "status": status, "muted": action == "mute"}


def _may_enter(ctx: Context, row: Row) -> None:
    if row["status"] != "waiting":
        raise Rejected(
            f"{_named(row)} is {row['status']}; only people in the waiting room (status waiting) can be admitted"
        )
    recording = rules.running_recording(ctx, row["meeting_id"])
    if recording and row["objects_to_recording"]:
        raise Rejected(
            f"{_named(row)} does not agree to be recorded and {recording} is being made; remove them, or end the "
            "meeting and meet again without a recording"
        )


def _may_be_muted(row: Row) -> None:
    if row["status"] != "joined":
        raise Rejected(f"{_named(row)} is {row['status']}; only people who have joined can be muted")
    if row["is_muted"]:
        raise Rejected(f"{_named(row)} is muted already; they unmute themselves when they want to speak")


def _may_be_removed(row: Row) -> None:
    if row["role"] == "host":
        raise Rejected(f"{_named(row)} is the host and cannot be removed; end_meeting ends the meeting for all")
    if row["email"] == ME:
        raise Rejected(f"{_named(row)} is you; only other participants can be removed")
    if row["status"] not in rules.PRESENT:
        raise Rejected(f"{_named(row)} is {row['status']}; only people who wait or have joined can be removed")


def _named(row: Row) -> str:
    """How messages name a participant."""
    return f"participant {row['id']} ({row['email']})"

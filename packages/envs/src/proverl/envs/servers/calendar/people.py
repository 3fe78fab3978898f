"""Tools on people: the directory, free/busy, invitations and answers to them."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import String, and_, bindparam, or_, select, update
from typing_extensions import TypedDict

from proverl.envs.context import Context
from proverl.envs.errors import Rejected
from proverl.envs.names import FIRST_NAMES, folded
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.calendars import NO_LIMIT, Limit
from proverl.envs.servers.calendar.clock import day_bounds, moved_hour, zone
from proverl.envs.servers.calendar.rules import (
    get_person,
    get_room,
    headcount,
    refuse_cancelled,
    refuse_small,
    seen_event,
    upcoming_event,
)
from proverl.envs.servers.calendar.tables import SELF, Event, EventId, Invitee, Person, PersonId
from proverl.envs.state import Row
from proverl.envs.types import IsoDate, Text

Team = Literal["engineering", "design", "product", "marketing", "sales", "finance", "people", "legal", "external"]
Response = Literal["needs_action", "accepted", "declined", "tentative"]

_PEOPLE = (
    select(Person.id, Person.name, Person.team)
    .where(Person.id != SELF, or_(bindparam("team", type_=String).is_(None), Person.team == bindparam("team")))
    .order_by(Person.name, Person.id)
    .limit(bindparam("limit"))
)
_BUSY = (
    select(Event.start, Event.end)
    .outerjoin(Invitee, and_(Invitee.event_id == Event.id, Invitee.person_id == bindparam("person")))
    .where(
        or_(Event.organizer_id == bindparam("person"), Invitee.response != "declined"),
        Event.status == "confirmed",
        Event.start <= bindparam("day_end"),
        Event.end > bindparam("day_start"),
    )
    .order_by(Event.start, Event.end)
)


class PersonItem(TypedDict):
    """A person of the directory."""

    id: PersonId
    name: str
    team: Team


class PersonList(TypedDict):
    """People in order of name."""

    people: list[PersonItem]


class Busy(TypedDict):
    """A time when a person is busy."""

    start: str
    end: str


class FreeBusy(TypedDict):
    """When a person is busy on a day, and their working hours, all in the user's time zone."""

    person_id: PersonId
    time_zone: str
    working_hours: str
    busy: list[Busy]


class InvitationView(TypedDict):
    """An invitation and its answer."""

    event_id: EventId
    person_id: PersonId
    response: Response


class Removal(TypedDict):
    """Who is no longer invited to what."""

    event_id: EventId
    removed_person_id: PersonId


class Answer(TypedDict):
    """The user's answer to an invitation."""

    event_id: EventId
    title: str
    response: Response


@server.tool(
    read_only=True,
    phrases=[
        "look up people[ named {name}][ in {team}]",
        "find colleagues[ called {name}][ from the {team} team]",
        "search the directory[ for {name}][, {limit} results at most]",
        "list the people I can invite[ from {team}][, up to {limit}]",
    ],
)
def list_people(
    ctx: Context,
    name: Annotated[
        Annotated[Text, Field(examples=list(FIRST_NAMES))] | None, "Only people whose name contains this"
    ] = None,
    team: Annotated[Team | None, "Only people of this team; external are guests from outside"] = None,
    limit: Annotated[Limit, "How many at most"] = 5,
) -> PersonList:
    """List people of the directory in order of name. Different people may share a name."""
    rows = ctx.rows(_PEOPLE, team=team, limit=limit if name is None else NO_LIMIT)
    if name is not None:
        rows = [row for row in rows if folded(name) in folded(row["name"])]
    return {"people": rows[:limit]}  # type: ignore[typeddict-item]


@server.tool(
    read_only=True,
    phrases=[
        "check when {person_id} is busy on {date}",
        "tell me whether {person_id} has time on {date}",
        "look at the availability of {person_id} on {date}",
        "see what times on {date} are taken for {person_id}",
    ],
    brief=[
        "check when a colleague is busy",
        "look at the availability of {person_id}",
        "check whether a colleague has time on {date}",
    ],
)
def get_free_busy(
    ctx: Context,
    person_id: Annotated[PersonId, "Person to check"],
    date: Annotated[IsoDate, "Day to check"],
) -> FreeBusy:
    """Return the times at which a colleague is busy on one day, without saying with what."""
    person = get_person(ctx, person_id)
    if person["team"] == "external":
        raise Rejected(f"{person['name']} is outside the organisation and shares no free/busy; check a colleague")
    day_start, day_end = day_bounds(date)
    if _away(person, date):
        busy: list[Busy] = [{"start": day_start, "end": day_end}]
    else:
        busy = _merged(ctx.rows(_BUSY, person=person_id, day_start=day_start, day_end=day_end))
    ahead = get_person(ctx, SELF)["utc_offset"] - person["utc_offset"]
    hours = f"{moved_hour(person['works_from'], ahead)}-{moved_hour(person['works_until'], ahead)}"
    return {"person_id": person_id, "time_zone": zone(person["utc_offset"]), "working_hours": hours, "busy": busy}


def _away(person: Row, day: str) -> bool:
    return person["away_from"] is not None and person["away_from"] <= day <= person["away_until"]


def _merged(rows: list[Row]) -> list[Busy]:
    """Join times that touch or overlap; `rows` are in order of start."""
    merged: list[Busy] = []
    for row in rows:
        if merged and row["start"] <= merged[-1]["end"]:
            merged[-1]["end"] = max(merged[-1]["end"], row["end"])
        else:
            merged.append({"start": row["start"], "end": row["end"]})
    return merged


@server.tool(
    phrases=[
        "invite {person_id} to {event_id}[ as {attendance}]",
        "add {person_id} to the guest list of {event_id}[, attendance {attendance}]",
        "send {person_id} an invitation to {event_id}",
        "ask {person_id} to join {event_id}[ ({attendance})]",
    ],
    brief=[
        "invite somebody to an event",
        "invite somebody to {event_id}",
        "invite {person_id} to one of my events",
    ],
)
def invite_person(
    ctx: Context,
    event_id: Annotated[EventId, "Event to invite to"],
    person_id: Annotated[PersonId, "Person to invite"],
    attendance: Annotated[Literal["required", "optional"], "Whether they have to come"] = "required",
) -> InvitationView:
    """Invite a person to an upcoming event, or to one occurrence of a series."""
    event = upcoming_event(ctx, event_id)
    person = get_person(ctx, person_id)
    if person_id == event["organizer_id"]:
        raise Rejected(f"{person['name']} organizes {event_id} and needs no invitation; invite somebody else")
    if _response(ctx, event_id, person_id) is not None:
        raise Rejected(f"{person['name']} is already invited to {event_id}; invite somebody else")
    if _away(person, event["start"][:10]):
        raise Rejected(
            f"{person['name']} is out of office from {person['away_from']} to {person['away_until']} and takes no "
            "invitations for those days; move the event or invite somebody else"
        )
    if event["room_id"] is not None:
        refuse_small(get_room(ctx, event["room_id"]), headcount(ctx, event_id) + 1)
    ctx.insert(Invitee, event_id=event_id, person_id=person_id, response="needs_action", attendance=attendance)
    return {"event_id": event_id, "person_id": person_id, "response": "needs_action"}


_RESPONSE = select(Invitee.response).where(
    Invitee.event_id == bindparam("event"), Invitee.person_id == bindparam("person")
)


def _response(ctx: Context, event_id: str, person_id: str) -> str | None:
    """A person's response, or None when not invited."""
    response: str | None = ctx.scalar(_RESPONSE, event=event_id, person=person_id)
    return response


@server.tool(
    destructive=True,
    phrases=[
        "remove {person_id} from {event_id}",
        "uninvite {person_id} from {event_id}",
        "take {person_id} off the guest list of {event_id}",
        "withdraw the invitation to {event_id} for {person_id}",
    ],
    brief=[
        "uninvite somebody from an event",
        "take somebody off the guest list of {event_id}",
        "withdraw an invitation of {person_id}",
    ],
)
def remove_invitee(
    ctx: Context,
    event_id: Annotated[EventId, "Event of the invitation"],
    person_id: Annotated[PersonId, "Invited person"],
) -> Removal:
    """Withdraw a person's invitation to an upcoming event."""
    upcoming_event(ctx, event_id)
    person = get_person(ctx, person_id)
    if _response(ctx, event_id, person_id) is None:
        raise Rejected(f"{person['name']} is not invited to {event_id}; get_event shows who is")
    ctx.delete(Invitee, Invitee.event_id == event_id, Invitee.person_id == person_id)
    return {"event_id": event_id, "removed_person_id": person_id}


@server.tool(
    idempotent=True,
    phrases=[
        "RSVP {response} to {event_id}",
        "answer the invitation to {event_id} with {response}",
        "mark me as {response} for {event_id}",
        "set my response to {event_id} to {response}",
    ],
    brief=[
        "answer an invitation",
        "answer the invitation to {event_id}",
        "mark me as {response} for one of the events",
    ],
)
def respond_to_invitation(
    ctx: Context,
    event_id: Annotated[EventId, "Event that the user is invited to"],
    response: Annotated[Literal["accepted", "declined", "tentative"], "The user's answer"],
) -> Answer:
    """Answer an invitation to an event that somebody else organizes; a later answer replaces an earlier one."""
    event = seen_event(ctx, event_id)
    refuse_cancelled(event)
    if event["organizer_id"] == SELF:
        raise Rejected(f"you organize {event_id}; cancel_event or reschedule_event change it")
    if event["response"] is None:
        raise Rejected(f"you are not invited to {event_id}; list_events with show=unanswered lists invitations")
    if event["end"] <= ctx.timestamp:
        raise Rejected(f"{event_id} ended at {event['end']}; answer an upcoming invitation")
    mine = (Invitee.event_id == event_id, Invitee.person_id == SELF)
    ctx.execute(update(Invitee).where(*mine).values(response=response))
    return {"event_id": event_id, "title": event["title"], "response": response}

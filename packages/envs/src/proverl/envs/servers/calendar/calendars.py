"""Tools on calendars: which there are, and who may use them."""

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import String, and_, bindparam, or_, select
from typing_extensions import TypedDict

from proverl.envs.context import Context
from proverl.envs.errors import Rejected
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.rules import get_person, seen_calendar
from proverl.envs.servers.calendar.tables import SELF, Access, Calendar, CalendarId, PersonId

Limit = Annotated[int, Field(ge=1, le=50, examples=[3, 4, 5, 6, 8, 10, 12, 15, 20, 25])]
NO_LIMIT = -1  # to SQLite, for lists that are narrowed down after the query

_CALENDARS = (
    select(Calendar.id, Calendar.name, Access.role)
    .join(Access, and_(Access.calendar_id == Calendar.id, Access.person_id == SELF))
    .where(or_(bindparam("role", type_=String).is_(None), Access.role == bindparam("role")))
    .order_by(Calendar.is_primary.desc(), Access.role != "owner", Calendar.name, Calendar.id)
    .limit(bindparam("limit"))
)


class CalendarItem(TypedDict):
    """A calendar in a list."""

    id: CalendarId
    name: str
    role: Literal["owner", "writer", "reader"]


class CalendarList(TypedDict):
    """Calendars of the user, the primary one first."""

    calendars: list[CalendarItem]


class AccessView(TypedDict):
    """What a person may do with a calendar."""

    calendar_id: CalendarId
    person_id: PersonId
    role: Literal["owner", "writer", "reader"]


@server.tool(
    read_only=True,
    phrases=[
        "list my calendars[ where I am {role}][, {limit} at most]",
        "show me the calendars I can use[ as {role}]",
        "tell me which calendars I have[, only those with the role {role}][, up to {limit}]",
        "pull up my calendar list[ (first {limit})]",
    ],
)
def list_calendars(
    ctx: Context,
    role: Annotated[Literal["owner", "writer", "reader"] | None, "Only calendars where the user has this role"] = None,
    limit: Annotated[Limit, "How many at most"] = 5,
) -> CalendarList:
    """List the user's calendars, the primary one first. Readers see a calendar, writers and owners add events to it."""
    return {"calendars": ctx.rows(_CALENDARS, role=role, limit=limit)}  # type: ignore[typeddict-item]


@server.tool(
    idempotent=True,
    phrases=[
        "share {calendar_id} with {person_id} as {role}",
        "give {person_id} {role} access to {calendar_id}",
        "let {person_id} use {calendar_id} as a {role}",
        "make {person_id} a {role} of {calendar_id}",
    ],
    brief=[
        "share one of my calendars",
        "share {calendar_id} with {person_id}",
        "give {person_id} {role} access to one of my calendars",
    ],
)
def share_calendar(
    ctx: Context,
    calendar_id: Annotated[CalendarId, "Calendar to share; the user must own it"],
    person_id: Annotated[PersonId, "Colleague who gets access"],
    role: Annotated[Literal["reader", "writer"], "reader: sees events; writer: also adds and changes them"],
) -> AccessView:
    """Give a colleague access to a calendar that the user owns, or change the access they have."""
    calendar = seen_calendar(ctx, calendar_id)
    if calendar["role"] != "owner":
        raise Rejected(f"you are {calendar['role']} of {calendar['name']} ({calendar_id}); only its owner can share it")
    person = get_person(ctx, person_id)
    if person_id == SELF:
        raise Rejected(f"you own {calendar_id} yourself; share it with somebody else")
    if person["team"] == "external" and role == "writer":
        raise Rejected(f"{person['name']} is outside the organisation and can only become a reader")
    where = (Access.calendar_id == calendar_id, Access.person_id == person_id)
    current = ctx.scalar(select(Access.role).where(*where))
    if current == role:
        raise Rejected(
            f"{person['name']} already is a {role} of {calendar_id}; choose the other role or another person"
        )
    ctx.delete(Access, *where)
    ctx.insert(Access, calendar_id=calendar_id, person_id=person_id, role=role)
    return {"calendar_id": calendar_id, "person_id": person_id, "role": role}

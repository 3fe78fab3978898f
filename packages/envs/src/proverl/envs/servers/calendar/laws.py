"""What holds in every state of the calendar server, whatever was called."""

from itertools import groupby, pairwise

from sqlalchemy import func, select

from proverl.envs.context import Context
from proverl.envs.servers.calendar.app import server
from proverl.envs.servers.calendar.clock import occurrence_starts, within_hours
from proverl.envs.servers.calendar.tables import Access, Calendar, Event, Invitee, Reminder, Room, Series


@server.invariant
def events_end_after_they_start(ctx: Context) -> None:
    """No event is empty or runs backwards."""
    wrong = ctx.rows(select(Event.id).where(Event.end <= Event.start))
    assert not wrong, f"events without length: {wrong}"


@server.invariant
def rooms_are_never_double_booked(ctx: Context) -> None:
    """Confirmed events in one room follow each other."""
    booked = select(Event.room_id, Event.id, Event.start, Event.end).where(Event.room_id.is_not(None))
    rows = ctx.rows(booked.order_by(Event.room_id, Event.start))
    for room, events in groupby(rows, key=lambda row: row["room_id"]):
        for first, second in pairwise(events):
            assert first["end"] <= second["start"], f"{room} is booked twice: {first['id']} and {second['id']}"


@server.invariant
def rooms_fit_their_events(ctx: Context) -> None:
    """A booked room has seats for the organizer and all invitees and is open."""
    invited = select(func.count()).select_from(Invitee).where(Invitee.event_id == Event.id).scalar_subquery()
    columns = (Event.id, Event.start, Event.end, Room.capacity, Room.opens, Room.closes, invited.label("invited"))
    for row in ctx.rows(select(*columns).join(Room, Room.id == Event.room_id)):
        assert row["invited"] < row["capacity"], f"{row['id']} has more people than its room has seats"
        assert within_hours(row["start"], row["end"], row["opens"], row["closes"]), f"{row['id']} is in a closed room"


@server.invariant
def cancelled_events_hold_nothing(ctx: Context) -> None:
    """A cancelled event has no room, no reminders and no invitation that waits for an answer."""
    cancelled = select(Event.id).where(Event.status == "cancelled")
    held = ctx.rows(select(Event.id).where(Event.status == "cancelled", Event.room_id.is_not(None)))
    assert not held, f"cancelled events with a room: {held}"
    reminders = ctx.rows(select(Reminder.id).where(Reminder.event_id.in_(cancelled)))
    assert not reminders, f"reminders of cancelled events: {reminders}"
    waiting = select(Invitee.event_id).where(Invitee.event_id.in_(cancelled), Invitee.response == "needs_action")
    assert not ctx.rows(waiting), f"cancelled events with unanswered invitations: {ctx.rows(waiting)}"


@server.invariant
def organizers_do_not_invite_themselves(ctx: Context) -> None:
    """The organizer of an event is not among its invitees."""
    wrong = select(Event.id).join(Invitee, Invitee.event_id == Event.id).where(Invitee.person_id == Event.organizer_id)
    assert not ctx.rows(wrong), f"organizers invited to their own events: {ctx.rows(wrong)}"


@server.invariant
def series_follow_their_rule(ctx: Context) -> None:
    """A series has all its occurrences, on one calendar, where its rule puts them; moved ones keep their order."""
    for series in ctx.rows(select(Series.__table__)):
        events = ctx.rows(select(Event.__table__).where(Event.series_id == series["id"]).order_by(Event.occurrence))
        starts = occurrence_starts(series["first_start"], series["frequency"], series["occurrences"])
        assert [event["original_start"] for event in events] == starts, f"{series['id']} has left its rule"
        assert len({(event["calendar_id"], event["organizer_id"]) for event in events}) == 1, f"{series['id']} is split"
        confirmed = [event["start"] for event in events if event["status"] == "confirmed"]
        assert all(first < second for first, second in pairwise(confirmed)), f"{series['id']} is out of order"


@server.invariant
def calendars_have_one_owner(ctx: Context) -> None:
    """Every calendar's one owner in `access` is its `owner_id`, and exactly one calendar is the primary one."""
    owners = ctx.rows(select(Access.calendar_id, Access.person_id).where(Access.role == "owner"))
    calendars = ctx.rows(select(Calendar.id, Calendar.owner_id, Calendar.is_primary))
    assert sorted((row["calendar_id"], row["person_id"]) for row in owners) == sorted(
        (row["id"], row["owner_id"]) for row in calendars
    ), "owners and access differ"
    assert sum(row["is_primary"] for row in calendars) == 1, "there must be one primary calendar"

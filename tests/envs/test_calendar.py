"""The calendar server: what its tools do, everything that it refuses, and the laws that always hold."""

from collections import Counter
from datetime import datetime, timedelta
from random import Random

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from proverl.core import ErrorCode
from proverl.envs import Session, load_server, phrase_slots, start_time
from proverl.envs.servers.calendar.clock import occurrence_starts
from proverl.envs.servers.calendar.tables import SELF, Event, Invitee, Person, Reminder, Room

SERVER = load_server("calendar")
SEED = 5
TOOLS = {tool.name: tool for tool in SERVER.tools}


@pytest.fixture
def session():
    with Session(["calendar"], SEED) as opened:
        yield opened
        opened.check_invariants()


def rows(session, statement):
    return session._context(SERVER, "").rows(statement)


def ok(session, name, /, **arguments):
    result = session.call(name, arguments)
    assert result.ok, result.message
    jsonschema.validate(result.content, TOOLS[name].returns)
    return result.content


def refused(session, name, /, *parts, code=ErrorCode.REJECTED, **arguments):
    before = session.digest()
    result = session.call(name, arguments)
    assert result.code == code, result
    for part in parts:
        assert part in result.message
    assert session.digest() == before


def weekday(session, days=1, hour="10:00"):
    """A time on a weekday so many days after everything that is seeded."""
    day = session.now.date() + timedelta(days=200 + days)
    day += timedelta(days=7 - day.weekday() if day.weekday() > 4 else 0)
    return f"{day}T{hour}"


def create(session, days=1, hour="10:00", minutes=60, **extra):
    return ok(
        session, "create_event", title="Kickoff", start=weekday(session, days, hour), duration_minutes=minutes, **extra
    )["id"]


def calendars(session, role):
    return [item["id"] for item in ok(session, "list_calendars", role=role, limit=50)["calendars"]]


def people(session, team=None):
    """Ids of people without an absence, so that they can be invited."""
    away = {row["id"] for row in rows(session, select(Person.id).where(Person.away_from.is_not(None)))}
    found = ok(session, "list_people", limit=50, **({"team": team} if team else {}))["people"]
    return [item["id"] for item in found if item["id"] not in away and (team or item["team"] != "external")]


def room(session, *conditions):
    return rows(session, select(Room.id).where(Room.in_service, *conditions).order_by(Room.capacity.desc()))[0]["id"]


def foreign_event(session, *conditions, status="confirmed"):
    """An upcoming event that somebody else organizes and the user is invited to."""
    statement = (
        select(Event.id)
        .join(Invitee, (Invitee.event_id == Event.id) & (Invitee.person_id == SELF))
        .where(Event.status == status, Event.start > session.now.isoformat(), *conditions)
        .order_by(Event.start)
    )
    return rows(session, statement)[0]["id"]


# the surface


def test_has_seventeen_visible_tools_and_none_hidden():
    assert len(TOOLS) == 17
    assert not any(tool.hidden for tool in TOOLS.values())


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_is_asked_for_in_three_ways_that_cover_its_parameters(name):
    phrases = SERVER.phrases[name]
    assert len(set(phrases)) >= 3
    assert set().union(*(phrase_slots(phrase) for phrase in phrases)) == set(TOOLS[name].parameters["properties"])
    assert not any(phrase[0].isupper() and not phrase.startswith("RSVP") or phrase.endswith(".") for phrase in phrases)


@pytest.mark.parametrize("name", TOOLS)
def test_every_parameter_is_described_and_can_be_invented(name):
    for parameter in TOOLS[name].parameters["properties"].values():
        assert parameter["description"]
        (kind,) = [kind for kind in parameter.get("anyOf", [parameter]) if kind.get("type") != "null"]
        assert "x-entity" in kind or "enum" in kind or "format" in kind or len(kind["examples"]) >= 10


def test_entities_have_words():
    entities = {"Calendar", "Event", "Person", "Reminder", "Room", "Series"}
    assert set(SERVER.nouns) == entities


# the start state


@pytest.mark.parametrize("seed", range(25))
def test_start_states_obey_the_laws(seed):
    with Session([SERVER], seed) as session:
        session.check_invariants()


def test_the_start_state_is_rich_small_and_the_same_for_the_same_seed():
    image = SERVER.build(SEED, start_time(SEED))
    assert image == SERVER.build(SEED, start_time(SEED))
    assert image != SERVER.build(SEED + 1, start_time(SEED))
    assert len(image) < 200_000


def test_the_start_state_has_many_entities_and_awkward_ones(session):
    found = {model: rows(session, select(model.__table__)) for model in (Person, Room, Event, Invitee, Reminder)}
    assert len(found[Person]) >= 40 and len(found[Room]) >= 20 and 120 <= len(found[Event]) <= 220
    assert len(found[Reminder]) >= 20
    assert max(Counter(row["name"] for row in found[Person]).values()) >= 2
    assert any(not row["name"].isascii() for row in found[Person])
    assert len({row["utc_offset"] for row in found[Person]}) > 1
    assert any(row["status"] == "cancelled" for row in found[Event])
    assert any(not row["in_service"] for row in found[Room])
    sizes = [len(ok(session, "list_events", calendar_id=id)["events"]) for id in calendars(session, "writer")]
    assert min(sizes) == 0 and max(sizes) >= 4


@pytest.mark.parametrize("seed", range(4))
def test_nobody_is_seeded_into_two_places_at_once(seed):
    with Session([SERVER], seed) as session:
        guests = select(Event.start, Event.end, Invitee.person_id).join(Invitee, Invitee.event_id == Event.id)
        hosts = select(Event.start, Event.end, Event.organizer_id.label("person_id"))
        hosts = hosts.where(
            Event.title.not_like("Office closed%"), Event.title.not_like("%day"), Event.title != "Power maintenance"
        )
        by_person = {}
        for row in rows(session, guests) + rows(session, hosts):
            by_person.setdefault(row["person_id"], []).append((row["start"], row["end"]))
        for times in by_person.values():
            times.sort()
            assert all(first[1] <= second[0] for first, second in zip(times, times[1:], strict=False))


# calendars


def test_calendars_are_listed_primary_first_and_by_role(session):
    listed = ok(session, "list_calendars", limit=50)["calendars"]
    assert listed[0] == {"id": listed[0]["id"], "name": "Alex Morgan", "role": "owner"}
    assert {item["role"] for item in listed} == {"owner", "writer", "reader"}
    assert len(ok(session, "list_calendars")["calendars"]) == 5
    assert len(calendars(session, "reader")) == 8


def test_sharing_gives_and_changes_access(session):
    calendar, person = calendars(session, "owner")[0], people(session)[0]
    assert ok(session, "share_calendar", calendar_id=calendar, person_id=person, role="reader")["role"] == "reader"
    assert ok(session, "share_calendar", calendar_id=calendar, person_id=person, role="writer")["role"] == "writer"
    refused(session, "share_calendar", "already is a writer", calendar_id=calendar, person_id=person, role="writer")


def test_sharing_is_refused_for_other_peoples_calendars_oneself_and_outside_writers(session):
    own, person, guest = calendars(session, "owner")[0], people(session)[0], people(session, "external")[0]
    theirs = calendars(session, "reader")[0]
    refused(session, "share_calendar", "only its owner", calendar_id=theirs, person_id=person, role="reader")
    refused(session, "share_calendar", "somebody else", calendar_id=own, person_id=SELF, role="reader")
    refused(session, "share_calendar", "only become a reader", calendar_id=own, person_id=guest, role="writer")
    ok(session, "share_calendar", calendar_id=own, person_id=guest, role="reader")


# events


def test_a_new_event_is_on_the_primary_calendar_and_found_by_day_title_and_calendar(session):
    event = create(session)
    primary = calendars(session, "owner")[0]
    view = ok(session, "get_event", event_id=event)
    assert view == {
        "id": event, "title": "Kickoff", "start": weekday(session), "end": weekday(session, hour="11:00"),
        "status": "confirmed", "calendar_id": primary,
    }  # fmt: skip
    day = weekday(session)[:10]
    for filters in ({"date": day}, {"title": "kICK"}, {"calendar_id": primary, "date": day}):
        assert event in [item["id"] for item in ok(session, "list_events", **filters, limit=50)["events"]]


def test_the_agenda_is_in_order_and_knows_past_unanswered_and_cancelled(session):
    now = session.now.isoformat(timespec="minutes")
    upcoming = ok(session, "list_events", limit=50)["events"]
    assert [item["start"] for item in upcoming] == sorted(item["start"] for item in upcoming)
    assert all(item["end"] > now for item in upcoming) and len(upcoming) >= 20
    past = ok(session, "list_events", show="past", limit=50)["events"]
    assert all(item["end"] <= now for item in past) and past[0]["start"] > past[-1]["start"]
    for item in ok(session, "list_events", show="unanswered", limit=50)["events"]:
        assert ok(session, "get_event", event_id=item["id"])["my_response"] == "needs_action"
    cancelled = ok(session, "list_events", show="cancelled", limit=50)["events"]
    assert cancelled and ok(session, "get_event", event_id=cancelled[0]["id"])["status"] == "cancelled"


def test_an_event_all_day_long_is_on_that_day_only(session):
    event = create(session, days=3, hour="00:00", minutes=1_440)
    day = datetime.fromisoformat(weekday(session, 3))
    for shift, there in ((-1, False), (0, True), (1, False)):
        date = (day + timedelta(days=shift)).date().isoformat()
        assert (event in [item["id"] for item in ok(session, "list_events", date=date)["events"]]) is there


def test_events_need_a_future_start_and_a_calendar_to_write_on(session):
    arguments = {"title": "Late", "duration_minutes": 30}
    past = (session.now - timedelta(days=1)).isoformat(timespec="minutes")
    refused(
        session, "create_event", "not in the future", session.now.isoformat(timespec="minutes"), start=past, **arguments
    )
    refused(session, "create_event", "too far ahead", start="9999-12-31T23:59", **arguments)
    reader = calendars(session, "reader")[0]
    refused(
        session, "create_event", "only read", "owner or writer", start=weekday(session), calendar_id=reader, **arguments
    )
    ok(session, "create_event", start=weekday(session), calendar_id=calendars(session, "writer")[0], **arguments)


def test_renaming_keeps_the_description_unless_a_new_one_is_given(session):
    event = create(session, description="Bring ideas")
    ok(session, "update_event", event_id=event, title="Café")
    assert ok(session, "get_event", event_id=event)["description"] == "Bring ideas"
    ok(session, "update_event", event_id=event, title="Café", description="None needed")
    view = ok(session, "get_event", event_id=event)
    assert (view["title"], view["description"]) == ("Café", "None needed")


def test_moving_keeps_the_length_and_asks_invitees_again(session):
    event = create(session, minutes=45)
    one = people(session)[0]
    ok(session, "invite_person", event_id=event, person_id=one)
    state = session._context(SERVER, "")
    state.db.execute(Invitee.__table__.update().where(Invitee.event_id == event).values(response="accepted"))
    moved = ok(session, "reschedule_event", event_id=event, start=weekday(session, 4, "14:00"))
    assert (moved["start"], moved["end"]) == (weekday(session, 4, "14:00"), weekday(session, 4, "14:45"))
    assert ok(session, "get_event", event_id=event)["invitees"] == [{"person_id": one, "response": "needs_action"}]
    longer = ok(session, "reschedule_event", event_id=event, start=weekday(session, 4, "14:00"), duration_minutes=90)
    assert longer["end"] == weekday(session, 4, "15:30")


def test_cancelling_frees_the_room_and_ends_reminders_and_open_invitations(session):
    event, big = create(session), room(session)
    ok(session, "book_room", event_id=event, room_id=big)
    ok(session, "invite_person", event_id=event, person_id=people(session)[0])
    ok(session, "set_reminder", event_id=event, minutes_before=10)
    cancelled = ok(session, "cancel_event", event_id=event)
    assert cancelled == {"id": event, "status": "cancelled", "cancelled": 1}
    assert ok(session, "get_event", event_id=event).keys().isdisjoint({"room_id", "invitees", "reminder_minutes"})
    ok(session, "book_room", event_id=create(session), room_id=big)


def test_a_cancelled_event_accepts_no_change(session):
    event = create(session)
    ok(session, "cancel_event", event_id=event)
    person, start = people(session)[0], weekday(session, 2)
    for name, arguments in (
        ("update_event", {"title": "Again"}),
        ("reschedule_event", {"start": start}),
        ("cancel_event", {}),
        ("invite_person", {"person_id": person}),
        ("remove_invitee", {"person_id": person}),
        ("book_room", {"room_id": room(session)}),
        ("set_recurrence", {"frequency": "weekly", "occurrences": 3}),
        ("set_reminder", {"minutes_before": 10}),
        ("respond_to_invitation", {"response": "accepted"}),
    ):
        refused(session, name, "is cancelled", "create_event", event_id=event, **arguments)


def test_what_has_started_stays_as_it_was_but_may_be_renamed(session):
    past = [
        item["id"]
        for item in ok(session, "list_events", show="past", limit=50)["events"]
        if "organizer_id" not in ok(session, "get_event", event_id=item["id"])
    ][0]
    refused(session, "reschedule_event", "started at", "upcoming event", event_id=past, start=weekday(session))
    refused(session, "cancel_event", "started at", event_id=past)
    refused(session, "invite_person", "started at", event_id=past, person_id=people(session)[0])
    refused(session, "book_room", "started at", event_id=past, room_id=room(session))
    refused(session, "set_reminder", "in the past", event_id=past, minutes_before=5)
    refused(session, "reschedule_event", "not in the future", event_id=create(session), start="2020-01-01T10:00")
    ok(session, "update_event", event_id=past, title="As it went")


def test_only_the_organizer_or_a_writer_of_the_calendar_changes_an_event(session):
    theirs = foreign_event(session)
    refused(session, "cancel_event", "only the organizer", "respond_to_invitation", event_id=theirs)
    refused(session, "update_event", "only the organizer", event_id=theirs, title="Mine now")
    refused(session, "invite_person", "only the organizer", event_id=theirs, person_id=people(session)[0])
    readable = [
        item["id"]
        for id in calendars(session, "reader")
        for item in ok(session, "list_events", calendar_id=id)["events"]
    ]
    uninvited = [id for id in readable if "my_response" not in ok(session, "get_event", event_id=id)]
    refused(session, "cancel_event", "ask the organizer", event_id=uninvited[0])
    writable = [
        item["id"]
        for id in calendars(session, "writer")
        for item in ok(session, "list_events", calendar_id=id)["events"]
    ]
    ok(session, "update_event", event_id=writable[0], title="Agreed title")


def test_what_the_user_may_not_see_does_not_exist(session):
    mine = select(Invitee.event_id).where(Invitee.person_id == SELF)
    visible = calendars(session, "owner") + calendars(session, "writer") + calendars(session, "reader")
    hidden = rows(session, select(Event.__table__).where(Event.id.not_in(mine), Event.calendar_id.not_in(visible)))[0]
    refused(session, "get_event", "list_events", code=ErrorCode.NOT_FOUND, event_id=hidden["id"])
    refused(session, "list_events", "list_calendars", code=ErrorCode.NOT_FOUND, calendar_id=hidden["calendar_id"])
    refused(session, "get_event", "'EVT-1'", code=ErrorCode.NOT_FOUND, event_id="EVT-1")
    refused(session, "get_free_busy", "list_people", code=ErrorCode.NOT_FOUND, person_id="PER-1", date="2026-03-09")
    event = create(session)
    refused(session, "book_room", "list_rooms", code=ErrorCode.NOT_FOUND, event_id=event, room_id="ROOM-1")


# recurrence


@pytest.mark.parametrize(
    ("first", "frequency", "starts"),
    [
        ("2026-03-09T10:00", "daily", ["2026-03-09T10:00", "2026-03-10T10:00", "2026-03-11T10:00"]),
        ("2026-12-28T10:00", "weekly", ["2026-12-28T10:00", "2027-01-04T10:00", "2027-01-11T10:00"]),
        ("2026-02-20T10:00", "biweekly", ["2026-02-20T10:00", "2026-03-06T10:00", "2026-03-20T10:00"]),
        ("2026-11-30T10:00", "monthly", ["2026-11-30T10:00", "2026-12-30T10:00", "2027-01-30T10:00"]),
        ("2026-01-31T10:00", "monthly", ["2026-01-31T10:00", "2026-03-31T10:00", "2026-05-31T10:00"]),
    ],
)
def test_rules_give_these_starts(first, frequency, starts):
    assert occurrence_starts(first, frequency, 3) == starts


def series(session, count=4, **event):
    first = create(session, **event)
    made = ok(session, "set_recurrence", event_id=first, frequency="weekly", occurrences=count)
    found = ok(session, "list_events", series_id=made["series_id"], limit=50)["events"]
    return made["series_id"], [item["id"] for item in found]


def test_a_series_takes_over_room_and_invitees(session):
    event, big, person = create(session), room(session), people(session)[0]
    ok(session, "book_room", event_id=event, room_id=big)
    ok(session, "invite_person", event_id=event, person_id=person)
    made = ok(session, "set_recurrence", event_id=event, frequency="weekly", occurrences=4)
    found = ok(session, "list_events", series_id=made["series_id"])["events"]
    assert [item["id"] for item in found] == [event, f"{event}-2", f"{event}-3", f"{event}-4"]
    assert found[-1]["start"] == made["last_start"]
    last = ok(session, "get_event", event_id=found[-1]["id"])
    assert last["room_id"] == big and last["series_id"] == made["series_id"]
    assert last["invitees"] == [{"person_id": person, "response": "needs_action"}]


def test_a_series_is_not_made_twice_nor_into_a_taken_or_closed_room(session):
    _, ids = series(session)
    refused(session, "set_recurrence", "already belongs to", event_id=ids[1], frequency="daily", occurrences=3)
    later, big, event = create(session, days=8), room(session), create(session)
    ok(session, "book_room", event_id=later, room_id=big)
    ok(session, "book_room", event_id=event, room_id=big)
    refused(session, "set_recurrence", "already booked from", event_id=event, frequency="weekly", occurrences=3)
    refused(session, "set_recurrence", "open on weekdays", event_id=event, frequency="daily", occurrences=7)
    refused(
        session, "set_recurrence", "greater than or equal to 2", code=ErrorCode.INVALID_ARGUMENTS,
        event_id=event, frequency="weekly", occurrences=1,
    )  # fmt: skip


def test_an_occurrence_moves_but_not_past_its_neighbours(session):
    _, ids = series(session)
    start = datetime.fromisoformat(ok(session, "get_event", event_id=ids[1])["start"])
    text = [(start + timedelta(days=days)).isoformat(timespec="minutes") for days in (2, 7, -8)]
    ok(session, "reschedule_event", event_id=ids[1], start=text[0])
    refused(session, "reschedule_event", "cannot pass", ids[2], "before", event_id=ids[1], start=text[1])
    refused(session, "reschedule_event", "cannot pass", ids[0], "after", event_id=ids[1], start=text[2])
    ok(session, "cancel_event", event_id=ids[2])
    ok(session, "reschedule_event", event_id=ids[1], start=text[1])


@pytest.mark.parametrize(("scope", "left"), [("single", [0, 2, 3]), ("following", [0]), ("all", [])])
def test_cancelling_in_a_series_has_a_scope(session, scope, left):
    series_id, ids = series(session)
    ok(session, "cancel_event", event_id=ids[1], scope=scope)
    remaining = [item["id"] for item in ok(session, "list_events", series_id=series_id)["events"]]
    assert remaining == [ids[index] for index in left]
    refused(session, "cancel_event", "not part of a series", event_id=create(session), scope="all")


# reminders


def test_reminders_fire_before_the_start_and_are_refused_twice_late_and_beyond_five(session):
    event = create(session)
    made = ok(session, "set_reminder", event_id=event, minutes_before=90)
    assert made["fires_at"] == weekday(session, hour="08:30")
    refused(session, "set_reminder", "already has a popup reminder", event_id=event, minutes_before=90)
    ok(session, "set_reminder", event_id=event, minutes_before=90, method="email")
    soon = ok(
        session, "create_event", title="Soon", duration_minutes=30,
        start=(session.now + timedelta(minutes=40)).isoformat(timespec="minutes"),
    )["id"]  # fmt: skip
    refused(session, "set_reminder", "in the past", "fewer minutes_before", event_id=soon, minutes_before=60)
    for minutes in (5, 10, 15):
        ok(session, "set_reminder", event_id=event, minutes_before=minutes)
    refused(session, "set_reminder", "the most", event_id=event, minutes_before=20)
    assert ok(session, "get_event", event_id=event)["reminder_minutes"] == [5, 10, 15, 90, 90]


def test_a_declined_event_is_accepted_before_it_gets_a_reminder(session):
    event = foreign_event(session, Event.start > (session.now + timedelta(days=2)).isoformat())
    ok(session, "respond_to_invitation", event_id=event, response="declined")
    refused(session, "set_reminder", "you declined", event_id=event, minutes_before=7)
    ok(session, "respond_to_invitation", event_id=event, response="accepted")
    ok(session, "set_reminder", event_id=event, minutes_before=7)


# people


def test_people_are_found_by_part_of_a_name_and_by_team(session):
    everyone = ok(session, "list_people", limit=50)["people"]
    assert [item["name"] for item in everyone] == sorted(item["name"] for item in everyone)
    assert SELF not in [item["id"] for item in everyone]
    accented = next(item["name"].split()[0] for item in everyone if not item["name"].isascii())
    found = ok(session, "list_people", name=accented.upper())["people"]
    assert found and all(accented in item["name"] for item in found)
    assert {item["team"] for item in ok(session, "list_people", team="legal")["people"]} == {"legal"}
    assert ok(session, "list_people", name="nobody of this name") == {"people": []}


def test_free_busy_joins_times_and_leaves_out_what_was_declined_or_cancelled(session):
    person, day = people(session)[0], weekday(session)[:10]
    events = [create(session, hour=hour, minutes=60) for hour in ("09:00", "10:00", "13:00", "15:00")]
    for event in events:
        ok(session, "invite_person", event_id=event, person_id=person)
    ok(session, "cancel_event", event_id=events[2])
    state = session._context(SERVER, "")
    state.db.execute(Invitee.__table__.update().where(Invitee.event_id == events[3]).values(response="declined"))
    busy = ok(session, "get_free_busy", person_id=person, date=day)["busy"]
    assert busy == [{"start": f"{day}T09:00", "end": f"{day}T11:00"}]


def test_working_hours_are_told_in_the_users_time(session):
    home = rows(session, select(Person.__table__).where(Person.id == SELF))[0]["utc_offset"]
    for person in rows(session, select(Person.__table__).where(Person.team != "external", Person.id != SELF)):
        view = ok(session, "get_free_busy", person_id=person["id"], date=weekday(session)[:10])
        works = datetime.fromisoformat(f"2026-03-09T{person['works_from']}")
        local = works - timedelta(minutes=person["utc_offset"]) + timedelta(minutes=home)
        assert view["working_hours"][:5] == f"{local:%H:%M}"


def test_guests_from_outside_share_no_free_busy(session):
    guest = people(session, "external")[0]
    refused(session, "get_free_busy", "outside the organisation", person_id=guest, date=weekday(session)[:10])


def test_invitations_are_refused_twice_to_the_organizer_and_during_absence(session):
    event, person = create(session), people(session)[0]
    invited = ok(session, "invite_person", event_id=event, person_id=person, attendance="optional")
    assert invited == {"event_id": event, "person_id": person, "response": "needs_action"}
    refused(session, "invite_person", "already invited", event_id=event, person_id=person)
    refused(session, "invite_person", "organizes", event_id=event, person_id=SELF)
    today = session.now.date().isoformat()
    away = rows(session, select(Person.__table__).where(Person.away_until > today).order_by(Person.away_until.desc()))[
        0
    ]
    start = f"{away['away_until']}T10:00"
    during = ok(session, "create_event", title="Missed", start=start, duration_minutes=30)["id"]
    refused(session, "invite_person", "out of office", away["away_until"], event_id=during, person_id=away["id"])


def test_an_absent_colleague_is_busy_all_day(session):
    away = rows(session, select(Person.__table__).where(Person.away_from.is_not(None), Person.team != "external"))[0]
    busy = ok(session, "get_free_busy", person_id=away["id"], date=away["away_from"])["busy"]
    assert busy == [{"start": f"{away['away_from']}T00:00", "end": f"{away['away_from']}T23:59"}]


def test_invitees_can_be_removed_once(session):
    event, person = create(session), people(session)[0]
    ok(session, "invite_person", event_id=event, person_id=person)
    ok(session, "remove_invitee", event_id=event, person_id=person)
    refused(session, "remove_invitee", "is not invited", "get_event", event_id=event, person_id=person)


@pytest.mark.parametrize("response", ["accepted", "declined", "tentative"])
def test_an_answer_replaces_the_earlier_one(session, response):
    event = foreign_event(session, Invitee.response == "needs_action")
    ok(session, "respond_to_invitation", event_id=event, response="tentative")
    ok(session, "respond_to_invitation", event_id=event, response=response)
    assert ok(session, "get_event", event_id=event)["my_response"] == response
    assert event not in [item["id"] for item in ok(session, "list_events", show="unanswered", limit=50)["events"]]


def test_only_open_invitations_of_others_are_answered(session):
    refused(session, "respond_to_invitation", "you organize", event_id=create(session), response="accepted")
    mine = select(Invitee.event_id).where(Invitee.person_id == SELF)
    visible = calendars(session, "reader")
    statement = select(Event.id).where(
        Event.id.not_in(mine), Event.calendar_id.in_(visible), Event.status == "confirmed"
    )
    other = rows(session, statement)[0]["id"]
    refused(session, "respond_to_invitation", "not invited", event_id=other, response="accepted")
    over = rows(session, select(Event.id).where(Event.id.in_(mine), Event.status == "confirmed").order_by(Event.start))[
        0
    ]
    refused(session, "respond_to_invitation", "ended at", event_id=over["id"], response="accepted")


# rooms


def test_rooms_for_an_event_are_free_open_and_large_enough(session):
    event = create(session)
    for person in people(session)[:5]:
        ok(session, "invite_person", event_id=event, person_id=person)
    offered = ok(session, "list_rooms", event_id=event, limit=50)["rooms"]
    sizes = [item["capacity"] for item in offered]
    assert sizes == sorted(sizes) and sizes[0] >= 6
    ok(session, "book_room", event_id=event, room_id=offered[0]["id"])
    rival = create(session, hour="10:30")
    assert offered[0]["id"] not in [item["id"] for item in ok(session, "list_rooms", event_id=rival, limit=50)["rooms"]]
    assert ok(session, "list_rooms", event_id=create(session, hour="22:00")) == {"rooms": []}
    assert all(item["capacity"] >= 10 for item in ok(session, "list_rooms", min_capacity=10)["rooms"])


def test_every_offered_room_can_be_booked(session):
    event = create(session, days=-185)
    for item in ok(session, "list_rooms", event_id=event, limit=50)["rooms"]:
        ok(session, "book_room", event_id=event, room_id=item["id"])
    assert ok(session, "get_event", event_id=event)["room_id"] == item["id"]


def test_rooms_are_refused_when_taken_closed_small_out_of_service_or_already_held(session):
    event, big = create(session), room(session)
    ok(session, "book_room", event_id=event, room_id=big)
    refused(session, "book_room", "is already booked for", event_id=event, room_id=big)
    rival = create(session, hour="10:30")
    refused(session, "book_room", "already booked from", "list_rooms", event_id=rival, room_id=big)
    ok(session, "book_room", event_id=create(session, hour="11:00"), room_id=big)
    broken = rows(session, select(Room.id).where(Room.in_service.is_(False)))[0]["id"]
    refused(session, "book_room", "out of service", event_id=event, room_id=broken)
    refused(session, "book_room", "open on weekdays", event_id=create(session, hour="22:00"), room_id=big)
    person, booth = (
        people(session)[0],
        rows(session, select(Room.id).where(Room.in_service, Room.capacity < 2))[0]["id"],
    )
    ok(session, "invite_person", event_id=rival, person_id=person)
    refused(session, "book_room", "seats 1, not 2", event_id=rival, room_id=booth)


def test_a_booked_room_limits_moving_and_inviting(session):
    big, booth = room(session), rows(session, select(Room.id).where(Room.in_service, Room.capacity < 2))[0]["id"]
    alone = create(session)
    ok(session, "book_room", event_id=alone, room_id=booth)
    refused(session, "invite_person", "seats 1, not 2", event_id=alone, person_id=people(session)[0])
    first, second = create(session, days=2), create(session, days=3)
    for event in (first, second):
        ok(session, "book_room", event_id=event, room_id=big)
    refused(session, "reschedule_event", "already booked from", event_id=second, start=weekday(session, 2, "10:30"))
    ok(session, "reschedule_event", event_id=second, start=weekday(session, 2, "11:00"))


# everything together


def entities(session):
    """Real ids by entity, as the list tools show them, and one that does not exist."""
    found = {
        "calendar.Event": ok(session, "list_events", limit=30)["events"]
        + ok(session, "list_events", show="past")["events"],
        "calendar.Calendar": ok(session, "list_calendars", limit=50)["calendars"],
        "calendar.Person": ok(session, "list_people", limit=50)["people"],
        "calendar.Room": ok(session, "list_rooms", limit=50)["rooms"],
    }
    return {key: [item["id"] for item in items] + ["NONE-1"] for key, items in found.items()} | {
        "calendar.Series": ["NONE-1"]
    }


def invent(schema, pool, now, rng):
    (kind,) = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
    day = now.date() + timedelta(days=rng.randrange(-3, 28))
    moments = {
        "date": day.isoformat(),
        "date-time": f"{day}T{rng.randrange(7, 20):02}:{rng.choice(('00', '15', '30'))}",
    }
    return rng.choice(
        pool.get(kind.get("x-entity")) or kind.get("enum") or kind.get("examples") or [moments[kind["format"]]]
    )


@given(st.integers(0, 2**32), st.integers(0, 3))
@settings(max_examples=6, deadline=None)
def test_a_random_walk_keeps_the_laws_and_only_changes_state_when_it_succeeds(walk, seed):
    rng = Random(walk)
    with Session([SERVER], seed) as session:
        pool, digest = entities(session), session.digest()
        for _ in range(25):
            tool = TOOLS[rng.choice(list(TOOLS))]
            wanted = [key for key in tool.parameters["properties"] if key in tool.required or rng.random() < 0.3]
            arguments = {key: invent(tool.parameters["properties"][key], pool, session.now, rng) for key in wanted}
            now, result = session.now, session.call(tool.name, arguments)
            assert result.code in (None, ErrorCode.NOT_FOUND, ErrorCode.REJECTED), result.message
            session.check_invariants()
            if result.ok:
                jsonschema.validate(result.content, tool.returns)
                pool["calendar.Event"] += [result.content["id"]] * 5 if tool.name == "create_event" else []
                pool["calendar.Series"] += [result.content["series_id"]] if "series_id" in result.content else []
            if tool.read_only or not result.ok:
                assert (session.digest(), session.now) == (digest, now)
            digest = session.digest()


def test_independent_calls_commute():
    def run(order):
        with Session([SERVER], SEED) as session:
            big, person = room(session), people(session)[0]
            event = create(session)
            calls = [
                ("book_room", {"event_id": event, "room_id": big}),
                ("invite_person", {"event_id": event, "person_id": person}),
                ("set_reminder", {"event_id": event, "minutes_before": 15}),
                ("create_event", {"title": "Other", "start": weekday(session, 9), "duration_minutes": 30}),
            ]
            for index in order:
                ok(session, calls[index][0], **calls[index][1])
            return session.digest()

    assert len({run(order) for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1))}) == 1

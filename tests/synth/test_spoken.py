"""Values in words, and back."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proverl.synth.chains.spoken import (
    contains,
    derive,
    is_said,
    relative_days,
    relative_moments,
    say,
    shift,
    spellings,
)
from proverl.synth.chains.values import NoValue

TODAY = date(2026, 3, 11)  # a Wednesday


@pytest.mark.parametrize(
    ("value", "text"),
    [(250.0, "250"), (12.5, "12.50"), (7, "7"), (True, "on"), (["a", "b"], "a and b"), ("x y", "x y")],
)
def test_values_are_written_as_people_write_them(value, text):
    assert say(value, TODAY) == text


def test_an_object_cannot_be_said():
    with pytest.raises(NoValue):
        say({"a": 1}, TODAY)


@pytest.mark.parametrize(
    ("day", "words"),
    [
        ("2026-03-12", {"tomorrow"}),
        ("2026-03-10", {"yesterday"}),
        ("2026-03-13", {"the day after tomorrow", "this Friday"}),
        ("2026-03-18", {"a week from today", "Wednesday next week"}),
        ("2026-03-16", {"in five days", "Monday next week"}),
        ("2026-03-06", {"five days ago", "Friday last week"}),
        ("2026-06-01", set()),
    ],
)
def test_days_are_named_by_their_relation_to_today(day, words):
    assert set(relative_days(date.fromisoformat(day), TODAY)) == words


@given(st.integers(-40, 40), st.integers(-40, 40))
def test_no_words_name_two_days(one, other):
    first, second = (set(relative_days(TODAY + timedelta(days=days), TODAY)) for days in (one, other))
    assert one == other or not first & second


@given(st.dates(date(2025, 1, 1), date(2027, 12, 31)), st.times())
def test_a_shift_from_today_leads_back_to_the_moment(day, clock):
    moment = f"{day.isoformat()}T{clock:%H:%M}"
    assert derive(shift(TODAY, moment), TODAY.isoformat()) == moment
    assert derive(shift(TODAY, day.isoformat()), TODAY.isoformat()) == day.isoformat()


@given(
    st.one_of(
        st.integers(0, 10**6),
        st.floats(0, 10**6).map(lambda x: round(x, 2)),
        st.dates(date(2025, 1, 1), date(2027, 12, 31)).map(str),
    )
)
def test_every_spelling_is_found_in_a_sentence_and_not_inside_another_word(value):
    for spelling in spellings(value, TODAY):
        assert is_said(value, f"Please use {spelling}, thanks.", TODAY)
        assert not is_said(value, f"Please use x{spelling}x.", TODAY) or len(spelling) < 2


def test_a_number_is_not_found_inside_a_longer_one():
    assert not is_said(250, "pay 250.75", TODAY)
    assert not is_said(3, "on 2026-03-11", TODAY)
    assert not is_said("ACC-1", "from ACC-12", TODAY)
    assert is_said(1250, "pay 1,250.", TODAY)
    assert is_said("in_progress", "set it to in progress", TODAY)


def test_moments_in_words():
    assert "tomorrow at 2:30 pm" in set(relative_moments("2026-03-12T14:30", TODAY))
    assert is_said("2026-03-12T14:30", "on March 12 at 14:30", TODAY)
    assert not is_said("2026-03-12T14:30", "on March 12 at 15:30", TODAY)


@pytest.mark.parametrize(("operation", "value"), [("thrice", 3), ("half", "x"), ("+1 days", 4)])
def test_an_unknown_operation_is_refused(operation, value):
    with pytest.raises(ValueError, match="there is no operation"):
        derive(operation, value)


def test_contains_whole_words_whatever_the_case():
    assert contains("Turn ON the light", "on")
    assert not contains("Turn it only once", "on")

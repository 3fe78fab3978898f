import logging

from experiments.alarms import Teller, summary, with_alarms


def rows(steps, **values):
    return {step: {"step": step, "stop/completed": 0.5, **values} for step in range(1, steps + 1)}


def test_rows_say_which_alarms_are_on_after_each_step():
    found = with_alarms(rows(10), [7, 8])
    assert [row["alarm/truncation"] for row in found] == [0.0, 1.0]
    assert "alarm/calls_drift_up" not in found[0]  # its metric is not there
    assert found[0]["stop/completed"] == 0.5


def test_later_steps_do_not_matter_to_a_step():
    late = rows(8) | {step: {"step": step, "stop/completed": 1.0} for step in range(9, 20)}
    assert [row["alarm/truncation"] for row in with_alarms(late, [8, 19])] == [1.0, 0.0]


def test_an_alarm_that_is_over_stays_in_the_summary():
    late = rows(8) | {step: {"step": step, "stop/completed": 1.0} for step in range(9, 20)}
    (alarm,) = summary(late)
    assert (alarm["name"], alarm["first_step"], alarm["last_step"]) == ("truncation", 8, 11)
    assert summary(rows(7)) == []


def test_each_alarm_is_said_and_logged_once(caplog):
    said = []
    teller = Teller(said.append)
    with caplog.at_level(logging.WARNING):
        for steps in (7, 8, 12):
            teller.tell(rows(steps))
    assert len(said) == 1 and said[0].startswith("Alarm truncation, step 8: 50% of the episodes")
    assert caplog.messages == said

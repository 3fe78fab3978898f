import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from experiments.episodes import page, template
from proverl.core import (
    Call,
    CallRecord,
    Episode,
    ErrorCode,
    GroundTruth,
    MalformedCall,
    Result,
    Step,
    Task,
    TaskKind,
    printable,
)

TASK = Task(
    id="heldout-0-1",
    kind=TaskKind.MULTI_TURN,
    servers=("banking",),
    seed=1,
    system="Today is Monday.",
    turns=("Pay <b>Ann</b>",),
    tools=(),
    ground_truth=GroundTruth((Step("transfer", {"to": "ACC-1", "amount": 5}),)),
)


def episode(**reward):
    call = Call("transfer", {"to": "ACC-1", "amount": 5}, "call_0")
    return Episode(
        task_id=TASK.id,
        messages=[
            {"role": "system", "content": TASK.system},
            {"role": "user", "content": TASK.turns[0]},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "call_0"}]},
            {"role": "tool", "tool_call_id": "call_0", "content": '{"error":"rejected"}'},
            {"role": "assistant", "content": "That failed."},
        ],
        calls=[
            CallRecord(call, Result(code=ErrorCode.REJECTED, message="the account is closed"), 0, 2),
            CallRecord(MalformedCall("transfer(", "no end"), Result(code=ErrorCode.INVALID_ARGUMENTS), 0, 2),
        ],
        reward={"total": 0.5, "validity": 0.67, **reward},
    )


def shown(success=False, **reward):
    return page("before", "14 tasks.", [(TASK, episode(**reward), success)])


def test_a_page_shows_messages_calls_results_and_what_was_expected_in_order():
    text = shown()
    order = [
        "Today is Monday.",
        "Pay",
        "transfer(to=",
        "the account is closed",
        "(no end)",
        "That failed.",
        "Expected",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "0.67" in text
    assert "failed</span>" in text


def test_what_users_and_models_wrote_is_never_markup():
    assert "<b>Ann</b>" not in shown()
    assert "Pay &lt;b&gt;Ann&lt;/b&gt;" in shown()


def test_a_page_needs_no_script_and_no_network():
    text = shown()
    assert "<script" not in text
    assert "http" not in text


def test_an_abstention_has_a_reward_and_no_parts():
    assert ">1.00<" in shown(total=1.0, abstention=1.0)
    assert shown(total=1.0, abstention=1.0).count(">–<") == 5


def test_success_is_said():
    assert '<span class="good">yes</span>' in shown(success=True)
    assert '<span class="bad">no</span>' in shown(success=False)


ACTS = "\x1b[2J\x00\u202egnp.exe\r\ud800\x9b"


def test_what_a_text_would_do_to_a_terminal_or_a_page_is_written_out(tmp_path):
    assert printable(ACTS) == r"\x1b[2J\x00\u202egnp.exe\r\ud800\x9b"
    assert printable("two\n\tlines, \u00e9, \u05e9\u05dc\u05d5\u05dd, \U0001f469\u200d\U0001f680") == (
        "two\n\tlines, \u00e9, \u05e9\u05dc\u05d5\u05dd, \U0001f469\u200d\U0001f680"
    )
    (tmp_path / "page.j2").write_text("<i>{{ text }}</i>")
    assert template(tmp_path / "page.j2").render(text=f"<b>{ACTS}") == f"<i>&lt;b&gt;{printable(ACTS)}</i>"


@given(st.text(st.characters(exclude_categories=())))
def test_printable_text_can_be_written_and_acts_on_nothing(text):
    shown = printable(text)
    shown.encode()
    kinds = {unicodedata.category(one) for one in shown if one not in "\n\t"}
    assert not kinds & {"Cc", "Zl", "Zp", "Cs"}
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not {unicodedata.bidirectional(one) for one in shown} & turns
    assert printable(shown) == shown

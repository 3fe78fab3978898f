from experiments.episodes import page
from proverl.core import Call, CallRecord, Episode, ErrorCode, GroundTruth, MalformedCall, Result, Step, Task, TaskKind

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

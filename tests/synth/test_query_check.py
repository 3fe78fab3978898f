"""What a model may write as a user's turn, and what it is told for it."""

from dataclasses import replace

import pytest
from banking_scenes import (
    FIRST,
    MINIMAL,
    MISSING,
    NEW,
    SECOND,
    THIRD,
    Argument,
    Ask,
    account,
    refused_transfer,
    scene,
    step,
    to_the_new_one,
    transfer,
)

from proverl.core import Call, Result
from proverl.synth.scene import Attempt, MalformedReply
from proverl.synth.teachers.briefing import assistant_messages, query_messages
from proverl.synth.teachers.query_check import checked_query

GOOD = f"Please move 250 from {FIRST} to {SECOND}."


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"<think>The user wants {NEW}.</think>\n\n{GOOD}",
        f"thinking without an opening mark</think>{GOOD}",
        f'"{GOOD}"',
        f"User: {GOOD}",
        f"  {GOOD}\n",
    ],
)
def test_the_query_is_found_in_the_reply(reply):
    assert checked_query(reply, scene()) == GOOD


def test_quotes_inside_a_query_stay():
    text = f'Move 250 from {FIRST} to {SECOND} with the memo "Rent for März".'
    assert checked_query(text, scene()) == text


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "it is empty"),
        ("<think>I never come to an end", "it is empty"),
        (GOOD + " please" * 200, "characters, and a message has at most 1200"),
        (f"```\n{GOOD}\n```", "as no person writes"),
        ('{"query": "Move it"}', "as no person writes"),
        (f"<tool_call>{GOOD}", "as no person writes"),
        ("transfer(amount=250)", "as no person writes"),
        (f"Use transfer_funds: {GOOD}", "it names the tool transfer_funds"),
        (f"Use open_account: {GOOD}", "it names the tool open_account"),
        (f"请把250从{FIRST}转到{SECOND}，谢谢您的帮助", "it is not in English"),
        (f"{GOOD} And close ACC-12345.", "it names ACC-12345, which is neither in the brief nor was said before"),
        (f"Please move 250 out of {FIRST}.", f"it does not say {SECOND}"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(reply, reason):
    with pytest.raises(MalformedReply, match=reason):
        checked_query(reply, scene())


def test_an_entity_of_the_context_may_be_named():
    others = [record["account_id"] for record in scene().context["banking.Account"]]
    checked_query(f"{GOOD} Not from {others[-1]}.", scene())


def test_what_only_a_result_knows_is_never_quoted_unless_the_user_said_it():
    asks = [Ask((step("open_account"),)), Ask((to_the_new_one(),))]
    told = [{"role": "user", "content": "Open an account."}, {"role": "assistant", "content": f"Opened {NEW}."}]
    later = scene(*asks, turn=1, messages=told)
    assert checked_query(f"Move 250 from {FIRST} to that account.", later)
    with pytest.raises(MalformedReply, match=f"it quotes '{NEW}', which only the assistant has seen"):
        checked_query(f"Move 250 from {FIRST} to {NEW}.", later)
    told[0]["content"] = f"Open an account, {NEW} if you can."
    assert checked_query(f"Move 250 from {FIRST} to {NEW}.", scene(*asks, turn=1, messages=told))


def test_ids_in_the_results_of_this_conversation_are_no_source():
    later = scene()
    later.attempts.append(Attempt(Call("list_accounts", {}), Result({"transaction_id": "TXN-77777"}), 0))
    with pytest.raises(MalformedReply, match="names TXN-77777"):
        checked_query(f"{GOOD} And look at TXN-77777.", later)


def test_a_secret_must_be_told_as_it_is():
    asked = scene(Ask((step("unfreeze_card", pin=Argument("4821")),)))
    with pytest.raises(MalformedReply, match="it does not say 4821"):
        checked_query("Unfreeze my card with my code.", asked)
    assert checked_query("Unfreeze my card, the code is 4821.", asked)


def test_a_vague_turn_keeps_back_what_it_is_to_keep_back():
    asked = scene(Ask(vague=MISSING), Ask((transfer(),)))
    assert checked_query(f"Move 250 out of {FIRST}.", asked)
    with pytest.raises(MalformedReply, match=f"it tells '{SECOND}', which is to be left out"):
        checked_query(GOOD, asked)
    minimal = scene(Ask(vague=MINIMAL), Ask((transfer(),)))
    assert checked_query("I want to move some money.", minimal)
    with pytest.raises(MalformedReply, match="left out"):
        checked_query(f"I want to move money from {FIRST}.", minimal)


def test_the_turn_after_it_tells_what_was_left_out():
    messages = [{"role": "user", "content": f"Move 250 out of {FIRST}."}, {"role": "assistant", "content": "To which?"}]
    asked = scene(Ask(vague=MISSING), Ask((transfer(),)), turn=1, messages=messages)
    assert checked_query(f"To {SECOND}.", asked)
    with pytest.raises(MalformedReply, match=f"it does not say {SECOND}"):
        checked_query("To the other one.", asked)
    (brief,) = [part for part in prompt(asked).split("\n\n") if part.startswith("Answer the assistant")]
    assert SECOND in brief
    assert FIRST not in brief


def prompt(asked, fault=""):
    system, user = query_messages(asked, fault)
    assert (system["role"], user["role"]) == ("system", "user")
    return user["content"]


def test_the_brief_has_persona_date_context_and_what_is_wanted():
    text = prompt(scene())
    for part in ("Persona: chatty", f"{scene().today:%A %Y-%m-%d}", FIRST, SECOND, "250 (free)", "first message"):
        assert part in text
    assert "transfer_funds" not in text
    assert "could not be used" not in text
    assert "could not be used: it is empty." in prompt(scene(), "it is empty")


def test_the_brief_never_shows_what_only_a_result_knows():
    said = [
        {"role": "user", "content": "Open an account."},
        {"role": "assistant", "content": "", "tool_calls": [call()]},
        {"role": "tool", "tool_call_id": "call_0", "name": "open_account", "content": f'{{"account_id":"{NEW}"}}'},
        {"role": "assistant", "content": "It is open."},
    ]
    text = prompt(scene(Ask((step("open_account"),)), Ask((to_the_new_one(),)), turn=1, messages=said))
    assert NEW not in text
    assert 'only the assistant knows it; call it "that account"' in text
    assert "Person: Open an account.\nAssistant: It is open." in text


def test_the_brief_of_a_vague_turn_has_no_word_of_what_is_kept_back():
    text = prompt(scene(Ask(vague=MISSING), Ask((transfer(),)))).partition("Things that exist")[0]
    assert FIRST in text
    assert SECOND not in text
    assert FIRST not in prompt(scene(Ask(vague=MINIMAL), Ask((transfer(),)))).partition("Things that exist")[0]


@pytest.mark.parametrize("kind", ["corrected", "alternative"])
def test_a_refused_request_comes_before_what_is_wanted_instead(kind):
    instead = replace(transfer(from_account_id=account(THIRD)), refused=refused_transfer(kind))
    text = prompt(scene(Ask((instead,)))).partition("Things that exist")[0]
    assert text.index(FIRST) < text.index("should it be impossible") < text.index(THIRD)


def test_a_request_that_is_given_up_and_an_unrelated_question():
    assert SECOND in prompt(scene(Ask(refused=refused_transfer("give_up"))))
    text = prompt(scene(Ask(unrelated="What is 17 times 23?")))
    assert "17 times 23" in text
    assert "Things that exist" not in text


def call():
    function = {"name": "open_account", "arguments": {"name": "Überschuss"}}
    return {"id": "call_0", "type": "function", "function": function}


def test_the_assistant_gets_the_conversation_in_the_shape_of_an_endpoint():
    said = [
        {"role": "user", "content": "Open an account."},
        {"role": "assistant", "content": "", "tool_calls": [call()]},
        {"role": "tool", "tool_call_id": "call_0", "name": "open_account", "content": "{}"},
    ]
    system, *rest = assistant_messages(scene(messages=said), "it is empty")
    assert system["content"].startswith("Act for the user with these tools.\n- ")
    assert "could not be used: it is empty." in system["content"]
    assert rest[1]["tool_calls"][0]["function"]["arguments"] == '{"name": "Überschuss"}'
    assert rest[2] == {"role": "tool", "tool_call_id": "call_0", "content": "{}"}
    assert said[1]["tool_calls"][0]["function"]["arguments"] == {"name": "Überschuss"}  # the scene's stay as they are

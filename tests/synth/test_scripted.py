"""What the scripted teacher writes reads as one person's English."""

import asyncio
import re
from dataclasses import replace
from random import Random

import pytest
from banking_scenes import FIRST, Argument, Ask, account, scene, step, transfer, vague

from proverl.envs import load_server
from proverl.synth.chains.chain import ChainStep
from proverl.synth.scene import Information
from proverl.synth.teachers.scripted import ScriptedTeacher
from proverl.synth.teachers.unrelated import opened, unrelated


def written(*asks, turn=0, messages=(), number=0, persona="direct"):
    said = replace(scene(*asks, turn=turn, messages=messages, number=number), persona=persona)
    return asyncio.run(ScriptedTeacher().query(said))


def phrased(phrase, server="banking", name="transfer_funds", **arguments):
    return ChainStep(load_server(server).functions[name].tool, phrase, arguments, {})


MOVE = phrased("move {amount} from {from_account_id}, memo {memo}", **transfer().arguments, memo=Argument("Rent March"))
LIST = phrased("list the cards of {account_id}", name="list_cards", account_id=account(FIRST))


@pytest.mark.parametrize(
    ("server", "name", "phrase", "arguments", "text"),
    [
        (
            "shopping",
            "add_address",
            "add the address {street}, {town}",
            {"street": "Kerkstraat 7", "town": "9000 Ghent"},
            'add the address "Kerkstraat 7, 9000 Ghent"',
        ),
        ("retail_chain", "adjust_stock", "take {units} units off", {"units": 1}, "take 1 unit off"),
        ("retail_chain", "adjust_stock", "take {units} units off", {"units": 11}, "take 11 units off"),
        (
            "calendar",
            "reschedule_event",
            "move it to {start}",
            {"start": Argument("2026-03-25T12:00", words="in two weeks at 12:00")},
            "move it to two weeks from today at 12:00",
        ),
        (
            "calendar",
            "reschedule_event",
            "move it to start at {start}",
            {"start": Argument("2026-03-25T12:00", words="Wednesday next week at 12:00")},
            "move it to start on Wednesday next week at 12:00",
        ),
        (
            "crm",
            "complete_crm_task",
            "record that {task_id} is done",
            {"task_id": Argument("TSK-1", words="that task")},
            "record that this task is done",
        ),
    ],
)
def test_values_fit_the_words_around_them(server, name, phrase, arguments, text):
    arguments = {key: item if isinstance(item, Argument) else Argument(item) for key, item in arguments.items()}
    assert text in written(Ask((phrased(phrase, server, name, **arguments),))).replace(text.capitalize(), text)


def test_no_sentence_of_a_turn_begins_like_another_and_none_runs_on():
    for number in range(200):
        text = written(Ask((LIST, MOVE, LIST, MOVE, LIST)), number=number, turn=0)
        starts = re.findall(r"(?:^|[.?!] )(Then|After that|Next|Once that's done|And|Also|Finally)\b(?! finally)", text)
        assert len(set(starts)) >= len(starts) - ("and that's it" in text), text
        assert 'March" and then' not in text


def test_the_last_thing_is_one_thing():
    asks = (Ask((LIST,)), Ask((LIST, MOVE)))
    assert not any("last thing" in written(*asks, turn=1, number=number) for number in range(300))
    asks = (Ask((MOVE,)), Ask((LIST,)))
    assert any("last thing" in written(*asks, turn=1, number=number) for number in range(300))


def test_a_turn_is_not_framed_like_an_earlier_one():
    told = [{"role": "user", "content": "I've got two minutes. Show me my accounts."}]
    asks = (Ask((MOVE,)), Ask((LIST,)))
    for number in range(300):
        assert "two minutes" not in written(*asks, turn=1, messages=told, number=number, persona="busy")


def test_a_frame_does_not_repeat_a_word_of_the_request():
    lock = phrased("lock {card_id} for now", name="freeze_card", card_id=Argument("CRD-1"))
    texts = [written(Ask((LIST,)), Ask((lock,)), turn=1, number=number) for number in range(300)]
    assert not any(re.search(r"\bnow\b.*\bnow\b", text, re.IGNORECASE) for text in texts)


@pytest.mark.parametrize(("withheld", "never"), [("new_pin", r"\bpin\b"), ("to_account_id", r"[Tt]he to account")])
def test_what_was_left_out_is_called_as_people_call_it(withheld, never):
    held = replace(vague(Information.MISSING, withheld), step=step("change_card_pin", new_pin=Argument("4821")))
    held = held if withheld == "new_pin" else vague(Information.MISSING, withheld)
    for number in range(60):
        assert not re.search(never, written(Ask(vague=held), Ask((held.step,)), turn=1, number=number))


def test_an_unrelated_question_has_the_right_article():
    assert not any(re.search(r"\ba [aeio]|\ban [^aeiou]", unrelated(Random(number))) for number in range(3_000))


def test_only_a_later_question_turns_away_from_what_was_spoken_of():
    first = {opened("Who wrote Dracula?", True, Random(number)) for number in range(200)}
    later = {opened("Who wrote Dracula?", False, Random(number)) for number in range(200)}
    assert {"Who wrote Dracula?", "Quick question. Who wrote Dracula?"} <= first
    assert later - first == {
        "Something else. Who wrote Dracula?",
        "By the way. Who wrote Dracula?",
        "One thing before I forget. Who wrote Dracula?",
    }
    assert opened("Tell me a joke.", True, Random(0)) == "Tell me a joke."


def test_no_turn_closes_like_an_earlier_one():
    told = [{"role": "user", "content": "Show me my accounts. ASAP."}]
    texts = [written(Ask((MOVE,)), Ask((LIST,)), turn=1, messages=told, number=n, persona="curt") for n in range(300)]
    assert not any(text.endswith("ASAP.") for text in texts)
    assert any(text.endswith("Be quick.") for text in texts)


@pytest.mark.parametrize(
    ("cards", "turn", "path", "words", "said"),
    [
        (1, 0, "cards.0.card_id", "that card", "the first card"),
        (2, 0, "cards.0.card_id", "that card", "that card"),  # one of them was spoken of
        (1, 1, "cards.0.card_id", "that card", "that card"),  # the user has seen the list
        (1, 0, "cards.0.account_id", "that account", "that account"),  # what the item names
        (1, 0, "card_orders.0.card_id", "that card", "that card"),
        (1, 0, "card_orders.0.card_id", "that card order", "the first card order"),
    ],
)
def test_who_has_not_seen_a_list_does_not_know_that_it_holds_one(cards, turn, path, words, said):
    listed = replace(LIST, content={path.partition(".")[0]: [{"card_id": "CRD-1", "account_id": FIRST}] * cards})
    lock = phrased("lock {card_id}", name="freeze_card", card_id=Argument("CRD-1", (0, path), words=words))
    asks = (Ask((listed,)), Ask((lock,))) if turn else (Ask((listed, lock)),)
    assert f"lock {said}" in written(*asks, turn=turn).replace("Lock", "lock")

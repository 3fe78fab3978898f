"""The state machine: every transition happens, and what happened is in the scene."""

import asyncio
from datetime import date
from random import Random

import pytest

from proverl.agent import Reply
from proverl.core import Call, ErrorCode
from proverl.envs import Session, load_server
from proverl.synth.conversation import TRANSITIONS, Conversation, Event, State
from proverl.synth.reasons import Reason, Unproven
from proverl.synth.scene import Ask, Information, MalformedReply, Scene, Vague

GOOD = Call("find_customers", {})
OTHER = Call("list_accounts", {"customer_id": "CUS-00000"})
BAD = Call("get_account", {"account_id": "ACC-00000"})
WORSE = Call("get_account", {"account_id": "ACC-00001"})
QUERY, TURN, EXECUTION, RECOVERY, RESPONSE, CONTINUATION = list(State)[:6]


class Puppet:
    """A teacher that says and does what it is given; None is a malformed reply."""

    name = "puppet"

    def __init__(self, queries, replies):
        self.queries, self.replies = list(queries), list(replies)

    async def query(self, scene):
        return self._next(self.queries)

    async def act(self, scene):
        reply = self._next(self.replies)
        return Reply(reply) if isinstance(reply, str) else Reply("", tuple(reply))

    def _next(self, given):
        item = given.pop(0)
        if item is None:
            raise MalformedReply("gibberish")
        return item


def play(queries, replies, asks=None):
    tools = load_server("banking").tools
    scene = Scene("banking", 1, "plain", date(2026, 1, 5), "", asks or [Ask()] * len(queries), tools, Random(0))
    with Session(["banking"], 1) as session:
        conversation = Conversation(scene, session, Puppet(queries, replies))
        try:
            asyncio.run(conversation.run())
        except Unproven as error:
            assert error.reason == Reason.TEACHER
            return scene, conversation.path, str(error)
    return scene, conversation.path, ""


VAGUE = Vague(None, "freeze a card", Information.MINIMAL)
STORIES = {
    "one call, then text": (["Who?"], [[GOOD], "Here."], None),
    "a follow-up": (["Who?", "Thanks!"], [[GOOD], "Here.", "Bye."], None),
    "a clarification": (["Freeze a card.", "CRD-1."], ["Which one?", [BAD], "Sorry."], [Ask(vague=VAGUE), Ask()]),
    "malformed once": ([None, "Who?"], [None, [GOOD], "Here."], [Ask()]),
    "a query never comes": ([None] * 9, [], [Ask()]),
    "a reply never comes": (["Who?"], [None] * 9, [Ask()]),
    "corrected": (["Balance?"], [[BAD], [WORSE], "Sorry."], None),
    "another tool": (["Balance?"], [[BAD], [GOOD], "Here."], None),
    "given up": (["Balance?"], [[BAD], "That account is not there."], None),
    "partly": (["Both?"], [[GOOD, BAD], "Half of it."], None),
    "malformed after a refusal": (["Balance?"], [[BAD], None, "Sorry."], None),
    "nothing usable after a refusal": (["Balance?"], [[BAD], *[None] * 9], None),
    "too many calls": (["Who?"], [[GOOD] * 30], None),
}


def test_every_transition_of_the_table_happens_and_no_other():
    seen = set()
    for queries, replies, asks in STORIES.values():
        seen |= set(play(queries, replies, asks)[1])
    assert seen == set(TRANSITIONS)


@pytest.mark.parametrize(
    ("story", "path"),
    [
        ("one call, then text", "written calls success text answered end"),
        ("a follow-up", "written calls success text answered follow_up written text answered end"),
        ("corrected", "written calls failure corrected failure give_up answered end"),
        ("another tool", "written calls failure alternative success text answered end"),
        ("partly", "written calls partial_success give_up answered end"),
    ],
)
def test_a_story_takes_its_way(story, path):
    assert [event for _, event in play(*STORIES[story])[1]] == path.split()


def test_a_vague_request_is_followed_by_a_clarification():
    path = play(*STORIES["a clarification"])[1]
    assert (CONTINUATION, Event.CLARIFICATION) in path
    assert (CONTINUATION, Event.FOLLOW_UP) not in path


def test_a_teacher_that_gives_nothing_usable_drops_the_row_and_says_why():
    for story in ("a query never comes", "a reply never comes", "nothing usable after a refusal"):
        assert "gibberish" in play(*STORIES[story])[2]
    assert "more than 24 calls" in play(*STORIES["too many calls"])[2]


def test_the_scene_keeps_every_message_and_every_result():
    scene, _, _ = play(*STORIES["partly"])
    assert [message["role"] for message in scene.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [attempt.result.code for attempt in scene.attempts] == [None, ErrorCode.NOT_FOUND]
    asked = scene.messages[1]["tool_calls"]
    assert [call["id"] for call in asked] == [scene.messages[2]["tool_call_id"], scene.messages[3]["tool_call_id"]]
    assert len({call["id"] for call in asked}) == 2


def test_every_state_that_goes_on_has_a_way_out():
    for state in State:
        ways = {event for where, event in TRANSITIONS if where == state}
        assert bool(ways) == (state not in (State.DONE, State.DROPPED))

"""The episode loop: order, limits, errors."""

import asyncio

import pytest

from proverl.agent import Limits, Reply, ScriptedChat, run_episode
from proverl.core import Call, ErrorCode, MalformedCall, Result, StopReason

LIST = Call("list_accounts", {})
OPEN = Call("open_account", {"kind": "savings"})


def roles(episode):
    return [message["role"] for message in episode.messages]


async def test_parallel_calls_run_in_order_and_follow_up_turns_are_sent(task, environment):
    chat = ScriptedChat([[LIST, OPEN], "Opened.", "Done."])
    episode = await run_episode(task, environment, chat, Limits())
    assert episode.stop == StopReason.COMPLETED
    assert [call.name for call in environment.ran] == ["list_accounts", "open_account"]
    assert roles(episode) == ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert [message["content"] for message in episode.messages if message["role"] == "user"] == list(task.turns)
    asked = episode.messages[2]["tool_calls"]
    assert [message["tool_call_id"] for message in episode.messages[3:5]] == [call["id"] for call in asked]
    assert asked[1]["function"] == {"name": "open_account", "arguments": {"kind": "savings"}}
    assert [(record.turn, record.message) for record in episode.calls] == [(0, 2), (0, 2)]
    assert episode.digest == "after 2"
    assert set(episode.seconds) == {"generate", "environment", "environment_processor"}
    assert chat.heard == [message for message in episode.messages if message["role"] != "assistant"]


async def test_every_call_of_an_episode_has_its_own_id(task, environment):
    same = Call("list_accounts", {}, "call_0")
    await run_episode(task, environment, ScriptedChat([[same, same], [same]]), Limits())
    assert len({call.id for call in environment.ran}) == 3


async def test_turns_of_calls_are_recorded(task, environment):
    episode = await run_episode(task, environment, ScriptedChat(["Which?", [LIST], "Done."]), Limits())
    assert [(record.turn, record.message) for record in episode.calls] == [(1, 4)]


async def test_without_a_system_text_there_is_no_system_message(task, environment):
    object.__setattr__(task, "system", "")
    assert roles(await run_episode(task, environment, ScriptedChat(), Limits()))[0] == "user"


async def test_a_malformed_call_is_answered_and_the_policy_may_recover(task, environment):
    broken = MalformedCall("<|call|>x", "a call must be a tool name")
    episode = await run_episode(task, environment, ScriptedChat([[broken, LIST], "Done."]), Limits())
    assert episode.stop == StopReason.COMPLETED
    first, second = episode.calls
    assert first.call == broken
    assert first.result.code == ErrorCode.INVALID_ARGUMENTS
    assert "could not be read: a call must be a tool name" in episode.messages[3]["content"]
    assert second.result.ok


async def test_only_offered_tools_run(task, environment):
    calls = [Call("open_acount", {}), Call("zzz", {})]
    episode = await run_episode(task, environment, ScriptedChat([calls]), Limits())
    assert not environment.ran
    assert [record.result.code for record in episode.calls] == [ErrorCode.UNKNOWN_TOOL] * 2
    assert "did you mean open_account" in episode.calls[0].result.message
    assert "the tools are list_accounts, open_account, transfer_money" in episode.calls[1].result.message


async def test_other_tools_may_be_allowed_than_the_task_offers(task, environment, tools):
    await run_episode(task, environment, ScriptedChat([[LIST, OPEN]]), Limits(), tools=tools[:1])
    assert [call.name for call in environment.ran] == ["list_accounts"]


async def test_long_results_are_cut_visibly(task, environment):
    environment.answer = lambda call: Result({"text": "x" * 4000})
    episode = await run_episode(task, environment, ScriptedChat([[LIST]]), Limits(tool_output_tokens=100))
    shown = episode.messages[3]["content"]
    assert shown.endswith("x... [cut: 903 of 1003 tokens not shown]")
    assert len(shown) < 450
    assert len(episode.calls[0].result.text()) > 4000


@pytest.mark.parametrize(
    ("limits", "stop", "calls", "last"),
    [
        (Limits(calls=3), StopReason.CALLS, 3, "tool"),
        (Limits(assistant_turns=2), StopReason.ASSISTANT_TURNS, 4, "tool"),
        (Limits(user_turns=2), StopReason.USER_TURNS, 6, "tool"),
        (Limits(user_turns=99, assistant_turns=99, calls=6), StopReason.COMPLETED, 6, "assistant"),
    ],
)
async def test_each_limit_has_its_stop_reason(task, environment, limits, stop, calls, last):
    chat = ScriptedChat([[LIST, OPEN]] * 3 + ["Done.", "Done."])
    episode = await run_episode(task, environment, chat, limits)
    assert episode.stop == stop
    assert len(episode.calls) == calls
    assert roles(episode)[-1] == last


async def test_turn_limits_stop_follow_up_turns_too(task, environment):
    for limits, stop in [
        (Limits(user_turns=1), StopReason.COMPLETED),
        (Limits(assistant_turns=1), StopReason.ASSISTANT_TURNS),
    ]:
        assert (await run_episode(task, environment, ScriptedChat(["Hi.", "Bye."]), limits)).stop == stop


async def test_a_cut_reply_ends_the_episode_after_its_whole_calls(task, environment):
    cut = Reply("I will", (LIST, MalformedCall("<|call|>op", "not closed")), "length")
    episode = await run_episode(task, environment, ScriptedChat([cut, "more"]), Limits())
    assert episode.stop == StopReason.TOKENS
    assert len(environment.ran) == 1
    assert len(episode.calls) == 2
    silent = await run_episode(task, environment, ScriptedChat([Reply("I wi", (), "length")]), Limits())
    assert silent.stop == StopReason.TOKENS


async def test_a_slow_call_is_an_error_the_policy_sees(task, environment):
    environment.seconds = 5
    episode = await run_episode(task, environment, ScriptedChat([[LIST], "Sorry."]), Limits(call_seconds=0.01))
    assert episode.stop == StopReason.COMPLETED
    assert episode.calls[0].result.code == ErrorCode.TIMEOUT
    assert "list_accounts took longer than 0.01 seconds" in episode.messages[3]["content"]


async def test_a_slow_episode_stops(task, environment):
    environment.seconds = 5
    limits = Limits(episode_seconds=0.02)
    episode = await run_episode(task, environment, ScriptedChat([[LIST]]), limits)
    assert (episode.stop, episode.error) == (StopReason.TIME, "")
    assert episode.digest == "after 0"


async def test_a_crashing_environment_ends_the_episode_with_its_error(task, environment):
    def fail(call):
        raise ConnectionError("the server is gone")

    environment.answer = fail
    episode = await run_episode(task, environment, ScriptedChat([[LIST, OPEN]]), Limits())
    assert (episode.stop, episode.error) == (StopReason.CRASHED, "ConnectionError: the server is gone")
    assert [record.result.code for record in episode.calls] == [ErrorCode.CRASHED]


async def test_a_time_out_of_the_environment_itself_is_a_crash(task, environment):
    def fail(call):
        raise TimeoutError("no answer")

    environment.answer = fail
    episode = await run_episode(task, environment, ScriptedChat([[LIST]]), Limits())
    assert (episode.stop, episode.error) == (StopReason.CRASHED, "TimeoutError: no answer")


async def test_a_crashing_policy_or_digest_is_recorded(task, environment):
    class Broken(ScriptedChat):
        async def reply(self):
            raise RuntimeError("no weights")

    episode = await run_episode(task, environment, Broken(), Limits())
    assert (episode.stop, episode.error) == (StopReason.CRASHED, "RuntimeError: no weights")
    environment.state_digest = lambda: 1 / 0
    episode = await run_episode(task, environment, ScriptedChat(), Limits())
    assert (episode.stop, episode.error) == (StopReason.CRASHED, "ZeroDivisionError: division by zero")


async def test_cancelling_is_not_swallowed(task, environment):
    environment.seconds = 5
    running = asyncio.create_task(run_episode(task, environment, ScriptedChat([[LIST]]), Limits()))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize(
    ("name", "value"), [("calls", 0), ("user_turns", -1), ("reply_tokens", -1), ("call_seconds", 0), ("calls", True)]
)
def test_limits_name_the_field_that_is_wrong(name, value):
    with pytest.raises(ValueError, match=f"limits.{name} is {value}; it must be"):
        Limits(**{name: value})


def test_a_count_must_be_whole():
    with pytest.raises(ValueError, match="limits.calls is 2.5"):
        Limits(calls=2.5)


def test_limits_accept_their_least_values():
    Limits(user_turns=1, assistant_turns=1, calls=1, reply_tokens=0, call_seconds=0.5)

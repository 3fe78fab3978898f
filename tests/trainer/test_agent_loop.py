"""Our agent loop inside verl's: sessions, tokens, seeds, scores and failures, over a scripted rollout server."""

import asyncio
import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from proverl.agent import Limits
from proverl.core import Step, task_to_json

pytestmark = pytest.mark.verl  # the module under test imports verl

LIMITS = {"prompt_tokens": 512, "response_tokens": 400, "reply_tokens": 60}


class Server:
    """Answers with given texts, one after the other; remembers what it was asked."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts, self.asked = tokenizer, list(texts), []

    async def generate(self, request_id, *, prompt_ids, sampling_params):
        self.asked.append((request_id, prompt_ids, sampling_params))
        await asyncio.sleep(0)
        text = self.texts.pop(0)
        if isinstance(text, Exception):
            raise text
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        extra = {"global_steps": 6}
        return SimpleNamespace(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields=extra, stop_reason="completed")


@pytest.fixture(scope="module")
def tokenizer(start_model):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(start_model)


def run(verl, tokenizer, task, server, seed=0, step=7, rollout=0, reward=None, truncated="scored", **limits):
    from proverl.trainer.agent_loop import EpisodeLoop

    loop = EpisodeLoop(
        SimpleNamespace(config=None),
        server,
        tokenizer,
        format="tiny",
        limits=json.dumps(LIMITS | limits),
        reward=json.dumps(reward or {}),
        seed=seed,
        truncated=truncated,
    )
    row = {"extra_info": {"task": task_to_json(task), "index": 3}, "global_steps": step, "session_id": rollout}
    return asyncio.run(loop.run({"temperature": 1.0, "top_p": 1.0}, **row))


CALL = "<|call|>list_notes{}<|/call|><|end|>"


def test_a_rollout_is_scored_on_live_calls(verl, tokenizer, task_of):
    task = task_of(1, Step("list_notes", {}), turns=("My notes?", "Thanks!"))
    server = Server(tokenizer, CALL, "Two notes.<|end|>", "You are welcome.<|end|>")
    output = run(verl, tokenizer, task, server)
    info = output.extra_fields["reward_extra_info"]
    assert output.reward_score == info["reward/total"] == pytest.approx(0.5 + 0.5 + 0.2 + 0.1)
    assert (info["episode/calls"], info["episode/tool_errors"], info["stop/completed"]) == (1, 0, 1)
    shown = tokenizer.decode(output.response_ids)
    assert "NOTE-10000" in shown and "Thanks!" in shown


def test_trained_tokens_are_the_sampled_ones(verl, tokenizer, task_of):
    task = task_of(1, Step("list_notes", {}))
    server = Server(tokenizer, CALL, "Two notes.<|end|>")
    output = run(verl, tokenizer, task, server)
    sampled = [id for id, mine in zip(output.response_ids, output.response_mask, strict=True) if mine]
    assert sampled == [id for text in (CALL, "Two notes.<|end|>") for id in tokenizer.encode(text)]
    log_probs = dict.fromkeys((0, 1))
    for mine in log_probs:
        pairs = zip(output.response_logprobs, output.response_mask, strict=True)
        log_probs[mine] = {value for value, mask in pairs if mask == mine}
    assert log_probs == {0: {0.0}, 1: {-0.5}}
    second = server.asked[1][1]  # what the server saw at the second reply is the prefix of what is trained
    assert second == (output.prompt_ids + output.response_ids)[: len(second)]


def test_the_episode_comes_along_for_keeping(verl, tokenizer, task_of):
    task = task_of(1, Step("list_notes", {}))
    output = run(verl, tokenizer, task, Server(tokenizer, CALL, "Two notes.<|end|>"), rollout=2)
    kept = output.extra_fields["rollout"]
    assert (kept["group"], kept["rollout"], kept["task"], kept["stop"]) == (3, 2, "task-1", "completed")
    assert [call["name"] for call in kept["calls"]] == ["list_notes"]
    tokens = (kept["prompt_tokens"], kept["response_tokens"], kept["sampled_tokens"])
    assert tokens == (len(output.prompt_ids), len(output.response_ids), sum(output.response_mask))


def test_every_row_logs_the_same_keys(verl, tokenizer, task_of):
    calls = run(verl, tokenizer, task_of(1, Step("list_notes", {})), Server(tokenizer, CALL, "Ok.<|end|>"))
    silent = run(verl, tokenizer, task_of(), Server(tokenizer, "Nothing to do.<|end|>"))
    assert calls.extra_fields["reward_extra_info"].keys() == silent.extra_fields["reward_extra_info"].keys()
    assert all(isinstance(value, float) for value in silent.extra_fields["reward_extra_info"].values())


def test_abstention_is_scored_by_the_reply(verl, tokenizer, task_of):
    said = run(verl, tokenizer, task_of(), Server(tokenizer, "I cannot.<|end|>"))
    called = run(verl, tokenizer, task_of(), Server(tokenizer, CALL, "Done.<|end|>"))
    assert (said.reward_score, called.reward_score) == (1.0, 0.0)


def test_the_reward_config_is_used(verl, tokenizer, task_of):
    task = task_of(1, Step("list_notes", {}))
    output = run(verl, tokenizer, task, Server(tokenizer, CALL, "Ok.<|end|>"), reward={"name": 0.0})
    assert output.reward_score == pytest.approx(1.1)


def test_seeds_follow_run_step_row_rollout_and_reply(verl, tokenizer, task_of):
    def seeds(**changes):
        server = Server(tokenizer, CALL, "Ok.<|end|>")
        run(verl, tokenizer, task_of(1, Step("list_notes", {})), server, **changes)
        return [parameters["seed"] for _, _, parameters in server.asked]

    first = seeds()
    assert first == seeds() and len(set(first)) == 2
    for changes in ({"seed": 1}, {"step": 8}, {"rollout": 1}):
        assert not set(first) & set(seeds(**changes))
    assert all(0 <= seed < 2**31 for seed in first)


def test_the_server_is_told_what_ends_a_reply(verl, tokenizer, task_of):
    server = Server(tokenizer, "Ok.<|end|>")
    run(verl, tokenizer, task_of(), server)
    assert [parameters["stop_token_ids"] for _, _, parameters in server.asked] == [tokenizer.encode("<|end|>")]


def test_a_reply_that_was_cut_ends_the_episode(verl, tokenizer, task_of):
    output = run(verl, tokenizer, task_of(), Server(tokenizer, "It goes on and"))
    assert output.extra_fields["reward_extra_info"]["stop/tokens"] == 1


def test_a_failing_rollout_is_tried_again_on_a_fresh_session_then_given_up(verl, tokenizer, task_of):
    from proverl.trainer.agent_loop import RolloutFailed

    task = task_of(1, Step("list_notes", {}))
    again = run(verl, tokenizer, task, Server(tokenizer, RuntimeError("lost"), CALL, "Ok.<|end|>"))
    assert again.reward_score == pytest.approx(1.3)
    with pytest.raises(RolloutFailed, match="task-1 failed 2 times.*lost"):
        run(verl, tokenizer, task, Server(tokenizer, RuntimeError("lost"), RuntimeError("lost")))


@pytest.mark.parametrize("texts", [(CALL, "Ok.<|end|>"), (RuntimeError("lost"), RuntimeError("lost"))])
def test_sessions_are_always_closed(verl, tokenizer, task_of, monkeypatch, texts):
    from proverl.trainer import agent_loop

    opened = []

    class Watched(agent_loop.Session):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            opened.append(self)

    monkeypatch.setattr(agent_loop, "Session", Watched)
    try:
        run(verl, tokenizer, task_of(1, Step("list_notes", {})), Server(tokenizer, *texts))
    except agent_loop.RolloutFailed:
        assert len(opened) == 2
    assert opened and all(session._closed for session in opened)


def test_what_the_server_may_sample_is_bounded(verl, tokenizer, task_of):
    server = Server(tokenizer, "Ok.<|end|>")
    run(verl, tokenizer, task_of(), server)
    ((_, _, parameters),) = server.asked
    assert parameters["max_tokens"] == Limits(**LIMITS).reply_tokens
    assert parameters["temperature"] == 1.0


@pytest.mark.parametrize(("tool", "told"), [("die", "die has ended its process"), ("hang", "hang .*come back|lost")])
def test_a_tool_that_hangs_or_ends_its_process_costs_its_rollout_and_no_other(verl, tokenizer, task_of, tool, told):
    from proverl.envs import Session
    from proverl.trainer.agent_loop import RolloutFailed

    with Session(["traps"], 0) as session:
        trapped = replace(task_of(1, Step("look", {})), servers=("traps",), tools=session.tools)
    fatal = f"<|call|>{tool}{{}}<|/call|><|end|>"
    started = time.monotonic()
    with pytest.raises(RolloutFailed, match=f"task-1 failed 2 times: .*({told})"):
        run(verl, tokenizer, trapped, Server(tokenizer, fatal, "Ok.<|end|>", fatal, "Ok.<|end|>"), call_seconds=0.5)
    assert time.monotonic() - started < 60
    good = Server(tokenizer, "<|call|>look{}<|/call|><|end|>", "Ok.<|end|>")
    assert run(verl, tokenizer, trapped, good).reward_score == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"user_turns": 1}, "user_turns"),  # the result of the second call is a second round
        ({"assistant_turns": 2}, "assistant_turns"),
        ({"response_tokens": 60}, "tokens"),
        ({}, "completed"),
    ],
)
def test_every_limit_decides_how_an_episode_ends(verl, tokenizer, task_of, limit, reason):
    server = Server(tokenizer, CALL, CALL, "Two notes.<|end|>")
    output = run(verl, tokenizer, task_of(1, Step("list_notes", {})), server, **limit)
    assert output.extra_fields["reward_extra_info"][f"stop/{reason}"] == 1


def test_a_first_prompt_over_the_limit_is_no_rollout(verl, tokenizer, task_of):
    from proverl.trainer.agent_loop import RolloutFailed

    with pytest.raises(RolloutFailed, match="over limits.prompt_tokens"):
        run(verl, tokenizer, task_of(), Server(tokenizer), prompt_tokens=5)


def test_what_becomes_of_a_truncated_rollout_is_a_choice(verl, tokenizer, task_of):
    def cut(truncated, *texts):
        return run(verl, tokenizer, task_of(1, Step("list_notes", {})), Server(tokenizer, *texts), truncated=truncated)

    long = (CALL, "It goes on and")
    scored, masked, penalised = (cut(choice, *long) for choice in ("scored", "masked", "penalised"))
    assert scored.reward_score == masked.reward_score > 0 == penalised.reward_score
    assert penalised.extra_fields["reward_extra_info"]["reward/total"] == 0
    assert sum(scored.response_mask) == sum(penalised.response_mask) > 0 == sum(masked.response_mask)
    assert len(masked.response_mask) == len(masked.response_ids)
    whole = (CALL, "Ok.<|end|>")
    assert (
        cut("masked", *whole).response_mask
        == cut("penalised", *whole).response_mask
        == cut("scored", *whole).response_mask
    )
    assert cut("penalised", *whole).reward_score == cut("scored", *whole).reward_score


def trap(harm):
    return {"_target_": "trap_rewards.Trap", "harm": harm}


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        ("raise", r"reward trap_rewards.Trap failed \(RuntimeError: no such call\)"),
        ("exit", r"reward trap_rewards.Trap failed \(SystemExit: 3\)"),
        ("nan", "reward trap_rewards.Trap returned .*must return .*finite"),
    ],
)
def test_a_rollout_that_an_own_reward_does_not_score_is_given_up_and_the_reason_told(
    verl, tokenizer, task_of, harm, told
):
    from proverl.trainer.agent_loop import RolloutFailed

    server = Server(tokenizer, CALL, "Ok.<|end|>")
    with pytest.raises(RolloutFailed, match=f"rollout 7.3.0 of task task-1 was not scored: {told}"):
        run(verl, tokenizer, task_of(1, Step("list_notes", {})), server, reward=trap(harm))


def test_a_slow_own_reward_holds_up_no_other_episode_and_no_step(verl, tokenizer, task_of):
    import trap_rewards

    from proverl.trainer.agent_loop import RolloutFailed

    task = task_of(1, Step("list_notes", {}))

    class Second(Server):
        async def generate(self, request_id, **parameters):
            if not self.asked:  # the other episode goes on while the first one's reward waits
                asyncio.get_running_loop().call_later(0.2, trap_rewards.go_on.set)
            return await super().generate(request_id, **parameters)

    trap_rewards.go_on.clear()
    server = Second(tokenizer, CALL, "Ok.<|end|>")
    assert run(verl, tokenizer, task, server, reward=trap("wait")).reward_score == 1
    trap_rewards.go_on.clear()
    with pytest.raises(RolloutFailed, match="reward trap_rewards.Trap took longer than 3 seconds"):
        run(verl, tokenizer, task, Server(tokenizer, CALL, "Ok.<|end|>"), reward=trap("wait"), episode_seconds=3)
    trap_rewards.go_on.set()


def test_an_own_reward_gets_copies(verl, tokenizer, task_of, tools):
    from proverl.trainer.agent_loop import _task

    before, task = dict(tools[0].parameters), task_of(1, Step("list_notes", {}))
    for _ in range(2):  # the rollouts of a row share its task
        output = run(
            verl,
            tokenizer,
            task,
            Server(tokenizer, CALL, "Ok.<|end|>"),
            reward=trap("change"),
        )
        assert [call["name"] for call in output.extra_fields["rollout"]["calls"]] == ["list_notes"]
        assert _task(task_to_json(task)) == task
    assert tools[0].parameters == before

"""Episodes as a training step would have kept them, without a model: used by the tests that read them."""

from proverl.agent import Limits
from proverl.core import Call, CallRecord, Episode, ErrorCode, Result, StopReason, Transcript
from proverl.reward import RewardConfig, candidates
from proverl.trainer import ModelConfig, RunPaths, TrainerConfig, rollouts
from proverl.trainer.train import prepare

PROVE = RewardConfig()


def called(*calls, ok=True):
    result = Result({"id": "NOTE-1"}) if ok else Result(code=ErrorCode.REJECTED, message="the notebook is full")
    return [CallRecord(Call(name, arguments, f"call_{at}"), result, 0, 2) for at, (name, arguments) in enumerate(calls)]


def episode(task, calls, text="Done.", stop=StopReason.COMPLETED):
    asked = [{"id": record.call.id, "type": "function", "function": {"name": record.call.name}} for record in calls]
    messages = [
        {"role": "system", "content": task.system},
        {"role": "user", "content": task.turns[0]},
        {"role": "assistant", "content": "", "tool_calls": asked},
        *({"role": "tool", "tool_call_id": record.call.id, "content": record.result.text()} for record in calls),
        {"role": "assistant", "content": text},
    ]
    return Episode(task.id, messages, list(calls), stop, Transcript([1, 2, 3], [4, 5, 6], [1, 0, 1], [0.0] * 3))


def keep(paths, step, group, task, episodes, reward=PROVE, tools=()):
    """Write one group's episodes as a step of their own, with the numbers that the agent loop logs."""
    numbers = []
    for one in episodes:
        parts = reward.score(one.calls, task.ground_truth, candidates(task.tools, tools), replied=one.replied)
        numbers.append({f"reward/{name}": value for name, value in parts.as_dict().items()} | {"stop/completed": 1.0})
    packed = [rollouts.packed(task, group, number, one) for number, one in enumerate(episodes)]
    rollouts.write(paths.rollouts, step, packed, numbers)


def stage(folder, tasks, reward=PROVE, **trainer):
    """A GRPO stage's folder as it is when training begins; row `n` is a task of `tasks`, in an order of its own."""
    paths = RunPaths(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config = TrainerConfig(steps=len(tasks), prompts=1, rollouts=2, **trainer)
    prepare(tasks, paths, config, ModelConfig(path=str(folder)), Limits(), reward, 0)
    return paths

"""A sample of the training episodes as MLflow traces: a trace is one conversation, its spans are the calls."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from proverl.core import CallRecord, MalformedCall, StopReason
from proverl.trainer.rollouts import Rollout, read, steps


def sample(folder: Path, step: int, count: int) -> Iterator[Rollout]:
    """Draw some of a step's rollouts, the same ones at every call; none when the step's are not kept."""
    if not count or not folder.is_dir() or step not in steps(folder):
        return
    found = read(folder, step)
    yield from Random(f"rollouts:{step}").sample(found, min(count, len(found)))


def log_trace(client: Any, experiment: str, run: str, rollout: Rollout) -> None:
    """Write one episode as a trace of an MLflow run. Raises what the client raises."""
    episode = rollout.episode
    asked = next((at for at, one in enumerate(episode.messages) if one["role"] == "assistant"), len(episode.messages))
    seconds = episode.seconds.get("generate", 0.0) + episode.seconds.get("environment", 0.0)
    root = client.start_trace(
        name=episode.task_id,
        span_type="AGENT",
        inputs={"messages": episode.messages[:asked]},
        attributes={**rollout.numbers, "tokens": rollout.prompt_tokens + rollout.response_tokens},
        tags=_tags(rollout),
        experiment_id=experiment,
        run_id=run,
        start_time_ns=time.time_ns() - int(seconds * 1e9),
    )
    for record in episode.calls:
        _log_call(client, root, record)
    status = "OK" if episode.stop == StopReason.COMPLETED else "ERROR"
    client.end_trace(root.trace_id, outputs={"messages": episode.messages[asked:]}, status=status)


def _tags(rollout: Rollout) -> dict[str, str]:
    place = {name: str(getattr(rollout, name)) for name in ("step", "group", "rollout", "kind")}
    told = {"stop": str(rollout.episode.stop), "reward": f"{rollout.numbers['reward/total']:.3f}"}
    return place | told | {"task": rollout.episode.task_id, "servers": ", ".join(rollout.servers)}


def _log_call(client: Any, root: Any, record: CallRecord) -> None:
    call, result = record.call, record.result
    malformed = isinstance(call, MalformedCall)
    inputs = {"text": call.text, "reason": call.reason} if isinstance(call, MalformedCall) else call.arguments
    name = "malformed_call" if malformed else getattr(call, "name", "")
    span = client.start_span(name, root.trace_id, root.span_id, span_type="TOOL", inputs=inputs)
    returned = {"content": result.content} if result.ok else {"error": str(result.code), "message": result.message}
    client.end_span(root.trace_id, span.span_id, outputs=returned, status="OK" if result.ok else "ERROR")

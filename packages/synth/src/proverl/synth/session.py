"""The sessions that tasks are made and proven on."""

from collections.abc import Sequence

from proverl.envs import Server, Session

_CALL_SECONDS = 60.0  # what a task is must not depend on how busy the machine was that made it


def fresh_session(servers: Sequence[str | Server], seed: int) -> Session:
    """A new session in which only a tool that hangs is ever late."""
    return Session(servers, seed, call_seconds=_CALL_SECONDS)

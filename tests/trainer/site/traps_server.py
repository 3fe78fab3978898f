"""A server whose tools ruin their session: one never comes back, one ends its process."""

import os
import signal
import time
from datetime import datetime
from random import Random

from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.envs import Context, Server


class Base(DeclarativeBase):
    pass


class Trap(Base):
    __tablename__ = "trap"
    id: Mapped[str] = mapped_column(primary_key=True)


class Done(TypedDict):
    done: bool


def start_state(rng: Random, now: datetime) -> dict:
    return {Trap: [{"id": "TRAP-1"}]}


server = Server("traps", "Traps.", Base, start_state)


@server.tool(read_only=True, phrases=["look around"])
def look(ctx: Context) -> Done:
    """Look around."""
    return {"done": True}


@server.tool(phrases=["hang"])
def hang(ctx: Context) -> Done:
    """Hang."""
    time.sleep(600)
    return {"done": True}


@server.tool(phrases=["die"])
def die(ctx: Context) -> Done:
    """Die."""
    os.kill(os.getpid(), signal.SIGKILL)
    return {"done": True}

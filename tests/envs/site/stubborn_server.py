"""A server that is found through its entry point, with tools that do not come back or end their process."""

import os
import re
import time

from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.envs import Context, Server


class Base(DeclarativeBase):
    pass


class Row(Base):
    __tablename__ = "row"
    id_prefix = "ROW"
    id: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class Done(TypedDict):
    id: str


class Rows(TypedDict):
    rows: list[str]


server = Server("stubborn", "Tools that do not stop.", Base, lambda rng, now: {Row: [{"id": "ROW-1", "text": "first"}]})


@server.tool(phrases=["add {text}"])
def add(ctx: Context, text: str) -> Done:
    """Add a row."""
    return {"id": ctx.insert(Row, text=f"{text} at {ctx.timestamp}")["id"]}


@server.tool(read_only=True, phrases=["list"])
def list_rows(ctx: Context) -> Rows:
    """List the rows."""
    return {"rows": [row["text"] for row in ctx.rows(select(Row.__table__).order_by(Row.id))]}


@server.tool(phrases=["name my process"])
def name_process(ctx: Context) -> Done:
    """Return the number of the process, which is another one when the call is repeated."""
    ctx.insert(Row, text="named")
    return {"id": str(os.getpid())}


@server.tool(phrases=["compute"])
def compute(ctx: Context) -> Done:
    """Compute for ever, and let an interruption through."""
    ctx.insert(Row, text="computed")
    while True:
        sum(range(1_000))


@server.tool(phrases=["sleep"])
def sleep(ctx: Context) -> Done:
    """Sleep where no interruption reaches."""
    ctx.insert(Row, text="slept")
    time.sleep(1_000)
    return {"id": ""}


@server.tool(phrases=["doze"])
def doze(ctx: Context) -> Done:
    """Sleep for half a second."""
    time.sleep(0.5)
    return {"id": ctx.insert(Row, text="dozed")["id"]}


@server.tool(phrases=["resist"])
def resist(ctx: Context) -> Done:
    """Catch every interruption."""
    ctx.insert(Row, text="resisted")
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


@server.tool(phrases=["block"])
def block(ctx: Context) -> Done:
    """Keep the whole interpreter waiting, as a regular expression can."""
    ctx.insert(Row, text="blocked")
    re.match(r"(a*)*b", "a" * 40)
    return {"id": ""}


@server.tool(phrases=["leave"])
def leave(ctx: Context) -> Done:
    """End the process."""
    ctx.insert(Row, text="left")
    os._exit(3)


@server.tool(phrases=["print {text}"])
def say(ctx: Context, text: str) -> Done:
    """Print."""
    print(text)
    return {"id": ctx.insert(Row, text=text)["id"]}

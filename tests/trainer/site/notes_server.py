"""A server that is found through its entry point, as one from another distribution is."""

from datetime import datetime
from random import Random
from typing import Annotated

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.envs import Context, Ref, Server


class Base(DeclarativeBase):
    pass


class Note(Base):
    __tablename__ = "note"
    id_prefix = "NOTE"
    id: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


NoteId = Ref("Note")


class NoteView(TypedDict):
    id: NoteId
    text: str


class NoteList(TypedDict):
    notes: list[NoteView]


def start_state(rng: Random, now: datetime) -> dict:
    return {
        Note: [{"id": f"NOTE-{10_000 + n}", "text": rng.choice(["milk", "rent", "bread"])} for n in range(20)],
    }


server = Server("notes", "Short notes.", Base, start_state, nouns={"Note": "note"})


@server.tool(read_only=True, phrases=["list my notes"])
def list_notes(ctx: Context) -> NoteList:
    """List notes."""
    rows = ctx.rows(select(Note.__table__).order_by(Note.id).limit(2))
    return {"notes": [{"id": row["id"], "text": row["text"]} for row in rows]}


@server.tool(phrases=["write down {text}"])
def add_note(
    ctx: Context, text: Annotated[str, Field(description="What to write down", examples=["milk"])]
) -> NoteView:
    """Add a note."""
    row = ctx.insert(Note, text=text)
    return {"id": row["id"], "text": row["text"]}

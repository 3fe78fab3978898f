"""A small server as a third party would write it; the kernel's tests run on it."""

from datetime import datetime
from random import Random
from typing import Annotated

import pytest
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.envs import Context, IsoDate, Money, Ref, Rejected, Server, Text, cents, money


class Base(DeclarativeBase):
    pass


class Note(Base):
    __tablename__ = "note"
    id_prefix = "NOTE"
    id: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    cost: Mapped[int]
    locked: Mapped[bool]
    created: Mapped[str] = mapped_column(info={"audit": True})


NoteId = Ref("Note")


class NoteView(TypedDict):
    id: NoteId
    text: str
    cost: float


class NoteList(TypedDict):
    notes: list[NoteView]


def start_state(rng: Random, now: datetime) -> dict:
    words = ["milk", "rent", "Zürich", "日本", "call Ann"]
    return {
        Note: [
            {
                "id": f"NOTE-{10_000 + number}",
                "text": rng.choice(words),
                "cost": rng.randrange(100, 5_000),
                "locked": number % 5 == 0,
                "created": now.isoformat(),
            }
            for number in range(30)
        ]
    }


def make_server(name: str = "notes") -> Server:
    server = Server(name, "Short notes with a price.", Base, start_state, nouns={"Note": "note"})
    texts = Field(examples=["buy bread", "feed the cat", "water the plants"])

    def view(row: dict) -> NoteView:
        return {"id": row["id"], "text": row["text"], "cost": money(row["cost"])}

    @server.tool(read_only=True, phrases=["list my notes[ with {text}]"])
    def list_notes(ctx: Context, text: Annotated[Text | None, "Only notes with this text", texts] = None) -> NoteList:
        """List notes, by id."""
        statement = select(Note.__table__).order_by(Note.id).limit(5)
        return {
            "notes": [view(row) for row in ctx.rows(statement if text is None else statement.where(Note.text == text))]
        }

    @server.tool(read_only=True, phrases=["show me {note_id}"])
    def get_note(ctx: Context, note_id: Annotated[NoteId, "Note to show"]) -> NoteView:
        """Show one note."""
        return view(ctx.get(Note, note_id, "list_notes shows the ids"))

    @server.tool(phrases=["write down {text} for {cost}[ due {due}]"])
    def add_note(
        ctx: Context,
        text: Annotated[Text, "What to remember", texts],
        cost: Annotated[Money, "Price in euros"],
        due: Annotated[IsoDate | None, "Day it is due"] = None,
    ) -> NoteView:
        """Write a note."""
        return view(ctx.insert(Note, text=text, cost=cents(cost), locked=False, created=ctx.timestamp))

    @server.tool(destructive=True, phrases=["throw {note_id} away"])
    def delete_note(ctx: Context, note_id: Annotated[NoteId, "Note to delete"]) -> NoteView:
        """Delete a note."""
        row = ctx.get(Note, note_id, "list_notes shows the ids")
        ctx.delete(Note, Note.id == note_id)
        if row["locked"]:
            raise Rejected(f"note {note_id} is locked; only unlocked notes can be deleted")
        return view(row)

    @server.tool(phrases=["break {note_id}"])
    def break_note(ctx: Context, note_id: Annotated[NoteId, "Any note"]) -> NoteView:
        """Fail after writing, as a faulty tool would."""
        ctx.update(Note, note_id, text="broken")
        raise ZeroDivisionError("fault of the tool")

    return server


@pytest.fixture(scope="session")
def notes() -> Server:
    return make_server()

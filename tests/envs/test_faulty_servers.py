"""Servers with mistakes: each is refused, or undone, with one sentence that names the place and what would be right."""

import re
from contextlib import suppress
from typing import Annotated, Any

import pytest
from pydantic import Field
from sqlalchemy import JSON, ForeignKey, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.core import ErrorCode
from proverl.envs import Context, Ref, Rejected, Server, Session


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "item"
    id_prefix = "ITM"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str | None]
    open: Mapped[bool | None]
    more = mapped_column(JSON, nullable=True)


class Part(Base):
    __tablename__ = "part"
    id: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(ForeignKey("item.id", deferrable=True, initially="DEFERRED"))


class Other(DeclarativeBase):
    pass


class Stranger(Other):
    __tablename__ = "stranger"
    id: Mapped[str] = mapped_column(primary_key=True)


class Done(TypedDict):
    id: str


class Anything(TypedDict):
    value: Any


FIRST = {"id": "ITM-1", "name": "first", "open": True, "more": {"a": [1]}}
INSERT, UPDATE = insert(Item), update(Item).where(Item.id == bindparam("key"))
TEXT, BY_NAMES = text("SELECT id, name FROM item"), select(Item.id).where(Item.name.in_(bindparam("names")))
RETURNING = insert(Item).values(id=bindparam("id"), more=bindparam("more")).returning(Item.id, Item.more, Item.open)


def server_of(function, **options):
    server = Server("faulty", "Faulty.", Base, lambda rng, now: {Item: [FIRST]})
    function.__doc__ = "Do it."
    server.tool(phrases=["do it"], **options)(function)
    return server


def deferred(ctx: Context) -> Done:
    ctx.insert(Part, id="p", item="gone")
    return {"id": "p"}


def leaves(ctx: Context) -> Done:
    ctx.insert(Item, id="ITM-2")
    raise SystemExit(3)


def wrong_result(ctx: Context) -> Done:
    ctx.insert(Item, id="ITM-2")
    return {"id": ctx.now.date()}


def no_result(ctx: Context) -> Done:
    ctx.insert(Item, id="ITM-2")


def anything(value):
    def returns(ctx: Context) -> Anything:
        ctx.insert(Item, id="ITM-2")
        return {"value": value}

    return returns


def unreadable(ctx: Context) -> Done:
    ctx.insert(Item, id="ITM-2")
    raise Rejected("half a character: \udcff")


def commits_and_fails(ctx: Context) -> Done:
    ctx.insert(Item, id="ITM-2")
    ctx.db.commit()
    raise ValueError("late")


def goes_on_after_an_error(ctx: Context) -> Done:
    with suppress(Exception):
        ctx.db.execute(insert(Item).values(id=bindparam("id")))
    ctx.insert(Item, id="ITM-2")
    raise ValueError("late")


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        (deferred, "deferred failed inside: IntegrityError: FOREIGN KEY constraint failed"),
        (leaves, "leaves failed inside: SystemExit: 3"),
        (wrong_result, "its result is no Done: id: input should be a valid string, got datetime.date("),
        (no_result, "its result is no Done: result: input should be a valid dictionary, got None"),
        (commits_and_fails, "ValueError: late"),
        (goes_on_after_an_error, "ValueError: late"),
    ],
)
def test_a_fault_of_a_tool_is_undone_told_and_the_session_goes_on(tool, message):
    with Session([server_of(tool)], 0) as session:
        before = session.digest()
        for _ in range(3):
            result = session.call(tool.__name__, {})
            assert result.code == ErrorCode.CRASHED
            assert message in result.message
            assert session.digest() == before
            assert session.diff() == {}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "ValueError: Out of range float values are not JSON compliant"),
        ("\udcff", "UnicodeEncodeError"),
        ({1, 2}, "TypeError: Object of type set is not JSON serializable"),
        (b"x", "TypeError: Object of type bytes is not JSON serializable"),
        ("x" * 2**20, "ValueError: it returned 1048588 bytes of JSON, 1048576 are the most"),
    ],
)
def test_a_result_that_is_no_json_or_too_much_of_it_is_undone_and_told(value, message):
    with Session([server_of(anything(value))], 0) as session:
        result = session.call("returns", {})
        assert result.code == ErrorCode.CRASHED
        assert "returns failed inside" in result.message and message in result.message
        assert session.diff() == {}


def test_what_a_refusal_says_can_be_read():
    with Session([server_of(unreadable)], 0) as session:
        assert session.call("unreadable", {}).message == r"half a character: \udcff"


def test_a_tool_that_writes_though_it_only_reads_is_told():
    def peek(ctx: Context) -> Done:
        return {"id": ctx.insert(Item, name="x")["id"]}

    with Session([server_of(peek, read_only=True)], 0) as session:
        assert "leave out read_only=True" in session.call("peek", {}).message
        assert session.diff() == {}


def run_often(tool):
    """The tool's answer in three fresh sessions: a statement runs in another way from its second use on."""
    server = server_of(tool)
    results = []
    for _ in range(3):
        with Session([server], 0) as session:
            results.append((session.call(tool.__name__, {}), session.diff()))
    assert results[0] == results[1] == results[2]
    return results[0][0]


def test_statements_answer_alike_however_often_they_ran():
    def all_of_them(ctx: Context) -> Done:
        ctx.execute(INSERT, id="ITM-2")
        ctx.execute(INSERT, id="ITM-3", name="third", open=False)
        ctx.execute(UPDATE, key="ITM-2", name="second")
        found = [ctx.rows(TEXT), *(ctx.rows(BY_NAMES, names=names) for names in (["first"], [], ["third", "second"]))]
        found += [ctx.rows(RETURNING, id=f"ITM-{n}", more=more) for n, more in enumerate((None, [1], True), 4)]
        return {"id": str(found)}

    assert run_often(all_of_them).content["id"] == (
        "[[{'id': 'ITM-1', 'name': 'first'}, {'id': 'ITM-2', 'name': 'second'}, {'id': 'ITM-3', 'name': 'third'}], "
        "[{'id': 'ITM-1'}], [], [{'id': 'ITM-2'}, {'id': 'ITM-3'}], [{'id': 'ITM-4', 'more': None, 'open': None}], "
        "[{'id': 'ITM-5', 'more': [1], 'open': None}], [{'id': 'ITM-6', 'more': True, 'open': None}]]"
    )


def test_errors_of_statements_are_alike_however_often_they_ran():
    def again(ctx: Context) -> Done:
        try:
            ctx.insert(Item, id="ITM-1")
        except IntegrityError:
            raise Rejected("item ITM-1 is there; choose another id") from None

    def without(ctx: Context) -> Done:
        ctx.rows(BY_NAMES)

    assert run_often(again).code == ErrorCode.REJECTED
    assert "'names'" in run_often(without).message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({Item: [FIRST, FIRST]}, r"item \{'id': 'ITM-1'.*UNIQUE constraint failed: item.id"),
        ({Item: [{"id": "ITM-1"}, {"id": "ITM-2", "name": "x"}]}, r"'item' differ in \['name'\]"),
        ({Item: [{"id": "ITM-1", "nam": "x"}]}, r"'item' has no column \['nam'\]"),
        ({Stranger: [{"id": "x"}]}, "'stranger' is not one of its Base's"),
        ({Part: [{"id": "p", "item": "gone"}]}, "row 1 of 'part' refers to no 'item'"),
    ],
)
def test_a_start_state_that_breaks_a_constraint_names_the_row(rows, message):
    server = Server("faulty", "Faulty.", Base, lambda rng, now: rows)
    with pytest.raises(ValueError, match=f"start state of faulty.*{message}"):
        server.digest(0, Session([server], 0).now)


def test_a_broken_law_is_named():
    server = Server("faulty", "Faulty.", Base, lambda rng, now: {Item: [FIRST]})

    @server.invariant
    def nothing_is_open(ctx: Context) -> None:
        """Every item is closed."""
        assert not ctx.rows(select(Item.__table__))

    with (
        Session([server], 4) as session,
        pytest.raises(AssertionError, match=r"faulty, seed 4, breaks nothing_is_open \(Every item is closed."),
    ):
        session.check_invariants()


def test_two_servers_of_one_name_are_refused():
    one, two = (Server("twin", "Twin.", Base, lambda rng, now: {}) for _ in range(2))
    with pytest.raises(ValueError, match="two servers are named 'twin'"):
        Session([one, two], 0)


def test_optional_and_listed_numbers_have_the_limits_of_plain_ones():
    def bounded(ctx: Context, a: float | None = None, b: list[float] | None = None, c: int | None = None) -> Done:
        return {"id": "x"}

    server = Server("faulty", "Faulty.", Base, lambda rng, now: {})
    bounded.__doc__ = "Do it."
    server.tool(phrases=["do it"])(bounded)
    with Session([server], 0) as session:
        for wrong in ({"a": float("nan")}, {"b": [float("inf")]}, {"c": 10**30}):
            assert session.call("bounded", wrong).code == ErrorCode.INVALID_ARGUMENTS


def named(ctx: Context, item_id: Annotated[Ref("Itm"), "Item"]) -> Done:
    return {"id": item_id}


def guarded(ctx: Context, pin: Annotated[str, Field(json_schema_extra={"x-source": "reveal_pni.pin"})]) -> Done:
    return {"id": pin}


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (named, "faulty.named, parameter item_id: entity 'Itm' is none of the server's nouns; did you mean 'Item'?"),
        (guarded, "faulty.guarded, parameter pin: x-source 'reveal_pni.pin' names no hidden tool; there are none"),
    ],
)
def test_what_a_tool_names_must_be_there(function, told):
    server = Server("faulty", "Faulty.", Base, lambda rng, now: {}, nouns={"Item": "item"})
    function.__doc__ = "Do it."
    server.tool(phrases=[f"do {{{'item_id' if function is named else 'pin'}}}"])(function)
    with pytest.raises(ValueError, match=re.escape(told)):
        server.check()

"""Sessions: isolated, deterministic, one transaction per call, errors as results."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from typing_extensions import TypedDict

from proverl.core import Call, ErrorCode
from proverl.envs import Context, Server, Session, load_server, start_time

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
IDS = st.integers(10_000, 10_031).map(lambda number: f"NOTE-{number}")
CALLS = st.one_of(
    st.tuples(st.just("get_note"), st.fixed_dictionaries({"note_id": IDS})),
    st.tuples(st.just("delete_note"), st.fixed_dictionaries({"note_id": IDS})),
    st.tuples(st.just("break_note"), st.fixed_dictionaries({"note_id": IDS})),
    st.tuples(st.just("add_note"), st.fixed_dictionaries({"text": st.text(max_size=9), "cost": st.floats(0.01, 99)})),
    st.tuples(
        st.sampled_from(["list_notes", "add_note", "nothing", ""]), st.dictionaries(st.text(max_size=5), ANYTHING)
    ),
    st.tuples(st.sampled_from(["get_note", "delete_note"]), st.fixed_dictionaries({"note_id": ANYTHING})),
)


@given(st.lists(CALLS, max_size=12))
@settings(max_examples=60, deadline=None)
def test_same_seed_and_calls_give_the_same_results_in_any_interleaving(notes, calls):
    with Session([notes], 7) as alone:
        expected = [alone.call(*call) for call in calls]
        digest = alone.digest()
    with Session([notes], 7) as one, Session([notes], 7) as two, Session([notes], 8) as other:
        for index, call in enumerate(calls):
            other.call(*call)
            assert one.call(*call) == expected[index]
            if index:
                assert two.call(*calls[index - 1]) == expected[index - 1]
        assert one.digest() == digest


@given(CALLS)
@settings(max_examples=150, deadline=None)
def test_a_failed_call_changes_nothing_and_a_reading_one_neither(notes, call):
    with Session([notes], 3) as session:
        before, now = session.digest(), session.now
        result = session.call(*call)
        if not result.ok or call[0] in ("get_note", "list_notes"):
            assert (session.digest(), session.now) == (before, now)
            assert session.diff() == {}
        else:
            assert session.now > now


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("get_notes", {}, ErrorCode.UNKNOWN_TOOL, "no tool 'get_notes'; did you mean 'get_note'?"),
        ("get_note", {}, ErrorCode.INVALID_ARGUMENTS, "note_id: required argument is missing"),
        ("get_note", {"note_id": 5}, ErrorCode.INVALID_ARGUMENTS, "note_id: input should be a valid string, got 5"),
        ("get_note", {"note_id": "NOTE-1"}, ErrorCode.NOT_FOUND, "no note 'NOTE-1'; list_notes shows the ids"),
        ("delete_note", {"note_id": "NOTE-10000"}, ErrorCode.REJECTED, "only unlocked notes can be deleted"),
        ("add_note", {"text": "a", "cost": 1.005}, ErrorCode.INVALID_ARGUMENTS, "at most two decimals"),
        ("add_note", {"text": "a", "cost": True}, ErrorCode.INVALID_ARGUMENTS, "cost: expected a number"),
        ("add_note", {"text": "a", "cost": 1, "due": "9 March"}, ErrorCode.INVALID_ARGUMENTS, "the form 2026-03-09"),
        ("add_note", {"text": "a", "cost": 1, "tag": 1}, ErrorCode.INVALID_ARGUMENTS, "takes text, cost, due"),
        ("break_note", {"note_id": "NOTE-10001"}, ErrorCode.CRASHED, "ZeroDivisionError: fault of the tool"),
    ],
)
def test_errors_say_what_was_wrong_and_what_would_be_right(notes, name, arguments, code, message):
    with Session([notes], 0) as session:
        result = session.call(name, arguments)
    assert result.code == code
    assert message in result.message


def test_a_repeated_call_id_does_not_act_twice(notes):
    with Session([notes], 0) as session:
        first = session.call("add_note", {"text": "a", "cost": 1}, "call-1")
        assert session.call("add_note", {"text": "a", "cost": 1}, "call-1") == first
        assert session.call("add_note", {"text": "b", "cost": 1}, "call-1").code == ErrorCode.INVALID_ARGUMENTS
        assert len(session.diff()["notes.note"]) == 1


def test_independent_calls_end_in_equal_states_in_any_order(notes):
    calls = [("add_note", {"text": text, "cost": 2}) for text in "abc"] + [("delete_note", {"note_id": "NOTE-10001"})]
    with Session([notes], 4) as one, Session([notes], 4) as two:
        for call in calls:
            one.call(*call)
        for call in reversed(calls):
            two.call(*call)
        assert one.digest() == two.digest()


def test_the_same_call_twice_makes_two_entities(notes):
    with Session([notes], 4) as session:
        first, second = (session.call("add_note", {"text": "a", "cost": 2}).content["id"] for _ in range(2))
        assert first != second


def test_diff_tells_rows_before_and_after(notes):
    with Session([notes], 4) as session:
        session.call("delete_note", {"note_id": "NOTE-10001"})
        (change,) = session.diff()["notes.note"].values()
    assert change["before"]["id"] == "NOTE-10001"
    assert change["after"] is None


def test_seeds_give_different_states_and_workdays(notes):
    digests = set()
    for seed in range(20):
        with Session([notes], seed) as session:
            digests.add(session.digest())
        assert start_time(seed).weekday() < 5
    assert len(digests) == 20


def test_a_template_image_is_the_same_bytes_each_time(notes):
    assert notes.build(5, start_time(5)) == notes.build(5, start_time(5))


def test_a_closed_session_refuses_and_closes_again(notes):
    session = Session([notes], 0)
    session.call("list_notes", {})
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="is closed"):
        session.call("list_notes", {})


def test_unknown_servers_and_clashing_tools_are_named(notes):
    with pytest.raises(ValueError, match="did you mean 'banking'"):
        load_server("bankin")
    with pytest.raises(ValueError, match="both have a tool 'list_notes'"):
        Session([notes, notes], 0)


def test_a_faulty_definition_is_refused_when_it_is_written():
    class Base(DeclarativeBase):
        pass

    class View(TypedDict):
        id: str

    server = Server("faulty", "Faulty.", Base, lambda rng, now: {})
    with pytest.raises(ValueError, match="required parameters not said outside brackets"):

        @server.tool(phrases=["do it[ to {name}]"])
        def no_slot(ctx: Context, name: str) -> View:
            """Do it."""

    with pytest.raises(ValueError, match="unknown slots"):

        @server.tool(phrases=["do {what}"])
        def wrong_slot(ctx: Context) -> View:
            """Do it."""

    with pytest.raises(ValueError, match="needs a docstring"):

        @server.tool(phrases=["do it"])
        def silent(ctx: Context) -> View: ...

    with pytest.raises(TypeError, match="must return a TypedDict"):

        @server.tool(phrases=["do it"])
        def untyped(ctx: Context) -> list[str]:
            """Do it."""

    with pytest.raises(TypeError, match="first parameter must be `ctx: Context`"):

        @server.tool(phrases=["do it"])
        def blind() -> View:
            """Do it."""

    with pytest.raises(TypeError, match="parameter `name` needs a name and a type"):

        @server.tool(phrases=["do it"])
        def vague(ctx: Context, name) -> View:
            """Do it."""

    with pytest.raises(TypeError, match="is async"):

        @server.tool(phrases=["do it"])
        async def later(ctx: Context) -> View:
            """Do it."""

    with pytest.raises(ValueError, match=r"write a list: \['do it'\]"):

        @server.tool(phrases="do it")
        def worded(ctx: Context) -> View:
            """Do it."""


def test_schemas_name_the_entities_with_their_server(notes):
    tool = notes.functions["get_note"].tool
    assert tool.parameters["properties"]["note_id"]["x-entity"] == "notes.Note"
    assert tool.returns["properties"]["id"]["x-entity"] == "notes.Note"
    assert tool.required == ("note_id",)


class IdOnly(TypedDict):
    id: str


def slow_server(seen):
    class Base(DeclarativeBase):
        pass

    class Row(Base):
        __tablename__ = "row"
        id: Mapped[str] = mapped_column(primary_key=True)

    class Done(TypedDict):
        id: str

    server = Server("slow", "Tools that never end.", Base, lambda rng, now: {Row: [{"id": "first"}]})

    @server.tool(phrases=["spin {id}"])
    def spin(ctx: Context, id: str) -> Done:
        """Compute for ever, and catch what can be caught."""
        ctx.insert(Row, id=id)
        while True:
            try:
                sum(range(1_000))
            except Exception:
                seen.append("caught")

    @server.tool(phrases=["swallow {id}"])
    def swallow(ctx: Context, id: str) -> Done:
        """Take the interruption for an answer."""
        ctx.insert(Row, id=id)
        try:
            while True:
                sum(range(1_000))
        except BaseException:
            return {"id": id}

    @server.tool(phrases=["hold {id}"])
    def hold(ctx: Context, id: str) -> Done:
        """Never finish reading a statement's rows."""
        ctx.insert(Row, id=id)
        for _ in ctx.db.execute(
            text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        ):
            while True:
                pass

    @server.tool(phrases=["join {id}"])
    def join(ctx: Context, id: str) -> Done:
        """Run a statement that never ends."""
        ctx.insert(Row, id=id)
        ctx.db.execute(text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"))
        return {"id": id}

    @server.tool(phrases=["add {id}"])
    def add(ctx: Context, id: str) -> Done:
        """Add a row."""
        return {"id": ctx.insert(Row, id=id)["id"]}

    return server


@pytest.mark.parametrize("tool", ["spin", "join", "swallow", "hold"])
def test_a_tool_that_never_ends_is_interrupted_undone_and_the_session_goes_on(tool):
    seen = []
    with Session([slow_server(seen)], 0, call_seconds=0.2) as session:
        before = session.digest()
        result = session.call(tool, {"id": "x"})
        assert (result.code, result.message) == (
            ErrorCode.TIMEOUT,
            f"{tool} took longer than 0.2 seconds and was undone",
        )
        assert session.digest() == before and not seen
        assert session.call("add", {"id": "x"}).ok


def test_a_tool_that_never_ends_is_interrupted_in_any_thread():
    def run(number):
        with Session([slow_server([])], number, call_seconds=0.2) as session:
            return [session.call("spin", {"id": "x"}).code, session.call("add", {"id": "x"}).ok]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, range(8))) == [[ErrorCode.TIMEOUT, True]] * 8


def test_equal_calls_get_equal_ids_however_they_are_written(notes):
    ids = set()
    for arguments in ({"text": "a", "cost": 5}, {"text": "a", "cost": 5.0}, {"cost": 5, "text": "a", "due": None}):
        with Session([notes], 1) as session:
            ids.add(session.call("add_note", arguments).content["id"])
    assert len(ids) == 1


def test_whole_floats_are_integers_and_no_others():
    class Base(DeclarativeBase):
        pass

    class Row(Base):
        __tablename__ = "row"
        id: Mapped[str] = mapped_column(primary_key=True)

    class Twice(TypedDict):
        twice: int

    server = Server("numbers", "Numbers.", Base, lambda rng, now: {})

    @server.tool(read_only=True, phrases=["double {number}"])
    def double(ctx: Context, number: int) -> Twice:
        """Double a number."""
        return {"twice": 2 * number}

    with Session([server], 0) as session:
        assert repr(session.call("double", {"number": 2.0}).content) == "{'twice': 4}"
        for wrong in (2.5, 1e30, float("nan"), float("inf"), True, "2"):
            assert session.call("double", {"number": wrong}).code == ErrorCode.INVALID_ARGUMENTS


def test_arguments_nested_deeply_are_refused(notes):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with Session([notes], 0) as session:
        for call_id in ("", "one"):
            assert session.call("get_note", {"note_id": 10**5_000}, call_id).code == ErrorCode.INVALID_ARGUMENTS
            assert session.call("get_note", {"note_id": nested}, call_id).code == ErrorCode.INVALID_ARGUMENTS


@pytest.mark.parametrize("name", [["get_note"], {}, None, 5, "x" * 1_000_000, "\ud800"])
def test_no_name_of_a_tool_raises_or_is_repeated_at_length(notes, name):
    with Session([notes], 0) as session:
        result = session.call(name, {})
    assert result.code == ErrorCode.UNKNOWN_TOOL
    assert len(result.message) < 200


def test_long_names_and_numbers_are_not_repeated_at_length(notes):
    with Session([notes], 0) as session:
        for arguments in ({"k" * 1_000_000: 1}, {"note_id": 10**5_000}):
            result = session.call("get_note", arguments)
            assert result.code == ErrorCode.INVALID_ARGUMENTS
            assert len(result.message) < 300


def test_a_closed_session_has_neither_digest_nor_differences(notes):
    session = Session([notes], 0)
    session.call("add_note", {"text": "a", "cost": 1})
    session.close()
    for use in (session.digest, session.diff, session.check_invariants):
        with pytest.raises(RuntimeError, match="is closed"):
            use()


def test_sessions_opened_in_many_threads_get_their_own_start_state(notes):
    expected = {seed: notes.digest(seed, start_time(seed)) for seed in range(20)}

    def run(seed):
        with Session([notes], seed) as session:
            session.call("delete_note", {"note_id": "NOTE-10001"})
            return session.diff()["notes.note"].keys(), notes.image(seed, start_time(seed))

    pace = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(run, [number % 20 for number in range(400)]))
    finally:
        sys.setswitchinterval(pace)
    assert {len(keys) for keys, _ in found} == {1}
    assert expected == {seed: notes.digest(seed, start_time(seed)) for seed in range(20)}


def waiting_server(release):
    class Base(DeclarativeBase):
        pass

    class Row(Base):
        __tablename__ = "row"
        id: Mapped[str] = mapped_column(primary_key=True)

    class Done(TypedDict):
        id: str

    server = Server("waiting", "Tools that wait for the world.", Base, lambda rng, now: {Row: [{"id": "first"}]})

    @server.tool(phrases=["wait with {id}"])
    def wait(ctx: Context, id: str) -> Done:
        """Wait for something that no interruption reaches."""
        ctx.insert(Row, id=id)
        release.acquire()
        return {"id": id}

    @server.tool(phrases=["add {id}"])
    def add(ctx: Context, id: str) -> Done:
        """Add a row."""
        return {"id": ctx.insert(Row, id=id)["id"]}

    return server


async def test_a_tool_that_cannot_be_interrupted_is_given_up_and_holds_up_no_other_session(monkeypatch):
    monkeypatch.setattr("proverl.envs.session.GRACE_SECONDS", 0.1)
    release = threading.Lock()
    release.acquire()
    server = waiting_server(release)
    with Session([server], 0, call_seconds=0.2) as lost, Session([server], 0) as other:
        stuck = asyncio.create_task(lost.execute(Call("wait", {"id": "x"})))
        await asyncio.sleep(0.05)
        assert (await other.execute(Call("add", {"id": "y"}))).ok and not stuck.done()
        assert (await stuck).code == ErrorCode.TIMEOUT
        assert (await lost.execute(Call("add", {"id": "z"}))).code == ErrorCode.CRASHED
        with pytest.raises(RuntimeError, match="wait has not come back"):
            await lost.state_digest()
    release.release()  # the tool comes back to a session that was closed meanwhile


async def test_calls_of_one_session_run_one_after_the_other(notes):
    with Session([notes], 3) as one, Session([notes], 3) as two:
        calls = [Call("add_note", {"text": str(number), "cost": 1}) for number in range(20)]
        expected = [one.call(call.name, call.arguments) for call in calls]
        assert await asyncio.gather(*(two.execute(call) for call in calls)) == expected
        assert await two.state_digest() == one.digest()


async def test_a_call_whose_caller_goes_away_acts_once_and_the_next_one_waits_for_it():
    started, go_on = threading.Event(), threading.Event()
    server = slow_server([])
    row = next(table for table in server.storage.tables if table.name == "row")

    def wait(ctx: Context, id: str) -> IdOnly:
        """Wait to be let on."""
        ctx.db.execute(row.insert().values(id=id))
        started.set()
        go_on.wait(4)
        return {"id": id}

    server.tool(phrases=["wait {id}"])(wait)
    with Session([server], 0) as session:
        task = asyncio.create_task(session.execute(Call("wait", {"id": "x"}, "one")))
        await asyncio.to_thread(started.wait, 4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = asyncio.create_task(session.execute(Call("wait", {"id": "x"}, "one")))
        digest = asyncio.create_task(session.state_digest())
        await asyncio.sleep(0.05)
        go_on.set()
        assert (await again).ok
        assert await digest == session.digest()
        assert len(session.diff()["slow.row"]) == 1

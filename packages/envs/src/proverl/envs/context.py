"""What a tool sees of its session: the database, the clock, new ids. Nothing else is reachable from a tool."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    CompoundSelect,
    Connection,
    Delete,
    Insert,
    Select,
    Update,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy import Table as SqlTable
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.sql.elements import ColumnElement

from proverl.envs.errors import NotFound
from proverl.envs.state import Row, raw_connection
from proverl.envs.statements import prepared

Model = type[DeclarativeBase]
Query = Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]


def _label(model: Model) -> str:
    """`SavingsGoal` -> `savings goal`, for messages."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in model.__name__).strip()


def _table(model: Model) -> SqlTable:
    assert isinstance(model.__table__, SqlTable)
    return model.__table__


def _key(model: Model) -> Column[Any]:
    (column,) = _table(model).primary_key.columns  # tables that tools address have one key column
    return column


@cache
def _by_key(model: Model) -> Select[Any]:
    return select(_table(model)).where(_key(model) == bindparam("key"))


@cache
def _insert_into(model: Model, columns: tuple[str, ...]) -> Insert:
    return insert(_table(model)).values({name: bindparam(name) for name in columns})


@cache
def _change_by_key(model: Model, columns: tuple[str, ...]) -> Update:
    changed: dict[str, Any] = {name: bindparam(f"new_{name}") for name in columns}
    return update(_table(model)).where(_key(model) == bindparam("key")).values(changed)


class Context:
    """One call's view of the state of one server. Rows are plain dicts of column values."""

    def __init__(self, connection: Connection, now: datetime, call_key: str) -> None:
        self.db = connection
        self._raw = raw_connection(connection)
        self.now = now
        self._call_key = call_key

    @property
    def today(self) -> str:
        """The session's date as ISO text."""
        return self.now.date().isoformat()

    @property
    def timestamp(self) -> str:
        """The session's time as ISO text to the minute."""
        return self.now.isoformat(timespec="minutes")

    def find(self, model: Model, key: str) -> Row | None:
        """Return the row with this primary key, or None."""
        found = self.rows(_by_key(model), key=key)
        return found[0] if found else None

    def get(self, model: Model, key: str, hint: str = "") -> Row:
        """Return the row with this primary key. Raises NotFound that names the value and, by `hint`, where to look."""
        row = self.find(model, key)
        if row is None:
            raise NotFound(f"no {_label(model)} {key!r}" + (f"; {hint}" if hint else ""))
        return row

    def rows(self, statement: Query, /, **parameters: Any) -> list[Row]:
        """Return all rows of a Core select; order it, or the order is not part of the contract."""
        if (ready := prepared(statement)) and ready.fits(parameters):
            return ready.rows(self._raw, parameters)
        result = self.db.execute(statement, parameters)
        keys = tuple(result.keys())
        return [dict(zip(keys, row, strict=True)) for row in result]

    def scalar(self, statement: Query, /, **parameters: Any) -> Any:
        """Return the single value of a Core select, or None."""
        if (ready := prepared(statement)) and ready.fits(parameters):
            return ready.scalar(self._raw, parameters)
        return self.db.execute(statement, parameters).scalar()

    def execute(self, statement: Insert | Update | Delete, /, **parameters: Any) -> None:
        """Run a Core statement that writes."""
        if (ready := prepared(statement)) and ready.fits(parameters):
            ready.run(self._raw, parameters).fetchall()  # to the end, which RETURNING needs
        else:
            self.db.execute(statement, parameters)

    def insert(self, model: Model, /, **values: Any) -> Row:
        """Insert one row; a missing `id` gets a new one. Returns the values."""
        key = _key(model).name if len(_table(model).primary_key.columns) == 1 else None
        if key == "id" and "id" not in values:
            values = {"id": self.new_id(model), **values}
        self.execute(_insert_into(model, tuple(values)), **values)
        return values

    def update(self, model: Model, key: str, /, **values: Any) -> None:
        """Change columns of the row with this primary key."""
        changed = {f"new_{name}": value for name, value in values.items()}
        self.execute(_change_by_key(model, tuple(values)), key=key, **changed)

    def delete(self, model: Model, *where: ColumnElement[bool]) -> None:
        """Delete the rows that fit all conditions; at least one condition is needed."""
        if not where:
            raise ValueError("delete needs a condition")
        self.db.execute(delete(_table(model)).where(*where))

    def new_id(self, model: Model) -> str:
        """A new id such as `TXN-40213` (prefix: the table class's `id_prefix`).

        It follows from the seed and the call itself, not from a counter: independent calls get the same ids in any
        order, so two episodes that did the same things end in equal states.
        """
        prefix: str = model.id_prefix  # type: ignore[attr-defined]
        for attempt in range(1_000):
            text = f"{self._call_key}|{prefix}|{attempt}"
            number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            candidate = f"{prefix}-{10_000 + number % 90_000}"
            if self.find(model, candidate) is None:
                return candidate
        raise RuntimeError(f"no free id for {model.__name__}")


def one_of(values: Sequence[str]) -> str:
    """`a, b or c`: the end of a message that says what would be right."""
    return " or ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else list(values))

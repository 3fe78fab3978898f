"""The state of one server in one session: a private in-memory SQLite database cloned from a seeded template image.

Statements run through SQLAlchemy Core on one engine per server, so all sessions share its cache of compiled statements.
A column with `info={"audit": True}` (written by the clock: when, or where the caller stands) is left out of digests, so
that independent calls may come in any order.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Callable
from random import Random
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, insert, select
from sqlalchemy import Table as SqlTable
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import NullPool

from proverl.core import canonical_json

Row = dict[str, Any]
COMPACT = {"sqlite_with_rowid": False}  # table option: rows live in the key's own tree, so images are smaller


class _Connection(sqlite3.Connection):
    """The session alone ends a transaction: SQLAlchemy rolls back after some errors, a tool may mean to commit."""

    def commit(self) -> None:
        """Do nothing."""

    def rollback(self) -> None:
        """Do nothing."""


def _open(image: bytes | None) -> sqlite3.Connection:
    """A connection that holds little memory, since thousands are open at once.

    An episode makes few calls, mostly different ones, so few statements are worth keeping; pages are in memory anyway,
    so SQLite's own cache of them would only double it; small pages waste less in small tables.
    """
    raw = sqlite3.connect(
        ":memory:", isolation_level=None, check_same_thread=False, cached_statements=12, factory=_Connection
    )
    if image is None:
        raw.execute("PRAGMA page_size=2048")
    else:
        raw.deserialize(image)
    raw.execute("PRAGMA foreign_keys=ON")
    raw.execute("PRAGMA cache_size=0")
    return raw


def _ordered_content(table: SqlTable) -> str:
    """The SQL that reads a table's logical content in one order."""
    columns = [column for column in table.columns if not column.info.get("audit")]
    statement = select(*columns).order_by(*table.primary_key.columns)
    return str(statement.compile(dialect=sqlite_dialect()))


class Storage:
    """The tables of one server: builds its template image for a seed and opens states from it."""

    def __init__(self, name: str, base: type[DeclarativeBase]) -> None:
        self.name = name
        self.tables = base.metadata.sorted_tables
        self._metadata = base.metadata
        self.contents = [_ordered_content(table) for table in self.tables]
        self._next_image: bytes | None = None
        self._opening = threading.Lock()  # the engine takes no arguments for one connection
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The one engine of this server, made on first use."""
        if self._engine is None:
            self._engine = create_engine(
                "sqlite://",
                poolclass=NullPool,
                creator=lambda: _open(self._next_image),
                isolation_level="AUTOCOMMIT",
                query_cache_size=4000,
            )
        return self._engine

    def connect(self, image: bytes | None) -> Connection:
        """Open a connection on a private copy of the image, or on an empty database."""
        with self._opening:
            self._next_image = image
            return self.engine.connect()

    def build(self, seed: Callable[[Random], dict[type[Any], list[Row]]], rng: Random) -> bytes:
        """Create the tables, insert the seeded rows, and return the database's bytes."""
        with self.connect(None) as connection:
            self._metadata.create_all(connection)
            rows = {model.__table__: values for model, values in seed(rng).items()}
            raw = raw_connection(connection)
            raw.execute("BEGIN")
            for table in sorted(rows, key=self._position):
                self._fill(connection, table, rows[table])
            self._end(raw)
            return raw.serialize()

    def _position(self, table: SqlTable) -> int:
        if table not in self.tables:
            raise ValueError(f"start state of {self.name}: table {table.name!r} is not one of its Base's")
        return self.tables.index(table)

    def _fill(self, connection: Connection, table: SqlTable, rows: list[Row]) -> None:
        for row in rows:  # SQLAlchemy would leave out what the table or the first row has not
            if unknown := sorted(row.keys() - table.columns.keys()):
                raise ValueError(f"start state of {self.name}: {table.name!r} has no column {unknown}: {row}")
            if odd := sorted(row.keys() ^ rows[0].keys()):
                raise ValueError(f"start state of {self.name}: rows of {table.name!r} differ in {odd}: {row}")
        try:
            if rows:
                connection.execute(insert(table), rows)
        except SQLAlchemyError:
            self._blame(connection, table, rows)

    def _blame(self, connection: Connection, table: SqlTable, rows: list[Row]) -> None:
        """Insert one by one, to name the row that cannot be."""
        for row in rows:
            try:
                connection.execute(insert(table), row)
            except SQLAlchemyError as error:
                why = getattr(error, "orig", error)
                raise ValueError(f"start state of {self.name}: {table.name} {row}: {why}") from None

    def _end(self, raw: sqlite3.Connection) -> None:
        """Commit. Raises ValueError for a reference to a row that there is not."""
        broken = raw.execute("PRAGMA foreign_key_check").fetchone()
        if broken:
            table, number, target, _ = broken
            raise ValueError(f"start state of {self.name}: row {number} of {table!r} refers to no {target!r}")
        raw.execute("COMMIT")


def raw_connection(connection: Connection) -> sqlite3.Connection:
    """The sqlite3 connection under a SQLAlchemy one."""
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def digest(connection: Connection, storage: Storage) -> str:
    """SHA-256 (hex) of the logical content: equal contents have equal digests, whatever happened in between."""
    raw = raw_connection(connection)
    total = hashlib.sha256()
    for statement in storage.contents:
        total.update(repr(raw.execute(statement).fetchall()).encode())
    return total.hexdigest()


def dump(connection: Connection, storage: Storage) -> dict[str, dict[str, Row]]:
    """The logical content: table -> primary key (as JSON text) -> row without audit columns."""
    content: dict[str, dict[str, Row]] = {}
    for table in storage.tables:
        columns = [column for column in table.columns if not column.info.get("audit")]
        keys = [column.name for column in table.primary_key.columns]
        rows = [dict(row._mapping) for row in connection.execute(select(*columns))]
        content[table.name] = {canonical_json([row[key] for key in keys]): row for row in rows}
    return content

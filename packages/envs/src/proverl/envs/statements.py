"""Prebuilt statements straight to SQLite: a module's Core statements are compiled once and then run without SQLAlchemy.

SQLAlchemy spends 40 microseconds around a statement that SQLite answers in 5. A statement that is built anew for each
call gains nothing by this and goes through SQLAlchemy, as does one whose text depends on its parameters.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import Executable, TextClause, TextualSelect

_DIALECT = sqlite_dialect()
Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class Prepared:
    """A compiled statement: its text, where its parameters come from, how values are converted on both ways."""

    text: str
    names: tuple[str, ...]
    fixed: Mapping[str, Any]
    on_the_way_in: Mapping[str, Convert]
    keys: tuple[str, ...]
    on_the_way_out: tuple[tuple[int, Convert], ...]
    needed: frozenset[str]

    def fits(self, parameters: Mapping[str, Any]) -> bool:
        """Whether these are the parameters it was compiled for; with others SQLAlchemy may write another text."""
        return parameters.keys() == self.needed

    def run(self, raw: sqlite3.Connection, parameters: Mapping[str, Any]) -> sqlite3.Cursor:
        """Execute with parameters that fit. Raises sqlalchemy.exc.DBAPIError, as SQLAlchemy would."""
        known, convert = self.fixed, self.on_the_way_in
        values: Any = [parameters[name] if name in parameters else known[name] for name in self.names]
        if convert:
            values = [
                convert[name](value) if name in convert else value
                for name, value in zip(self.names, values, strict=True)
            ]
        try:
            return raw.execute(self.text, values)
        except sqlite3.Error as error:  # a tool that catches it need not know how its statement was run
            raise DBAPIError.instance(self.text, values, error, sqlite3.Error) from error

    def rows(self, raw: sqlite3.Connection, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Execute and return the rows by column."""
        keys, convert = self.keys, self.on_the_way_out
        found = [dict(zip(keys, row, strict=True)) for row in self.run(raw, parameters)]
        for index, to_python in convert:
            for row in found:
                row[keys[index]] = to_python(row[keys[index]])
        return found

    def scalar(self, raw: sqlite3.Connection, parameters: Mapping[str, Any]) -> Any:
        """Execute and return the first column of the first row, or None."""
        row = self.run(raw, parameters).fetchone()
        if row is None:
            return None
        return self.on_the_way_out[0][1](row[0]) if self.on_the_way_out and self.on_the_way_out[0][0] == 0 else row[0]


_prepared: WeakKeyDictionary[Executable, Prepared | None] = WeakKeyDictionary()  # None: SQLAlchemy must run it
_seen: WeakSet[Executable] = WeakSet()  # run once


def prepared(statement: Executable) -> Prepared | None:
    """The compiled form from the second time on that a statement is used; None where SQLAlchemy must run it."""
    if statement in _prepared:
        return _prepared[statement]
    if statement not in _seen:
        _seen.add(statement)
        return None
    _prepared[statement] = prepare(statement)
    return _prepared[statement]


def prepare(statement: Executable) -> Prepared | None:
    """Compile; None when the text depends on a parameter, a default is Python, or the columns are not known."""
    if isinstance(statement, TextClause | TextualSelect):
        return None
    compiled = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
    assert isinstance(compiled, SQLCompiler)
    if compiled.insert_prefetch or compiled.update_prefetch or any(b.required for b in compiled.post_compile_params):
        return None
    if any(bind.callable for bind in compiled.binds.values()):
        return None
    needed = {bind.key: None for bind in compiled.binds.values() if bind.required}
    state = compiled.construct_expanded_state(needed)
    names: Sequence[str] = state.positiontup or ()
    converts = {**compiled._bind_processors, **state.processors}  # the state knows those of expanded lists only
    columns = compiled._result_columns
    out = [(index, column.type.result_processor(_DIALECT, None)) for index, column in enumerate(columns)]
    return Prepared(
        state.statement,
        tuple(names),
        {name: value for name, value in state.parameters.items() if name not in needed},
        {name: convert for name, convert in converts.items() if name in names and callable(convert)},
        tuple(column.keyname for column in columns),
        tuple((index, convert) for index, convert in out if convert is not None),
        frozenset(needed),
    )

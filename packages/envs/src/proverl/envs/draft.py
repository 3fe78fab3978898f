"""Drawing the rows of a start state: fresh ids, dates around the session's day, rows by table."""

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from proverl.envs.state import Row


class Draft:
    """The rows drawn so far; `rows` is what a server's `seed` function returns."""

    def __init__(self, rng: Random, now: datetime) -> None:
        self.rng = rng
        self.today: date = now.date()
        self.rows: dict[type[Any], list[Row]] = {}
        self._ids: set[str] = set()

    def add(self, model: type[Any], /, **values: Any) -> Row:
        """Append a row, still open to changes; a table with an `id_prefix` gets a fresh id such as `TXN-40213`."""
        prefix = getattr(model, "id_prefix", "")
        row = {"id": self._new_id(prefix), **values} if prefix and "id" not in values else values
        self.rows.setdefault(model, []).append(row)
        return row

    def day(self, days: int) -> str:
        """The ISO date this many days after today; before today when negative."""
        return (self.today + timedelta(days=days)).isoformat()

    def _new_id(self, prefix: str) -> str:
        while (candidate := f"{prefix}-{self.rng.randrange(10_000, 100_000)}") in self._ids:
            pass
        self._ids.add(candidate)
        return candidate

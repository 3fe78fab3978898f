"""Every answer of an endpoint that was paid for, kept on disk: a run that was killed asks nothing twice.

A SQLite file that is only ever added to, safe with several processes of one machine.
"""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

_TABLES = """
CREATE TABLE IF NOT EXISTS answer (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, run TEXT NOT NULL, body TEXT NOT NULL,
    prompt INTEGER NOT NULL, completion INTEGER NOT NULL, reasoning INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS answer_by_key ON answer (key);
CREATE TABLE IF NOT EXISTS reuse (run TEXT NOT NULL, answer INTEGER NOT NULL REFERENCES answer);
"""
_FIRST = "SELECT id, body FROM answer WHERE key = ? ORDER BY id LIMIT 1"
_TOTAL = """
SELECT count(*), coalesce(sum(prompt), 0), coalesce(sum(completion), 0), coalesce(sum(reasoning), 0),
       (SELECT count(*) FROM reuse WHERE run = :run) FROM answer WHERE run = :run
"""


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer; reasoning tokens are part of the completion's."""

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Spent:
    """What a run has asked for and paid; `reused` answers came from the journal and are in no other figure."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0  # reasoning included
    reasoning_tokens: int = 0
    reused: int = 0
    dollars: float = 0.0


class Journal:
    """Answers by key. The first answer to a key counts, so that all processes go on with the same one."""

    def __init__(self, path: str | Path, run: str = "") -> None:
        """`run` is what `spent` sums over; answers are shared by all runs of a file."""
        self.path = Path(path)
        self.run = run
        self._process = 0
        self._kept: sqlite3.Connection | None = None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection()

    def find(self, key: str) -> str | None:
        """The answer to a request that was made before, counted as reused."""
        connection = self._connection()
        found = connection.execute(_FIRST, (key,)).fetchone()
        if found is None:
            return None
        connection.execute("INSERT INTO reuse VALUES (?, ?)", (self.run, found[0]))
        return str(found[1])

    def keep(self, key: str, body: str, usage: Usage) -> str:
        """Write an answer down and return the one that counts: another process may have been faster."""
        connection = self._connection()
        connection.execute(
            "INSERT INTO answer (key, run, body, prompt, completion, reasoning) VALUES (?, ?, ?, ?, ?, ?)",
            (key, self.run, body, usage.prompt, usage.completion, usage.reasoning),
        )
        return str(connection.execute(_FIRST, (key,)).fetchone()[1])

    def spent(self) -> Spent:
        """What this run has spent so far, in all processes; without a price."""
        return Spent(*self._connection().execute(_TOTAL, {"run": self.run}).fetchone())

    def _connection(self) -> sqlite3.Connection:
        if self._kept is None or self._process != os.getpid():  # a connection must not be used on both sides of a fork
            self._kept, self._process = _opened(self.path), os.getpid()
        return self._kept


def _opened(path: Path) -> sqlite3.Connection:
    # a worker's answers wait for each other, and statements commit by themselves. SQLite's default journal, not the
    # write-ahead log: a file cannot be turned into one while others open it, and shared disks cannot carry one
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    connection.executescript(_TABLES)
    return connection

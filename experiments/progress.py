"""What a run says while it works: a bar per stage on a terminal, plain lines into a file or a pipe."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_PLAIN_SECONDS = 10.0  # between two lines of one stage where there is no terminal
_PLAIN_WIDTH = 120  # of tables there


class Report(Protocol):
    """How a stage says how far it is: `report(3, 10, "reward 0.71")`; a total of 0 means unknown."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show it."""
        ...


class Screen:
    """The one place that prints."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        if not self.console.is_terminal:
            self.console.width = max(self.console.width, _PLAIN_WIDTH)

    def say(self, text: str) -> None:
        """Print one line."""
        self.console.print(text, markup=False)

    @contextmanager
    def stage(self, title: str) -> Iterator[Report]:
        """Show the progress of one stage and, at its end, how long it took."""
        started = time.monotonic()
        if self.console.is_terminal:
            with self._bar() as bar:
                task = bar.add_task(title, total=None, note="")
                yield lambda done, total, note="": bar.update(task, completed=done, total=total or None, note=note)
        else:
            self.say(f"{title} ...")
            yield _PlainReport(self, title)
        self.say(f"{title}: done in {_duration(time.monotonic() - started)}")

    def _bar(self) -> Progress:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description:<28}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
        )
        return Progress(*columns, console=self.console, transient=True)


class _PlainReport:
    def __init__(self, screen: Screen, title: str) -> None:
        self.screen, self.title = screen, title
        self.last = time.monotonic() - _PLAIN_SECONDS

    def __call__(self, done: int, total: int, note: str = "") -> None:
        now = time.monotonic()
        if now - self.last < _PLAIN_SECONDS and done != total:
            return
        self.last = now
        self.screen.say(f"{self.title}: {done}{f'/{total}' if total else ''} {note}".rstrip())


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"

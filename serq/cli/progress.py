"""Progress on a terminal's stderr, and nothing anywhere else."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def exploring(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A callback that shows how many states were found and done; None where nobody would see it."""
    with _shown("exploring", quiet) as show:
        yield None if show is None else lambda found, done: show(f"exploring: {found} states, {found - done} to do")


@contextmanager
def simulating(quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A callback that shows which part of a run is done, from 0 to 1."""
    with _shown("simulating", quiet) as show:
        yield None if show is None else lambda part: show(f"simulating: {100 * part:.0f} %")


@contextmanager
def replaying(quiet: bool) -> Iterator[Callable[[float, int], None] | None]:
    """A callback that shows the time of the replay and how many requests are done."""
    with _shown("replaying", quiet) as show:
        yield None if show is None else lambda time, done: show(f"replaying: time {time:g}, {done} requests done")


@contextmanager
def working(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A callback that shows how many tasks are done, of how many."""
    with _shown("working", quiet) as show:
        yield None if show is None else lambda done, of: show(f"working: {done} of {of} tasks")


@contextmanager
def _shown(what: str, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    if quiet or not _a_bar_can_be_drawn():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        yield lambda text: bar.update(task, description=text)


def _a_bar_can_be_drawn() -> bool:
    """Whether stderr is a terminal that moves its cursor, and nobody asked for plain text."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb")
    return sys.stderr.isatty() and not plain

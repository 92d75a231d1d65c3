"""Who works: this process, several processes, or the workers of a dask cluster. The answers do not depend on it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool

from serq.base.workers import worker_processes
from serq.studies.encoding import Outcome
from serq.studies.tasks import Task, work

Done = tuple[Task, dict[str, object]]
Runner = Callable[[Sequence[Task]], Iterator[Done]]
"""Gives each task with its outcome, as they are finished."""

_KILLED = "the process was killed, most likely for want of memory"


def in_turn(tasks: Sequence[Task]) -> Iterator[Done]:
    """One after the other, in this process."""
    for task in tasks:
        yield task, work(task)


def processes(jobs: int) -> Runner:
    """At most so many at a time, each in a process of its own; one at a time in this process."""
    return in_turn if jobs <= 1 else lambda tasks: _apart(tasks, jobs)


def _apart(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """In processes, never in this one: a task may cost its process the life."""
    if not tasks:
        return
    finished: set[str] = set()
    try:
        for task, data in _together(tasks, min(jobs, len(tasks))):
            finished.add(task.key)
            yield task, data
    except BrokenProcessPool:
        yield from _alone([task for task in tasks if task.key not in finished], jobs)


def _together(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """In one pool; few tasks are handed out ahead of time, so that an interrupt throws little away."""
    waiting = list(reversed(tasks))
    with worker_processes(jobs) as pool:
        running: dict[Future[dict[str, object]], Task] = {}
        while waiting or running:
            while waiting and len(running) < jobs + 1:
                task = waiting.pop()
                running[pool.submit(work, task)] = task
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()


def _alone(tasks: Sequence[Task], jobs: int) -> Iterator[Done]:
    """A worker was killed: who did it is found by giving each task a pool of its own until one breaks again.

    The task that breaks its pool has failed, and the others go on together.
    """
    for place, task in enumerate(tasks):
        try:
            with worker_processes(1) as pool:
                data = pool.submit(work, task).result()
        except BrokenProcessPool:
            yield task, Outcome("broken", _KILLED).to_data()
            yield from _apart(tasks[place + 1 :], jobs)
            return
        yield task, data

"""Several independent replications, in this process or spread over others. The results do not depend on how."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from serq.base.errors import LimitError, UsageError
from serq.ir import program as p
from serq.semantics.options import RunOptions
from serq.semantics.reference import Interpreter, Progress, RunResult
from serq.traces.corpus import Corpus
from serq.traces.reader import trace_of


def replicate(
    program: p.Program, options: RunOptions, replications: int, jobs: int = 1, progress: Progress | None = None
) -> tuple[RunResult, ...]:
    """Run replications 0 to `replications` - 1, at most `jobs` at a time, and return them in that order.

    Raises what `simulate` raises, for the first replication that fails; the others are given up. An interrupt stops
    the other processes at once.
    """
    if replications < 1:
        raise UsageError(f"at least one replication is needed, not {replications}")
    corpus = trace_of(program, options.trace)
    if jobs <= 1 or replications == 1:
        return tuple(_in_turn(program, options, replications, corpus, progress))
    return _side_by_side(program, options, replications, min(jobs, replications), corpus, progress)


def _in_turn(
    program: p.Program, options: RunOptions, replications: int, corpus: Corpus | None, progress: Progress | None
) -> Iterator[RunResult]:
    for k in range(replications):
        yield Interpreter(program, options, k, corpus).run(_part(progress, k, replications))


def _part(progress: Progress | None, k: int, replications: int) -> Progress | None:
    """The progress of one replication as a part of the whole."""
    return None if progress is None else lambda done: progress((k + done) / replications)


def _side_by_side(
    program: p.Program,
    options: RunOptions,
    replications: int,
    jobs: int,
    corpus: Corpus | None,
    progress: Progress | None,
) -> tuple[RunResult, ...]:
    with _workers(jobs) as submit:
        futures = [submit(_one, program, options, k, corpus) for k in range(replications)]
        results = []
        for future in futures:
            results.append(future.result())
            if progress is not None:
                progress(len(results) / replications)
        return tuple(results)


def _one(program: p.Program, options: RunOptions, replication: int, corpus: Corpus | None) -> RunResult:
    """One replication in a worker: it stops when its parent is gone, however that was ended."""
    parent = multiprocessing.parent_process()

    def look(_: float) -> None:
        if parent is not None and os.getppid() != parent.pid:
            # An exception would be caught and the next replication begun; there is nobody to tell.
            os._exit(1)

    return Interpreter(program, options, replication, corpus).run(look)


@contextmanager
def _workers(jobs: int) -> Iterator[Callable[..., Future[RunResult]]]:
    """A pool of processes that does not outlive an error or an interrupt, and whose death is noticed."""
    before = set(multiprocessing.active_children())
    method = "fork" if sys.platform == "linux" else "spawn"
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(method), initializer=_leave_signals_to_the_parent)
    try:
        yield pool.submit
        pool.shutdown()
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        if isinstance(error, BrokenProcessPool):
            raise LimitError("a process of the run was killed, most likely for want of memory") from error
        raise


def _leave_signals_to_the_parent() -> None:
    """Ctrl-C is the parent's business: it ends the workers, by a signal that they must not handle as it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

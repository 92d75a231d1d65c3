"""Several independent replications, in this process or spread over others. The results do not depend on how."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from serq.base.errors import LimitError, UsageError
from serq.ir import program as p
from serq.semantics.memory import SESSION_BYTES, check_population
from serq.semantics.options import RunOptions
from serq.semantics.reference import Interpreter
from serq.semantics.run_result import Progress, RunResult
from serq.traces.corpus import Corpus
from serq.traces.reader import trace_of

if TYPE_CHECKING:
    from concurrent.futures import Future


def replicate(
    program: p.Program, options: RunOptions, replications: int, jobs: int = 1, progress: Progress | None = None
) -> tuple[RunResult, ...]:
    """Run replications 0 to `replications` - 1, at most `jobs` at a time, and return them in that order.

    Raises what `simulate` raises, for the first replication that fails; the others are given up. LimitError where those
    that run at a time have no room for the sessions of time 0. An interrupt stops the other processes at once.
    """
    if replications < 1:
        raise UsageError(f"at least one replication is needed, not {replications}")
    check_population(program, options.memory, SESSION_BYTES * min(max(jobs, 1), replications))
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
    if options.memory is not None:
        options = replace(options, memory=options.memory // jobs)
    with _workers(jobs) as submit:
        futures = [submit(_one, program, options, k, corpus) for k in range(replications)]
        results = []
        for future in futures:
            results.append(future.result())
            if progress is not None:
                progress(len(results) / replications)
        return tuple(results)


def _one(program: p.Program, options: RunOptions, replication: int, corpus: Corpus | None) -> RunResult:
    """One replication in a worker."""
    return Interpreter(program, options, replication, corpus).run()


@contextmanager
def _workers(jobs: int) -> Iterator["Callable[..., Future[RunResult]]"]:
    """A pool of processes that does not outlive an error or an interrupt, and whose death is noticed."""
    # only who runs side by side pays for it
    from concurrent.futures.process import BrokenProcessPool

    from serq.base.workers import worker_processes

    try:
        with worker_processes(jobs) as pool:
            yield pool.submit
    except BrokenProcessPool as error:
        raise LimitError("a process of the run was killed, most likely for want of memory") from error

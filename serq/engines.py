"""Which engine runs a program, and one form for what both give: the reference interpreter or the compiled simulator.

They agree bit for bit; the compiled one cannot run every program, and keeps no samples unless it is asked to.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass, replace
from typing import Literal, TypeVar

from serq.base.errors import RunError, UsageError
from serq.codegen import jit
from serq.codegen.program import Backend
from serq.engine.holds import Holds
from serq.engine.results import EngineResult, Log, StageRow, Waiting
from serq.engine.run import EnoughError, Pause, Simulator, simulator
from serq.engine.settings import Settings
from serq.engine.sites import FaultRaised
from serq.engine.supported import why_not
from serq.ir import program as p
from serq.semantics.limits import beginners
from serq.semantics.memory import check_population, memory_in_use
from serq.semantics.options import BATCHES, RunOptions
from serq.semantics.quantiles import Observations
from serq.semantics.run_result import Progress, RunResult, StoppedError, stopped_at
from serq.semantics.series import series_of
from serq.semantics.statistics import Counts
from serq.semantics.tallies import PoolSums, Samples, SessionSums, StageSums
from serq.sketched import sketched
from serq.traces.corpus import Corpus

Engine = Literal["auto", "compiled", "reference"]
"""`auto` compiles what can be compiled."""

_SESSION_BYTES = 128
"""What a session takes at least in the compiled engine."""
_PROFILED = 16
"""Replications up to which observations are counted by batch too: half a megabyte of each for every observe."""
_LOOK = 0.1
"""Seconds between two looks at what threads have done."""
_SHORT = 1 << 9
"""Observations that a short run keeps before it hands them over."""
T = TypeVar("T")


@dataclass(frozen=True)
class Simulated:
    """Replications, the `engine` that ran them, and why it was not the compiled one (empty when it was, or when nobody
    asked for it). `observations` by observe are there when no samples were kept.
    """

    results: tuple[RunResult, ...]
    engine: Literal["compiled", "reference"]
    why: str = ""
    observations: Mapping[str, Observations] | None = None


def run_replications(
    program: p.Program,
    options: RunOptions,
    replications: int,
    jobs: int = 1,
    progress: Progress | None = None,
    engine: Engine = "auto",
) -> Simulated:
    """Run replications 0 to `replications` - 1, at most `jobs` at a time.

    Raises what `serq.semantics.replications.replicate` raises, and `UsageError` where `compiled` is asked for and
    cannot be had.
    """
    why = "" if engine == "reference" else why_not_compiled(program, options)
    if engine == "compiled" and why:
        raise UsageError(f"the compiled engine cannot run this: {why}; use --engine reference")
    if engine == "reference" or why or replications < 1:
        from serq.semantics.replications import replicate  # loads the interpreter

        return Simulated(replicate(program, options, replications, jobs, progress), "reference", why)
    return run_compiled(program, options, replications, jobs, progress, opt=None)


def why_not_compiled(program: p.Program, options: RunOptions) -> str:
    """Why a run is left to the reference, in a few words; empty where it is not."""
    if options.checked:
        return "the invariants of the machine are asserted by the reference only"
    return why_not(program) or ("" if jit.available() else "llvmlite is not installed")


def run_compiled(
    program: p.Program,
    options: RunOptions,
    replications: int,
    jobs: int = 1,
    progress: Progress | None = None,
    backend: Backend = "auto",
    bounds_checked: bool = False,
    opt: int | None = 2,
    together: bool = True,
) -> Simulated:
    """The same with the compiled engine, for a program that it can run; threads where there are several jobs.

    `bounds_checked`, `opt` (see `serq.engine.run.simulator`) and `together` (see `serq.engine.settings`) are for
    tests and benchmarks.
    """
    check_population(program, options.memory, _SESSION_BYTES * min(max(jobs, 1), replications))
    keep = options.keep_samples
    profile = replications <= _PROFILED and options.batches <= BATCHES
    settings = replace(_settings(program, options), together=together, profile=profile)
    holds = Holds(program, rejects=options.limits.rejects)
    compiled = simulator(program, keep, backend, checked=bounds_checked, opt=opt, holds=holds)
    runs = _Replications(compiled, settings, options, replications, _corpus(program, options.trace))
    in_turn = min(jobs, replications) <= 1
    found = _answered(
        program, options, lambda: runs.in_turn(progress) if in_turn else runs.side_by_side(jobs, progress)
    )
    results = tuple(run_result(program, k, result) for k, result in enumerate(found))
    if keep:
        return Simulated(results, "compiled")
    return Simulated(results, "compiled", "", _observations(program, found))


def _corpus(program: p.Program, given: str | None) -> Corpus | None:
    """The trace that the program replays, if any; most do not, and load no reader."""
    if program.trace is None and given is None:
        return None
    from serq.traces.reader import trace_of

    return trace_of(program, given)


def _answered(program: p.Program, options: RunOptions, run: Callable[[], T]) -> T:
    """What a compiled run gives; its faults and the limits that it reaches in the words of the reference."""
    try:
        return run()
    except FaultRaised as raised:
        from serq.faults import diagnostic_of

        raise RunError(program.source, [diagnostic_of(program, raised.fault, options.limits.commands)]) from None
    except _CutError as cut:
        raise _stopped(program, cut.replication, cut.result, options.keep_samples) from None


def _settings(program: p.Program, options: RunOptions) -> Settings:
    """The options as the compiled engine takes them."""
    limits = options.limits
    return Settings(
        options.seed, options.horizon, options.warmup, options.batches, options.keep_samples, limits.commands,
        limits.replacements, options.events, limits.preemptions,
        first_commands=limits.first_commands * beginners(program, limits), changed=options.changed,
    )  # fmt: skip


class Prepared:
    """A program that is run again and again for short times, with other options each time; samples are kept.

    Raises what `run_replications` raises.
    """

    def __init__(self, program: p.Program, options: RunOptions, engine: Engine = "auto") -> None:
        self.program = program
        self.why = "" if engine == "reference" else why_not_compiled(program, options)
        if engine == "compiled" and self.why:
            raise UsageError(f"the compiled engine cannot run this: {self.why}; use --engine reference")
        interpreted = engine == "reference" or bool(self.why)
        self.engine: Literal["compiled", "reference"] = "reference" if interpreted else "compiled"
        self._compiled = (
            None if interpreted else simulator(program, True, holds=Holds(program, rejects=options.limits.rejects))
        )
        self._corpus = _corpus(program, options.trace)

    def run(self, options: RunOptions, replication: int) -> RunResult:
        """One replication."""
        assert options.keep_samples
        if self._compiled is None:
            from serq.semantics.reference import Interpreter

            return Interpreter(self.program, options, replication, self._corpus).run()
        settings = replace(_settings(self.program, options), log=_SHORT)
        runs = _Replications(self._compiled, settings, options, replication + 1, self._corpus)
        return _answered(self.program, options, lambda: run_result(self.program, replication, runs.one(replication)))


def _observations(program: p.Program, found: Sequence[EngineResult]) -> dict[str, Observations]:
    return {name: sketched(i, found) for i, name in enumerate(program.observes)}


def _stopped(program: p.Program, replication: int, result: EngineResult, keep: bool) -> StoppedError:
    """What to raise for a replication that reached a limit: a report on it alone can be made."""
    if not result.rows:
        return StoppedError(result.stopped)
    observations = None if keep else _observations(program, [result])
    return StoppedError(result.stopped, run_result(program, replication, result), observations)


class _Replications:
    """Replications of one compiled program under the limits of the options."""

    def __init__(
        self, compiled: Simulator, settings: Settings, options: RunOptions, replications: int, corpus: Corpus | None
    ) -> None:
        self.compiled = compiled
        self.settings = settings
        self.options = options
        self.corpus = corpus
        self.done = [0.0] * replications
        self.stopped = False

    def in_turn(self, progress: Progress | None) -> list[EngineResult]:
        """One after the other in this thread."""
        return [self.one(k, progress) for k in range(len(self.done))]

    def one(self, k: int, progress: Progress | None = None) -> EngineResult:
        """One replication; _CutError when it reaches a limit."""
        result = self.compiled.run(self.settings, k, self._pause(k, progress), self.corpus)
        if result.stopped:
            raise _CutError(k, result)
        return result

    def side_by_side(self, jobs: int, progress: Progress | None) -> list[EngineResult]:
        """In threads; an error or an interrupt stops them all within some milliseconds.

        Of several that fail the first one's error is raised, whichever came first.
        """
        with ThreadPoolExecutor(min(jobs, len(self.done))) as pool:
            futures = [pool.submit(self.one, k, None) for k in range(len(self.done))]
            try:
                return [self._awaited(future, progress) for future in futures]
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _awaited(self, future: "Future[EngineResult]", progress: Progress | None) -> EngineResult:
        """What a thread gives, with a look at the progress of all from time to time."""
        while not future.done():
            wait([future], _LOOK)
            if progress is not None:
                progress(sum(self.done) / len(self.done))
        return future.result()

    def _pause(self, k: int, progress: Progress | None) -> Pause:
        options = self.options

        def pause(events: int, time: float, present: int) -> None:
            if self.stopped:
                raise _StoppedError
            self.done[k] = min(time / options.horizon, 1.0)
            if progress is not None:
                progress(sum(self.done) / len(self.done))
            reached = ""
            if options.events is not None and events >= options.events:
                reached = f"{events} events"
            elif options.memory is not None and (used := memory_in_use()) > options.memory:
                reached = f"{used >> 20} MiB of memory"
            if reached:
                raise EnoughError(stopped_at(reached, time, options.horizon, present))

        return pause


class _StoppedError(Exception):
    """Another replication has failed."""


class _CutError(Exception):
    """A replication has reached a limit."""

    def __init__(self, replication: int, result: EngineResult) -> None:
        self.replication = replication
        self.result = result
        super().__init__(result.stopped)


# -- results ---------------------------------------------------------------------------------------------------------


def run_result(program: p.Program, replication: int, result: EngineResult) -> RunResult:
    """A compiled run in the form of the reference's; `samples` is empty where none were kept."""
    counts = Counts(
        list(result.widths),
        [[_stage_sums(row.stages[i]) for row in result.rows] for i in range(len(program.stages))],
        [[PoolSums(*astuple(row.pools[i])) for row in result.rows] for i in range(len(program.pools))],
        [[row.gauges[i] for row in result.rows] for i in range(len(program.gauges))],
        [SessionSums(s.number, s.arrived, s.ended, s.lost, s.turns) for s in (row.sessions for row in result.rows)],
        {name: [row.observes[i] for row in result.rows] for i, name in enumerate(program.observes)},
    )
    samples = {name: _samples(log) for name, log in zip(program.observes, result.logs, strict=False)}
    waiting = tuple(_waiting(program, w) for w in result.waiting)
    return RunResult(replication, series_of(program, counts), samples, counts, result.events, result.rested, waiting)


def _waiting(program: p.Program, waiting: Waiting) -> str:
    if waiting.line is None:
        return f"session {waiting.serial} is at stage {program.stages[waiting.place].name}"
    return f"session {waiting.serial} waits for pool {program.pools[waiting.place].name} at line {waiting.line}"


def _stage_sums(row: StageRow) -> StageSums:
    return StageSums(
        row.number, row.busy, row.nonempty, row.completed, row.wait, row.sojourn, row.service, row.iterations
    )


def _samples(log: Log) -> Samples:
    samples = Samples()
    samples.values, samples.times, samples.sessions, samples.turns = log.values, log.times, log.sessions, log.turns
    samples.closed = len(log.values)
    return samples

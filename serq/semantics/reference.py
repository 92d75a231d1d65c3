"""The reference interpreter: it drives the machine with sampled draws and an event list.

Written for reading: what a compiled engine does must equal this, event for event.
"""

from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics.arrivals import Arrivals
from serq.semantics.configuration import Status
from serq.semantics.invariants import check_invariants
from serq.semantics.machine import Machine
from serq.semantics.memory import memory_in_use
from serq.semantics.online import EstimatingStatistics, reads_estimates
from serq.semantics.options import RunOptions
from serq.semantics.run_result import Progress, RunResult, StoppedError, stopped_at
from serq.semantics.sampled import SampledWorld
from serq.semantics.series import series_of
from serq.semantics.statistics import Statistics, Window
from serq.traces.corpus import Corpus
from serq.traces.reader import trace_of

_PAUSE = 4096
"""Events between two looks at the limits and the progress."""


def simulate(
    program: p.Program, options: RunOptions, replication: int = 0, progress: Progress | None = None
) -> RunResult:
    """Run one replication. The result depends on the program, the options and the replication's number, and on nothing
    else.

    Raises `RunError` for what the program does wrong, `StoppedError` at a limit of the options, `InputError` and
    `LoadError` for a trace that cannot be read, `UsageError` for a trace that the program has no place for.
    """
    return Interpreter(program, options, replication, trace_of(program, options.trace)).run(progress)


class Interpreter:
    """One run in progress: the machine, its world, its statistics, and the arrivals."""

    def __init__(self, program: p.Program, options: RunOptions, replication: int, corpus: Corpus | None = None) -> None:
        self.program = program
        self.options = options
        self.replication = replication
        self.world = SampledWorld(program, options.seed, replication, corpus, options.changed)
        self.statistics = self._statistics()
        self.machine = Machine(program, self.world, self.statistics, options.limits)
        self.world.attach(self.machine)
        self.arrivals = Arrivals(program, self.world, self.machine)
        self.events = 0
        self._next_pause = min(_PAUSE, options.events or _PAUSE)
        self._watch()

    def _statistics(self) -> Statistics:
        window = Window(self.options.warmup, self.options.horizon, self.options.batches)
        if not reads_estimates(self.program):
            return Statistics(self.program, window, self.options.keep_samples)
        statistics = EstimatingStatistics(self.program, window, self.options.keep_samples)
        self.world.estimates = statistics.estimates
        return statistics

    def _watch(self) -> None:
        drifting = [place for place, gauge in enumerate(self.program.gauges) if _reads_work(gauge.expr)]
        self.statistics.watch(self.machine.configuration.pools, self.machine.gauges, drifting)

    # -- the loop ----------------------------------------------------------------------------------------------------

    def run(self, progress: Progress | None = None) -> RunResult:
        """Run to the horizon, or until nothing can happen any more."""
        self._begin()
        return self._result(self._loop(progress))

    def _result(self, ran_out: bool) -> RunResult:
        counts = self.statistics.finish()
        return RunResult(
            self.replication,
            series_of(self.program, counts),
            self.statistics.samples,
            counts,
            self.events,
            self.world.time if ran_out else None,
            self._waiting() if ran_out else (),
        )

    def _begin(self) -> None:
        self.statistics.move(0.0)
        self.arrivals.begin()
        self.machine.begin()
        self._settle()

    def _loop(self, progress: Progress | None) -> bool:
        """Fire clock after clock. Whether the clocks ran out before the horizon."""
        world, clocks, machine = self.world, self.world.clocks, self.machine
        statistics, horizon = self.statistics, self.options.horizon
        while True:
            time = clocks.earliest()
            if time is None or time > horizon:
                return time is None
            if time != world.time:
                world.time = time
                statistics.move(time)
                machine.new_instant()
            clocks.fire()
            self._settle()
            self.events += 1
            if self.events >= self._next_pause:
                self._pause(progress)

    def _settle(self) -> None:
        self.machine.settle()
        self.world.rest()
        self.statistics.rest()
        if self.options.checked:
            check_invariants(self.program, self.machine.configuration)

    def _pause(self, progress: Progress | None) -> None:
        options, time = self.options, self.world.time
        self._next_pause = self.events + _PAUSE
        if options.events is not None:
            self._next_pause = min(self._next_pause, max(options.events, self.events + 1))
        if progress is not None:
            progress(time / options.horizon)
        reached = ""
        if options.events is not None and self.events >= options.events:
            reached = f"{self.events} events"
        elif options.memory is not None and (used := memory_in_use()) > options.memory:
            reached = f"{used >> 20} MiB of memory"
        if reached:
            message = stopped_at(reached, time, options.horizon, len(self.machine.configuration.sessions))
            raise StoppedError(message, self._result(False) if self.statistics.stop() else None)

    def _waiting(self) -> tuple[str, ...]:
        """Who waits for what, in words."""
        out = []
        for session in self.machine.configuration.sessions.values():
            if session.status in (Status.QUEUED, Status.GROWING):
                line = self.program.code[session.pc].span.line
                pool = self.program.pools[session.place].name
                out.append(f"session {session.serial} waits for pool {pool} at line {line}")
            elif session.status is Status.AT_STAGE:
                out.append(f"session {session.serial} is at stage {self.program.stages[session.place].name}")
        return tuple(out)


def _reads_work(expr: e.Expr) -> bool:
    return any(isinstance(node, e.StageState) and node.fact == "work" for node in e.walk(expr))

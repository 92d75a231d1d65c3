"""Replaying a trace to its end, request for request: no window, no averages, but what became of each request.

The meaning of the program is that of the interpreter: the same machine, world and arrivals. A replay goes on until
nothing can happen any more; where sessions keep arriving it ends at the program's horizon.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, RunError, UsageError
from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics.arrivals import Arrivals
from serq.semantics.configuration import Claim, Session, Status
from serq.semantics.errors import NeverAdmitted, WaitsForEver
from serq.semantics.fan_out import FanOut
from serq.semantics.invariants import check_invariants
from serq.semantics.limits import Limits
from serq.semantics.machine import Machine
from serq.semantics.memory import memory_in_use
from serq.semantics.online import EstimatingStatistics, reads_estimates
from serq.semantics.options import DEFAULT_SEED
from serq.semantics.request_log import RequestLog, RequestRows
from serq.semantics.sampled import SampledWorld
from serq.semantics.scene import shown
from serq.semantics.statistics import Window
from serq.semantics.step_log import Observer, Step, StepLog
from serq.semantics.waiting import MOST_NAMED, named, never_admitted, waits_for_ever
from serq.semantics.world import Recorder
from serq.traces.corpus import Corpus

Progress = Callable[[float, int], object]
"""Told from time to time the time of the replay and how many requests are done. What it raises stops the replay."""

_PAUSE = 4096
"""Events between two looks at the memory in use."""
_NO_END = 1e300


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How to replay.

    `seed` and `horizon` None: as the program says; a finite trace runs to its end unless a horizon is given. `strict`:
    a request that can never fit is not rejected but waits for ever, as it does in vLLM, and so does all behind it.
    `checked` asserts the invariants after every transition. `events` and `memory` (bytes): where to stop.
    """

    seed: int | None = None
    horizon: float | None = None
    strict: bool = False
    checked: bool = False
    events: int | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Replayed:
    """What a replay left: the requests, the time and number of events at its end, how many turns were never sent.

    `stuck` is the error that names who waits for ever; None when everything came to an end. `engine` did it, and `why`
    says why it was not the compiled one, where that was not what was asked for.
    """

    requests: RequestRows
    time: float
    events: int
    unsent: int
    stuck: RunError | None = None
    engine: Literal["compiled", "reference"] = "reference"
    why: str = ""

    def summary(self) -> dict[str, int | float | None]:
        """Counts, and the mean times from sending to the first and last token of the requests that are done."""
        requests = done = preemptions = 0
        first = last = 0.0
        for request in self.requests:
            requests += 1
            preemptions += request.preemptions
            if request.first is not None and request.done is not None:
                done += 1
                first += request.first - request.sent
                last += request.done - request.sent
        return {
            "requests": requests,
            "done": done,
            "rejected": self.requests.rejections,
            "unsent": self.unsent,
            "preemptions": preemptions,
            "mean_first": first / done if done else None,
            "mean_done": last / done if done else None,
        }


def replay(
    program: p.Program,
    corpus: Corpus | None,
    options: ReplayOptions = ReplayOptions(),
    sink: Callable[[Step], object] | None = None,
    recorder: Recorder | None = None,
    progress: Progress | None = None,
) -> Replayed:
    """Replay the corpus. `sink` is given every iteration, `recorder` is told every event, `progress` how far it is.

    Raises `RunError` for what the program does wrong, `LimitError` at a limit, `UsageError` where there is no end.
    """
    return _Replay(program, corpus, options, sink, recorder).run(progress)


class _Replay:
    def __init__(
        self, program: p.Program, corpus: Corpus | None, options: ReplayOptions,
        sink: Callable[[Step], object] | None, recorder: Recorder | None,
    ) -> None:  # fmt: skip
        self.program = program
        self.corpus = corpus
        self.options = options
        self.horizon = horizon_of(program, options)
        self.statistics: EstimatingStatistics | None = None
        self.world = SampledWorld(program, seed_of(program, options), 0, corpus)
        self.requests = RequestLog(program, self.world)
        parts: list[Recorder] = [self.requests, _Forgetful(self.world)]
        steps = None if sink is None else StepLog(program, self.world, sink)
        parts += [part for part in (steps, recorder, self._estimates()) if part is not None]
        limits = replace(Limits(), rejects=not options.strict)
        self.machine = Machine(program, self.world, FanOut(parts), limits)
        self.world.attach(self.machine)
        for part in parts:
            if isinstance(part, Observer):
                part.machine = self.machine
        self.arrivals = Arrivals(program, self.world, self.machine)
        self.events = 0

    def _estimates(self) -> EstimatingStatistics | None:
        if not reads_estimates(self.program):
            return None
        self.statistics = EstimatingStatistics(self.program, Window(0.0, _NO_END, 1))
        self.world.estimates = self.statistics.estimates
        return self.statistics

    def run(self, progress: Progress | None) -> Replayed:
        """Run to the end."""
        self.arrivals.begin()
        self.machine.begin()
        self._settle()
        over = self._loop(progress)
        stuck = self._stuck(over)
        self.requests.finish(self.machine.configuration)
        never = unsent(self.program, self.corpus, self.requests)
        return Replayed(self.requests, self.world.time, self.events, never, stuck)

    def _loop(self, progress: Progress | None) -> bool:
        """Fire clock after clock; whether the clocks ran out before the horizon."""
        world, clocks, machine = self.world, self.world.clocks, self.machine
        while True:
            time = clocks.earliest()
            if time is None or time > self.horizon:
                return time is None
            if time != world.time:
                world.time = time
                machine.new_instant()
                if self.statistics is not None:
                    self.statistics.move(time)
            clocks.fire()
            self._settle()
            self.events += 1
            if self.events == self.options.events:
                self._stop(f"{self.events} events")
            if self.events % _PAUSE == 0:
                self._look_at_memory()
                if progress is not None:
                    progress(world.time, len(self.requests))

    def _settle(self) -> None:
        self.machine.settle()
        self.world.rest()
        if self.options.checked:
            check_invariants(self.program, self.machine.configuration)

    def _look_at_memory(self) -> None:
        limit = self.options.memory
        if limit is not None and (used := memory_in_use()) > limit:
            self._stop(f"{used >> 20} MiB of memory")

    def _stop(self, reached: str) -> NoReturn:
        raise LimitError(
            f"the replay was stopped at {reached}: time {self.world.time:g}, {len(self.requests)} requests done, "
            f"{len(self.machine.configuration.sessions)} sessions present"
        )

    # -- who waits for ever ------------------------------------------------------------------------------------------

    def _stuck(self, over: bool) -> RunError | None:
        """Who waits for ever: whoever can never be admitted, and when all is over everybody who is still there."""
        looked_at = (self._impossible(claim, needs) for claim, needs in self.machine.waiting())
        impossible = [fault for fault in looked_at if fault is not None]
        sessions = self.machine.configuration.sessions.values() if over else ()
        found: list[Diagnostic] = [*impossible] or [self._waiting(session) for session in sessions]
        return RunError(self.program.source, found[:MOST_NAMED]) if found else None

    def _impossible(self, claim: Claim, needs: list[Value]) -> NeverAdmitted | None:
        for pool, need in zip(claim.pools, needs, strict=True):
            if need > self.program.pools[pool].cap.value:
                session = claim.session
                behind = len(self.machine.configuration.pools[claim.pools[0]].queue) - 1
                return never_admitted(self.program, self._name(session), session.pc, pool, shown(need), behind)
        return None

    def _waiting(self, session: Session) -> WaitsForEver:
        at_stage = session.status is Status.AT_STAGE
        return waits_for_ever(self.program, self._name(session), session.pc, session.place, at_stage)

    def _name(self, session: Session) -> str:
        return named(self.world.trace_name(self.world.trace_place(session)), session.turn_no)


def unsent(program: p.Program, corpus: Corpus | None, requests: RequestRows) -> int:
    """Turns of the trace that never began: their sessions were rejected or wait, or the horizon came first."""
    if corpus is None or not isinstance(program.arrivals, p.FromTrace):
        return 0
    return sum(corpus.turns(session) for session in range(len(corpus))) - len(requests)


class _Forgetful(Recorder):
    """Tells the world that a session is gone."""

    def __init__(self, world: SampledWorld) -> None:
        self._world = world

    def ended(self, session: Session) -> None:
        """It draws no more."""
        self._world.forget(session)


def horizon_of(program: p.Program, options: ReplayOptions) -> float:
    """The time at which a replay stops. UsageError where there is no end."""
    if options.horizon is not None:
        return options.horizon
    if isinstance(program.arrivals, p.Batch | p.FromTrace | p.NoArrivals):
        return math.inf
    if program.run.horizon is None:
        raise UsageError("sessions keep arriving and there is no horizon: give --horizon")
    return program.run.horizon.value


def seed_of(program: p.Program, options: ReplayOptions) -> int:
    """The seed of a replay."""
    if options.seed is not None:
        return options.seed
    return DEFAULT_SEED if program.run.seed is None else p.whole(program.run.seed)

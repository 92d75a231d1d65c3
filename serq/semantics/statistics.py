"""Counting what happens in a run: the recorder of the reference interpreter.

The window [warmup, horizon] includes both ends and is cut into batches of equal length; what happens at a boundary
belongs to the later batch. Everything is a sum over one batch, so that each measure is a ratio of sums
(`serq.semantics.series`) and has an interval (`serq.semantics.estimate`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from serq.ir import program as p
from serq.semantics.configuration import Claim, Entry, Job, PoolState, Session
from serq.semantics.tallies import (
    GaugeTally,
    PoolSums,
    PoolTally,
    Samples,
    SessionSums,
    SessionTally,
    StageSums,
    StageTally,
)
from serq.semantics.world import Recorder


@dataclass(frozen=True, slots=True)
class Window:
    """The time that counts, in `batches` stretches."""

    warmup: float
    horizon: float
    batches: int

    def ends(self) -> list[float]:
        """Where the warm-up and each batch end: `batches` + 1 times."""
        width = self.horizon - self.warmup
        return [self.warmup + width * (k / self.batches) for k in range(self.batches)] + [self.horizon]


@dataclass
class Counts:
    """Per batch, what each thing summed to: `stages[place][batch]` and so on, `observes[name][batch]` = (sum, n)."""

    widths: list[float] = field(default_factory=list)
    stages: list[list[StageSums]] = field(default_factory=list)
    pools: list[list[PoolSums]] = field(default_factory=list)
    gauges: list[list[float]] = field(default_factory=list)
    sessions: list[SessionSums] = field(default_factory=list)
    observes: dict[str, list[tuple[float, int]]] = field(default_factory=dict)


GaugeValues = Callable[[], Sequence[float]]
"""Gives the values of all gauges as they stand now."""


class Statistics(Recorder):
    """Told by the machine what happens and by the driver what time it is (`move`) and when all is at rest (`rest`)."""

    def __init__(self, program: p.Program, window: Window, keep_samples: bool = False) -> None:
        self.now = 0.0
        self.keep_samples = keep_samples
        self.stages = [StageTally(isinstance(s.kind, p.Fifo)) for s in program.stages]
        self.pools = [PoolTally() for _ in program.pools]
        self.sessions = SessionTally()
        self.samples = {name: Samples() for name in program.observes}
        self.gauges = [GaugeTally() for _ in program.gauges]
        self.counts = Counts(
            stages=[[] for _ in self.stages],
            pools=[[] for _ in self.pools],
            gauges=[[] for _ in self.gauges],
            observes={name: [] for name in self.samples},
        )
        self._pool_states: list[tuple[PoolTally, PoolState]] = []
        self._gauge_values: GaugeValues = list
        self._drifting: tuple[int, ...] = ()
        self._ends = window.ends()
        self._closed = 0
        self.next_end = self._ends[0]

    def watch(self, pools: Sequence[PoolState], gauges: GaugeValues, drifting: Collection[int]) -> None:
        """What to read at rest. `drifting` are the places of gauges that change while nothing happens."""
        self._pool_states = list(zip(self.pools, pools, strict=True))
        self._gauge_values = gauges
        self._drifting = tuple(drifting)

    # -- time --------------------------------------------------------------------------------------------------------

    def move(self, now: float) -> None:
        """Time passes: the next event is at `now` and has not happened yet."""
        if self._drifting:
            values = self._gauge_values()
            for place in self._drifting:
                self.gauges[place].reach(now, values[place])
        while now >= self.next_end and self._closed < len(self._ends) - 1:
            self._close()
        self.now = now

    def rest(self) -> None:
        """Nothing more happens at this instant."""
        for tally, state in self._pool_states:
            if tally.differs(state):
                tally.read(state, self.now)
        if self.gauges:
            for gauge, value in zip(self.gauges, self._gauge_values(), strict=True):
                gauge.read(self.now, value)

    def finish(self) -> Counts:
        """The run is over; batches that have not been closed are closed at their ends."""
        while self._closed < len(self._ends):
            self._close()
        return self.counts

    def stop(self) -> bool:
        """The run ends here, in the middle of a batch, which is cut short. False within the warm-up."""
        closed = self._closed
        if closed:
            self._ends[closed:] = [self.now] if self.now > self._ends[closed - 1] else []
            self.next_end = self.now
        return closed > 0

    def _close(self) -> None:
        """A batch ends, or the warm-up, whose sums are dropped."""
        end = self.next_end
        stages, pools = [t.close(end) for t in self.stages], [t.close(end) for t in self.pools]
        gauges, sessions = [t.close(end) for t in self.gauges], self.sessions.close(end)
        if self._closed == 0:
            for samples in self.samples.values():
                samples.clear()
        else:
            self._keep(stages, pools, gauges, sessions)
        self._closed += 1
        if self._closed < len(self._ends):
            self.next_end = self._ends[self._closed]

    def _keep(self, stages: list[StageSums], pools: list[PoolSums], gauges: list[float], sessions: SessionSums) -> None:
        counts = self.counts
        counts.widths.append(self._ends[self._closed] - self._ends[self._closed - 1])
        for stage_rows, stage_sums in zip(counts.stages, stages, strict=True):
            stage_rows.append(stage_sums)
        for pool_rows, pool_sums in zip(counts.pools, pools, strict=True):
            pool_rows.append(pool_sums)
        for gauge_rows, area in zip(counts.gauges, gauges, strict=True):
            gauge_rows.append(area)
        counts.sessions.append(sessions)
        for name, samples in self.samples.items():
            counts.observes[name].append(samples.close())

    # -- sessions ----------------------------------------------------------------------------------------------------

    def observed(self, session: Session, observe: p.Observe, value: float) -> None:
        """An observation; those of the warm-up are dropped when it ends."""
        samples = self.samples[observe.name]
        samples.values.append(value)
        if self.keep_samples:
            samples.times.append(self.now)
            samples.sessions.append(session.serial)
            samples.turns.append(session.turn_no)

    def turned(self, session: Session) -> None:
        """A turn begins."""
        self.sessions.sums.turns += 1

    def arrived(self, session: Session) -> None:
        """One session more."""
        self.sessions.advance(self.now)
        self.sessions.number += 1
        self.sessions.sums.arrived += 1

    def lost(self) -> None:
        """An arrival is turned away."""
        self.sessions.sums.lost += 1

    def ended(self, session: Session) -> None:
        """One session less."""
        self.sessions.advance(self.now)
        self.sessions.number -= 1
        self.sessions.sums.ended += 1

    # -- stages ------------------------------------------------------------------------------------------------------

    def joined(self, stage: int, job: Job) -> None:
        """One job more."""
        tally, now = self.stages[stage], self.now
        if now != tally.last:
            tally.advance(now)
        tally.number += 1
        tally.joined[job.number] = now

    def started(self, stage: int, job: Job) -> None:
        """A job that may have waited enters service."""
        tally = self.stages[stage]
        if tally.queues:
            now = self.now
            if now != tally.last:
                tally.advance(now)
            tally.busy += 1
            tally.begun[job.number] = now

    def completed(self, stage: int, job: Job) -> None:
        """A job is done."""
        tally = self.stages[stage]
        begun = tally.leave(job.number, self.now)
        sums = tally.sums
        sums.completed += 1
        sums.service += self.now - begun

    def withdrawn(self, stage: int, job: Job) -> None:
        """A job leaves before it is done."""
        self.stages[stage].leave(job.number, self.now)

    def iteration_ended(self, stage: int) -> None:
        """A step stage has done an iteration."""
        self.stages[stage].sums.iterations += 1

    # -- pools -------------------------------------------------------------------------------------------------------

    def admitted(self, pool: int, claim: Claim) -> None:
        """A hold begins."""
        sums = self.pools[pool].sums
        sums.admissions += 1
        sums.waited += self.now - claim.since

    def rejected(self, pool: int, claim: Claim) -> None:
        """A hold can never fit."""
        self.pools[pool].sums.rejections += 1

    def evicted(self, pool: int, entry: Entry, units: float, whole: bool) -> None:
        """The cache gives way. An entry counts when nothing is left of it."""
        sums = self.pools[pool].sums
        sums.evictions += whole
        sums.evicted_units += units

    def preempted(self, pool: int, session: Session) -> None:
        """A hold is taken away."""
        self.pools[pool].sums.preemptions += 1

    def spilled(self, pool: int, entry: Entry, units: float) -> None:
        """Evicted units set out for the tier."""
        sums = self.pools[pool].sums
        sums.spills += 1
        sums.spilled_units += units

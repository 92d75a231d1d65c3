"""Every measure of a program as a ratio of long-run reward rates of its chain, or the reason why it is none.

State rewards bear the names of the measures that they are means of; impulse rewards are earned at transitions
(`serq.semantics.impulses.Impulses`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from serq.ir import flow
from serq.ir import program as p
from serq.ir.chain import Ratio, Unmapped
from serq.ir.measures import Measure, measures_of
from serq.semantics.control import Control
from serq.semantics.graph import members
from serq.semantics.kinds import Reason
from serq.semantics.observed import Observed

_STATE_MEANS = {
    "stage": ("number", "waiting", "busy"),
    "pool": ("used", "cached", "queue", "holders"),
    "sessions": ("number",),
}


@dataclass(frozen=True)
class Mapping:
    """The measures of a program, and the rewards that they need beyond those of every program.

    `regions`: state rewards that count the sessions at some instructions. `gauges`: places of the gauges that are
    state rewards.
    """

    ratios: tuple[Ratio | Unmapped, ...]
    regions: dict[str, frozenset[int]]
    gauges: tuple[int, ...]


def map_measures(control: Control) -> Mapping:
    """Maps every measure of the program."""
    return _Mapper(control).mapping()


class _Mapper:
    def __init__(self, control: Control) -> None:
        self.control = control
        self.program = control.program
        self.observed = Observed(control)
        self.stages = {stage.name: stage for stage in self.program.stages}
        self.gauges = {gauge.name: i for i, gauge in enumerate(self.program.gauges)}
        self.opaque = {name: self._gauge_reason(i) for name, i in self.gauges.items()}

    def mapping(self) -> Mapping:
        ratios = tuple(self._map(measure) for measure in measures_of(self.program))
        gauges = tuple(i for name, i in self.gauges.items() if self.opaque[name] is None)
        return Mapping(ratios, self.observed.regions.places, gauges)

    def _map(self, measure: Measure) -> Ratio | Unmapped:
        if measure.statistic in _STATE_MEANS.get(measure.kind, ()):
            return _mean(measure.name)
        match measure.kind:
            case "observe":
                return self.observed.mean(measure.subject) if measure.statistic == "mean" else _mean(measure.name)
            case "stage":
                return self._stage(measure)
            case "pool":
                return self._pool(measure)
            case "gauge":
                reason = self.opaque[measure.subject]
                return _mean(measure.name) if reason is None else Unmapped(measure.name, reason)
            case _:
                return _mean(measure.name)

    def _stage(self, measure: Measure) -> Ratio | Unmapped:
        prefix = f"stage.{measure.subject}."
        kind = self.stages[measure.subject].kind
        match measure.statistic:
            case "utilisation" if isinstance(kind, p.Fifo):
                return Ratio(measure.name, ((Fraction(1, p.whole(kind.servers)), prefix + "busy"),))
            case "utilisation":
                return _mean(prefix + "nonempty", measure.name)
            case "wait":
                return _little(measure.name, prefix + "waiting", prefix + "throughput")
            case "sojourn":
                return _little(measure.name, prefix + "number", prefix + "throughput")
            case _:
                return _mean(measure.name)

    def _pool(self, measure: Measure) -> Ratio | Unmapped:
        prefix = f"pool.{measure.subject}."
        if measure.statistic != "queue_wait":
            return _mean(measure.name)
        place = next(i for i, pool in enumerate(self.program.pools) if pool.name == measure.subject)
        if self._may_leave_unserved(place):
            reason = "a preemption may take a waiting hold out of the queue, and the mean is over admitted ones"
            return Unmapped(measure.name, reason)
        return _little(measure.name, prefix + "queue", prefix + "admissions")

    def _may_leave_unserved(self, pool: int) -> bool:
        """Whether a hold that waits in the pool's queue stands inside of one that can be preempted."""
        enclosing = flow.enclosing_holds(self.program)
        for pc, step in enumerate(self.program.code):
            if isinstance(step, p.Hold) and pool in members(step.parts[0].pool):
                place = self.control.graph.place[pc]
                if enclosing[pc] and self.control.graph.nodes[place].restarts:
                    return True
        return False

    def _gauge_reason(self, place: int) -> str | None:
        kind = self.control.kinds.of(self.program.gauges[place].expr, {})
        if kind.is_finite:
            return None
        reasons = {source.reason for source in kind.sources}
        return next(text for reason, text in _GAUGE_REASONS if reason in reasons)


_GAUGE_REASONS: Sequence[tuple[Reason, str]] = (
    ("estimate", "it reads unfinished work or an online estimate, which the states of the chain do not hold"),
    ("time", "it reads the time itself, which has no long-run mean"),
    ("draw", "it draws"),
    ("endless", "it draws"),
    ("real key", "it reads an age"),
)


def _mean(reward: str, measure: str | None = None) -> Ratio:
    return Ratio(measure or reward, ((Fraction(1), reward),))


def _little(measure: str, number: str, rate: str) -> Ratio:
    """Little's law: mean time = mean number / rate."""
    return Ratio(measure, ((Fraction(1), number),), rate)


def without(ratios: Iterable[Ratio | Unmapped], broken: dict[str, str]) -> tuple[Ratio | Unmapped, ...]:
    """The ratios, but for those of which exploring found that they have no finite value, and why."""
    return tuple(Unmapped(r.measure, broken[r.measure]) if r.measure in broken else r for r in ratios)

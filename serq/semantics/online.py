"""The online estimates of a stage: what `est_lambda`, `est_rho` and `est_wait` read.

Each is an exponentially weighted mean that starts at its first sample and is 0 before.
"""

import math

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.semantics.configuration import Job
from serq.semantics.statistics import Statistics, Window
from serq.semantics.world import Estimate

_WEIGHT = 0.01
_HIGHEST_RHO = 0.99


class WeightedMean:
    """mean += weight * (sample - mean); the first sample is the first mean."""

    __slots__ = ("samples", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.samples = 0

    def add(self, sample: float) -> None:
        """One sample more."""
        self.value = self.value + _WEIGHT * (sample - self.value) if self.samples else sample
        self.samples += 1


class StageEstimates:
    """What is known of a stage so far. A gap is between two arrivals at it; wait and service count at completion."""

    __slots__ = ("gap", "last", "service", "wait")

    def __init__(self) -> None:
        self.gap = WeightedMean()
        self.wait = WeightedMean()
        self.service = WeightedMean()
        self.last: float | None = None

    def arrive(self, now: float) -> None:
        """A job joins."""
        if self.last is not None:
            self.gap.add(now - self.last)
        self.last = now

    def read(self, fact: Estimate) -> float:
        """The estimate. Gaps of 0 only give an infinite arrival rate."""
        if fact == "est_wait":
            return self.wait.value
        if not self.gap.samples:
            return 0.0
        rate = 1.0 / self.gap.value if self.gap.value > 0.0 else math.inf
        if fact == "est_lambda":
            return rate
        return min(_HIGHEST_RHO, rate * self.service.value) if self.service.value > 0.0 else 0.0


class EstimatingStatistics(Statistics):
    """Statistics that also keep the online estimates, for programs that read them."""

    def __init__(self, program: p.Program, window: Window, keep_samples: bool = False) -> None:
        super().__init__(program, window, keep_samples)
        self.estimates = [StageEstimates() for _ in program.stages]

    def joined(self, stage: int, job: Job) -> None:
        """A job joins: the gap since the last one is known."""
        super().joined(stage, job)
        self.estimates[stage].arrive(self.now)

    def completed(self, stage: int, job: Job) -> None:
        """A job is done: its wait and service are known."""
        tally = self.stages[stage]
        joined = tally.joined[job.number]
        begun = tally.begun.get(job.number, joined)
        estimates = self.estimates[stage]
        estimates.wait.add(begun - joined)
        estimates.service.add(self.now - begun)
        super().completed(stage, job)


def reads_estimates(program: p.Program) -> bool:
    """Whether anything in the program reads an online estimate or a price."""
    return any(
        isinstance(node, e.Price) or (isinstance(node, e.StageState) and node.fact.startswith("est_"))
        for expr in expressions_of(program)
        for node in e.walk(expr)
    )


def expressions_of(program: p.Program) -> list[e.Expr]:
    """Every expression that is evaluated while the program runs."""
    out = [x for instruction in program.code for x in flow.expressions(instruction)]
    out += [s.expr for s in (*program.init, *program.turn)]
    out += [gauge.expr for gauge in program.gauges]
    for pool in program.pools:
        out += [*pool.evict, *pool.queue, *pool.victims]
        if pool.spill is not None:
            out += [pool.spill.work, pool.spill.when]
    for stage in program.stages:
        if isinstance(stage.kind, p.Step):
            out += [x for x in (stage.kind.budget, stage.kind.cost, stage.kind.chunk) if x is not None]
    return out

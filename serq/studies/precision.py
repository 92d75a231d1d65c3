"""Running on until intervals are as narrow as somebody wants them, relative to their values.

After each round the number of replications, or the horizon, that would do is foretold from the half widths, which fall
as the square root of the work (A. M. Law, Simulation Modeling and Analysis, 5th ed., section 9.4.1), and all is run
anew from the same seed: the report is that of a plain run of the same size, whatever the number of jobs. A run that
stops because its interval happens to be narrow has an interval that is a little too narrow: the fewer the replications,
the more so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from serq.base.errors import UsageError
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.pipeline import SimulateOptions, run_options, simulate
from serq.semantics.report import RunReport
from serq.semantics.run_result import RunResult

FEWEST = 10
"""Replications of the first round: of fewer the half width itself is known too badly to stop by it."""
MOST = 100
"""Times the work of the first round, unless somebody says otherwise."""
_SURE = 1.1
"""More than foretold, so that one more round is usually the last."""
_LEAST, _LARGEST = 1.25, 8.0
"""How much larger a round is than the last one."""


@dataclass(frozen=True, slots=True)
class Until:
    """What to reach: a relative half width of every one of `measures` (empty: of the means of all observes).

    `longer` runs longer instead of more often. At `most` times the work of the first round it ends in any case.
    """

    relative: float
    measures: tuple[str, ...] = ()
    longer: bool = False
    most: float = MOST


@dataclass(frozen=True, slots=True)
class Reached:
    """The largest relative half width at the end and whose it is; None where a measure has no interval, or is 0."""

    wanted: float
    relative: float | None
    measure: str

    @property
    def enough(self) -> bool:
        """Whether what was wanted has been reached."""
        return self.relative is not None and self.relative <= self.wanted


def simulate_until(
    program: Program, options: SimulateOptions, until: Until, progress: Callable[[float], None] | None = None
) -> tuple[RunReport, tuple[RunResult, ...], Reached]:
    """Simulate with more and more replications, or longer and longer, until all wanted half widths are reached.

    UsageError for a measure that the program does not have; otherwise as `serq.pipeline.simulate`.
    """
    if not until.longer:
        options = replace(options, replications=max(options.replications, FEWEST))
    first = run_options(program, options).horizon if until.longer else float(options.replications)
    size, most = first, first * until.most
    while True:
        now = replace(options, horizon=size) if until.longer else replace(options, replications=round(size))
        report, results = simulate(program, now, progress)
        reached = _reached(wanted(report, until.measures), until.relative)
        if reached.enough or size >= most:
            remark = _BIASED if reached.enough else f"{_said(reached)} at the limit of {until.most:g} times the work"
            return replace(report, remarks=(*report.remarks, remark)), results, reached
        size = min(size * _factor(reached), most)


_BIASED = "the run stopped when its intervals were narrow enough: they cover a little less often than they say"


def wanted(report: RunReport, measures: Sequence[str]) -> list[Estimate]:
    """The answers that must become precise: by default the means of all observes."""
    names = tuple(measures) or tuple(f"observe.{section.name}.mean" for section in report.observes)
    if not names:
        raise UsageError("nothing is observed: say with --measure what must become precise")
    known = [e.measure for e in report.estimates]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no measure {name!r}; there are {', '.join(known)}")
    return [report.estimate(name) for name in names]


def _reached(estimates: Sequence[Estimate], relative: float) -> Reached:
    """The worst of them; one without an interval is worse than all others."""
    widths = [_relative(e) for e in estimates]
    worst = max(range(len(widths)), key=lambda i: widths[i])
    width = widths[worst]
    return Reached(relative, width if math.isfinite(width) else None, estimates[worst].measure)


def _relative(e: Estimate) -> float:
    if e.value is None or e.half_width is None or not math.isfinite(e.half_width):
        return math.inf
    if e.half_width == 0.0:
        return 0.0
    return e.half_width / abs(float(e.value)) if e.value else math.inf


def _factor(reached: Reached) -> float:
    """How much more work the next round does."""
    if reached.relative is None:
        return _LARGEST
    return min(max(_SURE * (reached.relative / reached.wanted) ** 2, _LEAST), _LARGEST)


def _said(reached: Reached) -> str:
    width = "no interval" if reached.relative is None else f"a half width of {100 * reached.relative:.2g}%"
    return f"{reached.measure} has {width}, not the {100 * reached.wanted:.2g}% wanted,"

"""Whether a run looks like a steady state: growing, not yet stationary, or stationary.

This is evidence, not proof: 'stationary' means that nothing speaks against it. Each rule states how often it is wrong
about a stationary run; docs/explanation/statistics.md has what was measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Literal

from serq.semantics.run_result import RunResult
from serq.semantics.tallies import SessionSums
from serq.semantics.trends import Trend, trend_of

Kind = Literal["stationary", "not yet stationary", "growing", "drained", "stuck"]

FALSE_ALARM = 1e-3
"""How often a stationary run is called growing by its flows, and how often not yet stationary by a trend."""
_DOUBT = 3.3
"""Standard deviations: a normal deviate passes this on either side once in a thousand times."""
_CORRELATED = 0.6
"""From here on neighbouring 32nds of the window have too much in common: it is some ten correlation times long."""
_FEW = 8
"""Finished jobs and sessions below which nothing speaks for a steady state either."""
_PARTS = 8
"""The window is cut into so many parts to look for a rise in each of them."""
_RISE = 1.5
"""How much larger the last part must be than the first."""


@dataclass(frozen=True, slots=True)
class Stability:
    """A verdict with its reason. `arrivals` and `completions` are sessions per unit of time."""

    kind: Kind
    text: str
    arrivals: float
    completions: float


def stability_of(results: Sequence[RunResult]) -> Stability:
    """The verdict on several replications of one program.

    'stuck': sessions wait for ever. 'drained': nobody is left and nobody arrives. 'growing': sessions come in faster
    than they leave, by more than 3.3 times the flow's Poisson deviation (a stable queue's difference stays bounded
    while that deviation grows; a population that begins in the window is no flow), or the number present rises through
    all eighths of the window. 'not yet stationary': something present, at a stage or in a pool, has a trend
    (`serq.semantics.trends`), or is so much alike in neighbouring 32nds of the window that this is too short to tell,
    or next to nothing was finished in it.
    """
    runs, widths = [r.counts.sessions for r in results], results[0].counts.widths
    waiting = next((r.waiting for r in results if r.waiting), ())
    time = sum(sum(r.counts.widths) for r in results)
    arrived = sum(s.arrived for run in runs for s in run)
    ended = sum(s.ended for run in runs for s in run)
    flows = arrived / time, ended / time
    if waiting:
        more = f", and {len(waiting) - 3} more" if len(waiting) > 3 else ""
        return Stability("stuck", "nothing can happen any more: " + "; ".join(waiting[:3]) + more, *flows)
    rested = [r.rested for r in results if r.rested is not None]
    if len(rested) == len(results):
        return Stability("drained", f"from time {max(rested):.6g} on nothing happens any more", *flows)
    if _comes_in_faster(runs, widths):
        text = f"no steady state: {flows[0]:.4g} sessions arrive and {flows[1]:.4g} leave per unit of time"
        return Stability("growing", text, *flows)
    parts = _parts([sum(run[k].number for run in runs) / len(runs) for k in range(len(widths))], widths)
    if parts and all(a < b for a, b in pairwise(parts)) and parts[-1] > _RISE * parts[0]:
        text = f"the number of sessions rises throughout the window, from {parts[0]:.4g} to {parts[-1]:.4g}"
        return Stability("growing", text, *flows)
    finished = sum(map(_finished, results))
    if finished < _FEW:
        few = f"only {finished} jobs and sessions were finished" if finished else "nothing was finished"
        return Stability("not yet stationary", f"{few} in the window: too little to tell", *flows)
    trends = [trend_of([r.series[name] for r in results]) for name in states_of(results[0])]
    return Stability(*_by_trends(dict(zip(states_of(results[0]), trends, strict=True))), *flows)


def _finished(result: RunResult) -> int:
    """How often a session left or was lost, or a job was completed."""
    sessions = sum(row.ended + row.lost for row in result.counts.sessions)
    return sessions + sum(row.completed for stage in result.counts.stages for row in stage)


def _comes_in_faster(runs: Sequence[Sequence[SessionSums]], widths: Sequence[float]) -> bool:
    """Whether more sessions come than leave, the first batch aside: whoever begins there is a population, no flow.

    Where there is no other batch, they are a population if they are there nearly all the time.
    """
    rows = [row for run in runs for row in run[1:]]
    if len(widths) == 1:
        rows = [run[0] for run in runs if run[0].number < 0.99 * run[0].arrived * widths[0]]
    arrived, ended = sum(row.arrived for row in rows), sum(row.ended for row in rows)
    return arrived - ended > _DOUBT * math.sqrt(arrived + ended)


def normal_quantile(chance: float) -> float:
    """What a standard normal deviate exceeds with this probability."""
    return -NormalDist().inv_cdf(chance)


def states_of(result: RunResult) -> list[str]:
    """The measures that say how much is present."""
    kinds = {"sessions": ("number",), "stage": ("number",), "pool": ("used", "queue")}
    return [name for name in result.series if name.rsplit(".", 1)[1] in kinds.get(name.split(".")[0], ())]


def _by_trends(trends: dict[str, Trend | None]) -> tuple[Kind, str]:
    """Stationary unless one of so many series speaks against it, the most doubtful one first."""
    seen = {name: trend for name, trend in trends.items() if trend is not None}
    doubtful = [name for name, trend in seen.items() if trend.chance * len(seen) < FALSE_ALARM]
    if doubtful:
        name = min(doubtful, key=lambda n: seen[n].chance)
        first, last = seen[name].first, seen[name].last
        word = "rises" if last > first else "falls"
        return (
            "not yet stationary",
            f"{name} {word} from {first:.4g} in the first quarter to {last:.4g} in the last half",
        )
    for name, trend in seen.items():
        if trend.correlation > max(_CORRELATED, normal_quantile(FALSE_ALARM / len(seen)) / math.sqrt(trend.parts - 1)):
            alike = f"{trend.parts} parts of the window are alike ({name}: correlation {trend.correlation:.2f})"
            return "not yet stationary", f"neighbours among {alike}: it is too short to tell"
    return "stationary", "nothing speaks against a steady state"


def _parts(areas: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The mean number present by eighths of the window; empty when it has fewer batches."""
    size = len(areas) // _PARTS
    if size == 0:
        return []
    cuts = [(k * size, (k + 1) * size if k < _PARTS - 1 else len(areas)) for k in range(_PARTS)]
    return [sum(areas[a:b]) / sum(widths[a:b]) for a, b in cuts]

"""Whether a run looks like a steady state, from the flows in and out and from the number of sessions present.

This is evidence, not proof: 'steady' means that nothing speaks against it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from serq.semantics.reference import RunResult

Kind = Literal["steady", "growing", "drained", "stuck"]

_DOUBT = 3.3
"""Standard deviations: chance alone passes this once in a thousand runs."""
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

    'growing': sessions come in faster than they leave, by more than twice the flow's Poisson deviation explains (a
    stable queue's difference stays bounded while that deviation grows), or the number present rises through all eighths
    of the window. 'stuck': sessions wait for ever. 'drained': nobody is left and nobody arrives.
    """
    runs, widths = [r.counts.sessions for r in results], results[0].counts.widths
    waiting = next((r.waiting for r in results if r.waiting), ())
    time = sum(widths) * len(runs)
    arrived = sum(s.arrived for run in runs for s in run)
    ended = sum(s.ended for run in runs for s in run)
    flows = arrived / time, ended / time
    if waiting:
        more = f", and {len(waiting) - 3} more" if len(waiting) > 3 else ""
        return Stability("stuck", "nothing can happen any more: " + "; ".join(waiting[:3]) + more, *flows)
    rested = [r.rested for r in results if r.rested is not None]
    if len(rested) == len(results):
        return Stability("drained", f"from time {max(rested):.6g} on nothing happens any more", *flows)
    if arrived - ended > _DOUBT * math.sqrt(arrived + ended):
        text = f"no steady state: {flows[0]:.4g} sessions arrive and {flows[1]:.4g} leave per unit of time"
        return Stability("growing", text, *flows)
    parts = _parts([sum(run[k].number for run in runs) / len(runs) for k in range(len(widths))], widths)
    if parts and all(a < b for a, b in pairwise(parts)) and parts[-1] > _RISE * parts[0]:
        text = f"the number of sessions rises throughout the window, from {parts[0]:.4g} to {parts[-1]:.4g}"
        return Stability("growing", text, *flows)
    return Stability("steady", "nothing speaks against a steady state", *flows)


def _parts(areas: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The mean number present by eighths of the window; empty when it has fewer batches."""
    size = len(areas) // _PARTS
    if size == 0:
        return []
    cuts = [(k * size, (k + 1) * size if k < _PARTS - 1 else len(areas)) for k in range(_PARTS)]
    return [sum(areas[a:b]) / sum(widths[a:b]) for a, b in cuts]

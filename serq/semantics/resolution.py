"""Whether the clock of a run was fine enough: it is a double, and what is tiny beside `now` is lost or rounded.

A stay shorter than half the distance between doubles near `now` begins and ends at the same time. That costs the run
nothing to see afterwards: the mean stays at the stages are in its sums.
"""

import math
from collections.abc import Sequence

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Doubles, NoScope, compile_expr
from serq.ir.expr import double
from serq.ir.laws import Law, mean
from serq.semantics.statistics import Counts

_FINE = 1000
"""A mean stay of fewer steps of the clock than this is measured less well than to a thousandth."""


def coarse_clock(program: p.Program, counts: Sequence[Counts], horizon: float) -> tuple[str, ...]:
    """A remark on every stage where stays are lost, or too short for the clock at the horizon."""
    step = math.ulp(horizon)
    out = []
    for place, stage in enumerate(program.stages):
        rows = [row for replication in counts for row in replication.stages[place]]
        completed = sum(row.completed for row in rows)
        stay = math.fsum(row.sojourn for row in rows) / completed if completed else math.inf
        if 0 < stay < _FINE * step:
            shown = f"the mean stay at {stage.name} is {stay:.3g}"
        elif stay == 0 and (work := _work(program, place)) is not None:
            shown = f"all of the stays at {stage.name} are lost, of work {work:.3g}"
        else:
            continue
        out.append(f"the clock is too coarse: near time {horizon:g} it goes in steps of {step:.3g}, and {shown}")
    return tuple(out)


def _work(program: p.Program, place: int) -> float | None:
    """A mean amount of work that the program brings to the stage, if it says plainly that it is more than 0."""
    if isinstance(program.stages[place].kind, p.Step):  # tokens may cost no time
        return None
    constants = {c.name: c.folded.value for c in program.constants}
    for step in program.code:
        if isinstance(step, p.Run) and place in range(step.stage.base, step.stage.base + step.stage.size):
            try:
                work = float(compile_expr(step.work, Doubles(), constants)(_Means()))
            except LookupError:
                continue
            if work > 0:
                return work
    return None


class _Means(NoScope):
    """Draws are their means; nothing else is known."""

    def draw(self, draw: e.Draw, args: tuple[float, ...]) -> float:
        """The mean."""
        return double(mean(Law(draw.law, args)))

"""The price of a change: what every measure becomes when a constant changes, exactly and by formula.

The finite-source price of longer work is the difference of the mean number at a station, L_N at the longer work minus
L_N at the shorter (see the page on closed forms). It counts the waiting of all sessions together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from serq.ir.expr import Number
from serq.ir.measures import Measure, measures_of
from serq.ir.program import Delay, Program


@dataclass(frozen=True, slots=True)
class Change:
    """One measure before and after, by one witness. `difference` is exact when both values are."""

    measure: Measure
    witness: str
    before: Number
    after: Number

    @property
    def difference(self) -> Number:
        """After minus before."""
        return self.after - self.before


def changes(
    program: Program, witness: str, before: Mapping[str, Number | None], after: Mapping[str, Number | None]
) -> tuple[Change, ...]:
    """Every measure that has a value both before and after, in the order of a report."""
    out = []
    for measure in measures_of(program):
        a, b = before.get(measure.name), after.get(measure.name)
        if a is not None and b is not None:
            out.append(Change(measure, witness, a, b))
    return tuple(out)


def prices(program: Program, found: tuple[Change, ...]) -> tuple[Change, ...]:
    """The headline: the mean numbers at the stages where sessions share something (not at a delay)."""
    delays = {stage.name for stage in program.stages if isinstance(stage.kind, Delay)}
    return tuple(
        c
        for c in found
        if c.measure.kind == "stage" and c.measure.statistic == "number" and c.measure.subject not in delays
    )

"""The three-way comparison: simulated, exact and closed form, side by side, with one verdict.

Several measures are tested at once, and they depend on each other. Holm's step-down method keeps the probability of
any false alarm in the whole table below `false_alarm`, whatever the dependence (Holm 1979, Scandinavian Journal of
Statistics 6).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from scipy.special import stdtr, stdtrit

from serq.compare.rare import Usual
from serq.ir.expr import double
from serq.ir.measures import Measure
from serq.ir.results import Estimate

Verdict = Literal["agrees", "disagrees", "one witness", "no answer"]

FALSE_ALARM = 1e-3
"""Default probability that a table of witnesses that agree shows a disagreement."""
POWER = 0.95
"""Probability with which an error of the size stated as found would have been found."""
FLOAT_TOLERANCE = 1e-9
"""Relative: how far a numerical solution without an error bound may be from a closed form, and what does not vary from
its reference.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One measure: what each witness says, and how they compare.

    `z` is (simulated - reference) / `error`, the reference being exact where there is one, else the closed form; the
    error is the sample's, or what rare excursions may do to it if that is more. `finds` is the smallest relative error
    that this run would have found with probability `POWER`.
    """

    measure: Measure
    simulated: Estimate | None
    exact: Estimate | None
    closed: Estimate | None
    error: float | None = None
    z: float | None = None
    p_value: float | None = None
    finds: float | None = None
    verdict: Verdict = "no answer"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The table. `agrees` is False when any row disagrees; `compared` counts rows with at least two witnesses.

    `tests` is the size of the family that was tested, of which the table may be a part.
    """

    rows: tuple[Row, ...]
    false_alarm: float
    tests: int

    @property
    def agrees(self) -> bool:
        """Whether no row disagrees."""
        return all(row.verdict != "disagrees" for row in self.rows)

    @property
    def compared(self) -> int:
        """Number of rows in which witnesses could be compared."""
        return sum(row.verdict in ("agrees", "disagrees") for row in self.rows)

    @property
    def finds(self) -> float | None:
        """The smallest relative error, in the measure that shows it best, that would have been found."""
        return min((row.finds for row in self.rows if row.finds is not None), default=None)

    @property
    def is_blind(self) -> bool:
        """Whether the run would have found no error in any measure, but one of its own size or larger."""
        return self.finds is not None and self.finds >= 1


@dataclass(frozen=True, slots=True)
class Untested:
    """The witnesses of one program side by side, not yet tested; `usual` as in `compare`."""

    rows: tuple[Row, ...]
    usual: Mapping[str, Usual]


def compare(
    measures: Iterable[Measure],
    simulated: Iterable[Estimate],
    exact: Iterable[Estimate],
    closed: Iterable[Estimate],
    false_alarm: float = FALSE_ALARM,
    usual: Mapping[str, Usual] = MappingProxyType({}),
) -> Agreement:
    """Join the witnesses' answers by measure and test them against each other.

    `usual`: the measures that left one value on rare excursions only. What they varied by is not trusted alone.
    """
    return judge([side_by_side(measures, simulated, exact, closed, usual)], false_alarm)[0]


def side_by_side(
    measures: Iterable[Measure],
    simulated: Iterable[Estimate],
    exact: Iterable[Estimate],
    closed: Iterable[Estimate],
    usual: Mapping[str, Usual] = MappingProxyType({}),
) -> Untested:
    """The witnesses' answers joined by measure, with what needs no chance already judged."""
    by_simulation, by_chain, by_formula = ({e.measure: e for e in es} for es in (simulated, exact, closed))
    rows = (
        _row(m, by_simulation.get(m.name), by_chain.get(m.name), by_formula.get(m.name), usual.get(m.name))
        for m in measures
    )
    return Untested(tuple(rows), usual)


def judge(tables: Sequence[Untested], false_alarm: float = FALSE_ALARM) -> tuple[Agreement, ...]:
    """Test several tables as one family: any false alarm in all of them together has the probability `false_alarm`."""
    rows = [list(table.rows) for table in tables]
    tested = [(t, i) for t, table in enumerate(rows) for i, row in enumerate(table) if row.p_value is not None]
    rejected = _holm([rows[t][i].p_value or 0.0 for t, i in tested], false_alarm)
    for place, (t, i) in enumerate(tested):
        usual = tables[t].usual.get(rows[t][i].measure.name)
        rows[t][i] = _verdict(rows[t][i], rejected[place], false_alarm / len(tested), usual)
    return tuple(Agreement(tuple(table), false_alarm, len(tested)) for table in rows)


def _value(estimate: Estimate | None) -> Fraction | float | None:
    return None if estimate is None else estimate.value


def _row(
    measure: Measure,
    simulated: Estimate | None,
    exact: Estimate | None,
    closed: Estimate | None,
    usual: Usual | None,
) -> Row:
    row = Row(measure, simulated, exact, closed)
    witnesses = [e for e in (simulated, exact, closed) if _value(e) is not None]
    if not witnesses:
        return row
    fault = _exact_fault(exact, closed)
    if fault:
        return replace(row, verdict="disagrees", why=fault)
    reference = _value(exact) if _value(exact) is not None else _value(closed)
    if reference is None or len(witnesses) == 1:
        return replace(row, verdict="one witness")
    if simulated is None or simulated.value is None:
        return replace(row, verdict="agrees")
    return _test(row, simulated, double(reference), usual)


def _test(row: Row, simulated: Estimate, reference: float, usual: Usual | None) -> Row:
    """The two-sided test of one simulated value; a value that cannot vary must be equal."""
    assert simulated.value is not None
    value = float(simulated.value)
    if usual is not None and abs(value - usual.value) <= usual.rounding:
        value = usual.value
    difference = value - reference
    error, degrees = simulated.standard_error, simulated.degrees
    if error is None or degrees is None:
        return replace(row, verdict="one witness", why=simulated.reason or "the run is too short for an interval")
    rounding = FLOAT_TOLERANCE * abs(reference) if reference or usual is None else usual.rounding
    if error <= rounding and abs(difference) <= rounding:
        return replace(row, verdict="agrees")
    if usual is not None:
        error = max(error, usual.error_at(reference))
    if error == 0:
        return replace(row, verdict="disagrees", why="every batch gave the same value, and it is not the reference")
    z = difference / error
    return replace(row, error=error, z=z, p_value=2 * float(stdtr(degrees, -abs(z))))


def _verdict(row: Row, rejected: bool, level: float, usual: Usual | None) -> Row:
    assert row.simulated is not None
    assert row.error is not None
    degrees = row.simulated.degrees
    reference = _value(row.exact) if _value(row.exact) is not None else _value(row.closed)
    assert reference is not None
    finds = None
    if reference != 0:
        needed = float(stdtrit(degrees, 1 - level / 2) + stdtrit(degrees, POWER))
        found = max(needed * row.error, usual.found(double(reference), needed) if usual else 0.0)
        finds = found / abs(double(reference))
    if not rejected:
        return replace(row, finds=finds, verdict="agrees")
    chance = f"chance explains this with p = {row.p_value:.1e}"
    why = f"the simulated value is {abs(row.z or 0):.1f} standard errors away; {chance}"
    return replace(row, finds=finds, verdict="disagrees", why=why)


def _exact_fault(exact: Estimate | None, closed: Estimate | None) -> str:
    """Why the chain and the formula contradict each other; empty when they do not."""
    a, b = _value(exact), _value(closed)
    if a is None or b is None or exact is None or closed is None:
        return ""
    if exact.is_exact and closed.is_exact:
        return "" if a == b else f"exact {a} and closed form {b} are different rationals"
    allowed = (exact.bound or 0.0) + (closed.bound or 0.0) + FLOAT_TOLERANCE * abs(double(b))
    gap = abs(double(a) - double(b))
    return "" if gap <= allowed else f"exact and closed form differ by {gap:.3g}, more than the {allowed:.1g} allowed"


def _holm(p_values: list[float], level: float) -> list[bool]:
    """Which hypotheses Holm's method rejects at the family-wise level."""
    rejected = [False] * len(p_values)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, i in enumerate(order):
        if p_values[i] > level / (len(p_values) - rank):
            break
        rejected[i] = True
    return rejected

"""Bounds on the errors of the price of an event in doubles: from that of the stationary vector, and from roundings.

The prices are sums over the flows of the event, which are stationary probabilities times rates, and over the row that
the deviation matrix makes of these flows (`serq.semantics.counterfactual`); its bound is that of
`serq.semantics.deviation.Deviation.row_within`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite

from serq.ir.chain import Ratio, Transition
from serq.ir.expr import Number

_UNIT = 2.0**-53
_SLACK = 1 + 1e-9
"""More than the bounds themselves are rounded by."""


def rounded_up(off: float, size: Number) -> float | None:
    """A bound with room for some roundings of numbers of that size; None where there is none."""
    bound = (off + 16 * _UNIT * abs(float(size))) * _SLACK if off else 0.0
    return bound if isfinite(bound) else None


def off_quotient(
    ratio: Ratio, mean: Number, below: Number, table: Mapping[str, Sequence[Fraction]], doubt: float
) -> float:
    """By how much a mean per event is off at most, where the vector is by `doubt` in total."""
    error = {name: _off_mean(vector, doubt) for name, vector in table.items()}
    assert ratio.per is not None
    least = float(below) - error[ratio.per]
    if not least > 0:
        return inf
    above = sum(float(abs(weight)) * error[name] for weight, name in ratio.terms)
    return (above + abs(float(mean)) * error[ratio.per]) / least + 8 * _UNIT * abs(float(mean))


def _off_mean(vector: Sequence[Fraction], doubt: float) -> float:
    top = max((abs(float(x)) for x in vector), default=0.0)
    return (doubt + (len(vector) + 8) * _UNIT) * top


Moved = tuple[Sequence[Number], float]
"""The time that is spent more in every state, and a bound on the sum of its errors."""


class Moves:
    """The flows of an event from where it goes to where the other way leads, as far as their errors need them.

    `doubt`: a bound on the sum of the errors of the stationary probabilities, infinite where there is none.
    """

    def __init__(self, doubt: float | None) -> None:
        self.doubt = inf if doubt is None else doubt
        self._out: dict[int, float] = {}
        self._largest: dict[str, float] = {}
        self._total = 0.0
        self._count = 0

    def add(self, t: Transition, factor: Fraction, flow: Number) -> None:
        """A flow: the probability of its source times the rate times a factor."""
        self._out[t.source] = self._out.get(t.source, 0.0) + abs(float(t.rate) * float(factor))
        self._total += abs(float(flow))
        self._count += 1
        for name, value in t.impulses:
            self._largest[name] = max(self._largest.get(name, 0.0), abs(float(value)))

    @property
    def _off_flows(self) -> float:
        """By how much the flows are off in total; the events per unit of time are so at most, too."""
        rounding = (self._count + 16) * _UNIT * self._total
        return (self.doubt * max(self._out.values(), default=0.0) + rounding) * _SLACK

    def off_change(self, events: Number) -> float:
        """By how much the flows per event are off in total."""
        off = self._off_flows
        least = float(events) - off
        size = self._total / float(events)
        return (off * (1 + size) / least + 4 * _UNIT * size) * _SLACK if least > 0 else inf

    def off_price(self, name: str, events: Number, at_once: Number, vector: Sequence[Fraction], moved: Moved) -> float:
        """By how much the price of a reward is off."""
        off, least = self._off_flows, float(events) - self._off_flows
        if not least > 0:
            return inf
        earned = off * (self._largest.get(name, 0.0) + abs(float(at_once)) / float(events)) / least
        row, row_off = moved
        top = max(abs(float(x - vector[0])) for x in vector)
        spent = sum(abs(float(x)) for x in row)
        rounding = (len(row) + 16) * _UNIT * (top * spent + abs(float(at_once)) / float(events))
        return (earned + top * row_off + rounding) * _SLACK

"""What exponential events make of the time until the next clock rings: uniformisation in whole numbers.

With Q the rates among the states that they lead to and h the time, row 0 of exp(Q h) is where they have led by then,
and row 0 of the integral of exp(Q t) over [0, h] how long they have stayed where. The exponentials are irrational.
They are taken from sums of positive terms in fixed point, so that every double they become is as near as a double can
be; only probabilities below 2^-100 are taken for 0. (A. Jensen 1953; W. K. Grassmann, Comput. Oper. Res. 4, 1977.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from serq.base.errors import LimitError

_BITS = 180
"""Binary places of a number in fixed point."""
_LEAST = 100
"""Probabilities below 2 to minus this are taken for 0."""
_MOST_EVENTS = 20_000
"""Mean number of events between two clocks beyond which too many terms would be needed."""

Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class Spread:
    """By state, the probability to be in it when the clock rings, and the mean time spent in it until then."""

    at_end: tuple[Fraction, ...]
    stayed: tuple[Fraction, ...]


def spread(rates: Sequence[Mapping[int, Fraction]], time: Fraction) -> Spread:
    """Begin in state 0 and follow the rates for that time. LimitError where too much happens in it."""
    exits = [sum(row.values(), Fraction(0)) for row in rates]
    fastest = max(exits)
    if fastest == 0:
        return Spread((Fraction(1),), (time,))
    events = fastest * time
    if events > _MOST_EVENTS:
        raise LimitError(f"{float(events):.3g} events happen on average until the next clock rings: too many to follow")
    weights = _poisson(events)
    total = sum(weights)
    steps = [
        [(j, _fixed(rate / fastest)) for j, rate in row.items()] + [(i, _fixed(1 - exits[i] / fastest))]
        for i, row in enumerate(rates)
    ]
    here = [1 << _BITS] + [0] * (len(rates) - 1)
    at_end, stayed = [0] * len(rates), [0] * len(rates)
    left = total
    for weight in weights:
        left -= weight
        for i, mass in enumerate(here):
            at_end[i] += mass * weight
            stayed[i] += mass * left
        here = _moved(here, steps)
    return Spread(_shares(at_end, Fraction(1)), _shares(stayed, time))


def _fixed(x: Fraction) -> int:
    return (x.numerator << _BITS) // x.denominator


def _poisson(mean: Fraction) -> list[int]:
    """The weights of a Poisson law up to a common factor, until the rest is too small to matter."""
    weights = [1 << _BITS]
    top = weights[0]
    while weights[-1] << _BITS > top or len(weights) <= mean:
        weights.append(weights[-1] * mean.numerator // (mean.denominator * len(weights)))
        top = max(top, weights[-1])
    return weights


def _moved(here: Sequence[int], steps: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    there = [0] * len(here)
    for mass, row in zip(here, steps, strict=True):
        if mass:
            for j, chance in row:
                there[j] += mass * chance
    return [mass >> _BITS for mass in there]


def _shares(masses: Sequence[int], whole: Fraction) -> tuple[Fraction, ...]:
    """The masses as shares of the whole, each rounded to a double of its own."""
    total = sum(masses)
    return tuple(whole * Fraction(m / total) if m << _LEAST >= total else Fraction(0) for m in masses)

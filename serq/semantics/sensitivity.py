"""How measures change with the rates of a chain: d pi = pi dQ D, and every measure is a ratio of means over pi."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

from serq.ir.chain import Chain, Ratio, Solution
from serq.ir.expr import Number
from serq.semantics.deviation import Deviation
from serq.semantics.generator import merged_rates

Changes = Mapping[tuple[int, int], Number]
"""By source and target, how fast a rate changes."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A measure, its value, and its derivative."""

    measure: str
    value: Number
    derivative: Number


def slopes(
    chain: Chain, solution: Solution, rates: Changes, rewards: Mapping[str, Sequence[Number]]
) -> tuple[Slope, ...]:
    """The derivatives of the measures of a chain, those left out that have no value.

    `rewards`: by name, how fast the reward rate of each state changes; those that are not named do not change.
    """
    deviation = Deviation(merged_rates(chain), solution.probabilities)
    size = chain.size
    push: list[Number] = [Fraction(0) if deviation.is_exact else 0.0] * size
    for (source, target), rate in rates.items():
        flow = _product(deviation, solution.probabilities[source], rate)
        push[target] += flow
        push[source] -= flow
    moved = deviation.row(push)
    ratios = [r for r in chain.ratios if isinstance(r, Ratio)]
    names = sorted({name for r in ratios for name in (*(n for _, n in r.terms), *((r.per,) if r.per else ()))})
    means = {}
    for name, vector in chain.reward_table(names).items():
        value = _dot(deviation, solution.probabilities, vector)
        change = _dot(deviation, moved, vector)
        if name in rewards:
            change += _dot(deviation, solution.probabilities, rewards[name])
        means[name] = value, change
    found = (_slope(ratio, means, deviation.is_exact) for ratio in ratios)
    return tuple(slope for slope in found if slope is not None)


def _slope(ratio: Ratio, means: Mapping[str, tuple[Number, Number]], exact: bool) -> Slope | None:
    """(a / b)' = (a' - (a / b) b') / b."""
    weights = [(weight if exact else float(weight), name) for weight, name in ratio.terms]
    above = sum(weight * means[name][0] for weight, name in weights)
    rise = sum(weight * means[name][1] for weight, name in weights)
    below, drift = (Fraction(1), Fraction(0)) if ratio.per is None else means[ratio.per]
    if not below:
        return None
    value = above / below
    return Slope(ratio.measure, value, (rise - value * drift) / below)


def _product(deviation: Deviation, a: Number, b: Number) -> Number:
    return a * b if deviation.is_exact and not isinstance(b, float) else float(a) * float(b)


def _dot(deviation: Deviation, a: Sequence[Number], b: Sequence[Number]) -> Number:
    if deviation.is_exact and not any(isinstance(y, float) for y in b):
        return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
    return fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))

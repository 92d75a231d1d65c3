"""The measures of a chain from its stationary vector: every measure is a ratio of long-run reward rates.

Rational vectors give rational answers. A vector in doubles gives a double, with a bound on its error where the
vector has one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, lcm

import numpy as np
from numpy.typing import NDArray

from serq.ir.chain import Chain, Ratio, Solution, Unmapped
from serq.ir.expr import Number
from serq.ir.packed import PackedRewards, PackedTransitions
from serq.ir.results import Estimate
from serq.semantics.steady import recurrent_class

_ROUNDING = Fraction(1, 2**52)
_OF_A_SUM = 64 * _ROUNDING
"""Relative error of a sum of products by pairs, the roundings of each product included."""


def answers(chain: Chain, solution: Solution) -> tuple[Estimate, ...]:
    """One estimate per entry of `chain.ratios`, in their order.

    A measure per event that never happens, and one that the chain cannot give, has the value None and a reason.
    """
    names = names_in(chain)
    return answers_from(chain, long_run_rates(chain, solution, sorted(names)), solution)


def answers_from(chain: Chain, rates: "Mapping[str, Rate]", solution: Solution) -> tuple[Estimate, ...]:
    """The same from long-run rates of rewards that are known already."""
    return tuple(_answer(ratio, rates, solution) for ratio in chain.ratios)


def names_in(chain: Chain) -> set[str]:
    """The rewards that the measures of a chain need."""
    return {name for ratio in chain.ratios if isinstance(ratio, Ratio) for name in _names(ratio)}


def _names(ratio: Ratio) -> tuple[str, ...]:
    return (*(name for _, name in ratio.terms), *(() if ratio.per is None else (ratio.per,)))


@dataclass(frozen=True, slots=True)
class Rate:
    """A long-run reward rate. `error`: a bound, None where nothing is known. `possible`: some recurrent state earns it,
    though the value may be 0 as a double.
    """

    value: Number
    error: Fraction | None
    possible: bool


def long_run_rates(chain: Chain, solution: Solution, names: Sequence[str]) -> dict[str, Rate]:
    """The long-run rate of each reward: its mean over the stationary vector, impulses lowered to rates."""
    if isinstance(chain.transitions, PackedTransitions) and isinstance(solution.probabilities[0], float):
        return _packed_rates(chain, chain.transitions, solution, names)
    weights, unit = _common(solution.probabilities) if solution.bound is not None else ((), 1)
    out = {}
    for name, vector in chain.reward_table(names).items():
        value: Number
        error = None
        if solution.bound is not None:
            value = _dot(vector, weights) / unit
            error = Fraction(solution.bound) * max((abs(c) for c in vector), default=Fraction(0))
        else:
            value = fsum(float(c) * float(p) for c, p in zip(vector, solution.probabilities, strict=True) if c)
        out[name] = Rate(value, error, value != 0 or _possible(chain, vector))
    return out


def _packed_rates(
    chain: Chain, transitions: PackedTransitions, solution: Solution, names: Sequence[str]
) -> dict[str, Rate]:
    vector = np.array(solution.probabilities)
    recurrent = np.zeros(chain.size, dtype=bool)
    recurrent[np.asarray(recurrent_class(chain))] = True
    out = {}
    for name in names:
        earned = packed_rewards(chain, transitions, name)
        value = float(np.sum(vector * earned))
        error = None
        if solution.bound is not None:
            largest, rounding = float(np.abs(earned).max(initial=0.0)), float(np.sum(vector * np.abs(earned)))
            error = Fraction(solution.bound) * Fraction(largest) + Fraction(rounding) * _OF_A_SUM
        possible = value != 0 or bool(np.any(earned[recurrent]))
        out[name] = Rate(value, error, possible)
    return out


def packed_rewards(chain: Chain, transitions: PackedTransitions, name: str) -> NDArray[np.float64]:
    """`chain.reward_rates` as doubles."""
    earned = transitions.impulse_rates(name)
    if name in chain.state_rewards:
        rewards = chain.state_rewards
        assert isinstance(rewards, PackedRewards)
        earned = earned + rewards.doubles(name)
    return earned


def _possible(chain: Chain, vector: Sequence[Fraction]) -> bool:
    return any(vector) and any(vector[state] for state in recurrent_class(chain))


def _common(probabilities: Sequence[Number]) -> tuple[tuple[int, ...], int]:
    """The probabilities as whole numbers over one denominator: sums of long fractions are slow otherwise."""
    fractions = [Fraction(p) for p in probabilities]
    unit = lcm(*{p.denominator for p in fractions})
    return tuple(p.numerator * (unit // p.denominator) for p in fractions), unit


def _dot(vector: Sequence[Fraction], weights: Sequence[int]) -> Fraction:
    unit = lcm(*{c.denominator for c in vector})
    whole = sum(c.numerator * (unit // c.denominator) * w for c, w in zip(vector, weights, strict=True) if c)
    return Fraction(whole, unit)


def _answer(ratio: Ratio | Unmapped, rates: Mapping[str, Rate], solution: Solution) -> Estimate:
    if isinstance(ratio, Unmapped):
        return Estimate(ratio.measure, "exact", None, solution.method, reason=ratio.reason)
    below = Rate(Fraction(1), Fraction(0), True) if ratio.per is None else rates[ratio.per]
    if not below.value:
        seen = "is too rare for double precision" if below.possible else "never happens in the long run"
        return Estimate(ratio.measure, "exact", None, solution.method, reason=f"the event '{ratio.per}' {seen}")
    above: Number = sum((weight * rates[name].value for weight, name in ratio.terms), Fraction(0))
    value = above / below.value
    if isinstance(solution.probabilities[0], Fraction):
        return Estimate(ratio.measure, "exact", value, solution.method)
    bound = _bound(value, [(weight, rates[name]) for weight, name in ratio.terms], below)
    return Estimate(ratio.measure, "exact", float(value), solution.method, bound=bound)


def _bound(value: Number, terms: Sequence[tuple[Fraction, Rate]], below: Rate) -> float | None:
    """A bound on the error of a quotient from bounds on its terms: |a/b - A/B| <= (da + |a/b| db) / (b - db)."""
    errors = [abs(weight) * rate.error for weight, rate in terms if rate.error is not None]
    if len(errors) < len(terms) or below.error is None or below.value <= below.error:
        return None
    size = abs(Fraction(value))
    error = (sum(errors, Fraction(0)) + size * below.error) / (Fraction(below.value) - below.error)
    return float(error + size * _ROUNDING)


def distribution(chain: Chain, solution: Solution) -> dict[str, Number]:
    """The probability of each recurrent state, by its readable text, in the order of the chain."""
    out: dict[str, Number] = {}
    for state, probability in zip(chain.states, solution.probabilities, strict=True):
        if probability:
            out[state] = out[state] + probability if state in out else probability
    return out


def marginal(chain: Chain, solution: Solution, reward: str) -> dict[Fraction, Number]:
    """The distribution of a state reward, by value: the number at a station, the units in a pool.

    KeyError when the chain has no state reward of that name.
    """
    out: dict[Fraction, Number] = {}
    for value, probability in zip(chain.state_rewards[reward], solution.probabilities, strict=True):
        if probability:
            out[value] = out[value] + probability if value in out else probability
    return dict(sorted(out.items()))

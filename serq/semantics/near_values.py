"""Answers of a chain in which rationals stand next to irrational parameters.

They are rationals of that chain, not of the program: near ones, which are right to the last digit of a double or, where
a double stands for the parameter, to about as many digits as it.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from serq.base.errors import NoRationalsError
from serq.ir.chain import Chain, Nearness, Solution
from serq.ir.expr import Number, double
from serq.ir.results import Estimate

_ROUNDING = 2.0**-52
"""Relative: more than rounding to a double and thirty right digits of a probability can leave to be wrong. Where
rates move by a relative e, the n entries of a stationary vector move by 2 n e at most: C. A. O'Cinneide, Entrywise
perturbation theory and error analysis for Markov chains, Numer. Math. 65 (1993)."""
_IRRATIONAL = (Nearness.RATIONAL, Nearness.DOUBLE)


def no_rationals_of(chain: Chain) -> None:
    """NoRationalsError where the chain is next to that of the program, which has other rationals or none."""
    for approximation in chain.approximated:
        if approximation.kind in _IRRATIONAL:
            raise NoRationalsError(f"there is no rational solution: {approximation.what}; solve in doubles")


def as_near_values(chain: Chain, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The answers, none of them as exact where the chain is next to that of the program."""
    if not chain.is_near:
        return tuple(estimates)
    return tuple(_near(chain, estimate) for estimate in estimates)


def _near(chain: Chain, estimate: Estimate) -> Estimate:
    if estimate.value is None:
        return estimate
    known = 0.0 if isinstance(estimate.value, Fraction) else estimate.bound
    return replace(estimate, near=True, bound=near_bound(chain, known, abs(double(estimate.value))))


def as_near_solution(chain: Chain, solution: Solution) -> Solution:
    """The solution with a bound that holds for the program, where the chain is next to that of it."""
    return replace(solution, bound=near_bound(chain, solution.bound, 1.0))


def near_bound(chain: Chain, bound: float | None, size: float) -> float | None:
    """A bound on the error for the program from one for the chain; None where doubles stand for irrational parameters.

    `size`: of the number that it is about.
    """
    if bound is None or chain.has(Nearness.DOUBLE):
        return None
    return bound + _ROUNDING * size if chain.is_near else bound


def near_number(chain: Chain, value: Number) -> Number:
    """A number of the chain: a double where the chain is next to that of the program, which has another rational."""
    return double(value) if chain.is_near else value

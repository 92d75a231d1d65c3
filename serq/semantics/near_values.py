"""Answers of a chain in which rationals stand next to irrational parameters.

They are rationals of that chain, not of the program: near ones, which are right to the last digit of a double or, where
a double stands for the parameter, to about as many digits as it.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from serq.ir.chain import A_DOUBLE, Chain
from serq.ir.results import Estimate

_ROUNDING = 2.0**-52
"""Relative: more than rounding to a double and thirty right digits of a probability can leave to be wrong. Where
rates move by a relative e, the n entries of a stationary vector move by 2 n e at most: C. A. O'Cinneide, Entrywise
perturbation theory and error analysis for Markov chains, Numer. Math. 65 (1993)."""


def as_near_values(chain: Chain, estimates: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """The answers, none of them as exact where the chain is next to that of the program."""
    if not chain.is_near:
        return tuple(estimates)
    close = not any(A_DOUBLE in text for text in chain.approximated)
    return tuple(_near(estimate, close) for estimate in estimates)


def _near(estimate: Estimate, close: bool) -> Estimate:
    """The answer as a near one, with a bound where the chain is `close` to that of the program."""
    if not isinstance(estimate.value, Fraction):
        return estimate
    bound = _ROUNDING * abs(float(estimate.value)) if close else None
    return replace(estimate, near=True, bound=bound)

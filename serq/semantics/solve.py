"""The stationary vector of a chain: which solver, and the checks that every answer has to pass.

Rational answers are proved by the balance equations in whole numbers. An answer in doubles comes with its residual,
which is no bound on its error; a small chain is solved in rationals as well, and then the error is known.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serq.base.errors import LimitError, NoRationalsError, UsageError
from serq.base.source import SourceFile
from serq.ir.chain import Chain, Solution
from serq.ir.expr import Number
from serq.ir.packed import PackedTransitions
from serq.semantics import rational
from serq.semantics.doubles import error_of, find_vector
from serq.semantics.generator import (
    Rows,
    band_order,
    integer_generator,
    merged_rates,
    packed_rates,
    restrict,
    sparse_rates,
)
from serq.semantics.steady import recurrent_class

Vector = NDArray[np.float64]
Levels = NDArray[np.int64]
METHODS = ("auto", "direct", "gth", "dixon", "lu", "levels")
"""`gth` eliminates states in a band, `dixon` is rational only; `lu` and `levels` (aggregation over levels) are doubles
only. `direct` is `auto` without the iterative `levels`.
"""

NARROW = 3
"""Half bandwidth up to which rational elimination beats the dense p-adic solver at any size."""
LARGEST_NARROW = 10_000
LARGEST_RATIONAL = 2_000
LARGEST_COMPARED = 300
"""States up to which an answer in doubles is compared with the rational one."""
_RESIDUAL = 1e-9
_ROUNDING = 1e-12


def stationary(
    chain: Chain, *, exact: bool, method: str = "auto", source: SourceFile | None = None, levels: Levels | None = None
) -> Solution:
    """The stationary vector over all states of the chain, zero on the transient ones.

    `levels`: a whole number for every state, such that the chain mixes fast within a level; they help where nothing
    else does. Raises NoSteadyStateError when there is no stationary vector (`source` gives it the program's text),
    LimitError when the chain is too large for the method or the answer fails its checks, UsageError for a method that
    does not exist or does not go with `exact`.
    """
    if method not in _methods(exact):
        kind = "rational" if exact else "floating-point"
        raise UsageError(f"there is no {kind} method '{method}'; there are {', '.join(_methods(exact))}")
    if exact and is_rounded(chain):
        raise NoRationalsError(
            "there is no rational solution: the probabilities of what happens while a clock runs are exponentials, "
            "which are irrational; solve in doubles"
        )
    states = recurrent_class(chain, source)
    if exact:
        if len(states) > LARGEST_NARROW:
            raise LimitError(_too_many_for_rationals(len(states)))
        answer = _solve_rational(restrict(merged_rates(chain), states), method)
    else:
        answer = _solve_doubles(chain, states, method, levels)
    probabilities, name, residual, bound, checks = answer
    transient = chain.size - len(states)
    if transient:
        checks = (*checks, f"{transient} of {chain.size} states are transient or not reached")
    lost = sum(1 for probability in probabilities if not probability)
    if lost:
        checks = (*checks, f"{lost} probabilities are below the smallest double and stand as 0")
    return Solution(_spread(chain.size, states, probabilities), name, residual, bound, checks, transient)


def is_rounded(chain: Chain) -> bool:
    """Whether its rates are doubles that stand for irrational numbers: then there is nothing to solve in rationals."""
    return chain.embedded is not None and chain.embedded.rounded


_Answer = tuple[Sequence[Number], str, float, float | None, tuple[str, ...]]


def _methods(exact: bool) -> list[str]:
    others = ("lu", "levels") if exact else ("dixon",)
    return [m for m in METHODS if m not in others]


def _spread(size: int, states: Sequence[int], probabilities: Sequence[Number]) -> tuple[Number, ...]:
    out: list[Number] = [type(probabilities[0])(0)] * size
    for state, probability in zip(states, probabilities, strict=True):
        out[state] = probability
    return tuple(out)


# -- rationals --------------------------------------------------------------------------------------------------------


def _solve_rational(rows: Rows, method: str) -> _Answer:
    order, width = band_order(rows)
    eliminate = method == "gth" or (method != "dixon" and width <= NARROW)
    limit = LARGEST_NARROW if eliminate and width <= NARROW else LARGEST_RATIONAL
    if len(rows) > limit:
        raise LimitError(_too_many_for_rationals(len(rows), width))
    probabilities = _rational(rows, order if eliminate else None)
    name = f"state elimination in a band of {width} (GTH)" if eliminate else "p-adic lifting (Dixon)"
    checks = (
        f"the balance equations hold in whole numbers at all {len(rows)} states",
        "the probabilities are positive and add up to 1",
    )
    return probabilities, f"{name}, rational", 0.0, 0.0, checks


def _too_many_for_rationals(states: int, width: int | None = None) -> str:
    of = "" if width is None else f" of half bandwidth {width}"
    return (
        f"{states} recurrent states{of} are too many for a rational solution, which goes to {LARGEST_RATIONAL} states "
        f"(to {LARGEST_NARROW} where the half bandwidth is at most {NARROW}); solve in doubles instead"
    )


def _rational(rows: Rows, order: Sequence[int] | None) -> tuple[Fraction, ...]:
    """The rational vector, by elimination along `order` or without one by lifting; proved before it is returned."""
    generator = integer_generator(rows)
    weights = rational.lift(generator) if order is None else rational.eliminate(generator, order)
    if not generator.balanced(weights) or min(weights) <= 0:
        raise AssertionError("a rational solution fails the balance equations")
    return generator.probabilities(weights)


# -- doubles ----------------------------------------------------------------------------------------------------------


def _solve_doubles(chain: Chain, states: Sequence[int], method: str, levels: Levels | None) -> _Answer:
    rates = double_rates(chain, states)
    here = None if levels is None else levels[np.asarray(states)]
    try:
        found = find_vector(rates, method, here)
        residual = residual_of(rates, found.vector)
    except ArithmeticError as error:
        raise LimitError(f"the chain is beyond double precision: {error}; {_OTHERWISE}") from error
    except MemoryError as error:
        raise LimitError(f"{len(states)} recurrent states do not fit into memory with this method") from error
    checks = _passed(found.method, found.vector, residual)
    vector = np.maximum(found.vector, 0.0)
    probabilities = vector.tolist()
    bound = error_of(rates, vector, found)
    if bound is not None:
        checks.append(f"the errors of the probabilities add up to at most {bound:.1e} (proved from the vector)")
    if len(states) <= LARGEST_COMPARED and not is_rounded(chain):
        rows = restrict(merged_rates(chain), states)
        order, width = band_order(rows)
        bound = _distance(probabilities, _rational(rows, order if width <= NARROW else None))
        checks.append(f"differs from the rational solution by {bound:.1e} in total")
    return probabilities, found.method, residual, bound, tuple(checks)


_OTHERWISE = "try another method, or rationals"


def double_rates(chain: Chain, states: Sequence[int]) -> Any:
    """The rates among the states of a closed class as a CSR matrix of doubles."""
    if isinstance(chain.transitions, PackedTransitions):
        return packed_rates(chain.transitions, np.asarray(states))
    return sparse_rates(restrict(merged_rates(chain), states))


def balance_residual(rows: Rows, vector: Sequence[float] | Vector) -> float:
    """The largest difference between the flows into and out of a state, relative to the largest flow out of one."""
    return residual_of(sparse_rates(rows), np.asarray(vector))


def residual_of(rates: Any, vector: Vector) -> float:
    """`balance_residual` for rates as a CSR matrix."""
    if len(vector) == 1:
        return 0.0
    outflow = vector * np.asarray(rates.sum(axis=1)).ravel()
    return float(np.abs(rates.T @ vector - outflow).max() / outflow.max())


def _passed(name: str, vector: Vector, residual: float) -> list[str]:
    """What the vector satisfies, in words; LimitError when it fails (a NaN fails every comparison)."""
    lowest, mass = float(vector.min()), float(vector.sum())
    if not (residual <= _RESIDUAL and lowest >= -_ROUNDING and abs(mass - 1) <= _ROUNDING):
        raise LimitError(
            f"the answer of the method '{name}' fails its checks (residual {residual:.2g}, mass {mass!r}, lowest "
            f"probability {lowest:.2g}): the chain is beyond double precision; {_OTHERWISE}"
        )
    return [
        f"largest |pi Q| is {residual:.1e} of the largest flow through a state",
        f"the probabilities add up to 1 within {abs(mass - 1):.1e}",
        "no probability is negative" if lowest >= 0 else f"none is below {lowest:.1e}; negative ones are set to 0",
    ]


def _distance(probabilities: Sequence[float], exact: Sequence[Fraction]) -> float:
    """The sum of the absolute errors, rounded up."""
    total = sum((abs(Fraction(p) - x) for p, x in zip(probabilities, exact, strict=True)), Fraction(0))
    return float(np.nextafter(float(total), np.inf)) if total else 0.0

"""The stationary vector of a chain: which solver, and the checks that every answer has to pass.

Rational answers are proved by the balance equations in whole numbers. An answer in doubles comes with its residual,
which is no bound on its error; a small chain is solved in rationals as well, and then the error is known.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from serq.base.errors import LimitError, UsageError
from serq.base.source import SourceFile
from serq.ir.chain import Chain, Solution
from serq.ir.expr import Number
from serq.semantics import banded, rational, sparse
from serq.semantics.generator import (
    Rows,
    band_order,
    integer_generator,
    merged_rates,
    restrict,
    sparse_rates,
)
from serq.semantics.steady import recurrent_class

Vector = NDArray[np.float64]
METHODS = ("auto", "direct", "gth", "dixon", "lu")
"""`direct` is `auto` without any iterative solver, of which there is none yet. `gth` eliminates states in a band,
`dixon` is rational only, `lu` doubles only.
"""

NARROW = 3
"""Half bandwidth up to which rational elimination beats the dense p-adic solver at any size."""
LARGEST_NARROW = 10_000
LARGEST_RATIONAL = 2_000
LARGEST_LU = 200_000
WIDEST_LU = 15_000
"""Half bandwidth up to which a factorisation ends within minutes: its work grows with the cube of the fill."""
LARGEST_COMPARED = 300
"""States up to which an answer in doubles is compared with the rational one."""
_BAND_SECONDS = 6.0
_BAND_BYTES = 1e9
_RESIDUAL = 1e-9
_ROUNDING = 1e-12


def stationary(chain: Chain, *, exact: bool, method: str = "auto", source: SourceFile | None = None) -> Solution:
    """The stationary vector over all states of the chain, zero on the transient ones.

    Raises NoSteadyStateError when there is none (`source` gives it the program's text), LimitError when the chain is
    too large for the method or the answer fails its checks, UsageError for a method that does not exist or does not
    go with `exact`.
    """
    if method not in METHODS or method == ("lu" if exact else "dixon"):
        kind = "rational" if exact else "floating-point"
        raise UsageError(f"there is no {kind} method '{method}'; there are {', '.join(_methods(exact))}")
    states = recurrent_class(chain, source)
    rows = restrict(merged_rates(chain), states)
    solve = _solve_rational if exact else _solve_doubles
    probabilities, name, residual, bound, checks = solve(rows, method)
    if len(states) < chain.size:
        checks = (*checks, f"{chain.size - len(states)} of {chain.size} states are transient or not reached")
    return Solution(_spread(chain.size, states, probabilities), name, residual, bound, checks)


_Answer = tuple[Sequence[Number], str, float, float | None, tuple[str, ...]]


def _methods(exact: bool) -> list[str]:
    return [m for m in METHODS if m != ("lu" if exact else "dixon")]


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
        raise LimitError(
            f"{len(rows)} recurrent states of half bandwidth {width} are too many for a rational solution, which goes "
            f"to {LARGEST_RATIONAL} states (to {LARGEST_NARROW} where the half bandwidth is at most {NARROW}); "
            f"solve in doubles instead"
        )
    probabilities = _rational(rows, order if eliminate else None)
    name = f"state elimination in a band of {width} (GTH)" if eliminate else "p-adic lifting (Dixon)"
    checks = (
        f"the balance equations hold in whole numbers at all {len(rows)} states",
        "the probabilities are positive and add up to 1",
    )
    return probabilities, f"{name}, rational", 0.0, 0.0, checks


def _rational(rows: Rows, order: Sequence[int] | None) -> tuple[Fraction, ...]:
    """The rational vector, by elimination along `order` or without one by lifting; proved before it is returned."""
    generator = integer_generator(rows)
    weights = rational.lift(generator) if order is None else rational.eliminate(generator, order)
    if not generator.balanced(weights) or min(weights) <= 0:
        raise AssertionError("a rational solution fails the balance equations")
    return generator.probabilities(weights)


# -- doubles ----------------------------------------------------------------------------------------------------------


def _solve_doubles(rows: Rows, method: str) -> _Answer:
    order, width = band_order(rows)
    try:
        if _in_band(method, len(rows), width):
            name = f"state elimination in a band of {width} (GTH), doubles"
            vector = np.empty(len(rows))
            vector[order] = banded.solve(sparse_rates(restrict(rows, order)), width)
        else:
            name = "sparse LU with one refinement, doubles"
            vector = sparse.solve(sparse_rates(rows))
        residual = balance_residual(rows, vector)
    except ArithmeticError as error:
        raise LimitError(f"the chain is beyond double precision: {error}; {_OTHERWISE}") from error
    except MemoryError as error:
        raise LimitError(f"{len(rows)} recurrent states do not fit into memory with this method") from error
    checks = _passed(name, vector, residual)
    probabilities = [float(p) for p in np.maximum(vector, 0.0)]
    bound = None
    if len(rows) <= LARGEST_COMPARED:
        bound = _distance(probabilities, _rational(rows, order if width <= NARROW else None))
        checks.append(f"differs from the rational solution by {bound:.1e} in total")
    return probabilities, name, residual, bound, tuple(checks)


_OTHERWISE = "try another method, or rationals"


def _in_band(method: str, size: int, width: int) -> bool:
    """Whether to eliminate in the band: immune to stiffness, so wherever it is affordable."""
    affordable = banded.cost(size, width) <= _BAND_SECONDS and banded.memory(size, width) <= _BAND_BYTES
    if method == "gth" and not affordable:
        raise LimitError(f"{size} recurrent states of half bandwidth {width} are too many for state elimination")
    if (method == "lu" or not affordable) and (size > LARGEST_LU or width > WIDEST_LU):
        raise LimitError(
            f"the chain has {size} recurrent states of half bandwidth {width}; the factorisation goes to {LARGEST_LU} "
            f"states and a half bandwidth of {WIDEST_LU}, state elimination further where the band is narrow"
        )
    return affordable and method != "lu"


def balance_residual(rows: Rows, vector: Sequence[float] | Vector) -> float:
    """The largest difference between the flows into and out of a state, relative to the largest flow out of one."""
    if len(rows) == 1:
        return 0.0
    rates = sparse_rates(rows)
    outflow = np.asarray(vector) * np.asarray(rates.sum(axis=1)).ravel()
    return float(np.abs(np.asarray(vector) @ rates - outflow).max() / outflow.max())


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

"""Stationary vectors in doubles by a sparse LU factorisation, for chains too wide for a band.

The state that is given the weight 1 should be a likely one: seen from an unlikely one the others overflow.
"""

from typing import Any

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_SWEEPS = 30
_TRIES = 4
_UNLIKELY = 1e-3
"""A reference this much less likely than the likeliest state is exchanged for it."""


def solve(rates: Any) -> tuple[Vector, Vector, int]:
    """The stationary vector of an irreducible chain from its CSR rates; entries may be negative by rounding. With it
    come the mean times until a likely state is hit, and that state.

    Stewart, Introduction to the Numerical Solution of Markov Chains, section 2.5. Raises ArithmeticError when no
    finite solution is found.
    """
    try:
        reference = int(np.argmax(_guess(rates)))
        for _ in range(_TRIES):
            vector, times = _from_reference(rates, reference)
            likeliest = int(np.argmax(vector))
            if vector[reference] >= _UNLIKELY * vector[likeliest]:
                return vector, times, reference
            reference = likeliest
    except RuntimeError as error:
        raise ArithmeticError("the factorisation meets a zero pivot") from error
    raise ArithmeticError("the factorisation finds no state that stays likely")


def _guess(rates: Any) -> Vector:
    """A vector near enough to tell a likely state: some Gauss-Seidel sweeps from the uniform one."""
    n = rates.shape[0]
    inflow = rates.T.tocsr()
    exits = np.asarray(rates.sum(axis=1)).ravel()
    triangle = sparse.csc_matrix(sparse.diags(exits) - sparse.tril(inflow, -1))
    lower = linalg.splu(triangle, "NATURAL", diag_pivot_thresh=0.0)
    upper = sparse.triu(inflow, 1).tocsr()
    guess = np.full(n, 1.0 / n)
    for _ in range(_SWEEPS):
        guess = lower.solve(upper @ guess)
        guess /= guess.sum()
    return guess


def _from_reference(rates: Any, reference: int) -> tuple[Vector, Vector]:
    """The weights relative to the reference, whose own equation is dropped; refined once; mass 1. And the mean times
    until the reference is hit, from the same factors.
    """
    n = rates.shape[0]
    exits = np.asarray(rates.sum(axis=1)).ravel()
    others = np.delete(np.arange(n), reference)
    balance = (sparse.diags(exits) - rates.T).tocsc()
    matrix = balance[others][:, others].tocsc()
    right = -np.asarray(balance[others][:, [reference]].todense()).ravel()
    factors = linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    weights = factors.solve(right)
    weights += factors.solve(right - matrix @ weights)
    if not np.isfinite(weights).all():
        raise ArithmeticError("the factorisation overflows")
    vector: Vector = np.insert(weights, reference, 1.0)
    vector /= vector.sum()
    times: Vector = np.insert(factors.solve(np.ones(n - 1), "T"), reference, 0.0)
    return vector, times


def hitting_times(rates: Any, target: int) -> Vector | None:
    """The mean times until a state is hit, without any promise on their error; None where there are none."""
    n = rates.shape[0]
    others = np.delete(np.arange(n), target)
    exits = np.asarray(rates.sum(axis=1)).ravel()
    matrix = (sparse.diags(exits) - rates).tocsr()[others][:, others].tocsc()
    try:
        factors = linalg.splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:
        return None
    times: Vector = np.insert(factors.solve(np.ones(n - 1)), target, 0.0)
    return times

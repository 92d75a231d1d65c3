"""Mean times until a chain first enters a set of states: (exits - rates) h = 1 outside of the set, h = 0 within.

Kemeny and Snell, Finite Markov Chains, theorem 3.3.5; J. R. Norris, Markov Chains (1997), theorem 3.3.3.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from serq.base.errors import LimitError, UsageError
from serq.ir.expr import Number
from serq.semantics.generator import Rows, restrict, sparse_rates
from serq.semantics.rational import solve_transient

LARGEST_RATIONAL = 300
"""States up to which the times are rational."""


def mean_times(rows: Rows, target: Collection[int]) -> list[Number]:
    """Per state the mean time until a state of the target is entered; 0 in the target.

    Every state must come to the target with probability 1: LimitError where the equations have no solution.
    """
    inside = frozenset(target)
    if not inside:
        raise UsageError("no state is in the set that is to be entered")
    others = [i for i in range(len(rows)) if i not in inside]
    out: list[Number] = [Fraction(0) if len(rows) <= LARGEST_RATIONAL else 0.0] * len(rows)
    if not others:
        return out
    inner = restrict(rows, others)
    exits = [sum(rows[i].values(), Fraction(0)) for i in others]
    found = _rational(inner, exits) if len(rows) <= LARGEST_RATIONAL else _doubles(inner, exits)
    for i, time in zip(others, found, strict=True):
        out[i] = time
    return out


def weighted(times: Sequence[Number], weights: Sequence[Number], where: Collection[int]) -> Number:
    """The mean of the times over some states, weighted."""
    total = sum(weights[i] for i in where)
    if not total:
        raise UsageError("no state is in the set that is to be left")
    return sum(weights[i] * times[i] for i in where) / total


def _rational(inner: Rows, exits: Sequence[Fraction]) -> list[Number]:
    turned: Rows = tuple({} for _ in inner)
    for i, row in enumerate(inner):
        for j, rate in row.items():
            turned[j][i] = rate
    try:
        return list(solve_transient(turned, exits, [Fraction(1)] * len(inner)))
    except ZeroDivisionError as error:
        raise LimitError("from some states the set is never entered") from error


def _doubles(inner: Rows, exits: Sequence[Fraction]) -> list[Number]:
    matrix = sparse.csc_matrix(sparse.diags([float(x) for x in exits]) - sparse_rates(inner))
    try:
        factors = linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    except RuntimeError as error:
        raise LimitError("from some states the set is never entered") from error
    times = factors.solve(np.ones(len(inner)))
    times += factors.solve(np.ones(len(inner)) - matrix @ times)
    return [float(t) for t in times]

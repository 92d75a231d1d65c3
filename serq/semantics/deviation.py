"""The deviation matrix of a chain, applied to a row or to a column: what a change now is worth in the long run.

D = integral of (exp(Q t) - 1 pi) over t >= 0 exists when there is one recurrent class (P. J. Schweitzer, J. Appl.
Prob. 5 (1968); P. Coolen-Schrijner, E. A. van Doorn, Prob. Eng. Inf. Sci. 16 (2002)). The bias g = D f of a reward
solves Poisson's equation Q g = eta - f, pi g = 0: g(x) - g(y) is what starting in x rather than y earns more. For a
row d with d 1 = 0 the row y = d D solves y Q = -d, y 1 = 0: the time that is spent more in every state.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import fsum, inf, isfinite, lcm
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.ir.expr import Number
from serq.semantics.generator import Rows, restrict, sparse_rates
from serq.semantics.rational import solve_transient

Vector = NDArray[np.float64]
_UNIT = 2.0**-53
_ROUNDINGS = 10
"""Of an entry of the matrix, as in `error_bound`, and of the operations beside the sum."""
LARGEST_RATIONAL = 1000
"""States up to which a row or column is found in rationals, given a rational stationary vector."""


class Deviation:
    """The deviation matrix of the chain with these rates, one recurrent class among its states.

    `probabilities` is the stationary vector over all states, zero on transient ones. Answers are rational when it is
    and when there are no more than LARGEST_RATIONAL states, else doubles.
    """

    def __init__(self, rows: Rows, probabilities: Sequence[Number]) -> None:
        self.rows = rows
        self.probabilities = probabilities
        self.is_exact = all(isinstance(p, Fraction) for p in probabilities) and len(rows) <= LARGEST_RATIONAL
        self._reference = max(range(len(rows)), key=probabilities.__getitem__)
        self._others = [i for i in range(len(rows)) if i != self._reference]
        self._exits = [sum(row.values(), Fraction(0)) for row in rows]
        self._inner = restrict(rows, self._others)

    def row(self, change: Sequence[Number]) -> list[Number]:
        """The row y with y Q = -change and sum 0; `change` must add up to 0."""
        return self.row_within(change, inf, inf)[0]

    def row_within(self, change: Sequence[Number], off: float, doubt: float) -> tuple[list[Number], float | None]:
        """The row, and a bound on the sum of its absolute errors; None where none is proved.

        `off` and `doubt` are such bounds on the change and on the stationary vector.
        """
        right = [change[i] for i in self._others]
        inner = self._solve(right, transposed=True)
        row = self._shifted(self._spread(inner), [1] * len(self.rows), self.probabilities)
        if self.is_exact:
            return row, 0.0
        if not (isfinite(off) and isfinite(doubt)):
            return row, None
        return row, self._row_error(np.array(inner, dtype=float), np.array(right, dtype=float), off, doubt)

    def _row_error(self, x: Vector, right: Vector, off: float, doubt: float) -> float | None:
        """The rows of the inverse of M, an M-matrix, have sums of at most v / c where v >= 0 and M v >= c > 0: v is
        about the mean time until the reference is hit, and the inequality is checked (see `error_bound`). So what x M
        lacks of the right side weighs at most v / c, and shifting x by a multiple of the stationary vector at most
        doubles that.
        """
        if not len(x):
            return 0.0
        matrix, factors = self._factorised
        times = np.maximum(_refined(matrix, factors, np.ones(len(x)), "N"), 0.0)
        size = abs(matrix)
        terms = _ROUNDINGS + np.diff(matrix.tocsr().indptr)
        least = float((matrix @ times - 2 * terms * _UNIT * (size @ times)).min())
        if not least > 0 or not np.isfinite(times).all():
            return None
        terms = _ROUNDINGS + np.diff(matrix.indptr)
        rest = np.abs(right - matrix.T @ x) + terms * _UNIT * (np.abs(right) + size.T @ np.abs(x))
        inner = float(rest @ times) / least + off * float(times.max()) / least
        total = float(np.abs(x).sum())
        return float((2 * inner + 2 * doubt * (total + inner) + 16 * _UNIT * total) * (1 + 1e-9))

    @cached_property
    def _factorised(self) -> tuple[Any, Any]:
        """M in doubles, and its factors."""
        exits = [float(self._exits[i]) for i in self._others]
        matrix = sparse.csc_matrix(sparse.diags(exits) - sparse_rates(self._inner))
        try:
            return matrix, linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
        except RuntimeError as error:
            raise LimitError(f"the deviation matrix is beyond double precision: {error}") from error

    def bias(self, reward: Sequence[Number]) -> tuple[Number, list[Number]]:
        """The long-run rate eta of a reward, and its bias g: Q g = eta - reward, pi g = 0."""
        eta = self._dot(self.probabilities, reward)
        inner = self._solve([reward[i] - eta for i in self._others], transposed=False)
        return eta, self._shifted(self._spread(inner), self.probabilities, [1] * len(self.rows))

    def _spread(self, inner: list[Number]) -> list[Number]:
        out = inner.copy()
        out.insert(self._reference, Fraction(0) if self.is_exact else 0.0)
        return out

    def _shifted(self, vector: list[Number], weights: Sequence[Number], along: Sequence[Number]) -> list[Number]:
        """The vector minus the multiple of `along` that makes its weighted sum 0."""
        share = self._dot(weights, vector) / self._dot(weights, along)
        if self.is_exact:
            return [x - share * a for x, a in zip(vector, along, strict=True)]
        return [float(x) - float(share) * float(a) for x, a in zip(vector, along, strict=True)]

    def _dot(self, a: Sequence[Number], b: Sequence[Number]) -> Number:
        if self.is_exact:
            return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
        return fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))

    def _solve(self, right: list[Number], transposed: bool) -> list[Number]:
        """The solution x of x M = right (transposed) or M x = right, M = exits - rates among the other states."""
        if not right:
            return []
        if not self.is_exact:
            b = np.array([float(x) for x in right])
            return [float(v) for v in _refined(*self._factorised, b, "T" if transposed else "N")]
        exits = [self._exits[i] for i in self._others]
        fractions = [Fraction(x) for x in right]
        scale = lcm(*(x.denominator for x in fractions))
        rows = self._inner if transposed else _turned(self._inner)
        return [x / scale for x in solve_transient(rows, exits, [x * scale for x in fractions])]


def _refined(matrix: Any, factors: Any, right: Vector, way: Literal["N", "T"]) -> Vector:
    """The solution x of M x = right, or of x M = right (T), with one refinement."""
    x = factors.solve(right, way)
    x += factors.solve(right - (matrix.T if way == "T" else matrix) @ x, way)
    return np.asarray(x)


def _turned(rows: Rows) -> Rows:
    """The transposed rates."""
    out: Rows = tuple({} for _ in rows)
    for i, row in enumerate(rows):
        for j, rate in row.items():
            out[j][i] = rate
    return out

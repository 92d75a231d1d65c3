"""The deviation matrix of a chain, applied to a row or to a column: what a change now is worth in the long run.

D = integral of (exp(Q t) - 1 pi) over t >= 0 exists when there is one recurrent class (P. J. Schweitzer, J. Appl.
Prob. 5 (1968); P. Coolen-Schrijner, E. A. van Doorn, Prob. Eng. Inf. Sci. 16 (2002)). The bias g = D f of a reward
solves Poisson's equation Q g = eta - f, pi g = 0: g(x) - g(y) is what starting in x rather than y earns more. For a
row d with d 1 = 0 the row y = d D solves y Q = -d, y 1 = 0: the time that is spent more in every state.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import fsum, lcm

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

from serq.base.errors import LimitError
from serq.ir.expr import Number
from serq.semantics.generator import Rows, restrict, sparse_rates
from serq.semantics.rational import solve_transient

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
        inner = self._solve([change[i] for i in self._others], transposed=True)
        return self._shifted(self._spread(inner), [1] * len(self.rows), self.probabilities)

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
        exits = [self._exits[i] for i in self._others]
        if not self.is_exact:
            matrix = sparse.csc_matrix(sparse.diags([float(x) for x in exits]) - sparse_rates(self._inner))
            try:
                factors = linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
            except RuntimeError as error:
                raise LimitError(f"the deviation matrix is beyond double precision: {error}") from error
            b = np.array([float(x) for x in right])
            way = "T" if transposed else "N"
            x = factors.solve(b, way)
            x += factors.solve(b - (matrix.T if transposed else matrix) @ x, way)
            return [float(v) for v in x]
        fractions = [Fraction(x) for x in right]
        scale = lcm(*(x.denominator for x in fractions))
        rows = self._inner if transposed else _turned(self._inner)
        return [x / scale for x in solve_transient(rows, exits, [x * scale for x in fractions])]


def _turned(rows: Rows) -> Rows:
    """The transposed rates."""
    out: Rows = tuple({} for _ in rows)
    for i, row in enumerate(rows):
        for j, rate in row.items():
            out[j][i] = rate
    return out

"""The generator of a chain, or of one closed class of it: merged rates without self-loops, in the forms solvers read.

A self-loop changes nothing in continuous time, and parallel transitions add up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from serq.ir.chain import Chain
from serq.ir.packed import PackedTransitions

Rows = tuple[dict[int, Fraction], ...]
Joined = Sequence[Mapping[int, object]]
"""By state, the states that it has a rate to, whatever kind of number that is."""


def merged_rates(chain: Chain) -> Rows:
    """Per state, the rate to every other state: parallel transitions added, self-loops and zero rates left out."""
    rows: Rows = tuple({} for _ in range(chain.size))
    for t in chain.transitions:
        if t.source != t.target and t.rate:
            row = rows[t.source]
            row[t.target] = row.get(t.target, Fraction(0)) + t.rate
    return rows


def restrict(rows: Rows, states: Sequence[int]) -> Rows:
    """The rates among the given states, renumbered in their order."""
    place = {state: i for i, state in enumerate(states)}
    return tuple({place[j]: rate for j, rate in rows[state].items() if j in place} for state in states)


def sparse_rates(rows: Rows) -> Any:
    """The rates as a scipy CSR matrix of doubles, shape (n, n), zero diagonal."""
    values = np.fromiter((float(rate) for row in rows for rate in row.values()), dtype=float)
    return _matrix(rows, values)


def packed_rates(transitions: PackedTransitions, states: NDArray[np.int64]) -> Any:
    """The rates among the states of a closed class, in ascending order, as a CSR matrix of doubles."""
    arcs, size = transitions.arcs, transitions.size
    other = arcs.sources != arcs.targets
    rows, columns, rates = arcs.sources[other], arcs.targets[other], transitions.rates[other]
    if len(states) < size:
        place = np.full(size, -1, dtype=np.int64)
        place[states] = np.arange(len(states))
        inside = place[rows] >= 0
        rows, columns, rates = place[rows[inside]], place[columns[inside]], rates[inside]
    matrix = sparse.coo_matrix((rates, (rows, columns)), shape=(len(states), len(states))).tocsr()
    matrix.sort_indices()
    return matrix


def edges(rows: Joined) -> Any:
    """Which states a rate joins, as a CSR matrix of ones: a rate that is 0 as a double is an edge all the same."""
    return _matrix(rows, np.ones(sum(len(row) for row in rows)))


def _matrix(rows: Joined, values: NDArray[np.float64]) -> Any:
    n = len(rows)
    columns = np.fromiter((j for row in rows for j in row), dtype=np.int64)
    pointers = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    matrix = sparse.csr_matrix((values, columns, pointers), shape=(n, n))
    matrix.sort_indices()
    return matrix


@dataclass(frozen=True)
class IntegerGenerator:
    """Rates as whole numbers: the rate from i to j is `scale[i] * rows[i][j]`, each row without a common factor.

    If y solves `y * rows = y * exits` then `y[i] / scale[i]` is proportional to the stationary vector. Scaling row by
    row keeps the numbers short in a stiff chain, where one common denominator would make every number long.
    """

    rows: tuple[dict[int, int], ...]
    scale: tuple[Fraction, ...]

    @cached_property
    def exits(self) -> tuple[int, ...]:
        """Per state, the sum of its whole-number rates."""
        return tuple(sum(row.values()) for row in self.rows)

    def balanced(self, weights: Sequence[int]) -> bool:
        """Whether the flow into every state equals the flow out of it, exactly."""
        inflow = [0] * len(self.rows)
        for weight, row in zip(weights, self.rows, strict=True):
            for j, rate in row.items():
                inflow[j] += weight * rate
        return all(i == weight * exit_ for i, weight, exit_ in zip(inflow, weights, self.exits, strict=True))

    def solved_by(self, probabilities: Sequence[Fraction]) -> bool:
        """Whether a vector satisfies the balance equations of the chain itself, exactly."""
        unit = lcm(*(p.denominator for p in probabilities), *(s.denominator for s in self.scale))
        return self.balanced([int(p * s * unit * unit) for p, s in zip(probabilities, self.scale, strict=True)])

    def probabilities(self, weights: Sequence[int]) -> tuple[Fraction, ...]:
        """The stationary vector from a solution y of the scaled equations."""
        common = lcm(*(s.numerator for s in self.scale))
        times = [w * (common // s.numerator) * s.denominator for w, s in zip(weights, self.scale, strict=True)]
        total = sum(times)
        return tuple(Fraction(t, total) for t in times)


def integer_generator(rows: Rows) -> IntegerGenerator:
    """The rates as whole numbers, row by row."""
    scaled = [_whole_row(row) for row in rows]
    return IntegerGenerator(tuple(row for row, _ in scaled), tuple(scale for _, scale in scaled))


def _whole_row(row: dict[int, Fraction]) -> tuple[dict[int, int], Fraction]:
    if not row:
        return {}, Fraction(1)
    denominator = lcm(*(rate.denominator for rate in row.values()))
    whole = {j: rate.numerator * (denominator // rate.denominator) for j, rate in row.items()}
    factor = gcd(*whole.values())
    return {j: rate // factor for j, rate in whole.items()}, Fraction(factor, denominator)


def band_order(rows: Joined) -> tuple[list[int], int]:
    """An order of the states in which rates stay near the diagonal, and the half bandwidth it gives.

    The given order or reverse Cuthill-McKee (George and Liu, Computer Solution of Large Sparse Positive Definite
    Systems, 1981), whichever is narrower.
    """
    n = len(rows)
    given = bandwidth(rows, range(n))
    if given <= 1:
        return list(range(n)), given
    matrix = edges(rows)
    order = [int(i) for i in sparse.csgraph.reverse_cuthill_mckee(matrix + matrix.T, symmetric_mode=True)]
    found = bandwidth(rows, order)
    return (order, found) if found < given else (list(range(n)), given)


def matrix_order(matrix: Any) -> tuple[NDArray[np.int64], int]:
    """`band_order` of the entries of a CSR matrix, zeros included."""
    n = matrix.shape[0]
    coo = matrix.tocoo()
    given = int(np.abs(coo.row - coo.col).max(initial=0))
    if given <= 1:
        return np.arange(n), given
    pattern = sparse.csr_matrix((np.ones(len(coo.row)), (coo.row, coo.col)), shape=(n, n))
    order = np.asarray(sparse.csgraph.reverse_cuthill_mckee(pattern + pattern.T, symmetric_mode=True), dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    found = int(np.abs(place[coo.row] - place[coo.col]).max(initial=0))
    return (order, found) if found < given else (np.arange(n), given)


def bandwidth(rows: Joined, order: Iterable[int]) -> int:
    """The largest distance between two states that a rate joins, when the states stand in that order."""
    place = {state: i for i, state in enumerate(order)}
    return max((abs(place[i] - place[j]) for i, row in enumerate(rows) for j in row), default=0)

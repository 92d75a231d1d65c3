"""Mean times until a chain first enters a set of states: (exits - rates) h = 1 outside of the set, h = 0 within.

Kemeny and Snell, Finite Markov Chains, theorem 3.3.5; J. R. Norris, Markov Chains (1997), theorem 3.3.3.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
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
    exits = [sum(rows[i].values(), Fraction(0)) for i in others]
    found = _solved(restrict(rows, others), exits, [Fraction(1)] * len(others), len(rows) <= LARGEST_RATIONAL)
    for i, time in zip(others, found, strict=True):
        out[i] = time
    return out


@dataclass(frozen=True, slots=True)
class Entering:
    """When a set is first entered: the mean time, None where it may never be, and the probability that it is at all."""

    mean_time: Number | None
    chance: Number


def entering(rows: Rows, start: Sequence[Number], target: Collection[int]) -> Entering:
    """When a chain that starts in states with these probabilities first enters the target.

    Only states that it may be in before that count.
    """
    inside = frozenset(target)
    if not inside:
        raise UsageError("no state is in the set that is to be entered")
    begins = [i for i, p in enumerate(start) if p]
    seen = _reached(begins, lambda i: () if i in inside else rows[i])
    into: list[list[int]] = [[] for _ in rows]
    for i in seen - inside:
        for j in rows[i]:
            into[j].append(i)
    able = _reached(sorted(seen & inside), into.__getitem__)
    order = sorted(seen)
    if seen <= able:
        place = {state: k for k, state in enumerate(order)}
        times = mean_times(restrict(rows, order), [place[i] for i in seen & inside])
        mean: Number = sum((start[i] * times[place[i]] for i in begins), Fraction(0))
        return Entering(mean, Fraction(1))
    others = [i for i in order if i in able - inside]
    exits = [sum(rows[i].values(), Fraction(0)) for i in others]
    onward = [sum((rate for j, rate in rows[i].items() if j in inside), Fraction(0)) for i in others]
    found = _solved(restrict(rows, others), exits, onward, len(order) <= LARGEST_RATIONAL) if others else []
    chances = dict.fromkeys(inside, Fraction(1)) | dict(zip(others, found, strict=True))
    chance: Number = sum((start[i] * chances[i] for i in begins if i in chances), Fraction(0))
    return Entering(None, chance)


def _reached(begins: Collection[int], next_of: Callable[[int], Iterable[int]]) -> set[int]:
    """The states that are come to from these, themselves among them."""
    seen, todo = set(begins), list(begins)
    while todo:
        more = [j for j in next_of(todo.pop()) if j not in seen]
        seen.update(more)
        todo += dict.fromkeys(more)
    return seen


def weighted(times: Sequence[Number], weights: Sequence[Number], where: Collection[int]) -> Number:
    """The mean of the times over some states, weighted."""
    total = sum(weights[i] for i in where)
    if not total:
        raise UsageError("no state is in the set that is to be left")
    return sum(weights[i] * times[i] for i in where) / total


def _solved(inner: Rows, exits: Sequence[Fraction], right: Sequence[Fraction], exact: bool) -> list[Number]:
    """The h with (exits - inner) h = right; LimitError where there is none."""
    return (_rational if exact else _doubles)(inner, exits, right)


def _rational(inner: Rows, exits: Sequence[Fraction], right: Sequence[Fraction]) -> list[Number]:
    turned: Rows = tuple({} for _ in inner)
    for i, row in enumerate(inner):
        for j, rate in row.items():
            turned[j][i] = rate
    try:
        return list(solve_transient(turned, exits, list(right)))
    except ZeroDivisionError as error:
        raise LimitError("from some states the set is never entered") from error


def _doubles(inner: Rows, exits: Sequence[Fraction], right: Sequence[Fraction]) -> list[Number]:
    matrix = sparse.csc_matrix(sparse.diags([float(x) for x in exits]) - sparse_rates(inner))
    try:
        factors = linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    except RuntimeError as error:
        raise LimitError("from some states the set is never entered") from error
    b = np.array([float(x) for x in right])
    found = factors.solve(b)
    found += factors.solve(b - matrix @ found)
    return [float(x) for x in found]

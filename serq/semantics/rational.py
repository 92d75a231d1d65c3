"""Rational solutions of linear systems of chains: state elimination where the band is narrow, p-adic lifting elsewhere.

Nothing here trusts its arithmetic: whoever calls checks the balance equations with whole numbers.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from flint import fmpq, fmpz_mat

from serq.semantics.generator import IntegerGenerator, Rows


def eliminate(generator: IntegerGenerator, order: Sequence[int]) -> list[int]:
    """Whole numbers y with y Q = 0 by state elimination, the states leaving from the end of `order`.

    Grassmann, Taksar and Heyman, Operations Research 33 (1985): no subtraction. Fill stays inside the band of
    `order`. The chain must be irreducible.
    """
    rows = [{j: fmpq(rate) for j, rate in row.items()} for row in generator.rows]
    return _whole(eliminated(rows, order, fmpq(1)), {state: i for i, state in enumerate(order)})


def eliminated(given: Sequence[Mapping[int, Any]], order: Sequence[int], one: Any) -> list[Any]:
    """The same for rates of any kind of numbers, `one` among them: y by the places of `order`, the first of them 1."""
    n = len(order)
    place = {state: i for i, state in enumerate(order)}
    rows: list[dict[int, Any]] = [{place[j]: rate for j, rate in given[i].items()} for i in order]
    into: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(rows):
        for j in row:
            into[j].add(i)
    zero = one - one
    shares: list[dict[int, Any]] = [{} for _ in range(n)]
    for k in range(n - 1, 0, -1):
        down = {j: rate for j, rate in rows[k].items() if j < k}
        total = sum(down.values(), zero)
        for i in (i for i in into[k] if i < k):
            share = rows[i].pop(k) / total
            shares[k][i] = share
            row = rows[i]
            for j, rate in down.items():
                if j != i:
                    row[j] = row[j] + share * rate if j in row else share * rate
                    into[j].add(i)
    weights = [one]
    for k in range(1, n):
        weights.append(sum((weights[i] * share for i, share in shares[k].items()), zero))
    return weights


def lift(generator: IntegerGenerator) -> list[int]:
    """Whole numbers y with y Q = 0 by Dixon's p-adic lifting (Numerische Mathematik 40, 1982), as flint does it.

    The last state is given the weight 1 and its equation dropped. Dense: the work grows as the cube of the size.
    """
    n = len(generator.rows)
    last = n - 1
    matrix = fmpz_mat(last, last)
    right = fmpz_mat(last, 1)
    for i, row in enumerate(generator.rows):
        for j, rate in row.items():
            if j == last:
                continue
            if i == last:
                right[j, 0] = rate
            else:
                matrix[j, i] = -rate
        if i != last:
            matrix[i, i] = generator.exits[i]
    solution = matrix.solve(right)
    weights = [*(solution[i, 0] for i in range(last)), fmpq(1)]
    return _whole(weights, {i: i for i in range(n)})


def solve_transient(rows: Rows, exits: Sequence[Fraction], start: Sequence[Fraction]) -> list[Fraction]:
    """The expected times y in the states of a transient class: y_j * exits_j = start_j + sum_i y_i * rows_i(j).

    `exits` counts every rate out of a state, also those that leave the class. Kemeny and Snell, Finite Markov Chains,
    chapter 3.
    """
    n = len(rows)
    if n == 1:
        return [start[0] / exits[0]]
    scale = lcm(*(x.denominator for x in (*exits, *start)), *(r.denominator for row in rows for r in row.values()))
    matrix = fmpz_mat(n, n)
    right = fmpz_mat(n, 1)
    for i, row in enumerate(rows):
        for j, rate in row.items():
            matrix[j, i] = -int(rate * scale)
        matrix[i, i] = int(exits[i] * scale)
        right[i, 0] = int(start[i] * scale)
    solution = matrix.solve(right)
    return [_fraction(solution[i, 0]) for i in range(n)]


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _whole(weights: Sequence[fmpq], place: dict[int, int]) -> list[int]:
    """The weights without denominators, back in the order of the states."""
    denominator = 1
    for w in weights:
        denominator = lcm(denominator, int(w.q))
    return [int(weights[place[i]].p) * (denominator // int(weights[place[i]].q)) for i in range(len(weights))]

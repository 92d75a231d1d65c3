import random
from fractions import Fraction

import pytest
import sympy

from serq.base.source import NOWHERE
from serq.closedforms.flows import accumulate, closed_classes, passes_of_a_cycle, passes_of_one_session, reachable
from serq.closedforms.sessiongraph import GONE, Edge, Graph, Node

F = Fraction


def graph(*rows: list[int]) -> Graph:
    nodes = tuple(Node(i, ()) for i in range(len(rows)))
    return Graph(nodes, tuple(tuple(Edge(j) for j in row) for row in rows), (NOWHERE,) * len(rows), frozenset())


def leaky(seed: int, size: int) -> list[list[tuple[int, Fraction]]]:
    """Random probabilities with loops, parallel ways and a way out everywhere."""
    chance = random.Random(seed)
    rows = []
    for _ in range(size):
        weights = [chance.randint(1, 5) for _ in range(chance.randint(1, 4))]
        total = sum(weights) + chance.randint(1, 3)
        rows.append([(chance.randrange(size), F(w, total)) for w in weights] + [(GONE, F(1, 9))])
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_accumulate_solves_the_linear_system(seed: int) -> None:
    size = 1 + seed
    chances = leaky(seed, size)
    base = [F(i, 3) for i in range(size)]
    matrix = sympy.eye(size)
    for i, row in enumerate(chances):
        for j, p in row:
            if j != GONE:
                matrix[j, i] -= sympy.Rational(p.numerator, p.denominator)
    expected = matrix.LUsolve(sympy.Matrix([sympy.Rational(b.numerator, b.denominator) for b in base]))
    assert accumulate(chances, base) == [F(int(x.p), int(x.q)) for x in expected]


def test_accumulate_keeps_symbols() -> None:
    p = sympy.Symbol("p")
    first, second = accumulate([[(1, 1)], [(0, p), (GONE, 1 - p)]], [sympy.Integer(1), sympy.Integer(0)])
    assert sympy.simplify(first - 1 / (1 - p)) == 0
    assert sympy.simplify(second - 1 / (1 - p)) == 0


def test_passes_of_a_session_with_feedback() -> None:
    chances = [[(1, F(1))], [(0, F(2, 3)), (GONE, F(1, 3))]]
    assert passes_of_one_session(chances, F(1)) == [3, 3]


def test_passes_of_a_cycle_leave_out_what_is_passed_once() -> None:
    # 0 leads into the loop 1 -> 2 -> 1, with a detour 2 -> 3 -> 1
    chances = [[(1, F(1))], [(2, F(1))], [(1, F(3, 4)), (3, F(1, 4))], [(1, F(1))]]
    members = frozenset({1, 2, 3})
    assert passes_of_a_cycle(chances, members, F(1)) == [0, 1, 1, F(1, 4)]


def test_closed_classes_and_what_can_be_reached() -> None:
    two = graph([1, 3], [2], [1], [3])
    assert sorted(map(sorted, closed_classes(two))) == [[1, 2], [3]]
    assert closed_classes(graph([1], [0, GONE])) == []
    assert reachable(two, [1]) == {1, 2}
    assert reachable(two, [0]) == {1, 2, 3}
    assert reachable(graph([1], [GONE]), [1]) == frozenset()

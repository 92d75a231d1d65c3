import math
import struct
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.engine import arithmetic as a
from serq.engine import laws
from serq.ir.evaluate import Doubles
from serq.ir.laws import Law, problem_of

INF = math.inf
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.0, 7.0, -7.0, 1e-320, 5e-324, 1e308, -1e308, INF, -INF, math.nan)
DOUBLES = Doubles()
numbers = st.floats() | st.sampled_from(EDGES) | st.integers(-20, 20).map(lambda n: n / 4)


def same(found: float, expected: float) -> bool:
    return (found != found and expected != expected) or struct.pack("d", found) == struct.pack("d", expected)


def check(x: float, y: float) -> None:
    assert same(a.over(x, y), DOUBLES.divide(x, y))
    assert same(a.modulo(x, y), DOUBLES.modulo(x, y)), (x, y, a.modulo(x, y), DOUBLES.modulo(x, y))
    assert same(a.smaller(x, y), DOUBLES.function("min", (x, y)))
    assert same(a.larger(x, y), DOUBLES.function("max", (x, y)))
    assert same(a.root(x), DOUBLES.function("sqrt", (x,)))
    assert same(a.whole_below(x), DOUBLES.function("floor", (x,)))
    assert same(a.whole_above(x), DOUBLES.function("ceil", (x,)))


@pytest.mark.parametrize(("x", "y"), [*product(EDGES, EDGES)])
def test_at_the_edges(x, y):
    check(x, y)


@given(numbers, numbers)
def test_anywhere(x, y):
    check(x, y)


@given(numbers, numbers)
def test_laws(x, y):
    for name in ("exp", "det", "bernoulli", "geometric"):
        assert getattr(laws, f"good_{name}")(x) == (problem_of(Law(name, (x,))) is None)
    for name in ("uniform", "erlang", "h2"):
        assert getattr(laws, f"good_{name}")(x, y) == (problem_of(Law(name, (x, y))) is None)

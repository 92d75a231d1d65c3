"""Our own power against mpmath to the unit in the last place, exact where powers are, and the same when compiled."""

import math
import random
from array import array

import mpmath
import pytest

from serq.codegen import compile_module, jit
from serq.codegen.powers import power

mpmath.mp.prec = 200
CORNERS = (0.0, 1.0, 2.0, 0.5, 2.5, 3.0, 1e300, 1e-300, 5e-324, 1e17, math.inf)
TEXT = """
from serq.codegen.lang import F64Array, i64
from serq.codegen.powers import power
def powers(x: F64Array, y: F64Array, out: F64Array, n: i64) -> None:
    for i in range(n):
        out[i] = power(x[i], y[i])
"""


def points(seed, near_one, count=2000):
    rng = random.Random(seed)
    for _ in range(count):
        x = 1.0 + rng.uniform(-1e-6, 1e-6) if near_one else 10.0 ** rng.uniform(-30, 30)
        yield x, rng.uniform(-1e7, 1e7) if near_one else rng.uniform(-9, 9)


@pytest.mark.parametrize("near_one", [False, True])
def test_power_is_within_one_unit_in_the_last_place(near_one):
    for x, y in points(1, near_one):
        true = mpmath.mpf(x) ** mpmath.mpf(y)
        assert abs(power(x, y) - true) < 0.51 * math.ulp(float(true)), (x, y)


def test_whole_powers_and_roots_are_exact():
    for base in range(1, 30):
        assert [power(float(base), float(n)) for n in range(12)] == [float(base**n) for n in range(12)]
        assert power(base * base * 1.0, 0.5) == base
    assert [power(2.0, float(n)) for n in range(-1074, 1024)] == [math.ldexp(1.0, n) for n in range(-1074, 1024)]


def by_the_library(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0.0 and y % 2.0 == 1.0 else math.inf
    except ValueError:
        if x != 0.0:
            return math.nan
        return math.copysign(math.inf, x) if y % 2.0 == 1.0 else math.inf


def test_corners_are_those_of_the_library():
    values = [sign * x for x in CORNERS for sign in (1.0, -1.0)] + [math.nan]
    for x in values:
        for y in values:
            got, known = power(x, y), by_the_library(x, y)
            assert got == pytest.approx(known, rel=1e-15, nan_ok=True), (x, y)
            assert math.isnan(got) or math.copysign(1.0, got) == math.copysign(1.0, known), (x, y)


@pytest.mark.skipif(not jit.available(), reason="needs llvmlite")
def test_compiled_it_is_the_same():
    pairs = [*points(2, False, 300), *points(3, True, 300), (-2.0, 3.0), (0.0, -1.0), (-0.0, -3.0), (5e-324, 0.7)]
    out = array("d", bytes(8 * len(pairs)))
    columns = (array("d", column) for column in zip(*pairs, strict=True))
    compile_module(TEXT, "llvm").call("powers", *columns, out, len(pairs))
    assert out.tolist() == pytest.approx([power(x, y) for x, y in pairs], rel=0.0, abs=0.0, nan_ok=True)

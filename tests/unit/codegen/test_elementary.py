"""Our own log and exp against mpmath, to the unit in the last place."""

import math
import random

import mpmath
import pytest

from serq.codegen.elementary import exp, log, log1p

mpmath.mp.prec = 120


def ulps(got: float, true: mpmath.mpf) -> float:
    return float(abs(mpmath.mpf(got) - true) / mpmath.mpf(math.ulp(float(true))))


def spread(seed, low, high, count=4000):
    rng = random.Random(seed)
    return [rng.uniform(low, high) for _ in range(count)]


@pytest.mark.parametrize(
    "points",
    [
        spread(1, 0.0, 1.0),
        spread(2, 0.5, 2.0),
        [1.0 + x for x in spread(3, -1e-3, 1e-3)],
        [10.0**x for x in spread(4, -307.0, 308.0)],
        [5e-324, 2.2250738585072014e-308, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0), 1.7976931348623157e308],
    ],
    ids=["below 1", "near 1", "very near 1", "all sizes", "corners"],
)
def test_log_is_within_one_unit_in_the_last_place(points):
    assert max(ulps(log(x), mpmath.log(mpmath.mpf(x))) for x in points) < 1.0


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 20.0, 700.0])
def test_exp_is_within_one_unit_in_the_last_place(size):
    assert max(ulps(exp(x), mpmath.exp(mpmath.mpf(x))) for x in spread(5, -size, size)) < 1.0


def test_log1p_is_within_two_units_in_the_last_place():
    points = [-(10.0**x) for x in spread(6, -18.0, -0.0001)]
    assert max(ulps(log1p(x), mpmath.log(1 + mpmath.mpf(x))) for x in points) < 2.0


def test_values_at_and_beyond_the_ends():
    assert log(1.0) == 0.0
    assert exp(0.0) == 1.0
    assert log(0.0) == -math.inf
    assert log(math.inf) == math.inf
    assert math.isnan(log(-1.0))
    assert math.isnan(log(math.nan))
    assert exp(-746.0) == 0.0
    assert exp(-745.1) == 5e-324
    assert exp(710.0) == math.inf
    assert math.isnan(exp(math.nan))
    assert exp(-math.inf) == 0.0
    assert log1p(1e-300) == 1e-300

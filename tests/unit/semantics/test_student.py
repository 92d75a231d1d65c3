"""Student's distribution against SciPy, which has it from another text."""

import math

import pytest
from scipy.special import stdtr, stdtrit

from serq.semantics.student import beyond, two_sided

DEGREES = [1, 2, 3, 4, 7, 15.5, 31, 99, 1000, 1e5]


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("confidence", [0.0, 0.01, 0.5, 0.8, 0.95, 0.99, 0.999, 0.999999])
def test_quantiles(degrees, confidence):
    assert two_sided(confidence, degrees) == pytest.approx(stdtrit(degrees, 0.5 + confidence / 2), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("degrees", DEGREES)
@pytest.mark.parametrize("t", [0.0, 1e-9, 0.3, 1.0, 2.5, 10.0, 80.0])
def test_tails(degrees, t):
    assert beyond(t, degrees) == pytest.approx(stdtr(degrees, -t), rel=1e-9)


def test_without_limit_it_is_the_normal_distribution():
    assert two_sided(0.95, math.inf) == pytest.approx(1.959963984540054, rel=1e-12)
    assert beyond(2.0, math.inf) == pytest.approx(0.022750131948179195, rel=1e-12)
    assert beyond(math.inf, 5) == 0.0


def test_values_by_hand():
    assert two_sided(0.5, 1) == pytest.approx(1.0, rel=1e-14)  # Cauchy: arctan(1) = pi / 4
    assert two_sided(0.95, 2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-13)

"""Where curves bend."""

from fractions import Fraction

import pytest

from serq.studies.knees import bent_intervals, knee, meeting_point

BENT = [(float(n), min(n, 4.0)) for n in range(1, 11)]


def test_the_knee_of_two_straight_lines_is_where_they_meet() -> None:
    found = knee(BENT)
    assert found is not None
    assert found.x == 4.0
    assert found.bend == pytest.approx(1 - 3 / 9)


def test_a_curve_that_bends_upwards_has_a_knee_too() -> None:
    found = knee([(x, max(0.0, x - 7)) for x in range(1, 11)])
    assert found is not None
    assert found.x == 7


@pytest.mark.parametrize("curve", [[], BENT[:4], [(float(n), 2.0 * n) for n in range(9)], [(n, 1.0) for n in range(9)]])
def test_no_knee(curve: list[tuple[float, float]]) -> None:
    assert knee(curve) is None


def test_infinite_values_have_no_knee() -> None:
    assert knee([*BENT, (11.0, float("inf"))]) is None


def test_the_next_point_is_where_the_curve_bends() -> None:
    curve = [(x, min(x, 4.0)) for x in (1.0, 3.0, 5.0, 9.0, 13.0)]
    (_, first), *_ = bent_intervals(curve, whole=True)
    assert first in (4, 7)
    assert all(middle.denominator == 1 for _, middle in bent_intervals(curve, whole=True))


def test_whole_numbers_have_nothing_between_neighbours() -> None:
    assert bent_intervals(BENT, whole=True) == []
    assert Fraction(7, 2) in [middle for _, middle in bent_intervals(BENT, whole=False)]


def test_asymptotes_meet() -> None:
    assert meeting_point([(n, min(n / 5, 1.0)) for n in range(1, 12)]) == pytest.approx(5)
    assert meeting_point([(n, n / 5) for n in range(1, 12)]) is None

import math
from array import array
from random import Random

import pytest

from serq.engine.observing import BUCKETS, GROUP, SIDE, bucket_of
from serq.engine.results import Profile, Sketch, merged, middle_of


def sketch_of(values: list[float]) -> Sketch:
    buckets: dict[int, int] = {}
    for x in values:
        buckets[bucket_of(x)] = buckets.get(bucket_of(x), 0) + 1
    mean = sum(values) / len(values) if values else 0.0
    square = sum((x - mean) ** 2 for x in values)
    least, most = min(values, default=math.inf), max(values, default=-math.inf)
    return Sketch(len(values), 0, mean, square, least, most, buckets)


@pytest.mark.parametrize("x", [1.0, 1.5, 3.14159, 1e-9, 1e9, 2.0**47, 1023.999])
def test_a_bucket_is_narrow_on_both_sides_of_zero(x):
    assert middle_of(bucket_of(x)) == pytest.approx(x, rel=5e-4)
    assert middle_of(bucket_of(-x)) == -middle_of(bucket_of(x))


def test_buckets_are_in_the_order_of_values():
    values = [-math.inf, -1e300, -5.0, -1.0, -0.5, -1e-300, 0.0, 1e-300, 0.5, 1.0, 5.0, 1e300, math.inf]
    places = [bucket_of(x) for x in values]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] == BUCKETS - 1
    assert bucket_of(0.0) == bucket_of(-0.0) == SIDE


def test_merging_is_as_good_as_one_sketch():
    random = Random(4)
    parts = [[random.gauss(3, 2) for _ in range(n)] for n in (40, 0, 7, 300)]
    whole, pieces = sketch_of([x for part in parts for x in part]), merged([sketch_of(part) for part in parts])
    assert (pieces.count, pieces.least, pieces.most, pieces.buckets) == (
        whole.count, whole.least, whole.most, whole.buckets,
    )  # fmt: skip
    assert pieces.mean == pytest.approx(whole.mean, rel=1e-12)
    assert pieces.square == pytest.approx(whole.square, rel=1e-12)


def test_a_quantile_lies_between_the_ends():
    sketch = sketch_of([1.0001, 1.0002, 1.0003]).distribution()
    assert sketch.quantile(0.0) >= 1.0001
    assert sketch.quantile(1.0) <= 1.0003


def quantiles(values):
    return [sketch_of(values).distribution().quantile(level) for level in (0.0, 0.5, 1.0)]


@pytest.mark.parametrize("size", [1e15, 1e-15, 2.0**95, 2.0**-64])
def test_quantiles_of_large_and_of_small_numbers(size):
    assert quantiles([size, 1.25 * size, 1.5 * size]) == pytest.approx([size, 1.25 * size, 1.5 * size], rel=5e-4)
    assert quantiles([-size, -1.25 * size, -1.5 * size]) == pytest.approx([-1.5 * size, -1.25 * size, -size], rel=5e-4)


@pytest.mark.parametrize("size", [1e30, 1e-30, -1e30, -1e-30])
def test_where_buckets_end_only_the_ends_are_known(size):
    least, middle, most = quantiles([size, 1.5 * size, 2 * size])
    assert (least, most) == (min(size, 2 * size), max(size, 2 * size))
    assert math.isnan(middle)
    assert quantiles([size, size]) == [size] * 3
    assert quantiles([1.0, 1.0, size])[1] == pytest.approx(1.0, rel=5e-4)


def test_the_part_of_a_group_is_that_of_all_observations():
    """Values of programs with clocks lie at a few places: half of the first group's are at 1, all of the next at 2."""
    distribution = sketch_of([1.0, 1.0, 1.01, 1.01, 2.0, 2.0]).distribution()
    assert bucket_of(1.0) // GROUP == bucket_of(1.01) // GROUP
    assert distribution.part_of_group(1.0) == 0.5
    assert distribution.part_of_group(1.01) == distribution.part_of_group(2.0) == 1.0
    assert distribution.part_of_group(1.005) == 0.5
    assert 0.0 < distribution.part_of_group(64.0) <= 1.0
    group = bucket_of(1.0) // GROUP
    profile = Profile(group, (array("q", [3, *[0] * (bucket_of(2.0) // GROUP - group - 1), 1]),))
    assert profile.up_to(1.0, 0.5) == ([1.5], [4.0])
    assert profile.up_to(2.0, 1.0) == ([4.0], [4.0])

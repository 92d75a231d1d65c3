"""Grids: what they mean, and what is no grid."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.studies.grid import Axis, GridError, axis, number_text, parse_axis, points


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("N=1:4", ("1", "2", "3", "4")), ("N=1:10:4", ("1", "5", "9")), ("N=4:1:-1", ("4", "3", "2", "1")),
        ("N=0.1:0.5:0.1", ("0.1", "0.2", "0.3", "0.4", "0.5")), ("N=2,4,8", ("2", "4", "8")),
        ("N = 1 : 2 , 8", ("1", "2", "8")), ("N=1:3,2:4", ("1", "2", "3", "4")), ("N=1/3", ("1/3",)),
        ("N=min(1, 2), 2*M", ("min(1, 2)", "2*M")), ("N=-1:1", ("-1", "0", "1")), ("N=1e2", ("1e2",)),
        ("N=1:2:1/3", ("1", "(4/3)", "(5/3)", "2")),
    ],
)  # fmt: skip
def test_values(text: str, values: tuple[str, ...]) -> None:
    assert parse_axis(text).values == values


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("N", "NAME=VALUES"), ("=1", "NAME=VALUES"), ("N=", "a value is missing"), ("N=1,,2", "a value is missing"),
        ("N=1:", "a value is missing"), ("N=1:2:3:4", "FIRST:LAST:STEP"), ("N=5:1", "no value from 5 to 1"),
        ("N=1:5:-1", "in steps of -1"), ("N=1:5:0", "a step of 0"), ("N=a:b", "'a' is none"), ("N=1:1e9", "values"),
        ("N==3", "is no expression"), ("N=1 2", "is no expression"), ("N=(1", "is no expression"), ("3=1", "NAME"),
        ("N=1:1/0", "'1/0' is none"),
    ],
)  # fmt: skip
def test_typos(text: str, says: str) -> None:
    with pytest.raises(GridError) as caught:
        parse_axis(text)
    assert caught.value.code == "SQ820"
    assert says in str(caught.value)
    assert caught.value.exit_status == 2


@given(st.fractions(max_denominator=1000))
def test_a_number_is_written_so_that_it_reads_back(number: Fraction) -> None:
    assert Fraction(number_text(number).strip("()")) == number


def test_the_product_varies_the_last_axis_fastest() -> None:
    grid = points([parse_axis("a=1,2"), parse_axis("b=x,y")])
    assert [dict(p) for p in grid] == [{"a": i, "b": j} for i in "12" for j in "xy"]
    assert points([]) == ((),)


def test_one_constant_is_varied_once() -> None:
    with pytest.raises(GridError, match="varied twice"):
        points([parse_axis("N=1,2"), parse_axis("N=3")])


def test_a_grid_that_is_too_large() -> None:
    with pytest.raises(GridError, match="1000000 points"):
        points([parse_axis("a=1:1000"), parse_axis("b=1:1000")])


def test_axes_of_numbers() -> None:
    assert axis("N", range(1, 4)) == Axis("N", ("1", "2", "3"), whole=True)
    assert axis("mu", [0.5, Fraction(1, 3), 1]) == Axis("mu", ("0.5", "(1/3)", "1"))

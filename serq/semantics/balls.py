"""Numbers that are known within bounds: balls, a middle and a radius that every operation carries along.

F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Computers 66 (2017):
the exact result of an operation on any numbers of the operands lies in the ball that comes out, roundings included. The
precision is that of `working_bits` around the call. Matrices of rationals and of balls are multiplied, inverted and
indexed alike, so that one text does for both.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

Entry = Any
"""A rational (fmpq) or a ball (arb)."""
Matrix = Any
"""A matrix of either (fmpq_mat, arb_mat)."""
Table = Sequence[Sequence[Fraction]]
Matrices = Callable[[Table], Matrix]
"""`rationals` or `balls`."""


_NO_BOUNDS = "the precision is too low for bounds"


def working_bits(bits: int) -> AbstractContextManager[object]:
    """Within it, balls have middles of so many bits."""
    context: AbstractContextManager[object] = ctx.workprec(bits)
    return context


def bits_now() -> int:
    """Bits of the middles of balls here."""
    return int(ctx.prec)


def flint(x: Fraction | int) -> fmpq:
    """The same rational."""
    return fmpq(x.numerator, x.denominator)


def rationals(table: Table) -> Matrix:
    """The matrix itself."""
    return fmpq_mat(len(table), len(table[0]), [flint(x) for row in table for x in row])


def balls(table: Table) -> Matrix:
    """The matrix, each entry rounded to a ball around it."""
    return arb_mat(len(table), len(table[0]), [arb(flint(x)) for row in table for x in row])


def in_balls(matrix: Matrix) -> Matrix:
    """The matrix in balls, if it is not."""
    return matrix if isinstance(matrix, arb_mat) else arb_mat(matrix.nrows(), matrix.ncols(), matrix.entries())


def part(matrix: Matrix, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
    """The entries in some rows and columns."""
    return type(matrix)(len(rows), len(columns), [matrix[i, j] for i in rows for j in columns])


def beside(left: Matrix, right: Matrix) -> Matrix:
    """Two matrices of as many rows as one."""
    rows = (entry for a, b in zip(left.tolist(), right.tolist(), strict=True) for entry in (*a, *b))
    return type(left)(left.nrows(), left.ncols() + right.ncols(), list(rows))


def enclosure(x: Entry) -> tuple[Fraction, Fraction]:
    """The middle and the radius as rationals; the radius of a rational is 0. ZeroDivisionError for a ball without
    bounds.
    """
    if isinstance(x, fmpq):
        return Fraction(int(x.p), int(x.q)), Fraction(0)
    if not x.is_finite():
        raise ZeroDivisionError(_NO_BOUNDS)
    return _binary(x.mid()), _binary(x.rad())


def is_zero(x: Entry) -> bool:
    """Whether it is 0 for certain."""
    return not any(enclosure(x))


def _binary(x: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in x.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def most(matrix: Matrix) -> Fraction:
    """A bound on the absolute values of the entries, whatever lies in the balls. ZeroDivisionError without bounds."""
    largest = arb(0)
    for entry in matrix.entries():
        size = entry.abs_upper()
        if not size.is_finite():
            raise ZeroDivisionError(_NO_BOUNDS)
        largest = max(largest, size)
    return enclosure(largest)[0]


def least(x: arb) -> Fraction:
    """The lower end of a ball."""
    middle, radius = enclosure(x)
    return middle - radius


def between(low: Fraction, high: Fraction) -> arb:
    """A ball with all numbers from `low` to `high` in it."""
    return arb(flint(low)).union(arb(flint(high)))

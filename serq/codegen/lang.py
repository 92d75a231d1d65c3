"""The names that restricted Python is written with, and what they mean under CPython.

To CPython and to type checkers the scalar types are `int` and `float`; the compiler reads their names in annotations.
The arrays are protocols: `array.array`, ctypes arrays, memoryviews, NumPy arrays and lists all serve.
"""

from collections.abc import Callable
from math import ceil as whole_above
from math import copysign, fabs, sqrt
from math import floor as whole_below
from struct import pack, unpack
from typing import Protocol, TypeAlias, TypeVar

__all__ = [
    "F64Array", "I64Array", "U64Array", "bits_of", "ceil", "cold", "f64", "fabs", "float_of", "floor", "i64", "inline",
    "lanes", "sqrt", "u64",
]  # fmt: skip

i64: TypeAlias = int
u64: TypeAlias = int
f64: TypeAlias = float


class I64Array(Protocol):
    """Memory of `i64`."""

    def __getitem__(self, index: int, /) -> int:
        """The item at an index."""

    def __setitem__(self, index: int, value: int, /) -> None:
        """Put a value in its place."""


class U64Array(Protocol):
    """Memory of `u64`."""

    def __getitem__(self, index: int, /) -> int:
        """The item at an index."""

    def __setitem__(self, index: int, value: int, /) -> None:
        """Put a value in its place."""


class F64Array(Protocol):
    """Memory of `f64`."""

    def __getitem__(self, index: int, /) -> float:
        """The item at an index."""

    def __setitem__(self, index: int, value: float, /) -> None:
        """Put a value in its place."""


Marked = TypeVar("Marked", bound=Callable[..., object])


def cold(function: Marked) -> Marked:
    """Marks what runs rarely: compiled code calls it and never has it inline, which saves compile time."""
    return function


def inline(function: Marked) -> Marked:
    """Marks what compiled code always has inline."""
    return function


def lanes(count: int) -> range:
    """What a loop runs over whose turns do not touch what others of them write: all of them may be done at once."""
    return range(count)


_WHOLE = 2.0**52
"""From here on every double is a whole number."""


def floor(x: float) -> float:
    """The largest whole number up to x, as a double; zeros keep their sign, infinities and NaN are left alone."""
    return copysign(float(whole_below(x)), x) if fabs(x) < _WHOLE else x


def ceil(x: float) -> float:
    """The least whole number from x on, as a double; what rounds to zero keeps its sign."""
    return copysign(float(whole_above(x)), x) if fabs(x) < _WHOLE else x


def bits_of(x: float) -> int:
    """The 64 bits of a double, as a `u64`; of a NaN, those of one NaN or another."""
    value: int = unpack("<Q", pack("<d", x))[0]
    return value


def float_of(bits: int) -> float:
    """The double that has these 64 bits."""
    value: float = unpack("<d", pack("<Q", bits))[0]
    return value

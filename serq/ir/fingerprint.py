"""A hash of what a program means, the same on every platform and for every way of writing it.

Positions, comments, the file's name and the order in which options are written do not count; constants, names and every
expression do. Two programs with equal fingerprints are equal for every back end.
"""

from dataclasses import fields, is_dataclass
from fractions import Fraction
from hashlib import blake2b
from typing import Any

from serq.ir.program import Program

_IGNORED = ("source", "name")
"""Fields of a `Program` that say where it came from."""


def fingerprint(program: Program) -> str:
    """The hash as 32 hexadecimal digits."""
    parts = [f"{f.name}={_text(getattr(program, f.name))}" for f in fields(program) if f.name not in _IGNORED]
    return blake2b(";".join(parts).encode(), digest_size=16).hexdigest()


def _text(value: Any) -> str:
    """A text that is equal for equal values only: dataclasses by their compared fields, doubles to the bit."""
    if is_dataclass(value):
        inner = ",".join(f"{f.name}={_text(getattr(value, f.name))}" for f in fields(value) if f.compare)
        return f"{type(value).__name__}({inner})"
    if isinstance(value, tuple):
        return f"[{','.join(_text(v) for v in value)}]"
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, str | bool | int | None):
        return repr(value)
    raise TypeError(f"a program holds no {type(value).__name__}")

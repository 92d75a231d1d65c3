"""What a caller must know of a program: the types of parameters and fields, and how records lie in memory.

Types are words: `i64 u64 f64 bool`, `wide` (a whole number of which only the value modulo 2^64 is kept) and `none`
(what a call for its effect gives).
"""

from dataclasses import dataclass
from typing import Literal

Type = Literal["i64", "u64", "f64", "bool", "wide", "none"]
Item = Literal["i64", "u64", "f64"]
"""What arrays hold."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of a parameter or field that is an array.

    Array fields with the same `rows` lie together: row i has item i of each of the `columns`, this one's in `column`.
    `inside` rows lie in the record itself, if it is not 0.
    """

    item: Item
    rows: str = ""
    column: int = 0
    columns: int = 1
    inside: int = 0


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field of a record: its offset in bytes from the record's start and what lies there."""

    name: str
    offset: int
    type: "Item | ArrayType | RecordType"


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: scalars take 8 bytes, arrays 16 (address, then length), records lie inside.

    Arrays that lie together share one address and length, or lie in the record without them.

    `name` is unique among the records of a program; `label` is the class's own name.
    """

    name: str
    label: str
    fields: tuple[FieldType, ...]
    size: int


ParameterType = Type | ArrayType | RecordType


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter and the constant that stands for it where a call leaves it out."""

    name: str
    type: ParameterType
    default: int | float | bool | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call of a function must know."""

    symbol: str
    parameters: tuple[Parameter, ...]
    returns: Type

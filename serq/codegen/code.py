"""A program as a list of simple instructions, which is what LLVM IR and C are printed from.

Values are computed once and kept (`Temp`); variables are slots that are loaded and stored. Control flow is labels and
jumps. Order of evaluation and all checks are written out, so that both printers only spell.
"""

from dataclasses import dataclass
from typing import Literal

from serq.codegen.errors import Site
from serq.codegen.tree import Array, Path, RecordPart, Signature, Table

Kind = Literal["i64", "u64", "f64", "bool"]
"""What a value is; `wide` values are `u64` here, which wraps."""


@dataclass(frozen=True, slots=True)
class Temp:
    """A computed value."""

    kind: Kind
    number: int


@dataclass(frozen=True, slots=True)
class Const:
    """A constant."""

    kind: Kind
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Given:
    """What a scalar parameter was called with (bools travel as `i64`)."""

    kind: Kind
    name: str


Value = Temp | Const | Given


@dataclass(frozen=True, slots=True)
class Compute:
    """`into = op(arguments)`.

    Operators of the text (`+`, `<`, ...) by their own names, those with two operands of one kind except shifts; further
    `not`, `to_i64 to_f64 to_bool` (conversions), `select`, `sqrt floor ceil fabs bits_of float_of`, and
    `+overflows -overflows *overflows` on two `i64`.
    """

    into: Temp
    op: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class LoadSlot:
    """The value of a variable."""

    into: Temp
    slot: str


@dataclass(frozen=True, slots=True)
class StoreSlot:
    """A new value for a variable."""

    slot: str
    value: Value


@dataclass(frozen=True, slots=True)
class LoadField:
    """The value of a scalar field."""

    into: Temp
    path: Path


@dataclass(frozen=True, slots=True)
class StoreField:
    """A new value for a scalar field."""

    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class LoadItem:
    """The value of an item."""

    into: Temp
    array: Array
    index: Value


@dataclass(frozen=True, slots=True)
class StoreItem:
    """A new value for an item."""

    array: Array
    index: Value
    value: Value


@dataclass(frozen=True, slots=True)
class Length:
    """How many items an array has (checked builds only)."""

    into: Temp
    array: Array


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a function of the program."""

    into: Temp | None
    symbol: str
    arguments: tuple[Value | Array | RecordPart, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """A place to jump to. What comes before it jumps, too: nothing falls through."""

    number: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at a label."""

    to: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Go on at one of two labels. `rare` says that `yes` is hardly ever taken."""

    test: Value
    yes: int
    no: int
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Give:
    """Return."""

    value: Value | None


@dataclass(frozen=True, slots=True)
class SetFault:
    """Take note of what went wrong (checked builds only): the number of the site, from 1, and an index and a length."""

    site: int
    index: Value
    length: Value


@dataclass(frozen=True, slots=True)
class Faulted:
    """Whether something went wrong so far (checked builds only)."""

    into: Temp


Instruction = (
    Compute | LoadSlot | StoreSlot | LoadField | StoreField | LoadItem | StoreItem | Length | Invoke | Label | Jump
    | Branch | Give | SetFault | Faulted
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """A function. `slots` are its variables, scalar parameters and intermediate variables."""

    signature: Signature
    exported: bool
    mark: Literal["cold", "inline", ""]
    slots: dict[str, Kind]
    code: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A whole program: callees first."""

    functions: tuple[FunctionCode, ...]
    tables: tuple[Table, ...]
    sites: tuple[Site, ...]
    checked: bool

"""A program as a list of simple instructions, which is what LLVM IR and C are printed from.

Values are computed once and kept (`Temp`); variables are slots that are loaded and stored. Control flow is labels and
jumps. Order of evaluation and all checks are written out, so that both printers only spell. The nodes are named tuples
for the reason that `tree` gives.
"""

from typing import Literal, NamedTuple

from serq.codegen.errors import Site
from serq.codegen.signatures import Signature
from serq.codegen.tree import Array, Path, RecordPart, Table

Kind = Literal["i64", "u64", "f64", "bool"]
"""What a value is; `wide` values are `u64` here, which wraps."""


class Temp(NamedTuple):
    """A computed value."""

    kind: Kind
    number: int


class Const(NamedTuple):
    """A constant."""

    kind: Kind
    value: int | float | bool


class Given(NamedTuple):
    """What a scalar parameter was called with (bools travel as `i64`)."""

    kind: Kind
    name: str


Value = Temp | Const | Given


class Compute(NamedTuple):
    """`into = op(arguments)`.

    Operators of the text (`+`, `<`, ...) by their own names, those with two operands of one kind except shifts; further
    `not`, `to_i64 to_f64 to_bool` (conversions), `select`, `sqrt floor ceil fabs bits_of float_of`, and
    `+overflows -overflows *overflows` on two `i64`.
    """

    into: Temp
    op: str
    arguments: tuple[Value, ...]


class LoadSlot(NamedTuple):
    """The value of a variable."""

    into: Temp
    slot: str


class StoreSlot(NamedTuple):
    """A new value for a variable."""

    slot: str
    value: Value


class LoadField(NamedTuple):
    """The value of a scalar field. `lanes` is 0, or the number of the `Lanes` that it belongs to."""

    into: Temp
    path: Path
    lanes: int = 0


class StoreField(NamedTuple):
    """A new value for a scalar field."""

    path: Path
    value: Value


class LoadItem(NamedTuple):
    """The value of an item; `lanes` as of `LoadField`."""

    into: Temp
    array: Array
    position: Value
    lanes: int = 0


class StoreItem(NamedTuple):
    """A new value for an item; `lanes` as of `LoadField`."""

    array: Array
    position: Value
    value: Value
    lanes: int = 0


class Length(NamedTuple):
    """How many items an array has (checked builds only)."""

    into: Temp
    array: Array


class Invoke(NamedTuple):
    """A call of a function of the program."""

    into: Temp | None
    symbol: str
    arguments: tuple[Value | Array | RecordPart, ...]


class Label(NamedTuple):
    """A place to jump to. What comes before it jumps, too: nothing falls through."""

    number: int


class Jump(NamedTuple):
    """Go on at a label."""

    to: int


class Lanes(NamedTuple):
    """Go back to the head of a loop whose turns do not touch what others of them write, so that all may be done at
    once. Its accesses of memory have its `number`, from 1.
    """

    head: int
    number: int
    turns: int


class Branch(NamedTuple):
    """Go on at one of two labels. `rare` says that `yes` is hardly ever taken."""

    test: Value
    yes: int
    no: int
    rare: bool = False


class Give(NamedTuple):
    """Return."""

    value: Value | None


class SetFault(NamedTuple):
    """Take note of what went wrong (checked builds only): the number of the site, from 1, and an index and a length."""

    site: int
    position: Value
    length: Value


class Faulted(NamedTuple):
    """Whether something went wrong so far (checked builds only)."""

    into: Temp


Instruction = (
    Compute | LoadSlot | StoreSlot | LoadField | StoreField | LoadItem | StoreItem | Length | Invoke | Label | Jump
    | Lanes | Branch | Give | SetFault | Faulted
)  # fmt: skip


class FunctionCode(NamedTuple):
    """A function. `slots` are its variables, scalar parameters and intermediate variables."""

    signature: Signature
    exported: bool
    mark: Literal["cold", "inline", ""]
    slots: dict[str, Kind]
    code: tuple[Instruction, ...]


class Code(NamedTuple):
    """A whole program: callees first."""

    functions: tuple[FunctionCode, ...]
    tables: tuple[Table, ...]
    sites: tuple[Site, ...]
    checked: bool

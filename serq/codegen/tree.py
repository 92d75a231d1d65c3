"""A text after checking: every name resolved, every expression typed, every conversion written out.

Types are words: `i64 u64 f64 bool`, `wide` (a whole number of which only the value modulo 2^64 is kept) and `none`
(what a call for its effect gives).
"""

from dataclasses import dataclass
from typing import Literal

Type = Literal["i64", "u64", "f64", "bool", "wide", "none"]
Item = Literal["i64", "u64", "f64"]
"""What arrays hold."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the text, counted from 1."""

    line: int
    column: int


# -- memory ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of a parameter or field that is an array."""

    item: Item


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field of a record: its offset in bytes from the record's start and what lies there."""

    name: str
    offset: int
    type: "Item | ArrayType | RecordType"


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: scalars take 8 bytes, arrays 16 (address, then length), records lie inside.

    `name` is unique among the records of a program; `label` is the class's own name.
    """

    name: str
    label: str
    fields: tuple[FieldType, ...]
    size: int


ParameterType = Type | ArrayType | RecordType


@dataclass(frozen=True, slots=True)
class Path:
    """A field, reached from a record parameter: `s.heap.size`.

    `owner` is the record that declares the field: accesses of fields with different (owner, field) never meet.
    """

    parameter: str
    offset: int
    owner: str
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A constant tuple; `symbol` is unique in the program."""

    symbol: str
    item: Item
    values: tuple[int | float, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """An array as it is named in the text: a parameter, a field or a table."""

    item: Item
    at: str | Path | Table
    text: str


@dataclass(frozen=True, slots=True)
class RecordPart:
    """A record passed on: a parameter, or a record that lies inside one."""

    parameter: str
    offset: int


# -- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literally:
    """A constant. While a text is checked, `wide` stands for a whole literal that has no type yet."""

    type: Type
    value: int | float | bool


@dataclass(frozen=True, slots=True)
class Local:
    """The value of a variable or scalar parameter."""

    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """The value of a scalar field."""

    type: Type
    path: Path


@dataclass(frozen=True, slots=True)
class ItemOf:
    """An item of an array."""

    type: Type
    array: Array
    index: "Expr"
    place: Place


@dataclass(frozen=True, slots=True)
class Loaded:
    """In `a[i] op= e`: the item that was there."""

    type: Type


Operator = Literal["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two operands of the result's kind: doubles for doubles, else integers (a shift's right one is an `i64`)."""

    type: Type
    op: Operator
    left: "Expr"
    right: "Expr"
    place: Place


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x`."""

    type: Type
    op: Literal["-", "~"]
    operand: "Expr"
    place: Place


Relation = Literal["<", "<=", ">", ">=", "==", "!="]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands of one type (not `wide`)."""

    op: Relation
    left: "Expr"
    right: "Expr"
    type: Type = "bool"


@dataclass(frozen=True, slots=True)
class Not:
    """`not x`."""

    operand: "Expr"
    type: Type = "bool"


@dataclass(frozen=True, slots=True)
class Logic:
    """`x and y`, `x or y`: the right one is evaluated if the left one has not decided."""

    op: Literal["and", "or"]
    left: "Expr"
    right: "Expr"
    type: Type = "bool"


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes if test else no`."""

    type: Type
    test: "Expr"
    yes: "Expr"
    no: "Expr"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the program; `symbol` names it."""

    type: Type
    symbol: str
    arguments: "tuple[Expr | Array | RecordPart, ...]"


Builtin = Literal["int", "float", "min", "max", "sqrt", "floor", "ceil", "fabs", "bits_of", "float_of"]


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A function that the back ends have of their own."""

    type: Type
    name: Builtin
    arguments: "tuple[Expr, ...]"
    place: Place


Expr = (
    Literally | Local | Field | ItemOf | Loaded | Arithmetic | Unary | Comparison | Not | Logic | Choice | Call
    | BuiltinCall
)  # fmt: skip


# -- statements ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetLocal:
    """`x = e`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class SetField:
    """`s.f = e`."""

    path: Path
    value: Expr


@dataclass(frozen=True, slots=True)
class SetItem:
    """`a[i] = e`: e first, then i."""

    array: Array
    index: Expr
    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class UpdateItem:
    """`a[i] op= e`: i, then the item, then `value`, which contains the item as `Loaded`."""

    array: Array
    index: Expr
    value: Expr
    place: Place


@dataclass(frozen=True, slots=True)
class Evaluate:
    """A call for its effect."""

    call: Call


@dataclass(frozen=True, slots=True)
class If:
    """`if test: ... else: ...`."""

    test: Expr
    body: "tuple[Statement, ...]"
    orelse: "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class While:
    """`while test: ...`."""

    test: Expr
    body: "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class ForRange:
    """`for name in range(start, stop): ...`; the bounds are evaluated once."""

    name: str
    start: Expr
    stop: Expr
    body: "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class Return:
    """`return`, `return e`."""

    value: Expr | None


@dataclass(frozen=True, slots=True)
class Leave:
    """`break` or `continue`."""

    how: Literal["break", "continue"]


Statement = SetLocal | SetField | SetItem | UpdateItem | Evaluate | If | While | ForRange | Return | Leave


# -- functions -------------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Function:
    """A function, checked. `mark` is what the text says about having it inline; `file` is where its text is."""

    signature: Signature
    name: str
    file: str
    locals: dict[str, Type]
    body: tuple[Statement, ...]
    mark: Literal["cold", "inline", ""]


@dataclass(frozen=True, slots=True)
class Module:
    """All that is reached from the exported functions: callees before callers, and the records of the text by name."""

    functions: tuple[Function, ...]
    exports: dict[str, Signature]
    records: dict[str, RecordType]

"""A text after checking: every name resolved, every expression typed, every conversion written out.

The nodes are named tuples because every new program pays for making their classes, and these are made ten times faster
than dataclasses.
"""

from typing import Literal, NamedTuple

from serq.codegen.signatures import Item, RecordType, Signature, Type


class Place(NamedTuple):
    """Where in the text, counted from 1."""

    line: int
    column: int


# -- memory ----------------------------------------------------------------------------------------------------------


class Path(NamedTuple):
    """A field, reached from a record parameter: `s.heap.size`.

    `owner` is the record that declares the field: accesses of fields with different (owner, field) never meet.
    """

    parameter: str
    offset: int
    owner: str
    field: str
    text: str


class Table(NamedTuple):
    """A constant tuple; `symbol` is unique in the program."""

    symbol: str
    item: Item
    values: tuple[int | float, ...]


class Array(NamedTuple):
    """An array as it is named in the text: a parameter, a field or a table. Item i lies `column` items behind the
    beginning of row i, which has `columns` of them. Of a field, `inside` rows lie in the record, if it is not 0.
    """

    item: Item
    at: str | Path | Table
    text: str
    column: int = 0
    columns: int = 1
    inside: int = 0


class RecordPart(NamedTuple):
    """A record passed on: a parameter, or a record that lies inside one."""

    parameter: str
    offset: int


# -- expressions -----------------------------------------------------------------------------------------------------


class Literally(NamedTuple):
    """A constant. While a text is checked, `wide` stands for a whole literal that has no type yet."""

    type: Type
    value: int | float | bool


class Local(NamedTuple):
    """The value of a variable or scalar parameter."""

    type: Type
    name: str


class Field(NamedTuple):
    """The value of a scalar field."""

    type: Type
    path: Path


class ItemOf(NamedTuple):
    """An item of an array."""

    type: Type
    array: Array
    position: "Expr"
    place: Place


class Loaded(NamedTuple):
    """In `a[i] op= e`: the item that was there."""

    type: Type


Operator = Literal["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]


class Arithmetic(NamedTuple):
    """Two operands of the result's kind: doubles for doubles, else integers (a shift's right one is an `i64`)."""

    type: Type
    op: Operator
    left: "Expr"
    right: "Expr"
    place: Place


class Unary(NamedTuple):
    """`-x`, `~x`."""

    type: Type
    op: Literal["-", "~"]
    operand: "Expr"
    place: Place


Relation = Literal["<", "<=", ">", ">=", "==", "!="]


class Comparison(NamedTuple):
    """Two operands of one type (not `wide`)."""

    op: Relation
    left: "Expr"
    right: "Expr"
    type: Type = "bool"


class Not(NamedTuple):
    """`not x`."""

    operand: "Expr"
    type: Type = "bool"


class Logic(NamedTuple):
    """`x and y`, `x or y`: the right one is evaluated if the left one has not decided."""

    op: Literal["and", "or"]
    left: "Expr"
    right: "Expr"
    type: Type = "bool"


class Choice(NamedTuple):
    """`yes if test else no`."""

    type: Type
    test: "Expr"
    yes: "Expr"
    no: "Expr"


class Call(NamedTuple):
    """A function of the program; `symbol` names it."""

    type: Type
    symbol: str
    arguments: "tuple[Expr | Array | RecordPart, ...]"


Builtin = Literal["int", "float", "min", "max", "sqrt", "floor", "ceil", "fabs", "bits_of", "float_of"]


class BuiltinCall(NamedTuple):
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


class SetLocal(NamedTuple):
    """`x = e`."""

    name: str
    value: Expr


class SetField(NamedTuple):
    """`s.f = e`."""

    path: Path
    value: Expr


class SetItem(NamedTuple):
    """`a[i] = e`: e first, then i."""

    array: Array
    position: Expr
    value: Expr
    place: Place


class UpdateItem(NamedTuple):
    """`a[i] op= e`: i, then the item, then `value`, which contains the item as `Loaded`."""

    array: Array
    position: Expr
    value: Expr
    place: Place


class Evaluate(NamedTuple):
    """A call for its effect."""

    call: Call


class If(NamedTuple):
    """`if test: ... else: ...`."""

    test: Expr
    body: "tuple[Statement, ...]"
    orelse: "tuple[Statement, ...]"


class While(NamedTuple):
    """`while test: ...`."""

    test: Expr
    body: "tuple[Statement, ...]"


class ForRange(NamedTuple):
    """`for name in range(start, stop): ...`; the bounds are evaluated once. `lanes` is not 0 but the number of turns
    for `for name in lanes(count): ...`, whose turns may be done at once.
    """

    name: str
    start: Expr
    stop: Expr
    body: "tuple[Statement, ...]"
    lanes: int = 0


class Return(NamedTuple):
    """`return`, `return e`."""

    value: Expr | None


class Leave(NamedTuple):
    """`break` or `continue`."""

    how: Literal["break", "continue"]


Statement = SetLocal | SetField | SetItem | UpdateItem | Evaluate | If | While | ForRange | Return | Leave


# -- functions -------------------------------------------------------------------------------------------------------


class Function(NamedTuple):
    """A function, checked. `mark` is what the text says about having it inline; `file` is where its text is."""

    signature: Signature
    name: str
    file: str
    locals: dict[str, Type]
    body: tuple[Statement, ...]
    mark: Literal["cold", "inline", ""]


class Module(NamedTuple):
    """All that is reached from the exported functions: callees before callers, and the records of the text by name."""

    functions: tuple[Function, ...]
    exports: dict[str, Signature]
    records: dict[str, RecordType]

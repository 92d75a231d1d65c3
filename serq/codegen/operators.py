"""The typing of operators: which operands go together, what they are converted to, and what comes out."""

import ast
import operator
from collections.abc import Callable
from typing import TypeGuard

from serq.codegen.signatures import Type
from serq.codegen.tree import Arithmetic, BuiltinCall, Comparison, Expr, Literally, Operator, Place, Relation, Unary

I64_LOW, I64_HIGH = -(2**63), 2**63 - 1
U64_HIGH = 2**64 - 1
_EXACT = 2**53
"""Whole numbers up to this size are doubles."""
_LONGEST_SHIFT = 4096

WHOLE = ("i64", "u64", "wide")

OPERATORS: dict[type[ast.operator], Operator | str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Pow: "**",
}  # fmt: skip
RELATIONS: dict[type[ast.cmpop], Relation] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

_COMPUTE: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "**": operator.pow, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class MistypedError(Exception):
    """Operands that do not go together; the message says what to write."""


def number(value: int | float | bool) -> Literally:
    """A constant as it enters an expression: whole numbers take a type from their neighbours (see `fit`)."""
    if isinstance(value, bool):
        return Literally("bool", value)
    return Literally("f64", value) if isinstance(value, float) else Literally("wide", value)


def is_open(e: Expr) -> TypeGuard[Literally]:
    """Whether this is a whole literal that has no type yet."""
    return isinstance(e, Literally) and e.type == "wide"


def is_constant(e: Expr) -> TypeGuard[Literally]:
    """Whether CPython can compute with this now."""
    return isinstance(e, Literally) and e.type in ("wide", "f64")


def fit(e: Expr, wanted: Type) -> Expr:
    """A whole literal as a number of the wanted type; everything else as it is."""
    if not is_open(e):
        return e
    value = int(e.value)
    if wanted == "f64":
        if abs(value) > _EXACT:
            raise MistypedError(f"{value} is no double: write it with a point")
        return Literally("f64", float(value))
    low, high = (0, U64_HIGH) if wanted == "u64" else (I64_LOW, I64_HIGH)
    if not low <= value <= high:
        raise MistypedError(f"{value} is no {'u64' if wanted == 'u64' else 'i64'}")
    return Literally("u64" if wanted == "u64" else "i64", value)


def settle(e: Expr) -> Expr:
    """An expression on its own: a whole literal is an `i64` if it fits, else a `u64`."""
    return fit(e, "i64" if is_open(e) and I64_LOW <= e.value <= I64_HIGH else "u64")


def as_type(e: Expr, wanted: Type, what: str) -> Expr:
    """An expression where a type is wanted: nothing is converted but the type of whole literals."""
    if is_open(e) and wanted in ("i64", "u64"):
        return fit(e, wanted)
    e = settle(e)
    if e.type != wanted:
        raise MistypedError(_mismatch(e, wanted, what))
    return e


def _mismatch(e: Expr, wanted: Type, what: str) -> str:
    if e.type == "wide":
        return f"{what} is a u64 that may have wrapped: mask it (x & MASK, with MASK = {U64_HIGH:#x})"
    cure = ""
    if wanted == "f64" and isinstance(e, Literally) and e.type == "i64":
        cure = f": write {e.value}.0"
    elif wanted == "bool":
        cure = ": compare it with 0"
    return f"{what} is {_article(e.type)}, and {_article(wanted)} is needed{cure}"


def _article(kind: Type) -> str:
    if kind == "none":
        return "nothing"
    return f"an {kind}" if kind in ("i64", "f64") else f"a {kind}"


def arithmetic(op: str, left: Expr, right: Expr, place: Place) -> Expr:
    """`left op right`."""
    if is_constant(left) and is_constant(right):
        return _computed(op, left, right)
    if op == "**":
        raise MistypedError("** is for constants only")
    if op in ("<<", ">>"):
        return _shift(op, left, right, place)
    left, right = _meet(op, left, right)
    if "f64" in (left.type, right.type):
        if op not in ("+", "-", "*", "/"):
            raise MistypedError(f"{op} is not for doubles")
        return Arithmetic("f64", op, as_double(left, place), as_double(right, place), place)  # type: ignore[arg-type]
    return Arithmetic(_whole_result(op, left.type, right.type), op, left, right, place)  # type: ignore[arg-type]


def _meet(op: str, left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Both operands with types: a whole literal takes the type of the other side, where it can."""
    for e in (left, right):
        if e.type in ("bool", "none"):
            raise MistypedError(f"{op} has {_article(e.type)} for an operand")
    if is_open(left):
        left = _beside(left, right.type)
    if is_open(right):
        right = _beside(right, left.type)
    return left, right


def _beside(literal: Literally, other: Type) -> Expr:
    """A negative literal beside a `u64` is an `i64`, and a large one beside an `i64` is a `u64`."""
    value = int(literal.value)
    if other == "u64" and value < 0:
        return fit(literal, "i64")
    if other == "i64" and value > I64_HIGH:
        return fit(literal, "u64")
    if other == "wide":
        return fit(literal, "i64" if value < 0 else "u64")
    return fit(literal, other)


def _whole_result(op: str, left: Type, right: Type) -> Type:
    if op == "/":
        raise MistypedError("/ is for doubles: write float(a) / float(b), or a // b")
    if op == "&" and "u64" in (left, right):
        return "u64"
    if left == right and left in ("i64", "u64"):
        return left if left == "i64" or op in ("//", "%", "&", "|", "^") else "wide"
    if op in ("//", "%"):
        raise MistypedError(f"{op} needs two operands of one type, not {left} and {right}")
    return "wide"


def _shift(op: str, left: Expr, right: Expr, place: Place) -> Expr:
    left = settle(left)
    right = as_type(right, "i64", "the shift count")
    if left.type not in WHOLE:
        raise MistypedError(f"{op} is not for {left.type}")
    if op == ">>" and left.type == "wide":
        raise MistypedError(f">> needs all bits: mask what is left of it first ((x) & MASK, with MASK = {U64_HIGH:#x})")
    result: Type = "i64" if left.type == "i64" else "u64" if op == ">>" else "wide"
    return Arithmetic(result, op, left, right, place)  # type: ignore[arg-type]


def as_double(e: Expr, place: Place) -> Expr:
    """The double of a number; of an integer the nearest one, ties to even."""
    if e.type == "f64":
        return e
    if e.type not in ("i64", "u64"):
        raise MistypedError(_mismatch(e, "f64", "an operand"))
    return BuiltinCall("f64", "float", (e,), place)


def _computed(op: str, left: Literally, right: Literally) -> Literally:
    if (op == "**" and abs(right.value) > _LONGEST_SHIFT) or (op == "<<" and right.value > _LONGEST_SHIFT):
        raise MistypedError("the constant is too large")
    try:
        return number(_COMPUTE[op](left.value, right.value))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise MistypedError(f"the constant cannot be computed: {error}") from None


def comparison(op: Relation, left: Expr, right: Expr) -> Expr:
    """`left op right`, for one pair."""
    if is_constant(left) and is_constant(right):
        return number(_COMPUTE[op](left.value, right.value))
    if is_open(left):
        left = fit(left, right.type)
    if is_open(right):
        right = fit(right, left.type)
    if left.type != right.type or left.type in ("wide", "bool", "none"):
        kinds = f"{left.type} and {right.type}"
        raise MistypedError(f"{op} compares two i64, two u64 or two f64, not {kinds}: write float(n), int(u) or a mask")
    return Comparison(op, left, right)


def unary(op: str, operand: Expr, place: Place) -> Expr:
    """`-x`, `+x`, `~x`."""
    if is_constant(operand) and not (op == "~" and operand.type == "f64"):
        value = operand.value
        return number(-value if op == "-" else ~int(value) if op == "~" else value)
    if operand.type not in (*WHOLE, "f64") or (op == "~" and operand.type == "f64"):
        raise MistypedError(f"{op} is not for {operand.type}")
    if op == "+":
        return operand
    return Unary("wide" if operand.type == "u64" else operand.type, op, operand, place)  # type: ignore[arg-type]

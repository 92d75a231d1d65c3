"""Partial evaluation: an expression with the values that a session carries put in, constants left as names.

What results is again an expression, over constants, draws, clocks and observables only. Where the course of a session
depends on a constant, the constant's value is used and its name is noted: such a constant shapes the structure and
cannot be left open.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from serq.ir import expr as e
from serq.ir.evaluate import NoScope, Rationals, compile_expr

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&&", "||"})


class UnknownValueError(Exception):
    """The value depends on more than constants."""


class Partial:
    """Evaluates with the program's constants; `shaping` collects the names that the structure depends on."""

    def __init__(self, constants: Mapping[str, e.Number], without_queue: frozenset[int] = frozenset()) -> None:
        """`without_queue`: the stages at which no job ever waits."""
        self.constants = constants
        self.without_queue = without_queue
        self.shaping: set[str] = set()
        self._arithmetic = Rationals()

    def reduce(self, expr: e.Expr, values: Mapping[str, e.Expr]) -> e.Expr:
        """The expression with attributes replaced by their values; sub-expressions of numbers only are folded.

        An attribute without a value is a clock and stays. A conditional is decided where its test is known.
        """
        match expr:
            case e.Attr(name=name) | e.Builtin(name=name):
                return values.get(name, expr)
            case e.Unary(op=op, operand=a):
                return self._folded(e.Unary(op, self.reduce(a, values), expr.span))
            case e.Binary(op=op, left=a, right=b):
                return self._folded(e.Binary(op, self.reduce(a, values), self.reduce(b, values), expr.span))
            case e.Cond(test=test, then=then, otherwise=otherwise):
                reduced = self.reduce(test, values)
                if is_known(reduced):
                    return self.reduce(then if self.decide(reduced) else otherwise, values)
                return e.Cond(reduced, self.reduce(then, values), self.reduce(otherwise, values), expr.span)
            case e.Call(function=f, args=args):
                return self._folded(e.Call(f, tuple(self.reduce(a, values) for a in args), expr.span))
            case e.Draw(law=law, args=args):
                return e.Draw(law, tuple(self.reduce(a, values) for a in args), expr.span)
            case e.StageState(fact=fact, stage=ref):
                place = self.place(ref, values)
                nobody_waits = fact == "queue" and place.base in self.without_queue
                return number(0) if nobody_waits else e.StageState(fact, place, expr.span)
            case e.PoolState(fact=fact, pool=ref):
                return e.PoolState(fact, self.place(ref, values), expr.span)
            case _:
                return expr

    def place(self, ref: e.Ref, values: Mapping[str, e.Expr]) -> e.Ref:
        """The reference with its index evaluated; UnknownValueError when that depends on the state, or when there is no
        such member (exploring says so, if ever a session gets there).
        """
        if ref.index is None:
            return ref
        value = self.number(self.reduce(ref.index, values))
        if value not in range(ref.size):
            raise UnknownValueError
        index = int(value)
        return e.Ref(f"{ref.name}[{index}]", ref.base + index, span=ref.span)

    def _folded(self, expr: e.Expr) -> e.Expr:
        if all(isinstance(child, e.Num) for child in e.children(expr)):
            return e.Num(self.value(expr), expr.span)
        return expr

    def value(self, expr: e.Expr) -> e.Number:
        """The number that an expression over constants has at their present values; UnknownValueError otherwise."""
        if not is_known(expr):
            raise UnknownValueError
        number: e.Number = compile_expr(expr, self._arithmetic, self.constants)(NoScope())
        return number

    def number(self, expr: e.Expr) -> e.Number:
        """The value, for something that shapes the structure: the constants in it are noted."""
        value = self.value(expr)
        self.shaping |= constants_in(expr)
        return value

    def decide(self, expr: e.Expr) -> bool:
        """Whether the value is non-zero; the constants in it are noted."""
        return self.number(expr) != 0


def is_known(expr: e.Expr) -> bool:
    """Whether the expression is over numbers and constants only."""
    return all(isinstance(n, e.Num | e.Const | e.Unary | e.Binary | e.Cond | e.Call) for n in e.walk(expr))


def is_test(expr: e.Expr) -> bool:
    """Whether the expression can only be 0 or 1."""
    match expr:
        case e.Binary(op=op):
            return op in COMPARISONS
        case e.Unary(op="!"):
            return True
        case e.Num(value=v):
            return v in (0, 1)
        case _:
            return False


def reads_state(expr: e.Expr) -> bool:
    """Whether the expression reads an observable of the deployment."""
    return any(isinstance(n, e.StageState | e.PoolState | e.Price) for n in e.walk(expr))


def constants_in(expr: e.Expr) -> set[str]:
    """The names of the constants in the expression."""
    return {n.name for n in e.walk(expr) if isinstance(n, e.Const)}


def number(value: int | Fraction) -> e.Num:
    """A literal."""
    return e.Num(Fraction(value))


def times(a: e.Expr, b: e.Expr) -> e.Expr:
    """A product, with factors of one left out."""
    if a == number(1):
        return b
    if b == number(1):
        return a
    if isinstance(a, e.Num) and isinstance(b, e.Num):
        return e.Num(a.value * b.value)
    return e.Binary("*", a, b)


def complement(a: e.Expr) -> e.Expr:
    """1 - a."""
    return e.Num(1 - a.value) if isinstance(a, e.Num) else e.Binary("-", number(1), a)


def inverse(a: e.Expr) -> e.Expr:
    """1 / a, without a double fraction."""
    match a:
        case e.Num(value=v):
            return e.Num(1 / Fraction(v))
        case e.Binary(op="/", left=top, right=bottom):
            return bottom if top == number(1) else e.Binary("/", bottom, top)
        case _:
            return e.Binary("/", number(1), a)


def replaced(expr: e.Expr, old: e.Expr, new: e.Expr) -> e.Expr:
    """The expression with one of its parts (that very object) exchanged."""
    return rewritten(expr, lambda node: new if node is old else None)


def rewritten(expr: e.Expr, change: Callable[[e.Expr], e.Expr | None]) -> e.Expr:
    """The expression with every part exchanged for what `change` makes of it; None: the part stays."""
    new = change(expr)
    if new is not None:
        return new
    match expr:
        case e.Unary(op=op, operand=a):
            return e.Unary(op, rewritten(a, change), expr.span)
        case e.Binary(op=op, left=a, right=b):
            return e.Binary(op, rewritten(a, change), rewritten(b, change), expr.span)
        case e.Cond(test=test, then=a, otherwise=b):
            return e.Cond(rewritten(test, change), rewritten(a, change), rewritten(b, change), expr.span)
        case e.Call(function=f, args=args):
            return e.Call(f, tuple(rewritten(a, change) for a in args), expr.span)
        case e.Draw(law=law, args=args):
            return e.Draw(law, tuple(rewritten(a, change) for a in args), expr.span)
        case _:
            return expr

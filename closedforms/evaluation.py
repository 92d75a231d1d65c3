"""Expressions over what a session knows: every outcome with its probability.

A draw of finite support has one outcome by value, any other draw one outcome in which it is still open. A reading of
`busy` and `queue` of one stage has two outcomes when it is a test for room (`evaluate_test`); otherwise it is unclear.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import sympy

from serq.base.source import Span
from serq.closedforms.amounts import ONE, ZERO, Amount, Named, Now, Unclear, Value, add, number, plain, sample, scale
from serq.ir import expr as e
from serq.ir import laws
from serq.ir.evaluate import Rationals
from serq.ir.expr import Number, is_finite

Outcomes: TypeAlias = list[tuple[Named, Value]]

_ARITHMETIC = Rationals()
_SYMBOLIC: Mapping[str, Any] = {
    "min": sympy.Min,
    "max": sympy.Max,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "sqrt": sympy.sqrt,
    "exp": sympy.exp,
    "ln": sympy.log,
    "pow": sympy.Pow,
}
_TRUTH: Mapping[str, Any] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@dataclass(frozen=True)
class Knowledge:
    """What an expression may read: constants, attributes, builtins and context variables that are numbers here."""

    constants: Mapping[str, Named]
    attributes: Mapping[str, Value] = field(default_factory=dict)
    builtins: Mapping[str, Named] = field(default_factory=dict)
    context: Mapping[str, Named] = field(default_factory=dict)
    present: Mapping[int, "tuple[int, int]"] = field(default_factory=dict)
    """(jobs in service, jobs waiting) of a stage, where it is supposed."""
    place: int = 0


def evaluate(expr: e.Expr, knowledge: Knowledge) -> Outcomes:
    """The outcomes of the expression; probabilities add up to 1."""
    return _Evaluation(knowledge).outcomes(expr)


def stages_read(expr: e.Expr, knowledge: Knowledge) -> frozenset[int | None]:
    """The stages whose `busy` or `queue` the expression reads; None stands for one that is not fixed."""
    reads = (node for node in e.walk(expr) if isinstance(node, e.StageState) and node.fact in ("busy", "queue"))
    return frozenset(_Evaluation(knowledge).place(node.stage) for node in reads)


class _Evaluation:
    def __init__(self, knowledge: Knowledge) -> None:
        self.knows = knowledge
        self.draws = 0

    def outcomes(self, expr: e.Expr) -> Outcomes:
        match expr:
            case e.Num(value=v):
                return _surely(Amount(number(v)))
            case e.Const(name=name):
                return _surely(Amount(self.knows.constants[name]))
            case e.Attr(name=name):
                return _surely(self.knows.attributes.get(name, Unclear(f"{name} is not set here", expr.span)))
            case e.Builtin() | e.Context() | e.StageState() | e.PoolState() | e.Price():
                return _surely(self._read(expr))
            case e.Unary(op=op, operand=operand):
                return [(p, _unary(op, v, expr.span)) for p, v in self.outcomes(operand)]
            case e.Cond():
                return self._chosen(self.outcomes(expr.test), expr.then, expr.otherwise, expr.span)
            case e.Binary(op="&&"):
                return self._truth(self._chosen(self.outcomes(expr.left), expr.right, e.Num(Fraction(0)), expr.span))
            case e.Binary(op="||"):
                return self._truth(self._chosen(self.outcomes(expr.left), e.Num(Fraction(1)), expr.right, expr.span))
            case e.Binary(op=op):
                pairs = product(self.outcomes(expr.left), self.outcomes(expr.right))
                return [(p * q, _binary(op, a, b, expr.span)) for (p, a), (q, b) in pairs]
            case e.Call(function=name, args=args):
                return [(p, _call(name, values, expr.span)) for p, values in self._all(args)]
            case e.Draw():
                return [x for p, values in self._all(expr.args) for x in self._draw(expr, p, values)]

    def _all(self, args: tuple[e.Expr, ...]) -> Iterator[tuple[Named, tuple[Value, ...]]]:
        for combination in product(*(self.outcomes(a) for a in args)):
            probability = ONE
            for p, _ in combination:
                probability = probability * p
            yield probability, tuple(v for _, v in combination)

    def _read(self, expr: e.Builtin | e.Context | e.StageState | e.PoolState | e.Price) -> Value:
        match expr:
            case e.Builtin(name="now"):
                return Amount(ZERO, ((Now(), ONE),))
            case e.Builtin(name=name) if name in self.knows.builtins:
                return Amount(self.knows.builtins[name])
            case e.Builtin(name=name):
                return Unclear(f"{name} takes unboundedly many values", expr.span)
            case e.Context(name=context) if context in self.knows.context:
                return Amount(self.knows.context[context])
            case e.StageState(fact=fact, stage=ref) if fact in ("busy", "queue"):
                place = self.place(ref)
                if place is not None and place in self.knows.present:
                    return Amount(number(self.knows.present[place][fact == "queue"]))
                return Unclear(f"it reads the state of {ref.name} at that instant", expr.span)
            case _:
                return Unclear("it reads the state at that instant", expr.span)

    def place(self, ref: e.Ref) -> int | None:
        """Where the stage stands, when its index is one number."""
        if ref.index is None:
            return ref.base
        outcomes = self.outcomes(ref.index)
        index = plain(outcomes[0][1]) if len(outcomes) == 1 else None
        if index is None or not (0 <= index.value < ref.size and index.value == int(index.value)):
            return None
        return ref.base + int(index.value)

    def _chosen(self, tests: Outcomes, then: e.Expr, otherwise: e.Expr, span: Span) -> Outcomes:
        out: Outcomes = []
        for p, test in tests:
            value = plain(test)
            if value is None:
                out.append((p, _unclear(test, "a test of something that is no constant", span)))
            else:
                out += [(p * q, v) for q, v in self.outcomes(then if value.value != 0 else otherwise)]
        return out

    @staticmethod
    def _truth(outcomes: Outcomes) -> Outcomes:
        return [(p, v if (value := plain(v)) is None else Amount(number(int(value.value != 0)))) for p, v in outcomes]

    def _draw(self, draw: e.Draw, probability: Named, values: tuple[Value, ...]) -> Outcomes:
        args = [plain(v) for v in values]
        if any(a is None for a in args):
            return [(probability, _unclear_of(values, "a draw whose law is random", draw.span))]
        known = tuple(a for a in args if a is not None)
        law = laws.Law(draw.law, tuple(a.value for a in known))
        self.draws += 1
        if laws.problem_of(law) is None and draw.law in ("det", "bernoulli", "choice"):
            return [(probability * p, Amount(v)) for p, v in _support(draw.law, known)]
        return [(probability, sample(self.knows.place, self.draws, draw.law, known))]


def _support(law: e.LawName, args: tuple[Named, ...]) -> list[tuple[Named, Named]]:
    """(probability, value) pairs of a law of finite support, zero probabilities left out."""
    if law == "det":
        return [(ONE, args[0])]
    if law == "bernoulli":
        pairs = [(args[0], ONE), (ONE - args[0], ZERO)]
    else:
        total = ZERO
        for weight in args[1::2]:
            total = total + weight
        pairs = [(weight / total, value) for value, weight in zip(args[::2], args[1::2], strict=True)]
    return [(p, v) for p, v in pairs if p.value > 0]


def _surely(value: Value) -> Outcomes:
    return [(ONE, value)]


def _unclear(value: Value, reason: str, span: Span) -> Unclear:
    return value if isinstance(value, Unclear) else Unclear(reason, span)


def _unclear_of(values: tuple[Value, ...], reason: str, span: Span) -> Unclear:
    for value in values:
        if isinstance(value, Unclear):
            return value
    return Unclear(reason, span)


def _unary(op: e.UnaryOp, value: Value, span: Span) -> Value:
    if isinstance(value, Unclear):
        return value
    if op == "-":
        return scale(value, number(-1))
    known = plain(value)
    return Unclear("a test of something that is no constant", span) if known is None else _truth(known.value == 0)


def _truth(holds: bool) -> Amount:
    return Amount(number(int(holds)))


def _binary(op: e.BinaryOp, a: Value, b: Value, span: Span) -> Value:
    if isinstance(a, Unclear) or isinstance(b, Unclear):
        return _unclear_of((a, b), "", span)
    if op in "+-":
        return add(a, b, 1 if op == "+" else -1)
    if op == "*" and (a.known or b.known):
        return scale(b, a.constant) if a.known else scale(a, b.constant)
    if op == "/" and b.known and b.constant.value != 0:
        return scale(a, ONE / b.constant)
    if not (a.known and b.known):
        return Unclear(f"{op} of a time or a draw", span)
    if op in _TRUTH:
        return _truth(bool(_TRUTH[op](a.constant.value, b.constant.value)))
    operation = _ARITHMETIC.modulo if op == "%" else _ARITHMETIC.divide
    return _number(operation(a.constant.value, b.constant.value), None, span)


def _call(name: e.FunctionName, values: tuple[Value, ...], span: Span) -> Value:
    known = [plain(v) for v in values]
    if any(k is None for k in known):
        return _unclear_of(values, f"{name} of a time or a draw", span)
    args = [k for k in known if k is not None]
    value = _ARITHMETIC.function(name, tuple(a.value for a in args))
    return _number(value, _SYMBOLIC[name](*(a.symbol for a in args)), span)


def _number(value: Number, symbol: Any, span: Span) -> Value:
    if not is_finite(value):
        return Unclear("it is not finite", span)
    return Amount(number(value) if symbol is None else Named(value, symbol))

"""Observed values as linear forms in the time, and the stretch of program over which an interval runs.

`now - t0` at an observe is an interval that began at `set t0 = now`. Summed over all observations, the intervals are
the time that sessions spend between the two (Little's law), so a count of the sessions in between is a reward whose
long-run rate is the sum of the observed values. That holds when every pass is observed exactly once; this is checked.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from serq.exporters.partial import number, times
from serq.exporters.text import NoTextError
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_NOW = "now"


@dataclass(frozen=True, slots=True)
class Linear:
    """sum of weight * (now - clock) + rest; the rest is over constants and observables."""

    clocks: tuple[tuple[str, Fraction], ...]
    rest: e.Expr


def linear_form(expr: e.Expr) -> Linear:
    """The expression as a linear form; draws count with their means. NoTextError when it is none."""
    coefficients: dict[str, Fraction] = defaultdict(Fraction)
    rest = _collect(expr, Fraction(1), coefficients)
    times_now = coefficients.pop(_NOW, Fraction(0))
    clocks = tuple(sorted((name, -c) for name, c in coefficients.items() if c))
    if times_now != sum((weight for _, weight in clocks), Fraction(0)):
        raise NoTextError("an interval: the value depends on the time itself")
    return Linear(clocks, rest)


def _collect(expr: e.Expr, factor: Fraction, into: dict[str, Fraction]) -> e.Expr:
    """Add the clocks' coefficients; return what is left, times the factor."""
    match expr:
        case e.Builtin(name="now"):
            into[_NOW] += factor
            return number(0)
        case e.Attr(name=name):
            into[name] += factor
            return number(0)
        case e.Draw():
            return times(number(factor), _mean(expr))
        case e.Binary(op="+" | "-" as op, left=a, right=b):
            left = _collect(a, factor, into)
            return _sum(left, _collect(b, factor if op == "+" else -factor, into))
        case e.Unary(op="-", operand=a):
            return _collect(a, -factor, into)
        case e.Binary(op="*", left=e.Num(value=Fraction() as k), right=a) if not _is_plain(a):
            return _collect(a, factor * k, into)
        case e.Binary(op="*", left=a, right=e.Num(value=Fraction() as k)) if not _is_plain(a):
            return _collect(a, factor * k, into)
        case e.Binary(op="/", left=a, right=e.Num(value=Fraction() as k)) if not _is_plain(a) and k:
            return _collect(a, factor / k, into)
    if any(isinstance(n, e.Builtin) and n.name == "serial" for n in e.walk(expr)):
        raise NoTextError("the sessions told apart by `serial`")
    if not _is_plain(expr):
        raise NoTextError("a linear form in the time")
    return times(number(factor), expr)


def _is_plain(expr: e.Expr) -> bool:
    """Whether neither the time, a clock nor a draw is in it."""
    return not any(isinstance(n, e.Builtin | e.Attr | e.Draw) for n in e.walk(expr))


def _sum(a: e.Expr, b: e.Expr) -> e.Expr:
    if a == number(0):
        return b
    return a if b == number(0) else e.Binary("+", a, b)


def _mean(draw: e.Draw) -> e.Expr:
    match draw.law:
        case "exp" | "det" | "h2" | "bernoulli":
            return draw.args[0]
        case "erlang":
            return draw.args[1]
        case "uniform":
            return e.Binary("/", e.Binary("+", draw.args[0], draw.args[1]), number(2))
        case _:
            raise NoTextError(f"the mean of ~{draw.law}")


def region(program: p.Program, observe: str, name: str) -> frozenset[int]:
    """The rest points at which the value of an attribute will still be read by that observe.

    NoTextError when some pass through them is observed never or more than once.
    """

    def observes(pc: int) -> bool:
        instruction = program.code[pc]
        is_observe = isinstance(instruction, p.Observe) and instruction.name == observe
        return is_observe and name in e.attributes_read(flow.expressions(instruction)[0])

    def uses(pc: int) -> frozenset[str]:
        return frozenset({name}) if observes(pc) else frozenset()

    _, after = flow.liveness(
        program, uses, lambda pc: flow.writes(program, pc) & {name}, lambda pc: flow.successors(program, pc)
    )
    certain = _certain(program, name, observes)
    inside = frozenset(pc for pc in range(len(program.code)) if flow.is_rest(program, pc) and name in after[pc])
    once = not any(observes(pc) and name in after[pc] for pc in range(len(program.code)))
    if not once or not all(certain[t] for pc in inside for t in flow.successors(program, pc)):
        raise NoTextError(f"every value of {name} to be observed exactly once")
    return inside


def _certain(program: p.Program, name: str, observes: Callable[[int], bool]) -> list[bool]:
    """Per instruction: whether every path from it reaches the observe before the value is lost."""
    certain = [True] * len(program.code)
    changed = True
    while changed:
        changed = False
        for pc in reversed(range(len(program.code))):
            lost = name in flow.writes(program, pc) or isinstance(program.code[pc], p.End)
            value = observes(pc) or (not lost and all(certain[t] for t in flow.successors(program, pc)))
            if value != certain[pc]:
                certain[pc] = value
                changed = True
    return certain


def drawn_attributes(program: p.Program, expr: e.Expr) -> frozenset[str]:
    """The attributes in an expression that may hold a draw which is not yet over."""
    continuous = {"exp", "erlang", "h2", "uniform"}
    drawn = set()
    for statement in (*program.code, *program.init, *program.turn):
        if isinstance(statement, p.Set) and any(d.law in continuous for d in e.draws(statement.expr)):
            drawn.add(statement.name)
    return frozenset(drawn & e.attributes_read(expr))

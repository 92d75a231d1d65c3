"""Expressions as restricted Python: steps that may fail or draw become lines, the rest one expression.

An expression of the language that can fail makes the function in which it stands return a status, so it must stand in
one that does.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from serq.engine.ahead import NOTHING, Ahead
from serq.engine.clocks import region_of, source_of
from serq.engine.lines import Lines
from serq.engine.sites import Site, Sites
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Doubles
from serq.ir.laws import Law, problem_of

_FUNCTIONS = {
    "abs": "fabs", "floor": "whole_below", "ceil": "whole_above", "sqrt": "root", "exp": "exp", "ln": "log",
    "pow": "power",
}  # fmt: skip
_FOLDS = {"min": "smaller", "max": "larger"}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_NO_SLOT = "-1"
_MOST_NESTED = 32
"""Values of a choice that are compared within each other."""
_MOST_CERTAIN = 1e6
"""No draw from a law with parameters up to this one reaches infinity."""


@dataclass(slots=True)
class Surroundings:
    """What an expression sees. `stream` is the place of its stream in `words`, None where it draws
    from the stream of arrivals; `ahead` says which draws are made before they are needed; `set_here` are the attributes
    that have certainly been set; `context` has the context variables. `left` is the function that works out what the
    budget of a step stage leaves.
    """

    slot: str = _NO_SLOT
    stream: str | None = None
    set_here: frozenset[str] = frozenset()
    context: Mapping[str, str] = field(default_factory=dict)
    left: str = "step_left"
    ahead: Ahead = NOTHING


def literal(value: float) -> str:
    """A double as it is written in the text."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INF" if value > 0 else "(-INF)"
    return repr(value) if math.copysign(1.0, value) > 0 else f"({value!r})"


class Expressions:
    """Writes expressions of one program into `lines`."""

    def __init__(self, program: p.Program, lines: Lines, sites: Sites, doubtful: frozenset[str]) -> None:
        self.program = program
        self.lines = lines
        self.sites = sites
        self.here = Surroundings()
        self.attributes = {name: i for i, name in enumerate(program.attributes)}
        self.checked = [name for name in program.attributes if name in doubtful]
        self._constants = {c.name: c.folded.value for c in program.constants}

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, expr: e.Expr) -> str:
        """An f64 expression; what must happen before goes to the lines."""
        match expr:
            case e.Num(value=v):
                return literal(Doubles().literal(v))
            case e.Const(name=name):
                return literal(self._constants[name])
            case e.Attr(name=name):
                return self._attribute(expr, name)
            case e.Builtin(name=name):
                return self._builtin(name)
            case e.Context(name=name):
                return self.here.context[name]
            case e.StageState() | e.PoolState() | e.Price():
                return self._observable(expr)
            case e.Unary(op="-", operand=a):
                return f"(-{self.value(a)})"
            case e.Binary(op=("+" | "-" | "*") as op, left=a, right=b):
                return f"({self.value(a)} {op} {self.value(b)})"
            case e.Binary(op="/", left=a, right=b):
                return self._quotient(a, b)
            case e.Binary(op="%", left=a, right=b):
                return f"modulo({self.value(a)}, {self.value(b)})"
            case e.Cond():
                return self._conditional(expr)
            case e.Call(function=name, args=args):
                return self._call(name, [self.value(a) for a in args])
            case e.Draw():
                return self._draw(expr)
            case _:
                return f"(1.0 if {self.test(expr)} else 0.0)"

    def test(self, expr: e.Expr) -> str:
        """A bool expression: whether the value is not zero."""
        match expr:
            case e.Binary(op=op, left=a, right=b) if op in _COMPARISONS:
                return f"({self.value(a)} {op} {self.value(b)})"
            case e.Binary(op=("&&" | "||") as op, left=a, right=b):
                return self._lazy(op, a, b)
            case e.Unary(op="!", operand=a):
                return f"(not {self.test(a)})"
            case _:
                return f"({self.value(expr)} != 0.0)"

    def constant(self, expr: e.Expr) -> float | None:
        """The value of a literal or a `let`."""
        match expr:
            case e.Num(value=v):
                return Doubles().literal(v)
            case e.Const(name=name):
                return self._constants[name]
            case e.Unary(op="-", operand=a):
                inner = self.constant(a)
                return None if inner is None else -inner
            case e.Binary(op=("+" | "-" | "*" | "/") as op, left=a, right=b):
                left, right = self.constant(a), self.constant(b)
                return None if left is None or right is None else _fold(op, left, right)
            case _:
                return None

    def kept(self, expr: e.Expr) -> str:
        """A name or literal that has the value of the expression as it is now."""
        fixed = self.constant(expr)
        if fixed is not None and math.isnan(fixed):
            return literal(fixed)
        text = self.value(expr)
        if text.isidentifier() or fixed is not None:
            return text
        name = self.lines.name()
        self.lines.add(f"{name} = {text}")
        return name

    # -- names -------------------------------------------------------------------------------------------------------

    def _attribute(self, expr: e.Attr, name: str) -> str:
        place = self.attributes[name]
        if name not in self.here.set_here:
            site = self.sites.number(Site("unset", expr.span, name))
            with self.lines.block(f"if s.flags[{self.here.slot}] & {self.mark(name)} == 0:"):
                self.lines.add(f"return fail(s, {site}, s.serial[{self.here.slot}], 0)")
        return f"s.attrs[{self.item(place)}]"

    def item(self, place: int) -> str:
        """Where an attribute of the session lies."""
        many = len(self.attributes)
        return f"{self.here.slot} * {many} + {place}" if many > 1 else self.here.slot

    def mark(self, name: str) -> int:
        """The bit that says whether an attribute has been set."""
        return 4 << self.checked.index(name)

    def _builtin(self, name: e.BuiltinName) -> str:
        if name == "now":
            return "s.now"
        if self.here.slot == _NO_SLOT or (name in ("cached", "computed") and not self.program.pools):
            return "0.0"
        if name in ("cached", "computed"):
            return f"s.pools.{'hit' if name == 'cached' else 'computed'}[{self.here.slot}]"
        return f"float(s.{'serial' if name == 'serial' else 'turn'}[{self.here.slot}])"

    def _observable(self, expr: e.StageState | e.PoolState | e.Price) -> str:
        match expr:
            case e.StageState():
                return self._stage_state(expr)
            case e.PoolState():
                return self._pool_state(expr)
            case e.Price(stage=ref, hit=hit, extra=extra):
                return f"price(s, {self.place(ref)}, {self.value(hit)}, {self.value(extra)})"

    def _stage_state(self, expr: e.StageState) -> str:
        kind = self.program.stages[expr.stage.base].kind
        place = self.place(expr.stage)
        if isinstance(kind, p.Step) and not expr.fact.startswith("est_"):
            return self._step_state(expr.fact, place)
        if expr.fact.startswith("est_"):
            return f"{expr.fact}(s, {place})"
        if expr.fact == "work":
            return self._work(expr.stage, kind, place)
        if not isinstance(kind, p.Fifo):
            return f"float(s.number[{place}])" if expr.fact == "busy" else "0.0"
        serving = f"min(s.number[{place}], {p.whole(kind.servers)})"
        return f"float({serving})" if expr.fact == "busy" else f"float(s.number[{place}] - {serving})"

    def _work(self, ref: e.Ref, kind: p.StageKind, place: str) -> str:
        """The unfinished work."""
        if isinstance(kind, p.ProcessorSharing):
            return f"work_shared(s, {place}, {region_of(self.program, ref, place)})"
        if isinstance(kind, p.Fifo) and p.whole(kind.servers) == 1:
            return f"work_single(s, {place}, {source_of(self.program, ref, place)})"
        return (
            f"work_many(s, {place}, {p.whole(kind.servers)})"
            if isinstance(kind, p.Fifo)
            else f"pending_work(s, {place})"
        )

    def _step_state(self, fact: e.StageFact, place: str) -> str:
        if fact != "budget_left":
            return f"{fact}_step(s, {place})"
        self.lines.add(f"if {self.here.left}(s, {place}) != MORE:", "    return FAULT")
        name = self.lines.name()
        self.lines.add(f"{name} = s.steps.value")
        return name

    def _pool_state(self, expr: e.PoolState) -> str:
        place = self.place(expr.pool)
        match expr.fact:
            case "used":
                return f"s.pools.used[{place}]"
            case "free":
                return f"({literal(self.program.pools[expr.pool.base].cap.value)} - s.pools.used[{place}])"
            case "cachedin":
                return "0.0" if self.here.slot == _NO_SLOT else f"own_units(s, {place}, {self.here.slot})"
            case fact:
                return f"float(s.pools.{fact}[{place}])"

    def place(self, ref: e.Ref) -> str:
        """The place of a stage or pool; an index out of range is a fault."""
        if ref.index is None:
            return str(ref.base)
        index = self.kept(ref.index)
        site = self.sites.number(Site("index", ref.span, ref.name, ref.size))
        with self.lines.block(f"if not (0.0 <= {index} < {float(ref.size)!r} and {index} == floor({index})):"):
            self.lines.add(f"return fail_with(s, {site}, {self._serial()}, 0, {index})")
        name = self.lines.name()
        self.lines.add(f"{name} = int({index})" + (f" + {ref.base}" if ref.base else ""))
        return name

    def _serial(self) -> str:
        return "-1" if self.here.slot == _NO_SLOT else f"s.serial[{self.here.slot}]"

    # -- operators ---------------------------------------------------------------------------------------------------

    def _quotient(self, a: e.Expr, b: e.Expr) -> str:
        divisor = self.constant(b)
        plain = divisor is not None and divisor != 0.0
        return f"({self.value(a)} / {self.value(b)})" if plain else f"over({self.value(a)}, {self.value(b)})"

    def _call(self, name: e.FunctionName, args: list[str]) -> str:
        if name in _FUNCTIONS:
            return f"{_FUNCTIONS[name]}({', '.join(args)})"
        out = args[0]
        for arg in args[1:]:
            out = f"{_FOLDS[name]}({out}, {arg})"
        return out

    def _lazy(self, op: str, a: e.Expr, b: e.Expr) -> str:
        left = self.test(a)
        word = "and" if op == "&&" else "or"
        with self.lines.apart(1) as steps:
            right = self.test(b)
        if not steps:
            return f"({left} {word} {right})"
        name = self.lines.name()
        self.lines.add(f"{name} = {left}")
        self.lines.add(f"if {name}:" if op == "&&" else f"if not {name}:")
        self.lines.splice(steps)
        self.lines.add(f"    {name} = {right}")
        return name

    def _conditional(self, expr: e.Cond) -> str:
        test = self.test(expr.test)
        with self.lines.apart(1) as before_then:
            then = self.value(expr.then)
        with self.lines.apart(1) as before_other:
            other = self.value(expr.otherwise)
        if not before_then and not before_other:
            return f"({then} if {test} else {other})"
        name = self.lines.name()
        self.lines.add(f"if {test}:")
        self.lines.splice(before_then)
        self.lines.add(f"    {name} = {then}", "else:")
        self.lines.splice(before_other)
        self.lines.add(f"    {name} = {other}")
        return name

    # -- draws -------------------------------------------------------------------------------------------------------

    def _draw(self, expr: e.Draw) -> str:
        args = [self.kept(a) for a in expr.args]
        self._check_law(expr, args)
        name = self.lines.name()
        if expr.law == "det":
            return args[0]
        if self.here.ahead.made:
            self.lines.add(f"{name} = s.ahead[{self.here.slot}]")
            self.draw_ahead()
            return name
        at = "s.arrival, 0" if self.here.stream is None else f"s.words, {self.here.stream}"
        if expr.law == "choice":
            self._choice(name, args, at)
        else:
            self.lines.add(f"{name} = draw_{expr.law}({', '.join([at, *args])})")
        self.draw_ahead()
        return name

    def draw_ahead(self) -> None:
        """Make the draw that comes next in the stream, if it is known."""
        draw = self.here.ahead.following
        if draw is not None:
            args = [f"s.words, {self.here.stream}", *map(self.value, draw.args)]
            self.lines.add(f"s.ahead[{self.here.slot}] = draw_{draw.law}({', '.join(args)})")

    def _check_law(self, expr: e.Draw, args: list[str]) -> None:
        if self.is_law(expr):
            return
        good = f"good_{expr.law}({', '.join(args)})" if expr.law != "choice" else self._good_choice(args)
        site = self.sites.number(Site("law", expr.span, expr.law, len(args)))
        with self.lines.block(f"if not ({good}):"):
            self.lines.add(*(f"s.fault_values[{i}] = {a}" for i, a in enumerate(args)))
            self.lines.add(f"return fail(s, {site}, {self._serial()}, 0)")

    def _good_choice(self, args: list[str]) -> str:
        """Whether values, weights and their sum are finite, no weight is negative, and one is positive."""
        weights = args[1::2]
        tests = [*(f"is_finite({a})" for a in args), *(f"{w} >= 0.0" for w in weights)]
        if len(weights) <= _MOST_NESTED:
            return " and ".join([*tests, f"0.0 < {' + '.join(weights)} < INF"])
        good, total = self.lines.name(), self.lines.name()
        self.lines.add(f"{good} = {tests[0]}", *(f"{good} = {good} and {test}" for test in tests[1:]))
        self.lines.add(f"{total} = 0.0", *(f"{total} += {weight}" for weight in weights))
        return f"{good} and 0.0 < {total} < INF"

    def is_law(self, expr: e.Draw) -> bool:
        """Whether the parameters are constants that make a law."""
        args = tuple(self.constant(a) for a in expr.args)
        return None not in args and problem_of(Law(expr.law, args)) is None  # type: ignore[arg-type]

    def is_work(self, expr: e.Expr) -> bool:
        """Whether the value is certainly finite and not negative: a constant, or drawn from a law of such values."""
        value = self.constant(expr)
        if value is not None:
            return 0.0 <= value < math.inf
        if not isinstance(expr, e.Draw) or expr.law in ("choice", "geometric") or not self.is_law(expr):
            return False
        return all(0.0 <= (self.constant(a) or 0.0) <= _MOST_CERTAIN for a in expr.args)

    def _choice(self, name: str, args: list[str], at: str) -> None:
        """As `serq.codegen.draws.draw_choice` does it, for values that lie in variables."""
        left = self.lines.name()
        weights = args[1::2]
        if len(weights) > _MOST_NESTED:
            self._long_choice(name, left, args, at)
            return
        self.lines.add(f"{left} = u01({at}) * ({' + '.join(['0.0', *weights])})", f"{name} = {args[0]}")
        deep = 0
        for value, weight in zip(args[::2], weights, strict=True):
            self.lines.add(f"if {weight} > 0.0:", f"    {name} = {value}")
            self.lines.add(f"if {weight} <= 0.0 or {left} >= {weight}:")
            self.lines.depth += 1
            deep += 1
            self.lines.add(f"if {weight} > 0.0:", f"    {left} -= {weight}")
        self.lines.depth -= deep

    def _long_choice(self, name: str, left: str, args: list[str], at: str) -> None:
        """The same, of more values than blocks can be nested in each other."""
        lines, weights, looks = self.lines, args[1::2], self.lines.name()
        lines.add(f"{left} = 0.0", *(f"{left} += {weight}" for weight in weights), f"{left} = u01({at}) * {left}")
        lines.add(f"{name} = {args[0]}", f"{looks} = True")
        for value, weight in zip(args[::2], weights, strict=True):
            with lines.block(f"if {looks} and {weight} > 0.0:"):
                lines.add(f"{name} = {value}", f"{looks} = {left} >= {weight}", f"{left} -= {weight}")


def _fold(op: str, a: float, b: float) -> float:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case _:
            return float(Doubles().divide(a, b))

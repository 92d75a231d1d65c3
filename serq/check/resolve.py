"""Expressions: every name becomes the one thing that it stands for, or a fault.

A faulty part is reported and replaced by `now`, which is never constant, so that later checks go on without drawing
conclusions from it.
"""

from collections.abc import Callable
from typing import cast, get_args

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.base.suggestions import did_you_mean
from serq.check import advice as w
from serq.check import name_errors as n
from serq.check import scope_errors as s
from serq.check.fold import Constants, shown
from serq.check.form_errors import NotAStepStage
from serq.check.scopes import BUILTINS, CONTEXT_NAMES, Place, where_readable
from serq.check.symbols import ARTICLES, Symbols
from serq.ir import expr as e
from serq.ir.laws import ARITY, Law, problem_of
from serq.ir.program import TRACE_ATTRIBUTES
from serq.syntax import ast as a

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "min": (1, None), "max": (1, None), "abs": (1, 1), "floor": (1, 1), "ceil": (1, 1), "sqrt": (1, 1), "exp": (1, 1),
    "ln": (1, 1), "pow": (2, 2),
}  # fmt: skip
"""Fewest and most arguments of each function; None: no most."""

USAGE: dict[str, str] = {
    "min": "min(a, b, ...)", "max": "max(a, b, ...)", "pow": "pow(base, exponent)",
    "price": "price(STAGE, s_hit, ds)",
    "~exp": "~exp(mean)", "~det": "~det(x)", "~uniform": "~uniform(lo, hi)", "~erlang": "~erlang(k, mean)",
    "~h2": "~h2(mean, cv2)", "~bernoulli": "~bernoulli(p)", "~geometric": "~geometric(p)",
    "~choice": "~choice(v1: w1, v2: w2, ...)",
}  # fmt: skip
"""How a function or law is written, where its name alone does not say it."""

STAGE_FACTS: tuple[str, ...] = get_args(e.StageFact)
POOL_FACTS: tuple[str, ...] = get_args(e.PoolFact)
LAWS: tuple[str, ...] = get_args(e.LawName)

Report = Callable[[Diagnostic], None]


class Bases:
    """Where the members of each pool and stage begin among their kind, and the sizes of the arrays."""

    def __init__(self) -> None:
        self.pool: dict[str, int] = {}
        self.stage: dict[str, int] = {}
        self.size: dict[str, int] = {}


class Resolver:
    """Resolves the expressions of one program. Faults go to `report`; `constants` and `bases` fill up on the way."""

    def __init__(self, symbols: Symbols, report: Report) -> None:
        self.symbols = symbols
        self.report = report
        self.constants = Constants()
        self.bases = Bases()

    def expr(self, node: a.Expr, place: Place) -> e.Expr:
        """The expression with its names resolved; what is wrong in it is reported."""
        match node:
            case a.Number(value=value):
                return e.Num(float("inf") if value is None else value, node.span)
            case a.Name():
                return self._name(node, place)
            case a.Unary(op=op, operand=x):
                return e.Unary(cast(e.UnaryOp, op), self.expr(x, place), node.span)
            case a.Binary(op=op, left=x, right=y):
                return e.Binary(cast(e.BinaryOp, op), self.expr(x, place), self.expr(y, place), node.span)
            case a.Ternary(test=x, then=y, otherwise=z):
                return e.Cond(self.expr(x, place), self.expr(y, place), self.expr(z, place), node.span)
            case a.Member():
                return self._not_a_value(node.name, node.span)
            case a.Call():
                return self._call(node, place)
            case a.Draw():
                return self._draw(node, place)

    # -- names -------------------------------------------------------------------------------------------------------

    def _name(self, node: a.Name, place: Place) -> e.Expr:
        name, span = node.name, node.span
        context = CONTEXT_NAMES.get(name)
        if context is not None and context in place.contexts:
            self._warn_if_hidden(name, span, place)
            return e.Context(context, span)
        if name in BUILTINS:
            return self._builtin(name, span, place)
        match self.symbols.kind(name):
            case "let":
                self.symbols.used.add(name)
                return e.Const(name, span)
            case "attribute":
                return self._attribute(name, span, place)
            case None if context is not None:
                return self._fault(
                    s.ContextOutOfPlace(span=span, name=name, what=place.what, where=where_readable(context))
                )
            case None:
                return self._fault(n.UnknownName(span=span, name=name, advice=self._advice(name, place)))
            case _:
                return self._not_a_value(name, span)

    def _warn_if_hidden(self, name: str, span: Span, place: Place) -> None:
        kind = self.symbols.kind(name)
        if kind == "let" or (kind == "attribute" and place.session):
            self.report(w.ContextWins(span=span, name=name, kind="constant" if kind == "let" else "attribute"))

    def _builtin(self, name: e.BuiltinName, span: Span, place: Place) -> e.Expr:
        if place.constant:
            return self._fault(n.NotConstant(span=span, what=place.what, thing=f"`{name}`"))
        if name == "now":
            return e.Builtin(name, span) if place.time else self._fault(s.TimeOutOfPlace(span=span, what=place.what))
        if not place.session:
            return self._fault(s.AttributeOutOfPlace(span=span, name=name, what=place.what, instead=place.readable))
        if name == "cached" and not place.cached:
            return self._fault(s.CachedOutsideHold(span=span))
        if name == "computed" and not place.computed:
            self.report(w.ComputedOutsideHold(span=span))
        return e.Builtin(name, span)

    def _attribute(self, name: str, span: Span, place: Place) -> e.Expr:
        if place.constant:
            return self._fault(n.NotConstant(span=span, what=place.what, thing=f"the session attribute `{name}`"))
        if not place.session:
            return self._fault(s.AttributeOutOfPlace(span=span, name=name, what=place.what, instead=place.readable))
        return e.Attr(name, span)

    def _not_a_value(self, name: str, span: Span) -> e.Expr:
        kind = self.symbols.kind(name)
        if kind is None:
            return self._fault(n.UnknownName(span=span, name=name, advice=""))
        hints = {
            "pool": f"ask for `used({name})`, `free({name})`, `cachedin({name})` or another observable of a pool",
            "stage": f"ask for `queue({name})`, `busy({name})` or `work({name})`",
            "gauge": "a gauge is reported, not read: repeat its expression",
        }
        return self._fault(
            n.NotAValue(span=span, name=name, kind=ARTICLES[kind], advice=hints.get(kind, "it has no members"))
        )

    def _advice(self, name: str, place: Place) -> str:
        if name in TRACE_ATTRIBUTES:
            return f'`{name}` is set by a trace: add `trace "FILE.csv";` to the workload, or assign it with `set`'
        if name in (*FUNCTIONS, *STAGE_FACTS, *POOL_FACTS, "price"):
            return f"it is a function: write {_usage(name)}"
        candidates = [*self.symbols.lets, *(k for k, v in CONTEXT_NAMES.items() if v in place.contexts)]
        if place.session:
            candidates += [*self.symbols.attributes, *BUILTINS]
        fallback = "define it with `let`, or assign it with `set`" if place.session else "define it with `let`"
        return did_you_mean(name, candidates) or fallback

    def _fault(self, diagnostic: Diagnostic) -> e.Expr:
        self.report(diagnostic)
        return e.Builtin("now", diagnostic.span)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: a.Call, place: Place) -> e.Expr:
        name = node.name
        if name in FUNCTIONS:
            args = tuple(self.expr(x, place) for x in node.args)
            low, high = FUNCTIONS[name]
            self._count(node, name, low, high)
            return e.Call(cast(e.FunctionName, name), args, node.span)
        if name in (*STAGE_FACTS, *POOL_FACTS, "price"):
            return self._observable(node, place)
        for x in node.args:
            self.expr(x, place)
        known = (*FUNCTIONS, *STAGE_FACTS, *POOL_FACTS, "price")
        advice = did_you_mean(name, known) or f"functions are `{' '.join(FUNCTIONS)}`"
        return self._fault(n.UnknownFunction(span=node.name_span, name=name, advice=advice))

    def _observable(self, node: a.Call, place: Place) -> e.Expr:
        name, span = node.name, node.span
        if place.constant:
            return self._fault(n.NotConstant(span=span, what=place.what, thing=f"the state: `{name}`"))
        if not place.state:
            return self._fault(s.StateOutOfPlace(span=span, name=name, what=place.what))
        is_pool = name in POOL_FACTS
        if not self._count(node, name, *((3, 3) if name == "price" else (1, 1))):
            return e.Builtin("now", span)
        if name == "cachedin" and not place.session:
            return self._fault(s.AttributeOutOfPlace(span=span, name=name, what=place.what, instead=place.readable))
        target = node.args[0]
        if not isinstance(target, a.Name | a.Member):
            kind = "pool" if is_pool else "stage"
            return self._fault(n.NotAResource(span=target.span, function=name, kind=kind))
        written = a.Reference(target.name, target.index if isinstance(target, a.Member) else None, span=target.span)
        if is_pool:
            pool = self.pool(written, place)
            return e.Builtin("now", span) if pool is None else e.PoolState(cast(e.PoolFact, name), pool, span)
        return self._stage_observable(node, written, place)

    def _stage_observable(self, node: a.Call, written: a.Reference, place: Place) -> e.Expr:
        name, span = node.name, node.span
        stage = self.stage(written, place)
        rest = [self.expr(x, place) for x in node.args[1:]]
        if stage is None:
            return e.Builtin("now", span)
        if name == "price":
            return e.Price(stage, rest[0], rest[1], span)
        if name == "budget_left":
            self.need_step(written, "`budget_left`", "only a step stage has a token budget")
        return e.StageState(cast(e.StageFact, name), stage, span)

    def _draw(self, node: a.Draw, place: Place) -> e.Expr:
        args = tuple(self.expr(x, place) for x in node.args)
        if node.law not in LAWS:
            advice = did_you_mean(node.law, LAWS) or f"laws are `{' '.join(LAWS)}`"
            return self._fault(n.UnknownLaw(span=node.name_span, name=node.law, advice=advice))
        law = cast(e.LawName, node.law)
        if place.constant:
            return self._fault(n.NotConstant(span=node.span, what=place.what, thing=f"chance: `~{law}`"))
        if not place.draws:
            return self._fault(s.DrawOutOfPlace(span=node.span, what=place.what, law=law))
        if self._law_is_complete(node, law):
            self._check_law(node, law, args)
        return e.Draw(law, args, node.span)

    def _law_is_complete(self, node: a.Draw, law: e.LawName) -> bool:
        if law != "choice":
            return self._count(node, f"~{law}", ARITY[law], ARITY[law])
        if node.args and len(node.args) % 2 == 0:
            return True
        self.report(
            n.WrongArgumentCount(
                span=node.name_span,
                name="~choice",
                takes="pairs `value: weight`",
                given=len(node.args),
                usage=USAGE["~choice"],
            )
        )
        return False

    def _check_law(self, node: a.Draw, law: e.LawName, args: tuple[e.Expr, ...]) -> None:
        values = [self.constants.number(x) for x in args]
        known = tuple(v for v in values if v is not None)
        problem = problem_of(Law(law, known)) if len(known) == len(values) else None
        if problem is not None:
            self.report(n.WrongLaw(span=node.span, law=law, problem=problem, usage=USAGE[f"~{law}"]))

    def _count(self, node: a.Call | a.Draw, name: str, low: int, high: int | None) -> bool:
        given = len(node.args)
        if given >= low and (high is None or given <= high):
            return True
        takes = f"{low} argument{'' if low == 1 else 's'}" if low == high else f"at least {low} argument"
        self.report(n.WrongArgumentCount(span=node.name_span, name=name, takes=takes, given=given, usage=_usage(name)))
        return False

    # -- pools and stages --------------------------------------------------------------------------------------------

    def pool(self, written: a.Reference, place: Place) -> e.Ref | None:
        """The pool that a reference names; None (and a report) when there is none of that name."""
        return self._ref(written, place, "pool", self.bases.pool)

    def stage(self, written: a.Reference, place: Place) -> e.Ref | None:
        """The stage that a reference names; None (and a report) when there is none of that name."""
        return self._ref(written, place, "stage", self.bases.stage)

    def need_step(self, written: a.Reference, what: str, advice: str) -> None:
        """Reports a stage that is no step stage although `what` needs one."""
        stage = self.symbols.stages.get(written.name)
        if stage is not None and stage.kind != "step":
            fault = NotAStepStage(span=written.span, what=what, stage=written.name, kind=stage.kind, advice=advice)
            self.report(fault)

    def _ref(self, written: a.Reference, place: Place, kind: str, bases: dict[str, int]) -> e.Ref | None:
        name, span = written.name, written.span
        index = None if written.index is None else self.expr(written.index, place)
        declared = self.symbols.pools if kind == "pool" else self.symbols.stages
        if name not in declared:
            self.report(n.UnknownResource(span=span, kind=kind, name=name, advice=self._resource_advice(name, kind)))
            return None
        self.symbols.used.add(name)
        size = self.bases.size.get(name)
        is_array = declared[name].size is not None
        if index is None and is_array:
            self.report(n.MissingIndex(span=span, name=name, kind=kind, size=size or 1))
        if index is not None and not is_array:
            self.report(n.NotAnArray(span=span, name=name, kind=kind))
            index = None
        if index is not None and size is not None:
            self._check_index(name, index, size)
        return e.Ref(name, bases.get(name, 0), size or 1, index, span)

    def _check_index(self, name: str, index: e.Expr, size: int) -> None:
        value = self.constants.number(index)
        if value is not None and not (0 <= value < size and value == int(value)):
            self.report(n.IndexOutOfRange(span=index.span, name=name, value=shown(value), size=size, last=size - 1))

    def _resource_advice(self, name: str, kind: str) -> str:
        other = self.symbols.kind(name)
        if other is not None:
            return f"`{name}` is {ARTICLES[other]}"
        declared = [*self.symbols.pools] if kind == "pool" else [*self.symbols.stages]
        listed = f"{kind}s are `{' '.join(declared)}`" if declared else f"declare it: `{kind} {name} ...`"
        return did_you_mean(name, declared) or listed


def _usage(name: str) -> str:
    return f"`{USAGE.get(name, f'{name}(NAME)' if name in (*STAGE_FACTS, *POOL_FACTS) else f'{name}(x)')}`"

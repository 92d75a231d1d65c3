"""What an expression sees when it is evaluated, and what the parts of the machine share.

The `Scene` answers for names: attributes of the session on stage, the time, the state of stages and pools, draws. The
context variables that exist only in some places are put there by whoever evaluates such an expression.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from serq.base.diagnostics import Diagnostic
from serq.base.errors import RunError
from serq.base.source import NOWHERE, SourceFile, Span
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.ir.evaluate import Compiled, Value, compile_expr, compile_place
from serq.semantics import errors
from serq.semantics.configuration import Configuration, Session
from serq.semantics.world import Purpose, World


class Scene:
    """The surroundings of an expression: a `serq.ir.evaluate.Scope` over a configuration and a world."""

    __slots__ = (
        "_caps", "_context", "_reading", "_world", "budget_left", "configuration", "program", "purpose", "session",
        "zero",
    )  # fmt: skip

    def __init__(self, program: p.Program, world: World) -> None:
        self.program = program
        self.zero: Value = world.arithmetic.literal(Fraction(0))
        self.configuration = Configuration(len(program.pools), len(program.stages), self.zero)
        self.session: Session | None = None
        self.purpose: Purpose = "session"
        self.budget_left: Callable[[int], Value] = _no_step_stage
        self._world = world
        self._caps = [world.number(pool.cap) for pool in program.pools]
        self._context: Mapping[str, Value] = {}
        self._reading: tuple[e.Expr, ...] = ()

    # -- what `serq.ir.evaluate.Scope` asks for ----------------------------------------------------------------------

    def attr(self, name: str) -> Value:
        """An attribute of the session on stage."""
        session = self.session
        if session is None or name not in session.attributes:
            raise self.error(errors.UnsetAttribute(span=self._place_of(name), session=_serial(session), name=name))
        return session.attributes[name]

    def builtin(self, name: e.BuiltinName) -> Value:
        """The time, or a built-in attribute of the session on stage."""
        if name == "now":
            return self._world.now()
        session = self.session
        if session is None:
            return self.zero
        return self.zero + getattr(session, name)

    def context(self, name: e.ContextName) -> Value:
        """A context variable of the place that is being evaluated."""
        return self._context[name]

    def stage_state(self, fact: e.StageFact, stage: int) -> Value:
        """An observable of a stage."""
        match fact:
            case "queue":
                state = self.configuration.stages[stage]
                return self.zero + (len(state.waiting) + len(state.residents) - len(state.batch or ()))
            case "busy":
                state = self.configuration.stages[stage]
                return self.zero + (len(state.serving) + len(state.batch or ()))
            case "work":
                return self._world.work(stage)
            case "budget_left":
                return self.budget_left(stage)
            case _:
                return self._world.estimate(fact, stage)

    def pool_state(self, fact: e.PoolFact, pool: int) -> Value:
        """An observable of a pool; `cachedin` is about the session on stage."""
        state = self.configuration.pools[pool]
        match fact:
            case "used":
                return state.used
            case "free":
                return self._caps[pool] - state.used
            case "holders":
                return self.zero + len(state.allocations)
            case "queued":
                return self.zero + len(state.queue)
            case "cachedin":
                entry = None if self.session is None else state.entries.get(self.session.serial)
                return self.zero if entry is None else entry.units

    def price(self, stage: int, hit: Value, extra: Value) -> Value:
        """The M/G/1 price of `extra` more work after a hit of `hit`, at the stage's estimates.

        d + lambda ((s + d)^2 - s^2) / (2 (1 - rho)) + lambda W d / (1 - rho): the Pollaczek-Khinchine derivative.
        """
        rate, rho, wait = (self._world.estimate(f, stage) for f in ("est_lambda", "est_rho", "est_wait"))
        second = (hit + extra) * (hit + extra) - hit * hit
        divide = self._world.arithmetic.divide
        return extra + divide(rate * second, 2 * (1 - rho)) + divide(rate * wait * extra, 1 - rho)

    def draw(self, draw: e.Draw, args: tuple[Value, ...]) -> Value:
        """A draw, made by the world for the session on stage."""
        assert self.session is not None, "the linker lets nothing draw outside a session or its workload"
        return self._world.draw(draw, args, self.session, self.purpose)

    def bad_index(self, ref: e.Ref, value: Value) -> RunError:
        """The error of an index out of range."""
        return self.error(
            errors.BadIndex(span=ref.span, name=ref.name, value=shown(value), size=ref.size, last=ref.size - 1)
        )

    # -- for the parts of the machine --------------------------------------------------------------------------------

    @contextmanager
    def reading(self, exprs: tuple[e.Expr, ...], session: Session | None, context: Mapping[str, Value]) -> Any:
        """Evaluate expressions that are no part of a session's code: keys, budgets, spill conditions."""
        before = self.session, self._context, self._reading
        self.session, self._context, self._reading = session, context, exprs
        try:
            yield self
        finally:
            self.session, self._context, self._reading = before

    def error(self, diagnostic: Diagnostic) -> RunError:
        """The exception that carries a diagnostic about this program."""
        return RunError(self.source, [diagnostic])

    @property
    def source(self) -> SourceFile:
        """The text that positions refer to."""
        return self.program.source

    def _place_of(self, name: str) -> Span:
        """Where the attribute is read: in what is being evaluated now, else at the session's instruction or holds."""
        for expr in (*self._reading, *self._current()):
            for node in e.walk(expr):
                if isinstance(node, e.Attr) and node.name == name:
                    return node.span
        return NOWHERE

    def _current(self) -> Iterable[e.Expr]:
        if self.session is None:
            return
        code = self.program.code
        if self.purpose == "workload":
            yield from (statement.expr for statement in (*self.program.init, *self.program.turn))
        if self.session.pc < len(code):
            yield from flow.expressions(code[self.session.pc])
        for scope in reversed(self.session.scopes):
            hold = code[scope.pc]
            assert isinstance(hold, p.Hold)
            yield from flow.expressions(code[hold.release])


class Frame:
    """What the parts of the machine share: the program, the world, the scene, and the compiler of expressions."""

    def __init__(self, program: p.Program, world: World) -> None:
        self.program = program
        self.world = world
        self.scene = Scene(program, world)
        self._constants = world.constants()

    def compile(self, expr: e.Expr) -> Compiled:
        """A function of the scene."""
        return compile_expr(expr, self.world.arithmetic, self._constants)

    def place(self, ref: e.Ref) -> Callable[[Scene], int]:
        """A function of the scene that gives the place of a pool or a stage."""
        return compile_place(ref, self.world.arithmetic, self._constants)


def context_names(*exprs: e.Expr | None) -> frozenset[str]:
    """The context variables that the expressions read: only these need be worked out."""
    nodes = (node for expr in exprs if expr is not None for node in e.walk(expr))
    return frozenset(node.name for node in nodes if isinstance(node, e.Context))


def shown(value: Value) -> str:
    """A number as a person writes it."""
    return f"{float(value):g}" if isinstance(value, int | float | Fraction) else str(value)


def _serial(session: Session | None) -> int:
    return -1 if session is None else session.serial


def _no_step_stage(stage: int) -> Value:
    raise LookupError(f"stage {stage} has no budget")

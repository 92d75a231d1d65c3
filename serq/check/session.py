"""The session: blocks become a flat list of instructions, structure becomes jumps."""

import math
from dataclasses import replace

from serq.base.diagnostics import Note
from serq.base.source import Span
from serq.check import advice as w
from serq.check import form_errors as f
from serq.check import scopes
from serq.check.constants import COUNT, NOT_NEGATIVE, STAND_IN, check_if_constant
from serq.check.fold import is_nan, shown
from serq.check.resolve import Resolver
from serq.ir import expr as e
from serq.ir import program as p
from serq.syntax import ast as a

_NOWHERE = -1
"""A target that is not known yet."""
_UNITS, _RESERVE, _REUSE = "the units of a hold", "`reserve` of a hold", "`reuse` of a hold"


def flatten(resolver: Resolver, pools: tuple[p.Pool, ...], session: a.Session) -> tuple[p.Instruction, ...]:
    """The instructions of the session; what is wrong on the way is reported."""
    flattener = _Flattener(resolver, pools)
    falls_through = flattener.block(session.body)
    end = session.body.span
    if falls_through or not flattener.code or isinstance(flattener.code[-1], p.Release):
        flattener.code.append(p.End(Span(end.end_line, end.end_column - 1, end.end_line, end.end_column)))
    return tuple(flattener.code)


class _Flattener:
    """`code` grows statement by statement; `holds` are the parts of the holds whose body is being flattened."""

    def __init__(self, resolver: Resolver, pools: tuple[p.Pool, ...]) -> None:
        self.resolver = resolver
        self.report = resolver.report
        self.pools = pools
        self.code: list[p.Instruction] = []
        self.holds: list[tuple[p.HoldPart, ...]] = []

    @property
    def place(self) -> scopes.Place:
        """What a statement may read here."""
        inside = bool(self.holds)
        return replace(scopes.STATEMENT, cached=inside, computed=inside)

    def block(self, block: a.Block) -> bool:
        """Flattens a block; True when a session can reach its end."""
        falls_through = True
        told = False
        last: Span | None = None
        for statement in block.statements:
            if not falls_through and not told and last is not None:
                note = Note(message="nothing goes on behind this", span=last)
                self.report(f.Unreachable(span=statement.span, notes=(note,)))
                told = True
            falls_through = self.statement(statement) and falls_through
            last = first_line(statement)
        return falls_through

    def statement(self, statement: a.Statement) -> bool:
        """Flattens a statement; True when a session can get behind it."""
        match statement:
            case a.Loop():
                return self._loop(statement)
            case a.Branch():
                return self._branch(statement)
            case a.Hold():
                return self._hold(statement)
            case _:
                instruction = self._simple(statement)
                if instruction is not None:
                    self.code.append(instruction)
                return not isinstance(statement, a.End)

    # -- structure ---------------------------------------------------------------------------------------------------

    def _loop(self, loop: a.Loop) -> bool:
        start = len(self.code)
        if self.block(loop.body) or len(self.code) == start:
            self.code.append(p.Jump(start, loop.span))
        return False

    def _branch(self, branch: a.Branch) -> bool:
        probability = self.resolver.expr(branch.probability, self.place)
        value = self.resolver.constants.number(probability)
        if value is not None and not 0 <= value <= 1:
            self.report(f.NotAProbability(span=branch.probability.span, value=shown(value)))
        fork = len(self.code)
        self.code.append(p.Branch(probability, _NOWHERE, branch.span))
        falls_through = self.block(branch.then)
        if branch.otherwise is None:
            self._aim(fork, len(self.code))
            return True
        leave = len(self.code)
        if falls_through:
            self.code.append(p.Jump(_NOWHERE, branch.span))
        self._aim(fork, len(self.code))
        other = self.block(branch.otherwise)
        if falls_through:
            self._aim(leave, len(self.code))
        return falls_through or other

    def _aim(self, pc: int, target: int) -> None:
        """Fills in where a branch or a jump goes."""
        match self.code[pc]:
            case p.Branch() as branch:
                self.code[pc] = replace(branch, otherwise=target)
            case p.Jump() as jump:
                self.code[pc] = replace(jump, target=target)

    def _hold(self, hold: a.Hold) -> bool:
        parts = self._parts(hold)
        reuse = None
        if hold.reuse is not None:
            reuse = self.resolver.expr(hold.reuse, self._header(_REUSE))
            check_if_constant(self.resolver, reuse, _REUSE, NOT_NEGATIVE)
        at = len(self.code)
        self.code.append(p.Hold(parts, reuse, _NOWHERE, hold.span))
        self.holds.append(parts)
        falls_through = self.block(hold.body)
        cache = None if hold.cache is None else self.resolver.expr(hold.cache, self.place)
        self.holds.pop()
        close = hold.body.span
        end = hold.cache.span if hold.cache is not None else Span(close.end_line, close.end_column - 1, *close[2:])
        self.code[at] = p.Hold(parts, reuse, len(self.code), hold.span)
        self.code.append(p.Release(at, cache, end))
        return falls_through

    # -- holds -------------------------------------------------------------------------------------------------------

    def _header(self, what: str) -> scopes.Place:
        return scopes.hold_header(what, inside=bool(self.holds))

    def _parts(self, hold: a.Hold) -> tuple[p.HoldPart, ...]:
        parts: list[p.HoldPart] = []
        for written in hold.parts:
            ref = self.resolver.pool(written.pool, self._header("the index of a hold's pool"))
            units = self.resolver.expr(written.units, self._header(_UNITS))
            reserve = None if written.reserve is None else self.resolver.expr(written.reserve, self._header(_RESERVE))
            if ref is None:
                continue
            if any(self._same(ref, other.pool) for other in parts):
                self.report(f.RepeatedPool(span=written.pool.span, pool=written.pool.name))
            if any(self._same(ref, other.pool) for outer in self.holds for other in outer):
                self.report(w.NestedHold(span=written.pool.span, pool=written.pool.name))
            self._check_units(ref, units, _UNITS)
            if reserve is not None:
                self._check_units(ref, reserve, _RESERVE)
            parts.append(p.HoldPart(ref, units, reserve, written.span))
        return tuple(parts)

    def _same(self, one: e.Ref, other: e.Ref) -> bool:
        """Whether two references certainly name the same pool."""
        if one.base != other.base:
            return False
        if one.index is None or other.index is None or one.index == other.index:
            return True
        index = self.resolver.constants.number(one.index)
        return index is not None and index == self.resolver.constants.number(other.index)

    def _may_be_same(self, one: e.Ref, other: e.Ref) -> bool:
        """Whether two references may name the same pool."""
        if one.base != other.base:
            return False
        if one.index is None or other.index is None:
            return True
        first, second = self.resolver.constants.number(one.index), self.resolver.constants.number(other.index)
        return first is None or second is None or first == second

    def _check_units(self, ref: e.Ref, expr: e.Expr, what: str) -> None:
        """Constant units must be a number >= 0 that fits under the cap, rounded up to blocks."""
        check_if_constant(self.resolver, expr, what, NOT_NEGATIVE)
        units = self.resolver.constants.number(expr)
        pool = self.pools[ref.base]
        if units is None or is_nan(units) or STAND_IN in (pool.cap, pool.block):
            return
        block = 1 if pool.block is None else p.whole(pool.block)
        rounded = units if pool.block is None or math.isinf(units) else -(-units // block) * block
        if rounded > pool.cap.exact:
            rounding = f" (units come in blocks of {block})" if rounded != units else ""
            cap = shown(pool.cap.exact)
            self.report(f.UnitsAboveCap(span=expr.span, units=shown(units), pool=ref.name, cap=cap, rounding=rounding))

    def _need_hold(self, ref: e.Ref, word: str, span: Span) -> None:
        if not any(self._may_be_same(ref, part.pool) for parts in self.holds for part in parts):
            self.report(f.GrowOutsideHold(span=span, word=word, pool=ref.name))

    # -- simple statements -------------------------------------------------------------------------------------------

    def _simple(self, statement: a.Statement) -> p.Instruction | None:
        """The instruction of a statement without blocks; None when it names what there is not (reported)."""
        resolver, place, span = self.resolver, self.place, statement.span
        match statement:
            case a.Turn():
                return p.Turn(span)
            case a.End():
                return p.End(span)
            case a.Set():
                return p.Set(statement.name, resolver.expr(statement.value, place), span)
            case a.Observe():
                return p.Observe(statement.name, resolver.expr(statement.value, place), span)
            case a.Choose():
                count = resolver.expr(statement.count, place)
                check_if_constant(resolver, count, "the count of `choose`", COUNT)
                keys = tuple(resolver.expr(key, place) for key in statement.keys)
                return p.Choose(statement.name, count, keys, span)
            case a.Drop():
                ref = resolver.pool(statement.pool, place)
                return None if ref is None else p.Drop(ref, span)
            case a.Grow():
                return self._grow(statement)
            case a.Run():
                return self._run(statement)
            case _:
                raise AssertionError(f"{type(statement).__name__} has blocks")

    def _grow(self, grow: a.Grow) -> p.Instruction | None:
        ref = self.resolver.pool(grow.pool, self.place)
        units = self.resolver.expr(grow.units, self.place)
        if ref is None:
            return None
        self._need_hold(ref, "grow", grow.pool.span)
        self._check_units(ref, units, "the units of `grow`")
        return p.Grow(ref, units, grow.span)

    def _run(self, run: a.Run) -> p.Instruction:
        stage = self.resolver.stage(run.stage, self.place)
        work = self.resolver.expr(run.work, self.place)
        value = self.resolver.constants.number(work)
        if value is not None and not 0 <= value < math.inf:
            self.report(w.BadWork(span=run.work.span, value=shown(value)))
        if isinstance(work, e.Call) and work.function == "exp":
            self.report(w.NotDrawn(span=run.work.span))
        self._check_phase(run)
        growing = None if run.growing is None else self.resolver.pool(run.growing, self.place)
        if run.growing is not None and growing is not None:
            self._need_hold(growing, "growing", run.growing.span)
            advice = "grow the hold before the run: `grow POOL (UNITS);`"
            self.resolver.need_step(run.stage, "`growing`", advice)
        return p.Run(stage or e.Ref(run.stage.name, 0), run.phase, work, growing, run.span)

    def _check_phase(self, run: a.Run) -> None:
        stage = self.resolver.symbols.stages.get(run.stage.name)
        if stage is not None and stage.kind == "step" and run.phase is None:
            self.report(f.MissingPhase(span=run.stage.span, stage=stage.name))
        if run.phase is not None:
            advice = f"tokens are served by step stages only: leave `{run.phase}` out"
            self.resolver.need_step(run.stage, f"`{run.phase}`", advice)


def first_line(statement: a.Statement) -> Span:
    """The keyword of a loop, branch or hold; any other statement whole."""
    span = statement.span
    if isinstance(statement, a.Loop | a.Branch | a.Hold):
        return Span(span.line, span.column, span.line, span.column + len(type(statement).__name__))
    return span

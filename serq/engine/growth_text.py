"""Growth as restricted Python: what grows, what a session holds, room for more, and growth that waits for it."""

from serq.base.source import Span
from serq.engine.expressions import Expressions, literal
from serq.engine.holds import Group, Holds, Statement
from serq.engine.preemption_text import PreemptionText
from serq.engine.room_text import RoomText
from serq.engine.sites import Site
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p


class GrowthText:
    """Writes what grows, by a statement or along with runs on step stages, through one writer of expressions."""

    def __init__(self, expressions: Expressions, holds: Holds, room: RoomText, preemption: PreemptionText) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.program = expressions.program
        self.holds = holds
        self.room = room
        self.preemption = preemption
        self._around = flow.enclosing_holds(self.program)
        has_steps = any(isinstance(stage.kind, p.Step) for stage in self.program.stages)
        self._add = "grow_units(s, pool, slot, at, more)" if has_steps else "add_units(s, pool, at, more)"

    def functions(self) -> None:
        """Everything."""
        self._held()
        self.preemption.taking_away()
        for group in self.holds.growing:
            if group.pool.preempt != "none":
                self.preemption.functions(group)
            self._enlarge(group)
            if self.holds.grows(group):
                self._grow(group)
                self._retry(group)
        self._enlarge_any()

    # -- which hold grows --------------------------------------------------------------------------------------------

    def innermost(self, pc: int, pool: e.Ref, place: str, span: Span) -> str:
        """The part, by number, with which the innermost hold around an instruction holds the pool.

        `span` is to blame where there is none.
        """
        candidates = [
            (statement.first + k, part.pool)
            for statement in (self.holds.by_pc[hold] for hold in reversed(self._around[pc]))
            for k, part in enumerate(statement.hold.parts)
            if part.pool.base == pool.base
        ]
        site = self.sites.number(Site("held", span))
        refusal = f"return fail(s, {site}, s.serial[slot], {place})"
        if not candidates:
            self.lines.add(refusal)
            return "-1"
        if pool.index is None:
            return str(candidates[0][0])
        name = self.lines.name()
        self.lines.add(f"{name} = -1")
        for number, _ in reversed(candidates):
            self.lines.add(f"if s.pools.pool[{self.item(number)}] == {place}:", f"    {name} = {number}")
        self.lines.add(f"if {name} < 0:", f"    {refusal}")
        return name

    def item(self, part: int | str) -> str:
        """Where a part of a session's holds lies."""
        return f"slot * {self.holds.parts} + {part}" if self.holds.parts > 1 else "slot"

    # -- enlarging ---------------------------------------------------------------------------------------------------

    def _enlarge(self, group: Group) -> None:
        """What a session has of a pool of the group becomes so large, in whole blocks; or it is blocked."""
        lines, cap, base = self.lines, literal(group.cap), group.base
        with lines.block(
            f"def enlarge_{base}(s: Sim, slot: i64, pool: i64, part: i64, target: f64, site: i64) -> i64:"
        ):
            lines.add(f"at = {self.item('part')}", f"more = up(target, {literal(group.block)}) - s.pools.units[at]")
            lines.add("if not more > 0.0:", "    return MORE")
            if self.holds.rejects:
                lines.add("needed = held(s, slot, pool, more)", f"if needed > {cap}:", f"    s.fault_values[1] = {cap}")
                lines.add("    return fail_with(s, site, s.serial[slot], pool, needed)")
            full = self._full(group)
            if group.pool.preempt == "none":
                lines.add(f"if {full}:", "    return BLOCKED")
            else:
                with lines.block(f"while {full}:"):
                    self.preemption.preempt_one(group)
            self.room.before_taking(group, "pool", "more")
            lines.add(self._add, "return MORE")
        lines.add("")

    def _full(self, group: Group) -> str:
        """Whether there is no room for `more`."""
        pinned = " + pinned(s, pool, slot)" if group.pool.pin_waiting and self.holds.caches(group) else ""
        return f"not s.pools.used[pool]{pinned} + more <= {literal(group.cap)}"

    def _grow(self, group: Group) -> None:
        """The statement: the hold is larger, or the growth waits, or the session has been preempted itself."""
        lines, base = self.lines, group.base
        with lines.block(f"def grow_{base}(s: Sim, slot: i64, pool: i64, part: i64, more: f64, site: i64) -> i64:"):
            lines.add(f"target = s.pools.units[{self.item('part')}] + more", "s.pools.running = slot")
            lines.add(f"status = enlarge_{base}(s, slot, pool, part, target, site)", "s.pools.running = -1")
            lines.add("if status == BLOCKED and s.pools.status[slot] == GOING:")
            lines.add("    stall(s, pool, slot, part, more)")
            lines.add("return status")
        lines.add("")

    def _retry(self, group: Group) -> None:
        """Growths that wait go on, in the order in which they stalled, up to the first that does not fit."""
        lines, base = self.lines, group.base
        with lines.block(f"def retry_{base}(s: Sim, pool: i64) -> i64:"):
            with lines.block("while s.pools.stalled[pool] >= 0:"):
                lines.add("slot = s.pools.stalled[pool]", "part = s.pools.growing[slot]", f"at = {self.item('part')}")
                target = "s.pools.units[at] + s.pools.wanted[slot]"
                lines.add(f"more = up({target}, {literal(group.block)}) - s.pools.units[at]")
                lines.add(f"if {self._full(group)}:", "    break", "leave_stalled(s, pool, slot)")
                self.room.before_taking(group, "pool", "more")
                lines.add(self._add, "make_ready(s, slot)")
            lines.add("return MORE")
        lines.add("")

    def _enlarge_any(self) -> None:
        """The next tokens of a growing run need memory."""
        with self.lines.block("def enlarge_run(s: Sim, slot: i64, tokens: f64) -> i64:"):
            self.lines.add("part = s.steps.part[slot]", "if part < 0:", "    return MORE")
            self.lines.add("pool = s.steps.pool[slot]", f"target = s.pools.position[{self.item('part')}] + tokens")
            for group in self.holds.growing:
                with self.lines.block(f"if {group.base} <= pool < {group.base + group.size}:"):
                    self.lines.add(f"return enlarge_{group.base}(s, slot, pool, part, target, s.steps.site[slot])")
            self.lines.add("return MORE")
        self.lines.add("")

    def _held(self) -> None:
        """All that a session has of a pool, in all its open holds, added to a total."""
        lines = self.lines
        with lines.block("def held(s: Sim, slot: i64, pool: i64, total: f64) -> f64:"):
            for statement in self.holds.statements:
                with lines.block(f"if s.pools.open[slot] == {statement.number}:"):
                    for around in self._chain(statement):
                        self._add_held(around)
                    lines.add("return total")
            lines.add("return total")
        lines.add("")

    def _chain(self, statement: Statement) -> list[Statement]:
        """The holds that are open when this one is the innermost, outermost first."""
        outer = [self.holds.by_pc[hold] for hold in self._around[statement.pc]]
        return [*outer, statement]

    def _add_held(self, statement: Statement) -> None:
        for k, part in enumerate(statement.hold.parts):
            at = self.item(statement.first + k)
            place = str(part.pool.base) if part.pool.index is None else f"s.pools.pool[{at}]"
            self.lines.add(f"if pool == {place}:", f"    total += s.pools.units[{at}]")

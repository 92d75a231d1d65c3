"""Preemption of residents of step stages as restricted Python: whose hold is taken away, and what that does."""

from collections.abc import Callable

from serq.engine.assigned import Assigned
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.holds import Group, Holds, Statement
from serq.engine.room_text import first_of, less
from serq.engine.sites import Site
from serq.ir import flow
from serq.ir import program as p


class PreemptionText:
    """Writes, for each group of pools that are memory of step stages, how a hold is taken from one of the residents.

    `resumes(pc)` is what a session has for its `pc` while it waits at a hold statement.
    """

    def __init__(self, expressions: Expressions, holds: Holds, before: Assigned, resumes: Callable[[int], int]) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.program = expressions.program
        self.holds = holds
        self._before = before
        self._resumes = resumes
        self._around = flow.enclosing_holds(self.program)

    def functions(self, group: Group) -> None:
        """Everything for a group of pools."""
        concerned = [s for s in self.holds.statements if any(x.pool.base in group.members for x in s.hold.parts)]
        self._statement_of(group, concerned)
        self._victim(group)
        for statement in concerned:
            self._abort(group, statement)
        with self.lines.block(f"def preempt_{group.base}(s: Sim, slot: i64, pool: i64) -> i64:"):
            self.lines.add(f"statement = statement_of_{group.base}(s, slot, pool)")
            for statement in concerned:
                self.lines.add(f"if statement == {statement.number}:")
                self.lines.add(f"    return abort_{group.base}_{statement.number}(s, slot, pool)")
            self.lines.add("return MORE")
        self.lines.add("")

    def preempt_one(self, group: Group) -> None:
        """Within the growth of a pool of the group for `slot`: somebody gives way; the grower may be the one."""
        lines, base = self.lines, group.base
        lines.add(f"status = victim_{base}(s, pool)", "if status != MORE:", "    return status")
        lines.add("victim = s.pools.index", "if victim < 0:", "    return BLOCKED")
        lines.add(f"status = preempt_{base}(s, victim, pool)", "if status != MORE:", "    return status")
        lines.add("if victim == slot:", "    return BLOCKED")

    def _statement_of(self, group: Group, concerned: list[Statement]) -> None:
        """The hold on a pool that a session loses: the innermost one; the outermost where keys choose. -1: none."""
        lines = self.lines
        with lines.block(f"def statement_of_{group.base}(s: Sim, slot: i64, pool: i64) -> i64:"):
            for innermost in self.holds.statements:
                chain = [*(self.holds.by_pc[pc] for pc in self._around[innermost.pc]), innermost]
                found = [s for s in chain if s in concerned]
                if not found:
                    continue
                with lines.block(f"if s.pools.open[slot] == {innermost.number}:"):
                    for statement in found if group.pool.victims else reversed(found):
                        for k, part in enumerate(statement.hold.parts):
                            if part.pool.base in group.members:
                                self._if_it_is(statement, k)
                    lines.add("return -1")
            lines.add("return -1")
        lines.add("")

    def _if_it_is(self, statement: Statement, k: int) -> None:
        pool = statement.hold.parts[k].pool
        place = str(pool.base) if pool.index is None else f"s.pools.pool[{self._item(statement.first + k)}]"
        self.lines.add(f"if pool == {place}:", f"    return {statement.number}")

    def _item(self, part: int) -> str:
        return f"slot * {self.holds.parts} + {part}" if self.holds.parts > 1 else "slot"

    def _victim(self, group: Group) -> None:
        """`s.pools.index` is who gives way, -1 for nobody: the last resident, or that with the smallest keys."""
        lines, keys = self.lines, group.pool.victims
        with lines.block(f"def victim_{group.base}(s: Sim, pool: i64) -> i64:"):
            kept = first_of(lines, len(keys))
            lines.add("best = -1")
            stages = sum(isinstance(stage.kind, p.Step) for stage in self.program.stages)
            with lines.block(f"for k in range({stages}):"):
                lines.add("i = s.steps.count[k] if s.steps.memory[k] == pool else 0")
                with lines.block("while i > 0:"):
                    lines.add("i -= 1", "holder = s.steps.residents[k * s.cap + i]")
                    with lines.block(f"if statement_of_{group.base}(s, holder, pool) >= 0:"):
                        if keys:
                            self._compare(group, kept)
                        else:
                            lines.add("if best < 0 or s.steps.rank[holder] > s.steps.rank[best]:", "    best = holder")
                            lines.add("break")
            lines.add("s.pools.index = best", "return MORE")
        lines.add("")

    def _compare(self, group: Group, kept: list[str]) -> None:
        self.expressions.here = Surroundings("holder", None, self._before.initial)
        found = []
        for key in group.pool.victims:
            found.append(self.lines.name())
            self.lines.add(f"{found[-1]} = {self.expressions.value(key)}")
        first = "s.steps.rank[holder] < s.steps.rank[best]"
        self.lines.add(f"if best < 0 or {less(found, kept, first)}:", "    best = holder")
        self.lines.add(*(f"    {k} = {key}" for k, key in zip(kept, found, strict=True)))

    def _abort(self, group: Group, statement: Statement) -> None:
        """A hold of a resident is taken away with all that are within it: the session waits for it again."""
        lines, n = self.lines, statement.number
        site = self.sites.number(Site("livelock", statement.hold.span))
        with lines.block(f"def abort_{group.base}_{n}(s: Sim, slot: i64, pool: i64) -> i64:"):
            lines.add("loosen(s, slot)", "reached = 0.0")
            for k in range(len(statement.hold.parts)):
                lines.add(f"reached = max(reached, s.pools.position[{self._item(statement.first + k)}])")
            lines.add("mark(s, slot)", "withdraw(s, slot)")
            with lines.block(f"while s.pools.open[slot] != {n}:"):
                lines.add("status = close(s, slot)", "if status != MORE:", "    return status")
            many = len(self.holds.statements)
            lines.add(f"before = s.pools.reached[{f'slot * {many} + {n}' if many > 1 else 'slot'}]")
            lines.add(f"status = close_{n}(s, slot)", "if status != MORE:", "    return status")
            lines.add(f"s.pc[slot] = {self._resumes(statement.pc)}", "s.pools.computed[slot] = max(before, reached)")
            lines.add("s.pools.preemptions += 1", "s.pools.preempted[pool] += 1")
            if self.holds.replays and not self.holds.engine_pools.isdisjoint(group.members):
                lines.add("s.requests.preemptions[slot] += 1")
            first = statement.hold.parts[0].pool
            queue = str(first.base) if first.index is None else f"s.pools.pool[{self._item(statement.first)}]"
            lines.add(f"rejoin_queue(s, {queue}, slot, {n})")
            lines.add("s.steps.barren = 0 if reached > before else s.steps.barren + 1")
            with lines.block("if s.steps.barren > s.steps.most_barren:"):
                lines.add(f"return fail_with(s, {site}, s.serial[slot], pool, float(s.steps.barren))")
            lines.add("return MORE")
        lines.add("")

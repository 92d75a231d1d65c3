"""Preemption as restricted Python: whose hold is taken away, and what that does."""

from collections.abc import Callable

from serq.engine.assigned import Assigned
from serq.engine.clocks import region_of, sources_of
from serq.engine.cuts import plans_ahead
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.holds import Group, Holds, Statement
from serq.engine.room_text import first_of, less
from serq.engine.sites import Site
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p


class PreemptionText:
    """Writes, for each group of pools, how a hold is taken away: from a resident of the step stage whose memory it is,
    or from any holder where it is no such memory.

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
        self._has_steps = any(isinstance(stage.kind, p.Step) for stage in self.program.stages)

    def functions(self, group: Group) -> None:
        """Everything for a group of pools."""
        concerned = [s for s in self.holds.statements if any(x.pool.base in group.members for x in s.hold.parts)]
        if self.holds.is_memory(group):
            self._statement_of(group, concerned)
            self._victim(group)
        else:
            self._last_holder(group)
        for statement in concerned:
            self._abort(group, statement)
        with self.lines.block(f"def preempt_{group.base}(s: Sim, slot: i64, pool: i64) -> i64:"):
            found = f"statement_of_{group.base}(s, slot, pool)" if self.holds.is_memory(group) else "s.pools.index"
            self.lines.add(f"statement = {found}")
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
        if not self.holds.is_memory(group):
            many = self.holds.parts
            lines.add(f"s.pools.index = STATEMENT_OF[victim % {many}]", f"victim = victim // {many}")
        lines.add(f"status = preempt_{base}(s, victim, pool)", "if status != MORE:", "    return status")
        lines.add("if victim == slot:", "    return BLOCKED")

    def _last_holder(self, group: Group) -> None:
        """`s.pools.index` is the part of a hold that gives way, -1 for none: the last admitted, or by keys."""
        lines, keys = self.lines, group.pool.victims
        with lines.block(f"def victim_{group.base}(s: Sim, pool: i64) -> i64:"):
            lines.add(f"s.pools.index = s.pools.{'eldest' if keys else 'youngest'}[pool]")
            if keys:
                kept = first_of(lines, len(keys))
                lines.add("best = -1", "candidate = s.pools.index")
                with lines.block("while candidate >= 0:"):
                    lines.add(f"holder = candidate // {self.holds.parts}")
                    self._compare(group, kept, "candidate", "False")
                    lines.add("candidate = s.pools.younger[candidate]")
                lines.add("s.pools.index = best")
            lines.add("return MORE")
        lines.add("")

    def taking_away(self) -> None:
        """Take a session that was preempted away from where it is; nothing where none can be elsewhere."""
        if not any(self.holds.lists_holders(group) for group in self.holds.groups):
            return
        lines = self.lines
        numbers = [f"{s.number}, " for s in self.holds.statements for _ in s.hold.parts]
        lines.add(f"STATEMENT_OF = ({''.join(numbers)})")
        with lines.block("def take_away(s: Sim, slot: i64) -> i64:"):
            with lines.block("if slot == s.pools.running:"):
                lines.add("return MORE")
            with lines.block("if s.pools.status[slot] == QUEUED:"):
                lines.add("leave_queue(s, s.place[slot], slot)", "return MORE")
            with lines.block("if s.pools.status[slot] == STALLED:"):
                lines.add("leave_stalled(s, s.place[slot], slot)", "return MORE")
            lines.add("if leave_ready(s, slot):", "    return MORE")
            if plans_ahead(self.program):
                stages = sum(isinstance(stage.kind, p.Step) for stage in self.program.stages)
                lines.add(f"if stop_lingering(s, slot, {stages}):", "    return MORE")
            lines.add("stage = s.place[slot]")
            for place, stage in enumerate(self.program.stages):
                with lines.block(f"if stage == {place}:"):
                    self._withdraw(place, stage.kind)
            lines.add("return MORE")
        lines.add("")

    def _withdraw(self, place: int, kind: p.StageKind) -> None:
        """The session's job leaves its stage before it is done."""
        lines = self.lines
        match kind:
            case p.ProcessorSharing():
                region = region_of(self.program, e.Ref("", place), "")
                lines.add(f"lead = withdraw_shared(s, stage, {region}, slot)")
                lines.add(f"return speed_{place}(s, stage, s.number[stage], lead)")
            case p.Step():
                lines.add("mark(s, slot)", "withdraw(s, slot)")
            case p.Fifo(servers=servers) if p.whole(servers) == 1:
                lines.add(f"withdraw_single(s, stage, {sources_of(self.program).index(place)}, slot)")
            case p.Fifo(servers=servers):
                lines.add(f"withdraw_many(s, stage, {p.whole(servers)}, slot)")
            case _:
                lines.add("withdraw_delay(s, stage, slot)")

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
                            self._compare(group, kept, "holder", "s.steps.rank[holder] < s.steps.rank[best]")
                        else:
                            lines.add("if best < 0 or s.steps.rank[holder] > s.steps.rank[best]:", "    best = holder")
                            lines.add("break")
            lines.add("s.pools.index = best", "return MORE")
        lines.add("")

    def _compare(self, group: Group, kept: list[str], candidate: str, last: str) -> None:
        self.expressions.here = Surroundings("holder", None, self._before.initial)
        found = []
        for key in group.pool.victims:
            found.append(self.lines.name())
            self.lines.add(f"{found[-1]} = {self.expressions.value(key)}")
        self.lines.add(f"if best < 0 or {less(found, kept, last)}:", f"    best = {candidate}")
        self.lines.add(*(f"    {k} = {key}" for k, key in zip(kept, found, strict=True)))

    def _abort(self, group: Group, statement: Statement) -> None:
        """A hold of a resident is taken away with all that are within it: the session waits for it again."""
        lines, n = self.lines, statement.number
        site = self.sites.number(Site("livelock", statement.hold.span))
        with lines.block(f"def abort_{group.base}_{n}(s: Sim, slot: i64, pool: i64) -> i64:"):
            if self.holds.is_memory(group):
                lines.add("loosen(s, slot)")
            elif self._has_steps:
                lines.add("if s.steps.phase[slot] != 0:", "    loosen(s, slot)")
            lines.add("reached = 0.0")
            for k in range(len(statement.hold.parts)):
                lines.add(f"reached = max(reached, s.pools.position[{self._item(statement.first + k)}])")
            if self.holds.is_memory(group):
                lines.add("mark(s, slot)", "withdraw(s, slot)")
            else:
                lines.add("status = take_away(s, slot)", "if status != MORE:", "    return status")
            with lines.block(f"while s.pools.open[slot] != {n}:"):
                lines.add("status = close(s, slot)", "if status != MORE:", "    return status")
            many = len(self.holds.statements)
            lines.add(f"before = s.pools.reached[{f'slot * {many} + {n}' if many > 1 else 'slot'}]")
            lines.add(f"status = close_{n}(s, slot)", "if status != MORE:", "    return status")
            lines.add(f"s.pc[slot] = {self._resumes(statement.pc)}", "s.pools.computed[slot] = max(before, reached)")
            lines.add("s.pools.preemptions += 1", "s.pools.preempted[pool] += 1")
            if self.holds.replays and not self.holds.engine_pools.isdisjoint(group.members):
                lines.add("s.requests.preemptions[slot] += 1")
            if self.holds.tells:
                lines.add("tell_preempted(s, pool, slot)")
            first = statement.hold.parts[0].pool
            queue = str(first.base) if first.index is None else f"s.pools.pool[{self._item(statement.first)}]"
            lines.add(f"rejoin_queue(s, {queue}, slot, {n})")
            lines.add("s.steps.barren = 0 if reached > before else s.steps.barren + 1")
            with lines.block("if s.steps.barren > s.steps.most_barren:"):
                lines.add(f"return fail_with(s, {site}, s.serial[slot], pool, float(s.steps.barren))")
            lines.add("return MORE")
        lines.add("")

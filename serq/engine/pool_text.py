"""Holds as restricted Python: who is tried next, what a hold asks for, its admission, its end.

For each hold statement there are functions that join the queue, try to admit, and close it again; for each group of
pools one that admits from a queue. They give a status.
"""

from serq.engine.assigned import Assigned
from serq.engine.entries import up
from serq.engine.expressions import Expressions, Surroundings, literal
from serq.engine.holds import Group, Holds, Statement
from serq.engine.room_text import RoomText, first_of
from serq.engine.sites import Site
from serq.engine.spill_text import SpillText
from serq.ir import expr as e
from serq.ir import program as p

POOL_HEAD = """\
from serq.engine.entries import (
    add_entry, consume, consume_most, disown, down, drop, evict, evict_oldest, excess, give_carrier, is_pinned, keep,
    land_soon, oldest_unpinned, own_units, pinned, take_carrier, up,
)
from serq.engine.holding import (
    add_units, close_hold, close_pools, enter, give_units, join_queue, leave, leave_queue, leave_stalled, open_hold,
    rejoin_queue, rest_pool, stall, stand_last, step_out, take_units,
)
from serq.engine.growing import begin_growing, computed_units, grow_units, loosen, mark, withdraw
from serq.engine.observing import close_batch
from serq.engine.pool_state import ADMITTED, BLOCKED, CARRIER, GOING, NONE, QUEUED, REJECTED, STALLED
from serq.engine.withdrawing import leave_ready, withdraw_delay, withdraw_many, withdraw_shared, withdraw_single
"""


class PoolText:
    """Writes the functions of pools and holds through one writer of expressions."""

    def __init__(self, expressions: Expressions, holds: Holds, before: Assigned) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.program = expressions.program
        self.holds = holds
        self.room = RoomText(expressions, holds, before)
        self.spill = SpillText(expressions, holds, self.room)
        self._before = before

    def functions(self) -> None:
        """Everything."""
        for group in self.holds.groups:
            self.room.make_room(group)
        self.spill.functions()
        for statement in self.holds.statements:
            self._close(statement)
        self._closing()
        self._end()
        for statement in self.holds.statements:
            self._attempt(statement)
            self._reject(statement)
            self._claim(statement)
        for group in self.holds.groups:
            self._choose_head(group)
            self._attempt_any(group)
        self._serve()
        if self.holds.replays:
            self._look()

    # -- joining a queue ---------------------------------------------------------------------------------------------

    def _claim(self, statement: Statement) -> None:
        """A session has come to the statement: it joins the queue, or is rejected."""
        lines = self.lines
        with lines.block(f"def claim_{statement.number}(s: Sim, slot: i64) -> i64:"):
            self._at(statement)
            places = [self.expressions.place(part.pool) for part in statement.hold.parts]
            self._refuse_twice(statement, places)
            for k, (place, part) in enumerate(zip(places, statement.hold.parts, strict=True)):
                if part.pool.index is not None:
                    lines.add(f"s.pools.pool[{self._part(statement, k)}] = {place}")
            lines.add("s.pools.computed[slot] = 0.0", f"join_queue(s, {places[0]}, slot, {statement.number})")
            if self.holds.is_request(statement):
                lines.add("reach(s, slot)")
            self._unless_it_fits(statement, places, self._needs(statement, places), "return MORE")
            lines.add("return MORE")
        lines.add("")

    def _refuse_twice(self, statement: Statement, places: list[str]) -> None:
        """One pool cannot be held twice by one statement."""
        parts = statement.hold.parts
        site = self.sites.number(Site("twice", statement.hold.span))
        for i, part in enumerate(parts):
            for j in range(i + 1, len(parts)):
                if parts[j].pool.base == part.pool.base:
                    with self.lines.block(f"if {places[i]} == {places[j]}:"):
                        self.lines.add(f"return fail(s, {site}, s.serial[slot], {places[i]})")

    # -- admission ---------------------------------------------------------------------------------------------------

    def _attempt(self, statement: Statement) -> None:
        """Try to admit a hold that waits: on all its pools at once, or not at all."""
        lines, hold = self.lines, statement.hold
        with lines.block(f"def attempt_{statement.number}(s: Sim, slot: i64) -> i64:"):
            self._at(statement)
            places = [self._place(statement, k) for k in range(len(hold.parts))]
            needs = self._needs(statement, places)
            self._unless_it_fits(statement, places, needs, "return REJECTED")
            fits = [self._fits(p.pool, q, need) for p, q, (_, need) in zip(hold.parts, places, needs, strict=True)]
            lines.add(f"if not ({' and '.join(fits)}):", "    return BLOCKED")
            most = "" if hold.reuse is None else self._number(hold.reuse, "reuse", places[0])
            lines.add(f"leave_queue(s, {places[0]}, slot)")
            hits = [self._consume(part.pool, q, most) for part, q in zip(hold.parts, places, strict=True)]
            for k, (place, (units, _)) in enumerate(zip(places, needs, strict=True)):
                self.room.before_taking(self.holds.group(hold.parts[k].pool), place, units)
                lines.add(f"take_units(s, {place}, slot, {statement.first + k}, {units})")
                if self.holds.lists_holders(self.holds.group(hold.parts[k].pool)):
                    lines.add(f"stand_last(s, {place}, {self._part(statement, k)})")
                if statement.number in self.holds.grown:
                    at = self._part(statement, k)
                    lines.add(f"s.pools.consumed[{at}] = {hits[k]}", f"s.pools.position[{at}] = NONE")
            hit = hits[0]
            for other in hits[1:]:
                hit = f"max({hit}, {other})"
            if self.holds.is_request(statement):
                lines.add(f"get_memory(s, slot, {hit})")
            if self.holds.tells:
                lines.add("told = -1", *(f"told = s.requests.stage_of[{q}] if told < 0 else told" for q in places))
                lines.add(f"tell_admitted(s, told, slot, {hit})")
            lines.add(f"open_hold(s, {places[0]}, slot, {statement.number}, {hit})", "return ADMITTED")
        lines.add("")

    def _needs(self, statement: Statement, places: list[str]) -> list[tuple[str, str]]:
        """For each part what it would allocate now, and what must fit; all units are evaluated before all reserves."""
        parts = statement.hold.parts
        units = [self._amount(x.units, "units", x.pool, q) for x, q in zip(parts, places, strict=True)]
        needs = list(units)
        for k, part in enumerate(parts):
            if part.reserve is not None:
                reserve = self._amount(part.reserve, "reserve", part.pool, places[k])
                needs[k] = self._named(f"max({units[k]}, {reserve})")
        return list(zip(units, needs, strict=True))

    def _amount(self, expr: e.Expr, what: str, pool: e.Ref, place: str) -> str:
        """Units in whole blocks."""
        block = self.holds.group(pool).block
        fixed = self.expressions.constant(expr)
        if fixed is not None and fixed == fixed:
            return literal(up(fixed, block))
        return self._named(f"up({self._number(expr, what, place)}, {literal(block)})")

    def _number(self, expr: e.Expr, what: str, place: str) -> str:
        """A value that must not be NaN."""
        value = self.expressions.kept(expr)
        if self.expressions.constant(expr) is None or value == "NAN":
            site = self.sites.number(Site("units", expr.span, what))
            self.lines.add(f"if {value} != {value}:", f"    return fail(s, {site}, s.serial[slot], {place})")
        return value

    def _unless_it_fits(
        self, statement: Statement, places: list[str], needs: list[tuple[str, str]], rejected: str
    ) -> None:
        """Reject a hold that asks for more than the cap."""
        if not self.holds.rejects:
            return
        beyond = []
        for part, (_, need) in zip(statement.hold.parts, needs, strict=True):
            cap = literal(self.holds.group(part.pool).cap)
            if not (_is_literal(need) and float(need.strip("()")) <= float(cap.strip("()"))):
                beyond.append(f"{need} > {cap}")
        if beyond:
            with self.lines.block(f"if {' or '.join(beyond)}:"):
                self.lines.add(f"status = reject_{statement.number}(s, slot, {places[0]})")
                self.lines.add("if status != MORE:", "    return status", rejected)

    def _reject(self, statement: Statement) -> None:
        site = self.sites.number(Site("replacement", statement.hold.span))
        with self.lines.block(f"def reject_{statement.number}(s: Sim, slot: i64, pool: i64) -> i64:"):
            self.lines.add("leave_queue(s, pool, slot)", "s.pools.rejections[pool] += 1")
            if self.holds.is_request(statement):
                self.lines.add("give_up(s, slot)")
            self.lines.add(f"return end_session(s, slot, {site})")
        self.lines.add("")

    def _fits(self, pool: e.Ref, place: str, need: str) -> str:
        group = self.holds.group(pool)
        others = f" + pinned(s, {place}, slot)" if group.pool.pin_waiting and self.holds.caches(group) else ""
        return f"s.pools.used[{place}]{others} + {need} <= {literal(group.cap)}"

    def _consume(self, pool: e.Ref, place: str, most: str) -> str:
        """Take the session's own entry; how much went in."""
        group = self.holds.group(pool)
        if not self.holds.caches(group):
            return "0.0"
        if most:
            return self._named(f"consume_most(s, {place}, slot, {most}, {literal(group.block)})")
        return self._named(f"consume(s, {place}, slot)")

    def _look(self) -> None:
        """When all is over: whether the first who waits at a pool can never be admitted, and why."""
        lines = self.lines
        for statement in self.holds.statements:
            with lines.block(f"def look_{statement.number}(s: Sim, slot: i64) -> i64:"):
                self._at(statement)
                places = [self._place(statement, k) for k in range(len(statement.hold.parts))]
                needs = self._needs(statement, places)
                for part, place, (_, need) in zip(statement.hold.parts, places, needs, strict=True):
                    with lines.block(f"if {need} > {literal(self.holds.group(part.pool).cap)}:"):
                        lines.add(f"s.fault_place = {place}", f"s.pools.value = {need}", "return REJECTED")
                lines.add("return MORE")
        with lines.block("def look(s: Sim, pool: i64) -> i64:"):
            for group in self.holds.groups:
                if self.holds.waiting_at(group):
                    with lines.block(f"if {group.base} <= pool < {group.base + group.size}:"):
                        with lines.block("if s.pools.head[pool] < 0:"):
                            lines.add("return MORE")
                        lines.add(f"slot = {self._head(group)}", "s.pools.index = slot")
                        for statement in self.holds.waiting_at(group):
                            lines.add(f"if s.pools.claim[slot] == {statement.number}:")
                            lines.add(f"    return look_{statement.number}(s, slot)")
            lines.add("return MORE")
        lines.add("")

    # -- the end of a hold -------------------------------------------------------------------------------------------

    def _close(self, statement: Statement) -> None:
        """The units are free; of the prefix stays what the cache clause says, which is read after that."""
        lines, parts = self.lines, statement.hold.parts
        with lines.block(f"def close_{statement.number}(s: Sim, slot: i64) -> i64:"):
            self._at(statement)
            places = [self._place(statement, k) for k in range(len(parts))]
            for k, (part, place) in enumerate(zip(parts, places, strict=True)):
                lines.add(f"give_units(s, {place}, slot, {statement.first + k})")
                if self.holds.lists_holders(self.holds.group(part.pool)):
                    lines.add(f"step_out(s, {place}, {self._part(statement, k)})")
            if statement.release.cache is not None:
                length = self._number(statement.release.cache, "cache length", places[0])
                grown = self._grown(statement)
                for k, (part, place) in enumerate(zip(parts, places, strict=True)):
                    block = literal(self.holds.group(part.pool).block)
                    computed = f"s.pools.units[{self._part(statement, k)}]"
                    if grown:
                        computed = f"computed_units(s, {self._part(statement, k)}, {grown})"
                    lines.add(f"keep(s, {place}, slot, down(min({length}, {computed}), {block}))")
            lines.add(f"close_hold(s, slot, {statement.outer})", "return MORE")
        lines.add("")

    def _grown(self, statement: Statement) -> str:
        """Whether a pool of the hold has grown along with a run; nothing where none can."""
        if statement.number not in self.holds.grown:
            return ""
        parts = range(len(statement.hold.parts))
        return self._named(" or ".join(f"s.pools.position[{self._part(statement, k)}] != NONE" for k in parts))

    def _closing(self) -> None:
        """Close the innermost hold, whichever it is."""
        with self.lines.block("def close(s: Sim, slot: i64) -> i64:"):
            for statement in self.holds.statements[:-1]:
                self.lines.add(f"if s.pools.open[slot] == {statement.number}:")
                self.lines.add(f"    return close_{statement.number}(s, slot)")
            last = len(self.holds.statements) - 1
            self.lines.add(f"return close_{last}(s, slot)" if last >= 0 else "return MORE")
        self.lines.add("")

    def _end(self) -> None:
        """A session ends at a site: its holds are closed, and a closed population gets another one."""
        lines = self.lines
        with lines.block("def end_session(s: Sim, slot: i64, site: i64) -> i64:"):
            with lines.block("while s.pools.open[slot] >= 0:"):
                lines.add("status = close(s, slot)", "if status != MORE:", "    return status", "s.steps.barren = 0")
            if self.holds.replays:
                lines.add("close_request(s, slot)")
            lines.add("leave(s, slot)")
            if isinstance(self.program.arrivals, p.Closed):
                lines.add("if one_more_ended(s):", "    return fail(s, site, -1, s.ended_now)")
                lines.add("return arrive(s)")
            else:
                lines.add("return MORE")
        lines.add("")

    # -- the turn of the pools ---------------------------------------------------------------------------------------

    def _choose_head(self, group: Group) -> None:
        """Whom an admission tries: `s.pools.index`, -1 for nobody. Without keys it is the first of the queue."""
        keys, lines = group.pool.queue, self.lines
        if not keys or not self.holds.waiting_at(group):
            return
        with lines.block(f"def choose_head_{group.base}(s: Sim, pool: i64) -> i64:"):
            lines.add("waiting = s.pools.head[pool]", "s.pools.index = waiting")
            alone = any(
                self.holds.group(part.pool).pool.victims
                for statement in self.holds.waiting_at(group)
                for part in statement.hold.parts
            )
            if not alone:
                lines.add("if waiting < 0 or s.pools.ahead[waiting] != 0:", "    return MORE")
            sets = [self._before.before[statement.pc] for statement in self.holds.waiting_at(group)]
            self.expressions.here = Surroundings(
                "waiting", None, frozenset.intersection(*sets), {"waited": "(s.now - s.pools.since[waiting])"}
            )
            lines.add("best = -1")
            kept = first_of(lines, len(keys))
            with lines.block("while waiting >= 0:"):
                found = [self._named(self.expressions.value(key)) for key in keys]
                self.room.keep_if_less(found, kept, "best", "waiting")
                lines.add("waiting = s.follow[waiting]")
            lines.add("s.pools.index = best", "return MORE")
        lines.add("")

    def _attempt_any(self, group: Group) -> None:
        """Try to admit a session that waits at a pool of the group, with whichever statement."""
        statements = self.holds.waiting_at(group)
        if not statements:
            return
        with self.lines.block(f"def attempt_at_{group.base}(s: Sim, slot: i64) -> i64:"):
            for statement in statements[:-1]:
                self.lines.add(f"if s.pools.claim[slot] == {statement.number}:")
                self.lines.add(f"    return attempt_{statement.number}(s, slot)")
            self.lines.add(f"return attempt_{statements[-1].number}(s, slot)")
        self.lines.add("")

    def _serve(self) -> None:
        """The pools have their turn, in the order of declaration; what happens sets `s.pools.changed`."""
        lines = self.lines
        served = [g for g in self.holds.groups if g.pool.admit_via is None and self.holds.waiting_at(g)]
        for group in served:
            with lines.block(f"def serve_{group.base}(s: Sim, pool: i64) -> i64:"):
                with lines.block("while s.pools.head[pool] >= 0:"):
                    slot = self._head(group)
                    lines.add(f"status = attempt_at_{group.base}(s, {slot})", "if status == BLOCKED:", "    break")
                    lines.add("if status == ADMITTED:", f"    make_ready(s, {slot})")
                    lines.add("elif status != REJECTED:", "    return status")
                lines.add("return MORE")
            lines.add("")
        with lines.block("def serve(s: Sim) -> i64:"):
            lines.add("s.pools.changed = 0")
            if self.holds.spills:
                lines.add("status = land_all(s)", "if status != MORE:", "    return status")
            for group in self.holds.groups:
                steps = [f"retry_{group.base}"] if self.holds.grows(group) else []
                steps += [f"serve_{group.base}"] if group in served else []
                if steps:
                    with lines.block(f"for pool in range({group.base}, {group.base + group.size}):"):
                        for step in steps:
                            lines.add(f"status = {step}(s, pool)", "if status != MORE:", "    return status")
            lines.add("return MORE")
        lines.add("")

    def _head(self, group: Group) -> str:
        """The name of whom an admission tries; there is somebody."""
        if not group.pool.queue:
            self.lines.add("head = s.pools.head[pool]")
        else:
            self.lines.add(f"status = choose_head_{group.base}(s, pool)", "if status != MORE:", "    return status")
            self.lines.add("head = s.pools.index")
        return "head"

    # -- names -------------------------------------------------------------------------------------------------------

    def _at(self, statement: Statement) -> None:
        """What is evaluated now is evaluated for a session at a hold statement, or within its body."""
        self.expressions.here = Surroundings("slot", "session_stream", self._before.before[statement.pc])

    def _part(self, statement: Statement, k: int) -> str:
        many = self.holds.parts
        return f"slot * {many} + {statement.first + k}" if many > 1 else "slot"

    def _place(self, statement: Statement, k: int) -> str:
        """The pool of a part, as the session found it when it joined the queue."""
        ref = statement.hold.parts[k].pool
        return str(ref.base) if ref.index is None else self._named(f"s.pools.pool[{self._part(statement, k)}]")

    def _named(self, text: str) -> str:
        name = self.lines.name()
        self.lines.add(f"{name} = {text}")
        return name


def _is_literal(text: str) -> bool:
    return not text.isidentifier() or text == "INF"

"""Spilling as restricted Python: where what is evicted goes, and how it arrives there."""

from serq.engine.asked import reads_estimates
from serq.engine.clocks import join_shared, region_of, sources_of
from serq.engine.expressions import Expressions, Surroundings, literal
from serq.engine.holds import Group, Holds
from serq.engine.room_text import RoomText
from serq.engine.sites import Site
from serq.engine.streams import place_of, streams_of
from serq.ir import expr as e
from serq.ir import program as p


class SpillText:
    """Writes, for each group of pools with a tier behind it, what an eviction does, and for each tier an arrival."""

    def __init__(self, expressions: Expressions, holds: Holds, room: RoomText) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.program = expressions.program
        self.holds = holds
        self.room = room
        self._learns = reads_estimates(self.program)

    def functions(self) -> None:
        """Everything; nothing where no pool spills."""
        if not self.holds.spills:
            return
        tiers = sorted({pool.spill.tier for pool in self.program.pools if pool.spill is not None})
        for group in self.holds.groups:
            if group.pool.spill is not None:
                self._send(group, group.pool.spill)
                self._spill(group, group.pool.spill)
        for tier in tiers:
            self._land(tier)
        self._land_any(tiers)

    def _send(self, group: Group, spill: p.Spill) -> None:
        """A carrier joins the stage that takes it to the tier."""
        lines, place, kind = self.lines, spill.via, self.program.stages[spill.via].kind
        with lines.block(f"def send_{group.base}(s: Sim, slot: i64, work: f64) -> i64:"):
            if self._learns:
                lines.add(f"learn_joined(s, {place})")
            match kind:
                case p.Fifo(servers=servers) if p.whole(servers) == 1:
                    lines.add(f"join_single(s, {place}, {sources_of(self.program).index(place)}, slot, work)")
                case p.Fifo(servers=servers):
                    lines.add(f"join_many(s, {place}, {p.whole(servers)}, slot, work)")
                case p.ProcessorSharing():
                    region = region_of(self.program, e.Ref("", place), "")
                    lines.add(*join_shared(place, str(place), region, "work"))
                case _:
                    lines.add(f"join_delay(s, {place}, slot, work)")
            lines.add("return MORE")
        lines.add("")

    def _spill(self, group: Group, spill: p.Spill) -> None:
        """Evict units of an entry and, if the condition holds, send them on; their room is free at once."""
        lines, expressions = self.lines, self.expressions
        with lines.block(f"def spill_{group.base}(s: Sim, pool: i64, entry: i64, units: f64) -> i64:"):
            lines.add("owner = s.pools.owner[entry]", "released = s.pools.time[entry]")
            lines.add("waits = 1.0 if is_pinned(s, entry) else 0.0")
            lines.add("s.pools.kept[owner] += 1", self.room.evict(group, "units"))
            facts = {"size": "units", "age": "(s.now - released)", "last": "released", "queued": "waits"}
            stream = place_of(streams_of(self.program), "session", "owner")
            expressions.here = Surroundings("owner", stream, self.room.initial, facts)
            with lines.block(f"if not {expressions.test(spill.when)}:"):
                lines.add("disown(s, owner)", "return MORE")
            work = expressions.kept(spill.work)
            site = self.sites.number(Site("work", spill.work.span))
            with lines.block(f"if not (0.0 <= {work} < INF):"):
                lines.add(f"return fail_with(s, {site}, s.serial[owner], {spill.via}, {work})")
            lines.add("s.pools.spills[pool] += 1", "s.pools.sum_spilled[pool] += units")
            lines.add(f"carrier = take_carrier(s, owner, {spill.tier}, units)", "if carrier < 0:", "    return MORE")
            lines.add(f"if {work} == 0.0:", "    land_soon(s, carrier)", "    return MORE")
            lines.add(f"return send_{group.base}(s, carrier, {work})")
        lines.add("")

    def _land(self, tier: int) -> None:
        """Units arrive: they become the owner's entry there, or extend it, as many as fit."""
        lines, group = self.lines, self.holds.group(tier)
        with lines.block(f"def land_{tier}(s: Sim, carrier: i64) -> i64:"):
            lines.add("owner = s.pools.claim[carrier]")
            lines.add(f"whole = s.pools.wanted[carrier] + own_units(s, {tier}, owner)")
            lines.add("give_carrier(s, carrier)", f"drop(s, {tier}, owner)")
            pinned = f" - pinned(s, {tier}, owner)" if group.pool.pin_waiting else ""
            lines.add(f"room = {literal(group.cap)} - s.pools.used[{tier}]{pinned}")
            lines.add(f"units = down(min(whole, room), {literal(group.block)})")
            self.room.before_taking(group, str(tier), "units")
            lines.add("if units > 0.0:", f"    add_entry(s, {tier}, owner, units)")
            lines.add("disown(s, owner)", "return MORE")
        lines.add("")

    def _land_any(self, tiers: list[int]) -> None:
        lines = self.lines
        with lines.block("def land(s: Sim, carrier: i64) -> i64:"):
            lines.add("s.pools.changed = 1")
            for tier in tiers[:-1]:
                lines.add(f"if s.pools.growing[carrier] == {tier}:", f"    return land_{tier}(s, carrier)")
            lines.add(f"return land_{tiers[-1]}(s, carrier)")
        with lines.block("def land_all(s: Sim) -> i64:"):
            lines.add("carrier = s.pools.landed", "s.pools.landed = -1")
            with lines.block("while carrier >= 0:"):
                lines.add("after = s.follow[carrier]", "status = land(s, carrier)")
                lines.add("if status != MORE:", "    return status", "carrier = after")
            lines.add("return MORE")
        lines.add("")

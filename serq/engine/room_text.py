"""Making room as restricted Python: whose cached prefix is evicted next, where the program says it with keys."""

from serq.engine.assigned import Assigned
from serq.engine.expressions import Expressions, Surroundings, literal
from serq.engine.holds import Group, Holds
from serq.engine.lines import Lines
from serq.engine.sites import Sites

_CONTEXT = {
    "size": "s.pools.size[entry]",
    "age": "(s.now - s.pools.time[entry])",
    "last": "s.pools.time[entry]",
    "queued": "(1.0 if is_pinned(s, entry) else 0.0)",
}


class RoomText:
    """Writes, for each group of pools whose entries do not simply go in the order of release, how room is made."""

    def __init__(self, expressions: Expressions, holds: Holds, before: Assigned) -> None:
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites: Sites = expressions.sites
        self.holds = holds
        self._before = before

    @property
    def initial(self) -> frozenset[str]:
        """The attributes that everybody has set."""
        return self._before.initial

    def before_taking(self, group: Group, place: str, units: str) -> None:
        """Make room for units that are about to be taken."""
        if not self.holds.caches(group):
            return
        cap = literal(group.cap)
        with self.lines.block(f"if excess(s, {place}, {units}, {cap}) > 0.0:"):
            if self._is_plain(group):
                how = "evict_oldest_told" if self.holds.tells else "evict_oldest"
                self.lines.add(f"{how}(s, {place}, {units}, {cap}, {literal(group.block)})")
            else:
                self.lines.add(f"status = make_room_{group.base}(s, {place}, {units})")
                self.lines.add("if status != MORE:", "    return status")

    @staticmethod
    def _is_plain(group: Group) -> bool:
        return not group.pool.evict and not group.pool.pin_waiting and group.pool.spill is None

    def make_room(self, group: Group) -> None:
        """Evict until the units fit: whole entries, or one block at a time, from the tail."""
        if self._is_plain(group) or not self.holds.caches(group):
            return
        lines, block = self.lines, literal(group.block)
        if group.pool.evict:
            self._choose_victim(group)
        with lines.block(f"def make_room_{group.base}(s: Sim, pool: i64, units: f64) -> i64:"):
            lines.add(f"more = excess(s, pool, units, {literal(group.cap)})")
            with lines.block("while more > 0.0:"):
                self._victim(group)
                lines.add("if entry < 0:", "    return MORE", "size = s.pools.size[entry]")
                if group.block == 0.0:
                    part = "size"
                elif group.pool.evict or group.pool.spill is not None:
                    part = f"min(size, {block})"
                else:
                    part = f"min(size, up(more, {block}))"
                if group.pool.spill is None:
                    lines.add(self.evict(group, part))
                else:
                    lines.add(f"part = {part}", f"status = spill_{group.base}(s, pool, entry, part)")
                    lines.add("if status != MORE:", "    return status")
                lines.add(f"more = excess(s, pool, units, {literal(group.cap)})")
            lines.add("return MORE")
        lines.add("")

    def evict(self, group: Group, units: str) -> str:
        """Take so many units off `entry`."""
        told = f"evict_told(s, pool, entry, {units}, {literal(group.block)})"
        return told if self.holds.tells else f"evict(s, pool, entry, {units})"

    def _victim(self, group: Group) -> None:
        """The entry that gives way is `entry`; -1 where there is none."""
        lines = self.lines
        if group.pool.evict:
            lines.add(f"status = choose_victim_{group.base}(s, pool)", "if status != MORE:", "    return status")
            lines.add("entry = s.pools.index")
        elif group.pool.pin_waiting:
            lines.add("entry = oldest_unpinned(s, pool)")
        else:
            lines.add("entry = s.pools.oldest[pool]")

    def _choose_victim(self, group: Group) -> None:
        """The entry with the smallest keys; of equal ones that which was released first. Dead ones are asked first."""
        lines, keys = self.lines, group.pool.evict
        dying = self.holds.dying(group)
        with lines.block(f"def choose_victim_{group.base}(s: Sim, pool: i64) -> i64:"):
            kept = first_of(lines, len(keys))
            lines.add("best = -1")
            for dead in (1, 0) if dying else (0,):
                lines.add("entry = s.pools.oldest[pool]")
                with lines.block("while entry >= 0:"):
                    tests = [f"s.pools.dead[entry] == {dead}"] if dying else []
                    tests += ["not is_pinned(s, entry)"] if group.pool.pin_waiting and not dead else []
                    if tests:
                        with lines.block(f"if {' and '.join(tests)}:"):
                            self._compare(group, kept, dying)
                    else:
                        self._compare(group, kept, dying)
                    lines.add("entry = s.pools.newer[entry]")
            lines.add("s.pools.index = best", "return MORE")
        lines.add("")

    def _compare(self, group: Group, kept: list[str], dying: bool) -> None:
        self.lines.add("owner = s.pools.owner[entry]")
        self.expressions.here = Surroundings("owner", None, self._before.initial, _CONTEXT)
        found = []
        for key in group.pool.evict:
            found.append(self.lines.name())
            self.lines.add(f"{found[-1]} = {self.expressions.value(key)}")
        last = "s.pools.release[entry] < s.pools.release[best]" if dying else "False"
        self.keep_if_less(found, kept, "best", "entry", last)

    def keep_if_less(self, keys: list[str], kept: list[str], best: str, candidate: str, last: str = "False") -> None:
        """The candidate is the best so far if its keys are smaller; of equal keys decides `last`."""
        self.lines.add(f"if {best} < 0 or {less(keys, kept, last)}:", f"    {best} = {candidate}")
        self.lines.add(*(f"    {k} = {key}" for k, key in zip(kept, keys, strict=True)))


def first_of(lines: Lines, keys: int) -> list[str]:
    """Variables for the keys of the best so far."""
    kept = [lines.name() for _ in range(keys)]
    lines.add(*(f"{name} = 0.0" for name in kept))
    return kept


def less(keys: list[str], kept: list[str], last: str = "False") -> str:
    """Whether one tuple of keys is before another; of equal ones decides `last`."""
    out = last
    for key, old in reversed(list(zip(keys, kept, strict=True))):
        out = f"{key} < {old}" if out == "False" else f"({key} < {old} if {key} != {old} else {out})"
    return out

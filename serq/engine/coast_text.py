"""Coasting as restricted Python: for the step stages of a program the loop over iterations in which nothing happens.

See `serq.engine.coasting`. What the program reads while it coasts (costs, gauges) must find the state as it would be
after every single iteration.
"""

from dataclasses import dataclass, replace

from serq.engine.asked import drifting
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.holds import Holds
from serq.engine.sites import Site
from serq.engine.step_text import counts_together, limits_of, step_stages
from serq.ir import expr as e
from serq.ir import program as p

_FACTS = ("nres", "ndec")
"""Context variables that stay as they are while a stage coasts."""
_COST = {
    "nres": "float(s.steps.count[k])", "ndec": "float(s.steps.steady_batch[k])", "kvb": "s.steps.steady_held[k]",
    "kvp": "0.0", "ntok": "float(s.steps.steady_batch[k])", "npre": "0.0", "attn": "0.0",
}  # fmt: skip
_FIXED = (e.Num, e.Const, e.Context, e.Unary, e.Binary, e.Cond, e.Call)


@dataclass(frozen=True, slots=True)
class Family:
    """Step stages that differ only in their memory, with numbers and clocks that follow each other."""

    first: int
    size: int
    source: int
    kind: p.Step


class CoastText:
    """Writes how the step stages of a program coast through one writer of expressions."""

    def __init__(self, expressions: Expressions, sources: tuple[int, ...], holds: Holds) -> None:
        self.expressions = expressions
        self.program = expressions.program
        self.lines = expressions.lines
        self.holds = holds
        self.families = _families(self.program, sources)

    def functions(self) -> None:
        """A function for each family."""
        for family in self.families:
            self._coast(family)

    def after_earliest(self) -> None:
        """Within the loop over events, when the clock that fires next is known: its stage coasts, if it may."""
        lines = self.lines
        for family in self.families:
            last = family.source + family.size - 1
            is_one = f"k == {family.source}" if family.size == 1 else f"{family.source} <= k <= {last}"
            quiet = " and s.pools.waits == 0" if self.program.pools else ""
            quiet += " and s.pools.landed < 0" if self.holds.spills else ""
            number = str(family.first) if family.size == 1 else f"k + {family.first - family.source}"
            with lines.block(f"if {is_one} and bound > time{quiet}:"):
                lines.add(f"status = coast_{family.first}(s, {number}, k, min(bound, s.next_end), most - done)")
                lines.add("if status != MORE:", "    return status")
                lines.add("if s.steps.coasted > 0:", "    done += s.steps.coasted", "    continue")

    def _coast(self, family: Family) -> None:
        lines, grows = self.lines, family.kind.memory is not None
        watched = self._is_watched(family)
        with lines.block(f"def coast_{family.first}(s: Sim, k: i64, source: i64, bound: f64, most: i64) -> i64:"):
            lines.add("s.steps.coasted = 0", "if not may_coast(s, k):", "    return MORE")
            lines.add("rounds = rounds_alone(s, k, most)", "time = s.clock_time[source]", "done = 0")
            lines.add(*(["due = s.steps.due[k]"] if grows else []))
            with lines.block("while done < rounds and time < bound:"):
                self._end(grows, watched)
                self._begin(family.kind, grows, watched)
            if not watched:
                lines.add("s.steps.round[k] += done", *(["s.steps.due[k] = due"] if grows else []))
            lines.add("note_coasted(s, k, source, done, time)", "return MORE")
        lines.add("")

    def _is_watched(self, family: Family) -> bool:
        """Whether the program may read the state of stages after every iteration."""
        read = (family.kind.cost, *(gauge.expr for gauge in self.program.gauges))
        return any(isinstance(node, e.StageState | e.Price) for expr in read for node in e.walk(expr))

    def _end(self, grows: bool, watched: bool) -> None:
        """An iteration ends, and the residents take units for the next one."""
        lines = self.lines
        if grows:
            lines.add("next_due = due_after(s, k, due)", "more = units_due(s, k, next_due)")
            lines.add("if more != 0.0 and not has_memory(s, k, more):", "    break", "due = next_due")
        if drifting(self.program):
            with lines.block("if time != s.now:"):
                lines.add("s.now = time", "status = reach_gauges(s)", "if status != MORE:", "    return status")
        else:
            lines.add("s.now = time")
        if watched:
            lines.add("s.steps.round[k] += 1", "s.steps.running[k] = 0", *(["s.steps.due[k] = due"] if grows else []))
        if grows:
            lines.add("if more != 0.0:", "    take_due(s, k, more)")

    def _begin(self, kind: p.Step, grows: bool, watched: bool) -> None:
        """The next iteration begins."""
        lines = self.lines
        site = self.expressions.sites.number(Site("step", kind.cost.span, "cost"))
        names = {node.name for node in e.walk(kind.cost) if isinstance(node, e.Context)}
        self.expressions.here = Surroundings(context={name: _COST[name] for name in names})
        cost = self.expressions.kept(kind.cost)
        with lines.block(f"if not (0.0 <= {cost} < INF):"):
            lines.add(f"return fail_with(s, {site}, -1, s.steps.place[k], {cost})")
        lines.add(*(["s.steps.running[k] = 1"] if watched else []), f"time += {cost}", "done += 1")
        if grows:
            lines.add("if more != 0.0:", "    rest_pool(s, s.steps.memory[k])")
        if self.program.gauges:
            lines.add("status = read_gauges(s)", "if status != MORE:", "    return status")


def _coasts(program: p.Program, place: int) -> bool:
    """Whether a stage may coast: its limits are the same as long as nobody comes or goes."""
    kind = program.stages[place].kind
    assert isinstance(kind, p.Step)
    nodes = [node for expr in limits_of(kind) for node in e.walk(expr)]
    fixed = all(isinstance(x, _FIXED) and (not isinstance(x, e.Context) or x.name in _FACTS) for x in nodes)
    return fixed and counts_together(program, place)


def _families(program: p.Program, sources: tuple[int, ...]) -> tuple[Family, ...]:
    families: list[Family] = []
    for number, place in enumerate(step_stages(program)):
        if not _coasts(program, place):
            continue
        kind, source = program.stages[place].kind, sources.index(place)
        assert isinstance(kind, p.Step)
        if families and _follows(families[-1], number, source, kind):
            families[-1] = replace(families[-1], size=families[-1].size + 1)
        else:
            families.append(Family(number, 1, source, kind))
    return tuple(families)


def _follows(family: Family, number: int, source: int, kind: p.Step) -> bool:
    """Whether a stage is the next member of a family."""
    alike = replace(kind, memory=None) == replace(family.kind, memory=None)
    alike = alike and (kind.memory is None) == (family.kind.memory is None)
    return alike and (number, source) == (family.first + family.size, family.source + family.size)

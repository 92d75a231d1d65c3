"""Which observes are the length of an interval, `factor * (now - t) + rest`, and where a session is within it.

Of such an observe the whole law is known, by following one session from `set t = now` to the observe
(`serq.semantics.tagged`); what is observed twice counts twice, what is not observed does not count.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics.control import Control
from serq.semantics.graph import Origin
from serq.semantics.kinds import DRAWN
from serq.semantics.linear import NOW
from serq.semantics.observed import Observed
from serq.semantics.passes import Passes
from serq.semantics.paused import paused_runs

Counts = frozenset[int]
_NEVER: Counts = frozenset({0})

NO_TIME = "it is no time"
"""Why a number that has nothing to do with time is no interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An observe as an interval: `clock` is the attribute t, `factor` is positive.

    `live`: instructions at which a session rests that may yet observe since its last `set t`. `observers`: where the
    observes stand in the program. `paused`: instructions during whose service the clock stands still.
    """

    observe: str
    clock: str
    factor: Fraction
    live: frozenset[int]
    observers: frozenset[Origin]
    paused: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class NoInterval:
    """An observe that is no interval, and why."""

    observe: str
    reason: str


def interval_of(control: Control, observe: str) -> Interval | NoInterval:
    """The observe of that name as an interval, or why it is none."""
    graph, observed = control.graph, Observed(control)
    nodes = [
        i
        for i in sorted(observed.reached)
        if isinstance(step := graph.nodes[i].step, p.Observe) and step.name == observe
    ]
    forms, spent = set(), set[str | None]()
    for node in nodes:
        parts = control.linear[node]
        if isinstance(parts, str):
            return NoInterval(observe, parts)
        drawn = bool(control.kinds.at(node, parts.rest).shapes & DRAWN)
        spent.add(_subtracted(parts.rest) if drawn else "")
        if drawn and _subtracted(parts.rest) is None:
            return NoInterval(observe, "a draw is observed along with the time, and no state knows its value")
        forms.add(parts.times)
    if not nodes:
        return NoInterval(observe, "it is never observed")
    if len(forms) > 1 or len(spent) > 1:
        return NoInterval(observe, "it is observed in several ways")
    found = _since(control, observed, observe, frozenset(nodes), next(iter(forms)))
    draw = next(iter(spent))
    return _pausing(control, found, draw, frozenset(nodes)) if draw and isinstance(found, Interval) else found


def _subtracted(rest: e.Expr) -> str | None:
    """The attribute of which the rest is minus the value; None where it is anything else."""
    match rest:
        case e.Unary(op="-", operand=e.Attr(name=name)):
            return name
    return None


def _pausing(control: Control, interval: Interval, spent: str, nodes: frozenset[int]) -> Interval | NoInterval:
    """The interval from which a draw is subtracted that was spent in it: its clock stands still meanwhile."""
    runs = paused_runs(control, interval.clock, spent, nodes) if interval.factor == 1 else None
    if not runs:
        return NoInterval(
            interval.observe, f"`{spent}` is not spent exactly once in between, at a fifo or delay stage, and kept"
        )
    return replace(interval, paused=runs)


def _since(
    control: Control, observed: Observed, observe: str, nodes: frozenset[int], times: tuple[tuple[str, Fraction], ...]
) -> Interval | NoInterval:
    """The observe at the nodes, given how often it counts which time."""
    counted = dict(times)
    factor = counted.pop(NOW, Fraction(0))
    if not times:
        return NoInterval(observe, NO_TIME)
    if len(counted) != 1 or set(counted.values()) != {-factor} or factor < 0:
        return NoInterval(observe, "it is not the time since one moment")
    (clock,) = counted
    if not observed.is_clock(clock, nodes):
        return NoInterval(observe, f"`{clock}` is not the time of one `set {clock} = now`")
    graph = control.graph
    passes = Passes(graph, clock, nodes)
    live = {
        pc
        for i in graph.reachable(passes.sets)
        if graph.nodes[i].is_rest and passes.ahead[i] != _NEVER and (pc := graph.nodes[i].pc) is not None
    }
    return Interval(observe, clock, factor, frozenset(live), frozenset(graph.nodes[i].origin for i in nodes))

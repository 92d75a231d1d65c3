"""Which observes are the length of an interval, `factor * (now - t) + rest`, and where a session is within it.

Of such an observe the whole law is known, by following one session from `set t = now` to the observe
(`serq.semantics.tagged`); what is observed twice counts twice, what is not observed does not count.
"""

from dataclasses import dataclass
from fractions import Fraction

from serq.ir import program as p
from serq.semantics.control import Control
from serq.semantics.graph import Origin
from serq.semantics.kinds import DRAWN
from serq.semantics.linear import NOW
from serq.semantics.observed import Observed
from serq.semantics.passes import Passes

Counts = frozenset[int]
_NEVER: Counts = frozenset({0})

NO_TIME = "it is no time"
"""Why a number that has nothing to do with time is no interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An observe as an interval: `clock` is the attribute t, `factor` is positive.

    `live`: instructions at which a session rests that may yet observe since its last `set t`. `observers`: where the
    observes stand in the program.
    """

    observe: str
    clock: str
    factor: Fraction
    live: frozenset[int]
    observers: frozenset[Origin]


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
    forms = set()
    for node in nodes:
        parts = control.linear[node]
        if isinstance(parts, str):
            return NoInterval(observe, parts)
        if control.kinds.at(node, parts.rest).shapes & DRAWN:
            return NoInterval(observe, "a draw is observed along with the time, and no state knows its value")
        forms.add(parts.times)
    if not nodes:
        return NoInterval(observe, "it is never observed")
    if len(forms) > 1:
        return NoInterval(observe, "it is observed in several ways")
    return _since(control, observed, observe, frozenset(nodes), next(iter(forms)))


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

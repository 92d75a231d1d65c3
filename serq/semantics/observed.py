"""Means of observes as rewards: finite parts are earned at the observe, times by Little's law while they pass.

For an observe of `a now - sum c_i t_i + rest` with a = sum c_i, the mean is (sum c_i * mean number of sessions between
the set of t_i and the observe + long-run sum of the rests) / (rate of observing).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.chain import Ratio, Unmapped
from serq.semantics.control import Control
from serq.semantics.kinds import DRAWN, NOTHING, TIMED, Shape, Source
from serq.semantics.linear import NOW, Linear
from serq.semantics.passes import Passes

Times = tuple[tuple[str, Fraction], ...]

TAGGED = "the mean then needs the tagged-session chain"


class NotMapped(Exception):  # noqa: N818 - an answer, not a fault
    """The measure is no ratio of reward rates; the message says why."""


@dataclass
class Regions:
    """State rewards that count the sessions at some instructions: their names, and where the sessions are."""

    places: dict[str, frozenset[int]] = field(default_factory=dict)

    def name(self, wanted: str, region: frozenset[int]) -> str:
        """The name of the reward for that region, an older one where it has one."""
        for name, known in self.places.items():
            if known == region:
                return name
        name, k = wanted, 2
        while name in self.places:
            name, k = f"{wanted}.{k}", k + 1
        self.places[name] = region
        return name


class Observed:
    """Maps the observes of a program; `regions` collects the state rewards that the means need."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.graph = control.graph
        self.regions = Regions()
        self.reached = control.graph.reachable((control.graph.entry,))
        self.spent = _spent_draws(control)

    def mean(self, name: str) -> Ratio | Unmapped:
        """The mean of an observe."""
        measure = f"observe.{name}.mean"
        nodes = [i for i in sorted(self.reached) if self._observes(i, name)]
        try:
            terms = self._terms(name, nodes)
        except NotMapped as reason:
            return Unmapped(measure, str(reason))
        terms[f"observe.{name}.sum"] = Fraction(1)
        return Ratio(measure, tuple((weight, reward) for reward, weight in terms.items()), f"observe.{name}.rate")

    def _observes(self, node: int, name: str) -> bool:
        step = self.graph.nodes[node].step
        return isinstance(step, p.Observe) and step.name == name

    def _terms(self, name: str, nodes: Iterable[int]) -> dict[str, Fraction]:
        """Weights of the region rewards that make up the times observed at the nodes."""
        out: dict[str, Fraction] = {}
        for times, group in self._by_times(nodes).items():
            self._check_draws(group)
            for reward, weight in self._of_times(name, times, group, ()).items():
                out[reward] = out.get(reward, Fraction(0)) + weight
        return {reward: weight for reward, weight in out.items() if weight}

    def _by_times(self, nodes: Iterable[int]) -> dict[Times, frozenset[int]]:
        groups: dict[Times, set[int]] = {}
        for node in nodes:
            parts = self.control.linear[node]
            if isinstance(parts, str):
                raise NotMapped(f"line {self.graph.nodes[node].step.span.line}: {parts}")
            groups.setdefault(parts.times, set()).add(node)
        return {times: frozenset(group) for times, group in groups.items()}

    # -- times -------------------------------------------------------------------------------------------------------

    def _of_times(self, name: str, times: Times, group: frozenset[int], seen: tuple[str, ...]) -> dict[str, Fraction]:
        """The part of the times in the long-run sum over all executions of the nodes of the group."""
        out: dict[str, Fraction] = {}
        balance = Fraction(0)
        for time, c in times:
            if time == NOW:
                balance += c
            elif self.is_clock(time, group):
                balance += c
                reward = self._region(name, time, group)
                out[reward] = out.get(reward, Fraction(0)) - c
            else:
                for reward, weight in self._of_stored(name, time, group, seen).items():
                    out[reward] = out.get(reward, Fraction(0)) + c * weight
        if balance != 0:
            raise NotMapped("it is no difference of times: it grows with the time itself")
        return out

    def is_clock(self, name: str, group: frozenset[int]) -> bool:
        """Whether the attribute is the time of its last set, at every node of the group."""
        shapes = frozenset[Shape]().union(*(self.control.kinds.before[i].get(name, NOTHING).shapes for i in group))
        if shapes != {Shape.CLOCK}:
            return False
        return all(self.linear_set(i).times == ((NOW, Fraction(1)),) for i in self.sets_of(name))

    def _region(self, name: str, clock: str, group: frozenset[int]) -> str:
        region = Passes(self.graph, clock, group).region()
        if region is None:
            raise NotMapped(f"not every pass from `set {clock}` comes to this observe exactly once; {TAGGED}")
        return self.regions.name(f"time.{clock}.{name}", region)

    def _of_stored(self, name: str, stored: str, group: frozenset[int], seen: tuple[str, ...]) -> dict[str, Fraction]:
        """The times within an attribute, taken where it was set: each set is observed, and once."""
        if stored in seen:
            raise NotMapped(f"`{stored}` adds up times over several sets; {TAGGED}")
        if not Passes(self.graph, stored, group).each_set_is_observed_once():
            raise NotMapped(f"not every value of `{stored}` comes to this observe exactly once; {TAGGED}")
        out: dict[str, Fraction] = {}
        for times, sets in self._by_times(self.sets_of(stored)).items():
            self._check_draws(sets)
            for reward, weight in self._of_times(name, times, sets, (*seen, stored)).items():
                out[reward] = out.get(reward, Fraction(0)) + weight
        return out

    def sets_of(self, name: str) -> list[int]:
        """The nodes that are reached and set the attribute."""
        nodes = ((i, self.graph.nodes[i].step) for i in sorted(self.reached))
        return [i for i, step in nodes if isinstance(step, p.Set) and step.name == name]

    def linear_set(self, node: int) -> Linear:
        """The parts of a set; none where it cannot be taken apart."""
        parts = self.control.linear[node]
        return Linear((), e.Num(Fraction(0))) if isinstance(parts, str) else parts

    # -- draws -------------------------------------------------------------------------------------------------------

    def _check_draws(self, group: frozenset[int], seen: tuple[str, ...] = ()) -> None:
        """A draw that was spent at a stage counts with its mean only if its being observed says nothing about it."""
        for name in sorted(set().union(*(self._spent_in(node) for node in group))):
            passes = Passes(self.graph, name, group)
            derived = frozenset(i for i in self.sets_of(name) if self._spent_in(i))
            if name in seen or (derived and not passes.each_set_is_observed_once()) or passes.region() is None:
                raise NotMapped(f"not every draw in `{name}` comes to this observe exactly once; {TAGGED}")
            self._check_draws(derived, (*seen, name))

    def _spent_in(self, node: int) -> set[str]:
        """The attributes that the rest at the node reads and that hold draws which are spent at a stage."""
        before = self.control.kinds.before[node]
        names = e.attributes_read(self.linear_set(node).rest)
        kinds = {name: before.get(name, NOTHING) for name in names}
        return {n for n, kind in kinds.items() if kind.shapes & (DRAWN | TIMED) and kind.sources & self.spent}


def _spent_draws(control: Control) -> frozenset[Source]:
    """The draws that may become work."""
    out: frozenset[Source] = frozenset()
    for place, node in enumerate(control.graph.nodes):
        if isinstance(node.step, p.Run):
            out |= control.kinds.at(place, node.step.work).sources
    return out

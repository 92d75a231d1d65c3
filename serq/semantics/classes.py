"""Communicating classes of a chain: what is transient, where it ends, with what probability and after what time.

Kemeny and Snell, Finite Markov Chains, chapters 2 and 3.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from typing import Literal

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.csgraph as csgraph

from serq.base.errors import LimitError
from serq.ir.chain import Chain
from serq.ir.packed import PackedTransitions
from serq.semantics.generator import Rows, edges, merged_rates, restrict
from serq.semantics.rational import solve_transient

LARGEST_TRANSIENT_CLASS = 2000
"""Transient states that reach one another, up to which absorption is computed in rationals."""

Kind = Literal["recurrent", "ended", "deadlock"]


@dataclass(frozen=True, slots=True)
class ClosedClass:
    """Reachable states that the chain never leaves. `ended`: nobody is left; `deadlock`: sessions wait for ever."""

    states: tuple[int, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Classes:
    """The reachable states of a chain: the transient ones by communicating class, in an order in which the chain
    passes through them, and the closed classes.
    """

    transient: tuple[tuple[int, ...], ...]
    closed: tuple[ClosedClass, ...]


@dataclass(frozen=True, slots=True)
class Absorption:
    """Per closed class, the probability of ending in it; and the expected time until one is entered."""

    probabilities: tuple[Fraction, ...]
    mean_time: Fraction


def classify(chain: Chain) -> Classes:
    """The communicating classes of the states that the chain reaches from its initial distribution."""
    rows = merged_rates(chain)
    reached = _reachable(chain, rows)
    label = _components(restrict(rows, reached))
    members: dict[int, list[int]] = {}
    component: dict[int, int] = {}
    for state, c in zip(reached, label, strict=True):
        members.setdefault(c, []).append(state)
        component[state] = c
    before: dict[int, set[int]] = {c: set() for c in members}
    leaves = set()
    for state in reached:
        for target in rows[state]:
            if component[target] != component[state]:
                before[component[target]].add(component[state])
                leaves.add(component[state])
    order = tuple(TopologicalSorter(before).static_order())
    closed = [tuple(members[c]) for c in order if c not in leaves]
    return Classes(
        transient=tuple(tuple(members[c]) for c in order if c in leaves),
        closed=tuple(ClosedClass(states, _kind(chain, states)) for states in sorted(closed)),
    )


def packed_class(transitions: PackedTransitions) -> Sequence[int] | None:
    """The one closed class of a chain all of whose states are reached, if there is one and something goes on in it."""
    arcs, size = transitions.arcs, transitions.size
    matrix = sparse.coo_matrix((np.ones(len(arcs.sources)), (arcs.sources, arcs.targets)), shape=(size, size)).tocsr()
    count, label = csgraph.connected_components(matrix, directed=True, connection="strong")
    if count == 1:
        return range(size) if len(arcs.sources) else None
    open_ = np.zeros(count, dtype=bool)
    open_[label[arcs.sources[label[arcs.sources] != label[arcs.targets]]]] = True
    if np.count_nonzero(~open_) != 1:
        return None
    states = np.nonzero(label == int(np.argmin(open_)))[0]
    moves = len(states) > 1 or bool(np.any(arcs.sources == states[0]))
    return tuple(states.tolist()) if moves else None


def _reachable(chain: Chain, rows: Rows) -> list[int]:
    seen = {state for state, probability in chain.initial if probability}
    queue = deque(seen)
    while queue:
        for target in rows[queue.popleft()]:
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return sorted(seen)


def _components(rows: Rows) -> list[int]:
    _, label = csgraph.connected_components(edges(rows), directed=True, connection="strong")
    return [int(c) for c in np.asarray(label)]


def _kind(chain: Chain, states: tuple[int, ...]) -> Kind:
    """A class of one state without even a self-loop is where everything has stopped."""
    if len(states) > 1 or any(t.source == states[0] and t.rate for t in chain.transitions):
        return "recurrent"
    return "deadlock" if chain.lines.get(states[0]) else "ended"


def absorption(chain: Chain, classes: Classes) -> Absorption:
    """Where the chain ends and after what time, in rationals, class by class along the way.

    Raises LimitError when more than `LARGEST_TRANSIENT_CLASS` transient states reach one another.
    """
    rows = merged_rates(chain)
    mass = [Fraction(0)] * chain.size
    for state, probability in chain.initial:
        mass[state] += probability
    mean_time = Fraction(0)
    for states in classes.transient:
        if len(states) > LARGEST_TRANSIENT_CLASS:
            raise LimitError(
                f"{len(states)} transient states reach one another; where such a chain ends is computed "
                f"for at most {LARGEST_TRANSIENT_CLASS}"
            )
        exits = [sum(rows[s].values(), Fraction(0)) for s in states]
        times = solve_transient(restrict(rows, states), exits, [mass[s] for s in states])
        mean_time += sum(times, Fraction(0))
        inside = set(states)
        for state, time in zip(states, times, strict=True):
            for target, rate in rows[state].items():
                if target not in inside:
                    mass[target] += time * rate
    probabilities = tuple(sum((mass[s] for s in c.states), Fraction(0)) for c in classes.closed)
    return Absorption(probabilities, mean_time)

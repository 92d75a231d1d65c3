"""Intervals of which a part does not count: the wait of a session, without the service that it got in between.

`observe wait = now - t0 - s` subtracts the draw s that one `run s` has spent. At a fifo or delay stage the job is in
service for exactly s, so the observed value is the time with the clock stopped during that service; and a chain without
the states in which the clock stands still, jumping over them, is one in which it always runs (a censored chain: Kemeny
and Snell, Finite Markov Chains, section 6.1).
"""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number
from serq.semantics.control import Control
from serq.semantics.generator import Rows
from serq.semantics.passages import Passage


def paused_runs(control: Control, clock: str, spent: str, observers: Collection[int]) -> frozenset[int] | None:
    """The instructions that spend the attribute between the set of the clock and the observers.

    None when some way from the set to an observer does not spend it exactly once, at a fifo or delay stage from which
    nobody is driven away, or changes it afterwards.
    """
    graph, program = control.graph, control.program
    runs = set()
    for i, node in enumerate(graph.nodes):
        match node.step:
            case p.Run(stage=ref, work=e.Attr(name=name)) if name == spent:
                kinds = {type(program.stages[s].kind) for s in range(ref.base, ref.base + ref.size)}
                if node.restarts or not kinds <= {p.Fifo, p.Delay}:
                    return None
                runs.add(i)
    begins = [i for i, node in enumerate(graph.nodes) if isinstance(node.step, p.Set) and node.step.name == clock]
    todo = [(t, 0) for i in begins for t in graph.edges(i)]
    seen = set(todo)
    while todo:
        place, count = todo.pop()
        step = graph.nodes[place].step
        if place in observers and count != 1:
            return None
        if place in begins:
            continue
        if isinstance(step, p.Set | p.Choose) and step.name == spent and count:
            count = 2  # what is observed then is another draw
        count = min(count + (place in runs), 2)
        for after in graph.edges(place):
            if (after, count) not in seen:
                seen.add((after, count))
                todo.append((after, count))
    return frozenset(pc for i in runs if (pc := graph.nodes[i].pc) is not None)


def without(passage: Passage, paused: Collection[int]) -> Passage:
    """The passage without the states in which the clock stands still: it jumps over them."""
    if not paused:
        return passage
    rows = [dict(row) for row in passage.rows]
    exits = list(passage.exits)
    start = list(passage.start)
    observed = {rest: list(rates) for rest, rates in passage.observed.items()}
    at_once = dict(passage.at_once)
    into: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            into[j].add(i)
    for k in paused:
        exits[k] -= rows[k].pop(k, Fraction(0))
        into[k].discard(k)
        for i in into[k]:
            share = rows[i].pop(k) / exits[k]
            for j, rate in rows[k].items():
                if j == i and not passage.clocked:
                    exits[i] -= share * rate
                else:
                    rows[i][j] = rows[i].get(j, Fraction(0)) + share * rate
                    into[j].add(i)
            for rates in observed.values():
                rates[i] += share * rates[k]
        for j, rate in rows[k].items():
            start[j] += _part(start[k], rate / exits[k])
            into[j].discard(k)
        for rest, rates in observed.items():
            if rates[k] and start[k]:
                at_once[rest] = at_once.get(rest, _part(start[k], Fraction(0))) + _part(start[k], rates[k] / exits[k])
    stopped = frozenset(paused)
    left = [i for i in range(len(rows)) if i not in stopped]
    place = {state: i for i, state in enumerate(left)}
    kept: Rows = tuple({place[j]: rate for j, rate in rows[i].items() if j in place} for i in left)
    return replace(
        passage,
        start=tuple(start[i] for i in left),
        rows=kept,
        exits=tuple(exits[i] for i in left),
        observed={rest: tuple(rates[i] for i in left) for rest, rates in observed.items()},
        at_once=at_once,
    )


def _part(whole: Number, share: Fraction) -> Number:
    return whole * share if isinstance(whole, Fraction) else whole * float(share)

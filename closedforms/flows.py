"""How often a session passes every node of its graph, and how old its marks are when it does.

Both are solutions of x[j] = base[j] + sum over i of x[i] p[i][j], over rationals, doubles, or the symbols of a program.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import networkx as nx

from serq.closedforms.amounts import Atom
from serq.closedforms.sessiongraph import GONE, Graph

Chances = Sequence[Sequence[tuple[int, Any]]]
"""By node: (target, probability)."""


def accumulate(chances: Chances, base: Sequence[Any]) -> list[Any]:
    """The solution x of x[j] = base[j] + sum_i x[i] p[i][j]; every node must have a way out."""
    size = len(chances)
    into: list[dict[int, Any]] = [{} for _ in range(size)]
    users: list[set[int]] = [set() for _ in range(size)]
    for i, row in enumerate(chances):
        for j, p in row:
            if j != GONE and p != 0:
                into[j][i] = into[j].get(i, 0) + p
                users[i].add(j)
    x = list(base)
    for k in reversed(range(size)):
        _eliminate(k, into, users, x)
    for k in range(size):
        x[k] = x[k] + sum(x[i] * p for i, p in into[k].items())
    return x


def _eliminate(k: int, into: list[dict[int, Any]], users: list[set[int]], x: list[Any]) -> None:
    """Write x[k] in the unknowns before it, and that into the equations of those that use it. In the order of a program
    most nodes are used by the next only, and little is filled in.
    """
    own = into[k].pop(k, 0)
    if own != 0:
        x[k] = x[k] / (1 - own)
        into[k] = {i: p / (1 - own) for i, p in into[k].items()}
    for j in users[k]:
        if j < k:
            share = into[j].pop(k)
            x[j] = x[j] + share * x[k]
            for i, p in into[k].items():
                into[j][i] = into[j].get(i, 0) + share * p
                users[i].add(j)


def closed_classes(graph: Graph) -> list[frozenset[int]]:
    """The sets of nodes that a session cannot leave; being gone is none."""
    digraph = nx.DiGraph()
    digraph.add_nodes_from(range(len(graph.nodes)))
    digraph.add_edges_from((i, edge.target) for i, row in enumerate(graph.edges) for edge in row)
    return [frozenset(c) for c in nx.attracting_components(digraph) if GONE not in c]


def reachable(graph: Graph, start: Iterable[int]) -> frozenset[int]:
    """The nodes that a session can come to after leaving one of these."""
    todo = [edge.target for i in start for edge in graph.edges[i]]
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        if node != GONE and node not in seen:
            seen.add(node)
            todo += [edge.target for edge in graph.edges[node]]
    return frozenset(seen)


def passes_of_one_session(chances: Chances, one: Any) -> list[Any]:
    """How often a session that leaves for good passes every node."""
    return accumulate(chances, [one, *(0 * one for _ in chances[1:])])


def passes_of_a_cycle(chances: Chances, members: frozenset[int], one: Any) -> list[Any]:
    """How often every node of the closed class is passed between two passes of the first of them."""
    first = min(members)
    base = [0 * one for _ in chances]
    for target, p in chances[first]:
        base[target] = base[target] + p
    rest = [row if i in members and i != first else () for i, row in enumerate(chances)]
    inner = [[(j, p) for j, p in row if j != first] for row in rest]
    base[first] = 0 * one
    passes = accumulate(inner, base)
    passes[first] = one
    return passes


def ages(
    graph: Graph, atom: Atom, chances: Chances, passes: Sequence[Any], sojourns: Mapping[int, Any]
) -> Mapping[int, Any]:
    """The mean time since the mark was made, by node that knows it, at the moment of coming to the node.

    `sojourns` gives the mean stay at a node, by node. Left out are the nodes after one that takes time and has none
    there, and all of them when the mark is never made again. Where a branch leads does not depend on how long anything
    took: the mean over all ways to a node is a weighted sum.
    """
    knows = [any(_has(value, atom) for _, value in node.known) for node in graph.nodes]
    base: list[Any] = [0 * passes[0] for _ in graph.nodes]
    inner: list[list[tuple[int, Any]]] = [[] for _ in graph.nodes]
    for i, row in enumerate(graph.edges):
        for edge, (target, p) in zip(row, chances[i], strict=True):
            if target != GONE and knows[target] and atom not in edge.created and knows[i] and passes[i] != 0:
                base[target] = base[target] + passes[i] * p * sojourns.get(i, 0)
                inner[i].append((target, p))
    if not any(atom in edge.created for i, row in enumerate(graph.edges) for edge in row if passes[i] != 0):
        return {}
    total = accumulate(inner, base)
    spoilt = _spoilt(graph, inner, knows, sojourns)
    return {i: total[i] / passes[i] for i, known in enumerate(knows) if known and passes[i] != 0 and i not in spoilt}


def _has(value: Any, atom: Atom) -> bool:
    return atom in getattr(value, "atoms", ())


def _spoilt(graph: Graph, inner: Chances, knows: Sequence[bool], sojourns: Mapping[int, Any]) -> set[int]:
    todo = [
        target
        for i, node in enumerate(graph.nodes)
        if knows[i] and node.visit is not None and i not in sojourns
        for target, _ in inner[i]
    ]
    spoilt: set[int] = set()
    while todo:
        node = todo.pop()
        if node not in spoilt:
            spoilt.add(node)
            todo += [target for target, _ in inner[node]]
    return spoilt

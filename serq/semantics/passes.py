"""How often a session will yet pass one of a set of observes before a time it remembers is set anew.

Little's law gives the mean of `now - t` as the mean number of sessions on their way from the set to the observe, over
the rate of observing; it needs that every session on its way arrives, and arrives once (J. D. C. Little, A proof for
the queuing formula L = lambda W, Oper. Res. 9 (1961)).
"""

from serq.ir import program as p
from serq.semantics.graph import Graph, backward

Counts = frozenset[int]
"""Possible numbers of passes; 2 stands for two or more."""

_NONE: Counts = frozenset({0})
_ENDLESS: Counts = frozenset({0, 2})
ONCE: Counts = frozenset({1})


class Passes:
    """The passes ahead of every node, for one attribute and one set of observing nodes."""

    def __init__(self, graph: Graph, name: str, observers: frozenset[int]) -> None:
        self.graph = graph
        self.sets = tuple(i for i, node in enumerate(graph.nodes) if _sets(node.step, name))
        self.observers = observers
        self._resets = frozenset(self.sets)
        self._stuck: dict[int, Counts] = {}
        unknown: Counts = frozenset()
        self.ahead = backward(graph, unknown, self._transfer)
        # where nothing is found the session goes round for ever: it observes again and again, or never
        for i, counts in enumerate(self.ahead):
            if not counts:
                self._stuck[i] = _ENDLESS if graph.reachable((i,)) & observers else _NONE
        if self._stuck:
            self.ahead = backward(graph, unknown, self._transfer)

    def _transfer(self, node: int, after: list[Counts]) -> Counts:
        if node in self._stuck:
            return self._stuck[node]
        counts = _NONE if node in self._resets or not after else frozenset[int]().union(*after)
        return frozenset(min(c + 1, 2) for c in counts) if node in self.observers else counts

    def after(self, node: int) -> Counts:
        """The passes that follow once the node was executed."""
        return frozenset[int]().union(*(self.ahead[t] for t in self.graph.edges(node)))

    def region(self) -> frozenset[int] | None:
        """The instructions at which a session rests on its way to the one observe that awaits it.

        None when somebody who rests with the time in mind may pass no observe, or several.
        """
        out = set()
        for i in self.graph.reachable(self.sets):
            node = self.graph.nodes[i]
            if not node.is_rest or self.ahead[i] == _NONE:
                continue
            if self.ahead[i] != ONCE or node.pc is None:
                return None
            out.add(node.pc)
        return frozenset(out)

    def each_set_is_observed_once(self) -> bool:
        """Whether whatever is set is observed, and once."""
        reached = self.graph.reachable((self.graph.entry,))
        return all(self.after(i) == ONCE for i in self.sets if i in reached)


def _sets(step: p.Instruction, name: str) -> bool:
    return isinstance(step, p.Set | p.Choose) and step.name == name

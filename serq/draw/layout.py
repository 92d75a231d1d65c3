"""Where the nodes of a graph stand: layers from top to bottom, as Sugiyama, Tagawa and Toda (1981) lay them out.

Edges of loops are left out at first. Every other edge goes down; one that spans several layers gets a bend in each of
them. Layers are ordered by the means of their neighbours' places, and places are pulled towards neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 12
BEND = 20.0
"""Width that an edge takes in a layer which it passes."""
GAP_ACROSS = 26.0
GAP_DOWN = 34.0
LANE = 16.0
"""Between two edges that go back up beside the graph."""

Point = tuple[float, float]
Route = tuple[Point, ...]


@dataclass(frozen=True)
class Placed:
    """The centre of each node, the bends of each edge from node to node, and the size of the whole."""

    centres: tuple[Point, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def place(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int, bool]]) -> Placed:
    """Lay out nodes of these sizes; an edge is source, target, and whether it closes a loop. Node 0 is the top."""
    return _Layout(sizes, edges).placed()


class _Layout:
    def __init__(self, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int, bool]]) -> None:
        self.sizes = list(sizes)
        self.edges = edges
        pairs = [edge[:2] for edge in edges]
        self.span = [1 if pairs.count(pair) == 1 else 2 for pair in pairs]  # two edges between two nodes: side by side
        self.rank = self._ranks(len(sizes))
        self.chains: list[list[int]] = [self._chain(*edge) for edge in edges]
        self.links = [pair for chain in self.chains for pair in pairwise(chain)]
        self.layers: list[list[int]] = [[] for _ in range(max(self.rank) + 1)]
        for node, rank in enumerate(self.rank):
            self.layers[rank].append(node)

    def _ranks(self, count: int) -> list[int]:
        """The longest way from the top to each node."""
        rank = [0] * count
        for _ in range(count):
            for (source, target, back), span in zip(self.edges, self.span, strict=True):
                if not back:
                    rank[target] = max(rank[target], rank[source] + span)
        return rank

    def _chain(self, source: int, target: int, back: bool) -> list[int]:
        """The nodes that an edge passes, with a bend of no size in each layer between; none for one that goes back."""
        if back:
            return []
        bends = []
        for rank in range(self.rank[source] + 1, self.rank[target]):
            bends.append(len(self.sizes))
            self.sizes.append((BEND, 0.0))
            self.rank.append(rank)
        return [source, *bends, target]

    def placed(self) -> Placed:
        self._order()
        x = self._across()
        y = self._down()
        left = min(x[n] - self.sizes[n][0] / 2 for n in range(len(x)))
        x = [value - left for value in x]
        right = max(x[n] + self.sizes[n][0] / 2 for n in range(len(x)))
        routes, lanes = self._routes(x, y, right)
        count = len(self.rank) - sum(max(0, len(chain) - 2) for chain in self.chains)
        last = self.layers[-1]
        height = max(y[n] + self.sizes[n][1] / 2 for n in last) + GAP_DOWN / 3
        return Placed(tuple(zip(x[:count], y[:count], strict=True)), routes, right + LANE * (lanes + 1), height)

    def _order(self) -> None:
        """Sort each layer by the mean place of its neighbours, down and up in turn."""
        place = [0.0] * len(self.rank)
        for sweep in range(SWEEPS):
            for layer in self.layers:
                for i, node in enumerate(layer):
                    place[node] = float(i)
            upwards = sweep % 2 == 1
            for layer in reversed(self.layers) if upwards else self.layers:
                layer.sort(key=lambda node: self._mean(node, place, upwards))
                for i, node in enumerate(layer):
                    place[node] = float(i)

    def _mean(self, node: int, value: Sequence[float], upwards: bool) -> float:
        """The mean of the neighbours below (going up) or above (going down); its own value where there are none."""
        near = [b if a == node else a for a, b in self.links if (a if upwards else b) == node]
        return sum(value[n] for n in near) / len(near) if near else value[node]

    def _across(self) -> list[float]:
        x = [0.0] * len(self.rank)
        for layer in self.layers:
            self._spread(layer, [0.0] * len(layer), x)
        for sweep in range(SWEEPS):
            upwards = sweep % 2 == 1
            for layer in reversed(self.layers) if upwards else self.layers:
                self._spread(layer, [self._mean(node, x, upwards) for node in layer], x)
        return x

    def _spread(self, layer: Sequence[int], wanted: Sequence[float], x: list[float]) -> None:
        """Put the nodes of a layer as near to where they want to be as their widths allow, in their order.

        Nodes that would overlap are moved together, as a block whose mean distance from the wishes is 0.
        """
        blocks: list[tuple[float, list[int]]] = []  # the place of the first of the block, and its members
        offset = [0.0] * len(layer)
        for i in range(1, len(layer)):
            half = (self.sizes[layer[i - 1]][0] + self.sizes[layer[i]][0]) / 2
            offset[i] = offset[i - 1] + half + GAP_ACROSS
        for i, wish in enumerate(wanted):
            blocks.append((wish - offset[i], [i]))
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (a, first), (b, second) = blocks[-2:]
                together = (a * len(first) + b * len(second)) / (len(first) + len(second))
                blocks[-2:] = [(together, first + second)]
        for base, members in blocks:
            for i in members:
                x[layer[i]] = base + offset[i]

    def _down(self) -> list[float]:
        y = [0.0] * len(self.rank)
        top = 0.0
        for layer in self.layers:
            tall = max(self.sizes[node][1] for node in layer)
            for node in layer:
                y[node] = top + tall / 2
            top += tall + GAP_DOWN
        return y

    def _routes(self, x: Sequence[float], y: Sequence[float], right: float) -> tuple[tuple[Route, ...], int]:
        """The bends of every edge; those that go back up run beside the graph, the longest outermost."""
        backs = [i for i, (_, _, back) in enumerate(self.edges) if back]
        backs.sort(key=lambda i: abs(y[self.edges[i][0]] - y[self.edges[i][1]]))
        lane = {edge: right + LANE * (k + 1) for k, edge in enumerate(backs)}
        routes: list[Route] = []
        for i, (source, target, back) in enumerate(self.edges):
            if back:
                out, into = self._exit(source, x, y, 1), self._exit(target, x, y, -1)
                routes.append((*out, (lane[i], out[-1][1]), (lane[i], into[-1][1]), *reversed(into)))
            else:
                below = (x[source], y[source] + self.sizes[source][1] / 2)
                above = (x[target], y[target] - self.sizes[target][1] / 2)
                routes.append((below, *((x[n], y[n]) for n in self.chains[i][1:-1]), above))
        return tuple(routes), len(backs)

    def _exit(self, node: int, x: Sequence[float], y: Sequence[float], down: int) -> Route:
        """How an edge beside the graph touches a node: from the right where nothing stands there, else from below (or
        above, where `down` is -1).
        """
        if all(x[other] <= x[node] for other in self.layers[self.rank[node]]):
            return ((x[node] + self.sizes[node][0] / 2, y[node]),)
        tall = max(self.sizes[other][1] for other in self.layers[self.rank[node]])
        side, clear = y[node] + down * self.sizes[node][1] / 2, y[node] + down * (tall / 2 + GAP_DOWN / 3)
        return ((x[node], side), (x[node], clear))

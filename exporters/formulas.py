"""Formulas of a counter model: counters that follow from the others, sums over pools, speeds of shared stages; and how
large counters and lines can become.
"""

from collections.abc import Mapping

from serq.exporters.layout import Layout
from serq.exporters.memory import Memory
from serq.exporters.names import NameMap
from serq.exporters.observables import held, stored
from serq.exporters.stores import Store, weighted
from serq.exporters.text import SUM, Piece, Printer
from serq.ir import expr as e
from serq.ir import program as p


class Formulas:
    """`written` are the counters that are formulas and no variables."""

    def __init__(
        self, layout: Layout, stores: Mapping[int, Store], names: NameMap, printer: Printer, population: Piece
    ) -> None:
        self.layout = layout
        self.stores = stores
        self.names = names
        self.printer = printer
        self.population = population
        full = [store.owner.variable for store in stores.values() if store.full and store.owner]
        self.written = frozenset([*full, *([layout.dropped] if layout.dropped else [])])

    def texts(self) -> list[tuple[str, str]]:
        """Names and texts; each uses those before it only."""
        out = [(store.held, held(self.layout, store.pool).text) for store in self.stores.values()]
        for store in self.stores.values():
            if store.taken != store.held:
                out.append((store.taken, weighted(store.weights).text))
            if store.full and store.owner and store.cap:
                rest = f"{store.cap.at(SUM)} - {store.held}"
                out.append((store.owner.variable, rest if store.step == 1 else f"floor(({rest}) / {store.step})"))
        if self.layout.dropped:
            others = [name for name in self.layout.variables() if name != self.layout.dropped]
            out.append((self.layout.dropped, " - ".join([self.population.at(SUM), *others])))
        for store in self.stores.values():
            out.append((store.cached, stored(self.layout, store.pool).text))
        return out + self._speeds()

    def _speeds(self) -> list[tuple[str, str]]:
        out = []
        for station in self.layout.stations:
            if isinstance(station.kind, p.ProcessorSharing) and station.speed:
                present = station.present()

                def state(node: e.StageState | e.PoolState | e.Context, jobs: Piece = present) -> Piece:
                    return jobs if isinstance(node, e.Context) and node.name == "n" else self.printer.state(node)

                out.append((station.speed, Printer(self.printer.names, state).number(station.kind.rate).text))
        return out

    def most(self, memories: list[Memory]) -> Piece:
        """How many sessions there can be at most that hold so much each. Bounds with `floor` are too much for Storm, so
        that who holds several units is counted as if it were one.
        """
        for store in self.stores.values():
            if store.cap is not None and min(memory.held(store.pool) for memory in memories) > 0:
                return store.cap if store.full else Piece(f"min({self.population}, {store.cap})")
        return self.population

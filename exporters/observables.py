"""Observables of stages and pools as texts over the counters, in the middle of an instant too."""

from collections.abc import Callable, Mapping

from serq.exporters.layout import Layout
from serq.exporters.memory import Claim, Memory
from serq.exporters.situation import Situation
from serq.exporters.stores import Store, summed
from serq.exporters.text import PRODUCT, SUM, NoTextError, Piece, Printer, shifted
from serq.ir import expr as e
from serq.ir import program as p


def observing(printer: Printer, layout: Layout, stores: Mapping[int, Store], now: Situation | None) -> Printer:
    """The printer for what can be observed now (None: at rest)."""

    def state(node: e.StageState | e.PoolState | e.Context) -> Piece:
        if isinstance(node, e.PoolState):
            return _of_pool(node, layout, stores, now)
        return _of_stage(node, layout, printer, now)

    return Printer(printer.names, state)


def _of_stage(node: e.StageState | e.Context, layout: Layout, printer: Printer, now: Situation | None) -> Piece:
    if isinstance(node, e.Context):
        raise NoTextError(f"the context variable {node.name}")
    if node.fact not in ("queue", "busy"):
        raise NoTextError(f"{node.fact}({node.stage.name})")
    station = layout.station_of.get(node.stage.base)
    if station is None:
        return Piece("0")
    present = shifted(station.present(), now.more_present(station) if now else 0)
    if not isinstance(station.kind, p.Fifo):
        return Piece("0") if node.fact == "queue" else present
    servers = printer.number(station.kind.servers.expr)
    if node.fact == "queue":
        return Piece(f"max({present.at(SUM)} - {servers.at(PRODUCT)}, 0)")
    return Piece(f"min({present}, {servers})")


def _of_pool(node: e.PoolState, layout: Layout, stores: Mapping[int, Store], now: Situation | None) -> Piece:
    pool = node.pool.base
    store = stores.get(pool)
    if store is None and node.fact in ("used", "holders", "queued"):
        return Piece("0")
    if store is None:
        raise NoTextError(f"{node.fact}({node.pool.name}), a pool that is never held")
    match node.fact:
        case "used":
            return shifted(held(layout, pool), more_held(now, layout, pool))
        case "free" if store.cap is not None:
            used = shifted(held(layout, pool), more_held(now, layout, pool))
            return Piece(f"{store.cap.at(SUM)} - {used.at(PRODUCT)}", SUM)
        case "holders":
            more = total_more(now, layout, lambda memory, _: memory.holders(pool))
            return shifted(summed(layout, lambda memory, _: memory.holders(pool)), more)
        case "queued" if pool in layout.queues:
            line = layout.queues[pool]
            return shifted(line.length(), now.queue(line).more if now else 0)
        case _:
            raise NoTextError(f"{node.fact}({node.pool.name})")


def held(layout: Layout, pool: int) -> Piece:
    """The text of the units that are allocated of a pool."""
    return summed(layout, lambda memory, _: memory.held(pool))


def stored(layout: Layout, pool: int) -> Piece:
    """The text of the units that are cached in a pool."""
    return summed(layout, lambda memory, _: memory.entry(pool))


def more_held(now: Situation | None, layout: Layout, pool: int) -> int:
    """How many more units of a pool are allocated now than before."""
    return total_more(now, layout, lambda memory, _: memory.held(pool))


def total_more(now: Situation | None, layout: Layout, share: Callable[[Memory, bool], int]) -> int:
    """By how much a sum over all sessions has grown; `share`: of a memory, and whether it waits for a pool."""
    if now is None:
        return 0
    more = sum(by * share(layout.memory_of[name], False) for name, by in now.add.items())
    more += sum(share(rest.memory, isinstance(rest, Claim)) for rest in now.joined())
    more -= sum(share(rest.memory, isinstance(rest, Claim)) for rest, _ in now.gone)
    return more + sum(share(passing.memory, False) for passing in now.ready)

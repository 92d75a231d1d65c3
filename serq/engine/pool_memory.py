"""The memory of the pools of a run: arrays for their record, and how they grow."""

from array import array
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from serq.engine.holds import Holds
from serq.engine.pool_state import POOL_SUMS
from serq.engine.results import PoolRow

_SUMS = ("used", "cached", "seen_used", "seen_cached", "seen_at", "sum_used", "sum_cached", "sum_queue", "sum_holders",
         "sum_waited", "sum_evicted", "sum_spilled")  # fmt: skip
_COUNTS = ("holders", "queued", "touched", "seen_queue", "seen_holders", "admissions", "evictions", "preempted",
           "rejections", "spills")  # fmt: skip
_ENDS = ("head", "tail", "oldest", "newest", "eldest", "youngest", "stalled", "stalled_last")
_PER_SLOT = {
    "status": 0, "open": -1, "claim": 0, "before": -1, "ahead": 0, "admitted": 0, "kept": 0, "growing": 0,
}  # fmt: skip
_PER_SLOT_DOUBLE = ("since", "hit", "computed", "wanted")
_PER_ENTRY = ("owner", "dead", "release", "older", "newer")
_PER_ENTRY_DOUBLE = ("size", "time")


def make_pools(pools: Any, holds: Holds, batches: int, reserve: int) -> None:
    """The record at time 0, but for what belongs to slots and entries; one event may need `reserve` of them."""
    n = len(holds.program.pools)
    pools.count, pools.holds, pools.parts = n, len(holds.statements), holds.parts
    pools.ghosts, pools.reserve, pools.free = int(holds.ghosts), reserve, -1
    pools.changed, pools.running, pools.landed = 1, -1, -1
    for name in _SUMS:
        setattr(pools, name, array("d", bytes(8 * n)))
    for name in _COUNTS:
        setattr(pools, name, array("q", bytes(8 * n)))
    for name in _ENDS:
        setattr(pools, name, array("q", [-1]) * n)
    pools.rows = array("d", bytes(8 * batches * n * POOL_SUMS))


def grow_pool_slots(pools: Any, holds: Holds, old: int, capacity: int) -> None:
    """Give the record room for more sessions."""
    for name, value in _PER_SLOT.items():
        _extend(pools, name, old, array("q", [value]) * capacity)
    for name in _PER_SLOT_DOUBLE:
        _extend(pools, name, old, array("d", bytes(8 * capacity)))
    parts, statements, count = max(holds.parts, 1), max(len(holds.statements), 1), pools.count
    for name in ("units", "consumed", "position"):
        _extend(pools, name, old * parts, array("d", bytes(8 * capacity * parts)))
    for name in ("pool", "elder", "younger"):
        _extend(pools, name, old * parts, array("q", bytes(8 * capacity * parts)))
    _extend(pools, "opened", old * statements, array("q", bytes(8 * capacity * statements)))
    _extend(pools, "reached", old * statements, array("d", bytes(8 * capacity * statements)))
    _extend(pools, "own", old * count, array("q", [-1]) * (capacity * count))


def grow_entries(pools: Any, capacity: int) -> None:
    """Give the record room for more cached prefixes."""
    old = len(pools.size) if pools.size is not None else 0
    for name in _PER_ENTRY:
        _extend(pools, name, old, array("q", range(1, capacity + 1) if name == "newer" else bytes(8 * capacity)))
    for name in _PER_ENTRY_DOUBLE:
        _extend(pools, name, old, array("d", bytes(8 * capacity)))
    pools.newer[capacity - 1] = pools.free
    pools.free = old
    pools.vacant += capacity - old


def pool_rows(pools: Any) -> Iterator[PoolRow]:
    """The sums of the pools, batch by batch."""
    whole = [f.type is int for f in fields(PoolRow)]
    values = iter(pools.rows)
    for _ in range(len(pools.rows) // POOL_SUMS):
        yield PoolRow(*(int(next(values)) if counts else next(values) for counts in whole))


def _extend(pools: Any, name: str, old: int, fresh: Any) -> None:
    if old:
        fresh[:old] = array(fresh.typecode, getattr(pools, name)[:old])
    setattr(pools, name, fresh)

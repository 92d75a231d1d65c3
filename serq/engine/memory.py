"""The memory of a run: arrays for the record of its state, and how they grow."""

from array import array
from typing import Any

from serq.codegen.blocks import BLOCK, WORDS
from serq.codegen.seeds import Purpose, stream, stream_key
from serq.engine.heap import FEW, IN_TURN, PAD, SHORT
from serq.engine.lower import Lowered
from serq.engine.observing import BUCKETS, GROUPS
from serq.engine.settings import Settings
from serq.engine.state import INF, NEVER, NOBODY, SESSION_SUMS, STAGE_SUMS
from serq.ir import program as p

_PURPOSES: tuple[Purpose, ...] = ("session", "workload")
_FAULT_VALUES = 512
"""As many as a law has parameters that the engine takes."""
_PER_SLOT_WHOLE = ("serial", "pc", "turn", "follow", "place", "flags")
_PER_SLOT_DOUBLE = ("joined", "begun", "work", "ahead")
_LOG_WHOLE = ("log_name", "log_serial", "log_turn")
_LOG_DOUBLE = ("log_value", "log_time")
_STAGE_SUMS = ("last", "sum_number", "sum_busy", "sum_nonempty", "sum_wait", "sum_sojourn", "sum_service", "virtual",
               "shared_last", "speed")  # fmt: skip
_STAGE_COUNTS = ("number", "completed", "iterations", "started", "moved")


def doubles(n: int, value: float = 0.0) -> "array[float]":
    """An array of n doubles, or of one: no array is empty, so that it has an address."""
    return array("d", [value]) * max(n, 1)


def wholes(n: int, value: int = 0) -> "array[int]":
    """An array of n integers, or of one."""
    return array("q", [value]) * max(n, 1)


def fields_of(program: p.Program, lowered: Lowered, settings: Settings, replication: int) -> dict[str, Any]:
    """The fields of the record at time 0, but for the arrays per slot and the log."""
    ends, batches = settings.ends(), settings.batches
    observes, stages = len(program.observes), len(program.stages)
    gauges = len(program.gauges)
    width = STAGE_SUMS * stages + gauges + SESSION_SUMS + 2 * observes
    fields: dict[str, Any] = {
        "horizon": settings.horizon, "commands": settings.commands, "left": settings.commands + settings.first_commands,
        "most_ends": settings.replacements, "changed": settings.changed, "ready_head": -1, "ready_tail": -1, "free": -1,
        "ends": array("d", ends), "last_end": batches, "next_end": ends[0],
        "stages": stages, "gauges": gauges, "observes": observes,
        "rows": doubles(batches * width), "fault_values": doubles(_FAULT_VALUES),
        "gauge_value": doubles(gauges), "gauge_last": doubles(gauges), "gauge_area": doubles(gauges),
        "gauge_slope": doubles(gauges),
        "batch_sum": doubles(observes), "batch_count": wholes(observes), "seen": wholes(observes),
        "undefined": wholes(observes), "mean": doubles(observes), "square": doubles(observes),
        "least": doubles(observes, INF), "most": doubles(observes, -INF),
        "buckets": wholes(0 if settings.keep_samples else observes * BUCKETS),
        "profiled": int(settings.profile and not settings.keep_samples),
        "profile": wholes(batches * observes * GROUPS if settings.profile and not settings.keep_samples else 0),
    }  # fmt: skip
    if isinstance(program.arrivals, p.Closed):
        fields["most_ends"] += p.whole(program.arrivals.population)
    fields |= _arrival_fields(program.arrivals)
    return fields | _stage_fields(program, lowered) | _seed_fields(settings, replication)


def _arrival_fields(arrivals: p.Arrivals) -> dict[str, Any]:
    match arrivals:
        case p.Closed(population=size) | p.Batch(size=size):
            return {"first_sessions": p.whole(size)}
        case p.Poisson(rate=rate, limit=limit):
            return {"rate": rate.value, "most_live": 0 if limit is None else p.whole(limit)}
        case p.Renewal(limit=p.Folded() as limit):
            return {"most_live": p.whole(limit)}
        case _:
            return {}


def _stage_fields(program: p.Program, lowered: Lowered) -> dict[str, Any]:
    n, sources = len(program.stages), lowered.sources
    servers = [p.whole(s.kind.servers) if isinstance(s.kind, p.Fifo) else 0 for s in program.stages]
    fields: dict[str, Any] = {name: doubles(n) for name in _STAGE_SUMS}
    fields |= {name: wholes(n) for name in _STAGE_COUNTS}
    fields |= {name: wholes(n, -1) for name in ("serving", "queue_head", "queue_tail")}
    fields |= {"servers": array("q", servers or [0])}
    regions = len(lowered.shared) + 1
    fields |= {name: wholes(regions) for name in ("heap_size", "hole")}
    fields |= {"first_time": doubles(regions, INF), "first_order": wholes(regions, NEVER)}
    fields |= {"first_slot": wholes(regions, NOBODY), "sequence": array("Q", [IN_TURN & SHORT]) * regions}
    fields |= {"half_bytes": array("Q", [SHORT]) * regions}
    fields |= {"heap_room": wholes(regions, FEW), "top": wholes(regions, 4 * FEW - 4)}
    return fields | {"clock_time": doubles(len(sources), INF), "clock_order": wholes(len(sources), NEVER)}


def _seed_fields(settings: Settings, replication: int) -> dict[str, Any]:
    keys = [word for purpose in _PURPOSES for word in stream_key(settings.seed, replication, purpose)]
    blocks = {name: array("Q", bytes(8 * WORDS)) for name in ("coming", "coming_work", "alone")}
    drawn = {name: doubles(BLOCK) for name in ("drawn", "room")}
    arrival = array("Q", stream(settings.seed, replication, "arrivals"))
    return {"arrival": arrival, "keys": array("Q", keys), **blocks, **drawn}


def grow_slots(sim: Any, capacity: int, attributes: int, words: int, regions: int) -> None:
    """Give the record room for more sessions, the old ones kept in their slots; each has so many attributes and so many
    words of streams.
    """
    old = sim.cap
    for name in _PER_SLOT_WHOLE:
        _extend(sim, name, old, wholes(capacity, -1 if name == "serial" else 0))
    for name in _PER_SLOT_DOUBLE:
        _extend(sim, name, old, doubles(capacity))
    _extend(sim, "attrs", old * attributes, doubles(capacity * attributes))
    _extend(sim, "words", old * words, array("Q", bytes(8 * max(words * capacity, 1))))
    for name in ("heap_time", "heap_order", "heap_slot"):
        length = (capacity + PAD) * regions
        heap: Any = doubles(length, INF) if name == "heap_time" else wholes(length)
        for region in range(regions if old else 0):
            kept = getattr(sim, name)[region * (old + PAD) : region * (old + PAD) + old]
            start = region * (capacity + PAD)
            heap[start : start + old] = array(heap.typecode, kept)
        setattr(sim, name, heap)
    for slot in range(old, capacity):
        sim.follow[slot] = slot + 1
    sim.follow[capacity - 1] = sim.free
    sim.free = old
    sim.cap = capacity


def _extend(sim: Any, name: str, old: int, fresh: Any) -> None:
    if old:
        fresh[:old] = array(fresh.typecode, getattr(sim, name)[:old])
    setattr(sim, name, fresh)


def make_log(sim: Any, capacity: int, reserve: int) -> None:
    """Give the record a log of observations with room for the reserve at every event."""
    for name in _LOG_WHOLE:
        setattr(sim, name, wholes(capacity))
    for name in _LOG_DOUBLE:
        setattr(sim, name, doubles(capacity))
    sim.log_cap, sim.log_reserve = capacity, reserve


def fill_online(online: Any, stages: int) -> None:
    """Nothing is known of the stages yet."""
    for name in ("last", "gap", "wait", "service"):
        setattr(online, name, doubles(stages))
    for name in ("arrivals", "departures"):
        setattr(online, name, wholes(stages))


def grow_online(online: Any, capacity: int) -> None:
    """Room for the jobs of as many sessions."""
    online.order, online.work = wholes(capacity), doubles(capacity)

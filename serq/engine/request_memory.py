"""The memory of the requests of a replay, and the rows that come out of it."""

from array import array
from collections.abc import Sequence
from typing import Any

from serq.engine.holds import Holds
from serq.engine.journal import HEADER
from serq.engine.pool_state import QUEUED
from serq.engine.requests import COLUMNS
from serq.engine.step_text import step_stages

_ROOM = 1 << 14
_JOURNAL = 1 << 18
_EVENTS = 1 << 12
"""Numbers that one event may write of admissions, preemptions and evictions."""
_WHOLE = ("turn", "preemptions")
_DOUBLE = ("sent", "reached", "first", "done", "prompt", "cached", "out")


def make_requests(requests: Any, holds: Holds, reserve: int) -> None:
    """Give the record room for rows; `reserve` of them may be written in one event."""
    places, pools = step_stages(holds.program), range(len(holds.program.pools))
    stages = [places.index(holds.stage_of[pool]) if pool in holds.stage_of else -1 for pool in pools]
    requests.stage_of = array("q", stages or [-1])
    requests.room, requests.reserve = _ROOM + reserve, reserve
    requests.rows = array("d", bytes(8 * COLUMNS * requests.room))


def grow_requests(requests: Any, old: int, capacity: int) -> None:
    """Room for the requests of more sessions."""
    for name in (*_WHOLE, *_DOUBLE):
        fresh: Any = array("q" if name in _WHOLE else "d", bytes(8 * capacity))
        fresh[:old] = array(fresh.typecode, getattr(requests, name)[:old]) if old else fresh[:0]
        setattr(requests, name, fresh)


def make_journal(requests: Any, holds: Holds, capacity: int, factor: int) -> None:
    """Room for what the iterations of so many sessions do; the journal must be empty."""
    requests.spare = len(step_stages(holds.program)) * (HEADER + 3 * capacity + 3) + _EVENTS * factor
    requests.space = max(_JOURNAL, 2 * requests.spare)
    requests.journal = array("d", bytes(8 * requests.space))


def take_journal(requests: Any) -> "array[float]":
    """What is written in the journal, which is taken out."""
    numbers = array("d", requests.journal[: requests.written])
    requests.written = 0
    return numbers


def take_rows(requests: Any) -> "array[float]":
    """The rows that are there, which are taken out."""
    rows = requests.rows[: requests.size * COLUMNS]
    requests.size = 0
    return array("d", rows)


def open_rows(sim: Any, holds: Holds) -> "array[float]":
    """The rows of requests that are under way at the end: who holds or wants memory is not done."""
    rows, r = array("d"), sim.requests
    open_slots = [slot for slot in range(sim.cap) if sim.serial[slot] >= 0 and r.turn[slot] > 0]
    for slot in sorted(open_slots, key=lambda slot: sim.serial[slot]):
        which = sim.trace.which[slot]
        done = float("nan") if holds.statements and _wants_memory(sim, holds, slot) else r.done[slot]
        place = which if which >= 0 else sim.serial[slot]
        times = (r.sent[slot], r.reached[slot], r.first[slot], done)
        rows.extend((place, r.turn[slot], *times, r.prompt[slot], r.cached[slot], r.out[slot], r.preemptions[slot]))
    return rows


def _wants_memory(sim: Any, holds: Holds, slot: int) -> bool:
    numbers = [sim.pools.claim[slot]] if sim.pools.status[slot] == QUEUED else []
    number = sim.pools.open[slot]
    while number >= 0:
        numbers.append(number)
        number = holds.statements[number].outer
    return any(not holds.engine_pools.isdisjoint(_members(holds, n)) for n in numbers)


def _members(holds: Holds, number: int) -> Sequence[int]:
    return [m for part in holds.statements[number].hold.parts for m in holds.group(part.pool).members]

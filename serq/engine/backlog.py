"""The unfinished work at stages in restricted Python: what `work(s)` reads.

It is added up in the order of the reference: who waits in the order of joining, then who is served in the order of
starting.
"""

from serq.codegen.lang import F64Array, I64Array, f64, i64
from serq.engine.heap import entry_at, start_of
from serq.engine.state import Sim

GAPS = (701, 301, 132, 57, 23, 10, 4, 1)
"""M. Ciura, Best increments for the average case of Shellsort, FCT 2001."""


def work_single(s: Sim, stage: i64, source: i64) -> f64:
    """At a stage with one server."""
    number = s.number[stage]
    if number == 0:
        return 0.0
    return waiting_work(s, stage, number - 1) + (s.clock_time[source] - s.now)


def work_many(s: Sim, stage: i64, servers: i64) -> f64:
    """At a stage with several servers."""
    waiting = waiting_work(s, stage, max(s.number[stage] - servers, 0))
    return waiting + pending_work(s, stage)


def waiting_work(s: Sim, stage: i64, number: i64) -> f64:
    """Of those that wait, who are so many."""
    total = 0.0
    slot = s.queue_head[stage]
    for _ in range(number):
        total += s.work[slot]
        slot = s.follow[slot]
    return total


def pending_work(s: Sim, stage: i64) -> f64:
    """Of those whose clocks lie in the heap; the first of it may have fired already."""
    n = 0
    for i in range(s.hole[0], s.heap_size[0]):
        at = entry_at(s, 0, i)
        if s.place[s.heap_slot[at]] == stage:
            s.online.order[n] = s.heap_order[at]
            s.online.work[n] = s.heap_time[at] - s.now
            n += 1
    return added_up(s.online.order, s.online.work, n)


def work_shared(s: Sim, stage: i64, region: i64) -> f64:
    """At a stage whose rate is shared."""
    first = s.hole[region]
    base = start_of(s, region)
    number = s.heap_size[region] - first
    virtual = s.virtual[stage] + (s.now - s.shared_last[stage]) * s.speed[stage]
    for i in range(number):
        at = base + entry_at(s, region, first + i)
        s.online.order[i] = s.heap_order[at]
        s.online.work[i] = max(s.heap_time[at] - virtual, 0.0)
    return added_up(s.online.order, s.online.work, number)


def added_up(order: I64Array, work: F64Array, n: i64) -> f64:
    """The sum of the first n in the order of their numbers; they are sorted on the way."""
    for g in range(8):
        gap = GAPS[g]
        for i in range(gap, n):
            number = order[i]
            amount = work[i]
            j = i
            while j >= gap and order[j - gap] > number:
                order[j] = order[j - gap]
                work[j] = work[j - gap]
                j -= gap
            order[j] = number
            work[j] = amount
    total = 0.0
    for i in range(n):
        total += work[i]
    return total

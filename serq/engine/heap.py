"""A heap with four children to a node, in restricted Python: by time, then by order.

The entry that fires next may be taken away at once (`hole`): most often the same event puts another in its place, and
one way down the heap does for both.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.state import Sim


def push(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a region."""
    base = region * s.cap
    i = s.heap_size[region]
    s.heap_size[region] = i + 1
    while i > 0:
        up = (i - 1) >> 2
        above = s.heap_time[base + up]
        if above < time or (above == time and s.heap_order[base + up] < order):
            break
        s.heap_time[base + i] = above
        s.heap_order[base + i] = s.heap_order[base + up]
        s.heap_slot[base + i] = s.heap_slot[base + up]
        i = up
    s.heap_time[base + i] = time
    s.heap_order[base + i] = order
    s.heap_slot[base + i] = slot


def sink(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry in the place of the first one."""
    base = region * s.cap
    size = s.heap_size[region]
    i = 0
    child = 1
    while child < size:
        best = child
        least = s.heap_time[base + child]
        end = min(child + 4, size)
        for j in range(child + 1, end):
            other = s.heap_time[base + j]
            if other < least or (other == least and s.heap_order[base + j] < s.heap_order[base + best]):
                best = j
                least = other
        if time < least or (time == least and order < s.heap_order[base + best]):
            break
        s.heap_time[base + i] = least
        s.heap_order[base + i] = s.heap_order[base + best]
        s.heap_slot[base + i] = s.heap_slot[base + best]
        i = best
        child = 4 * i + 1
    s.heap_time[base + i] = time
    s.heap_order[base + i] = order
    s.heap_slot[base + i] = slot


def drop_first(s: Sim, region: i64) -> None:
    """Take the first entry away."""
    size = s.heap_size[region] - 1
    s.heap_size[region] = size
    if size > 0:
        at = region * s.cap + size
        sink(s, region, s.heap_time[at], s.heap_order[at], s.heap_slot[at])


def set_pending(s: Sim, time: f64, slot: i64) -> None:
    """Set the clock of a slot in the heap, in the hole if there is one."""
    order = s.order
    s.order = order + 1
    if s.hole == 1:
        s.hole = 0
        sink(s, 0, time, order, slot)
    else:
        push(s, 0, time, order, slot)


@cold
def close_hole(s: Sim) -> None:
    """Nothing took the place of the entry that fired."""
    s.hole = 0
    drop_first(s, 0)

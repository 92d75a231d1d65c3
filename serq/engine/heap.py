"""A heap with four children to a node, in restricted Python: by time, then by order.

The entry that is taken leaves a hole: most often the same event or the next one puts another in its place, and one way
down the heap does for both. Times lie apart from the rest, so that four children are compared within a cache line;
behind the last entry they are infinite, so that there are always four.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.state import INF, Sim

PAD = 4
"""So many places of a region stay free."""


def start_of(s: Sim, region: i64) -> i64:
    """Where a region begins."""
    return region * (s.cap + PAD)


def put(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a region, into the hole if there is one."""
    if s.hole[region] == 1:
        s.hole[region] = 0
        sink(s, region, time, order, slot)
    else:
        push(s, region, time, order, slot)


def take(s: Sim, region: i64) -> i64:
    """Take the first entry away: its slot. There must be one."""
    if s.hole[region] == 1:
        close_hole(s, region)
    s.hole[region] = 1
    return s.heap_slot[start_of(s, region)]


def first_of(s: Sim, region: i64) -> i64:
    """Where the first entry of a region lies; -1 where there is none."""
    base = start_of(s, region)
    size = s.heap_size[region]
    if s.hole[region] == 0:
        return base if size > 0 else -1
    return least_of(s, base, 1) if size > 1 else -1


def push(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a region."""
    base = start_of(s, region)
    i = s.heap_size[region]
    s.heap_size[region] = i + 1
    while i > 0:
        up = (i - 1) >> 2
        above = s.heap_time[base + up]
        if above <= time and (above < time or s.heap_order[base + up] < order):
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
    base = start_of(s, region)
    size = s.heap_size[region]
    i = 0
    child = 1
    while child < size:
        best = least_of(s, base, child)
        least = s.heap_time[best]
        if time <= least and (time < least or order < s.heap_order[best]):
            break
        s.heap_time[base + i] = least
        s.heap_order[base + i] = s.heap_order[best]
        s.heap_slot[base + i] = s.heap_slot[best]
        i = best - base
        child = 4 * i + 1
    s.heap_time[base + i] = time
    s.heap_order[base + i] = order
    s.heap_slot[base + i] = slot


def least_of(s: Sim, base: i64, child: i64) -> i64:
    """Where the earliest of the four entries from `child` on lies, found without a jump that depends on their times
    unless the earliest are of one time.
    """
    at = base + child
    a = s.heap_time[at]
    b = s.heap_time[at + 1]
    c = s.heap_time[at + 2]
    d = s.heap_time[at + 3]
    left = min(a, b)
    right = min(c, d)
    equal = (int(a == b) & int(left < right)) | (int(c == d) & int(right < left)) | int(left == right)
    if equal != 0:
        return first_set(s, at)
    of_left = at + int(b < a)
    of_right = at + 2 + int(d < c)
    return of_right if right < left else of_left


@cold
def first_set(s: Sim, at: i64) -> i64:
    """Of the earliest of the four entries from a place on the one that was set first."""
    best = at
    for j in range(at + 1, at + 4):
        least = s.heap_time[best]
        if s.heap_time[j] < least or (s.heap_time[j] == least and s.heap_order[j] < s.heap_order[best]):
            best = j
    return best


def close_hole(s: Sim, region: i64) -> None:
    """Nothing took the place of the entry that was taken: the last one does."""
    s.hole[region] = 0
    size = s.heap_size[region] - 1
    s.heap_size[region] = size
    at = start_of(s, region) + size
    time = s.heap_time[at]
    s.heap_time[at] = INF
    if size > 0:
        sink(s, region, time, s.heap_order[at], s.heap_slot[at])


@cold
def remove(s: Sim, region: i64, slot: i64) -> None:
    """Take the entry of a slot away, wherever in the region it is."""
    if s.hole[region] == 1:
        close_hole(s, region)
    base = start_of(s, region)
    i = 0
    while s.heap_slot[base + i] != slot:
        i += 1
    last = s.heap_size[region] - 1
    s.heap_size[region] = last
    time = s.heap_time[base + last]
    s.heap_time[base + last] = INF
    if i == last:
        return
    while i > 0:  # all above it come before what has gone: the way from the root is free
        up = (i - 1) >> 2
        s.heap_time[base + i] = s.heap_time[base + up]
        s.heap_order[base + i] = s.heap_order[base + up]
        s.heap_slot[base + i] = s.heap_slot[base + up]
        i = up
    sink(s, region, time, s.heap_order[base + last], s.heap_slot[base + last])

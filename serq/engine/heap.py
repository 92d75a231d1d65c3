"""Pending jobs in restricted Python, by time, then by order: a few in a list, many in a heap.

The first entry of a region is known at any time: `first_time`, `first_order`, `first_slot`, and `first_at`, its place
in the region. A list of at most sixteen entries is looked through when its first entry is taken: times are compared
without a jump that depends on them, which takes less than the jumps of a heap that the processor guesses wrong. What is
put in is compared with the first. More are a heap with four children to a node, in which the entry that is taken leaves
a hole: most often the same event or the next one puts another in its place, and one way down the heap does for both.
Times lie apart from the rest; behind the last entry they are infinite, so that there are always eight or four.
"""

from serq.codegen.lang import cold, f64, i64, inline
from serq.engine.state import INF, NEVER, NOBODY, Sim

FEW = 16
"""So many entries are a list at most."""
AGAIN = 8
"""A heap of so many becomes a list again."""
PAD = 16
"""So many places of a region stay free."""


def start_of(s: Sim, region: i64) -> i64:
    """Where a region begins."""
    return region * (s.cap + PAD)


# -- a few -----------------------------------------------------------------------------------------------------------


def put(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a region; those that are there were set before it."""
    size = s.heap_size[region]
    if s.deep[region] != 0 or size == FEW:
        put_deep(s, region, time, order, slot)
        return
    at = start_of(s, region) + size
    s.heap_size[region] = size + 1
    s.heap_time[at] = time
    s.heap_order[at] = order
    s.heap_slot[at] = slot
    first = s.first_time[region]
    first_order = s.first_order[region]
    first_slot = s.first_slot[region]
    first_at = s.first_at[region]
    sooner = (int(time < first) | int(size == 0)) != 0
    s.first_time[region] = min(first, time)
    s.first_order[region] = order if sooner else first_order
    s.first_slot[region] = slot if sooner else first_slot
    s.first_at[region] = size if sooner else first_at


def take(s: Sim, region: i64) -> i64:
    """Take the first entry away: its slot. There must be one."""
    slot = s.first_slot[region]
    if s.deep[region] != 0:
        take_deep(s, region)
    else:
        take_out(s, region, s.first_at[region])
    return slot


@inline
def take_out(s: Sim, region: i64, place: i64) -> None:
    """Take an entry out of a list; the last one takes its place."""
    base = start_of(s, region)
    size = s.heap_size[region] - 1
    s.heap_size[region] = size
    at = base + place
    last = base + size
    s.heap_time[at] = s.heap_time[last]
    s.heap_order[at] = s.heap_order[last]
    s.heap_slot[at] = s.heap_slot[last]
    s.heap_time[last] = INF
    if size > 8:
        look_among_more(s, region, base)
    else:
        look(s, region, base, 0)


@cold
def leave_list(s: Sim, region: i64, place: i64) -> None:
    """As `take_out`, where it is rare."""
    take_out(s, region, place)


def look(s: Sim, region: i64, base: i64, place: i64) -> None:
    """Find the first of the eight entries from a place on. Of each pair, of each four and of all the least and the
    second are known; where they are the same, the order decides.
    """
    at = base + place
    a = s.heap_time[at]
    b = s.heap_time[at + 1]
    c = s.heap_time[at + 2]
    d = s.heap_time[at + 3]
    e = s.heap_time[at + 4]
    f = s.heap_time[at + 5]
    g = s.heap_time[at + 6]
    h = s.heap_time[at + 7]
    ab = min(a, b)
    cd = min(c, d)
    ef = min(e, f)
    gh = min(g, h)
    abcd = min(ab, cd)
    efgh = min(ef, gh)
    least = min(abcd, efgh)
    second_left = min(max(ab, cd), min(max(a, b), max(c, d)))
    second_right = min(max(ef, gh), min(max(e, f), max(g, h)))
    second = min(max(abcd, efgh), min(second_left, second_right))
    if second == least:
        look_closely(s, region)
        return
    left = 2 + int(d < c) if cd < ab else int(b < a)
    right = 6 + int(h < g) if gh < ef else 4 + int(f < e)
    note_first(s, region, base, place + (right if efgh < abcd else left), least)


def note_first(s: Sim, region: i64, base: i64, place: i64, time: f64) -> None:
    """The first entry is this one."""
    s.first_time[region] = time
    s.first_order[region] = s.heap_order[base + place]
    s.first_slot[region] = s.heap_slot[base + place]
    s.first_at[region] = place


@cold
def look_among_more(s: Sim, region: i64, base: i64) -> None:
    """Find the first of at most sixteen entries: among the first eight, or among the others."""
    low = least_of_eight(s, base)
    high = least_of_eight(s, base + 8)
    if low == high:
        look_closely(s, region)
    else:
        look(s, region, base, 8 if high < low else 0)


def least_of_eight(s: Sim, at: i64) -> f64:
    """The least time of the eight entries from a place on."""
    left = min(min(s.heap_time[at], s.heap_time[at + 1]), min(s.heap_time[at + 2], s.heap_time[at + 3]))
    right = min(min(s.heap_time[at + 4], s.heap_time[at + 5]), min(s.heap_time[at + 6], s.heap_time[at + 7]))
    return min(left, right)


@cold
def look_closely(s: Sim, region: i64) -> None:
    """Find the first entry of a list one by one."""
    base = start_of(s, region)
    size = s.heap_size[region]
    if size == 0:
        s.first_time[region] = INF
        s.first_order[region] = NEVER
        s.first_slot[region] = NOBODY
        return
    best = base
    for j in range(base + 1, base + size):
        least = s.heap_time[best]
        if s.heap_time[j] < least or (s.heap_time[j] == least and s.heap_order[j] < s.heap_order[best]):
            best = j
    note_first(s, region, base, best - base, s.heap_time[best])


# -- many ------------------------------------------------------------------------------------------------------------


@cold
def put_deep(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a heap, into the hole if there is one; a list becomes a heap before."""
    if s.deep[region] == 0:
        deepen(s, region)
    if s.hole[region] == 1:
        s.hole[region] = 0
        sink(s, region, 0, time, order, slot)
    else:
        push(s, region, time, order, slot)
    base = start_of(s, region)
    note_first(s, region, base, 0, s.heap_time[base])


@cold
def deepen(s: Sim, region: i64) -> None:
    """Make a heap of a list."""
    s.deep[region] = 1
    base = start_of(s, region)
    for k in range(FEW // 4):
        i = FEW // 4 - 1 - k
        sink(s, region, i, s.heap_time[base + i], s.heap_order[base + i], s.heap_slot[base + i])


@cold
def take_deep(s: Sim, region: i64) -> None:
    """Take the first entry of a heap away."""
    if s.hole[region] == 1:
        close_hole(s, region)
    base = start_of(s, region)
    if s.heap_size[region] > AGAIN:
        s.hole[region] = 1
        best = least_of(s, base, 1)
        note_first(s, region, base, best - base, s.heap_time[best])
    else:
        s.deep[region] = 0
        leave_list(s, region, 0)


def push(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a heap."""
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


def sink(s: Sim, region: i64, place: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a heap at a place or below it."""
    base = start_of(s, region)
    size = s.heap_size[region]
    i = place
    child = 4 * i + 1
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
        sink(s, region, 0, time, s.heap_order[at], s.heap_slot[at])


@cold
def remove(s: Sim, region: i64, slot: i64) -> None:
    """Take the entry of a slot away, wherever in the region it is."""
    if s.hole[region] == 1:
        close_hole(s, region)
    base = start_of(s, region)
    i = 0
    while s.heap_slot[base + i] != slot:
        i += 1
    if s.deep[region] == 0:
        leave_list(s, region, i)
        return
    last = s.heap_size[region] - 1
    s.heap_size[region] = last
    time = s.heap_time[base + last]
    s.heap_time[base + last] = INF
    if i != last:
        while i > 0:  # all above it come before what has gone: the way from the root is free
            up = (i - 1) >> 2
            s.heap_time[base + i] = s.heap_time[base + up]
            s.heap_order[base + i] = s.heap_order[base + up]
            s.heap_slot[base + i] = s.heap_slot[base + up]
            i = up
        sink(s, region, 0, time, s.heap_order[base + last], s.heap_slot[base + last])
    note_first(s, region, base, 0, s.heap_time[base])

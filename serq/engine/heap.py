"""Pending jobs in restricted Python, by time, then by order: a few in a list, many in a heap.

The time of the first entry of a region is known at any time. A list of at most eight or sixteen entries keeps its order
in one word, `sequence`, whose k-th half byte is the place of the k-th entry; behind those of the entries are the free
places, whose times are infinite. Where a new entry belongs is counted by comparing all times with its own, without a
jump that depends on them; who was there before comes first where times are the same. It takes the last of the places,
and what was behind it moves up by one; the place of an entry that goes becomes the last one. More are a heap with four
children to a node, in which the entry that is taken leaves a hole: most often the same event or the next one puts
another in its place, and one way down the heap does for both. Times lie apart from the rest; behind the last entry they
are infinite, so that there are always eight or four.
"""

from serq.codegen.lang import cold, f64, i64, u64
from serq.engine.state import INF, NEVER, NOBODY, Sim

FEW = 8
"""So many entries are a narrow list at most; those of a wide one are twice as many."""
AGAIN = 8
"""A heap of so many becomes a list again."""
NARROW = 6
"""A wide list of fewer entries becomes a narrow one."""
PAD = 16
"""So many places of a region stay free."""
IN_TURN = 0xFEDCBA9876543210
"""A sequence of places in the order in which they lie."""
MASK = 0xFFFFFFFFFFFFFFFF
SHORT = 0xFFFFFFFF
"""The half bytes of a narrow list."""


def start_of(s: Sim, region: i64) -> i64:
    """Where a region begins."""
    return region * (s.cap + PAD)


# -- a few -----------------------------------------------------------------------------------------------------------


def put(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> f64:
    """Put an entry into a region; those that are there were set before it. The time of what is first then."""
    if s.heap_size[region] < s.heap_room[region]:
        return put_listed(s, region, time, order, slot)
    put_more(s, region, time, order, slot)
    return s.first_time[region]


def put_listed(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> f64:
    """Put an entry into a list that has room."""
    size = s.heap_size[region]
    base = start_of(s, region)
    before = among_eight(s, base, time)
    if s.heap_room[region] > FEW:
        before += among_eight(s, base + FEW, time)
    before = min(before, size)  # free places are as late as any
    at = base + enrol(s, region, before)
    s.heap_size[region] = size + 1
    s.heap_time[at] = time
    s.heap_order[at] = order
    s.heap_slot[at] = slot
    first = min(s.first_time[region], time)
    s.first_time[region] = first
    if region == 0:
        first_order = s.first_order[region]
        first_slot = s.first_slot[region]
        s.first_order[region] = order if before == 0 else first_order
        s.first_slot[region] = slot if before == 0 else first_slot
    return first


def among_eight(s: Sim, at: i64, time: f64) -> i64:
    """How many of the eight entries from a place on come before a new one of this time."""
    left = int(s.heap_time[at] <= time) + int(s.heap_time[at + 1] <= time)
    left += int(s.heap_time[at + 2] <= time) + int(s.heap_time[at + 3] <= time)
    right = int(s.heap_time[at + 4] <= time) + int(s.heap_time[at + 5] <= time)
    right += int(s.heap_time[at + 6] <= time) + int(s.heap_time[at + 7] <= time)
    return left + right


def enrol(s: Sim, region: i64, before: i64) -> i64:
    """The last place becomes that of an entry behind so many others."""
    sequence = s.sequence[region]
    place = sequence >> s.top[region]
    lower = ((1 << (4 * before)) - 1) & MASK
    moved = ((sequence & (MASK ^ lower)) << 4) & s.half_bytes[region]
    s.sequence[region] = (sequence & lower) | ((place << (4 * before)) & MASK) | moved
    return int(place)


def foremost(s: Sim, region: i64) -> i64:
    """The slot of the first entry. There must be one."""
    if region == 0 or s.heap_room[region] == 0:
        return s.first_slot[region]
    return s.heap_slot[start_of(s, region) + int(s.sequence[region] & 15)]


def take(s: Sim, region: i64) -> f64:
    """Take the first entry away. There must be one. The time of what is first then."""
    room = s.heap_room[region]
    if room == 0:
        take_deep(s, region)
        return s.first_time[region]
    size = s.heap_size[region] - 1
    s.heap_size[region] = size
    sequence = s.sequence[region]
    place = sequence & 15
    s.sequence[region] = (sequence >> 4) | ((place << s.top[region]) & MASK)
    s.heap_time[start_of(s, region) + int(place)] = INF
    if room > FEW and size < NARROW:
        make_narrow(s, region)
    return note_listed(s, region)


@cold
def strike_out(s: Sim, region: i64, number: i64) -> None:
    """Take an entry out of a list."""
    size = s.heap_size[region] - 1
    s.heap_size[region] = size
    sequence = s.sequence[region]
    place = (sequence >> (4 * number)) & 15
    lower = ((1 << (4 * number)) - 1) & MASK
    moved = (sequence >> 4) & (MASK ^ lower)
    s.sequence[region] = (sequence & lower) | moved | ((place << s.top[region]) & MASK)
    s.heap_time[start_of(s, region) + int(place)] = INF
    note_listed(s, region)


@cold
def make_narrow(s: Sim, region: i64) -> None:
    """The few entries of a wide list move into the first eight places."""
    base = start_of(s, region)
    size = s.heap_size[region]
    old = s.sequence[region]
    taken = 0
    for k in range(size):
        taken |= 1 << int((old >> (4 * k)) & 15)
    sequence: u64 = 0
    free = 0
    for k in range(FEW):
        place = int((old >> (4 * k)) & 15)
        if k >= size or place >= FEW:
            while (taken >> free) & 1 != 0:
                free += 1
            if k < size:
                move(s, base + place, base + free)
            place = free
            free += 1
        sequence |= ((place & 15) << (4 * k)) & MASK
    narrow(s, region, sequence)


def narrow(s: Sim, region: i64, sequence: u64) -> None:
    """A region is a list of at most eight entries."""
    s.sequence[region] = sequence & SHORT
    s.half_bytes[region] = SHORT
    s.heap_room[region] = FEW
    s.top[region] = 4 * FEW - 4


def move(s: Sim, start: i64, end: i64) -> None:
    """An entry moves to a free place."""
    s.heap_time[end] = s.heap_time[start]
    s.heap_order[end] = s.heap_order[start]
    s.heap_slot[end] = s.heap_slot[start]
    s.heap_time[start] = INF


def note_listed(s: Sim, region: i64) -> f64:
    """The first entry of a list: its time. Its order counts where other clocks may have the same one."""
    at = start_of(s, region) + int(s.sequence[region] & 15)
    time = s.heap_time[at]
    s.first_time[region] = time
    if region == 0:
        some = s.heap_size[region] > 0
        s.first_order[region] = s.heap_order[at] if some else NEVER
        s.first_slot[region] = s.heap_slot[at] if some else NOBODY
    return time


def entry_at(s: Sim, region: i64, number: i64) -> i64:
    """Where in a region one of its entries lies."""
    return number if s.heap_room[region] == 0 else int((s.sequence[region] >> (4 * number)) & 15)


# -- many ------------------------------------------------------------------------------------------------------------


@cold
def put_more(s: Sim, region: i64, time: f64, order: i64, slot: i64) -> None:
    """Put an entry into a heap, into the hole if there is one. A list without room becomes wide, or a heap, before."""
    if s.heap_room[region] == FEW:
        s.sequence[region] |= IN_TURN ^ (IN_TURN & SHORT)
        s.half_bytes[region] = MASK
        s.heap_room[region] = 2 * FEW
        s.top[region] = 8 * FEW - 4
        put_listed(s, region, time, order, slot)
        return
    if s.heap_room[region] != 0:
        deepen(s, region)
    if s.hole[region] == 1:
        s.hole[region] = 0
        sink(s, region, 0, time, order, slot)
    else:
        push(s, region, time, order, slot)
    note_first(s, region, start_of(s, region))


def note_first(s: Sim, region: i64, at: i64) -> None:
    """The first entry of a heap lies here."""
    s.first_time[region] = s.heap_time[at]
    s.first_order[region] = s.heap_order[at]
    s.first_slot[region] = s.heap_slot[at]


@cold
def deepen(s: Sim, region: i64) -> None:
    """Make a heap of a list."""
    s.heap_room[region] = 0
    base = start_of(s, region)
    for k in range(FEW // 2):
        i = FEW // 2 - 1 - k
        sink(s, region, i, s.heap_time[base + i], s.heap_order[base + i], s.heap_slot[base + i])


@cold
def order_list(s: Sim, region: i64) -> None:
    """Make a list of entries that lie in the first places in any order."""
    base = start_of(s, region)
    size = s.heap_size[region]
    sequence = IN_TURN
    for i in range(size):
        before = 0
        for j in range(size):
            a = s.heap_time[base + j]
            b = s.heap_time[base + i]
            before += int(a < b or (a == b and s.heap_order[base + j] < s.heap_order[base + i]))
        sequence = (sequence & (MASK ^ ((15 << (4 * before)) & MASK))) | ((i << (4 * before)) & MASK)
    narrow(s, region, sequence)
    note_listed(s, region)


@cold
def take_deep(s: Sim, region: i64) -> None:
    """Take the first entry of a heap away."""
    if s.hole[region] == 1:
        close_hole(s, region)
    base = start_of(s, region)
    size = s.heap_size[region]
    if size > AGAIN:
        s.hole[region] = 1
        note_first(s, region, least_of(s, base, 1))
        return
    last = base + size - 1
    s.heap_size[region] = size - 1
    s.heap_time[base] = s.heap_time[last]
    s.heap_order[base] = s.heap_order[last]
    s.heap_slot[base] = s.heap_slot[last]
    s.heap_time[last] = INF
    order_list(s, region)


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
    while s.heap_slot[base + entry_at(s, region, i)] != slot:
        i += 1
    if s.heap_room[region] != 0:
        strike_out(s, region, i)
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
    if last > AGAIN:
        note_first(s, region, base)
    else:
        order_list(s, region)

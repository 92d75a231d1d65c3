"""Sessions in lists and out of them, in restricted Python.

A node is a run of sessions of one kind that stand next to each other in one list; a session that stands in several
lists, or is on the move, is a node of its own.
"""

from serq.codegen.lang import cold, i64
from serq.semantics.frontier_state import (
    FACTORS,
    IMPULSES,
    QUEUED,
    ROOM,
    RULE,
    SERVED,
    WAITING,
    WORKING,
    Frontier,
)


@cold
def ask(x: Frontier, what: i64, a: i64, b: i64) -> None:
    """Stop: something has to be worked out first."""
    if x.status == WORKING:
        x.status = RULE
        x.asked = what
        x.asked_a = a
        x.asked_b = b


@cold
def stop(x: Frontier, status: i64) -> None:
    """Stop for another reason."""
    if x.status == WORKING:
        x.status = status


def pair(x: Frontier, what: i64, a: i64, b: i64) -> i64:
    """The number of the sum of two impulses, or of the product of two factors; number 0 changes nothing."""
    if a == 0:
        return b
    if b == 0:
        return a
    key = (a << 25) | (b << 1)
    if what == FACTORS:
        key += 1
    at = ((a * 31 + b) * 0x9E3779B1 >> 11) & x.pair_mask
    while x.pair_key[at] != key:
        if x.pair_key[at] < 0:
            ask(x, what, a, b)
            return 0
        at = (at + 1) & x.pair_mask
    return x.pair_value[at]


def earn(x: Frontier, impulse: i64) -> None:
    """The event earns more."""
    x.earned = pair(x, IMPULSES, x.earned, impulse)


# -- nodes -------------------------------------------------------------------------------------------------------------


def new_node(x: Frontier, kind: i64) -> i64:
    """A session in no list."""
    if x.free_nodes > 0:
        x.free_nodes -= 1
        node = x.free_node[x.free_nodes]
    else:
        node = x.nodes
        if node == x.room:
            stop(x, ROOM)
            return 0
        x.nodes += 1
    x.node_kind[node] = kind
    x.node_count[node] = 1
    x.node_in[node] = 0
    x.node_link[node] = -1
    return node


def free(x: Frontier, node: i64) -> None:
    """The node is used no more."""
    x.free_node[x.free_nodes] = node
    x.free_nodes += 1


def place_of(x: Frontier, at: i64, node: i64) -> i64:
    """The place of a node in a list that has it."""
    base = at * x.room
    i = 0
    while x.item[base + i] != node:
        i += 1
    return i


def take_out(x: Frontier, at: i64, i: i64) -> None:
    """Take the i-th node out of a list."""
    base = at * x.room
    node = x.item[base + i]
    size = x.size[at] - 1
    for j in range(i, size):
        x.item[base + j] = x.item[base + j + 1]
    x.size[at] = size
    x.node_in[node] -= 1
    if x.lazy == 1 and node == x.lazy_node and at == x.lazy_list:
        x.lazy = 0


def remove(x: Frontier, at: i64, node: i64) -> None:
    """Take a node out of a list that has it."""
    take_out(x, at, place_of(x, at, node))


def insert(x: Frontier, at: i64, i: i64, node: i64) -> None:
    """Put a node before the i-th of a list."""
    size = x.size[at]
    if size == x.room:
        stop(x, ROOM)
        return
    base = at * x.room
    j = size
    while j > i:
        x.item[base + j] = x.item[base + j - 1]
        j -= 1
    x.item[base + i] = node
    x.size[at] = size + 1
    x.node_in[node] += 1


def append(x: Frontier, at: i64, node: i64) -> None:
    """Put a node at the end of a list; it joins the run there if it is like it and stands nowhere else."""
    size = x.size[at]
    if size > 0 and x.node_in[node] == 0:
        last = x.item[at * x.room + size - 1]
        if (
            x.node_kind[last] == x.node_kind[node]
            and x.node_in[last] == 1
            and not (x.lazy == 1 and last == x.lazy_node)
        ):
            x.node_count[last] += 1
            free(x, node)
            return
    insert(x, at, size, node)


def one_of(x: Frontier, at: i64, i: i64) -> i64:
    """The first session of the i-th run of a list, taken out of it as a node of its own."""
    node = x.item[at * x.room + i]
    if x.node_count[node] == 1:
        take_out(x, at, i)
        return node
    x.node_count[node] -= 1
    return new_node(x, x.node_kind[node])


# -- sessions in no order ----------------------------------------------------------------------------------------------


def add_loose(x: Frontier, kind: i64, count: i64) -> None:
    """So many sessions more that stand in no order; the kinds are kept in ascending order."""
    i = x.loose
    while i > 0 and x.loose_kind[i - 1] > kind:
        i -= 1
    if i > 0 and x.loose_kind[i - 1] == kind:
        x.loose_count[i - 1] += count
        return
    if x.loose == x.room:
        stop(x, ROOM)
        return
    j = x.loose
    while j > i:
        x.loose_kind[j] = x.loose_kind[j - 1]
        x.loose_count[j] = x.loose_count[j - 1]
        j -= 1
    x.loose_kind[i] = kind
    x.loose_count[i] = count
    x.loose += 1


def take_loose(x: Frontier, kind: i64) -> None:
    """One session less of a kind that is there."""
    i = 0
    while x.loose_kind[i] != kind:
        i += 1
    x.loose_count[i] -= 1
    if x.loose_count[i] == 0:
        x.loose -= 1
        for j in range(i, x.loose):
            x.loose_kind[j] = x.loose_kind[j + 1]
            x.loose_count[j] = x.loose_count[j + 1]


# -- places ------------------------------------------------------------------------------------------------------------


def queue_of(x: Frontier, pool: i64) -> i64:
    """The list of those who wait for a pool."""
    return x.lists - 2 * x.pools + pool


def entries_of(x: Frontier, pool: i64) -> i64:
    """The list of the entries of a pool, in the order of release."""
    return x.lists - x.pools + pool


def rest(x: Frontier, node: i64) -> None:
    """A session whose kind has been set comes to rest: served, in a line or in a queue."""
    kind = x.node_kind[node]
    what = x.what[kind]
    if what == SERVED:
        x.serving[x.where[kind]] += 1
        if x.node_in[node] == 0:
            add_loose(x, kind, 1)
            free(x, node)
    elif what == WAITING:
        append(x, x.line[x.where[kind]], node)
    elif what == QUEUED:
        append(x, queue_of(x, x.where[kind]), node)


def become(x: Frontier, node: i64, kind: i64) -> None:
    """A session becomes another kind: the sums of the pools follow, and its ranks where one comes or goes."""
    before = x.node_kind[node]
    x.node_kind[node] = kind
    for p in range(x.pools):
        old = before * x.pools + p
        new = kind * x.pools + p
        x.cached[p] += x.entry[new] - x.entry[old]
        if x.what[before] == QUEUED:
            x.pinned[p] -= x.entry[old]
        if x.what[kind] == QUEUED:
            x.pinned[p] += x.entry[new]
        if x.ranked[old] == 1 and x.ranked[new] == 0:
            remove(x, entries_of(x, p), node)
        elif x.ranked[old] == 0 and x.ranked[new] == 1:
            insert(x, entries_of(x, p), 0, node)

"""States packed and unpacked, in restricted Python, and the table in which they are looked up."""

from serq.codegen.lang import i64, u64
from serq.semantics.frontier_moves import insert, new_node, stop
from serq.semantics.frontier_state import (
    AGAIN_AT,
    COUNT_AT,
    COUNT_BITS,
    CROWDED,
    DEAD,
    KIND_BITS,
    LIMIT,
    LINK_AT,
    LINK_BITS,
    LIST_AT,
    MOST_LINKS,
    QUEUED,
    SERVED,
    SPACE,
    Frontier,
)

KIND_MASK = (1 << KIND_BITS) - 1
COUNT_MASK = (1 << COUNT_BITS) - 1
LINK_MASK = (1 << LINK_BITS) - 1
HASH_SEED = 0x243F6A8885A308D3
HASH_STEP = 0x9E3779B97F4A7C15
HASH_MASK = 0xFFFFFFFFFFFFFFFF


# -- unpacking ---------------------------------------------------------------------------------------------------------


def clear(x: Frontier) -> None:
    """Nobody is anywhere."""
    x.loose = 0
    x.nodes = 0
    x.free_nodes = 0
    x.links = 0
    x.present = 0
    x.ready_first = 0
    x.ready_end = 0
    x.earned = 0
    x.steps = 0
    x.lazy = 0
    x.depends = 0
    for at in range(x.lists):
        x.size[at] = 0
    for p in range(x.pools):
        x.used[p] = 0
        x.cached[p] = 0
        x.pinned[p] = 0
    for s in range(x.stages):
        x.serving[s] = 0


def unpack(x: Frontier, state: i64, word_at: i64) -> i64:
    """Set up a state. Returns the node of the word at a place, -1 if that stands in no list."""
    clear(x)
    out = -1
    for i in range(x.begin[state], x.begin[state + 1]):
        word = x.words[i]
        kind = word & KIND_MASK
        at = (word >> LIST_AT) - 1
        count = (word >> COUNT_AT) & COUNT_MASK
        if (word >> AGAIN_AT) & 1 == 0:
            count_in(x, kind, count)
        if at < 0:
            x.loose_kind[x.loose] = kind
            x.loose_count[x.loose] = count
            x.loose += 1
            continue
        node = node_of(x, word, kind, count)
        insert(x, at, x.size[at], node)
        if i == word_at:
            out = node
    return out


def node_of(x: Frontier, word: i64, kind: i64, count: i64) -> i64:
    """The node of a word in a list: a new one, or that of its link."""
    link = (word >> LINK_AT) & LINK_MASK
    if (word >> AGAIN_AT) & 1 == 1:
        return x.node_of_link[link]
    node = new_node(x, kind)
    x.node_count[node] = count
    if link > 0:
        x.node_of_link[link] = node
    return node


def count_in(x: Frontier, kind: i64, count: i64) -> None:
    """Add sessions of a kind to all sums."""
    what = x.what[kind]
    if what != DEAD:
        x.present += count
    if what == SERVED:
        x.serving[x.where[kind]] += count
    for p in range(x.pools):
        at = kind * x.pools + p
        x.used[p] += count * x.held[at]
        x.cached[p] += count * x.entry[at]
        if what == QUEUED:
            x.pinned[p] += count * x.entry[at]


# -- packing -----------------------------------------------------------------------------------------------------------


def pack(x: Frontier) -> None:
    """Write down the configuration, runs joined."""
    end = x.loose
    for i in range(x.loose):
        x.packed[i] = x.loose_kind[i] | (x.loose_count[i] << COUNT_AT)
    for at in range(x.lists):
        first = end
        base = at * x.room
        head = (at + 1) << LIST_AT
        for i in range(x.size[at]):
            node = x.item[base + i]
            word = head | x.node_kind[node] | (x.node_count[node] << COUNT_AT)
            if x.node_in[node] > 1:
                word |= tie(x, node)
            elif end > first:
                before = x.packed[end - 1]
                if before & KIND_MASK == x.node_kind[node] and (before >> LINK_AT) & LINK_MASK == 0:
                    x.packed[end - 1] = before + (x.node_count[node] << COUNT_AT)
                    continue
            x.packed[end] = word
            end += 1
    x.packed_end = end


def tie(x: Frontier, node: i64) -> i64:
    """The link of a session that stands in several lists, as bits of a word."""
    if x.node_link[node] > 0:
        return (x.node_link[node] << LINK_AT) | (1 << AGAIN_AT)
    if x.links == MOST_LINKS:
        stop(x, SPACE)
        return 0
    x.links += 1
    x.node_link[node] = x.links
    return x.links << LINK_AT


# -- looking up --------------------------------------------------------------------------------------------------------


def hash_of_packed(x: Frontier) -> i64:
    """A hash of the state that was put together."""
    h: u64 = HASH_SEED
    for i in range(x.packed_end):
        h = ((h ^ (x.packed[i] & HASH_MASK)) * HASH_STEP) & HASH_MASK
        h ^= h >> 32
    return int(h >> 1)


def hash_of_state(x: Frontier, state: i64) -> i64:
    """A hash of a state."""
    h: u64 = HASH_SEED
    for i in range(x.begin[state], x.begin[state + 1]):
        h = ((h ^ (x.words[i] & HASH_MASK)) * HASH_STEP) & HASH_MASK
        h ^= h >> 32
    return int(h >> 1)


def is_packed(x: Frontier, state: i64) -> bool:
    """Whether a state is the one that was put together."""
    first = x.begin[state]
    if x.begin[state + 1] - first != x.packed_end:
        return False
    i = 0
    while i < x.packed_end and x.words[first + i] == x.packed[i]:
        i += 1
    return i == x.packed_end


def find(x: Frontier) -> i64:
    """The number of the state that was put together, a new one if it is new."""
    at = hash_of_packed(x) & x.table_mask
    while x.table[at] >= 0:
        if is_packed(x, x.table[at]):
            return x.table[at]
        at = (at + 1) & x.table_mask
    state = x.found
    if state == x.most:
        stop(x, LIMIT)
        return 0
    if state + 2 > x.states_room or x.words_end + x.packed_end > x.words_room or 2 * state > x.table_mask:
        stop(x, SPACE)
        return 0
    if x.present > x.crowd:
        stop(x, CROWDED)
        return 0
    for i in range(x.packed_end):
        x.words[x.words_end + i] = x.packed[i]
    x.words_end += x.packed_end
    x.begin[state + 1] = x.words_end
    x.table[at] = state
    x.found = state + 1
    return state

"""The compiled explorer, in restricted Python: states are unpacked, every event is fired in them, and what they become
is packed and looked up.

A call works until it is done, or until it needs something from outside: a rule, or more memory. It then gives up the
state at work and takes it up again from the beginning when it is called again.
"""

from serq.codegen.lang import i64
from serq.semantics.frontier_moves import ask, insert, new_node, rest, stop, take_loose
from serq.semantics.frontier_pack import COUNT_MASK, KIND_MASK, clear, find, hash_of_state, pack, unpack
from serq.semantics.frontier_settle import arrive, complete, settle
from serq.semantics.frontier_state import (
    AGAIN_AT,
    BEGINNING,
    COUNT_AT,
    FINISHED,
    IMPULSE_AT,
    LIST_AT,
    NOTHING,
    PHASE,
    SERVED,
    SPACE,
    SPEED,
    SYMBOL_AT,
    WORKING,
    Frontier,
)

EMPTY = -1
BEGIN = -2
ARRIVAL = -3


# -- events ------------------------------------------------------------------------------------------------------------


def fire(x: Frontier, state: i64, word_at: i64, place: i64) -> None:
    """One session of a run completes a phase; `place` -1: any of them, if its place does not matter."""
    node = unpack(x, state, word_at)
    word = x.words[word_at]
    kind = word & KIND_MASK
    if node < 0:
        take_loose(x, kind)
        node = new_node(x, kind)
    elif x.node_count[node] > 1:
        node = split(x, node, (word >> LIST_AT) - 1, place)
    after = x.next_phase[kind]
    stage = x.where[kind]
    if after == NOTHING:
        complete(x, node, stage)
        settle(x)
    else:
        x.serving[stage] -= 1
        x.node_kind[node] = after
        rest(x, node)


def split(x: Frontier, run: i64, at: i64, place: i64) -> i64:
    """Make a node of one session of a run."""
    i = 0
    while x.item[at * x.room + i] != run:
        i += 1
    node = new_node(x, x.node_kind[run])
    count = x.node_count[run]
    if place < 0:
        x.lazy_list = at
        x.lazy_node = node
        place = 0
        x.lazy = 1
    x.node_count[run] = count - 1 - place
    insert(x, at, i, node)
    if place > 0:
        before = new_node(x, x.node_kind[run])
        x.node_count[before] = place
        insert(x, at, i, before)
    if count - 1 - place == 0:
        drop_last_of(x, at, run)
    return node


def drop_last_of(x: Frontier, at: i64, run: i64) -> None:
    """Take an empty run out of a list."""
    base = at * x.room
    i = 0
    while x.item[base + i] != run:
        i += 1
    x.size[at] -= 1
    for j in range(i, x.size[at]):
        x.item[base + j] = x.item[base + j + 1]
    x.node_in[run] = 0


def begin_all(x: Frontier) -> None:
    """Time 0."""
    clear(x)
    for _ in range(x.population + x.first_arrival):
        if x.status == WORKING:
            arrive(x)
    settle(x)


def arrive_at(x: Frontier, state: i64) -> None:
    """One more session arrives, or is lost."""
    unpack(x, state, EMPTY)
    if x.arrival_limit >= 0 and x.present >= x.arrival_limit:
        x.earned = x.lost
        return
    arrive(x)
    settle(x)


def every_way(x: Frontier, state: i64, event: i64, place: i64, symbol: i64, speed: i64) -> None:
    """An event under every script of choices; the arcs are those of the event."""
    x.event_arcs = 0
    x.script_end = 0
    while x.status == WORKING:
        x.script_at = 0
        x.factor = speed
        if event == BEGIN:
            begin_all(x)
        elif event == ARRIVAL:
            arrive_at(x, state)
        else:
            fire(x, state, event, place)
        if x.lazy == 1:
            x.depends = 1
        if x.depends == 1 or x.status != WORKING:
            return
        note(x, symbol)
        while x.script_end > 0 and x.script[x.script_end - 1] + 1 == x.script_ways[x.script_end - 1]:
            x.script_end -= 1
        if x.script_end == 0:
            return
        x.script[x.script_end - 1] += 1


def note(x: Frontier, symbol: i64) -> None:
    """The event leads to the configuration at work."""
    pack(x)
    if x.status != WORKING:
        return
    target = find(x)
    if x.event_arcs == x.event_room:
        stop(x, SPACE)
        return
    x.event_target[x.event_arcs] = target
    x.event_tells[x.event_arcs] = (symbol << SYMBOL_AT) | (x.earned << IMPULSE_AT) | x.factor
    x.event_arcs += 1


def keep(x: Frontier, source: i64, first: i64, count: i64) -> None:
    """Add the arcs of an event, which `count` sessions may cause, to those of the source."""
    if x.arcs + x.event_arcs > x.arcs_room:
        stop(x, SPACE)
        return
    for i in range(x.event_arcs):
        target = x.event_target[i]
        tells = x.event_tells[i]
        j = first
        while j < x.arcs and (x.arc_target[j] != target or x.arc_tells[j] != tells):
            if x.arc_target[j] == target and x.arc_tells[j] >> IMPULSE_AT == tells >> IMPULSE_AT:
                x.split += 1
            j += 1
        if j < x.arcs:
            x.arc_count[j] += count
        else:
            x.arc_source[j] = source
            x.arc_target[j] = target
            x.arc_tells[j] = tells
            x.arc_count[j] = count
            x.arcs = j + 1


def speed_at(x: Frontier, stage: i64) -> i64:
    """The factor by which each session in service at a stage is served; -2: not at all."""
    at = stage * (x.room + 1) + x.serving[stage]
    speed = x.speeds[at]
    if speed == EMPTY:
        ask(x, SPEED, stage, x.serving[stage])
    return speed


def expand_word(x: Frontier, state: i64, i: i64, first: i64) -> None:
    """All arcs that the sessions of one word cause."""
    word = x.words[i]
    kind = word & KIND_MASK
    if x.what[kind] != SERVED or (word >> AGAIN_AT) & 1 == 1:
        return
    unpack(x, state, EMPTY)
    speed = speed_at(x, x.where[kind])
    if x.next_phase[kind] == EMPTY:
        ask(x, PHASE, kind, 0)
    if speed < 0 or x.status != WORKING:
        return
    count = (word >> COUNT_AT) & COUNT_MASK
    every_way(x, state, i, EMPTY, x.symbol[kind], speed)
    if x.depends == 0 or x.status != WORKING:
        keep(x, state, first, count)
        return
    for place in range(count):
        every_way(x, state, i, place, x.symbol[kind], speed)
        keep(x, state, first, 1)


def expand(x: Frontier, state: i64) -> None:
    """All arcs out of a state."""
    first = x.arcs
    for i in range(x.begin[state], x.begin[state + 1]):
        expand_word(x, state, i, first)
        if x.status != WORKING:
            x.arcs = first
            return
    if x.arrival_symbol >= 0:
        every_way(x, state, ARRIVAL, EMPTY, x.arrival_symbol, 0)
        keep(x, state, first, 1)
        if x.status != WORKING:
            x.arcs = first


# -- calls from outside ------------------------------------------------------------------------------------------------


def start(x: Frontier) -> i64:
    """The initial states: targets of the arcs out of the beginning."""
    x.status = WORKING
    x.arcs = 0
    every_way(x, EMPTY, BEGIN, EMPTY, 0, 0)
    keep(x, BEGINNING, 0, 1)
    if x.status == WORKING:
        return FINISHED
    return x.status


def search(x: Frontier, most: i64) -> i64:
    """Go on for so many states at most."""
    x.status = WORKING
    end = x.done + most
    while x.done < x.found and x.done < end:
        expand(x, x.done)
        if x.status != WORKING:
            return x.status
        x.done += 1
    if x.done == x.found:
        return FINISHED
    return WORKING


def rehash(x: Frontier) -> None:
    """Fill an empty table."""
    for state in range(x.found):
        at = hash_of_state(x, state) & x.table_mask
        while x.table[at] >= 0:
            at = (at + 1) & x.table_mask
        x.table[at] = state

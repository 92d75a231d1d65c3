"""What happens at an instant, in restricted Python: the order of things is that of `serq.semantics.machine`.

What a session does by itself is looked up in rules; here is what sessions do to one another.
"""

from serq.codegen.lang import i64
from serq.semantics.frontier_moves import (
    add_loose,
    append,
    ask,
    become,
    earn,
    entries_of,
    free,
    insert,
    new_node,
    one_of,
    pair,
    queue_of,
    remove,
    rest,
    stop,
    take_out,
)
from serq.semantics.frontier_state import (
    ADMIT,
    ARRIVE,
    DEAD,
    ENDLESS,
    EVICT,
    FACTORS,
    LEFT_BEHIND,
    NOTHING,
    QUEUED,
    RENEWED,
    RENEWED_AND_LEFT,
    ROOM,
    RUN,
    SERVED,
    START,
    STAYS,
    WAITING,
    WORKING,
    Frontier,
)

MOST_STEPS = 10_000_000
"""Commands at one instant after which a program is taken to run for ever."""


def choose(x: Frontier, rule: i64) -> i64:
    """A way of the rule: the only one, or that of the script."""
    first = x.rule_begin[rule]
    ways = x.rule_end[rule] - first
    if ways > 1:
        at = x.script_at
        x.script_at = at + 1
        if at == x.script_end:
            if at == x.script_room:
                stop(x, ROOM)
                return first
            x.script[at] = 0
            x.script_ways[at] = ways
            x.script_end = at + 1
        first += x.script[at]
    x.factor = pair(x, FACTORS, x.factor, x.way_factor[first])
    earn(x, x.way_earns[first])
    return first


def make_ready(x: Frontier, node: i64) -> None:
    """A session can go on."""
    if x.ready_end == x.room:
        if x.ready_first == 0:
            stop(x, ROOM)
            return
        for i in range(x.ready_first, x.ready_end):
            x.ready[i - x.ready_first] = x.ready[i]
        x.ready_end -= x.ready_first
        x.ready_first = 0
    x.ready[x.ready_end] = node
    x.ready_end += 1


def begin_service(x: Frontier, node: i64) -> None:
    """A session of a waiting kind, in no line, is served."""
    kind = x.node_kind[node]
    rule = x.start_rule[kind]
    if rule < 0:
        ask(x, START, kind, 0)
        return
    become(x, node, x.way_next[choose(x, rule)])
    rest(x, node)


def complete(x: Frontier, node: i64, stage: i64) -> None:
    """A session, taken out of service, has done its work: the next one starts, then it is ready."""
    x.serving[stage] -= 1
    line = x.line[stage]
    if line >= 0 and x.size[line] > 0:
        begin_service(x, one_of(x, line, 0))
    make_ready(x, node)


def arrive(x: Frontier) -> None:
    """A session arrives and is ready."""
    rule = x.arrival_rule
    if rule < 0:
        ask(x, ARRIVE, 0, 0)
        return
    way = choose(x, rule)
    x.present += 1
    make_ready(x, new_node(x, x.way_spawns[way]))


def run(x: Frontier, node: i64) -> None:
    """A session runs its commands until it rests or ends."""
    x.steps += 1
    if x.steps > MOST_STEPS:
        stop(x, ENDLESS)
        return
    kind = x.node_kind[node]
    rule = x.run_rule[kind]
    if rule < 0:
        ask(x, RUN, kind, 0)
        return
    way = choose(x, rule)
    if x.status != WORKING:
        return
    settle_entries(x, node, way)
    after = x.way_next[way]
    if after == NOTHING:
        free(x, node)
        x.present -= 1
        spawned = x.way_spawns[way]
        if spawned != NOTHING:
            x.present += 1
            make_ready(x, new_node(x, spawned))
        return
    x.node_kind[node] = after
    if x.what[after] == WAITING:
        stage = x.where[after]
        servers = x.servers[stage]
        if servers == 0 or x.serving[stage] < servers:
            begin_service(x, node)
            return
    rest(x, node)


def settle_entries(x: Frontier, node: i64, way: i64) -> None:
    """What a session's commands do to the sums of the pools and to its entries there."""
    before = x.node_kind[node]
    after = x.way_next[way]
    for p in range(x.pools):
        what = x.way_entry[way * x.pools + p]
        old = before * x.pools + p
        at = entries_of(x, p)
        ranked = x.ranked[old] == 1
        x.used[p] += x.way_held[way * x.pools + p]
        if what == LEFT_BEHIND:
            left = new_node(x, x.way_dead[way * x.pools + p])
            base = at * x.room
            i = 0
            while x.item[base + i] != node:
                i += 1
            if x.lazy == 1 and node == x.lazy_node and at == x.lazy_list:
                x.depends = 1
            x.item[base + i] = left
            x.node_in[left] = 1
            x.node_in[node] -= 1
        elif what == RENEWED_AND_LEFT:
            dead = x.way_dead[way * x.pools + p]
            x.cached[p] += x.entry[dead * x.pools + p] - x.entry[old]
            if ranked:
                remove(x, at, node)
            append(x, at, new_node(x, dead))
        else:
            keep_rank(x, node, p, what, after)


def keep_rank(x: Frontier, node: i64, p: i64, what: i64, after: i64) -> None:
    """The entry of a session that stays goes, stays or is renewed."""
    old = x.node_kind[node] * x.pools + p
    was = x.ranked[old] == 1
    at = entries_of(x, p)
    units = 0
    ranked = False
    if after != NOTHING:
        units = x.entry[after * x.pools + p]
        ranked = x.ranked[after * x.pools + p] == 1
        if x.what[after] == QUEUED:
            x.pinned[p] += units
    x.cached[p] += units - x.entry[old]
    if was and (what != STAYS or not ranked):
        remove(x, at, node)
        was = False
    if ranked and not was:
        if what == RENEWED:
            insert(x, at, x.size[at], node)
        else:
            insert(x, at, 0, node)


# -- pools -------------------------------------------------------------------------------------------------------------


def serve_pools(x: Frontier) -> bool:
    """Pool by pool the heads of the queues that fit; whether anybody was admitted."""
    happened = False
    for p in range(x.pools):
        at = queue_of(x, p)
        while x.status == WORKING and x.size[at] > 0:
            head = head_of(x, p, at)
            if not fits(x, x.item[at * x.room + head]):
                break
            admit(x, one_of(x, at, head))
            happened = True
    return happened


def head_of(x: Frontier, pool: i64, at: i64) -> i64:
    """The place of the one whom an admission tries: the first, or the first with the smallest keys."""
    best = 0
    if x.queues_by[pool] == 1:
        base = at * x.room
        for i in range(1, x.size[at]):
            if x.queue_key[x.node_kind[x.item[base + i]]] < x.queue_key[x.node_kind[x.item[base + best]]]:
                best = i
    return best


def fits(x: Frontier, node: i64) -> bool:
    """Whether all that a waiting session asks for is there, or can be made."""
    base = x.node_kind[node] * x.pools
    for p in range(x.pools):
        if x.part[base + p] == 1:
            pinned = x.pinned[p] - x.entry[base + p] if x.pins[p] == 1 else 0
            if x.used[p] + pinned + x.need[base + p] > x.caps[p]:
                return False
    return True


def admit(x: Frontier, node: i64) -> None:
    """A session that has left the queue gets what it asked for, and is ready."""
    kind = x.node_kind[node]
    admitted = x.admitted[kind]
    if admitted < 0:
        ask(x, ADMIT, kind, 0)
        return
    earn(x, x.admitted_earns[kind])
    become(x, node, admitted)
    for p in range(x.pools):
        if x.part[kind * x.pools + p] == 1:
            make_room(x, p, x.take[kind * x.pools + p])
            x.used[p] += x.take[kind * x.pools + p]
    make_ready(x, node)


def make_room(x: Frontier, pool: i64, units: i64) -> None:
    """Evict until so many units more fit."""
    at = entries_of(x, pool)
    while x.status == WORKING and x.used[pool] + x.cached[pool] + units > x.caps[pool]:
        i = victim(x, pool, at)
        if i < 0:
            return
        evict(x, pool, at, i)


def victim(x: Frontier, pool: i64, at: i64) -> i64:
    """The place of the entry to evict, -1 where there is none."""
    best = -1
    base = at * x.room
    for i in range(x.size[at]):
        kind = x.node_kind[x.item[base + i]]
        if x.pins[pool] == 1 and x.what[kind] == QUEUED:
            continue
        if x.evicts_by[pool] == 0:
            return i
        if (
            best < 0
            or x.evict_key[kind * x.pools + pool] < x.evict_key[x.node_kind[x.item[base + best]] * x.pools + pool]
        ):
            best = i
    return best


def evict(x: Frontier, pool: i64, at: i64, i: i64) -> None:
    """Take a block off an entry, or the whole of it."""
    if x.lazy == 1 and at == x.lazy_list:
        x.depends = 1
    node = x.item[at * x.room + i]
    place = x.node_kind[node] * x.pools + pool
    kind = x.evicted[place]
    if kind < 0:
        ask(x, EVICT, x.node_kind[node], pool)
        return
    earn(x, x.evicted_earns[place])
    units = x.entry[place] - x.entry[kind * x.pools + pool]
    x.cached[pool] -= units
    if x.what[kind] == QUEUED:
        x.pinned[pool] -= units
    left = x.entry[kind * x.pools + pool] > 0
    if x.node_count[node] > 1:
        x.node_count[node] -= 1
        node = new_node(x, kind)
        if left:
            insert(x, at, i, node)
            return
    else:
        x.node_kind[node] = kind
        if left:
            return
        take_out(x, at, i)
    if x.what[kind] == DEAD:
        free(x, node)
    elif x.what[kind] == SERVED and x.node_in[node] == 0:
        add_loose(x, kind, 1)
        free(x, node)


# -- the whole ---------------------------------------------------------------------------------------------------------


def settle(x: Frontier) -> None:
    """Run whoever is ready and admit whoever fits, until nothing more happens."""
    while x.status == WORKING:
        while x.ready_first < x.ready_end and x.status == WORKING:
            node = x.ready[x.ready_first]
            x.ready_first += 1
            run(x, node)
        if x.pools == 0 or not serve_pools(x):
            break

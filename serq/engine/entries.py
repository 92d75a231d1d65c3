"""Cached prefixes in restricted Python: kept at a release, hit at an admission, evicted to make room.

Entries that can be hit and dead ones stand in one list for each pool, in the order of their release numbers: what is
left of an entry after a hit keeps its age, so it dies where it stands.
"""

from serq.codegen.lang import ceil, cold, f64, floor, i64
from serq.engine.pool_state import CARRIER, GONE, QUEUED
from serq.engine.sessions import free_slot
from serq.engine.state import INF, Sim


def up(units: f64, block: f64) -> f64:
    """The units that are allocated for so many: whole blocks, and none for a negative number; block 0: no blocks."""
    if not units > 0.0:
        return 0.0
    if block == 0.0 or units == INF:
        return units
    return ceil(units / block) * block


def down(units: f64, block: f64) -> f64:
    """The units of a prefix of this length that whole blocks hold."""
    if not units > 0.0:
        return 0.0
    if block == 0.0:
        return units
    return floor(units / block) * block


def own_units(s: Sim, pool: i64, slot: i64) -> f64:
    """What a session has cached."""
    entry = s.pools.own[slot * s.pools.count + pool]
    return 0.0 if entry < 0 else s.pools.size[entry]


# -- the list --------------------------------------------------------------------------------------------------------


def append(s: Sim, pool: i64, entry: i64) -> None:
    """An entry becomes the newest."""
    newest = s.pools.newest[pool]
    s.pools.older[entry] = newest
    s.pools.newer[entry] = -1
    if newest < 0:
        s.pools.oldest[pool] = entry
    else:
        s.pools.newer[newest] = entry
    s.pools.newest[pool] = entry


def unlink(s: Sim, pool: i64, entry: i64) -> None:
    """An entry leaves the list."""
    older = s.pools.older[entry]
    newer = s.pools.newer[entry]
    if older < 0:
        s.pools.oldest[pool] = newer
    else:
        s.pools.newer[older] = newer
    if newer < 0:
        s.pools.newest[pool] = older
    else:
        s.pools.older[newer] = older


def add_entry(s: Sim, pool: i64, slot: i64, units: f64) -> None:
    """A session, which has none, gets an entry that is the newest."""
    entry = s.pools.free
    if entry < 0:
        s.pools.short = 1
        return
    s.pools.free = s.pools.newer[entry]
    s.pools.vacant -= 1
    s.pools.number += 1
    s.pools.size[entry] = units
    s.pools.time[entry] = s.now
    s.pools.owner[entry] = slot
    s.pools.dead[entry] = 0
    s.pools.release[entry] = s.pools.number
    s.pools.own[slot * s.pools.count + pool] = entry
    s.pools.kept[slot] += 1
    s.pools.cached[pool] += units
    s.pools.touched[pool] = 1
    append(s, pool, entry)


def remove_entry(s: Sim, pool: i64, entry: i64) -> None:
    """An entry is gone."""
    unlink(s, pool, entry)
    slot = s.pools.owner[entry]
    if slot >= 0:
        if s.pools.dead[entry] == 0:
            s.pools.own[slot * s.pools.count + pool] = -1
        disown(s, slot)
    s.pools.newer[entry] = s.pools.free
    s.pools.free = entry
    s.pools.vacant += 1


def disown(s: Sim, slot: i64) -> None:
    """A slot is asked for by one less: that of a session that has ended is free when nobody asks for it any more."""
    kept = s.pools.kept[slot] - 1
    s.pools.kept[slot] = kept
    if kept == 0 and s.pools.status[slot] == GONE:
        s.pools.gone -= 1
        free_slot(s, slot)


# -- keeping and hitting ---------------------------------------------------------------------------------------------


def keep(s: Sim, pool: i64, slot: i64, units: f64) -> None:
    """A prefix stays cached in place of the session's older one; with nothing to keep the older one stays."""
    if units > 0.0:
        drop(s, pool, slot)
        add_entry(s, pool, slot, units)


def drop(s: Sim, pool: i64, slot: i64) -> None:
    """The session's entry is gone; what is dead of it stays."""
    entry = s.pools.own[slot * s.pools.count + pool]
    if entry >= 0:
        s.pools.cached[pool] -= s.pools.size[entry]
        s.pools.touched[pool] = 1
        s.pools.changed = 1
        remove_entry(s, pool, entry)


def consume(s: Sim, pool: i64, slot: i64) -> f64:
    """The whole of the session's entry goes into an allocation; how much that is."""
    entry = s.pools.own[slot * s.pools.count + pool]
    if entry < 0:
        return 0.0
    units = s.pools.size[entry]
    s.pools.cached[pool] -= units
    s.pools.touched[pool] = 1
    remove_entry(s, pool, entry)
    return units


def consume_most(s: Sim, pool: i64, slot: i64, most: f64, block: f64) -> f64:
    """At most so many units of it do; what is left is dead from now on, and as old as it was."""
    entry = s.pools.own[slot * s.pools.count + pool]
    if entry < 0:
        return 0.0
    units = s.pools.size[entry]
    taken = down(min(most, units), block)
    s.pools.cached[pool] -= taken
    s.pools.touched[pool] = 1
    if not taken < units:
        remove_entry(s, pool, entry)
        return taken
    s.pools.size[entry] = units - taken
    s.pools.dead[entry] = 1
    s.pools.own[slot * s.pools.count + pool] = -1
    if s.pools.ghosts == 0:
        s.pools.owner[entry] = -1
        disown(s, slot)
    return taken


def abandon(s: Sim, slot: i64) -> bool:
    """A session has ended, and what is cached of it stays; whether its slot is free."""
    if s.pools.ghosts == 0:
        base = slot * s.pools.count
        for pool in range(s.pools.count):
            entry = s.pools.own[base + pool]
            if entry >= 0:
                s.pools.owner[entry] = -1
                s.pools.own[base + pool] = -1
        s.pools.kept[slot] = 0
    s.pools.status[slot] = GONE
    if s.pools.kept[slot] == 0:
        return True
    s.pools.gone += 1
    return False


# -- spilling --------------------------------------------------------------------------------------------------------


def take_carrier(s: Sim, owner: i64, tier: i64, units: f64) -> i64:
    """A slot for units of an owner on their way to a tier; -1 where there is none."""
    slot = s.free
    if slot < 0:
        s.pools.short = 1
        return -1
    s.free = s.follow[slot]
    s.pools.gone += 1
    s.pools.status[slot] = CARRIER
    s.pools.claim[slot] = owner
    s.pools.growing[slot] = tier
    s.pools.wanted[slot] = units
    return slot


def give_carrier(s: Sim, slot: i64) -> None:
    """The units have arrived."""
    s.pools.gone -= 1
    s.pools.status[slot] = GONE
    free_slot(s, slot)


def land_soon(s: Sim, slot: i64) -> None:
    """A spill of no work arrives when the pools have their turn, behind others."""
    s.follow[slot] = -1
    if s.pools.landed < 0:
        s.pools.landed = slot
    else:
        s.follow[s.pools.landed_last] = slot
    s.pools.landed_last = slot
    s.pools.changed = 1


# -- making room -----------------------------------------------------------------------------------------------------


def excess(s: Sim, pool: i64, units: f64, cap: f64) -> f64:
    """How much must be evicted for so many units more to fit."""
    return s.pools.used[pool] + s.pools.cached[pool] + units - cap


def evict(s: Sim, pool: i64, entry: i64, units: f64) -> None:
    """Units are taken off the tail of an entry, which is gone when nothing is left."""
    whole = units == s.pools.size[entry]
    s.pools.cached[pool] -= units
    s.pools.size[entry] -= units
    s.pools.sum_evicted[pool] += units
    s.pools.touched[pool] = 1
    s.pools.changed = 1
    if whole:
        s.pools.evictions[pool] += 1
        remove_entry(s, pool, entry)


@cold
def evict_oldest(s: Sim, pool: i64, units: f64, cap: f64, block: f64) -> None:
    """Make room in the order of release."""
    while True:
        more = excess(s, pool, units, cap)
        entry = s.pools.oldest[pool]
        if not more > 0.0 or entry < 0:
            return
        size = s.pools.size[entry]
        evict(s, pool, entry, size if block == 0.0 else min(size, up(more, block)))


def is_pinned(s: Sim, entry: i64) -> bool:
    """Whether the owner of an entry waits in a queue and can still hit it."""
    slot = s.pools.owner[entry]
    return s.pools.dead[entry] == 0 and slot >= 0 and s.pools.status[slot] == QUEUED


def pinned(s: Sim, pool: i64, slot: i64) -> f64:
    """Cached units that others who wait can still hit."""
    total = 0.0
    entry = s.pools.oldest[pool]
    while entry >= 0:
        if is_pinned(s, entry) and s.pools.owner[entry] != slot:
            total += s.pools.size[entry]
        entry = s.pools.newer[entry]
    return total


def oldest_unpinned(s: Sim, pool: i64) -> i64:
    """The entry released first of those that may be evicted."""
    entry = s.pools.oldest[pool]
    while entry >= 0 and is_pinned(s, entry):
        entry = s.pools.newer[entry]
    return entry

"""Queues, holds and growers of pools in restricted Python, and the sums of pools.

What depends on the program (who is tried next, what a hold asks for, what it keeps) is in the text of the program and
calls these.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.entries import abandon
from serq.engine.pool_state import GOING, POOL_SUMS, QUEUED, STALLED
from serq.engine.sessions import free_slot, note_ended
from serq.engine.state import Sim


def enter(s: Sim, slot: i64) -> None:
    """A session arrives: it holds nothing, and nothing is cached of it."""
    s.pools.status[slot] = GOING
    s.pools.open[slot] = -1
    s.pools.hit[slot] = 0.0
    s.pools.computed[slot] = 0.0
    s.pools.admitted[slot] = 0


def leave(s: Sim, slot: i64) -> None:
    """A session without holds has ended."""
    note_ended(s)
    if abandon(s, slot):
        free_slot(s, slot)


# -- queues ----------------------------------------------------------------------------------------------------------


def join_queue(s: Sim, pool: i64, slot: i64, hold: i64) -> None:
    """A hold of a session waits, behind the others."""
    last = s.pools.tail[pool]
    s.follow[slot] = -1
    s.pools.before[slot] = last
    s.pools.ahead[slot] = 0
    if last < 0:
        s.pools.head[pool] = slot
    else:
        s.follow[last] = slot
    s.pools.tail[pool] = slot
    wait(s, pool, slot, hold)


@cold
def rejoin_queue(s: Sim, pool: i64, slot: i64, hold: i64) -> None:
    """A hold that was preempted waits again, before the others."""
    first = s.pools.head[pool]
    s.follow[slot] = first
    s.pools.before[slot] = -1
    s.pools.ahead[slot] = 1
    if first < 0:
        s.pools.tail[pool] = slot
    else:
        s.pools.before[first] = slot
    s.pools.head[pool] = slot
    wait(s, pool, slot, hold)


def wait(s: Sim, pool: i64, slot: i64, hold: i64) -> None:
    """What is the same wherever in the queue it waits."""
    s.place[slot] = pool
    s.pools.status[slot] = QUEUED
    s.pools.claim[slot] = hold
    s.pools.since[slot] = s.now
    s.pools.queued[pool] += 1
    s.pools.waits += 1
    s.pools.touched[pool] = 1
    s.pools.changed = 1


def leave_queue(s: Sim, pool: i64, slot: i64) -> None:
    """A hold waits no more."""
    before = s.pools.before[slot]
    after = s.follow[slot]
    if before < 0:
        s.pools.head[pool] = after
    else:
        s.follow[before] = after
    if after < 0:
        s.pools.tail[pool] = before
    else:
        s.pools.before[after] = before
    s.pools.queued[pool] -= 1
    s.pools.waits -= 1
    s.pools.touched[pool] = 1
    s.pools.changed = 1


# -- holds -----------------------------------------------------------------------------------------------------------


def open_hold(s: Sim, pool: i64, slot: i64, hold: i64, hit: f64) -> None:
    """The hold of a session that waited in this pool's queue is admitted; `hit` is what was cached of it."""
    s.pools.number += 1
    s.pools.opened[slot * s.pools.holds + hold] = s.pools.number
    s.pools.reached[slot * s.pools.holds + hold] = s.pools.computed[slot]
    s.pools.open[slot] = hold
    s.pools.admitted[slot] = s.pools.number
    s.pools.hit[slot] = hit
    s.pools.status[slot] = GOING
    s.pools.admissions[pool] += 1
    s.pools.sum_waited[pool] += s.now - s.pools.since[slot]


def take_units(s: Sim, pool: i64, slot: i64, part: i64, units: f64) -> None:
    """A part of a hold gets its units, for which there is room."""
    s.pools.units[slot * s.pools.parts + part] = units
    s.pools.used[pool] += units
    s.pools.holders[pool] += 1
    s.pools.touched[pool] = 1


def add_units(s: Sim, pool: i64, at: i64, more: f64) -> None:
    """What lies at this part of a hold grows by so many units, for which there is room."""
    s.pools.units[at] += more
    s.pools.used[pool] += more
    s.pools.touched[pool] = 1


def give_units(s: Sim, pool: i64, slot: i64, part: i64) -> None:
    """The units of a part of a hold are free."""
    s.pools.holders[pool] -= 1
    s.pools.used[pool] -= s.pools.units[slot * s.pools.parts + part]
    s.pools.touched[pool] = 1
    s.pools.changed = 1


def close_hold(s: Sim, slot: i64, outer: i64) -> None:
    """The innermost hold of a session is closed; the one around it, if there is one, is the innermost now."""
    s.pools.open[slot] = outer
    s.pools.computed[slot] = 0.0 if outer < 0 else s.pools.reached[slot * s.pools.holds + outer]


# -- sums ------------------------------------------------------------------------------------------------------------


def rest_pool(s: Sim, pool: i64) -> None:
    """Nothing more happens at this instant: what came and went within it had no duration."""
    s.pools.touched[pool] = 0
    used = s.pools.used[pool]
    cached = s.pools.cached[pool]
    queue = s.pools.queued[pool]
    holders = s.pools.holders[pool]
    same = used == s.pools.seen_used[pool] and cached == s.pools.seen_cached[pool]
    if same and queue == s.pools.seen_queue[pool] and holders == s.pools.seen_holders[pool]:
        return
    advance_pool(s, pool, s.now)
    s.pools.seen_used[pool] = used
    s.pools.seen_cached[pool] = cached
    s.pools.seen_queue[pool] = queue
    s.pools.seen_holders[pool] = holders


def advance_pool(s: Sim, pool: i64, now: f64) -> None:
    """Integrate what is in a pool up to now."""
    passed = now - s.pools.seen_at[pool]
    s.pools.sum_used[pool] += s.pools.seen_used[pool] * passed
    s.pools.sum_cached[pool] += s.pools.seen_cached[pool] * passed
    s.pools.sum_queue[pool] += s.pools.seen_queue[pool] * passed
    s.pools.sum_holders[pool] += s.pools.seen_holders[pool] * passed
    s.pools.seen_at[pool] = now


@cold
def close_pools(s: Sim) -> None:
    """A batch is about to end, or the warm-up, whose sums are dropped."""
    for pool in range(s.pools.count):
        advance_pool(s, pool, s.next_end)
        if s.closed > 0:
            keep_pool(s, pool, ((s.closed - 1) * s.pools.count + pool) * POOL_SUMS)
        start_pool(s, pool)


@cold
def keep_pool(s: Sim, pool: i64, at: i64) -> None:
    """Write the sums of a pool into its row."""
    s.pools.rows[at] = s.pools.sum_used[pool]
    s.pools.rows[at + 1] = s.pools.sum_cached[pool]
    s.pools.rows[at + 2] = s.pools.sum_queue[pool]
    s.pools.rows[at + 3] = s.pools.sum_holders[pool]
    s.pools.rows[at + 4] = s.pools.sum_waited[pool]
    s.pools.rows[at + 5] = float(s.pools.admissions[pool])
    s.pools.rows[at + 6] = float(s.pools.evictions[pool])
    s.pools.rows[at + 7] = s.pools.sum_evicted[pool]
    s.pools.rows[at + 8] = float(s.pools.preempted[pool])
    s.pools.rows[at + 9] = float(s.pools.rejections[pool])
    s.pools.rows[at + 10] = float(s.pools.spills[pool])
    s.pools.rows[at + 11] = s.pools.sum_spilled[pool]


@cold
def start_pool(s: Sim, pool: i64) -> None:
    """The sums of a pool begin anew."""
    s.pools.sum_used[pool] = 0.0
    s.pools.sum_cached[pool] = 0.0
    s.pools.sum_queue[pool] = 0.0
    s.pools.sum_holders[pool] = 0.0
    s.pools.sum_waited[pool] = 0.0
    s.pools.sum_evicted[pool] = 0.0
    s.pools.sum_spilled[pool] = 0.0
    s.pools.admissions[pool] = 0
    s.pools.evictions[pool] = 0
    s.pools.preempted[pool] = 0
    s.pools.rejections[pool] = 0
    s.pools.spills[pool] = 0


# -- growth that waits -----------------------------------------------------------------------------------------------


@cold
def stall(s: Sim, pool: i64, slot: i64, part: i64, more: f64) -> None:
    """The growth of a part by so many units waits for room, behind others."""
    last = s.pools.stalled_last[pool]
    s.follow[slot] = -1
    s.pools.before[slot] = last
    if last < 0:
        s.pools.stalled[pool] = slot
    else:
        s.follow[last] = slot
    s.pools.stalled_last[pool] = slot
    s.place[slot] = pool
    s.pools.status[slot] = STALLED
    s.pools.waits += 1
    s.pools.growing[slot] = part
    s.pools.wanted[slot] = more


@cold
def leave_stalled(s: Sim, pool: i64, slot: i64) -> None:
    """A growth waits no more."""
    before = s.pools.before[slot]
    after = s.follow[slot]
    if before < 0:
        s.pools.stalled[pool] = after
    else:
        s.follow[before] = after
    if after < 0:
        s.pools.stalled_last[pool] = before
    else:
        s.pools.before[after] = before
    s.pools.waits -= 1
    s.pools.status[slot] = GOING
    s.pools.changed = 1


# -- the order of admission, for pools that preempt ------------------------------------------------------------------


def stand_last(s: Sim, pool: i64, at: i64) -> None:
    """A part of a hold is the last one admitted to its pool."""
    elder = s.pools.youngest[pool]
    s.pools.elder[at] = elder
    s.pools.younger[at] = -1
    if elder < 0:
        s.pools.eldest[pool] = at
    else:
        s.pools.younger[elder] = at
    s.pools.youngest[pool] = at


def step_out(s: Sim, pool: i64, at: i64) -> None:
    """A part of a hold gives its units back."""
    elder = s.pools.elder[at]
    younger = s.pools.younger[at]
    if elder < 0:
        s.pools.eldest[pool] = younger
    else:
        s.pools.younger[elder] = younger
    if younger < 0:
        s.pools.youngest[pool] = elder
    else:
        s.pools.elder[younger] = elder

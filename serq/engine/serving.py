"""Stages in restricted Python: who waits, who is served, when the clocks are set.

The order of things at one instant is the reference's: a job that is done leaves, the next one starts, and only then
its session runs on.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.heap import drop_first, push, set_pending
from serq.engine.observing import advance_stage
from serq.engine.state import INF, NEVER, Sim


def make_ready(s: Sim, slot: i64) -> None:
    """A session can go on, behind those that already can."""
    s.follow[slot] = -1
    if s.ready_head < 0:
        s.ready_head = slot
    else:
        s.follow[s.ready_tail] = slot
    s.ready_tail = slot


def next_ready(s: Sim) -> i64:
    """The session that goes on now, taken from the ready ones; -1 where there is none."""
    slot = s.ready_head
    if slot >= 0:
        s.ready_head = s.follow[slot]
    return slot


def set_clock(s: Sim, source: i64, time: f64) -> None:
    """Set the clock of a source."""
    s.clock_time[source] = time
    s.clock_order[source] = s.order
    s.order += 1


def clear_clock(s: Sim, source: i64) -> None:
    """A source has no clock."""
    s.clock_time[source] = INF
    s.clock_order[source] = NEVER


def note_joined(s: Sim, stage: i64, slot: i64) -> None:
    """One job more at a stage."""
    if s.now != s.last[stage]:
        advance_stage(s, stage, s.now)
    s.number[stage] += 1
    s.joined[slot] = s.now
    s.place[slot] = stage


def note_left(s: Sim, stage: i64, slot: i64, begun: f64) -> None:
    """One job less: it is done."""
    joined = s.joined[slot]
    if s.now != s.last[stage]:
        advance_stage(s, stage, s.now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += s.now - joined
    if s.servers[stage] > 0:
        s.busy[stage] -= 1
        s.sum_wait[stage] += begun - joined
    s.completed[stage] += 1
    s.sum_service[stage] += s.now - begun


# -- fifo ------------------------------------------------------------------------------------------------------------


def join_fifo(s: Sim, stage: i64, slot: i64, work: f64) -> None:
    """A job comes to a stage with servers."""
    note_joined(s, stage, slot)
    s.work[slot] = work
    if s.busy[stage] < s.servers[stage]:
        start_fifo(s, stage, slot)
        return
    s.follow[slot] = -1
    if s.queue_head[stage] < 0:
        s.queue_head[stage] = slot
    else:
        s.follow[s.queue_tail[stage]] = slot
    s.queue_tail[stage] = slot


def start_fifo(s: Sim, stage: i64, slot: i64) -> None:
    """A job enters service; the stage has been integrated up to now."""
    s.busy[stage] += 1
    s.begun[slot] = s.now
    source = s.source[stage]
    if source >= 0:
        s.serving[stage] = slot
        set_clock(s, source, s.now + s.work[slot])
    else:
        set_pending(s, s.now + s.work[slot], slot)


def leave_fifo(s: Sim, stage: i64, slot: i64) -> i64:
    """A job is done; the next one starts. The slot whose session runs on."""
    note_left(s, stage, slot, s.begun[slot])
    after = s.queue_head[stage]
    if after >= 0:
        s.queue_head[stage] = s.follow[after]
        start_fifo(s, stage, after)
    return slot


# -- delay -----------------------------------------------------------------------------------------------------------


def join_delay(s: Sim, stage: i64, slot: i64, work: f64) -> None:
    """A job comes to a stage at which nobody waits."""
    note_joined(s, stage, slot)
    set_pending(s, s.now + work, slot)


def leave_pending(s: Sim, slot: i64) -> i64:
    """The job whose clock lay in the heap is done. The slot whose session runs on."""
    stage = s.place[slot]
    if s.servers[stage] > 0:
        return leave_fifo(s, stage, slot)
    note_left(s, stage, slot, s.joined[slot])
    return slot


# -- processor sharing: finish tags in virtual time, as `serq.semantics.clocks.Sharing` has them ---------------------


def join_shared(s: Sim, stage: i64, slot: i64, work: f64) -> i64:
    """A job comes to share the stage; the number present is returned, for which the speed must be set."""
    note_joined(s, stage, slot)
    s.virtual[stage] += (s.now - s.shared_last[stage]) * s.speed[stage]
    s.shared_last[stage] = s.now
    number = s.started[stage]
    s.started[stage] = number + 1
    region = s.region[stage]
    push(s, region, s.virtual[stage] + work, number, slot)
    s.moved[stage] = 1
    return s.heap_size[region]


def leave_shared(s: Sim, stage: i64) -> i64:
    """The job with the smallest tag is done; its slot. The speed must be set for those that are left."""
    region = s.region[stage]
    base = region * s.cap
    slot = s.heap_slot[base]
    s.virtual[stage] = s.heap_time[base]
    s.shared_last[stage] = s.now
    drop_first(s, region)
    s.moved[stage] = 1
    return slot


@cold
def empty_shared(s: Sim, stage: i64) -> None:
    """Nobody is left: virtual time starts anew."""
    s.speed[stage] = 0.0
    s.virtual[stage] = 0.0


def rest_shared(s: Sim, stage: i64) -> None:
    """Nothing more happens at this instant: set the clock of the next finish."""
    s.moved[stage] = 0
    region = s.region[stage]
    speed = s.speed[stage]
    if s.heap_size[region] == 0 or speed == 0.0:
        clear_clock(s, s.source[stage])
        return
    left = max(s.heap_time[region * s.cap] - s.virtual[stage], 0.0)
    set_clock(s, s.source[stage], s.shared_last[stage] + left / speed)

"""Stages in restricted Python: who waits, who is served, when the clocks are set.

The order of things at one instant is the reference's: a job that is done leaves, the next one starts, and only then
its session runs on.
"""

from serq.codegen.lang import f64, i64
from serq.engine.heap import put, take
from serq.engine.observing import advance_busy, advance_number
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


def set_pending(s: Sim, time: f64, slot: i64) -> None:
    """Set the clock of a slot in the heap."""
    order = s.order
    s.order = order + 1
    put(s, 0, time, order, slot)


def clear_clock(s: Sim, source: i64) -> None:
    """A source has no clock."""
    s.clock_time[source] = INF
    s.clock_order[source] = NEVER


def note_joined(s: Sim, stage: i64, slot: i64) -> None:
    """One job more at a stage."""
    advance_number(s, stage, s.now)
    s.number[stage] += 1
    s.joined[slot] = s.now
    s.place[slot] = stage


def note_left(s: Sim, stage: i64, slot: i64, begun: f64) -> None:
    """One job less, which has not waited apart from its service: it is done."""
    now = s.now
    advance_number(s, stage, now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += now - s.joined[slot]
    s.sum_service[stage] += now - begun
    s.completed[stage] += 1


# -- one server ------------------------------------------------------------------------------------------------------


def join_single(s: Sim, stage: i64, source: i64, slot: i64, work: f64) -> None:
    """A job comes to a stage with one server, whose clock is that of the source."""
    number = s.number[stage]
    note_joined(s, stage, slot)
    if number == 0:
        start_single(s, stage, source, slot, work)
        return
    s.work[slot] = work
    enqueue(s, stage, slot, number == 1)


def start_single(s: Sim, stage: i64, source: i64, slot: i64, work: f64) -> None:
    """A job enters service."""
    s.begun[slot] = s.now
    s.serving[stage] = slot
    set_clock(s, source, s.now + work)


def leave_single(s: Sim, stage: i64, source: i64) -> i64:
    """The job in service is done; the next one starts. The slot whose session runs on."""
    slot = s.serving[stage]
    begun = s.begun[slot]
    s.sum_wait[stage] += begun - s.joined[slot]
    note_left(s, stage, slot, begun)
    if s.number[stage] > 0:
        after = s.queue_head[stage]
        s.queue_head[stage] = s.follow[after]
        start_single(s, stage, source, after, s.work[after])
    else:
        clear_clock(s, source)
    return slot


def enqueue(s: Sim, stage: i64, slot: i64, first: bool) -> None:
    """A job waits behind those that wait, or is the first to wait."""
    if first:
        s.queue_head[stage] = slot
    else:
        s.follow[s.queue_tail[stage]] = slot
    s.queue_tail[stage] = slot


# -- several servers -------------------------------------------------------------------------------------------------


def join_many(s: Sim, stage: i64, servers: i64, slot: i64, work: f64) -> None:
    """A job comes to a stage with so many servers, whose clocks lie in the heap."""
    if s.now != s.last[stage]:
        advance_busy(s, stage, s.now)
    number = s.number[stage]
    note_joined(s, stage, slot)
    if number < servers:
        start_many(s, slot, work)
        return
    s.work[slot] = work
    enqueue(s, stage, slot, number == servers)


def start_many(s: Sim, slot: i64, work: f64) -> None:
    """A job enters service."""
    s.begun[slot] = s.now
    set_pending(s, s.now + work, slot)


def leave_many(s: Sim, stage: i64, servers: i64, slot: i64) -> i64:
    """A job is done; the next one starts. The slot whose session runs on."""
    if s.now != s.last[stage]:
        advance_busy(s, stage, s.now)
    begun = s.begun[slot]
    s.sum_wait[stage] += begun - s.joined[slot]
    note_left(s, stage, slot, begun)
    if s.number[stage] >= servers:
        after = s.queue_head[stage]
        s.queue_head[stage] = s.follow[after]
        start_many(s, after, s.work[after])
    return slot


# -- delay -----------------------------------------------------------------------------------------------------------


def join_delay(s: Sim, stage: i64, slot: i64, work: f64) -> None:
    """A job comes to a stage at which nobody waits."""
    note_joined(s, stage, slot)
    set_pending(s, s.now + work, slot)


def leave_delay(s: Sim, stage: i64, slot: i64) -> i64:
    """A job of such a stage is done. The slot whose session runs on."""
    note_left(s, stage, slot, s.joined[slot])
    return slot


# -- processor sharing: finish tags in virtual time, as `serq.semantics.clocks.Sharing` has them ---------------------
#
# When the first job will be done is worked out at every change, from numbers that are at hand, and not when the instant
# is over, and before anything is counted: which event comes next is what all else waits for. The order of the clock is
# settled at the end.


def join_shared(s: Sim, stage: i64, region: i64, slot: i64, work: f64) -> f64:
    """A job comes to share the stage: what each must get until the first is done. The speed must be set then, and the
    job be counted.
    """
    virtual = s.virtual[stage] + (s.now - s.shared_last[stage]) * s.speed[stage]
    s.virtual[stage] = virtual
    s.shared_last[stage] = s.now
    number = s.started[stage]
    s.started[stage] = number + 1
    s.moved[stage] = 1
    return max(put(s, region, virtual + work, number, slot) - virtual, 0.0)


def leave_shared(s: Sim, stage: i64, region: i64) -> f64:
    """The job with the smallest tag is done: what each of the others must get until the next one is. The speed must be
    set then, and the job be counted.
    """
    virtual = s.first_time[region]
    s.virtual[stage] = virtual
    s.shared_last[stage] = s.now
    s.moved[stage] = 1
    return max(take(s, region) - virtual, 0.0)


def empty_shared(s: Sim, stage: i64, source: i64) -> None:
    """Nobody is left: virtual time starts anew."""
    s.speed[stage] = 0.0
    s.virtual[stage] = 0.0
    s.clock_time[source] = INF


def rest_shared(s: Sim, stage: i64, source: i64) -> None:
    """Nothing more happens at this instant: the clock of the next finish is set now."""
    s.moved[stage] = 0
    if s.speed[stage] == 0.0:
        clear_clock(s, source)
        return
    s.clock_order[source] = s.order
    s.order += 1

"""Sessions taken away from where they are, in restricted Python: they were preempted. All of it is rare.

As in `serq.semantics.stages.Stages.withdraw`: the next job starts, and what the one that leaves has waited counts.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.heap import remove
from serq.engine.observing import advance_busy, advance_number
from serq.engine.serving import clear_clock, start_many, start_single
from serq.engine.state import Sim


@cold
def leave_ready(s: Sim, slot: i64) -> bool:
    """A session is ready no more; False where it was not."""
    before = -1
    at = s.ready_head
    while at >= 0 and at != slot:
        before = at
        at = s.follow[at]
    if at < 0:
        return False
    if before < 0:
        s.ready_head = s.follow[slot]
    else:
        s.follow[before] = s.follow[slot]
    if s.ready_tail == slot:
        s.ready_tail = before
    return True


@cold
def withdraw_single(s: Sim, stage: i64, source: i64, slot: i64) -> None:
    """From a stage with one server."""
    if s.serving[stage] != slot:
        leave_line(s, stage, slot)
        note_gone(s, stage, slot)
        return
    s.sum_wait[stage] += s.begun[slot] - s.joined[slot]
    note_gone(s, stage, slot)
    if s.number[stage] > 0:
        after = s.queue_head[stage]
        s.queue_head[stage] = s.follow[after]
        start_single(s, stage, source, after, s.work[after])
    else:
        clear_clock(s, source)


@cold
def withdraw_many(s: Sim, stage: i64, servers: i64, slot: i64) -> None:
    """From a stage with several servers."""
    if s.now != s.last[stage]:
        advance_busy(s, stage, s.now)
    if is_in_line(s, stage, slot, max(s.number[stage] - servers, 0)):
        leave_line(s, stage, slot)
        note_gone(s, stage, slot)
        return
    s.sum_wait[stage] += s.begun[slot] - s.joined[slot]
    remove(s, 0, slot)
    note_gone(s, stage, slot)
    if s.number[stage] >= servers:
        after = s.queue_head[stage]
        s.queue_head[stage] = s.follow[after]
        start_many(s, after, s.work[after])


def is_in_line(s: Sim, stage: i64, slot: i64, number: i64) -> bool:
    """Whether a job is among those that wait, who are so many."""
    at = s.queue_head[stage]
    for _ in range(number):
        if at == slot:
            return True
        at = s.follow[at]
    return False


def leave_line(s: Sim, stage: i64, slot: i64) -> None:
    """A job waits for service no more, and all the time that it did counts."""
    s.sum_wait[stage] += s.now - s.joined[slot]
    if s.queue_head[stage] == slot:
        s.queue_head[stage] = s.follow[slot]
        return
    before = s.queue_head[stage]
    while s.follow[before] != slot:
        before = s.follow[before]
    s.follow[before] = s.follow[slot]
    if s.queue_tail[stage] == slot:
        s.queue_tail[stage] = before


@cold
def withdraw_delay(s: Sim, stage: i64, slot: i64) -> None:
    """From a delay."""
    remove(s, 0, slot)
    note_gone(s, stage, slot)


@cold
def withdraw_shared(s: Sim, stage: i64, region: i64, slot: i64) -> f64:
    """From a stage whose rate is shared. The speed must be set for those that are left; what each of them must get
    until the first is done.
    """
    s.virtual[stage] += (s.now - s.shared_last[stage]) * s.speed[stage]
    s.shared_last[stage] = s.now
    remove(s, region, slot)
    s.moved[stage] = 1
    note_gone(s, stage, slot)
    return max(s.first_time[region] - s.virtual[stage], 0.0)


def note_gone(s: Sim, stage: i64, slot: i64) -> None:
    """One job less, which is not done: its stay counts, but no completion."""
    if s.now != s.last[stage]:
        advance_number(s, stage, s.now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += s.now - s.joined[slot]

"""The residents of step stages in restricted Python: joining, leaving, and what the program reads of them."""

from serq.codegen.lang import I64Array, cold, f64, i64
from serq.engine.observing import advance_number
from serq.engine.requests import finish_run
from serq.engine.serving import make_ready, note_joined
from serq.engine.state import Sim
from serq.engine.step_state import DECODE, FAR, NEVER_ADMITTED, PREFILL

PLAN_AHEAD = 4
"""A bit of `options`. `lately` has a bit for each of these stages at which the session's work was done in the iteration
that has just ended, until the next has been put together or the session comes back.
"""


def join_step(s: Sim, stage: i64, slot: i64, work: f64, phase: i64, rank: i64) -> None:
    """A session becomes a resident: in the order of its admission, whose number is `rank`, or last where that is 0."""
    note_joined(s, stage, slot)
    k = s.steps.number_of[stage]
    s.work[slot] = work
    s.steps.lately[slot] &= ~(1 << k)
    s.steps.phase[slot] = phase
    s.steps.tokens[slot] = 0.0
    if rank == 0:
        rank = NEVER_ADMITTED + s.steps.joined
        s.steps.joined += 1
    s.steps.rank[slot] = rank
    base = k * s.cap
    i = base + s.steps.count[k]
    while i > base and s.steps.rank[s.steps.residents[i - 1]] > rank:
        s.steps.residents[i] = s.steps.residents[i - 1]
        s.steps.finishes[i] = s.steps.finishes[i - 1]
        i -= 1
    s.steps.residents[i] = slot
    s.steps.finishes[i] = FAR
    s.steps.count[k] += 1
    s.steps.steady[slot] = 0
    i = base + s.steps.loose_count[k]
    while i > base and s.steps.rank[s.steps.loose[i - 1]] > rank:
        s.steps.loose[i] = s.steps.loose[i - 1]
        i -= 1
    s.steps.loose[i] = slot
    s.steps.loose_count[k] += 1


def drop_loose(s: Sim, k: i64, slot: i64) -> None:
    """Take a resident off the list of the loose ones."""
    last = k * s.cap + s.steps.loose_count[k] - 1
    close_gap(s.steps.loose, place_of(s.steps.loose, last, slot), last)
    s.steps.loose_count[k] -= 1


def remove_resident(s: Sim, k: i64, slot: i64) -> None:
    """Take a loose resident off the lists."""
    drop_loose(s, k, slot)
    last = k * s.cap + s.steps.count[k] - 1
    at = place_of(s.steps.residents, last, slot)
    close_gap(s.steps.residents, at, last)
    close_gap(s.steps.finishes, at, last)
    s.steps.count[k] -= 1


def place_of(slots: I64Array, last: i64, slot: i64) -> i64:
    """Where a slot stands in a list; it is looked for from the last place: most often it is young."""
    at = last
    while slots[at] != slot:
        at -= 1
    return at


def close_gap(items: I64Array, at: i64, last: i64) -> None:
    """What stands behind a place of a list moves up by one."""
    for i in range(at, last):
        items[i] = items[i + 1]


def leave_done(s: Sim, k: i64, slot: i64) -> None:
    """A job is done and off the lists: its session is ready. At step stages nobody waits."""
    stage = s.steps.place[k]
    if s.requests.room > 0:
        finish_run(s, slot, s.steps.phase[slot] == PREFILL)
    s.steps.phase[slot] = 0
    joined = s.joined[slot]
    if s.now != s.last[stage]:
        advance_number(s, stage, s.now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += s.now - joined
    s.completed[stage] += 1
    s.sum_service[stage] += s.now - joined
    if s.steps.options[k] & PLAN_AHEAD != 0:
        s.steps.lately[slot] |= 1 << k
        s.steps.done[k * s.cap + s.steps.done_size[k]] = slot
        s.steps.done_size[k] += 1
    make_ready(s, slot)


def lingers(s: Sim, slot: i64, stages: i64) -> bool:
    """Whether a session that is about to give units back must wait until a stage that plans ahead has planned."""
    for k in range(stages):
        if s.steps.lately[slot] & (1 << k) != 0:
            s.steps.lately[slot] &= ~(1 << k)
            s.steps.leaving[k * s.cap + s.steps.leaving_size[k]] = slot
            s.steps.leaving_size[k] += 1
            return True
    return False


@cold
def stop_lingering(s: Sim, slot: i64, stages: i64) -> bool:
    """A session that waits for such a stage to plan has been preempted; False where it waits for none."""
    for k in range(stages):
        last = k * s.cap + s.steps.leaving_size[k] - 1
        for i in range(k * s.cap, last + 1):
            if s.steps.leaving[i] == slot:
                close_gap(s.steps.leaving, i, last)
                s.steps.leaving_size[k] -= 1
                return True
    return False


def let_go(s: Sim, k: i64) -> None:
    """The iteration has been put together, if there was anything for it: what the one before used is free now."""
    base = k * s.cap
    for i in range(base, base + s.steps.done_size[k]):
        s.steps.lately[s.steps.done[i]] &= ~(1 << k)
    s.steps.done_size[k] = 0
    for i in range(base, base + s.steps.leaving_size[k]):
        make_ready(s, s.steps.leaving[i])
    s.steps.leaving_size[k] = 0


def remaining(s: Sim, k: i64, slot: i64) -> f64:
    """The tokens of a resident that do not count yet."""
    return float(s.steps.finish[slot] - s.steps.round[k]) if s.steps.steady[slot] == 1 else s.work[slot]


def is_resident(s: Sim, k: i64, slot: i64) -> bool:
    """Whether the session has a job at the stage."""
    return s.steps.phase[slot] != 0 and s.place[slot] == s.steps.place[k]


# -- what the program reads ------------------------------------------------------------------------------------------


def busy_step(s: Sim, stage: i64) -> f64:
    """Jobs in the running iteration."""
    k = s.steps.number_of[stage]
    return float(s.steps.size[k] + s.steps.steady_batch[k]) if s.steps.running[k] == 1 else 0.0


def queue_step(s: Sim, stage: i64) -> f64:
    """Residents that are not in the running iteration."""
    return float(s.steps.count[s.steps.number_of[stage]]) - busy_step(s, stage)


def work_step(s: Sim, stage: i64) -> f64:
    """The tokens of all residents that do not count yet."""
    k = s.steps.number_of[stage]
    total = 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.count[k]):
        total += remaining(s, k, s.steps.residents[i])
    return total


def count_decoding(s: Sim, k: i64) -> f64:
    """Residents that decode."""
    total = s.steps.steady_count[k]
    for i in range(k * s.cap, k * s.cap + s.steps.loose_count[k]):
        if s.steps.phase[s.steps.loose[i]] == DECODE:
            total += 1
    return float(total)

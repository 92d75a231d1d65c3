"""The residents of step stages in restricted Python: joining, leaving, and what the program reads of them."""

from serq.codegen.lang import f64, i64
from serq.engine.observing import advance_stage
from serq.engine.serving import note_joined
from serq.engine.state import Sim
from serq.engine.step_state import DECODE, NEVER_ADMITTED


def join_step(s: Sim, stage: i64, slot: i64, work: f64, phase: i64, rank: i64) -> None:
    """A session becomes a resident: in the order of its admission, whose number is `rank`, or last where that is 0."""
    note_joined(s, stage, slot)
    k = s.steps.number_of[stage]
    s.work[slot] = work
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
        i -= 1
    s.steps.residents[i] = slot
    s.steps.count[k] += 1


def remove_resident(s: Sim, k: i64, slot: i64) -> None:
    """Take a session off the list of residents."""
    i = k * s.cap
    while s.steps.residents[i] != slot:
        i += 1
    last = k * s.cap + s.steps.count[k] - 1
    while i < last:
        s.steps.residents[i] = s.steps.residents[i + 1]
        i += 1
    s.steps.count[k] -= 1
    s.steps.phase[slot] = 0


def note_finished(s: Sim, stage: i64, slot: i64) -> None:
    """One job less at a step stage: it is done. At step stages nobody waits."""
    joined = s.joined[slot]
    if s.now != s.last[stage]:
        advance_stage(s, stage, s.now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += s.now - joined
    s.completed[stage] += 1
    s.sum_service[stage] += s.now - joined


def is_resident(s: Sim, k: i64, slot: i64) -> bool:
    """Whether the session has a job at the stage."""
    return s.steps.phase[slot] != 0 and s.place[slot] == s.steps.place[k]


# -- what the program reads ------------------------------------------------------------------------------------------


def busy_step(s: Sim, stage: i64) -> f64:
    """Jobs in the running iteration."""
    k = s.steps.number_of[stage]
    return float(s.steps.size[k]) if s.steps.running[k] == 1 else 0.0


def queue_step(s: Sim, stage: i64) -> f64:
    """Residents that are not in the running iteration."""
    return float(s.steps.count[s.steps.number_of[stage]]) - busy_step(s, stage)


def work_step(s: Sim, stage: i64) -> f64:
    """The tokens of all residents that do not count yet."""
    k = s.steps.number_of[stage]
    total = 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.count[k]):
        total += s.work[s.steps.residents[i]]
    return total


def count_decoding(s: Sim, k: i64) -> f64:
    """Residents that decode."""
    total = 0
    for i in range(k * s.cap, k * s.cap + s.steps.count[k]):
        if s.steps.phase[s.steps.residents[i]] == DECODE:
            total += 1
    return float(total)

"""The iterations of step stages in restricted Python: who is given tokens, and what the end of an iteration does.

As `serq.semantics.steps` has it. What belongs to one program (budgets, costs, growth, admission) stands in the text of
the program, which walks through the residents with the functions here.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.residents import is_resident, leave_done, remove_resident
from serq.engine.state import INF, Sim
from serq.engine.steady import (
    TOGETHER,
    end_together,
    is_whole,
    make_loose,
    make_steady,
    next_round,
    plan_together,
    take_memory,
    take_tokens,
)  # fmt: skip
from serq.engine.step_state import DECODE, PREFILL

DECODE_FIRST = 1
EXCLUSIVE_PREFILL = 2
"""Bits of `options`."""


def wanted(s: Sim, slot: i64, chunk: f64) -> f64:
    """The tokens a resident would take of an unlimited budget."""
    most = 1.0 if s.steps.phase[slot] == DECODE else chunk
    return most if most < s.work[slot] else s.work[slot]


def no_less(chunk: f64) -> f64:
    """The most tokens of one prefill: no cap where there is no positive number."""
    return chunk if chunk > 0.0 else INF


def put_in_order(s: Sim, k: i64) -> None:
    """List the residents in the order in which they take tokens."""
    base = k * s.cap
    end = base + s.steps.count[k]
    options = s.steps.options[k]
    n = base
    if options & EXCLUSIVE_PREFILL != 0:
        for i in range(base, end):
            if n == base and s.steps.phase[s.steps.residents[i]] == PREFILL:
                s.steps.order[n] = s.steps.residents[i]
                n += 1
        if n > base:
            s.steps.listed[k] = 1
            return
    if options & DECODE_FIRST != 0:
        for i in range(base, end):
            if s.steps.phase[s.steps.residents[i]] == DECODE:
                s.steps.order[n] = s.steps.residents[i]
                n += 1
    for i in range(base, end):
        if options & DECODE_FIRST == 0 or s.steps.phase[s.steps.residents[i]] != DECODE:
            s.steps.order[n] = s.steps.residents[i]
            n += 1
    s.steps.listed[k] = n - base


def rest_of_budget(s: Sim, k: i64, budget: f64, chunk: f64) -> f64:
    """What would be left of a budget once the residents had taken their tokens."""
    if s.steps.options[k] & TOGETHER != 0 and (budget == INF or is_whole(budget)):
        left = budget - float(s.steps.steady_count[k])
        whole = True
        for i in range(k * s.cap, k * s.cap + s.steps.loose_count[k]):
            tokens = wanted(s, s.steps.loose[i], chunk)
            left -= tokens
            whole = whole and is_whole(tokens)
        if whole:  # in whatever order: what is not below zero is exact
            return max(left, 0.0)
    return rest_in_order(s, k, budget, chunk)


@cold
def rest_in_order(s: Sim, k: i64, budget: f64, chunk: f64) -> f64:
    """The same, one resident after the other."""
    put_in_order(s, k)
    left = budget
    for i in range(k * s.cap, k * s.cap + s.steps.listed[k]):
        left -= wanted(s, s.steps.order[i], chunk)
    return max(left, 0.0)


# -- putting an iteration together -----------------------------------------------------------------------------------


def begin_plan(s: Sim, k: i64) -> None:
    """An iteration is put together, with the limits that have just been worked out."""
    s.steps.left[k] = s.steps.budget
    s.steps.most[k] = s.steps.chunk
    s.steps.planning[k] = 1
    s.steps.size[k] = 0
    s.steps.cursor[k] = 0
    if s.steps.options[k] & TOGETHER == 0 or not count_together(s, k):
        put_in_order(s, k)


def count_together(s: Sim, k: i64) -> bool:
    """Give all steady residents their tokens if that can be done; then the loose ones are to take theirs."""
    if not (make_steady(s, k) and plan_together(s, k)):
        make_loose(s, k)
        return False
    take_memory(s, k)
    s.steps.steady_batch[k] = s.steps.steady_count[k]
    s.steps.left[k] -= float(s.steps.steady_count[k])
    s.steps.listed[k] = s.steps.loose_count[k]
    for i in range(k * s.cap, k * s.cap + s.steps.loose_count[k]):
        s.steps.order[i] = s.steps.loose[i]
    return True


def next_resident(s: Sim, k: i64) -> i64:
    """The next resident that may take tokens; -1 where there is none, or nothing left of the budget."""
    while s.steps.cursor[k] < s.steps.listed[k] and s.steps.left[k] > 0.0:
        slot = s.steps.order[k * s.cap + s.steps.cursor[k]]
        s.steps.cursor[k] += 1
        if is_resident(s, k, slot):
            return slot
    return -1


def offered(s: Sim, k: i64, slot: i64) -> f64:
    """The tokens that a resident can be given now."""
    tokens = wanted(s, slot, s.steps.most[k])
    return s.steps.left[k] if s.steps.left[k] < tokens else tokens


def give(s: Sim, k: i64, slot: i64, tokens: f64) -> None:
    """A resident joins the batch."""
    s.steps.batch[k * s.cap + s.steps.size[k]] = slot
    s.steps.size[k] += 1
    s.steps.tokens[slot] = tokens
    s.steps.left[k] -= tokens


def take_back(s: Sim, k: i64) -> None:
    """Whoever was preempted after he had been given tokens leaves the batch, and they return to the budget."""
    base = k * s.cap
    kept = base
    gone = 0.0
    for i in range(base, base + s.steps.size[k]):
        slot = s.steps.batch[i]
        if is_resident(s, k, slot):
            s.steps.batch[kept] = slot
            kept += 1
        else:
            gone += s.steps.tokens[slot]
            s.steps.tokens[slot] = 0.0
    s.steps.size[k] = kept - base
    s.steps.left[k] += gone


def set_aside(s: Sim, k: i64) -> None:
    """Who was scheduled so far gives way to an admitted prefill, which takes the whole budget."""
    base = k * s.cap
    taken = 0.0
    for i in range(base, base + s.steps.size[k]):
        slot = s.steps.batch[i]
        s.steps.aside[i] = slot
        s.steps.aside_tokens[i] = s.steps.tokens[slot]
        taken += s.steps.tokens[slot]
        s.steps.tokens[slot] = 0.0
    s.steps.aside_size[k] = s.steps.size[k]
    s.steps.size[k] = 0
    s.steps.left[k] += taken


def bring_back(s: Sim, k: i64) -> None:
    """The prefill found no memory, if nobody is scheduled: those who gave way have their tokens again."""
    if s.steps.size[k] > 0:
        return
    base = k * s.cap
    taken = 0.0
    for i in range(base, base + s.steps.aside_size[k]):
        slot = s.steps.aside[i]
        s.steps.batch[i] = slot
        s.steps.tokens[slot] = s.steps.aside_tokens[i]
        taken += s.steps.aside_tokens[i]
    s.steps.size[k] = s.steps.aside_size[k]
    s.steps.left[k] -= taken
    take_back(s, k)


# -- what a cost reads -----------------------------------------------------------------------------------------------


def decoding_in_batch(s: Sim, k: i64) -> f64:
    """Decoding residents in the batch."""
    total = s.steps.steady_batch[k]
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        if s.steps.phase[s.steps.batch[i]] == DECODE:
            total += 1
    return float(total)


def held_in_batch(s: Sim, k: i64, phase: i64) -> f64:
    """What those in a phase hold of the stage's memory."""
    total = s.steps.steady_held[k] if phase == DECODE and s.steps.steady_batch[k] > 0 else 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        slot = s.steps.batch[i]
        if s.steps.phase[slot] == phase:
            total += s.steps.held[slot]
    return total


def tokens_in_batch(s: Sim, k: i64) -> f64:
    """All tokens of the batch."""
    total = float(s.steps.steady_batch[k])
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        total += s.steps.tokens[s.steps.batch[i]]
    return total


def prefill_in_batch(s: Sim, k: i64) -> f64:
    """The tokens of prefills in the batch."""
    total = 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        if s.steps.phase[s.steps.batch[i]] == PREFILL:
            total += s.steps.tokens[s.steps.batch[i]]
    return total


def attention_in_batch(s: Sim, k: i64) -> f64:
    """What the prefills in the batch attend to."""
    total = 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        slot = s.steps.batch[i]
        if s.steps.phase[slot] == PREFILL:
            tokens = s.steps.tokens[slot]
            before = 0.0 if s.steps.part[slot] < 0 else s.pools.position[s.steps.at[slot]]
            total += tokens * (2.0 * before + tokens) / 2.0
    return total


# -- the end of an iteration -----------------------------------------------------------------------------------------


def end_iteration(s: Sim, k: i64) -> None:
    """The tokens count; whose work is done leaves and is ready, in the order of scheduling."""
    s.iterations[s.steps.place[k]] += 1
    s.steps.running[k] = 0
    if s.steps.steady_batch[k] > 0:
        s.steps.steady_batch[k] = 0
        next_round(s, k)
        if s.steps.round[k] >= s.steps.next_finish[k]:
            end_together(s, k)
            s.steps.size[k] = 0
            return
    for i in range(k * s.cap, k * s.cap + s.steps.size[k]):
        slot = s.steps.batch[i]
        take_tokens(s, slot)
        if s.work[slot] <= 0.0:
            remove_resident(s, k, slot)
            leave_done(s, k, slot)
    s.steps.size[k] = 0

"""Decoding residents whose tokens are counted together, in restricted Python.

A decoding resident takes one token of every iteration, so that nothing need be written down for it but when it began:
it is *steady*. Its work is `finish - round` and its position `base + round`, where `round` counts the iterations of the
stage that had steady residents in them. The next one that is done is known by the least `finish`. All others (prefills,
what has just joined, amounts that are not whole) are *loose* and are listed by rank.

An iteration may count them together as long as what it gives does not depend on the order of residents: the budget is
enough for all, or is used up behind the last steady one. Where that is not so, all become loose, and the iteration is
put together one by one, as it is where the program's order of service is another than that of admission.
"""

from serq.codegen.lang import cold, f64, floor, i64
from serq.engine.entries import evict_oldest, excess, up
from serq.engine.residents import drop_loose, leave_done, remaining
from serq.engine.state import Sim
from serq.engine.step_state import DECODE, FAR, WIDEST

TOGETHER = 8
PLAIN = 16
"""Bits of `options`: residents may be counted together, and the memory evicts in the order of release."""

LARGEST = 2.0**52
"""Up to here whole numbers can be counted as integers."""


def is_whole(x: f64) -> bool:
    """Whether an amount can be counted as an integer."""
    return x == floor(x) and x < LARGEST


# -- becoming steady and loose ---------------------------------------------------------------------------------------


def make_steady(s: Sim, k: i64) -> bool:
    """Before an iteration: decoding residents become steady; whether all did."""
    base = k * s.cap
    kept = base
    good = True
    at = base + s.steps.count[k] - s.steps.loose_count[k]
    if s.steps.loose_count[k] > 0 and s.steps.residents[at] != s.steps.loose[base]:
        at = base  # else the loose ones are the last residents
    for i in range(base, base + s.steps.loose_count[k]):
        slot = s.steps.loose[i]
        while s.steps.residents[at] != slot:
            at += 1
        if s.steps.phase[slot] == DECODE and can_be_steady(s, k, slot):
            begin_steady(s, k, slot, at)
        else:
            if s.steps.phase[slot] == DECODE:
                good = False
            s.steps.loose[kept] = slot
            kept += 1
    s.steps.loose_count[k] = kept - base
    return good


def can_be_steady(s: Sim, k: i64, slot: i64) -> bool:
    """Whether all amounts of a decoding resident are whole, and its growth takes a block whenever one is full."""
    if not is_whole(s.work[slot]) or not is_whole(s.steps.held[slot]):
        return False
    if s.steps.part[slot] < 0:
        return True
    if s.steps.pool[slot] != s.steps.memory[k] or s.steps.width[k] == 0:
        return False
    position = s.pools.position[s.steps.at[slot]]
    units = s.pools.units[s.steps.at[slot]]
    if not is_whole(position) or not is_whole(units):
        return False
    return position + s.work[slot] <= units or float(in_blocks(s, k, int(position))) == units


def in_blocks(s: Sim, k: i64, position: i64) -> i64:
    """The units that a computed position takes."""
    width = s.steps.width[k]
    return (position + width - 1) // width * width


def begin_steady(s: Sim, k: i64, slot: i64, at: i64) -> None:
    """The resident at this place of the list is counted together with the others from now on."""
    finish = s.steps.round[k] + int(s.work[slot])
    s.steps.steady[slot] = 1
    s.steps.crosses[slot] = 0
    s.steps.finishes[at] = finish
    s.steps.steady_held[k] += s.steps.held[slot]
    if s.steps.part[slot] >= 0:
        part = s.steps.at[slot]
        base = int(s.pools.position[part]) - s.steps.round[k]
        s.steps.base[slot] = base
        if s.pools.position[part] + s.work[slot] > s.pools.units[part]:
            s.steps.crosses[slot] = 1
            s.steps.crossings[k * WIDEST + base % s.steps.width[k]] += 1
    s.steps.finish[slot] = finish
    s.steps.steady_count[k] += 1
    if finish < s.steps.next_finish[k]:
        s.steps.next_finish[k] = finish


def end_steady(s: Sim, k: i64, slot: i64) -> None:
    """What has been counted together is written down for one of them."""
    s.work[slot] = remaining(s, k, slot)
    s.steps.steady[slot] = 0
    s.steps.steady_count[k] -= 1
    if s.steps.part[slot] >= 0:
        at = s.steps.at[slot]
        position = s.steps.base[slot] + s.steps.round[k]
        s.pools.position[at] = float(position)
        if s.steps.crosses[slot] == 1:
            s.steps.crossings[k * WIDEST + s.steps.base[slot] % s.steps.width[k]] -= 1
            planned = position + 1 if s.steps.steady_batch[k] > 0 else position
            units = float(in_blocks(s, k, planned))
            s.steps.held[slot] += units - s.pools.units[at]
            s.pools.units[at] = units
    s.steps.steady_held[k] -= s.steps.held[slot]


@cold
def make_loose(s: Sim, k: i64) -> None:
    """All residents are loose again; those in the batch take their places in it, by rank."""
    base = k * s.cap
    in_batch = s.steps.steady_batch[k] > 0
    n = base
    for i in range(base, base + s.steps.count[k]):
        slot = s.steps.residents[i]
        s.steps.loose[i] = slot
        s.steps.finishes[i] = FAR
        if s.steps.steady[slot] == 1:
            end_steady(s, k, slot)
            s.steps.tokens[slot] = 1.0 if in_batch else 0.0
        if in_batch and s.steps.tokens[slot] > 0.0:
            s.steps.batch[n] = slot
            n += 1
    if in_batch:
        s.steps.size[k] = n - base
    s.steps.loose_count[k] = s.steps.count[k]
    s.steps.steady_batch[k] = 0
    s.steps.next_finish[k] = FAR


# -- an iteration ----------------------------------------------------------------------------------------------------


def plan_together(s: Sim, k: i64) -> bool:
    """Whether every steady resident gets a token and the loose ones get what is left, in whatever order they stand."""
    left = s.steps.left[k] - float(s.steps.steady_count[k])
    if not (left >= 0.0 and (left == floor(left))):
        return False
    base = k * s.cap
    more = blocks_due(s, k)
    for i in range(base, base + s.steps.loose_count[k]):
        slot = s.steps.loose[i]
        tokens = s.work[slot] if s.work[slot] <= s.steps.most[k] else s.steps.most[k]
        if tokens != floor(tokens):
            return False
        if tokens > left and not is_last(s, k, slot):
            return False
        tokens = min(tokens, left)
        left -= tokens
        if s.steps.part[slot] >= 0:
            if s.steps.pool[slot] != s.steps.memory[k]:
                return False
            at = s.steps.at[slot]
            more += max(up(s.pools.position[at] + tokens, s.steps.block[k]) - s.pools.units[at], 0.0)
    return more == 0.0 or has_memory(s, k, more)


def blocks_due(s: Sim, k: i64) -> f64:
    """The units that the next tokens of the steady residents take: `due` is the remainder of those at a block's end."""
    return units_due(s, k, s.steps.due[k])


def units_due(s: Sim, k: i64, due: i64) -> f64:
    """The units that residents take whose positions have this remainder."""
    return float(s.steps.crossings[k * WIDEST + due] * s.steps.width[k])


def next_round(s: Sim, k: i64) -> None:
    """An iteration with steady residents is over."""
    s.steps.round[k] += 1
    s.steps.due[k] = due_after(s, k, s.steps.due[k])


def due_after(s: Sim, k: i64, due: i64) -> i64:
    """The remainder of those at a block's end, one iteration later."""
    return due - 1 if due > 0 else max(s.steps.width[k] - 1, 0)


def has_memory(s: Sim, k: i64, more: f64) -> bool:
    """Whether so many units fit, whoever asks for them first; what is evicted for it may only depend on its age."""
    pool = s.steps.memory[k]
    if s.pools.used[pool] + more > s.steps.cap[k]:
        return False
    return s.steps.options[k] & PLAIN != 0 or s.pools.used[pool] + s.pools.cached[pool] + more <= s.steps.cap[k]


def take_memory(s: Sim, k: i64) -> None:
    """The steady residents take the units for their next tokens, which are there."""
    more = blocks_due(s, k)
    if more != 0.0:
        take_due(s, k, more)


def take_due(s: Sim, k: i64, more: f64) -> None:
    """They take so many units, for which there is room."""
    pool = s.steps.memory[k]
    if excess(s, pool, more, s.steps.cap[k]) > 0.0:
        evict_oldest(s, pool, more, s.steps.cap[k], s.steps.block[k])
    s.pools.used[pool] += more
    s.pools.touched[pool] = 1
    s.steps.steady_held[k] += more


def held_by(s: Sim, k: i64, phase: i64) -> f64:
    """What residents in a phase hold of the stage's memory."""
    total = s.steps.steady_held[k] if phase == DECODE else 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.loose_count[k]):
        slot = s.steps.loose[i]
        if s.steps.phase[slot] == phase:
            if s.steps.steady_count[k] > 0 and not is_whole(s.steps.held[slot]):
                make_loose(s, k)
                return held_by_all(s, k, phase)
            total += s.steps.held[slot]
    return total


@cold
def held_by_all(s: Sim, k: i64, phase: i64) -> f64:
    """The same where all are loose, added up in their order."""
    total = 0.0
    for i in range(k * s.cap, k * s.cap + s.steps.count[k]):
        slot = s.steps.residents[i]
        if s.steps.phase[slot] == phase:
            total += s.steps.held[slot]
    return total


def is_last(s: Sim, k: i64, slot: i64) -> bool:
    """Whether all steady residents stand before a loose one."""
    i = k * s.cap + s.steps.count[k] - 1
    while s.steps.residents[i] != slot:
        if s.steps.steady[s.steps.residents[i]] == 1:
            return False
        i -= 1
    return True


def end_together(s: Sim, k: i64) -> None:
    """The end of an iteration in which steady residents are done: all who are leave in the order of rank."""
    base = k * s.cap
    kept = base
    nearest = FAR
    now = s.steps.round[k]
    for i in range(base, base + s.steps.count[k]):
        finish = s.steps.finishes[i]
        if (finish <= now or finish == FAR) and leaves(s, k, s.steps.residents[i]):
            continue
        nearest = min(nearest, finish)
        s.steps.residents[kept] = s.steps.residents[i]
        s.steps.finishes[kept] = finish
        kept += 1
    s.steps.count[k] = kept - base
    s.steps.next_finish[k] = nearest


@cold
def leaves(s: Sim, k: i64, slot: i64) -> bool:
    """At the end of an iteration: a steady resident is done, a loose one perhaps, and then leaves."""
    if s.steps.steady[slot] == 1:
        end_steady(s, k, slot)
    else:
        if not s.steps.tokens[slot] > 0.0:
            return False
        take_tokens(s, slot)
        if s.work[slot] > 0.0:
            return False
        drop_loose(s, k, slot)
    leave_done(s, k, slot)
    return True


def take_tokens(s: Sim, slot: i64) -> None:
    """The tokens that a resident was given count."""
    s.work[slot] -= s.steps.tokens[slot]
    if s.steps.part[slot] >= 0:
        s.pools.position[s.steps.at[slot]] += s.steps.tokens[slot]
    s.steps.tokens[slot] = 0.0

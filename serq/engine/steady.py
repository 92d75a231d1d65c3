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
from serq.engine.residents import drop_loose, leave_done, remaining
from serq.engine.state import Sim
from serq.engine.step_state import DECODE, FAR

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
    for i in range(base, base + s.steps.loose_count[k]):
        slot = s.steps.loose[i]
        if s.steps.phase[slot] == DECODE and s.steps.part[slot] < 0 and is_whole(s.work[slot]):
            begin_steady(s, k, slot)
        else:
            if s.steps.phase[slot] == DECODE:
                good = False
            s.steps.loose[kept] = slot
            kept += 1
    s.steps.loose_count[k] = kept - base
    return good


def begin_steady(s: Sim, k: i64, slot: i64) -> None:
    """A resident is counted together with the others from now on."""
    finish = s.steps.round[k] + int(s.work[slot])
    s.steps.steady[slot] = 1
    s.steps.finish[slot] = finish
    s.steps.steady_count[k] += 1
    if finish < s.steps.next_finish[k]:
        s.steps.next_finish[k] = finish


def end_steady(s: Sim, k: i64, slot: i64) -> None:
    """What has been counted together is written down for one of them."""
    s.work[slot] = remaining(s, k, slot)
    s.steps.steady[slot] = 0
    s.steps.steady_count[k] -= 1


@cold
def make_loose(s: Sim, k: i64) -> None:
    """All residents are loose again; those in the batch take their places in it, by rank."""
    base = k * s.cap
    in_batch = s.steps.steady_batch[k] > 0
    n = base
    for i in range(base, base + s.steps.count[k]):
        slot = s.steps.residents[i]
        s.steps.loose[i] = slot
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
    for i in range(base, base + s.steps.loose_count[k]):
        slot = s.steps.loose[i]
        tokens = s.work[slot] if s.work[slot] <= s.steps.most[k] else s.steps.most[k]
        if tokens != floor(tokens):
            return False
        if tokens > left and not is_last(s, k, slot):
            return False
        left -= min(tokens, left)
    return True


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
    for i in range(base, base + s.steps.count[k]):
        slot = s.steps.residents[i]
        if s.steps.steady[slot] == 1:
            if s.steps.finish[slot] <= s.steps.round[k]:
                end_steady(s, k, slot)
                leave_done(s, k, slot)
                continue
            nearest = min(nearest, s.steps.finish[slot])
        elif s.steps.tokens[slot] > 0.0:
            take_tokens(s, slot)
            if s.work[slot] <= 0.0:
                drop_loose(s, k, slot)
                leave_done(s, k, slot)
                continue
        s.steps.residents[kept] = slot
        kept += 1
    s.steps.count[k] = kept - base
    s.steps.next_finish[k] = nearest


def take_tokens(s: Sim, slot: i64) -> None:
    """The tokens that a resident was given count."""
    s.work[slot] -= s.steps.tokens[slot]
    if s.steps.part[slot] >= 0:
        s.pools.position[s.steps.at[slot]] += s.steps.tokens[slot]
    s.steps.tokens[slot] = 0.0

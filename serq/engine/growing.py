"""Allocations that grow along with runs, in restricted Python: positions, and how large a prefix they leave behind."""

from serq.codegen.lang import cold, f64, i64
from serq.engine.holding import add_units
from serq.engine.observing import advance_number
from serq.engine.pool_state import NONE
from serq.engine.residents import PLAN_AHEAD, remove_resident
from serq.engine.state import Sim
from serq.engine.steady import make_loose
from serq.engine.step_state import DECODE


def begin_growing(s: Sim, slot: i64, at: i64, part: i64, pool: i64, site: i64) -> None:
    """From now on only tokens count as computed; `at` is where the part lies, `site` where growth can fail."""
    if s.pools.position[at] == NONE:
        s.pools.position[at] = s.pools.consumed[at]
    s.steps.part[slot] = part
    s.steps.at[slot] = at
    s.steps.pool[slot] = pool
    s.steps.site[slot] = site
    s.steps.origin[slot] = s.pools.position[at]


def grow_units(s: Sim, pool: i64, slot: i64, at: i64, more: f64) -> None:
    """So many units more, for which there is room."""
    add_units(s, pool, at, more)
    if s.steps.phase[slot] != 0 and s.steps.memory[s.steps.number_of[s.place[slot]]] == pool:
        s.steps.held[slot] += more


def computed_units(s: Sim, at: i64, grown: bool) -> f64:
    """How long a prefix a part of a hold can leave behind: along which runs went (`grown` parts), or its units."""
    if not grown:
        return s.pools.units[at]
    if s.pools.position[at] == NONE:
        return s.pools.units[at] * 0.0
    return min(s.pools.position[at], s.pools.units[at])


# -- preemption of a resident ----------------------------------------------------------------------------------------


@cold
def loosen(s: Sim, slot: i64) -> None:
    """A resident is about to be taken away: what has been counted together is written down."""
    if s.steps.steady[slot] == 1:
        make_loose(s, s.steps.number_of[s.place[slot]])


@cold
def mark(s: Sim, slot: i64) -> None:
    """Its position becomes that up to which its prefix is marked as cached.

    Tokens are marked when they are scheduled, before they are computed: those of the iteration that is being put
    together count. A stage that plans ahead does not know the latest token of a decoding job yet.
    """
    if s.steps.part[slot] < 0:
        return
    at = s.steps.at[slot]
    k = s.steps.number_of[s.place[slot]]
    marked = s.pools.position[at]
    if s.steps.planning[k] == 1:
        marked += s.steps.tokens[slot]
    if s.steps.options[k] & PLAN_AHEAD != 0 and s.steps.phase[slot] == DECODE:
        marked = max(s.steps.origin[slot], marked - 1.0)
    s.pools.position[at] = marked


@cold
def withdraw(s: Sim, slot: i64) -> None:
    """A job leaves before it is done."""
    stage = s.place[slot]
    k = s.steps.number_of[stage]
    remove_resident(s, k, slot)
    s.steps.phase[slot] = 0
    if s.steps.running[k] == 1:
        drop_from_batch(s, k, slot)
    if s.now != s.last[stage]:
        advance_number(s, stage, s.now)
    s.number[stage] -= 1
    s.sum_sojourn[stage] += s.now - s.joined[slot]


@cold
def drop_from_batch(s: Sim, k: i64, slot: i64) -> None:
    """It leaves the running iteration, if it is in it."""
    base = k * s.cap
    kept = base
    for i in range(base, base + s.steps.size[k]):
        if s.steps.batch[i] != slot:
            s.steps.batch[kept] = s.steps.batch[i]
            kept += 1
    s.steps.size[k] = kept - base
    s.steps.tokens[slot] = 0.0

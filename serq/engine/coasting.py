"""Iterations at whose ends nobody comes or goes, in restricted Python: a stage *coasts* from one to the next.

All its residents are steady (see `serq.engine.steady`), nobody waits anywhere, and the next event of another kind lies
beyond. Then the end of an iteration changes two counters, now and then the units that are used, and the clock.
"""

from serq.codegen.lang import f64, i64
from serq.engine.serving import set_clock
from serq.engine.state import Sim


def may_coast(s: Sim, k: i64) -> bool:
    """Whether the next iteration of a stage is like the one that runs: all its residents are counted together in it."""
    n = s.steps.steady_batch[k]
    return n > 0 and n == s.steps.count[k] and s.steps.idle == 0


def rounds_alone(s: Sim, k: i64, most: i64) -> i64:
    """The iterations, of at most so many, that end before that in which the next resident is done."""
    return min(s.steps.next_finish[k] - s.steps.round[k] - 1, most)


def note_coasted(s: Sim, k: i64, source: i64, done: i64, time: f64) -> None:
    """So many iterations have ended, and the clock is set to the end of the next one."""
    s.steps.coasted = done
    if done == 0:
        return
    set_clock(s, source, time)
    s.events += done
    s.iterations[s.steps.place[k]] += done
    s.left = s.commands
    s.ended_now = 0

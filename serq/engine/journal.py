"""The journal of the step stages of a replay in restricted Python: what every iteration did, as rows of numbers.

The rules are those of `serq.semantics.step_log`. A row begins with its kind and the number of its step stage; a request
is the place of its session in the trace and its turn. Programs whose steps nobody asks for call none of this.
"""

from serq.codegen.lang import cold, f64, i64
from serq.engine.entries import evict, excess, up
from serq.engine.iterations import attention_in_batch, decoding_in_batch, held_in_batch, prefill_in_batch
from serq.engine.replaying import replayed
from serq.engine.state import Sim
from serq.engine.step_state import DECODE

ADMITTED = 0
"""A request has memory: its name, what it hit."""
PREEMPTED = 1
"""A request lost its memory: its name."""
EVICTED = 2
"""Of a session (its place) units from one to another, in blocks where there are blocks."""
STARTED = 3
"""An iteration begins: the time, `ndec kvb npre attn`, what waits, residents, free memory, the number of those in it,
and of each its name and tokens.
"""
ENDED = 4
"""It is over: the time."""
HEADER = 11
"""Numbers of a row `STARTED` before those in the iteration."""


def may_write(s: Sim, numbers: i64) -> bool:
    """Whether there is room for so many numbers; if not, all that follows is void."""
    if s.requests.written + numbers > s.requests.space:
        s.log_full = 1
        return False
    return True


def write(s: Sim, number: f64) -> None:
    """One number more, for which there is room."""
    s.requests.journal[s.requests.written] = number
    s.requests.written += 1


def place_in_trace(s: Sim, slot: i64) -> f64:
    """Which session of the trace it is; without a trace it is itself."""
    return float(replayed(s.trace, slot, s.serial[slot]) if s.trace.sessions > 0 else s.serial[slot])


def write_name(s: Sim, slot: i64) -> None:
    """The name of a session's request."""
    write(s, place_in_trace(s, slot))
    write(s, float(s.turn[slot]))


@cold
def tell_admitted(s: Sim, stage: i64, slot: i64, hit: f64) -> None:
    """A request of a stage is admitted; -1 stands for no stage."""
    if stage < 0 or not may_write(s, 5):
        return
    write(s, float(ADMITTED))
    write(s, float(stage))
    write_name(s, slot)
    write(s, hit)


@cold
def tell_preempted(s: Sim, pool: i64, slot: i64) -> None:
    """A request loses what it has of a pool."""
    stage = s.requests.stage_of[pool]
    if stage < 0 or not may_write(s, 4):
        return
    write(s, float(PREEMPTED))
    write(s, float(stage))
    write_name(s, slot)


@cold
def evict_told(s: Sim, pool: i64, entry: i64, units: f64, block: f64) -> None:
    """Evict units of an entry, and tell of it. The owner's slot must still be his."""
    stage = s.requests.stage_of[pool]
    if stage >= 0 and may_write(s, 5):
        rest = s.pools.size[entry] - units
        width = 1.0 if block == 0.0 else block
        write(s, float(EVICTED))
        write(s, float(stage))
        write(s, place_in_trace(s, s.pools.owner[entry]))
        write(s, rest / width)
        write(s, (rest + units) / width)
    evict(s, pool, entry, units)


@cold
def evict_oldest_told(s: Sim, pool: i64, units: f64, cap: f64, block: f64) -> None:
    """Make room in the order of release, and tell of it."""
    while True:
        more = excess(s, pool, units, cap)
        entry = s.pools.oldest[pool]
        if not more > 0.0 or entry < 0:
            return
        size = s.pools.size[entry]
        evict_told(s, pool, entry, size if block == 0.0 else min(size, up(more, block)), block)


@cold
def tell_started(s: Sim, k: i64, waiting: i64, free: f64) -> None:
    """An iteration has been put together; so many holds wait at the stage, and so much of its memory is free."""
    n = s.steps.size[k]
    if not may_write(s, HEADER + 3 * n):
        return
    write(s, float(STARTED))
    write(s, float(k))
    write(s, s.now)
    write(s, decoding_in_batch(s, k))
    write(s, held_in_batch(s, k, DECODE))
    write(s, prefill_in_batch(s, k))
    write(s, attention_in_batch(s, k))
    write(s, float(waiting))
    write(s, float(s.steps.count[k]))
    write(s, free)
    write(s, float(n))
    for i in range(k * s.cap, k * s.cap + n):
        write_name(s, s.steps.batch[i])
        write(s, s.steps.tokens[s.steps.batch[i]])


@cold
def tell_ended(s: Sim, k: i64) -> None:
    """The iteration of a stage is over."""
    if not may_write(s, 3):
        return
    write(s, float(ENDED))
    write(s, float(k))
    write(s, s.now)

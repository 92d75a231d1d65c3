"""Sessions in restricted Python: slots, streams, coming and going."""

from serq.codegen.lang import i64, inline, u64
from serq.engine.observing import advance_sessions
from serq.engine.state import Sim

MASK = 0xFFFFFFFFFFFFFFFF
SESSION_STREAM = 1
WORKLOAD_STREAM = 2
"""Bits of `flags`: the stream has been seeded. The bits above say which attributes have been set."""


def take_slot(s: Sim) -> i64:
    """A session arrives: its slot. There must be a free one."""
    slot = s.free
    s.free = s.follow[slot]
    s.serial[slot] = s.next_serial
    s.next_serial += 1
    s.pc[slot] = 0
    s.turn[slot] = 0
    s.flags[slot] = 0
    advance_sessions(s, s.now)
    s.live += 1
    s.arrived += 1
    return slot


def give_slot(s: Sim, slot: i64) -> None:
    """A session has ended."""
    advance_sessions(s, s.now)
    s.live -= 1
    s.ended += 1
    s.ended_now += 1
    s.serial[slot] = -1
    s.follow[slot] = s.free
    s.free = slot


@inline
def turned(x: u64, n: i64) -> u64:
    """The bits of x turned right by n."""
    return ((x >> n) | (x << (64 - n))) & MASK

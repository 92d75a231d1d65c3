"""Sessions in restricted Python: slots, streams, coming and going."""

from serq.codegen.lang import cold, i64
from serq.engine.observing import advance_sessions
from serq.engine.seeding import MASK, compress
from serq.engine.state import Sim

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


def session_stream(s: Sim, slot: i64) -> i64:
    """Where the stream of a session's own draws lies in `words`."""
    if s.flags[slot] & SESSION_STREAM == 0:
        seed(s, slot, 0)
        s.flags[slot] |= SESSION_STREAM
    return 8 * slot


def workload_stream(s: Sim, slot: i64) -> i64:
    """Where the stream of the draws of its workload lies in `words`."""
    if s.flags[slot] & WORKLOAD_STREAM == 0:
        seed(s, slot, 1)
        s.flags[slot] |= WORKLOAD_STREAM
    return 8 * slot + 4


@cold
def seed(s: Sim, slot: i64, purpose: i64) -> None:
    """Begin a stream."""
    s.message[1] = s.serial[slot] & MASK
    compress(s.keyed, 8 * purpose, s.message, 144, MASK, s.digest)
    for i in range(4):
        s.words[8 * slot + 4 * purpose + i] = s.digest[i]

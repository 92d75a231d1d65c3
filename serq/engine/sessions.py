"""Sessions in restricted Python: slots, streams, coming and going."""

from serq.codegen.lang import i64
from serq.codegen.streams import start_stream
from serq.engine.observing import advance_sessions
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
        start_stream(s.keys, 0, s.serial[slot], s.words, 8 * slot)
        s.flags[slot] |= SESSION_STREAM
    return 8 * slot


def workload_stream(s: Sim, slot: i64) -> i64:
    """Where the stream of the draws of its workload lies in `words`."""
    if s.flags[slot] & WORKLOAD_STREAM == 0:
        start_stream(s.keys, 4, s.serial[slot], s.words, 8 * slot + 4)
        s.flags[slot] |= WORKLOAD_STREAM
    return 8 * slot + 4

"""Sessions in restricted Python: slots, streams, coming and going."""

from serq.codegen.lang import i64
from serq.engine.observing import advance_sessions
from serq.engine.state import Sim


def take_slot(s: Sim) -> i64:
    """A session arrives, which must be counted: its slot. There must be a free one."""
    slot = s.free
    s.free = s.follow[slot]
    s.serial[slot] = s.next_serial
    s.next_serial += 1
    s.pc[slot] = 0
    s.turn[slot] = 0
    s.flags[slot] = 0
    return slot


def note_arrived(s: Sim) -> None:
    """One session more."""
    advance_sessions(s, s.now)
    s.live += 1
    s.arrived += 1


def give_slot(s: Sim, slot: i64) -> None:
    """A session has ended, and its slot is free."""
    note_ended(s)
    free_slot(s, slot)


def note_ended(s: Sim) -> None:
    """One session less."""
    advance_sessions(s, s.now)
    s.live -= 1
    s.ended += 1


def one_more_ended(s: Sim) -> bool:
    """Whether more sessions of a closed population have ended at one instant than may, with this one."""
    s.ended_now += 1
    return s.ended_now > s.most_ends


def free_slot(s: Sim, slot: i64) -> None:
    """A slot can be used again."""
    s.serial[slot] = -1
    s.follow[slot] = s.free
    s.free = slot

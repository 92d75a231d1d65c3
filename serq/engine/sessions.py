"""Sessions in restricted Python: slots, streams, coming and going."""

from serq.codegen.lang import i64
from serq.codegen.streams import start_stream
from serq.engine.observing import advance_sessions
from serq.engine.state import Sim


def take_slot(s: Sim) -> i64:
    """A session arrives: its slot. There must be a free one."""
    slot = s.free
    s.free = s.follow[slot]
    open_session(s, slot)
    return slot


def take_coming(s: Sim) -> i64:
    """A session arrives whose streams have begun already: its slot. There must be a free one for the next."""
    slot = s.coming
    s.coming = s.free
    s.free = s.follow[s.free]
    open_session(s, slot)
    return slot


def open_session(s: Sim, slot: i64) -> None:
    """A session arrives in a slot."""
    s.serial[slot] = s.next_serial
    s.next_serial += 1
    s.pc[slot] = 0
    s.turn[slot] = 0
    s.flags[slot] = 0
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
    s.ended_now += 1


def free_slot(s: Sim, slot: i64) -> None:
    """A slot can be used again."""
    s.serial[slot] = -1
    s.follow[slot] = s.free
    s.free = slot


def begin_stream(s: Sim, serial: i64, key: i64, at: i64) -> None:
    """Begin the stream of a session at a place in `words`; `key` says where its purpose's key begins."""
    start_stream(s.keys, key, serial, s.words, at)

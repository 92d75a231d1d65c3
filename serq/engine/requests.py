"""What becomes of every request of a replay, in restricted Python: a row of numbers for each turn of each session.

The rules are those of `serq.semantics.request_log`. NaN stands for what has not happened.
"""

from serq.codegen.lang import f64, i64
from serq.engine.state import NAN, Sim

COLUMNS = 10
"""Of a row: session of the trace, turn, sent, reached, first, done, prompt, cached, out, preemptions."""


def open_request(s: Sim, slot: i64, prompt: f64, out: f64) -> None:
    """A turn has begun: a request is sent, and the one before it is over."""
    close_request(s, slot)
    s.requests.turn[slot] = s.turn[slot]
    s.requests.sent[slot] = s.now
    s.requests.prompt[slot] = prompt
    s.requests.out[slot] = out
    s.requests.reached[slot] = NAN
    s.requests.first[slot] = NAN
    s.requests.done[slot] = NAN
    s.requests.cached[slot] = NAN
    s.requests.preemptions[slot] = 0


def close_request(s: Sim, slot: i64) -> None:
    """The session's request, if it has one, is over: its row is written."""
    if s.requests.turn[slot] == 0:
        return
    if s.requests.size == s.requests.room:
        s.log_full = 1
        return
    at = s.requests.size * COLUMNS
    s.requests.size += 1
    which = s.trace.which[slot]
    s.requests.rows[at] = float(which if which >= 0 else s.serial[slot])
    s.requests.rows[at + 1] = float(s.requests.turn[slot])
    s.requests.rows[at + 2] = s.requests.sent[slot]
    s.requests.rows[at + 3] = s.requests.reached[slot]
    s.requests.rows[at + 4] = s.requests.first[slot]
    s.requests.rows[at + 5] = s.requests.done[slot]
    s.requests.rows[at + 6] = s.requests.prompt[slot]
    s.requests.rows[at + 7] = s.requests.cached[slot]
    s.requests.rows[at + 8] = s.requests.out[slot]
    s.requests.rows[at + 9] = float(s.requests.preemptions[slot])
    s.requests.turn[slot] = 0


def reach(s: Sim, slot: i64) -> None:
    """A request asks for memory."""
    if s.requests.reached[slot] != s.requests.reached[slot]:
        s.requests.reached[slot] = s.now


def get_memory(s: Sim, slot: i64, hit: f64) -> None:
    """It is given memory; what it hits counts the first time."""
    if s.requests.cached[slot] != s.requests.cached[slot]:
        s.requests.cached[slot] = hit


def give_up(s: Sim, slot: i64) -> None:
    """It will not be done."""
    s.requests.done[slot] = NAN


def finish_run(s: Sim, slot: i64, prefill: bool) -> None:
    """It has its first token, or its last one so far."""
    s.requests.done[slot] = s.now
    if prefill and s.requests.first[slot] != s.requests.first[slot]:
        s.requests.first[slot] = s.now

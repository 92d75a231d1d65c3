"""Traces in restricted Python: which recorded session each one replays, what its turns bring, when they begin."""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array, U64Array, i64
from serq.codegen.streams import start_stream, u01


class Trace:
    """The rows of a trace, session by session. Session i has the rows `first[i]` to `first[i + 1]` (exclusive).

    `cells` has `columns` items for each row. A session replays the recorded one with the number of its arrival in
    `places`, begun again at the end, or one drawn with `key` where `places` has nothing. `starts` and `counts`: when
    sessions begin, and how many. `which`, by slot: the recorded session, -1 while it has not been asked for.
    """

    sessions: i64
    columns: i64
    ordered: i64
    next: i64
    events: i64
    first: I64Array
    cells: F64Array
    places: I64Array
    starts: Annotated[F64Array, "start"]
    counts: Annotated[I64Array, "start"]
    key: U64Array
    words: U64Array
    which: I64Array


def replayed(t: Trace, slot: i64, serial: i64) -> i64:
    """The recorded session that a session replays."""
    which = t.which[slot]
    if which < 0:
        if t.ordered == 1:
            which = t.places[serial % t.sessions]
        else:
            start_stream(t.key, 0, serial, t.words, 0)
            which = int(u01(t.words, 0) * float(t.sessions))
        t.which[slot] = which
    return which


def row_of_turn(t: Trace, session: i64, turn: i64) -> i64:
    """Where the cells of a turn of a recorded session begin: those of its last turn behind its end."""
    turns = t.first[session + 1] - t.first[session]
    return (t.first[session] + min(max(turn, 1), turns) - 1) * t.columns


def goes_on(t: Trace, session: i64, turn: i64) -> bool:
    """Whether the recorded session has more turns."""
    return turn < t.first[session + 1] - t.first[session]

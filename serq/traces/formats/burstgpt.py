"""BurstGPT: seconds from the first day, whole response times, sessions in the later versions, failed calls.

Source: HPMLL/BurstGPT (Y. Wang et al., 2024). Request tokens are the whole prompt. Elapsed time is the time of the
whole response, so that the time between two calls of a session is elapsed time plus think time. A call that failed has
no response tokens.
"""

from collections.abc import Iterator
from dataclasses import replace

from serq.traces.formats.records import OUTPUT, PROMPT, SECONDS, Record, SkipRecordError, csv_records
from serq.traces.formats.turns import OWN_SESSIONS, Reading, Turn

COLUMNS = ("Timestamp", "Request tokens", "Response tokens")
_FAILED = "failed calls (no response tokens) were left out: --keep-failed keeps them"
_THINK = "think: the next Timestamp of the session less this Timestamp and Elapsed time"


def read(reading: Reading) -> Iterator[Turn]:
    """Sessions where the file has Session ID and Elapsed time, else one per call.

    A turn is given out when the next call of its session is read, or at the end: only then its think time is known.
    """
    pending: dict[str, tuple[Turn, float]] = {}  # the latest turn of each session, and when its answer was complete
    for record in csv_records(reading.path, "burstgpt", COLUMNS, reading.faults):
        try:
            call = _call(record, reading)
        except SkipRecordError:
            continue
        if call is None:
            continue
        session, turn, answered = call
        if session is None:
            yield turn
            continue
        assert turn.start is not None
        if session in pending:
            before, complete = pending.pop(session)
            yield replace(before, think=reading.not_negative(turn.start - complete))
            turn = replace(turn, turn=before.turn + 1)
        pending[session] = turn, answered
    yield from (turn for turn, _ in pending.values())


def _call(record: Record, reading: Reading) -> tuple[str | None, Turn, float] | None:
    """The session of a call (None: its own), its turn, and when its answer was complete; None when it is left out."""
    out = record.number("Response tokens", OUTPUT)
    if out == 0 and not reading.keep_failed:
        reading.counts[_FAILED] += 1
        return None
    sent, new = record.number("Timestamp", SECONDS), record.number("Request tokens", PROMPT)
    session, timed = record.get("Session ID"), record.get("Elapsed time") is not None
    if session is None or not timed:
        reading.remark(OWN_SESSIONS if session is None else f"{OWN_SESSIONS}, or not how long an answer took")
        return None, Turn(str(record.row - 1), 1, new, out, start=sent), sent
    if not session.strip():
        reading.counts["calls without a Session ID are sessions of one turn"] += 1
        return None, Turn(f"call-{record.row}", 1, new, out, start=sent), sent
    reading.remark(_THINK)
    return (
        session.strip(),
        Turn(session.strip(), 1, new, out, start=sent),
        sent + record.number("Elapsed time", SECONDS),
    )

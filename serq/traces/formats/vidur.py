"""Vidur's processed traces: seconds from the first arrival and tokens, or tokens alone. No sessions.

Source: microsoft/vidur, data/processed_traces. num_prefill_tokens is the whole prompt.
"""

from collections.abc import Iterator

from serq.traces.formats.records import OUTPUT, PROMPT, SECONDS, Record, csv_records
from serq.traces.formats.turns import OWN_SESSIONS, Reading, Turn

COLUMNS = ("num_prefill_tokens", "num_decode_tokens")


def read(reading: Reading) -> Iterator[Turn]:
    """One session per row, in the order of the file."""
    reading.remark(OWN_SESSIONS)

    def turn_of(record: Record) -> Turn:
        timed = record.get("arrived_at") is not None
        start = record.number("arrived_at", SECONDS) if timed else None
        new, out = record.number("num_prefill_tokens", PROMPT), record.number("num_decode_tokens", OUTPUT)
        return Turn(str(record.row - 1), 1, new, out, start=start)

    yield from reading.each(csv_records(reading.path, "vidur", COLUMNS, reading.faults), turn_of)

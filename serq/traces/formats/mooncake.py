"""Mooncake traces: JSON lines with milliseconds, tokens and the hashes of prefix blocks of 512 tokens. No sessions.

Source: kvcache-ai/Mooncake, FAST25-release/traces. input_length is the whole prompt; timestamps are coarse and often
equal.
"""

from collections.abc import Iterator

from serq.traces.formats.records import MILLISECONDS, OUTPUT, PROMPT, Record, json_lines
from serq.traces.formats.turns import OWN_SESSIONS, Reading, Turn


def read(reading: Reading) -> Iterator[Turn]:
    """One session per line, in the order of the file."""
    reading.remark(OWN_SESSIONS)
    reading.remark("hash_ids are left out: a cache that is keyed by session knows no prefixes that sessions share")

    def turn_of(record: Record) -> Turn:
        start = record.number("timestamp", MILLISECONDS) / 1000
        new, out = record.number("input_length", PROMPT), record.number("output_length", OUTPUT)
        return Turn(str(record.row - 1), 1, new, out, start=start)

    yield from reading.each(json_lines(reading.path, reading.faults), turn_of)

"""Azure LLM inference traces (2023, 2024, and the multimodal one of 2025): wall-clock times, tokens, no sessions.

Source: Azure/AzurePublicDataset; P. Patel et al., Splitwise, ISCA 2024. ContextTokens is the whole prompt.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction

from serq.traces.formats.records import OUTPUT, PROMPT, Record, csv_records
from serq.traces.formats.turns import OWN_SESSIONS, Reading, Turn

COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?")
_WORDS = "time such as 2023-11-16 18:17:03.9799600"


def read(reading: Reading) -> Iterator[Turn]:
    """One session per row, in the order of the file; times count from the first row."""
    reading.remark(OWN_SESSIONS)
    records = csv_records(reading.path, "azure", COLUMNS, reading.faults)
    first: Fraction | None = None

    def turn_of(record: Record) -> Turn:
        nonlocal first
        time = clock_time(record, "TIMESTAMP")
        first = time if first is None else first
        if time < first:
            record.refuse("TIMESTAMP", "time at or after that of the first row")
        new, out = record.number("ContextTokens", PROMPT), record.number("GeneratedTokens", OUTPUT)
        return Turn(str(record.row - 1), 1, new, out, start=float(time - first))

    yield from reading.each(records, turn_of)


def clock_time(record: Record, column: str) -> Fraction:
    """A date and time as exact seconds since 1970; any number of fractional digits."""
    found = _TIME.fullmatch(record.text(column, _WORDS))
    if found is None:
        record.refuse(column, _WORDS)
    day, clock, digits, zone = found.groups()
    try:
        offset = (zone or "Z").replace("Z", "+00:00")
        whole = datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(UTC)
    except ValueError:
        record.refuse(column, _WORDS)
    return Fraction(int(whole.timestamp())) + Fraction(int(digits or 0), 10 ** len(digits or ""))

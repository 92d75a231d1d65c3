"""TraceLab: rounds of coding agents, as replay CSV or as the sanitized JSON lines.

Source: uw-syfi/TraceLab. The CSV has input_len, the tokens that are new, behind prefix_len, those that are not: the
whole prompt is their sum. tool_wait_after_ms is the time from the answer to the next round. The JSON lines have the
whole prompt in input_tokens_total, and the times at which the parts of a round came and went.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from serq.traces.formats.azure import clock_time
from serq.traces.formats.records import (
    INDEX,
    MILLISECONDS,
    OUTPUT,
    TOKENS,
    Record,
    SkipRecordError,
    csv_records,
    json_lines,
    reading_of,
)
from serq.traces.formats.turns import Reading, Turn
from serq.traces.reader import open_text

COLUMNS = ("session_id", "round_idx", "prefix_len", "input_len", "output_len", "tool_wait_after_ms")
_INPUTS = ("user_message", "tool_result")
_OUTPUTS = ("reasoning", "text", "tool_call")
_THINK_CSV = "think: tool_wait_after_ms, which holds no service time"
_THINK_JSON = "think: from the last output of a round to the last input of the next, which holds no service time"


def read(reading: Reading) -> Iterator[Turn]:
    """The sessions of the file, in whichever of its two forms it is."""
    with reading_of(reading.path, "text"), open_text(reading.path) as file:
        is_json = file.read(1) == "{"
    return _read_json(reading) if is_json else _read_csv(reading)


def _read_csv(reading: Reading) -> Iterator[Turn]:
    reading.remark(_THINK_CSV)
    latest: dict[str, float] = {}

    def turn_of(record: Record) -> Turn:
        session, index = record.text("session_id", "name of a session"), record.number("round_idx", INDEX)
        if index <= latest.get(session, -1):
            record.refuse("round_idx", f"round after round {latest[session]:.0f} of session {session}")
        latest[session] = index
        prefix, fresh = record.number("prefix_len", TOKENS), record.number("input_len", TOKENS)
        if prefix + fresh < 1:
            record.refuse("input_len", "number of tokens that makes a prompt with prefix_len")
        out, wait = record.number("output_len", OUTPUT), record.number("tool_wait_after_ms", MILLISECONDS) / 1000
        timed = record.get("arrival_time") is not None
        start = record.number("arrival_time", MILLISECONDS) / 1000 if timed else None
        return Turn(session, int(index) + 1, prefix + fresh, out, wait, index > 0 and prefix == 0, start)

    yield from reading.each(csv_records(reading.path, "tracelab", COLUMNS, reading.faults), turn_of)


# -- JSON lines ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Round:
    """A round whose think time is not known before the next one is read. Times in seconds since 1970, None: unknown."""

    turn: Turn
    asked: Fraction | None
    answered: Fraction | None


def _read_json(reading: Reading) -> Iterator[Turn]:
    reading.remark(_THINK_JSON)
    origin = _first_time(reading)
    pending: dict[str, _Round] = {}
    for record in json_lines(reading.path, reading.faults):
        try:
            this = _round(record, origin)
            before = pending.get(this.turn.session)
            if before is not None and this.turn.turn <= before.turn.turn:
                record.refuse("round_index", f"round after round {before.turn.turn - 1} of session {this.turn.session}")
        except SkipRecordError:
            continue
        if before is not None:
            yield replace(before.turn, think=_think(reading, before, this))
            this = replace(this, turn=replace(this.turn, start=before.turn.start))
        pending[this.turn.session] = this
    yield from (last.turn for last in pending.values())


def _first_time(reading: Reading) -> Fraction:
    """The earliest input of the whole file: sessions stand in no order of time."""
    quiet = Reading(reading.path)
    times = []
    for record in json_lines(reading.path, quiet.faults):
        try:
            times += [t for kind, t in _events(record) if kind in _INPUTS]
        except SkipRecordError:
            continue
    return min(times, default=Fraction(0))


def _round(record: Record, origin: Fraction) -> _Round:
    session, index = record.text("session_id", "name of a session"), record.number("round_index", INDEX)
    new, prefix = record.number("input_tokens_total", TOKENS), record.number("prefix_tokens", TOKENS)
    if new < 1:
        record.refuse("input_tokens_total", "whole number of tokens, at least 1")
    events = _events(record)
    inputs, outputs = ([time for kind, time in events if kind in kinds] for kinds in (_INPUTS, _OUTPUTS))
    start = float(min(inputs) - origin) if inputs else None
    out, forced = record.number("output_tokens", OUTPUT), index > 0 and prefix == 0
    turn = Turn(session, int(index) + 1, new, out, forced=forced, start=start)
    return _Round(turn, max(inputs, default=None), max(outputs, default=None))


def _think(reading: Reading, before: _Round, after: _Round) -> float:
    if before.answered is None or after.asked is None:
        reading.counts["rounds have no times: think 0"] += 1
        return 0.0
    return reading.not_negative(float(after.asked - before.answered))


def _events(record: Record) -> list[tuple[str, Fraction]]:
    """What happened in a round and when."""
    events: Any = record.get("timing_events")
    parts = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    return [(str(event.get("event_type")), clock_time(record.part(event), "timestamp")) for event in parts]

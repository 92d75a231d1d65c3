"""Traces of coding agents as one JSON document per conversation, or a directory of them.

Source: callanjfox/kv-cache-tester (WEKA). `in` is the whole prompt; `t` the start of a request, so that the gap between
two requests holds the service time `api_time` too. `think_time` stands with the request that follows it. hash_ids name
the full blocks of 64 tokens of the prompt.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from serq.base.errors import InputError
from serq.base.source import NOWHERE
from serq.traces.file_errors import NotATable
from serq.traces.formats.records import OUTPUT, PROMPT, SECONDS, Faults, Record, SkipRecordError, nowhere, reading_of
from serq.traces.formats.turns import Reading, Turn
from serq.traces.reader import open_text

_RECORDED = "think: the recorded think_time of the next request"
_GAPS = "think times that are not recorded are the gap to the next request less api_time"
_STARTS = "think times are gaps between requests, which hold the service time: there is no api_time"
_SUBAGENTS = "subagents are sessions of their own; their parents do not wait for them"
_EDITED = "turns keep only a part of the prompt before: a program that takes the whole for common hits too much"


def read(reading: Reading) -> Iterator[Turn]:
    """One session for each conversation and each of its subagents."""
    is_folder = reading.path.is_dir()
    files = sorted(reading.path.glob("*.json")) if is_folder else [reading.path]
    if not files:
        raise _no_trace(reading.path, "there is no .json file in the directory")
    for path in files:
        document = _document(path)
        faults = Faults(path)
        name = str(document.get("id") or path.stem)
        yield from _conversation(reading, faults, name, document["requests"])
        faults.check()


def _document(path: Path) -> dict[str, Any]:
    with reading_of(path, "a weka trace"), open_text(path) as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise _no_trace(path, str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("requests"), list):
        raise _no_trace(path, "it is no JSON object with a list of `requests`")
    return document


def _no_trace(path: Path, reason: str) -> InputError:
    return InputError.of(NotATable(span=NOWHERE, path=str(path), form="a weka trace", reason=reason))


def _conversation(reading: Reading, faults: Faults, name: str, requests: Sequence[Any]) -> Iterator[Turn]:
    calls: list[tuple[Record, Turn]] = []
    subagents = 0
    for row, values in enumerate(requests, start=1):
        record = Record(row, values if isinstance(values, dict) else {}, nowhere, faults)
        if isinstance(inner := record.get("requests"), list):
            subagents += 1
            reading.counts[_SUBAGENTS] += 1
            yield from _conversation(reading, faults, f"{name}/{subagents}", inner)
            continue
        try:
            new, out = record.number("in", PROMPT), record.number("out", OUTPUT)
            calls.append((record, Turn(name, len(calls) + 1, new, out)))
        except SkipRecordError:
            continue
    forced = False
    for (before, turn), (after, _) in pairwise(calls):
        yield replace(turn, think=_think(reading, before, after), forced=forced)
        forced = _misses(reading, before.get("hash_ids"), after.get("hash_ids"))
    yield from (replace(turn, forced=forced) for _, turn in calls[-1:])


def _think(reading: Reading, before: Record, after: Record) -> float:
    """The time from an answer to the next request; 0 where the record has a fault."""
    try:
        if after.get("think_time") is not None:
            reading.remark(_RECORDED)
            return after.number("think_time", SECONDS)
        gap = after.number("t", SECONDS) - before.number("t", SECONDS)
        if before.get("api_time") is None:
            reading.counts[_STARTS] += 1
            return reading.not_negative(gap)
        reading.counts[_GAPS] += 1
        return reading.not_negative(gap - before.number("api_time", SECONDS))
    except SkipRecordError:
        return 0.0


def _misses(reading: Reading, before: Any, after: Any) -> bool:
    """Whether two prompts that follow each other have no block in common."""
    if not before or not after:
        return False
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    if 0 < common < len(before):
        reading.counts[_EDITED] += 1
    return common == 0

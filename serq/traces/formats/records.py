"""Rows of other people's files: cells by name, numbers with their limits, every fault with its place."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from serq.base.diagnostics import Diagnostic
from serq.base.errors import InputError, LoadError
from serq.base.source import NOWHERE, Span
from serq.traces.errors import BadCell, BadRow
from serq.traces.file_errors import NotATable, UnreadableTrace
from serq.traces.formats.errors import BadLine, ForeignHeader
from serq.traces.reader import cell_span, excerpts, open_text
from serq.traces.rows import COLUMNS, MOST_FAULTS, Column

PROMPT = COLUMNS["new"]
OUTPUT = COLUMNS["out"]
SECONDS = COLUMNS["think"]
INDEX = COLUMNS["turn"]
TOKENS = Column(0, OUTPUT.most, True, "whole number of tokens, 0 or more")
MILLISECONDS = Column(0, SECONDS.most, False, "number of milliseconds, 0 or more")


class SkipRecordError(Exception):
    """The record has a fault, which has been noted: go on with the next one."""


class Faults:
    """The faults of one file; too many end the reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[Diagnostic] = []

    def add(self, fault: Diagnostic) -> None:
        """One fault more."""
        self.found.append(fault)
        if len(self.found) >= MOST_FAULTS:
            self.check()

    def check(self) -> None:
        """Raise `LoadError` with everything that was found, if anything was."""
        if self.found:
            raise LoadError(excerpts(self.path, {fault.span.line for fault in self.found}), self.found)


class Record:
    """One row, numbered from 1. `locate`: where the value of a column stands."""

    __slots__ = ("_faults", "_locate", "_values", "row")

    def __init__(self, row: int, values: Mapping[str, Any], locate: Callable[[str], Span], faults: Faults) -> None:
        self.row = row
        self._values = values
        self._locate = locate
        self._faults = faults

    def get(self, name: str) -> Any:
        """The value as it stands; None where there is none."""
        return self._values.get(name)

    def part(self, values: Mapping[str, Any]) -> "Record":
        """An object within this one, in the same row."""
        return Record(self.row, values, self._locate, self._faults)

    def text(self, name: str, what: str) -> str:
        """A text that is not empty."""
        text = self._shown(name)
        return text or self.refuse(name, what)

    def number(self, name: str, column: Column) -> float:
        """A number that the column may hold."""
        value = self._values.get(name, "")
        try:
            number = float(value)
            if column.holds(number) and not isinstance(value, bool):
                return number
        except (TypeError, ValueError, OverflowError):
            pass
        return self.refuse(name, column.wanted(value))

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Note that the value is not what is expected, and leave the record."""
        span, value = self._locate(name), self._shown(name)
        self._faults.add(BadCell(span=span, row=self.row, column=name, value=value, expected=expected))
        raise SkipRecordError

    def _shown(self, name: str) -> str:
        value = self._values.get(name)
        return "" if value is None else str(value).strip()


def csv_records(path: Path, form: str, required: Sequence[str], faults: Faults) -> Iterator[Record]:
    """The rows of a CSV file that has at least the required columns."""
    with reading_of(path, "CSV text"), open_text(path) as file:
        rows = csv.reader(file, strict=True)
        header = [name.strip() for name in next(rows, [])]
        _check_header(header, form, required, faults)
        places = {name: place for place, name in enumerate(header)}
        number = 0
        for cells in rows:
            if not any(cells):
                continue
            number += 1
            locate = partial(_cell, rows.line_num, cells, places)
            if len(cells) == len(header):
                yield Record(number, dict(zip(header, cells, strict=True)), locate, faults)
            else:
                span = Span(rows.line_num, 1, rows.line_num, len(",".join(cells)) + 1)
                faults.add(BadRow(span=span, row=number, found=len(cells), expected=len(header)))


def _check_header(header: Sequence[str], form: str, required: Sequence[str], faults: Faults) -> None:
    missing = ", ".join(f"`{name}`" for name in required if name not in header)
    if missing:
        span = Span(1, 1, 1, max(2, len(",".join(header)) + 1))
        faults.add(ForeignHeader(span=span, missing=missing, form=form, columns=",".join(required)))
        faults.check()


def _cell(line: int, cells: Sequence[str], places: Mapping[str, int], name: str) -> Span:
    return cell_span(line, cells, places[name]) if name in places else Span(line, 1, line, 2)


def json_lines(path: Path, faults: Faults) -> Iterator[Record]:
    """The objects of a file that has one on each line; blank lines do not count."""
    with reading_of(path, "text with JSON lines"), open_text(path) as file:
        number = 0
        for line_number, line in enumerate(file, start=1):
            text = line.strip()
            if not text:
                continue
            number += 1
            try:
                value = json.loads(text)
                if not isinstance(value, dict):
                    raise ValueError("it is a list" if isinstance(value, list) else "it is a single value")
            except ValueError as error:
                span = Span(line_number, 1, line_number, len(text) + 1)
                faults.add(BadLine(span=span, row=number, problem=str(error)))
                continue
            yield Record(number, value, partial(_member, line_number, line), faults)


def _member(line_number: int, line: str, name: str) -> Span:
    """Where a member of a JSON object stands in its line: its key and value, or the whole line where it is missing."""
    found = re.search(rf'"{re.escape(name)}"\s*:\s*("[^"]*"|[^,\]}}]*)', line)
    start, end = found.span() if found else (0, len(line.rstrip()))
    return Span(line_number, start + 1, line_number, max(end, start + 1) + 1)


def nowhere(_: str) -> Span:
    """The place of a value in a document that is not read by lines."""
    return NOWHERE


@contextmanager
def reading_of(path: Path, form: str) -> Iterator[None]:
    """Give what goes wrong while a file is read its code: SQ704 or SQ705."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError.of(UnreadableTrace(span=NOWHERE, path=str(path), reason=reason)) from error
    except (UnicodeDecodeError, csv.Error, EOFError, RecursionError) as error:
        raise InputError.of(NotATable(span=NOWHERE, path=str(path), form=form, reason=str(error))) from error

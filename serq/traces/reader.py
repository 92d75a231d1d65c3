"""Reading traces of sessions: CSV or Parquet with the columns session, turn, new, out, think and, if wanted, forced
and start.

`new` is the turn's whole prompt in tokens, at least 1; `out` its output tokens, 0 for a call that failed; `think` the
seconds from its last token to the next turn; `forced` is 1 where the turn must miss; `start` the seconds at which the
session began, of which its first row counts. The rows of a session need not be neighbours, but its turns stand in their
order. A file is read row by row and kept as columns of numbers.
"""

import csv
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from serq.base.errors import InputError, LoadError, UsageError
from serq.base.source import NOWHERE, SourceFile, Span
from serq.ir import program as p
from serq.traces.corpus import Corpus
from serq.traces.file_errors import NoReader, NotATable, UnreadableTrace
from serq.traces.rows import RowReader

_PARQUET_MAGIC = b"PAR1"
_ROWS_AT_A_TIME = 20_000


def read_trace(path: Path, extra: Sequence[str] = ()) -> Corpus:
    """Read a trace; `extra` are further columns that it must have.

    Raises `InputError` (SQ704 to SQ706) for a file that cannot be read, and `LoadError` (SQ710 to SQ714) with every
    fault, up to a screenful, for one that is no trace.
    """
    try:
        reader = _read_parquet(path, extra) if is_parquet(path) else _read_csv(path, extra)
        if reader.faults:
            raise LoadError(excerpts(path, {fault.span.line for fault in reader.faults}), reader.faults)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError.of(UnreadableTrace(span=NOWHERE, path=str(path), reason=reason)) from error
    except (UnicodeDecodeError, csv.Error, EOFError) as error:
        raise InputError.of(NotATable(span=NOWHERE, path=str(path), form="CSV text", reason=str(error))) from error
    return reader.builder.corpus(str(path))


def trace_of(program: p.Program, given: str | None) -> Corpus | None:
    """The trace that a program replays: the one that is given, else its own, which lies relative to the program's file.

    None for a program without a trace. Raises what `read_trace` raises, and `UsageError` for a trace that the program
    has no place for.
    """
    if program.trace is None:
        if given is not None:
            raise UsageError("a trace was given, and the program's workload has no `trace`")
        return None
    beside = Path(program.source.name).parent / program.trace.path
    return read_trace(beside if given is None else Path(given), program.trace.columns)


def is_parquet(path: Path) -> bool:
    """Whether the file is Parquet: by its first bytes, or by its name when it is empty."""
    with path.open("rb") as file:
        start = file.read(len(_PARQUET_MAGIC))
    return start == _PARQUET_MAGIC or (not start and path.suffix == ".parquet")


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A text file, its byte order mark left out; a `.gz` is unpacked on the way."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    else:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file


def cell_span(line: int, cells: Sequence[str], place: int) -> Span:
    """Where a cell stands in its line, as long as nothing before it is quoted."""
    start = 1 + sum(len(cell) + 1 for cell in cells[:place])
    return Span(line, start, line, start + max(len(cells[place]), 1))


def _read_csv(path: Path, extra: Sequence[str]) -> RowReader:
    with open_text(path) as file:
        rows = csv.reader(file, strict=True)
        reader = RowReader(next(rows, []), extra)
        if reader.faults:
            return reader
        number = 0
        for cells in rows:
            if not any(cells):
                continue
            number += 1
            line = rows.line_num
            reader.add(number, cells, partial(cell_span, line, cells))
            if reader.is_full:
                break
    reader.finish()
    return reader


def _read_parquet(path: Path, extra: Sequence[str]) -> RowReader:
    """Parquet has no lines: its faults name row and column only."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise InputError.of(NoReader(span=NOWHERE, path=str(path))) from error
    try:
        with ParquetFile(path) as file:
            reader = RowReader(file.schema_arrow.names, extra)
            if not reader.faults:
                _add_batches(reader, file)
    except ArrowException as error:
        raise InputError.of(NotATable(span=NOWHERE, path=str(path), form="Parquet", reason=str(error))) from error
    return reader


def _add_batches(reader: RowReader, file: Any) -> None:
    number = 0
    for batch in file.iter_batches(_ROWS_AT_A_TIME):
        for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            number += 1
            reader.add(number, cells, lambda place: NOWHERE)
            if reader.is_full:
                return
    reader.finish()


def excerpts(path: Path, lines: set[int]) -> SourceFile:
    """The file with those lines only, the others empty: a diagnostic shows no others, and the file may be huge."""
    if is_parquet(path):
        return SourceFile(str(path), "")
    kept: list[str] = []
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if number > max(lines):
                break
            kept.append(line.rstrip("\r\n") if number in lines else "")
    return SourceFile(str(path), "\n".join(kept))

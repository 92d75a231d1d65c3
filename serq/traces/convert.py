"""Making a trace of `session,turn,new,out,think,forced` from other people's formats, row by row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from serq.base.errors import InputError
from serq.base.output import cannot_write, check_target, make_directory, write_lines
from serq.base.source import NOWHERE
from serq.traces.errors import EmptyTrace
from serq.traces.file_errors import NoReader
from serq.traces.formats import azure, burstgpt, mooncake, tracelab, vidur, weka
from serq.traces.formats.turns import Reading, Turn

FORMATS: dict[str, Callable[[Reading], Iterator[Turn]]] = {
    "azure": azure.read,
    "mooncake": mooncake.read,
    "vidur": vidur.read,
    "tracelab": tracelab.read,
    "weka": weka.read,
    "burstgpt": burstgpt.read,
}

HEADER = ("session", "turn", "new", "out", "think", "forced")
_ROWS_AT_A_TIME = 20_000
_NO_STARTS = "the times at which sessions began are left out: --start keeps them in a column `start`"


@dataclass
class Conversion:
    """What was written, and in words what was done to the data. Counts are complete when all rows were taken."""

    rows: int = 0
    sessions: int = 0
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    last_start: float = 0.0
    remarks: list[str] = field(default_factory=list)


def convert(source: Path, form: str, keep_start: bool, keep_failed: bool, result: Conversion) -> Iterator[Turn]:
    """The turns of a file in the named format; `result` is filled on the way.

    Raises `LoadError` (SQ711 to SQ716) with every fault of the file, up to a screenful, when it has been read or has
    too many, and `InputError` (SQ704, SQ705) for one that cannot be read.
    """
    reading = Reading(source, keep_failed)
    for turn in FORMATS[form](reading):
        result.rows += 1
        result.sessions += turn.turn == 1
        result.tokens_in += turn.new
        result.tokens_out += turn.out
        result.last_start = max(result.last_start, turn.start or 0.0)
        yield turn
    if not result.rows:
        reading.faults.found = reading.faults.found or [EmptyTrace(span=NOWHERE)]
    reading.faults.check()
    result.remarks += reading.remarks
    result.remarks += [f"{count} {remark}" for remark, count in reading.counts.items()]
    if result.last_start and not keep_start:
        result.remarks.append(_NO_STARTS)


def lines(turns: Iterator[Turn], keep_start: bool) -> Iterator[str]:
    """The trace as CSV, its header first."""
    yield ",".join(_columns(keep_start)) + "\n"
    for turn in turns:
        yield ",".join(_cell(value) for value in _values(turn, keep_start)) + "\n"


def write(path: Path, turns: Iterator[Turn], keep_start: bool) -> None:
    """Write the trace whole or not at all, as Parquet where the file's name ends so."""
    if path.suffix == ".parquet":
        _write_parquet(path, turns, keep_start)
    else:
        write_lines(path, lines(turns, keep_start))


def _columns(keep_start: bool) -> tuple[str, ...]:
    return (*HEADER, "start") if keep_start else HEADER


def _values(turn: Turn, keep_start: bool) -> tuple[Any, ...]:
    row = (turn.session, turn.turn, turn.new, turn.out, turn.think, int(turn.forced))
    return (*row, turn.start or 0.0) if keep_start else row


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"' if any(c in value for c in ',"\r\n') else value
    return str(int(value)) if value == int(value) else repr(value)


def _write_parquet(path: Path, turns: Iterator[Turn], keep_start: bool) -> None:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise InputError.of(NoReader(span=NOWHERE, path=str(path))) from error
    make_directory(path.parent)
    check_target(path)
    kinds = [pyarrow.string(), pyarrow.int64(), *[pyarrow.float64()] * 3, pyarrow.int64(), pyarrow.float64()]
    schema = pyarrow.schema(list(zip(_columns(keep_start), kinds, strict=False)))
    partial = path.with_name(f".{path.name}.partial")
    try:
        with ParquetWriter(partial, schema) as writer:
            while chunk := [_values(turn, keep_start) for turn in islice(turns, _ROWS_AT_A_TIME)]:
                rows = [dict(zip(schema.names, values, strict=True)) for values in chunk]
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
        partial.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        partial.unlink(missing_ok=True)

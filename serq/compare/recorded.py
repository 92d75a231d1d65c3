"""What was recorded of a run: requests, steps or observations, from a dump of ours or from the recording of an oracle.

Each is a table of rows whose cells are numbers, names or lists; two tables are compared in the columns that both have.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from serq.base.errors import InputError
from serq.base.source import NOWHERE
from serq.compare.recorded_errors import NoRecording, UnreadableRecording
from serq.traces.reader import is_parquet, open_text

Kind = Literal["requests", "steps", "observations"]
Cell = float | str | tuple[Any, ...] | None
Row = Mapping[str, Cell]

LISTS = ("scheduled", "hits", "victims")
"""Columns of steps that are lists of requests, as (name, number) or as names."""


@dataclass(frozen=True)
class Table:
    """Rows of one kind. `name` is what they are called: the kind, or the observe's name."""

    kind: Kind
    name: str
    rows: Sequence[Row]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the first row: all rows have them."""
        return tuple(self.rows[0]) if self.rows else ()


def read_recording(path: Path) -> tuple[Table, ...]:
    """The tables of a dump (a directory) or of one file.

    A file is a table of requests (`session,turn,sent,...`), of steps (`start,end,...`, also packed as .gz), of
    observations (`time,session,turn,value`), or a scenario of the vLLM scheduler (JSON with `steps`). Raises
    `InputError` (SQ720, SQ721).
    """
    try:
        if path.is_dir():
            files = sorted(f for f in path.iterdir() if f.suffix in (".csv", ".parquet", ".gz"))
            tables = tuple(_table(file) for file in files)
        elif path.suffix == ".json":
            tables = (_scenario(path),)
        else:
            tables = (_table(path),)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError.of(UnreadableRecording(span=NOWHERE, path=str(path), reason=reason)) from error
    except (ValueError, csv.Error, EOFError, KeyError, TypeError) as error:
        raise _no_recording(path, str(error)) from error
    if not tables:
        raise _no_recording(path, "there is no .csv or .parquet file in the directory")
    return tables


def _no_recording(path: Path, problem: str) -> InputError:
    return InputError.of(NoRecording(span=NOWHERE, path=str(path), problem=problem))


def _table(path: Path) -> Table:
    header, rows = _parquet(path) if is_parquet(path) else _csv(path)
    name = path.name.split(".")[0]
    if {"session", "turn", "sent"} <= set(header):
        return Table("requests", "requests", [_row(header, cells, _request_cell) for cells in rows])
    if {"start", "end"} <= set(header):
        return Table("steps", "steps", [_row(header, cells, _step_cell) for cells in rows])
    if {"time", "session", "turn", "value"} <= set(header):
        return Table("observations", name, [_row(header, cells, _request_cell) for cells in rows])
    raise ValueError(f"the columns {','.join(header)} are neither of requests, nor of steps, nor of observations")


def _csv(path: Path) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    with open_text(path) as file:
        rows = list(csv.reader(file, strict=True))
    if not rows:
        raise ValueError("it is empty")
    header = rows[0]
    wrong = next((number for number, row in enumerate(rows, start=1) if row and len(row) != len(header)), None)
    if wrong is not None:
        raise ValueError(f"line {wrong} has {len(rows[wrong - 1])} cells and the header {len(header)}")
    return header, [row for row in rows[1:] if row]


def _parquet(path: Path) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError("it is Parquet, and pyarrow is not installed: install serq[frames]") from error
    table = parquet.read_table(path)
    return table.column_names, zip(*(column.to_pylist() for column in table.columns), strict=True)


def _row(header: Sequence[str], cells: Sequence[Any], read: Callable[[str, Any], Cell]) -> Row:
    return {name: read(name, cell) for name, cell in zip(header, cells, strict=True)}


def _request_cell(name: str, cell: Any) -> Cell:
    if name == "session":
        return str(cell)
    return None if cell in ("", None) else float(cell)


def _step_cell(name: str, cell: Any) -> Cell:
    if name == "victims":
        return tuple(cell.split())
    if name in LISTS:
        parts = (part.rpartition(":") for part in cell.split())
        return tuple((request, float(number)) for request, _, number in parts)
    if name == "evictions":
        return tuple(cell.split())
    return cell if name == "stage" else float(cell)


def _scenario(path: Path) -> Table:
    """A recorded scenario of the vLLM scheduler: its steps that scheduled anything, on the clock of step numbers."""
    with open_text(path) as file:
        document = json.load(file)
    if not isinstance(document, dict) or "steps" not in document:
        raise ValueError("it is JSON without `steps`")
    return Table("steps", "steps", [_scenario_step(step) for step in document["steps"] if step.get("sched")])


def _scenario_step(step: Mapping[str, Any]) -> Row:
    return {
        "start": float(step["step"]),
        "end": float(step["step"] + 1),
        "admitted": float(len(step.get("admit", ()))),
        "preempted": float(len(step.get("preempt", ()))),
        "free": float(step["free_sched"]),
        "scheduled": tuple((name, float(tokens)) for name, tokens in step["sched"]),
        "hits": tuple((name, float(hit)) for name, hit, _ in step.get("admit", ())),
        "victims": tuple(step.get("preempt", ())),
    }

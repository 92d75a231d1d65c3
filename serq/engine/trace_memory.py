"""The rows of a trace as memory of a run."""

from array import array
from typing import Any

from serq.codegen.seeds import stream_key
from serq.ir import program as p
from serq.traces.corpus import Corpus


def columns_of(program: p.Program) -> tuple[str, ...]:
    """The attributes that a row has cells for, in their order."""
    return tuple(name for name in program.traced if name != "more")


def fill_trace(trace: Any, program: p.Program, corpus: Corpus | None, seed: int, replication: int) -> None:
    """Give the record of the trace its rows; without a corpus it stays empty."""
    names = columns_of(program) if corpus is not None else ()
    trace.columns = len(names)
    trace.first = array("q", [0, 0]) if corpus is None else corpus.first
    trace.cells, trace.places = array("d", [0.0]), array("q", [0])
    starts: list[tuple[float, int]] = []
    if corpus is not None:
        trace.sessions = len(corpus)
        trace.cells = _cells([corpus.columns[name] for name in names])
        recorded = isinstance(program.arrivals, p.FromTrace)
        starts = list(corpus.arrivals()) if recorded else []
        trace.ordered = int(recorded or (program.trace is not None and program.trace.ordered))
        trace.places = array("q", corpus.by_start() if recorded else range(len(corpus)))
    trace.events = len(starts)
    trace.starts = array("d", [time for time, _ in starts] or [0.0])
    trace.counts = array("q", [count for _, count in starts] or [0])
    trace.key = array("Q", stream_key(seed, replication, "trace choice"))
    trace.words = array("Q", [0] * 4)
    trace.which = array("q", [-1])


def _cells(columns: "list[array[float]]") -> "array[float]":
    """Row by row."""
    cells = array("d", bytes(8 * len(columns) * len(columns[0])))
    for place, column in enumerate(columns):
        memoryview(cells)[place :: len(columns)] = memoryview(column)
    return cells


def grow_trace(trace: Any, old: int, capacity: int) -> None:
    """Room for more sessions."""
    fresh = array("q", [-1]) * capacity
    fresh[:old] = trace.which[:old]
    trace.which = fresh

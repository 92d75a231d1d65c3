"""Requests and steps of a replay as tables: CSV lines whose numbers read back as the same doubles, or Parquet."""

import re
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from serq.base.errors import UsageError
from serq.base.output import cannot_write, check_target, make_directory, write_lines
from serq.semantics.request_log import COLUMNS, Request
from serq.semantics.step_log import Names, Step

_SPECIAL = re.compile('["\r\n]')

STEP_COLUMNS = (
    "stage", "start", "end", "ndec", "kvb", "npre", "attn", "waiting", "running", "admitted", "preempted",
    "free", "scheduled", "hits", "victims", "evictions",
)  # fmt: skip


def request_lines(requests: Iterable[Request]) -> Iterator[str]:
    """The header and a line for each request; what never happened is an empty cell."""
    yield ",".join(COLUMNS) + "\n"
    for r in requests:
        times = ",".join("" if time is None else repr(time) for time in (r.sent, r.reached, r.first, r.done))
        counts = ",".join("" if count is None else number(count) for count in (r.prompt, r.cached, r.out))
        yield f"{_quoted(r.session)},{r.turn},{times},{counts},{r.preemptions}\n"


def write_requests(path: Path, requests: Iterable[Request]) -> None:
    """Write the table of requests, as Parquet where the file's name ends so."""
    if path.suffix != ".parquet":
        write_lines(path, request_lines(requests))
        return
    if find_spec("pyarrow") is None:
        raise UsageError("parquet needs pyarrow: install serq[frames], or write csv")
    import pyarrow
    from pyarrow import parquet

    kinds = [pyarrow.string(), pyarrow.int64(), *[pyarrow.float64()] * 7, pyarrow.int64()]
    rows = list(requests)
    columns = [pyarrow.array([getattr(r, name) for r in rows], kind) for name, kind in zip(COLUMNS, kinds, strict=True)]
    make_directory(path.parent)
    check_target(path)
    try:
        parquet.write_table(pyarrow.table(columns, names=list(COLUMNS)), path)
    except OSError as error:
        raise cannot_write(path, error) from error


def step_line(step: Step) -> str:
    """An iteration as a line; lists are written with spaces between: `REQUEST:TOKENS`, `SESSION:FIRST-END`."""
    counts = (step.waiting, step.running, len(step.admitted), len(step.preempted), step.free)
    evicted = " ".join(f"{session}:{number(first)}-{number(end)}" for session, first, end in step.evicted)
    cells = [step.stage, repr(step.start), repr(step.end), str(step.ndec), number(step.kvb), number(step.npre)]
    cells += [number(step.attn), *(number(count) for count in counts), _listed(step.scheduled), _listed(step.admitted)]
    cells += [" ".join(step.preempted), evicted]
    line = ",".join(cells)
    if line.count(",") == len(cells) - 1 and not _SPECIAL.search(line):
        return line + "\n"
    return ",".join(map(_quoted, cells)) + "\n"


def number(value: float) -> str:
    """A whole number without a point, any other so that it reads back as itself."""
    return str(int(value)) if value == int(value) else repr(value)


def as_dict(request: Request) -> dict[str, Any]:
    """A request for JSON."""
    return {name: getattr(request, name) for name in COLUMNS}


def _listed(names: Names) -> str:
    return " ".join(f"{name}:{number(value)}" for name, value in names)


def _quoted(text: str) -> str:
    """A cell of CSV: in quotes where it has a comma, a quote or a line end in it."""
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text

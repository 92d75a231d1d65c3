"""Writing every observation of a run: one file per `observe`, columns time, session, turn, value."""

from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from serq.base.errors import UsageError
from serq.base.output import cannot_write, make_directory
from serq.semantics.run_result import RunResult
from serq.semantics.tallies import Samples

Format = Literal["csv", "parquet"]
COLUMNS = ("time", "session", "turn", "value")


def write_dump(results: Sequence[RunResult], directory: Path, form: Format = "csv") -> tuple[Path, ...]:
    """Write the samples and return the files. The run must have been made with `keep_samples`.

    One replication gives `directory/NAME.csv`, several `directory/replication-0/NAME.csv` and so on. Numbers are
    written so that reading them gives the same doubles. Raises `UsageError` when pyarrow is missing, `OutputError` or
    `LimitError` when a file cannot be written.
    """
    write = _writer(form)
    written = []
    for result in results:
        place = directory / f"replication-{result.replication}" if len(results) > 1 else directory
        for name, samples in result.samples.items():
            if len(samples.times) != len(samples.values):
                raise ValueError("the run kept values only: set keep_samples in its options")
            path = place / f"{name}.{form}"
            make_directory(place)
            try:
                write(path, samples)
            except OSError as error:
                raise cannot_write(path, error) from error
            written.append(path)
    return tuple(written)


def _writer(form: Format) -> Callable[[Path, Samples], None]:
    if form == "csv":
        return _write_csv
    if form != "parquet":
        raise UsageError(f"a dump is written as csv or parquet, not {form!r}")
    if find_spec("pyarrow") is None:
        raise UsageError("parquet needs pyarrow: install serq[frames], or write csv")
    return _write_parquet


def _write_csv(path: Path, samples: Samples) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(COLUMNS) + "\n")
        file.writelines(_lines(samples))


def _lines(samples: Samples) -> Iterable[str]:
    """`repr` of a double is the shortest text that reads back as the same double."""
    rows = zip(samples.times, samples.sessions, samples.turns, samples.values, strict=True)
    return (f"{time!r},{session},{turn},{value!r}\n" for time, session, turn, value in rows)


def _write_parquet(path: Path, samples: Samples) -> None:
    import pyarrow
    from pyarrow import parquet

    kept = (samples.times, samples.sessions, samples.turns, samples.values)
    kinds = (pyarrow.float64(), pyarrow.int64(), pyarrow.int64(), pyarrow.float64())
    columns = [pyarrow.array(column, kind) for column, kind in zip(kept, kinds, strict=True)]
    parquet.write_table(pyarrow.table(columns, names=list(COLUMNS)), path)

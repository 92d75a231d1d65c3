"""Every measure of a program as a ratio of sums per batch.

The names and their meaning are those of `serq.ir.measures`. Time averages divide an integral by the length of the
batch, rates a count by it. `stage.s.wait` and `stage.s.sojourn` divide by completions: the mean over the jobs completed
in the window of their whole wait and stay, wherever they began; what preempted jobs waited and stayed is added, so that
in the long run wait = waiting / throughput and sojourn = number / throughput, as the chain defines them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from serq.ir import program as p
from serq.ir.measures import Measure, measures_of
from serq.semantics.estimate import Batches
from serq.semantics.statistics import Counts

Row = tuple[float, ...]


class Series(NamedTuple):
    """One measure in one replication, by batch. `counts`: a number of events over a time."""

    numerator: Row
    denominator: Row
    counts: bool = False


def series_of(program: p.Program, counts: Counts) -> dict[str, Series]:
    """The series of every measure, by name."""
    return {measure.name: _series(program, counts, measure) for measure in measures_of(program)}


def batches_of(replications: Sequence[Mapping[str, Series]]) -> dict[str, Batches]:
    """The series of several replications of one program side by side, by measure."""
    return {
        name: Batches(
            tuple(r[name].numerator for r in replications),
            tuple(r[name].denominator for r in replications),
            series.counts,
        )
        for name, series in replications[0].items()
    }


def _series(program: p.Program, counts: Counts, measure: Measure) -> Series:
    widths = tuple(counts.widths)
    match measure.kind:
        case "observe":
            sums, numbers = zip(*counts.observes[measure.subject], strict=True)
            return Series(sums, numbers) if measure.statistic == "mean" else Series(numbers, widths, True)
        case "gauge":
            return Series(tuple(counts.gauges[[g.name for g in program.gauges].index(measure.subject)]), widths)
        case "stage":
            return _stage(program, counts, measure, widths)
        case "pool":
            return _pool(program, counts, measure, widths)
        case "sessions":
            field = {"throughput": "ended", "losses": "lost"}.get(measure.statistic, measure.statistic)
            return Series(_column(counts.sessions, field), widths, field != "number")


def _stage(program: p.Program, counts: Counts, measure: Measure, widths: Row) -> Series:
    place = [stage.name for stage in program.stages].index(measure.subject)
    rows, kind = counts.stages[place], program.stages[place].kind
    match measure.statistic:
        case "waiting":
            return Series(tuple(r.number - r.busy for r in rows), widths)
        case "utilisation" if isinstance(kind, p.Fifo):
            servers = kind.servers.value
            return Series(tuple(r.busy / servers for r in rows), widths)
        case "utilisation":
            return Series(_column(rows, "nonempty"), widths)
        case "throughput":
            return Series(_column(rows, "completed"), widths, True)
        case "wait" | "sojourn" as statistic:
            return Series(_column(rows, statistic), _column(rows, "completed"))
        case statistic:
            return Series(_column(rows, statistic), widths)


_POOL_COUNTS = ("admissions", "evictions", "preemptions", "rejections")


def _pool(program: p.Program, counts: Counts, measure: Measure, widths: Row) -> Series:
    rows = counts.pools[[pool.name for pool in program.pools].index(measure.subject)]
    if measure.statistic == "queue_wait":
        return Series(_column(rows, "waited"), _column(rows, "admissions"))
    return Series(_column(rows, measure.statistic), widths, measure.statistic in _POOL_COUNTS)


def _column(rows: Sequence[object], field: str) -> Row:
    return tuple(getattr(row, field) for row in rows)

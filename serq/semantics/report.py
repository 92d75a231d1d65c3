"""The report of a run as data: every measure with its interval, and what else was counted.

Nothing in it is a formatted text but the reasons why something has no value; `to_dict` gives what `--json` prints.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite

from serq.base.errors import LimitError
from serq.base.version import __version__
from serq.ir import program as p
from serq.ir.fingerprint import fingerprint
from serq.ir.measures import measures_of
from serq.ir.results import Estimate
from serq.semantics.estimate import MOST_BATCHES, Over, estimate
from serq.semantics.options import RunOptions
from serq.semantics.quantiles import Observations, quantiles_of, samples_of, unknown_quantiles
from serq.semantics.resolution import coarse_clock
from serq.semantics.run_result import RunResult
from serq.semantics.series import batches_of
from serq.semantics.stability import Stability, stability_of
from serq.semantics.summary import Summary
from serq.semantics.tallies import add_up

SCHEMA = "serq.run/2"


@dataclass(frozen=True, slots=True)
class Section:
    """One observe, stage, pool or gauge, or the sessions (then `name` is empty).

    `estimates` are its measures by statistic, `totals` plain counts and sums over the window and all replications.
    `summary` is there for an observe.
    """

    name: str
    estimates: Mapping[str, Estimate]
    totals: Mapping[str, float | None]
    summary: Summary | None = None

    def to_dict(self) -> dict[str, object]:
        """The section as JSON data."""
        out: dict[str, object] = {"name": self.name} if self.name else {}
        out |= {statistic: _estimate(e) for statistic, e in self.estimates.items()}
        if self.summary is not None:
            known = (f.name for f in fields(Summary) if f.name not in out)
            out |= {name: _number(getattr(self.summary, name)) for name in known}
        return out | {name: _number(x) for name, x in self.totals.items()}


@dataclass(frozen=True)
class RunReport:
    """A run of a program: where it came from, how it was run, what came out.

    `why_reference` says why the compiled engine did not run it; empty when it did, or was not wanted. `stopped` says
    which limit ended the run early; empty when none did. `remarks` are for the reader. `observations` by observe are
    there where the samples were not kept.
    """

    program: str
    program_hash: str
    options: RunOptions
    replications: int
    confidence: float
    method: str
    events: int
    stability: Stability
    observes: tuple[Section, ...]
    stages: tuple[Section, ...]
    pools: tuple[Section, ...]
    gauges: tuple[Section, ...]
    sessions: Section
    engine: str = "reference"
    why_reference: str = ""
    stopped: str = ""
    remarks: tuple[str, ...] = ()
    observations: Mapping[str, Observations] | None = field(default=None, repr=False, compare=False)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every measure, in the order of `serq.ir.measures`."""
        sections = (*self.observes, *self.stages, *self.pools, *self.gauges, self.sessions)
        return tuple(e for section in sections for e in section.estimates.values())

    def estimate(self, measure: str) -> Estimate:
        """The answer about one measure by its full name, such as `stage.svc.number`; KeyError when there is none."""
        for e in self.estimates:
            if e.measure == measure:
                return e
        raise KeyError(measure)

    def to_dict(self) -> dict[str, object]:
        """Strict JSON data: no NaN and no infinity; what has no value is null and has a reason."""
        return {
            "serq_version": __version__,
            "schema": SCHEMA,
            "program": self.program,
            "program_hash": self.program_hash,
            "engine": self.engine,
            **({"why_reference": self.why_reference} if self.why_reference else {}),
            **({"stopped": self.stopped} if self.stopped else {}),
            "seed": self.options.seed,
            "horizon": self.options.horizon,
            "warmup": self.options.warmup,
            "replications": self.replications,
            "confidence": self.confidence,
            "method": self.method,
            "remarks": list(self.remarks),
            "events": self.events,
            "tools": {"python": sys.version.split()[0]},
            "stability": {f.name: _number(getattr(self.stability, f.name)) for f in fields(Stability)},
            "observes": [s.to_dict() for s in self.observes],
            "stages": [s.to_dict() for s in self.stages],
            "pools": [s.to_dict() for s in self.pools],
            "gauges": [s.to_dict() for s in self.gauges],
            "sessions": self.sessions.to_dict(),
        }


class PartialError(LimitError):
    """A run was stopped by a limit; `report` and `results` tell what was learned until then."""

    def __init__(self, report: RunReport, results: tuple[RunResult, ...]) -> None:
        self.report = report
        self.results = results
        super().__init__(report.stopped)


def report_of(
    program: p.Program,
    options: RunOptions,
    results: Sequence[RunResult],
    confidence: float = 0.95,
    observations: Mapping[str, Observations] | None = None,
) -> RunReport:
    """Put replications together. Several give Student intervals over their means, one gives batch means.

    `observations` by observe stand for the samples where the results have none.
    """
    over: Over = "replications" if len(results) > 1 else "batches"
    answers = estimates_of(program, results, confidence, over)
    by_section: dict[tuple[str, str], dict[str, Estimate]] = {}
    for measure, answer in zip(measures_of(program), answers, strict=True):
        by_section.setdefault((measure.kind, measure.subject), {})[measure.statistic] = answer
    known = observations or {name: samples_of(name, results) for name in program.observes}
    for name in program.observes:
        by_section["observe", name] |= quantiles_of(name, known[name], confidence, over)
    sections = _Sections(program, results, by_section, known)
    return RunReport(
        program.name,
        fingerprint(program),
        options,
        len(results),
        confidence,
        _method(answers, len(results), observations is not None),
        sum(r.events for r in results),
        stability_of(results),
        tuple(sections.observe(name) for name in program.observes),
        tuple(sections.stage(place) for place in range(len(program.stages))),
        tuple(sections.pool(place) for place in range(len(program.pools))),
        tuple(Section(g.name, by_section["gauge", g.name], {}) for g in program.gauges),
        sections.sessions(),
        remarks=(
            *coarse_clock(program, [r.counts for r in results], options.horizon),
            *(text for name in program.observes for text in unknown_quantiles(name, by_section["observe", name])),
        ),
        observations=observations,
    )


def estimates_of(
    program: p.Program, results: Sequence[RunResult], confidence: float = 0.95, over: Over = "batches"
) -> tuple[Estimate, ...]:
    """Every measure of the program, in the order of `measures_of`. Over batches there are most degrees of freedom."""
    batches = batches_of([r.series for r in results])
    return tuple(estimate(m.name, batches[m.name], confidence, over) for m in measures_of(program))


def _method(answers: Sequence[Estimate], replications: int, sketched: bool) -> str:
    quantiles = "; quantiles from a histogram, right to 0.05 %" if sketched else ""
    if replications > 1:
        return f"Student intervals over the means of {replications} replications{quantiles}"
    merged = sum("merged" in e.method for e in answers)
    correlated = sum("still correlated" in e.reason for e in answers)
    still = f", of {correlated} they still are and the run is short" if correlated else ""
    found = f" (of {merged} measures they were correlated and merged{still})" if merged else ""
    return f"batch means, at most {MOST_BATCHES} batches{found}{quantiles}"


class _Sections:
    """The sections of a report, one kind after the other."""

    def __init__(
        self,
        program: p.Program,
        results: Sequence[RunResult],
        estimates: dict[tuple[str, str], dict[str, Estimate]],
        observations: Mapping[str, Observations],
    ) -> None:
        self._program = program
        self._results = results
        self._estimates = estimates
        self._observations = observations

    def observe(self, name: str) -> Section:
        return Section(name, self._estimates["observe", name], {}, self._observations[name].summary)

    def stage(self, place: int) -> Section:
        name = self._program.stages[place].name
        totals = add_up([sums for r in self._results for sums in r.counts.stages[place]])
        completed = totals["completed"]
        return Section(
            name,
            self._estimates["stage", name],
            {
                "completed": completed,
                "mean_service": totals["service"] / completed if completed else None,
                "iterations": totals["iterations"],
            },
        )

    def pool(self, place: int) -> Section:
        name = self._program.pools[place].name
        totals = add_up([sums for r in self._results for sums in r.counts.pools[place]])
        counted = ("admissions", "evictions", "evicted_units", "preemptions", "rejections", "spills", "spilled_units")
        return Section(name, self._estimates["pool", name], {f"total_{x}": totals[x] for x in counted})

    def sessions(self) -> Section:
        totals = add_up([sums for r in self._results for sums in r.counts.sessions])
        counted = {x: totals[x] for x in ("arrived", "ended", "lost", "turns")}
        return Section("", self._estimates["sessions", ""], counted)


def _estimate(e: Estimate) -> dict[str, object]:
    out: dict[str, object] = {x: _number(getattr(e, x)) for x in ("value", "half_width", "standard_error", "degrees")}
    out["method"] = e.method
    reason = e.reason or ("the value is not finite" if out["value"] is None else "")
    return out | ({"reason": reason} if reason else {})


def _number(value: object) -> object:
    """A number that JSON knows, or null; texts pass."""
    if isinstance(value, str | int | None):
        return value
    number = float(value)  # type: ignore[arg-type]
    return number if isfinite(number) else None

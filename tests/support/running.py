"""Short ways to run a program text in tests: checked mode, samples kept."""

from dataclasses import replace

from serq.ir.program import Program
from serq.pipeline import load_text
from serq.semantics.options import RunOptions, options_of
from serq.semantics.reference import simulate
from serq.semantics.report import RunReport, report_of
from serq.semantics.run_result import RunResult


def program_of(text: str, **sets: str) -> Program:
    """Link a program text."""
    return load_text(text, overrides=sets).program


def run(text: str, **changes: object) -> RunResult:
    """One replication of a program text, checked, with all samples."""
    program = program_of(text)
    return simulate(program, options(program, **changes))


def options(program: Program, **changes: object) -> RunOptions:
    """The program's own settings, checked, with all samples kept."""
    base = options_of(program, horizon=changes.pop("horizon", None))
    return replace(base, **{"checked": True, "keep_samples": True} | changes)


def seen(result: RunResult, name: str) -> list[tuple[float, int, float]]:
    """The observations of a name: (time, session, value)."""
    samples = result.samples[name]
    return list(zip(samples.times, samples.sessions, samples.values, strict=True))


def values(result: RunResult, name: str) -> list[float]:
    """The values of an observe, in order."""
    return list(result.samples[name].values)


def report(text: str, **changes: object) -> RunReport:
    """The report of one replication."""
    program = program_of(text)
    settings = options(program, **changes)
    return report_of(program, settings, [simulate(program, settings)])


def answer(result: RunReport, measure: str) -> float:
    """The value of a measure."""
    value = result.estimate(measure).value
    assert value is not None
    return float(value)

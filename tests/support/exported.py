"""Exports of counters in Storm's exact engine, and the explorer's answers beside them."""

from fractions import Fraction

from serq.base.errors import NoSteadyStateError
from serq.compare.storm import StormAnswer, StormJob, jani_job, prism_job
from serq.exporters.jani import jani_text
from serq.exporters.prism import PrismExport
from serq.exporters.rewards import ExportedMeasure
from serq.ir.program import Program
from serq.pipeline import SolveOptions, solve


def measures_of(export: PrismExport, answer: StormAnswer) -> dict[str, Fraction]:
    """Our measures from Storm's values of the rewards."""
    values = dict(zip(export.rewards, (Fraction(v) for v in answer.values), strict=True))
    out = {}
    for measure in export.measures:
        if isinstance(measure, ExportedMeasure):
            below = Fraction(1) if measure.denominator is None else values[measure.denominator]
            if below:
                out[measure.measure.name] = values[measure.numerator] / below
    return out


def exact_answers(program: Program, largest: int = 400) -> dict[str, Fraction] | None:
    """The explorer's answers; None where there is no single steady state."""
    try:
        solved = solve(program, SolveOptions(states=largest))
    except NoSteadyStateError:
        return None
    return {e.measure: Fraction(e.value) for e in solved.estimates if e.value is not None}


def constants_of(export: PrismExport, program: Program) -> dict[str, Fraction | int]:
    constants: dict[str, Fraction | int] = {}
    for identifier in export.open_constants:
        value = Fraction(program.constant(export.names.named(identifier).name).folded.exact)
        constants[identifier] = int(value) if identifier in export.integers else value
    return constants


def prism_job_of(export: PrismExport, program: Program) -> StormJob:
    return prism_job(export.model, constants_of(export, program), [export.property_of(r) for r in export.rewards])


def jani_job_of(export: PrismExport, program: Program) -> StormJob:
    text = jani_text(export.counters, "generated")
    return jani_job(text, constants_of(export, program), [f"longrun_{r}" for r in export.rewards])

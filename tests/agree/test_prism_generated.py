"""Two witnesses on generated programs: the symbolic PRISM text in Storm's exact engine, and the explorer.

The text is written once per program, with its constants open. It is then checked at the program's own constants and at
others that the exporter has not seen. Every measure that both can give must be the same rational.
"""

from collections import Counter
from fractions import Fraction

import pytest
from finite_programs import FiniteProgram, finite_program

from serq.base.errors import NoSteadyStateError, OutsideFragmentError
from serq.compare.storm import StormAnswer, StormJob, jani_job, long_run, prism_job, run_storm, succeeded
from serq.exporters.jani import jani_text
from serq.exporters.prism import Prism, PrismExport
from serq.exporters.rewards import ExportedMeasure
from serq.ir.program import Program
from serq.pipeline import SolveOptions, load_text, solve

SEEDS = range(220)
CHUNK = 44
LARGEST = 400


def _measures(export: PrismExport, answer: StormAnswer) -> dict[str, Fraction]:
    """Our measures from Storm's values of the rewards."""
    values = dict(zip(export.rewards, (Fraction(v) for v in answer.values), strict=True))
    out = {}
    for measure in export.measures:
        if isinstance(measure, ExportedMeasure):
            below = Fraction(1) if measure.denominator is None else values[measure.denominator]
            if below:
                out[measure.measure.name] = values[measure.numerator] / below
    return out


def _exact(program: Program) -> dict[str, Fraction] | None:
    """The explorer's answers; None where there is no single steady state."""
    try:
        solved = solve(program, SolveOptions(exact=True, states=LARGEST))
    except NoSteadyStateError:
        return None
    return {e.measure: Fraction(e.value) for e in solved.estimates if e.value is not None}


def _constants(export: PrismExport, program: Program) -> dict[str, Fraction | int]:
    constants: dict[str, Fraction | int] = {}
    for identifier in export.open_constants:
        value = Fraction(program.constant(export.names.named(identifier).name).folded.exact)
        constants[identifier] = int(value) if identifier in export.integers else value
    return constants


def _job(export: PrismExport, program: Program) -> StormJob:
    return prism_job(export.model, _constants(export, program), [long_run(r) for r in export.rewards])


def _in_jani(export: PrismExport, program: Program) -> StormJob:
    text = jani_text(export.counters, "generated")
    return jani_job(text, _constants(export, program), [f"longrun_{r}" for r in export.rewards])


def _other(generated: FiniteProgram, export: PrismExport) -> Program:
    """The program with other values for the constants that the export left open."""
    opened = {export.names.named(i).name for i in export.open_constants}
    return load_text(generated.text, overrides={k: str(v) for k, v in generated.other.items() if k in opened}).program


@pytest.mark.parametrize("first", range(0, len(SEEDS), CHUNK))
def test_storm_and_the_explorer_give_the_same_rationals(first: int) -> None:
    cases: list[tuple[int, PrismExport, Program, dict[str, Fraction]]] = []
    skipped: Counter[str] = Counter()
    for seed in SEEDS[first : first + CHUNK]:
        generated = finite_program(seed)
        program = load_text(generated.text).program
        export = Prism().export(program)
        for instance in (program, _other(generated, export)):
            try:
                exact = _exact(instance)
            except OutsideFragmentError as error:
                raise AssertionError(f"seed {seed} is meant to be a chain: {error}\n{generated.text}") from error
            if exact is None:
                skipped["several closed classes"] += 1
                continue
            cases.append((seed, export, instance, exact))
    answers = run_storm([_job(export, program) for _, export, program, _ in cases])
    # The same counters as JANI, at the program's constants and at the others: the same values of every reward.
    for case, answer in zip(
        cases[::5], run_storm([_in_jani(export, program) for _, export, program, _ in cases[::5]]), strict=True
    ):
        assert succeeded(answer).values == succeeded(answers[cases.index(case)]).values, f"seed {case[0]}: JANI"
    compared = 0
    for (seed, export, _, exact), outcome in zip(cases, answers, strict=True):
        storm = _measures(export, succeeded(outcome))
        for name in storm.keys() & exact.keys():
            assert storm[name] == exact[name], f"seed {seed}: {name}"
            compared += 1
        assert {n for n in exact if not n.startswith("observe")} <= storm.keys(), f"seed {seed}: measures are missing"
    assert len(cases) > 1.6 * CHUNK, skipped
    assert compared > 12 * len(cases)

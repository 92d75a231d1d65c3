"""Two witnesses on generated programs: the symbolic PRISM text in Storm's exact engine, and the explorer.

The text is written once per program, with its constants open. It is then checked at the program's own constants and at
others that the exporter has not seen. Every measure that both can give must be the same rational.
"""

from collections import Counter
from fractions import Fraction

import pytest
from exported import exact_answers, jani_job_of, measures_of, prism_job_of
from finite_programs import FiniteProgram, finite_program

from serq.base.errors import OutsideFragmentError
from serq.compare.storm import run_storm, succeeded
from serq.exporters.prism import Prism, PrismExport
from serq.ir.program import Program
from serq.pipeline import load_text

SEEDS = range(220)
CHUNK = 44


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
                exact = exact_answers(instance)
            except OutsideFragmentError as error:
                raise AssertionError(f"seed {seed} is meant to be a chain: {error}\n{generated.text}") from error
            if exact is None:
                skipped["several closed classes"] += 1
                continue
            cases.append((seed, export, instance, exact))
    answers = run_storm([prism_job_of(export, program) for _, export, program, _ in cases])
    # The same counters as JANI, at the program's constants and at the others: the same values of every reward.
    for case, answer in zip(
        cases[::5], run_storm([jani_job_of(export, program) for _, export, program, _ in cases[::5]]), strict=True
    ):
        assert succeeded(answer).values == succeeded(answers[cases.index(case)]).values, f"seed {case[0]}: JANI"
    compared = 0
    for (seed, export, _, exact), outcome in zip(cases, answers, strict=True):
        storm = measures_of(export, succeeded(outcome))
        for name in storm.keys() & exact.keys():
            assert storm[name] == exact[name], f"seed {seed}: {name}"
            compared += 1
        assert {n for n in exact if not n.startswith("observe")} <= storm.keys(), f"seed {seed}: measures are missing"
    assert len(cases) > 1.6 * CHUNK, skipped
    assert compared > 12 * len(cases)

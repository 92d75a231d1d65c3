"""The PRISM text of shipped models, written once with its constants open: Storm's exact engine, the explorer and the
closed form give one rational for every measure, at every number of sessions.
"""

from fractions import Fraction

import pytest

from serq import models
from serq.closedforms.match import match
from serq.compare.storm import long_run, prism_job, run_storm, succeeded
from serq.exporters.prism import Prism
from serq.exporters.rewards import ExportedMeasure
from serq.ir.program import Program
from serq.pipeline import SolveOptions, load, solve

OPEN = {
    "mm1n": ({"mu": "4/3", "Z": "5/2"}, range(1, 9)),
    "mmcn": ({"mu": "4/3"}, range(1, 9)),
    "ps": ({}, range(1, 6)),
    "tandem": ({}, range(1, 6)),
    "twoclass": ({}, range(1, 6)),
}
"""Model -> constants other than its own, and the populations."""


def program(name: str, **sets: str) -> Program:
    model = models.find(name)
    assert model is not None
    return load(model.path, sets).program


@pytest.mark.parametrize("name", OPEN)
def test_three_witnesses_give_one_rational(name: str) -> None:
    sets, populations = OPEN[name]
    export = Prism().export(program(name))
    cases = [program(name, N=str(n), **sets) for n in populations]
    jobs = []
    for case in cases:
        opened = {i: Fraction(case.constant(export.names.named(i).name).folded.exact) for i in export.open_constants}
        constants = {i: int(v) if i in export.integers else v for i, v in opened.items()}
        jobs.append(prism_job(export.model, constants, [long_run(r) for r in export.rewards]))
    for case, outcome in zip(cases, run_storm(jobs), strict=True):
        values = dict(zip(export.rewards, map(Fraction, succeeded(outcome).values), strict=True))
        exact = {e.measure: e.value for e in solve(case, SolveOptions(exact=True)).estimates}
        closed = {e.measure: e.value for e in match(case).estimates}
        names = set()
        for measure in export.measures:
            if not isinstance(measure, ExportedMeasure) or values.get(measure.denominator or "", 1) == 0:
                continue
            by_storm = values[measure.numerator] / values.get(measure.denominator or "", Fraction(1))
            if exact[measure.measure.name] is not None:
                assert by_storm == exact[measure.measure.name], measure.measure.name
                names.add(measure.measure.name)
            if closed.get(measure.measure.name) is not None:
                assert by_storm == closed[measure.measure.name], measure.measure.name
                names.add(measure.measure.name)
        assert len(names) > 10

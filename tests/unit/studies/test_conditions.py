"""Whether the chains of a study can be stuck: the verdict at every point, in every form of the report."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from studies import QUEUE, plan

import serq
from serq.api.solved import SolveResult
from serq.base.errors import UsageError
from serq.cli.study_text import study_text
from serq.pipeline import SolveOptions
from serq.semantics.metastability import Metastability
from serq.studies import conditions
from serq.studies.encoding import Outcome
from serq.studies.page import page
from serq.studies.results import StudyResult
from serq.studies.study import study
from serq.studies.tables import csv_text, study_data

AMP = (Path(__file__).parents[2] / "data" / "values" / "programs" / "amp_ps.sq").read_text()
RUN = "run { horizon 400; warmup 20; seed 1; }"
BIMODAL = AMP + RUN


@pytest.fixture(scope="module")
def done() -> StudyResult:
    """24 sessions: most missing, in between, most well."""
    asked = tuple(f"metastability.sessions.{name}" for name in ("conditions", "gap", "slowest", "fewer"))
    wide = SolveOptions(states=5000)
    return study(plan("Z=60:80:10", text=BIMODAL, methods=("exact",), measures=asked, solving=wide, conditions=True))


def test_every_point_has_what_its_chain_alone_has(done: StudyResult) -> None:
    for point, think in zip(done.points, (60, 70, 80), strict=True):
        alone: SolveResult = serq.loads(BIMODAL, Z=think).solve(states=5000)
        found = conditions.conditions(alone.program, alone.solved)
        assert point.outcome("exact").conditions == conditions.conditions_data(found)
        assert point.row("metastability.sessions.slowest").exact.value == found.rates[0]
        assert point.row("metastability.sessions.gap").exact.value == found.gap
        assert point.row("metastability.sessions.fewer").exact.value == found.basins[0]


def test_the_condition_of_few_grows_with_the_time_to_think(done: StudyResult) -> None:
    likely = [point.row("metastability.sessions.fewer").exact.value for point in done.points]
    assert likely == sorted(likely)
    assert likely[0] < 0.4 < 0.6 < likely[-1]


def test_one_point_is_known(done: StudyResult) -> None:
    """The larger instances of the model: `tests/unit/semantics/test_metastability.py`."""
    assert done.points[0].outcome("exact").conditions["verdict"] == "bimodal, not bistable"
    assert done.points[2].outcome("exact").conditions["verdict"] == "one condition"


BISTABLE = Metastability("bistable", (0.01, 0.1), (0.25, 0.75), (0, 6), (1.0,), (50.0, 150.0), (1e-4, 1e-4), False)


def test_a_chain_with_two_conditions_says_so_in_words_and_numbers() -> None:
    by_name = {e.measure: e for e in conditions.condition_estimates(BISTABLE)}
    assert by_name["metastability.sessions.conditions"].value == 2
    assert by_name["metastability.sessions.conditions"].reason == "bistable"
    assert by_name["metastability.sessions.gap"].value == pytest.approx(10)
    assert by_name["metastability.sessions.modes"].reason == "modes 0, 6"
    assert by_name["metastability.sessions.down"].value == 150
    assert len(by_name) == 9
    assert by_name["metastability.sessions.gap"].bound is None
    assert by_name["metastability.sessions.gap"].reason == "estimated to be off by 0.11 at most"
    assert conditions.conditions_data(BISTABLE)["relaxation_bound"] == pytest.approx(100 / 99)
    proved = {e.measure: e for e in conditions.condition_estimates(replace(BISTABLE, proved=True))}
    assert proved["metastability.sessions.slowest"].bound == 1e-4


def test_it_is_in_every_form_of_the_report(done: StudyResult) -> None:
    text = study_text(done)
    assert text.count("bimodal, not bistable") == 2
    rows = list(csv.DictReader(io.StringIO(csv_text(done))))
    verdicts = [r["why"] for r in rows if r["measure"] == "metastability.sessions.conditions"]
    assert verdicts == ["bimodal, not bistable", "bimodal, not bistable", "one condition"]
    data = study_data(done)
    assert data["metastability"] is True
    assert data["points"][0]["methods"]["exact"]["metastability"]["verdict"] == "bimodal, not bistable"
    html = page(done, {})
    assert "<td>bimodal, not bistable</td>" in html
    assert html.count('<img alt="metastability.sessions.gap, ') == 1


def test_it_is_kept_with_the_point(done: StudyResult) -> None:
    outcome = done.points[0].outcome("exact")
    assert Outcome.of_data(outcome.to_data()) == outcome


def test_it_is_asked_of_the_chain_only() -> None:
    with pytest.raises(UsageError, match="needs the method exact"):
        study(plan("N=2", methods=("sim",), conditions=True))


def test_where_there_is_no_verdict_the_point_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Metastability:
        raise conditions_error

    from serq.base.errors import LimitError

    conditions_error = LimitError("the eigenvalues next to 0 were not found")
    monkeypatch.setattr(conditions, "conditions", refused)
    done = study(plan("N=2", text=QUEUE, methods=("exact",), conditions=True))
    (point,) = done.points
    assert point.outcome("exact").remark == "no verdict on conditions: the eigenvalues next to 0 were not found"
    assert point.row("stage.svc.number").exact.value is not None
    assert done.sound


def test_python_asks_the_same() -> None:
    answer = serq.study(serq.loads(QUEUE), {"N": (2, 3)}, methods=("exact",), metastability=True)
    assert [row["exact"] for row in answer.rows() if row["measure"] == "metastability.sessions.conditions"] == [1, 1]

"""A study from its plan to its result."""

import json
from fractions import Fraction

import pytest
from studies import FRAGILE, QUEUE, plan, policy

from serq.base.errors import SerqError
from serq.cli.study_text import study_text
from serq.compare import laws
from serq.pipeline import SolveOptions, load_text, solve
from serq.studies.encoding import Outcome
from serq.studies.grid import parse_axis
from serq.studies.plan import Plan
from serq.studies.study import Work, study
from serq.studies.tables import csv_text, records, study_data
from serq.studies.tasks import work
from serq.studies.words import missing_lines, remark_lines

NUMBER = "stage.svc.number"


def test_three_methods_agree_at_every_point() -> None:
    done = study(plan("N=1:4"))
    assert done.sound
    assert [p.values["N"] for p in done.points] == [1, 2, 3, 4]
    for point in done.points:
        row = point.row(NUMBER)
        assert row is not None
        assert row.verdict == "agrees"
        assert row.exact is not None
        assert row.closed is not None
        assert row.exact.value == row.closed.value
        assert row.simulated is not None
    overrides = {"N": "4"}
    expected = {e.measure: e.value for e in solve(load_text(QUEUE, overrides=overrides).program).estimates}
    assert done.points[-1].row(NUMBER).exact.value == expected[NUMBER]


def test_the_family_is_the_whole_study() -> None:
    few, many = study(plan("N=2:3")), study(plan("N=2:9"))
    assert few.tests == sum(r.p_value is not None for p in few.points for r in p.rows)
    assert many.tests > few.tests
    assert {a.tests for a in many.judgements} == {many.tests}


def test_two_policies_that_met_no_rare_event_do_not_contradict_their_small_difference() -> None:
    asked = plan("N=12", policies=(policy(), policy(label="fast", mu="1.05")), measures=("*utilisation",))
    (contrast,) = study(asked).contrasts
    row = contrast.row("stage.svc.utilisation")
    assert row.simulated.value == row.simulated.standard_error == 0
    assert 1e-7 < -row.exact.value < 1e-5
    assert row.verdict == "agrees"


def test_a_point_that_fails_does_not_stop_the_others() -> None:
    done = study(plan("mu=1:4", text=FRAGILE))
    assert [bool(p.faults) for p in done.points] == [False, False, True, True]
    assert "its arguments must be finite" in done.points[2].faults[0]
    assert not done.sound
    assert done.agrees


STEPPED = QUEUE.replace("loop {", "loop { set k = mu - 2; branch (k) { run svc (~exp(1)); }")


def test_a_method_that_fails_at_a_point() -> None:
    done = study(plan("mu=2,4", text=STEPPED, methods=("sim",)))
    assert done.points[0].faults == ()
    assert done.points[1].faults[0].startswith("sim: ")
    assert "SQ502" in done.points[1].faults[0]


def test_what_does_not_apply_is_said_and_is_no_fault() -> None:
    fixed = QUEUE.replace("~exp(1 / mu)", "1 / mu").replace(": fifo", ": fifo(2)")
    done = study(plan("N=3", text=fixed))
    (point,) = done.points
    assert set(point.silent) == {"exact", "closed"}
    assert "line 5" in point.silent["exact"]
    assert done.sound


def test_a_chain_that_is_too_large_is_no_fault_where_others_answer() -> None:
    done = study(plan("N=50", solving=SolveOptions(states=10)))
    (point,) = done.points
    assert point.outcomes["exact"].status == "limit"
    assert not point.faults
    alone = study(plan("N=50", methods=("exact",), solving=SolveOptions(states=10)))
    assert alone.points[0].faults
    assert not alone.sound


def test_only_the_measures_asked_for() -> None:
    done = study(plan("N=2", measures=("stage.svc.n*", "observe.*.mean")))
    assert [m.name for m in done.measures] == [NUMBER, "observe.response.mean"]
    assert {r["measure"] for r in records(done)} == {NUMBER, "observe.response.mean"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"axes": (parse_axis("M=1"),)}, "SQ821"), ({"measures": ("svc.number",)}, "SQ822")],
)
def test_plans_that_cannot_be_carried_out(changes: dict[str, object], code: str) -> None:
    with pytest.raises(SerqError) as caught:
        study(plan("N=1", **changes))
    assert caught.value.code == code


def test_policies_are_compared_with_the_first_one() -> None:
    policies = (policy(), policy(label="slow", mu="0.8"))
    done = study(plan("N=2,4", policies=policies))
    assert [(c.before, c.after) for c in done.contrasts] == [("queue", "slow")] * 2
    row = done.contrasts[0].row(NUMBER)
    before, after = (p.row(NUMBER).exact.value for p in done.points[:2])
    assert row.exact.value == row.closed.value == after - before
    assert isinstance(row.exact.value, Fraction)
    assert row.verdict == "agrees"
    assert done.sound


def test_a_wrong_simulation_is_found_in_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    from serq.studies import tasks

    right = tasks._METHODS["sim"]

    def wrong(program, task):
        return right(load_text(QUEUE, overrides=dict(task.sets) | {"mu": "0.7"}).program, task)

    monkeypatch.setitem(tasks._METHODS, "sim", wrong)
    done = study(plan("N=2:3"))
    assert not done.agrees
    assert not done.sound


def test_the_csv_reads_back_as_the_same_doubles() -> None:
    done = study(plan("N=2"))
    text = csv_text(done)
    assert text.startswith("policy,N,measure,unit,sim,")
    row = next(line for line in text.splitlines() if f",{NUMBER}," in line).split(",")
    assert float(row[4]) == done.points[0].row(NUMBER).simulated.value
    assert float(row[7]) == float(Fraction(row[8]))


def test_the_data_are_strict_json() -> None:
    data = study_data(study(plan("mu=1:4", text=FRAGILE)))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["failed"] == 2


def test_an_outcome_survives_its_journey() -> None:
    from serq.studies.grid import points
    from serq.studies.plan import planned

    p: Plan = plan("N=3")
    (point,) = planned(p, points(p.axes))
    for task in point.tasks.values():
        data = work(task)
        again = json.loads(json.dumps(data, allow_nan=False))
        assert Outcome.of_data(again) == Outcome.of_data(data)
        assert Outcome.of_data(again).to_data() == data


def test_refining_puts_points_where_the_curve_bends() -> None:
    coarse = plan("N=1,11,21,31,41", methods=("closed",), measures=("stage.svc.throughput",), refine=3)
    done = study(coarse)
    xs = [int(p.values["N"]) for p in done.points]
    added = set(xs) - {1, 11, 21, 31, 41}
    assert xs == sorted(xs)
    assert 1 <= len(added) <= 3
    assert min(added) < 11, "the throughput bends at N* = 3"
    assert sum(x < 11 for x in added) >= sum(x > 11 for x in added)
    assert study(coarse).points == done.points


def test_a_straight_line_is_not_refined() -> None:
    done = study(plan("N=1,11,21", methods=("closed",), measures=("stage.think.sojourn",), refine=3))
    assert len(done.points) == 3
    assert "stage.think.sojourn is all but straight" in remark_lines(done)[-1]


def test_whole_numbers_that_leave_no_room_are_told() -> None:
    asked = {"methods": ("closed",), "measures": ("stage.svc.throughput",), "refine": 2}
    done = study(plan("mu=1:4", **asked))
    assert len(done.points) == 4
    assert "written as 1.0 they may be any numbers" in remark_lines(done)[-1]
    done = study(plan("mu=1.0:4", **asked))
    assert len(done.points) > 4
    assert not done.remark


def test_values_that_are_the_same_number_are_one_point() -> None:
    done = study(plan("mu=1,2/2,0.5,0.5+0,N/4,1.0", "N=2,4", methods=("closed",), measures=("stage.svc.number",)))
    assert [dict(p.planned.values) for p in done.points] == [
        {"mu": mu, "N": n} for mu in ("1", "0.5") for n in ("2", "4")
    ]


def test_saturation_and_knees() -> None:
    done = study(plan("N=1:12", methods=("closed",), measures=("stage.svc.throughput",)))
    bends = {b.kind: b.x for b in done.bends(done.measures)}
    assert bends["saturation"] == 3.0, "(D + Z) / D"
    assert 2 <= bends["knee"] <= 4
    other = study(plan("mu=1:12", methods=("closed",), measures=("stage.svc.throughput",)))
    assert "saturation" not in {b.kind for b in other.bends(other.measures)}, "mu is no population"


def test_progress_is_told() -> None:
    told = []
    study(plan("N=1:2", methods=("closed",)), Work(progress=lambda done, of: told.append((done, of))))
    assert told == [(1, 2), (2, 2)]


def test_a_chain_without_a_quantile_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "LARGEST_UNASKED", 4)
    done = study(plan("N=1:3", methods=("exact",), measures=("observe.response.p99", "observe.response.mean")))
    (line,) = missing_lines(done, done.measures)
    assert line.startswith("exact: no observe.response.p99 at N = ")
    assert line.endswith("has more than 4 states; ask for it with --distributions")
    assert line in study_text(done)

"""The price of a change of one constant at every point of a study."""

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
from studies import FRAGILE, QUEUE, plan, policy

from serq.base.errors import UsageError
from serq.pipeline import SolveOptions, load_text
from serq.studies.change import Change, parse_change
from serq.studies.differences import PAIRED
from serq.studies.page import page
from serq.studies.shown import shown
from serq.studies.study import study
from serq.studies.tables import csv_text, study_data
from serq.studies.words import measure_table, remark_lines

NUMBER = "price.stage.svc.number"
RESPONSE = "price.observe.response.mean"


def number_present(sessions: int, think: int = 2) -> Fraction:
    """Of M/M/1//N with mean work 1, by mean value analysis (Reiser and Lavenberg 1980)."""
    number = Fraction(0)
    for n in range(1, sessions + 1):
        number = n * (1 + number) / (think + 1 + number)
    return number


def test_a_session_more_costs_the_difference_of_the_mean_numbers() -> None:
    done = study(plan("N=1:3", price=Change("N", "N+1")))
    assert done.sound
    for point, sessions in zip(done.points, (1, 2, 3), strict=True):
        row = point.row(NUMBER)
        expected = number_present(sessions + 1) - number_present(sessions)
        assert row.exact.value == row.closed.value == expected
        assert row.verdict == "agrees"
        assert row.simulated.method == PAIRED
        # the response time is 1 + the number that an arrival meets
        assert point.row(RESPONSE).exact.value == number_present(sessions) - number_present(sessions - 1)


def test_nothing_is_computed_twice() -> None:
    assert study(plan("N=1:3", methods=("exact",), price=Change("N", "N+1"))).computed == 4
    assert study(plan("N=1:3", methods=("exact",))).computed == 3


def test_the_interval_is_that_of_paired_batches() -> None:
    asked = plan("mu=1", methods=("sim",), measures=("*number",), price=Change("mu", "mu*0.99"))
    done = study(replace(asked, simulation=replace(asked.simulation, horizon=4000)))
    (point,) = done.points
    assert point.row(NUMBER).simulated.half_width < point.row("stage.svc.number").simulated.half_width / 2


def test_it_is_in_every_form_of_the_report() -> None:
    done = study(plan("N=1:3", methods=("exact",), price=Change("N", "N+1")))
    assert {NUMBER, RESPONSE} <= {m.name for m in shown(done.plan)}
    rows = [r for r in csv.DictReader(io.StringIO(csv_text(done))) if r["measure"] == NUMBER]
    exact = [str(number_present(n + 1) - number_present(n)) for n in (1, 2, 3)]
    assert [r["exact_rational"] for r in rows] == exact
    data = study_data(done)
    assert data["price"] == "N=N+1"
    assert [p["measures"][NUMBER]["exact"]["exact"] for p in data["points"]] == exact
    assert data["measures"][RESPONSE]["unit"] == "time"
    table = measure_table(done, next(m for m in done.measures if m.name == NUMBER))
    assert table.title == f"{NUMBER}: what N=N+1 adds to the mean number of jobs present"
    assert [row[1] for row in table.rows] == exact
    assert page(done, {}).count(f'<img alt="{NUMBER}, ') == 1


def test_a_point_whose_change_does_not_load_says_so_and_the_study_goes_on() -> None:
    done = study(plan("mu=1,2", text=FRAGILE, methods=("exact",), price=Change("mu", "mu+1")))
    assert done.sound
    assert [p.row(NUMBER).verdict for p in done.points] == ["one witness", "no answer"]
    (line,) = remark_lines(done)
    assert line.startswith("exact at mu = 2: no price: ")


def test_a_method_that_has_no_answer_after_the_change() -> None:
    few = SolveOptions(states=4)
    done = study(plan("N=3", methods=("exact",), solving=few, price=Change("N", "N+2")))
    (line,) = remark_lines(done)
    assert "no price" in line


IDLE = QUEUE.replace("let N = 3; let mu = 1; let Z = 2;", "let N = 12; let mu = 1; let Z = 1;")


def test_two_runs_that_met_no_rare_event_do_not_contradict_a_small_price() -> None:
    """Hardly anybody ever leaves an empty station behind."""
    text = IDLE.replace("observe response = now - t0;", "observe idle = queue(svc) == 0;").replace("set t0 = now; ", "")
    done = study(plan("N=12", text=text, methods=("exact", "sim"), price=Change("N", "N+1")))
    row = done.points[0].row("price.observe.idle.mean")
    assert row.simulated.value == row.simulated.standard_error == 0
    assert 0 < -row.exact.value < 1e-6
    assert row.verdict == "agrees"


def test_every_policy_has_its_own_price() -> None:
    both = (policy(), policy(label="slow", mu="0.5"))
    done = study(plan("N=2", methods=("exact",), policies=both, price=Change("N", "N+1")))
    first, second = (p.row(NUMBER).exact.value for p in done.points)
    assert first == number_present(3) - number_present(2)
    assert first < second


def test_the_expression_has_the_values_of_the_point() -> None:
    program = load_text(QUEUE, overrides={"N": "5", "mu": "1/3"}).program
    assert parse_change(" mu = min(N, 2*mu) ").at(program) == ("mu", "min((5), 2*((1/3)))")


@pytest.mark.parametrize("text", ["N", "N=", "=1", "2=N", "N=1+", "N=)"])
def test_what_is_no_change(text: str) -> None:
    with pytest.raises(UsageError, match="--price"):
        parse_change(text)


def test_a_constant_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="has no `let M`"):
        plan("N=2", price=Change("M", "M+1")).checked()

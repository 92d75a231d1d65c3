"""`serq check`: the table, the verdict, and the power that it claims."""

from dataclasses import replace

import pytest

from serq.cli.check import percentage
from serq.compare.agree import compare
from serq.compare.rare import usual_values
from serq.ir.measures import measures_of
from serq.models import find
from serq.pipeline import SimulateOptions, load, pooled_estimates, simulate, solve

POWER = 0.95
QUANTILES = (".p50", ".p90", ".p95", ".p99")


def test_three_witnesses_side_by_side(serq, write) -> None:
    done = serq("check", write(), "--jobs", 1)
    assert done.status == 0
    lines = done.out.splitlines()
    row = next(line for line in lines if line.startswith("stage.svc.number "))
    assert row.count("27/19") == 2
    assert row.endswith("agrees")
    assert "AGREES in" in lines[-2]
    assert "would have been found with probability 95%" in lines[-2]
    assert lines[-1] == "false alarm in the whole table: at most 0.001 (Holm, 15 tests)"


def test_a_wrong_simulation_is_found_and_the_first_measure_explained(serq, write) -> None:
    path = write("let mean = 1; " + write().read_text().replace("~exp(1)", "~exp(mean)"))
    done = serq("check", path, "--jobs", 1, "--horizon", 4000, "--simulate-with", "mean=1.5")
    assert done.status == 1
    assert "DISAGREES in" in done.out
    assert "standard errors away; chance explains this with p =" in done.out
    data = serq("check", path, "--jobs", 1, "--horizon", 4000, "--simulate-with", "mean=1.5", "--json").data
    assert data["agrees"] is False
    assert data["measures"]["stage.svc.number"]["verdict"] == "disagrees"
    assert "--simulate-with" not in serq("check", "--help").out


def test_the_intervals_have_the_confidence_asked_for(serq, write) -> None:
    path = write()

    def width(confidence: float) -> float:
        data = serq("check", path, "--jobs", 1, "--confidence", confidence, "--json").data
        return data["measures"]["stage.svc.number"]["simulated"]["half_width"]

    assert width(0.999) > 1.5 * width(0.9)


def test_it_runs_on_until_it_has_the_power_asked_for(serq, write) -> None:
    done = serq("check", write(), "--jobs", 1, "--replications", 2, "--until-power", "60%", "--json")
    assert done.data["replications"] > 2
    measures = done.data["measures"]
    found = [m["finds"] for name, m in measures.items() if m["finds"] is not None and not name.endswith(QUANTILES)]
    assert max(found) <= 0.6


TAGGED = """pool slot { cap 1; queue by (urgent); }
stage svc : delay;
workload { arrive closed(3); }
session {
  set urgent = serial;
  loop {
    run svc (~exp(2));
    set t0 = now;
    hold slot (1) { run svc (~exp(1)); }
    branch (urgent == 0) { observe first = now - t0; } else { observe rest = now - t0; }
  }
}
run { horizon 400; warmup 10; seed 1; }
"""


def test_what_only_some_passes_observe_is_compared(serq, write) -> None:
    """Little's law does not give these means, the chain of a tagged session does, and the quantiles with them."""
    measures = serq("check", write(TAGGED), "--jobs", 1, "--horizon", 12000, "--json").data["measures"]
    for name in ("first", "rest"):
        for statistic in ("mean", "p50", "p90", "p95"):
            assert measures[f"observe.{name}.{statistic}"]["verdict"] == "agrees"
    assert measures["observe.first.p90"]["exact"]["value"] < measures["observe.rest.p90"]["exact"]["value"]


SLOWDOWN = """stage svc : fifo;
stage think : delay;
workload { arrive closed(3); }
session {
  loop { set t0 = now; set s = ~exp(1); run svc (s); observe slowdown = (now - t0) / s; run think (~exp(2)); }
}
run { horizon 400; warmup 10; seed 1; }
"""


def test_measures_without_a_second_witness_are_named_with_the_reason(serq, write) -> None:
    done = serq("check", write(SLOWDOWN), "--jobs", 1)
    assert done.status == 0
    lines = done.out.splitlines()
    after = lines[lines.index("only simulated:") + 1]
    assert after.startswith("  observe.slowdown.mean: line 5: it")
    assert "multiplies, divides or compares a time and a draw" in after
    plain = serq("check", write(), "--jobs", 1).out
    assert "only simulated" not in plain
    assert (
        "  observe.response.p50, observe.response.p90, observe.response.p95: few observations lie beyond it\n" in plain
    )
    assert "  observe.response.p99: too few observations lie beyond it for an interval\n" in plain


@pytest.mark.parametrize(
    ("share", "text"), [(0.00172, "0.17%"), (0.0949, "9.5%"), (0.9949, "99%"), (0.996, "100%"), (12.6, "1300%")]
)
def test_percentages_have_two_digits_and_no_exponent(share, text) -> None:
    assert percentage(share) == text


def test_one_percent_is_found_at_the_default_length(serq) -> None:
    """One run of the shipped model with a service rate that is 1 % off, at the settings that a user gets.

    That it is found is no luck: what the wrong rate does to a measure, from two exact solutions, is larger than what
    such a run finds with probability 0.95.
    """
    done = serq("check", "mm1n", "--simulate-with", "mu=1.01", "--json")
    assert done.status == 1
    assert not done.data["agrees"]
    right, wrong = ({e.measure: float(e.value) for e in answers(mu)} for mu in ("1", "1.01"))
    measures = {name: m for name, m in done.data["measures"].items() if m["finds"] is not None}
    enough = [name for name, m in measures.items() if name in right and abs(wrong[name] / right[name] - 1) > m["finds"]]
    assert "observe.response.mean" in enough
    assert all(measures[name]["verdict"] == "disagrees" for name in enough)


def answers(mu: str):
    return solve(load(find("mm1n").path, {"mu": mu}).program).estimates


RUNS = 120


@pytest.fixture(scope="module")
def tables():
    """Verdicts on a short run of the shipped model at three sessions, each of another seed, when the reference of one
    measure is wrong by the relative error that the run says it would find.
    """
    program = load(find("mm1n").path, {"N": "3"}).program
    exact, measures = solve(program).estimates, measures_of(program)
    found = {name: 0 for name in ("stage.svc.number", "observe.response.mean", "stage.svc.throughput")}
    for seed in range(RUNS):
        options = SimulateOptions(seed=seed, horizon=600, warmup=50, replications=2)
        _, results = simulate(program, options)
        simulated, usual = pooled_estimates(program, results), usual_values(program, results, 600)
        rows = {r.measure.name: r for r in compare(measures, simulated, exact, (), usual=usual).rows}
        for name in found:
            size = 1 + rows[name].finds
            wrong = [replace(e, value=float(e.value) * size) if e.measure == name else e for e in exact]
            table = compare(measures, simulated, wrong, (), usual=usual)
            found[name] += next(r.verdict == "disagrees" for r in table.rows if r.measure.name == name)
    return found


@pytest.mark.parametrize("name", ["stage.svc.number", "observe.response.mean", "stage.svc.throughput"])
def test_what_a_run_says_it_finds_it_finds(tables, name) -> None:
    # Found with probability 0.95 in each run: 120 runs find fewer than 104 with probability 3e-4. More are found where
    # Holm's method lowers the bar; the claim is about the least.
    assert tables[name] >= 104


def test_a_run_that_says_nothing_is_no_agreement(serq) -> None:
    words = ("check", "mm1n", "--horizon", "0.01", "--warmup", "0", "--jobs", "1")
    done = serq(*words)
    assert done.status == 1
    assert "NOTHING TO COMPARE: the simulation is too short" in done.out
    data = serq(*words, "--json").data
    assert data["agrees"] is False
    assert data["finds"] >= 1


def test_nothing_compared_is_no_agreement_in_json_either(serq, write) -> None:
    text = "stage s : fifo; stage t : fifo; workload { arrive renewal(~uniform(1, 3)); } "
    text += "session { run s (~uniform(0, 1)); run t (~uniform(0, 1)); } run { horizon 500; }"
    data = serq("check", write(text), "--jobs", "1", "--json").data
    assert (data["agrees"], data["compared"]) == (False, 0)

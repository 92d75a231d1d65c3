"""Faults that people reported in tools of this kind, as small programs: each gets its right answer here."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from command_line import serq
from running import seen

from serq import pipeline
from serq.base.errors import LoadError, NoSteadyStateError, OutsideFragmentError, RunError
from serq.compare.storm import check_prism, long_run
from serq.exporters.prism import Prism, PrismExport
from serq.ir.chain import Chain
from serq.ir.program import Program
from serq.semantics.options import options_of
from serq.semantics.reference import simulate
from serq.semantics.report import RunReport, report_of
from serq.semantics.run_result import RunResult

DATA = Path(__file__).parents[1] / "data" / "values" / "field_reports.json"
REPORTS: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in json.loads(DATA.read_text("utf-8"))}

LEFT_OUT = {
    "r22": "no program: rows of a trace that are wrong are tested with the reader of traces",
    "r23": "no program: think times are the business of the converters of traces",
}
EXACT = pipeline.SolveOptions(exact=True)


def program(name: str, **sets: str) -> Program:
    return pipeline.load_text(REPORTS[name]["program"], f"{name}.sq", sets).program


def exact(name: str) -> dict[str, Any]:
    return {e.measure: e.value for e in pipeline.solve(program(name), EXACT).estimates}


def run(linked: Program, **changes: Any) -> tuple[RunResult, RunReport]:
    options = replace(options_of(linked), **{"keep_samples": True, "checked": True, **changes})
    result = simulate(linked, options)
    return result, report_of(linked, options, [result])


def exit_rates(chain: Chain) -> dict[str, Fraction]:
    out = dict.fromkeys(chain.states, Fraction(0))
    for t in chain.transitions:
        if t.source != t.target:
            out[chain.states[t.source]] += t.rate
    return out


def by_number(name: str, stage: str) -> list[Fraction]:
    """The stationary probabilities of 0, 1, ... jobs at a stage."""
    solved = pipeline.solve(program(name), EXACT)
    counts = solved.chain.state_rewards[f"stage.{stage}.number"]
    out: dict[Fraction, Fraction] = {}
    for count, probability in zip(counts, solved.solution.probabilities, strict=True):
        out[count] = out.get(count, Fraction(0)) + Fraction(probability)
    return [out[Fraction(n)] for n in range(len(out))]


def storm(export: PrismExport, measure: str) -> Fraction:
    """What Storm makes of an exported measure, at the constants of the program."""
    found = next(m for m in export.measures if m.measure.name == measure)
    rewards = [r for r in (found.numerator, found.denominator) if r is not None]
    constants = {name: int(v) if name in export.integers else Fraction(v) for name, v in export.open_constants.items()}
    top, *rest = (Fraction(v) for v in check_prism(export.model, constants, [long_run(r) for r in rewards]).values)
    return top / rest[0] if rest else top


# -- chains ----------------------------------------------------------------------------------------------------------


def test_r01_three_servers_serve_one_job_at_the_rate_of_one() -> None:
    weights = [Fraction(w) for w in (3, 12, 18, 12, 4)]
    assert by_number("r01", "svc") == [w / sum(weights) for w in weights]
    found = exact("r01")
    assert found["stage.svc.throughput"] == Fraction(96, 49)
    assert found["stage.svc.number"] == Fraction(100, 49)
    assert storm(Prism().export(program("r01")), "stage.svc.throughput") == Fraction(96, 49)


def test_r02_names_that_storm_reserves_are_changed_and_the_change_is_told() -> None:
    export = Prism().export(program("r02"))
    right = exact("r02")["stage.ma.number"]
    assert right == Fraction(4, 5)
    assert storm(export, "stage.ma.number") == right
    assert "ma" in export.texts("kw")["kw.map.json"]


def test_r03_constants_named_like_property_operators() -> None:
    export = Prism().export(program("r03"))
    assert exact("r03")["stage.S.number"] == 1
    assert storm(export, "stage.S.number") == 1
    assert not {"R", "C"} & set(export.open_constants)


def test_r05_the_export_says_how_storm_is_called(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "q.sq"
    file.write_text(REPORTS["r05"]["program"])
    done = serq(capsys, "export", "--prism", file, "--out", tmp_path)
    assert done.status == 0
    assert "--prismcompat" in done.out + done.err + (tmp_path / "q.prism").read_text()
    assert (
        storm(Prism().export(program("r05")), "stage.svc.number") == exact("r05")["stage.svc.number"] == Fraction(6, 5)
    )


def test_r06_a_nearly_decomposable_chain() -> None:
    third = Fraction(1, 3)
    found = exact("r06")
    assert [found[f"stage.{s}.number"] for s in ("a", "b", "slow")] == [third, third, third]
    floats = pipeline.solve(program("r06"), pipeline.SolveOptions(exact=False))
    for estimate in floats.estimates:
        if estimate.measure.endswith(".number") and estimate.measure.startswith("stage."):
            assert estimate.value == pytest.approx(1 / 3, rel=1e-12)


@pytest.mark.parametrize(("name", "drain"), [("r08", "11/6"), ("r09", "3")])
def test_r08_r09_absorbing_states_have_no_rate_out_and_no_steady_state(name: str, drain: str) -> None:
    chain = pipeline.explore_chain(program(name))
    assert sorted(exit_rates(chain).values())[0] == 0
    with pytest.raises(NoSteadyStateError, match="all sessions end with probability 1") as caught:
        pipeline.solve(program(name), EXACT)
    assert f"mean time of {drain}" in caught.value.diagnostics[0].message


def test_r09_three_completions_never_infinity() -> None:
    export = Prism().export(program("r09"))
    (completed,) = (r for r in export.rewards if r.startswith("completed"))
    answer = check_prism(export.model, {}, [f'R{{"{completed}"}}=? [ C ]'])
    assert answer.values == (3,)
    _, report = run(program("r09"), horizon=1000.0)
    assert report.stages[0].totals["completed"] == 3


def test_r11_a_branch_shares_the_rate_of_its_state() -> None:
    chain = pipeline.explore_chain(program("r11"))
    at_server = chain.state_rewards["stage.svc.number"].index(Fraction(1))
    rates = sorted(t.rate for t in chain.transitions if t.source == at_server)
    assert rates == [Fraction(3, 5), Fraction(7, 5)]
    found = exact("r11")
    shares = [found[f"stage.{s}.number"] for s in ("svc", "a", "b")]
    assert shares == [Fraction(1, 3), Fraction(1, 5), Fraction(7, 15)]


def test_r12_the_whole_vector_with_states_that_can_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert by_number("r12", "svc") == [Fraction(n, 16) for n in (1, 3, 6, 6)]
    file = tmp_path / "q.sq"
    file.write_text(REPORTS["r12"]["program"])
    printed = json.loads(serq(capsys, "solve", file, "--states", "--json", "--exact").out)["distribution"]
    assert sorted(Fraction(state["exact"]) for state in printed) == sorted(Fraction(n, 16) for n in (1, 3, 6, 6))
    assert all("svc" in state["state"] or "think" in state["state"] for state in printed)


# -- runs ------------------------------------------------------------------------------------------------------------


def test_r13_json_is_strict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is no JSON")

    file = tmp_path / "x.sq"
    file.write_text(REPORTS["r13"]["program"].replace("0/0 > 1 ? 1 : 0", "0/0"))
    for path in (file, _written(tmp_path, "r13")):
        done = serq(capsys, "run", path, "--json")
        assert done.status == 0
        (never,) = json.loads(done.out, parse_constant=refuse)["observes"]
        assert never["mean"]["half_width"] is None
        assert never["mean"]["reason"]


def _written(where: Path, name: str) -> Path:
    file = where / f"{name}.sq"
    file.write_text(REPORTS[name]["program"])
    return file


def test_r15_an_empty_start_biases_a_short_run_and_a_warm_up_mends_it() -> None:
    """Short runs of both kinds; the bounds are 4 standard errors, a false alarm in 10000."""
    linked = program("r15")
    cold = [_mean(linked, seed, horizon=150.0, warmup=0.0) for seed in range(150)]
    warm = [_mean(linked, seed, horizon=1150.0, warmup=1000.0) for seed in range(50)]
    assert fmean(cold) + 4 * _error(cold) < 10
    assert abs(fmean(warm) - 10) < 4 * _error(warm)
    assert fmean(warm) > fmean(cold)
    assert run(linked, warmup=100.0)[1].to_dict()["warmup"] == 100


def _mean(linked: Program, seed: int, horizon: float, warmup: float) -> float:
    options = pipeline.SimulateOptions(seed=seed, horizon=horizon, warmup=warmup)
    value = pipeline.simulate(linked, options)[0].estimate("observe.w.mean").value
    return float(value or math.nan)


def _error(values: list[float]) -> float:
    mean = fmean(values)
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (len(values) - 1) / len(values))


def test_r16_response_times_of_mm1_are_exponential() -> None:
    """Mean 5, cv2 1, median 5 ln 2, p99 5 ln 100; the margins are wide for 64000 dependent observations."""
    linked = program("r16")
    summary = run(linked, horizon=80000.0, warmup=2000.0, checked=False)[1].observes[0].summary
    assert summary is not None
    assert summary.mean == pytest.approx(5, rel=0.06)
    assert summary.cv2 == pytest.approx(1, rel=0.1)
    assert summary.p50 == pytest.approx(5 * math.log(2), rel=0.06)
    assert summary.p99 == pytest.approx(5 * math.log(100), rel=0.1)
    assert pipeline.closed_forms(linked).estimates[0].value == 5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_r17_first_come_first_served_at_two_servers(seed: int) -> None:
    result, _ = run(program("r17"), seed=seed)
    assert [(session, value) for _, session, value in seen(result, "start")] == list(enumerate([0, 0, 1, 1, 2, 2]))


def test_r18_a_departure_comes_before_the_start_at_the_same_instant() -> None:
    text = REPORTS["r18"]["program"].replace("run svc (1);", "set came = now; run svc (1); observe stay = now - came;")
    linked = pipeline.load_text(text).program
    result, report = run(linked)
    assert report.estimate("stage.svc.wait").value == 0
    assert report.estimate("stage.svc.waiting").value == 0
    utilisation = report.estimate("stage.svc.utilisation").value
    assert utilisation is not None
    assert 0.98 < utilisation <= 1
    assert list(result.samples["stay"].values) == [1.0] * 99


def test_r19_a_session_that_outgrows_the_memory_is_named() -> None:
    with pytest.raises(RunError, match="session 0 can never go on") as caught:
        run(program("r19"))
    assert caught.value.exit_status == 5
    assert caught.value.diagnostics[0].span.line == 4


def test_r19_requests_that_push_each_other_out_for_ever_are_named() -> None:
    """Session 1 fits, its growth does not: it gives way itself, fits again at once, and so on."""
    text = """
    pool kv { cap 10; preempt lifo; }
    stage d : delay;
    workload { arrive batch(2); }
    session { hold kv (5) { branch (serial == 0) { loop { run d (1); } } grow kv (1); run d (1); } }
    run { horizon 100000; }
    """
    with pytest.raises(RunError, match=r"livelock: .* of session 1, whose hold on kv"):
        run(pipeline.load_text(text).program)


def test_r21_an_idle_engine_with_an_admissible_session_starts_at_once() -> None:
    result, report = run(program("r21"))
    assert list(result.samples["done"].values) == [1, 2, 3]
    assert report.stages[0].totals["iterations"] == 3


def test_r25_one_look_up_for_each_admission_however_long_the_wait() -> None:
    result, report = run(program("r25"))
    observed = len(result.samples["hit"].values)
    assert observed > 100
    assert report.pools[0].totals["total_admissions"] == observed + 1  # the last has not computed anything yet


def test_r27_a_batch_of_decodes_and_prefills_or_of_one_prefill_alone() -> None:
    """Session 0 decodes when session 1 brings a prompt of 20 tokens; `cost ntok` makes an iteration as long as it is
    full.
    """
    text = """
    stage eng : step { budget 16; cost ntok; ORDER }
    stage d : delay;
    workload { arrive batch(2); }
    session {
      branch (serial == 0) { run eng decode (10); observe a = now; }
      else { run d (0.5); run eng prefill (20); observe b = now; }
    }
    run { horizon 100; }
    """
    mixed, _ = run(pipeline.load_text(text.replace("ORDER", "decode first;")).program)
    assert list(mixed.samples["b"].values) == [1 + 16 + 6]
    assert list(mixed.samples["a"].values) == [1 + 16 + 6 + 7]
    alone, _ = run(pipeline.load_text(text.replace("ORDER", "exclusive prefill;")).program)
    assert list(alone.samples["b"].values) == [1 + 16 + 4]
    assert list(alone.samples["a"].values) == [1 + 16 + 4 + 9]


def test_r28_never_more_residents_than_slots_and_fifty_iterations() -> None:
    linked = pipeline.load_text(
        REPORTS["r28"]["program"].replace("run eng decode (10);", "run eng decode (10); observe used = used(reqs);")
    ).program
    result, report = run(linked)
    assert report.stages[0].totals["iterations"] == 50
    assert report.stability.text.startswith("from time 50 on nothing happens")
    assert max(result.samples["used"].values) <= 4
    assert seen(result, "used")[-1][0] == 50


def test_r32_an_overloaded_queue_is_called_so() -> None:
    linked = program("r32")
    _, report = run(linked, horizon=4000.0, warmup=400.0, checked=False)
    assert report.stability.kind == "growing"
    with pytest.raises(
        NoSteadyStateError, match="sessions arrive at rate 6/5, and while many wait they leave at rate 1"
    ):
        pipeline.solve(linked)
    with pytest.raises(OutsideFragmentError, match="arrive without a limit"):
        pipeline.explore_chain(linked)
    assert "the utilisation of svc must be below 1" in pipeline.closed_forms(linked).why_not


def test_r33_a_loop_without_time_is_refused() -> None:
    with pytest.raises(LoadError, match="without letting time pass"):
        program("r33")
    hidden = REPORTS["r33"]["program"].replace("run tool (w);", "set w = w * 2; run tool (w);")
    with pytest.raises(RunError, match=r"without time passing|no time") as caught:
        run(pipeline.load_text(hidden).program)
    assert caught.value.diagnostics[0].span.line == 3


def test_every_report_is_answered_here_or_left_out_with_a_reason() -> None:
    names = [name for name in globals() if name.startswith("test_r")]
    answered = {part for name in names for part in name.split("_") if part[1:].isdigit() and part[0] == "r"}
    assert answered | set(LEFT_OUT) == set(REPORTS)
    assert not answered & set(LEFT_OUT)

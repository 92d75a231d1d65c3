"""The report: every measure, strict JSON, frames."""

import json
import math

import pytest
from running import options, program_of, report, run

from serq.base.version import __version__
from serq.ir.fingerprint import fingerprint
from serq.ir.measures import QUANTILES, measures_of
from serq.pipeline import SimulateOptions, simulate
from serq.semantics.replications import replicate
from serq.semantics.report import estimates_of, report_of
from serq.semantics.summary import Summary, quantile, summarise

TEXT = """pool m { cap 3; } stage svc : fifo; stage think : delay; gauge load = work(svc);
workload { arrive closed(4); }
session { loop { set t0 = now; hold m (1) { run svc (~exp(1)); } observe r = now - t0; run think (~exp(4)); } }
run { horizon 400; warmup 50; seed 3; }"""


def strict(data):
    def refuse(token):
        raise AssertionError(f"{token} is no JSON")

    return json.loads(json.dumps(data, allow_nan=False), parse_constant=refuse)


def test_a_report_answers_every_measure_and_says_how_it_was_made():
    program = program_of(TEXT)
    result = report(TEXT)
    averages = [m.name for m in measures_of(program)]
    quantiles = [f"observe.r.{name}" for name in QUANTILES]
    assert [e.measure for e in result.estimates] == [*averages[:2], *quantiles, *averages[2:]]
    data = strict(result.to_dict())
    assert data["serq_version"] == __version__
    assert data["program_hash"] == fingerprint(program)
    settings = {x: data[x] for x in ("schema", "engine", "seed", "horizon", "warmup", "replications", "confidence")}
    assert settings == {"schema": "serq.run/2", "engine": "reference", "seed": 3, "horizon": 400, "warmup": 50,
                        "replications": 1, "confidence": 0.95}  # fmt: skip
    assert data["method"].startswith("batch means")
    assert data["stability"]["kind"] == "stationary"
    assert data["tools"]["python"].startswith("3.")
    observe, stage = data["observes"][0], data["stages"][0]
    assert set(observe) >= {
        "name",
        "mean",
        "rate",
        "count",
        "variance",
        "cv2",
        "minimum",
        "maximum",
        *QUANTILES,
    }
    assert observe["p95"]["value"] == result.observes[0].summary.p95
    assert 0 < observe["p95"]["half_width"] < observe["p95"]["value"]
    assert set(stage) >= {"name", "number", "waiting", "busy", "utilisation", "throughput", "wait", "sojourn",
                          "mean_service", "iterations"}  # fmt: skip
    assert set(data["pools"][0]) >= {"used", "cached", "queue", "holders", "queue_wait", "total_spills"}
    assert set(data["gauges"][0]) == {"name", "mean"}
    assert set(data["sessions"]) >= {"number", "throughput", "losses", "arrived", "ended", "lost", "turns"}
    assert observe["mean"]["value"] == result.estimate("observe.r.mean").value
    assert observe["count"] == result.observes[0].summary.count


def test_several_replications_give_student_intervals_and_batches_for_comparison():
    program = program_of(TEXT)
    settings = options(program, checked=False)
    results = replicate(program, settings, 4)
    whole = report_of(program, settings, results)
    assert whole.method == "Student intervals over the means of 4 replications"
    assert whole.estimate("observe.r.mean").degrees == 3
    assert whole.events == sum(r.events for r in results)
    pooled = {e.measure: e for e in estimates_of(program, results)}
    assert pooled["observe.r.mean"].degrees > 50
    assert pooled["observe.r.mean"].value == whole.estimate("observe.r.mean").value


def test_what_has_no_value_is_null_with_a_reason():
    text = """stage s : fifo; workload { arrive batch(1); }
      session { run s (1); observe never = 0 / 0 > 1 ? 1 : 0; observe nan = 0 / 0; observe inf = 1 / 0; end; }
      run { horizon 10; warmup 0; }"""
    data = strict(report(text).to_dict())
    never, nan, inf = data["observes"]
    assert never["count"] == 1
    assert never["variance"] is None
    assert never["reason"] == "one observation has no variance"
    assert nan["reason"] == "NaN was observed"
    assert nan["mean"]["value"] is None
    assert nan["mean"]["reason"]
    assert inf["maximum"] is None
    assert inf["reason"] == "an infinite value was observed"
    assert data["stages"][0]["sojourn"] == {
        "value": 1.0, "half_width": None, "standard_error": None, "degrees": None, "method": "16 batch means",
        "reason": "what was seen lies in one batch: no interval",
    }  # fmt: skip


def test_an_observe_that_was_never_reached():
    text = "stage s : fifo; workload { arrive batch(1); } session { run s (9); observe x = 1; } run { horizon 5; }"
    data = strict(report(text).to_dict())
    assert data["observes"][0]["mean"]["value"] is None
    assert data["observes"][0]["reason"] == "nothing was observed in the window"
    assert data["stages"][0]["mean_service"] is None


def test_measures_are_found_by_name():
    result = report(TEXT)
    assert result.estimate("stage.svc.number").value == result.stages[0].estimates["number"].value
    with pytest.raises(KeyError):
        result.estimate("stage.svc.nothing")


def test_quantiles_interpolate():
    assert quantile([1.0], 0.99) == 1
    assert quantile([1.0, 2.0, 4.0], 0.5) == 2
    assert quantile([0.0, 10.0], 0.9) == 9
    assert quantile([0.0, 1.0, 2.0, 3.0], 1.0) == 3
    assert quantile([1.0, math.inf, math.inf], 0.9) == quantile([1.0, math.inf], 0.5) == math.inf
    assert quantile([-math.inf, -math.inf, 1.0], 0.1) == quantile([-math.inf, 1.0], 0.5) == -math.inf


@pytest.mark.parametrize("exponent", [-1060, -600, 600, 1020])
def test_a_summary_scales_with_the_data_at_the_ends_of_the_range_of_doubles(exponent):
    values = [1.0, 2.0, 4.0, 5.0]
    plain, scaled = (summarise([[math.ldexp(x, k) for x in values]]) for k in (0, exponent))
    assert scaled.mean == math.ldexp(plain.mean, exponent)
    assert scaled.cv2 == plain.cv2
    assert scaled.variance == (0.0 if exponent < 0 else math.inf)


def test_a_quantile_beyond_the_histogram_has_no_value_and_the_report_says_so():
    text = TEXT.replace(
        "observe r = now - t0;", "observe r = ~choice(1: 1, 1e30: 3, 1e40: 1); observe big = ~choice(1e15: 1, 2e15: 1);"
    )
    found, _ = simulate(program_of(text), SimulateOptions())
    unknown = found.estimate("observe.r.p50")
    assert unknown.value is None
    assert "beyond the histogram" in unknown.reason
    assert [text for text in found.remarks if text.startswith("no p50, p90, p95, p99 of r: ")]
    assert found.estimate("observe.r.mean").value > 1e30
    assert found.estimate("observe.big.p99").value == pytest.approx(2e15, rel=5e-4)


@pytest.mark.parametrize(
    "size", ["1e200", "-1e200", "1e-200", "~choice(1e200: 1, 2e200: 1)", "~choice(1e-200: 1, 2e-200: 1)"]
)
def test_numbers_whose_squares_are_no_doubles_are_observed_all_the_same(size):
    found, _ = simulate(program_of(TEXT.replace("observe r = now - t0;", f"observe r = {size};")), SimulateOptions())
    summary = found.observes[0].summary
    assert 0.999 < found.estimate("observe.r.mean").value / summary.minimum < 2
    assert summary.cv2 == (None if "choice" in size else 0.0)
    assert bool(summary.reason) == ("choice" in size)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("sign", [1, -1])
def test_quantiles_of_infinite_values(engine, sign):
    text = TEXT.replace("observe r = now - t0;", f"observe r = {sign} / (serial - serial);")
    found, _ = simulate(program_of(text), SimulateOptions(engine=engine))
    assert [found.estimate(f"observe.r.{name}").value for name in QUANTILES] == [sign * math.inf] * len(QUANTILES)


def test_summaries():
    assert summarise([]) == Summary(0, reason="nothing was observed in the window")
    both = summarise([[1.0, 2.0], [4.0, 5.0]])
    assert (both.count, both.mean, both.variance, both.p50) == (4, 3, pytest.approx(10 / 3), 3)
    assert both.cv2 == pytest.approx(10 / 27)
    flat = summarise([[-1.0, 1.0]])
    assert (flat.cv2, flat.reason) == (None, "the mean is 0")
    assert summarise([[math.inf, -math.inf, 1.0]]).minimum == -math.inf


def test_samples_are_the_values_of_the_window():
    result = run(TEXT)
    assert all(50 <= t <= 400 for t in result.samples["r"].times)
    assert summarise([result.samples["r"].values]).count == sum(result.series["observe.r.mean"].denominator)

"""The verdict on a run: stationary, not yet stationary, growing, drained, stuck."""

from collections import Counter
from dataclasses import replace

import pytest
from running import options, program_of, report, run

from serq.base.errors import UsageError
from serq.engines import run_compiled
from serq.pipeline import SimulateOptions, load_text, simulate
from serq.semantics.stability import stability_of

OPEN = """stage svc : fifo; workload {{ arrive poisson({rate}); }}
session {{ set t0 = now; run svc (~exp(1)); observe w = now - t0; end; }}
run {{ horizon {horizon}; warmup {warmup}; }}"""


def test_an_overloaded_queue_grows():
    result = report(OPEN.format(rate=1.2, horizon=10000, warmup=1000), checked=False)
    assert result.stability.kind == "growing"
    assert result.stability.arrivals == pytest.approx(1.2, abs=0.06)
    assert result.stability.completions == pytest.approx(1.0, abs=0.06)
    assert "sessions arrive" in result.stability.text


def kinds(rate: float, horizon: float, runs: int, seed: int = 7) -> Counter[str]:
    program = program_of(OPEN.format(rate=rate, horizon=horizon, warmup=0))
    settings = replace(options(program, checked=False, keep_samples=False), seed=seed)
    return Counter(stability_of([result]).kind for result in run_compiled(program, settings, runs).results)


def test_a_half_loaded_queue_is_stationary():
    """rho = 0.5 over 2500 correlation times: two verdicts that are wrong once in a thousand times each, 100 runs."""
    assert kinds(0.5, 20_000, 100)["stationary"] >= 98


def test_a_busy_queue_is_not_yet_stationary_in_a_short_window_and_stationary_in_a_long_one():
    """rho = 0.95, a relaxation time of 1561 services: 1.3 of them, and 64."""
    short, long = kinds(0.95, 2000, 50), kinds(0.95, 100_000, 20)
    assert short["not yet stationary"] > 25
    assert long["stationary"] >= 19
    assert (short + long)["growing"] == 0


def test_a_slightly_overloaded_queue_is_never_called_stationary():
    """rho = 1.05: 40 000 services show the growth; of 2000 it is at least said that they do not tell."""
    assert kinds(1.05, 40_000, 20) == {"growing": 20}
    assert kinds(1.05, 2000, 50)["stationary"] == 0


def test_replications_from_an_empty_start_agree_on_the_rise():
    """8 times 1000 services at rho = 0.9: no single run is sure, all together are."""
    program = program_of(OPEN.format(rate=0.9, horizon=300, warmup=0))
    results = run_compiled(program, options(program, checked=False, keep_samples=False), 40).results
    verdict = stability_of(results)
    assert verdict.kind == "not yet stationary"
    assert "rises from" in verdict.text


def test_an_overloaded_deterministic_queue_grows():
    text = "stage svc : fifo; workload { arrive renewal(1); } session { run svc (1.25); } run { horizon 2000; }"
    assert report(text, checked=False).stability.kind == "growing"


def test_a_slow_growth_shows_as_a_rise_in_every_eighth():
    """4 % too much: 40 more sessions of 1000 are no significant flow, and the number present rises throughout."""
    text = "stage svc : fifo; workload { arrive renewal(1); } session { run svc (1.04); } run { horizon 1000; }"
    result = report(text, checked=False)
    assert result.stability.kind == "growing"
    assert "rises throughout the window" in result.stability.text


def test_closed_programs_are_stationary():
    text = "stage d : delay; workload { arrive closed(3); } session { loop { run d (~exp(1)); } } run { horizon 100; }"
    assert report(text).stability.kind == "stationary"


def test_a_population_that_begins_in_the_window_is_no_flow():
    """Twenty sessions come at time 0, and nobody ever leaves."""
    text = """stage svc : fifo; stage d : delay; workload { arrive closed(20); }
    session { loop { run svc (~exp(1)); run d (~exp(40)); } } run { horizon 20000; warmup 0; seed 1; }"""
    assert report(text, checked=False).stability.kind == "stationary"


def test_a_batch_drains():
    text = "stage d : delay; workload { arrive batch(3); } session { run d (~exp(1)); } run { horizon 100; warmup 1; }"
    assert report(text).stability.kind == "drained"


def test_a_deadlock_is_stuck_and_names_who_waits():
    text = """pool m { cap 1; } stage d : delay; workload { arrive batch(6); }
session { hold m (1) { run d (1); hold m (1) { run d (1); } } } run { horizon 100; }"""
    assert len(run(text).waiting) == 6
    verdict = report(text).stability
    assert verdict.kind == "stuck"
    assert verdict.text.startswith("nothing can happen any more: session 0 waits for pool m at line 2; session 1")
    assert verdict.text.endswith(", and 3 more")


@pytest.mark.parametrize(
    ("arrivals", "kind"), [("closed(40)", "stationary"), ("poisson(50)", "growing")], ids=["population", "flow"]
)
def test_a_run_of_one_batch_tells_a_population_from_a_flow(arrivals, kind):
    text = f"stage svc : fifo; stage d : delay; workload {{ arrive {arrivals}; }} "
    text += "session { loop { run svc (~exp(1)); run d (~exp(40)); } } run { horizon 20; warmup 0; seed 1; }"
    program = program_of(text)
    (result,) = run_compiled(program, replace(options(program), batches=1), 1).results
    assert stability_of([result]).kind == kind


@pytest.mark.parametrize(("horizon", "said"), [(0.01, "nothing was finished"), (5.0, "only 6 jobs and sessions were")])
def test_next_to_nothing_is_no_steady_state(horizon, said):
    text = "stage s : fifo; stage t : delay; workload { arrive closed(8); } "
    text += "session { loop { run s (~exp(1)); run t (~exp(4)); observe x = now; } } run { seed 1; }"
    found, _ = simulate(load_text(text).program, SimulateOptions(horizon=horizon))
    assert found.stability.kind == "not yet stationary"
    assert said in found.stability.text


def test_arrivals_of_whom_nobody_is_served_are_growth():
    text = (
        "stage s : fifo; workload { arrive poisson(10); } session { run s (1e9); observe x = 1; } run { horizon 50; }"
    )
    found, _ = simulate(load_text(text).program)
    assert found.stability.kind == "growing"


def test_a_run_that_cannot_be_divided_is_refused():
    text = "stage s : fifo; workload { arrive poisson(1); } session { run s (1); observe x = 1; }"
    with pytest.raises(UsageError, match="too short to be divided into 32 batches"):
        simulate(load_text(text).program, SimulateOptions(horizon=5e-324))

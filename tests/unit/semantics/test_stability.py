"""The verdict on a run: steady, growing, drained, stuck."""

import pytest
from running import options, program_of, report, run

from serq.semantics.reference import simulate
from serq.semantics.report import report_of

OPEN = """stage svc : fifo; workload {{ arrive poisson({rate}); }}
session {{ set t0 = now; run svc (~exp(1)); observe w = now - t0; end; }}
run {{ horizon {horizon}; warmup {warmup}; }}"""


def test_an_overloaded_queue_grows():
    result = report(OPEN.format(rate=1.2, horizon=10000, warmup=1000), checked=False)
    assert result.stability.kind == "growing"
    assert result.stability.arrivals == pytest.approx(1.2, abs=0.06)
    assert result.stability.completions == pytest.approx(1.0, abs=0.06)
    assert "sessions arrive" in result.stability.text


def test_a_busy_stable_queue_is_not_called_growing():
    """rho = 0.9, short windows, many seeds: the verdict is wrong in at most one of forty."""
    program = program_of(OPEN.format(rate=0.9, horizon=1200, warmup=200))
    settings = options(program, checked=False)
    kinds = [report_of(program, settings, [simulate(program, settings, k)]).stability.kind for k in range(40)]
    assert kinds.count("steady") >= 39


def test_an_overloaded_deterministic_queue_grows():
    text = "stage svc : fifo; workload { arrive renewal(1); } session { run svc (1.25); } run { horizon 2000; }"
    assert report(text, checked=False).stability.kind == "growing"


def test_a_slow_growth_shows_as_a_rise_in_every_eighth():
    """4 % too much: 40 more sessions of 1000 are no significant flow, and the number present rises throughout."""
    text = "stage svc : fifo; workload { arrive renewal(1); } session { run svc (1.04); } run { horizon 1000; }"
    result = report(text, checked=False)
    assert result.stability.kind == "growing"
    assert "rises throughout the window" in result.stability.text


def test_closed_programs_are_steady():
    text = "stage d : delay; workload { arrive closed(3); } session { loop { run d (~exp(1)); } } run { horizon 100; }"
    assert report(text).stability.kind == "steady"


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

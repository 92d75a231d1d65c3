"""Simulated quantiles that may be tested: not where the values lie apart and chance decides on which one they are."""

from timed_programs import SLOTTED

from serq.compare import quantiles
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, load_text, simulate


def test_next_to_a_step_a_quantile_has_no_error() -> None:
    """P(V <= 1) = 1/2: half of all samples have their median at 2. P(V <= 3) = 0.875 and P(V <= 4) = 0.9375."""
    check(load_text(SLOTTED, overrides={"N": "1", "q": "1/2"}).program, 4.0)


def test_between_two_values_a_quantile_has_no_error() -> None:
    """V is 0 or 1, with probability 1/2 each."""
    text = SLOTTED.replace("run engine decode (~geometric(q));", "run engine decode (~choice(0: 1, 1: 1));")
    check(load_text(text, overrides={"N": "1"}).program, 1.0)


def check(program: Program, p90: float) -> None:
    """What is known of the median and of p90 in three runs."""
    for seed in (1, 2, 3):
        report, results = simulate(program, SimulateOptions(seed=seed, horizon=40000.0, warmup=10.0, replications=4))
        found = {e.measure: e for e in quantiles.tested_quantiles(program, results, report.observations, 0.95)}
        median, high = found["observe.response.p50"], found["observe.response.p90"]
        assert median.standard_error is None
        assert median.reason == "the values lie apart, and it is next to a step"
        assert high.value is not None
        assert high.standard_error is not None
        assert abs(float(high.value) - p90) <= 1e-3 * p90
        assert high.standard_error < 1e-3 * p90

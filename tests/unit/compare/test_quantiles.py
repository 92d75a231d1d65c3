"""Simulated quantiles that may be tested: not where the values lie apart and chance decides on which one they are."""

from timed_programs import SLOTTED

from serq.compare import quantiles
from serq.pipeline import SimulateOptions, load_text, simulate


def test_next_to_a_step_a_quantile_has_no_error() -> None:
    """P(V <= 1) = 1/2: half of all samples have their median at 2. P(V <= 3) = 0.875 and P(V <= 4) = 0.9375."""
    program = load_text(SLOTTED, overrides={"N": "1", "q": "1/2"}).program
    for seed in (1, 2, 3):
        report, results = simulate(program, SimulateOptions(seed=seed, horizon=40000.0, warmup=10.0, replications=4))
        found = {e.measure: e for e in quantiles.tested_quantiles(program, results, report.observations, 0.95)}
        median, p90 = found["observe.response.p50"], found["observe.response.p90"]
        assert median.standard_error is None
        assert median.reason == "the values lie apart, and it is next to a step"
        assert p90.value is not None
        assert p90.standard_error is not None
        assert abs(float(p90.value) - 4) <= 4e-3
        assert p90.standard_error < 4e-3

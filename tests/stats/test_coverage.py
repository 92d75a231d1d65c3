"""The promise of an interval: of a thousand at 95 %, at least 930 hold the true value, and not many more.

M/M/1//8 with service rate 1 and mean think time 4, on the compiled engine. L = 69372/16831 by mean value analysis; the
0.99 quantile of the response by following a tagged session through the chain. At a true coverage of 95 % a test with
the bounds 93 % and 97 % fails with probability 4e-3 under another seed (binomial, 1000 trials); the seeds are fixed.
"""

from fractions import Fraction

import pytest

from serq.engine.results import EngineResult
from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.engines import run_result
from serq.ir.results import Estimate
from serq.pipeline import load_text
from serq.semantics.quantiles import quantiles_of
from serq.semantics.report import estimates_of
from serq.sketched import sketched

PROGRAM = load_text("""stage svc : fifo; stage think : delay; workload { arrive closed(8); }
session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(4)); } }
run { horizon 1000; }""").program
L, P99 = Fraction(69372, 16831), 12.087391339
TRIALS, TOGETHER = 1000, 3
LONG, SHORT, WARMUP = 16_000.0, 700.0, 100.0


def runs(horizon: float, number: int, seed: int, profile: bool = False) -> list[EngineResult]:
    compiled = simulator(PROGRAM, keep_samples=False)
    settings = Settings(seed, horizon + WARMUP, WARMUP, 32, keep_samples=False, profile=profile)
    return [compiled.run(settings, k) for k in range(number)]


@pytest.fixture(scope="module")
def lone() -> list[EngineResult]:
    return runs(LONG, TRIALS, seed=1, profile=True)


def number(results: list[EngineResult], over: str) -> Estimate:
    answers = estimates_of(PROGRAM, [run_result(PROGRAM, k, r) for k, r in enumerate(results)], 0.95, over)
    return next(e for e in answers if e.measure == "stage.svc.number")


def covered(estimates: list[Estimate], exact: float) -> float:
    """How many of the intervals hold the value; what has no interval holds nothing."""
    return sum(e.half_width is not None and abs(float(e.value) - exact) <= e.half_width for e in estimates) / len(
        estimates
    )


def test_student_over_replications() -> None:
    """Three short replications each: nothing is assumed about correlation in time."""
    results = runs(SHORT, TRIALS * TOGETHER, seed=2)
    groups = [results[i : i + TOGETHER] for i in range(0, len(results), TOGETHER)]
    assert 0.93 <= covered([number(group, "replications") for group in groups], float(L)) <= 0.97


def test_batch_means_of_one_run(lone) -> None:
    """What is widened by its correlation covers a little too much: 96.2 % of 4 000 intervals. At that coverage a run
    under another seed has more than 97 % once in ten times, and less than 93 % never.
    """
    assert 0.93 <= covered([number([result], "batches") for result in lone], float(L)) <= 0.97


def test_a_quantile_of_one_run(lone) -> None:
    answers = [quantiles_of("response", sketched(0, [r]), 0.95, "batches")["p99"] for r in lone]
    assert 0.93 <= covered(answers, P99) <= 0.97


def test_a_quantile_over_replications(lone) -> None:
    """334 intervals: at a true coverage of 95 % fewer than 91 % or more than 98.5 % hold it once in 200 times."""
    groups = [lone[i : i + TOGETHER] for i in range(0, TRIALS, TOGETHER)]
    answers = [quantiles_of("response", sketched(0, group), 0.95, "replications")["p99"] for group in groups]
    assert 0.91 <= covered(answers, P99) <= 0.985


def test_a_quantile_over_the_batches_of_replications(lone) -> None:
    """As a check tests them: 250 intervals, at a true coverage of 95 % outside of these bounds once in 100 times."""
    groups = [lone[i : i + 4] for i in range(0, TRIALS, 4)]
    answers = [quantiles_of("response", sketched(0, group), 0.95, "batches")["p99"] for group in groups]
    assert 0.91 <= covered(answers, P99) <= 0.984
    assert min(answer.degrees for answer in answers) >= 7

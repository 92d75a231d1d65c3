"""The exact values of programs with caches against the peer's simulation of the same text.

Explorer and interpreter share one semantics, so their agreement says nothing about that semantics; the peer's is its
own. Replications give independent means, and Student's test compares them with the rationals. All comparisons of this
file together give a false alarm with a probability of at most `FALSE_ALARM` (Bonferroni); the seeds are fixed.
"""

import math
from fractions import Fraction
from functools import cache
from statistics import fmean, stdev
from typing import Any

import peer
import pytest

from serq import models, pipeline
from serq.semantics.estimate import student_quantile

FALSE_ALARM = 1e-3
REPLICATIONS = 24
HORIZON, WARMUP = 40000.0, 500.0
CASES: list[tuple[str, dict[str, int]]] = [
    ("lru", {"N": 2, "C": 1}),
    ("lru", {"N": 3, "C": 2}),
    ("lru", {"N": 5, "C": 3}),
    ("lru_ps", {"N": 3, "C": 2}),
    ("lru_ps", {"N": 4, "C": 2}),
    ("lru_slot", {"N": 4, "C": 2, "B": 2}),
    ("lru_slot", {"N": 4, "C": 3, "B": 1}),
    ("lru_slot_pin", {"N": 4, "C": 3, "B": 1}),
    ("lru_slot_key", {"N": 4, "C": 3, "B": 1}),
    ("lru_slot_key", {"N": 5, "C": 3, "B": 2}),
    ("lru_sizes", {"N": 3, "C": 2}),
    ("lru_sizes", {"N": 3, "C": 3}),
]
MEASURES = ("observe.response.rate", "observe.response.mean", "observe.hit.mean", "pool.kv.used", "pool.kv.evictions")
COMPARISONS = 5 * len(CASES)


def title(case: tuple[str, dict[str, int]]) -> str:
    return case[0] + "".join(f" {name}={value}" for name, value in case[1].items())


@cache
def reports() -> dict[str, list[dict[str, Any]]]:
    """All runs of the peer, in one process."""
    jobs = {
        title(case): [
            peer.Job(peer.respell(text_of(case[0])), seed=k + 1, horizon=HORIZON, warmup=WARMUP, sets=case[1])
            for k in range(REPLICATIONS)
        ]
        for case in CASES
    }
    out = iter(peer.run([job for each in jobs.values() for job in each], timeout=120))
    return {name: [next(out) for _ in each] for name, each in jobs.items()}


def text_of(name: str) -> str:
    model = models.find(name)
    assert model is not None
    return model.path.read_text("utf-8")


def simulated(report: dict[str, Any], measure: str) -> float | None:
    observes, kv = report["observes"], next(pool for pool in report["pools"] if pool["name"] == "kv")
    match measure.split("."):
        case ["observe", name, _] if name not in observes:
            return None
        case ["observe", name, "rate"]:
            return float(observes[name]["count"]) / (HORIZON - WARMUP)
        case ["observe", name, "mean"]:
            return float(observes[name]["mean"])
        case ["pool", "kv", "used"]:
            return float(kv["mean_used"])
        case _:
            return float(kv["evicted_entries"]) / HORIZON  # the peer counts from time 0


@pytest.mark.parametrize("case", CASES, ids=title)
def test_the_exact_values(case: tuple[str, dict[str, int]]) -> None:
    name, sets = case
    linked = pipeline.load_text(text_of(name), overrides={k: str(v) for k, v in sets.items()}).program
    solved = pipeline.solve(linked, pipeline.SolveOptions(exact=True))
    exact = {estimate.measure: estimate.value for estimate in solved.estimates}
    compared = 0
    for measure in MEASURES:
        values = [simulated(report, measure) for report in reports()[title(case)]]
        sample = [value for value in values if value is not None]
        if len(sample) == REPLICATIONS:
            right = exact[measure]
            assert isinstance(right, Fraction)
            assert abs(score(sample, right)) < critical(), measure
            compared += 1
    assert compared >= 3


def score(sample: list[float], right: Fraction | float) -> float:
    return (fmean(sample) - float(right)) / (stdev(sample) / math.sqrt(len(sample)))


def critical() -> float:
    return student_quantile(1 - FALSE_ALARM / COMPARISONS, REPLICATIONS - 1)


def test_an_error_of_one_percent_would_be_found() -> None:
    sample = [simulated(report, "observe.response.rate") for report in reports()["lru N=3 C=2"]]
    right = Fraction(33827, 88901)
    assert abs(score([x for x in sample if x is not None], float(right) * 1.01)) > critical()

"""Generated programs with pools: the exact answers of the explored chain against the peer's simulation.

Student's test over replications for every measure that both give. All comparisons together give a false alarm with a
probability of at most `FALSE_ALARM` (Bonferroni); the seeds are fixed.
"""

import math
from collections.abc import Iterator
from functools import cache
from statistics import fmean, stdev
from typing import Any

import peer
import pytest
from pooled_chains import program

from serq import pipeline
from serq.base.errors import LimitError, NoSteadyStateError, RunError
from serq.ir.program import Program
from serq.semantics.estimate import student_quantile

FALSE_ALARM = 1e-3
COMPARISONS = 700  # at most so many are made
REPLICATIONS = 16
HORIZON, WARMUP = 3000.0, 100.0
LARGEST = 1500
SEEDS = range(40)
POOL = {"mean_used": "used", "mean_cached": "cached", "mean_queue": "queue"}
POOL_COUNTS = {"evicted_entries": "evictions", "evicted_units": "evicted_units", "preemptions": "preemptions"}


@cache
def solved() -> dict[int, tuple[Program, dict[str, float]]]:
    """The programs that have a steady state and a small chain, with their exact answers."""
    out = {}
    for seed in SEEDS:
        linked = pipeline.load_text(program(seed)).program
        try:
            answer = pipeline.solve(linked, pipeline.SolveOptions(exact=False, states=LARGEST))
        except (LimitError, NoSteadyStateError, RunError):
            continue  # too large, deadlocks, or livelocks
        out[seed] = linked, {e.measure: float(e.value) for e in answer.estimates if e.value is not None}
    return out


@cache
def reports() -> dict[int, list[dict[str, Any]]]:
    """All runs of the peer, in one process."""
    jobs = [
        peer.Job(peer.respell(program(seed)), seed=k + 1, horizon=HORIZON, warmup=WARMUP)
        for seed in solved()
        for k in range(REPLICATIONS)
    ]
    done = iter(peer.run(jobs, timeout=120))
    return {seed: [next(done) for _ in range(REPLICATIONS)] for seed in solved()}


def row(linked: Program, report: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, observe in report["observes"].items():
        if observe["count"]:
            yield f"observe.{name}.mean", observe["mean"]
    for stage, seen in zip(linked.stages, report["stages"], strict=True):
        yield f"stage.{stage.name}.number", seen["mean_number"]
    for pool, seen in zip(linked.pools, report["pools"], strict=True):
        for other, statistic in POOL.items():
            yield f"pool.{pool.name}.{statistic}", seen[other]
        for other, statistic in POOL_COUNTS.items():
            yield f"pool.{pool.name}.{statistic}", seen[other] / HORIZON  # the peer counts from time 0


def scores(seed: int) -> dict[str, float]:
    """z by measure; infinite where nothing varies and the values differ."""
    linked, exact = solved()[seed]
    rows = [dict(row(linked, report)) for report in reports()[seed]]
    out = {}
    for measure, right in exact.items():
        sample = [r[measure] for r in rows if measure in r]
        if len(sample) == REPLICATIONS:
            error = stdev(sample) / math.sqrt(REPLICATIONS)
            off = fmean(sample) - right
            if error <= 1e-12:
                out[measure] = 0.0 if abs(off) < 1e-9 else math.inf
            else:
                out[measure] = off / error
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_a_generated_program(seed: int) -> None:
    if seed not in solved():
        pytest.skip("no steady state, or a large chain")
    critical = student_quantile(1 - FALSE_ALARM / COMPARISONS, REPLICATIONS - 1)
    found = scores(seed)
    assert len(found) >= 6
    assert {measure: z for measure, z in found.items() if abs(z) > critical} == {}


def test_enough_is_compared_and_no_more_than_stated() -> None:
    counts = [len(scores(seed)) for seed in solved()]
    assert len(counts) >= 20
    assert 200 <= sum(counts) <= COMPARISONS

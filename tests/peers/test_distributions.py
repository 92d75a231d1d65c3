"""The shipped models through both interpreters: equal in distribution.

Both start empty and run equally long, so their averages have one distribution, transient included; the means over
independent replications are compared by Welch's test. All comparisons of this file together give a false alarm with a
probability of at most `FALSE_ALARM` (Bonferroni). The seeds are fixed.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import peer
import pytest
from expectations import read_toml
from scipy import stats

from serq import models, pipeline
from serq.ir.program import Program

FALSE_ALARM = 1e-3
COMPARISONS = 250  # at most so many are made
REPLICATIONS = 20
PART = 1 / 16  # of the horizon that the model's expectations are checked at

LEFT_OUT = {
    "agentic": "its eviction reads est_lambda, which the peer takes from starts of service",
    "offload": "the peer lets spilled units arrive at once: compared with copies that take no time",
}
MODELS = [m for m in models.shipped() if m.name not in LEFT_OUT and pipeline.load(m.path).program.trace is None]
Samples = Mapping[str, tuple[float, ...]]


def horizon_of(model: models.ShippedModel) -> float:
    return float(read_toml(model)["horizon"]) * PART


@cache
def theirs() -> dict[str, list[dict[str, Any]]]:
    """All runs of the peer, in one process."""
    jobs = {
        model.name: [
            peer.Job(peer.respell(model.path.read_text("utf-8")), seed=k + 1, horizon=horizon_of(model), warmup=0)
            for k in range(REPLICATIONS)
        ]
        for model in MODELS
    }
    reports = iter(peer.run([job for each in jobs.values() for job in each], timeout=120))
    return {name: [next(reports) for _ in each] for name, each in jobs.items()}


def their_samples(linked: Program, reports: list[dict[str, Any]]) -> Samples:
    rows: list[dict[str, float | None]] = []
    for report in reports:
        row = {f"observe.{name}.mean": o["mean"] if o["count"] else None for name, o in report["observes"].items()}
        row |= {f"observe.{name}.rate": o["count"] / report["end"] for name, o in report["observes"].items()}
        for stage, s in zip(linked.stages, report["stages"], strict=True):
            row[f"stage.{stage.name}.number"] = s["mean_number"]
        for pool, p in zip(linked.pools, report["pools"], strict=True):
            row[f"pool.{pool.name}.used"] = p["mean_used"]
            row[f"pool.{pool.name}.cached"] = p["mean_cached"]
        rows.append(row)
    return {name: tuple(float(row[name]) for row in rows if row[name] is not None) for name in rows[0]}  # type: ignore[arg-type]


def our_samples(linked: Program, horizon: float) -> Samples:
    out: dict[str, list[float]] = {}
    for seed in range(1, REPLICATIONS + 1):
        report, _ = pipeline.simulate(linked, pipeline.SimulateOptions(seed=seed, horizon=horizon, warmup=0.0))
        for estimate in report.estimates:
            if estimate.value is not None:
                out.setdefault(estimate.measure, []).append(float(estimate.value))
    return {name: tuple(values) for name, values in out.items()}


def disagreements(mine: Samples, others: Samples) -> dict[str, float]:
    """The measures that differ, with their p-values."""
    out = {}
    for name, right in others.items():
        if len(right) == len(mine.get(name, ())) == REPLICATIONS:
            p = p_value(mine[name], right)
            if p < FALSE_ALARM / COMPARISONS:
                out[name] = p
    return out


def p_value(mine: tuple[float, ...], right: tuple[float, ...]) -> float:
    spread = max(*mine, *right) - min(*mine, *right)
    if spread <= 1e-9 * max(abs(x) for x in (*mine, *right, 1.0)):
        return 1.0
    return float(stats.ttest_ind(mine, right, equal_var=False).pvalue)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_a_shipped_model(model: models.ShippedModel) -> None:
    linked = pipeline.load(model.path).program
    mine = our_samples(linked, horizon_of(model))
    others = their_samples(linked, theirs()[model.name])
    assert sum(len(x) == REPLICATIONS for x in others.values()) >= 2 + 2 * len(linked.stages) // 2
    assert disagreements(mine, others) == {}


def test_no_more_comparisons_are_made_than_stated() -> None:
    made = (their_samples(pipeline.load(m.path).program, theirs()[m.name]) for m in MODELS)
    assert 150 <= sum(len(samples) for samples in made) <= COMPARISONS


def test_a_tenth_more_work_is_noticed() -> None:
    model = models.find("mm1n")
    assert model is not None
    slower = pipeline.load(model.path, {"mu": "10/11"}).program
    found = disagreements(our_samples(slower, horizon_of(model)), their_samples(slower, theirs()["mm1n"]))
    assert "observe.response.rate" in found

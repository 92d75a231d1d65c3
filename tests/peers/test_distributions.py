"""The shipped models through both interpreters: equal in distribution.

Both start empty and run equally long, so their averages have one distribution, transient included; the means over
independent replications are compared by Welch's test. All comparisons of this file together give a false alarm with a
probability of at most `FALSE_ALARM` (Bonferroni). The seeds are fixed.
"""

from functools import cache
from typing import Any

import peer
import pytest
from expectations import read_toml
from two_samples import disagreements, our_samples, their_samples

from serq import models, pipeline

FALSE_ALARM = 1e-3
COMPARISONS = 250  # at most so many are made
REPLICATIONS = 20
PART = 1 / 16  # of the horizon that the model's expectations are checked at

LEFT_OUT = {
    "agentic": "its eviction reads est_lambda, which the peer takes from starts of service",
    "offload": "the peer lets spilled units arrive at once: compared with copies that take no time",
}
MODELS = [m for m in models.shipped() if m.name not in LEFT_OUT and pipeline.load(m.path).program.trace is None]
LEVEL = FALSE_ALARM / COMPARISONS


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


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_a_shipped_model(model: models.ShippedModel) -> None:
    linked = pipeline.load(model.path).program
    mine = our_samples(linked, horizon_of(model), REPLICATIONS)
    others = their_samples(linked, theirs()[model.name])
    assert sum(len(x) == REPLICATIONS for x in others.values()) >= 2 + 2 * len(linked.stages) // 2
    assert disagreements(mine, others, LEVEL) == {}


def test_no_more_comparisons_are_made_than_stated() -> None:
    made = (their_samples(pipeline.load(m.path).program, theirs()[m.name]) for m in MODELS)
    assert 150 <= sum(len(samples) for samples in made) <= COMPARISONS


def test_a_tenth_more_work_is_noticed() -> None:
    model = models.find("mm1n")
    assert model is not None
    slower = pipeline.load(model.path, {"mu": "10/11"}).program
    found = disagreements(
        our_samples(slower, horizon_of(model), REPLICATIONS), their_samples(slower, theirs()["mm1n"]), LEVEL
    )
    assert "observe.response.rate" in found

"""Offload tier, priced eviction, routing by lookahead and a cap on sessions against the peer: equal in distribution.

More and longer runs than in the comparison of all shipped models, and the constants in which both mean the same. All
comparisons together give a false alarm with a probability of at most `FALSE_ALARM` (Bonferroni); the seeds are fixed.
"""

from collections.abc import Mapping

import peer
import pytest
from two_samples import Samples, disagreements, our_samples, their_samples

from serq import models, pipeline

FALSE_ALARM = 1e-3
COMPARISONS = 80  # at most so many are made
LEVEL = FALSE_ALARM / COMPARISONS
REPLICATIONS = 30

CASES: dict[str, tuple[dict[str, float], float]] = {
    "offload": ({"copy": 0}, 700.0),  # the peer lets spilled units arrive at once, so that copies must take no time
    "agentic": ({}, 900.0),  # the peer takes est_lambda from starts of service: another sample of the same rate
    "routing": ({}, 500.0),
    "session_cap": ({}, 1200.0),
}
"""Model -> constants, and how long each run is."""


def both(name: str, sets: Mapping[str, float], horizon: float) -> tuple[Samples, Samples]:
    model = models.find(name)
    assert model is not None
    linked = pipeline.load(model.path, dict(sets)).program
    text = peer.respell(model.path.read_text("utf-8"))
    jobs = [peer.Job(text, seed=k + 1, horizon=horizon, warmup=0, sets=sets) for k in range(REPLICATIONS)]
    return our_samples(linked, horizon, REPLICATIONS), their_samples(linked, peer.run(jobs, timeout=120))


@pytest.mark.parametrize("name", CASES)
def test_equal_in_distribution(name: str) -> None:
    mine, theirs = both(name, *CASES[name])
    compared = [measure for measure in theirs if len(theirs[measure]) == len(mine.get(measure, ())) == REPLICATIONS]
    assert 8 <= len(compared) <= COMPARISONS // len(CASES)
    assert disagreements(mine, theirs, LEVEL) == {}


def test_a_link_that_takes_time_is_noticed() -> None:
    """What the comparison of the tier leaves out is a difference on purpose, and large enough to be seen."""
    mine, theirs = both("offload", {"copy": 0.05}, 300.0)
    assert "pool.host.cached" in disagreements(mine, theirs, LEVEL)

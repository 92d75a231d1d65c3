"""What a compiled run knows of its observations, in the form in which the reports read it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from serq.engine.results import Distribution, EngineResult, Profile, Sketch, merged
from serq.ir.measures import QUANTILES
from serq.semantics.estimate import Batches
from serq.semantics.summary import Summary

_OUT_OF_RANGE = "squares of what was observed lie beyond the range of doubles"
_SMALLEST = 1e-290
"""A smaller variance may have lost digits: squares below 2^-1022 have fewer."""


@dataclass(frozen=True, slots=True)
class Sketched:
    """The observations of one name, by histogram: a `serq.semantics.quantiles.Observations`.

    `each` are the distributions of the replications, `profiles` the same by batch, where that is known.
    """

    summary: Summary
    whole: Distribution
    each: tuple[Distribution, ...]
    profiles: tuple[Profile, ...] = ()

    def quantile(self, level: float) -> float:
        """Right to 0.05 %; NaN where it lies beyond the histogram."""
        return self.whole.quantile(level)

    def shares(self, value: float) -> Batches:
        """By batch where there are profiles, else by replication."""
        if self.profiles:
            part = self.whole.part_of_group(value)
            rows = [profile.up_to(value, part) for profile in self.profiles]
            return Batches(tuple(tuple(below) for below, _ in rows), tuple(tuple(counts) for _, counts in rows))
        return Batches(
            tuple((float(d.up_to(value)),) for d in self.each),
            tuple((float(d.counted[-1]) if d.counted else 0.0,) for d in self.each),
        )


def sketched(name: int, results: Sequence[EngineResult]) -> Sketched:
    """The observations of one name in all replications."""
    sketches = [result.sketches[name] for result in results]
    together = merged(sketches)
    whole = together.distribution()
    profiles = tuple(result.profiles[name] for result in results) if all(r.profiles for r in results) else ()
    return Sketched(_summary(together, whole), whole, tuple(s.distribution() for s in sketches), profiles)


def _summary(sketch: Sketch, whole: Distribution) -> Summary:
    """As `serq.semantics.summary.summarise` makes it of samples, with quantiles from the histogram."""
    count = sketch.count
    if sketch.undefined:
        return Summary(count + sketch.undefined, reason="NaN was observed")
    if count == 0:
        return Summary(0, reason="nothing was observed in the window")
    found = {name: whole.quantile(level) for name, level in QUANTILES.items()}
    quantiles: dict[str, Any] = {name: None if math.isnan(x) else x for name, x in found.items()}
    plain = Summary(count, minimum=sketch.least, maximum=sketch.most, **quantiles)
    if not (math.isfinite(sketch.least) and math.isfinite(sketch.most)):
        return replace(plain, reason="an infinite value was observed")
    if not math.isfinite(sketch.mean):
        return replace(plain, reason=_OUT_OF_RANGE)
    plain = replace(plain, mean=sketch.mean)
    if count == 1:
        return replace(plain, reason="one observation has no variance")
    variance = sketch.square / (count - 1)
    if sketch.least < sketch.most and not _SMALLEST <= variance < math.inf:
        return replace(plain, reason=_OUT_OF_RANGE)
    cv2 = variance / sketch.mean / sketch.mean if sketch.mean else None
    return replace(plain, variance=variance, cv2=cv2, reason="" if sketch.mean else "the mean is 0")

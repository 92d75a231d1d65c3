"""Operational laws that the answers of one program must satisfy among themselves.

Denning and Buzen, Computing Surveys 10 (1978). Each holds for every steady state, whatever the model is, so a
failure means that a reward is counted wrongly.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.ir.chain import Solution
from serq.ir.expr import Number
from serq.ir.results import Estimate

_TOLERANCE = 1e-9
"""Relative tolerance for answers in doubles; rational answers are compared exactly."""


@dataclass(frozen=True, slots=True)
class Law:
    """A law about one station or pool: what it says, and whether it holds."""

    text: str
    holds: bool


def laws(estimates: Iterable[Estimate]) -> tuple[Law, ...]:
    """Every law that the answers allow to be checked, by the names of `serq.ir.measures`.

    number = waiting + in service; Little's law for the station and for its queue; the utilisation law; utilisation
    within [0, 1]; Little's law for a pool's queue.
    """
    values: dict[str, dict[str, Number]] = {}
    for estimate in estimates:
        subject, _, statistic = estimate.measure.rpartition(".")
        if estimate.value is not None:
            values.setdefault(subject, {})[statistic] = estimate.value
    return tuple(law for subject, found in values.items() for law in _about(subject, found))


def with_laws(solution: Solution, estimates: Iterable[Estimate]) -> Solution:
    """The solution with one more check: how many operational laws its answers satisfy, and which they break."""
    found = laws(estimates)
    if not found:
        return solution
    broken = [law.text for law in found if not law.holds]
    said = f"all {len(found)} operational laws among the answers hold (Little's law, utilisation law)"
    if broken:
        said = f"{len(broken)} of {len(found)} operational laws FAIL: {'; '.join(broken)}"
    return replace(solution, checks=(*solution.checks, said))


def _about(subject: str, v: Mapping[str, Number]) -> Iterator[Law]:
    if subject.startswith("stage."):
        if {"number", "waiting", "busy"} <= v.keys():
            yield _equal(f"{subject}: number = waiting + busy", v["number"], v["waiting"] + v["busy"])
        if {"number", "throughput", "sojourn"} <= v.keys():
            yield _equal(f"{subject}: number = throughput * sojourn", v["number"], v["throughput"] * v["sojourn"])
        if {"waiting", "throughput", "wait"} <= v.keys():
            yield _equal(f"{subject}: waiting = throughput * wait", v["waiting"], v["throughput"] * v["wait"])
        if {"busy", "throughput", "sojourn", "wait"} <= v.keys():
            service = v["sojourn"] - v["wait"]
            yield _equal(f"{subject}: busy = throughput * (sojourn - wait)", v["busy"], v["throughput"] * service)
        if "utilisation" in v:
            slack = 0 if isinstance(v["utilisation"], Fraction) else _TOLERANCE
            yield Law(f"{subject}: utilisation is in [0, 1]", 0 <= v["utilisation"] <= 1 + slack)
    if subject.startswith("pool.") and {"queue", "admissions", "queue_wait"} <= v.keys():
        yield _equal(f"{subject}: queue = admissions * queue_wait", v["queue"], v["admissions"] * v["queue_wait"])


def _equal(text: str, left: Number, right: Number) -> Law:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return Law(text, left == right)
    a, b = float(left), float(right)
    return Law(text, abs(a - b) <= _TOLERANCE * max(abs(a), abs(b)))

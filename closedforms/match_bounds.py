"""Bounds on the measures of a closed program, from the demands alone: what a picture shows beside the values.

They apply where the network has a product form with one kind of session and queues of one server.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from serq.closedforms.bounds import ASYMPTOTIC, BALANCED
from serq.closedforms.formula import evaluate_formula
from serq.closedforms.matches import Match, Matches
from serq.closedforms.networks import CLOSED
from serq.ir.expr import Number


@dataclass(frozen=True, slots=True)
class Bound:
    """A measure of the program and between what it lies; `kind` is asymptotic or balanced."""

    measure: str
    kind: str
    low: Number
    high: Number


@dataclass(frozen=True, slots=True)
class Bounded:
    """The bounds, and the population at which the two asymptotes of the throughput meet (None: no bounds apply)."""

    bounds: tuple[Bound, ...] = ()
    saturation: Number | None = None


def bounds_of(matches: Matches) -> Bounded:
    """The bounds on stages of the program that the formulas matched."""
    match = next((m for m in matches.matches if m.formula is CLOSED), None)
    network = None if match is None else _network(match)
    if match is None or network is None:
        return Bounded()
    found: list[Bound] = []
    values: Mapping[str, Any] = {}
    for kind, formula in (("balanced", BALANCED), ("asymptotic", ASYMPTOTIC)):
        demands = tuple(network.demands.values())
        values = evaluate_formula(formula, {"N": network.population, "D": demands, "Z": network.think}).values
        found += [Bound(measure, kind, low, high) for measure, low, high in network.measures(values)]
    return Bounded(tuple(found), values.get("Nstar"))


@dataclass(frozen=True, slots=True)
class _Network:
    population: Number
    think: Number
    demands: dict[str, Number]
    visits: dict[str, Number]

    def measures(self, values: Mapping[str, Any]) -> Iterator[tuple[str, Number, Number]]:
        low, high = values["Xmin"], values["Xmax"]
        for stage, visits in self.visits.items():
            yield f"stage.{stage}.throughput", visits * low, visits * high
        for stage, demand in self.demands.items():
            yield f"stage.{stage}.utilisation", demand * low, demand * high
        if len(self.demands) == 1:
            (queue,) = self.demands
            yield f"stage.{queue}.number", self.population - self.think * high, self.population - self.think * low
            shortest, longest = (bound / self.visits[queue] for bound in (values["Rmin"], values["Rmax"]))
            yield f"stage.{queue}.sojourn", shortest, longest


def _network(match: Match) -> _Network | None:
    """Demands by queue, and the whole think time; None where some queue has several servers."""
    given: dict[str, Any] = {b.name: b.value for b in match.bindings}
    think: Number = Fraction(0)
    demands: dict[str, Number] = {}
    for stage, visits, work, servers in zip(match.stages, given["V"], given["S"], given["c"], strict=True):
        if servers == inf:
            think += visits * work
        elif servers == 1:
            demands[stage] = visits * work
        else:
            return None
    visits_of = dict(zip(match.stages, given["V"], strict=True))
    return _Network(given["N"], think, demands, visits_of) if demands else None

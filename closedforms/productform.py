"""Closed networks with a product-form steady state: normalisation constants by convolution.

The state probabilities are a product of one factor by station, over the vectors of how many jobs of each class are
there; the constant is a sum over all ways to spread the population (J. P. Buzen, Comm. ACM 16 (1973) 527-531; with
classes: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, J. ACM 22 (1975) 248-260). A sum over a lattice of
population vectors is flat here: a vector is its number in mixed radix, and differences of vectors are differences of
numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from serq.closedforms.arguments import Real
from serq.closedforms.birthdeath import ratio, without_fractions


@dataclass(frozen=True)
class Station:
    """A station of the network.

    `demands[r]` is the mean work that a job of class r brings per cycle (visits times mean work). `rates[n - 1]` is the
    total rate of work with n jobs present, and its last entry holds on; None is a delay, where n jobs go at rate n.
    """

    demands: tuple[Real, ...]
    rates: tuple[Real, ...] | None = (1,)

    def rate(self, n: int) -> Real:
        """The total rate of work with n >= 1 jobs present."""
        return n if self.rates is None else self.rates[min(n, len(self.rates)) - 1]


@dataclass(frozen=True)
class Network:
    """A closed network's measures: cycles per unit of time by class, mean numbers by station and class, and the
    distribution of the number present by station.
    """

    throughputs: tuple[Real, ...]
    numbers: tuple[tuple[Real, ...], ...]
    distributions: tuple[tuple[Real, ...], ...]


@dataclass(frozen=True)
class Lattice:
    """All vectors up to `population`, in the order of their numbers."""

    population: tuple[int, ...]

    @cached_property
    def vectors(self) -> list[tuple[int, ...]]:
        """The vectors, smallest number first."""
        return list(product(*(range(n + 1) for n in self.population)))

    @cached_property
    def units(self) -> tuple[int, ...]:
        """What one job of each class adds to a vector's number."""
        return tuple(prod(n + 1 for n in self.population[r + 1 :]) for r in range(len(self.population)))

    def below(self, vector: tuple[int, ...]) -> Iterator[int]:
        """The numbers of the vectors that are nowhere larger."""
        steps = [[k * unit for k in range(n + 1)] for n, unit in zip(vector, self.units, strict=True)]
        return map(sum, product(*steps))

    def convolve(self, a: Sequence[Real], b: Sequence[Real]) -> list[Real]:
        """The sums over k of a[k] b[n - k], for every n."""
        return [sum(a[k] * b[n - k] for k in self.below(v)) for n, v in enumerate(self.vectors)]

    def factor(self, station: Station) -> list[Real]:
        """The station's factor of the product form at every vector, up to one constant."""
        one: list[Real] = [1] + [0] * (len(self.vectors) - 1)
        for index, vector in enumerate(self.vectors):
            present = sum(vector)
            if present:
                arrivals = (
                    d * one[index - unit]
                    for d, unit, n in zip(station.demands, self.units, vector, strict=True)
                    if n > 0
                )
                one[index] = sum(arrivals) / station.rate(present)
        return without_fractions(one)


def solve(stations: Sequence[Station], population: tuple[int, ...]) -> Network:
    """The steady state of the closed network in which `population[r]` jobs of class r circulate."""
    lattice = Lattice(population)
    factors = [lattice.factor(station) for station in stations]
    rests = _all_but_one(lattice, factors)
    constants = lattice.convolve(factors[0], rests[0])
    whole = constants[-1]
    throughputs = tuple(ratio(constants[-1 - unit], whole) for unit in lattice.units)
    numbers, distributions = [], []
    for factor, rest in zip(factors, rests, strict=True):
        joint = [f * g for f, g in zip(factor, reversed(rest), strict=True)]
        present = [sum(v[r] * p for v, p in zip(lattice.vectors, joint, strict=True)) for r in range(len(population))]
        numbers.append(tuple(ratio(n, whole) for n in present))
        distributions.append(tuple(ratio(p, whole) for p in _by_total(lattice, joint)))
    return Network(throughputs, tuple(numbers), tuple(distributions))


def _all_but_one(lattice: Lattice, factors: Sequence[Sequence[Real]]) -> list[list[Real]]:
    """For every station the convolution of all the others, from prefixes and suffixes."""
    nothing: list[Real] = [1] + [0] * (len(lattice.vectors) - 1)
    before, after = [nothing], [nothing]
    for factor in factors[:-1]:
        before.append(lattice.convolve(before[-1], factor))
    for factor in reversed(factors[1:]):
        after.append(lattice.convolve(after[-1], factor))
    return [lattice.convolve(a, b) for a, b in zip(before, reversed(after), strict=True)]


def _by_total(lattice: Lattice, weights: Sequence[Real]) -> list[Real]:
    out: list[Real] = [0] * (sum(lattice.population) + 1)
    for vector, weight in zip(lattice.vectors, weights, strict=True):
        out[sum(vector)] += weight
    return out

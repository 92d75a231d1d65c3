"""Closed networks with a product-form steady state: normalisation constants by convolution.

The state probabilities are a product of one factor by station, over the vectors of how many jobs of each class are
there; the constant is a sum over all ways to spread the population (J. P. Buzen, Comm. ACM 16 (1973) 527-531; with
classes: F. Baskett, K. M. Chandy, R. R. Muntz, F. G. Palacios, J. ACM 22 (1975) 248-260). A sum over a lattice of
population vectors is flat here: a vector is its number in mixed radix, and differences of vectors are differences of
numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import lcm, prod

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
                one[index] = ratio(self._arrivals(station, one, index, vector), station.rate(present))
        return without_fractions(one)

    def join(self, station: Station, factor: Sequence[Real], network: Sequence[Real]) -> list[Real]:
        """The constants of a network, up to one factor, when the station joins it.

        One server needs no sum: g(n) = h(n) + sum over r of D_r g(n - e_r) (Buzen's recursion).
        """
        if station.rates != (1,):
            return self.convolve(factor, network)
        joined = list(network)
        for index, vector in enumerate(self.vectors):
            joined[index] += self._arrivals(station, joined, index, vector)
        return joined

    def leave(self, station: Station, network: Sequence[Real]) -> list[Real]:
        """The constants of a network that a station of one server leaves: `join` undone. It subtracts: whole numbers
        only.
        """
        vectors = enumerate(self.vectors)
        return [network[index] - self._arrivals(station, network, index, vector) for index, vector in vectors]

    def _arrivals(self, station: Station, values: Sequence[Real], index: int, vector: tuple[int, ...]) -> Real:
        """The demands times the values with one job less, over the classes that have one."""
        steps = zip(station.demands, self.units, vector, strict=True)
        return sum(demand * values[index - unit] for demand, unit, n in steps if n > 0)


def solve(stations: Sequence[Station], population: tuple[int, ...]) -> Network:
    """The steady state of the closed network in which `population[r]` jobs of class r circulate."""
    lattice = Lattice(population)
    unit, scaled = _in_whole_units(stations)
    factors = [lattice.factor(station) for station in scaled]
    whole, rests = _constants(lattice, scaled, factors)
    throughputs = tuple(unit * ratio(whole[-1 - step], whole[-1]) for step in lattice.units)
    numbers, distributions = [], []
    for factor, rest in zip(factors, rests, strict=True):
        joint = [f * g for f, g in zip(factor, reversed(rest), strict=True)]
        total = sum(joint)
        present = [sum(v[r] * p for v, p in zip(lattice.vectors, joint, strict=True)) for r in range(len(population))]
        numbers.append(tuple(ratio(n, total) for n in present))
        distributions.append(tuple(ratio(p, total) for p in _by_total(lattice, joint)))
    return Network(throughputs, tuple(numbers), tuple(distributions))


def _in_whole_units(stations: Sequence[Station]) -> tuple[Real, list[Station]]:
    """The stations in a unit of time in which demands are whole numbers (if they are rational), and how many of those
    units there are in one; a station of one constant rate has rate 1.
    """
    plain = [_at_rate_one(station) for station in stations]
    demands = [d for station in plain for d in station.demands]
    if not all(isinstance(d, Fraction) for d in demands):
        return 1, plain
    unit = lcm(*(d.denominator for d in demands))
    return unit, [Station(tuple(int(d * unit) for d in station.demands), station.rates) for station in plain]


def _at_rate_one(station: Station) -> Station:
    if station.rates is None or len(station.rates) > 1:
        return station
    (rate,) = station.rates
    return Station(tuple(d / rate for d in station.demands), (1,))


def _constants(
    lattice: Lattice, stations: Sequence[Station], factors: Sequence[Sequence[Real]]
) -> tuple[list[Real], list[list[Real]]]:
    """The constants of the network at every vector, and of the network without each of its stations; each up to a
    factor.
    """
    nothing: list[Real] = [1] + [0] * (len(lattice.vectors) - 1)
    before, after = [nothing], [nothing]
    for station, factor in zip(stations, factors, strict=True):
        before.append(lattice.join(station, factor, before[-1]))
    for station, factor in zip(reversed(stations[1:]), reversed(factors[1:]), strict=True):
        after.append(lattice.join(station, factor, after[-1]))
    whole = before[-1]
    rests = [
        lattice.leave(station, whole)
        if station.rates == (1,) and isinstance(whole[-1], int)
        else lattice.convolve(a, b)
        for station, a, b in zip(stations, before, reversed(after), strict=False)
    ]
    return whole, rests


def _by_total(lattice: Lattice, weights: Sequence[Real]) -> list[Real]:
    out: list[Real] = [0] * (sum(lattice.population) + 1)
    for vector, weight in zip(lattice.vectors, weights, strict=True):
        out[sum(vector)] += weight
    return out

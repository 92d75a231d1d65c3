"""Birth-death chains: stationary distributions and what a queue's measures are in terms of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from serq.closedforms.arguments import Real


@dataclass(frozen=True)
class Distribution:
    """A distribution over 0..K as weights, whole numbers where they are rational: division comes last."""

    weights: tuple[Real, ...]

    @cached_property
    def total(self) -> Real:
        """What the weights add up to."""
        return sum(self.weights)

    def __getitem__(self, n: int) -> Real:
        return ratio(self.weights[n], self.total)

    def mean(self, function: Callable[[int], int] = lambda n: n) -> Real:
        """The mean of a function of the number; of the number itself when there is none."""
        return ratio(sum(function(n) * w for n, w in enumerate(self.weights)), self.total)


def stationary(births: Sequence[Real], deaths: Sequence[Real]) -> Distribution:
    """The distribution over 0..K when `births[n]` leads from n to n + 1 and `deaths[n]` from n + 1 to n."""
    weight: Real = 1
    weights = [weight]
    for birth, death in zip(births, deaths, strict=True):
        weight = weight * birth / death
        weights.append(weight)
    return Distribution(tuple(without_fractions(weights)))


def without_fractions(weights: Sequence[Real]) -> list[Real]:
    """The same weights up to a common factor, as whole numbers when they are rationals: sums are then cheap."""
    if not all(isinstance(w, Fraction | int) for w in weights):
        return list(weights)
    common = lcm(*(w.denominator for w in weights))
    return [w.numerator * (common // w.denominator) for w in weights]


def ratio(top: Real, bottom: Real) -> Real:
    """The quotient, exact for whole numbers."""
    return Fraction(top, bottom) if isinstance(top, int) and isinstance(bottom, int) else top / bottom


def queue_measures(distribution: Distribution, servers: int, mu: Real) -> dict[str, Real]:
    """The usual measures of a queue of `servers` servers of rate `mu` with that distribution of the number present.

    Times are by Little's law, per job that is served.
    """
    number = distribution.mean()
    busy = distribution.mean(lambda n: min(n, servers))
    throughput = busy * mu
    waiting = number - busy
    return {
        "p0": distribution[0],
        "U": busy / servers,
        "X": throughput,
        "L": number,
        "Lq": waiting,
        "R": number / throughput,
        "Wq": waiting / throughput,
    }

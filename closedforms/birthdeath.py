"""Birth-death chains: stationary distributions and what a queue's measures are in terms of them."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from serq.closedforms.arguments import Real


def stationary(births: Sequence[Real], deaths: Sequence[Real]) -> list[Real]:
    """The distribution over 0..K when `births[n]` leads from n to n + 1 and `deaths[n]` from n + 1 to n."""
    weight: Real = 1
    weights = [weight]
    for birth, death in zip(births, deaths, strict=True):
        weight = weight * birth / death
        weights.append(weight)
    return normalised(weights)


def normalised(weights: Sequence[Real]) -> list[Real]:
    """The weights as probabilities."""
    whole = without_fractions(weights)
    total = sum(whole)
    return [ratio(w, total) for w in whole]


def without_fractions(weights: Sequence[Real]) -> list[Real]:
    """The same weights up to a common factor, as whole numbers when they are rationals: sums are then cheap."""
    if not all(isinstance(w, Fraction | int) for w in weights):
        return list(weights)
    common = lcm(*(w.denominator for w in weights))
    return [w.numerator * (common // w.denominator) for w in weights]


def ratio(top: Real, bottom: Real) -> Real:
    """The quotient, exact for whole numbers."""
    return Fraction(top, bottom) if isinstance(top, int) and isinstance(bottom, int) else top / bottom


def queue_measures(distribution: Sequence[Real], servers: int, mu: Real) -> dict[str, Real]:
    """The usual measures of a queue of `servers` servers of rate `mu` with that distribution of the number present.

    Times are by Little's law, per job that is served.
    """
    number = sum(n * p for n, p in enumerate(distribution))
    busy = sum(min(n, servers) * p for n, p in enumerate(distribution))
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

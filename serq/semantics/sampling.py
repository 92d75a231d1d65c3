"""Draws from the laws of the language, one function per law, from the streams of `serq.semantics.rng`.

The parameters are taken as valid (`serq.ir.laws.problem_of` says which are). Each function says how many uniforms or
exponentials it takes from the stream: that number is part of the meaning of a seed.
"""

from collections.abc import Callable
from math import sqrt

from serq.ir.expr import LawName
from serq.semantics.elementary import log1p
from serq.semantics.rng import Words, exponential, u01

Arguments = tuple[float, ...]


def exp(s: Words, a: Arguments) -> float:
    """Exponential of mean a[0]; one exponential."""
    return a[0] * exponential(s)


def det(_s: Words, a: Arguments) -> float:
    """The constant a[0]; nothing is drawn."""
    return a[0]


def uniform(s: Words, a: Arguments) -> float:
    """Uniform on [a[0], a[1]); one uniform."""
    return a[0] + u01(s) * (a[1] - a[0])


def erlang(s: Words, a: Arguments) -> float:
    """The sum of a[0] exponentials, of mean a[1] in all; a[0] exponentials."""
    total = 0.0
    for _ in range(int(a[0])):
        total += exponential(s)
    return total * (a[1] / a[0])


def h2(s: Words, a: Arguments) -> float:
    """One of two exponentials that contribute equally to the mean a[0] (balanced means), with squared coefficient of
    variation a[1]; one uniform, then one exponential.

    Source: W. Whitt, Approximating a point process by a renewal process I, Oper. Res. 30 (1982), section 3.
    """
    p = 0.5 * (1.0 + sqrt((a[1] - 1.0) / (a[1] + 1.0)))
    share = p if u01(s) < p else 1.0 - p
    return a[0] / (2.0 * share) * exponential(s)


def bernoulli(s: Words, a: Arguments) -> float:
    """1 with probability a[0], else 0; one uniform."""
    return 1.0 if u01(s) < a[0] else 0.0


def geometric(s: Words, a: Arguments) -> float:
    """The number of trials of success probability a[0] up to the first success, at least 1; one exponential.

    The whole part of an exponential of rate -log(1 - p) is the number of failures.
    """
    e = exponential(s)
    if a[0] == 1.0:
        return 1.0
    failures = e / -log1p(-a[0])
    return 1.0 + (failures - failures % 1.0)


def choice(s: Words, a: Arguments) -> float:
    """One of the values a[0], a[2], ... with weights a[1], a[3], ...; one uniform."""
    total = sum(a[1::2])
    left = u01(s) * total
    value = a[0]
    for i in range(0, len(a), 2):
        if a[i + 1] > 0.0:
            value = a[i]
            if left < a[i + 1]:
                return value
            left -= a[i + 1]
    return value


SAMPLERS: dict[LawName, Callable[[Words, Arguments], float]] = {
    "exp": exp, "det": det, "uniform": uniform, "erlang": erlang, "h2": h2, "bernoulli": bernoulli,
    "geometric": geometric, "choice": choice,
}  # fmt: skip
"""The function that draws from each law."""

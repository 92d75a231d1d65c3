"""Draws from the laws of the language in restricted Python, from the streams of `serq.codegen.streams`.

The parameters are taken as valid (`serq.ir.laws.problem_of` says which are). Each function says how many uniforms or
exponentials it takes from the stream: that number is part of the meaning of a seed.
"""

from serq.codegen.elementary import log1p
from serq.codegen.lang import F64Array, U64Array, f64, floor, i64, sqrt
from serq.codegen.streams import exponential, u01


def draw_exp(s: U64Array, at: i64, mean: f64) -> f64:
    """Exponential; one exponential."""
    return mean * exponential(s, at)


def draw_uniform(s: U64Array, at: i64, low: f64, high: f64) -> f64:
    """Uniform on [low, high); one uniform."""
    return low + u01(s, at) * (high - low)


def draw_erlang(s: U64Array, at: i64, phases: f64, mean: f64) -> f64:
    """The sum of `phases` exponentials, of the given mean in all; as many exponentials."""
    total = 0.0
    for _ in range(int(phases)):
        total += exponential(s, at)
    return total * (mean / phases)


def draw_h2(s: U64Array, at: i64, mean: f64, cv2: f64) -> f64:
    """One of two exponentials that contribute equally to the mean (balanced means), with squared coefficient of
    variation `cv2`; one uniform, then one exponential.

    Source: W. Whitt, Approximating a point process by a renewal process I, Oper. Res. 30 (1982), section 3.
    """
    p = 0.5 * (1.0 + sqrt((cv2 - 1.0) / (cv2 + 1.0)))
    share = p if u01(s, at) < p else 1.0 - p
    return mean / (2.0 * share) * exponential(s, at)


def draw_bernoulli(s: U64Array, at: i64, p: f64) -> f64:
    """1 with probability p, else 0; one uniform."""
    return 1.0 if u01(s, at) < p else 0.0


def draw_geometric(s: U64Array, at: i64, p: f64) -> f64:
    """The number of trials of success probability p up to the first success, at least 1; one exponential.

    The whole part of an exponential of rate -log(1 - p) is the number of failures.
    """
    e = exponential(s, at)
    if p == 1.0:
        return 1.0
    return 1.0 + floor(e / -log1p(-p))


def draw_choice(s: U64Array, at: i64, pairs: F64Array, first: i64, count: i64) -> f64:
    """One of `count` values with weights, which lie in turn (value, weight, ...) from index `first` on; one uniform."""
    total = 0.0
    for i in range(count):
        total += pairs[first + 2 * i + 1]
    left = u01(s, at) * total
    value = pairs[first]
    for i in range(count):
        weight = pairs[first + 2 * i + 1]
        if weight > 0.0:
            value = pairs[first + 2 * i]
            if left < weight:
                return value
            left -= weight
    return value

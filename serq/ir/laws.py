"""Probability laws with their parameters: moments, finite support, phase-type form.

`Law` is what an `e.Draw` becomes once its arguments are numbers. Parameters are validated by `problem_of`, so that the
interpreter, the explorer and the closed forms refuse the same things in the same words.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from serq.ir.evaluate import exact_root, near_root
from serq.ir.expr import LawName, Number, is_finite


@dataclass(frozen=True, slots=True)
class Law:
    """A law of the language with its arguments as numbers; for `choice` value, weight, value, weight, ..."""

    name: LawName
    args: tuple[Number, ...]


ARITY: dict[LawName, int] = {
    "exp": 1, "det": 1, "uniform": 2, "erlang": 2, "h2": 2, "bernoulli": 1, "geometric": 1,
}  # fmt: skip
"""Number of arguments; `choice` takes any positive number of pairs."""


MOST_PHASES = 1_000_000
"""Phases of a `~erlang`: each is a draw, and its coefficient of variation is a thousandth by then."""


def problem_of(law: Law) -> str | None:
    """Why the parameters make no law, or None when they do."""
    args = law.args
    if any(isinstance(a, float) and not math.isfinite(a) for a in args):
        return "its arguments must be finite"
    if not all(isinstance(a, float) or is_finite(a) for a in args):
        return "its arguments must lie in the range of doubles"
    match law.name:
        case "exp":
            return None if args[0] >= 0 else "its mean must not be negative"
        case "uniform":
            return None if args[0] <= args[1] else "its lower end must not exceed its upper end"
        case "erlang":
            if args[0] > MOST_PHASES:
                return f"it has {MOST_PHASES} phases at most"
            return None if args[0] >= 1 and args[0] == int(args[0]) and args[1] >= 0 else (
                "it takes a whole number of phases, at least 1, and a mean that is not negative")  # fmt: skip
        case "h2":
            return None if args[0] >= 0 and args[1] >= 1 else (
                "it takes a mean that is not negative and a squared coefficient of variation >= 1")  # fmt: skip
        case "bernoulli":
            return None if 0 <= args[0] <= 1 else "its probability must lie in [0, 1]"
        case "geometric":
            return None if 0 < args[0] <= 1 else "its probability must lie in (0, 1]"
        case "choice":
            weights = args[1::2]
            if not is_finite(sum(weights)):
                return "its weights add up to more than a double can be"
            return None if all(w >= 0 for w in weights) and sum(weights) > 0 else (
                "its weights must not be negative and must not all be zero")  # fmt: skip
    return None


def support(law: Law) -> tuple[tuple[Number, Number], ...] | None:
    """Values with their probabilities for a law of finite support (zero weights left out), else None."""
    match law.name:
        case "det":
            return ((law.args[0], Fraction(1)),)
        case "bernoulli":
            p = law.args[0]
            pairs: tuple[tuple[Number, Number], ...] = ((Fraction(1), p), (Fraction(0), 1 - p))
        case "choice":
            total = sum(law.args[1::2], Fraction(0))
            pairs = tuple((v, w / total) for v, w in zip(law.args[::2], law.args[1::2], strict=True))
        case _:
            return None
    return tuple((v, p) for v, p in pairs if p > 0)


def mean(law: Law) -> Number:
    """The mean."""
    a = law.args
    match law.name:
        case "exp" | "det" | "h2" | "bernoulli":
            return a[0]
        case "erlang":
            return a[1]
        case "uniform":
            return (a[0] + a[1]) / 2
        case "geometric":
            return 1 / a[0]
        case "choice":
            return _finite_moment(law, 1)


def second_moment(law: Law) -> Number:
    """The second moment (not the variance)."""
    a = law.args
    match law.name:
        case "exp":
            return 2 * a[0] ** 2
        case "det":
            return a[0] ** 2
        case "h2":
            return (1 + a[1]) * a[0] ** 2
        case "bernoulli":
            return a[0]
        case "erlang":
            return a[1] ** 2 * (1 + 1 / a[0])
        case "uniform":
            return (a[0] ** 2 + a[0] * a[1] + a[1] ** 2) / 3
        case "geometric":
            return (2 - a[0]) / a[0] ** 2
        case "choice":
            return _finite_moment(law, 2)


def _finite_moment(law: Law, power: int) -> Number:
    pairs = support(law)
    assert pairs is not None
    return sum((v**power * p for v, p in pairs), Fraction(0))


@dataclass(frozen=True, slots=True)
class PhaseType:
    """A phase-type law: where it starts, how fast each phase ends, where it goes from there.

    `start[i]` is the probability to begin in phase i, `rates[i]` the rate (1 / time) of leaving phase i, `after[i]`
    the phase that follows, or None when the law is over. `rounded` says that a parameter is irrational and was
    replaced by a nearby rational.
    """

    start: tuple[Number, ...]
    rates: tuple[Number, ...]
    after: tuple[int | None, ...]
    rounded: bool = False


def erlang_mixture(law: Law, phases: int) -> PhaseType | None:
    """A mixture of Erlang laws of up to so many phases that stands for ~det or ~uniform and has its mean; else None.

    It begins j phases before the end with the probability that the law has between j - 1 and j steps, a step being the
    largest value through the number of phases; as that grows the mixture tends to the law, with an error in proportion
    to the step: R. Schassberger, Warteschlangen (1973), section I.6; H. C. Tijms, A First Course in Stochastic Models
    (2003), theorem 5.5.1. All phases are then made longer or shorter alike, so that the mean is right. For ~det it is
    the Erlang law.
    """
    if law.name not in ("det", "uniform") or mean(law) <= 0 or min(law.args) < 0:
        return None
    low, high = Fraction(law.args[0]), Fraction(law.args[-1])
    step = high / phases
    below = [Fraction(j == phases) if low == high else _uniform_share(low, high, j * step) for j in range(phases + 1)]
    weights = [b - a for a, b in pairwise(below)]
    rate = sum((j * w for j, w in enumerate(weights, 1)), Fraction(0)) / Fraction(mean(law))
    return PhaseType(tuple(reversed(weights)), (rate,) * phases, (*range(1, phases), None))


def _uniform_share(low: Fraction, high: Fraction, x: Fraction) -> Fraction:
    return min(max((x - low) / (high - low), Fraction(0)), Fraction(1))


def convolution(first: PhaseType, second: PhaseType) -> PhaseType:
    """The law of the sum of two independent amounts: the first law's phases, then the second's.

    There is a copy of the first for every phase in which the second may start.
    """
    starts = [(i, q) for i, q in enumerate(second.start) if q > 0]
    size = len(first.rates)
    base = size * len(starts)
    start: list[Number] = []
    after: list[int | None] = []
    for copy, (entry, share) in enumerate(starts):
        start += [q * share for q in first.start]
        after += [base + entry if n is None else copy * size + n for n in first.after]
    start += [Fraction(0)] * len(second.rates)
    after += [None if n is None else base + n for n in second.after]
    return PhaseType(
        tuple(start), first.rates * len(starts) + second.rates, tuple(after), first.rounded or second.rounded
    )


_H2_DENOMINATOR = 10**18
"""With denominators up to this one there is a rational within 1e-33 of an irrational probability."""


def phase_type(law: Law) -> PhaseType | None:
    """The phase-type form of exp, erlang and h2 with a positive mean; None for any other law."""
    if law.name not in ("exp", "erlang", "h2") or mean(law) <= 0:
        return None
    one, zero = Fraction(1), Fraction(0)
    if law.name == "h2":
        return _balanced_h2(law)
    phases = int(law.args[0]) if law.name == "erlang" else 1
    rate = phases / mean(law)
    start = (one, *(zero for _ in range(phases - 1)))
    after = (*range(1, phases), None)
    return PhaseType(start, (rate,) * phases, after)


def _balanced_h2(law: Law) -> PhaseType:
    """Two exponentials with equal contributions p / rate to the mean (balanced means)."""
    average, cv2 = law.args
    p, rounded = h2_probability(cv2)
    if p == 1:
        return PhaseType((Fraction(1),), (1 / average,), (None,), rounded)
    return PhaseType((p, 1 - p), (2 * p / average, 2 * (1 - p) / average), (None, None), rounded)


def h2_probability(cv2: Number) -> tuple[Number, bool]:
    """The larger branch probability (1 + sqrt((cv2-1)/(cv2+1))) / 2, and whether it had to be rounded."""
    square = (Fraction(cv2) - 1) / (Fraction(cv2) + 1)
    root = exact_root(square)
    if root is not None and not isinstance(cv2, float):
        return (1 + root) / 2, False
    return ((1 + near_root(square)) / 2).limit_denominator(_H2_DENOMINATOR), True

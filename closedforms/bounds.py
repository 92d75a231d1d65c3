"""Bounds on closed networks from the demands alone.

Sources: P. J. Denning and J. P. Buzen, ACM Computing Surveys 10 (1978) 225-261 (asymptotic bounds); J. Zahorjan,
K. C. Sevcik, D. L. Eager and B. Galler, Communications of the ACM 25 (1982) 134-141 (balanced job bounds; with a think
time as in E. D. Lazowska et al., Quantitative System Performance, 1984, section 5.4); C.-H. Hsieh and S. S. Lam,
Performance Evaluation 7 (1987) 3-30 (proportional bounds).
"""

from collections.abc import Sequence

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import NON_NEGATIVE, Arguments, Parameter
from serq.closedforms.finite_source import SOURCES, STABLE
from serq.closedforms.formula import Formula, Quantity, Values

_total, _largest = sympy.Symbol("D"), sympy.Symbol("D_{max}")
DEMANDS = Parameter("D", _total, "demand: visits times mean work, by queue of one server", "time", shape="list")
THINK_OR_NONE = Parameter("Z", s.Z, "mean think time", "time", domain=NON_NEGATIVE)


def _asymptotic(a: Arguments) -> Values:
    population, demands, think = a.whole("N"), a.series("D"), a.number("Z")
    total, largest = sum(demands), max(demands)
    return {
        "Xmax": min(1 / largest, population / (total + think)),
        "Xmin": population / (population * total + think),
        "Rmin": max(total, population * largest - think),
        "Rmax": population * total,
        "Nstar": (total + think) / largest,
    }


ASYMPTOTIC = Formula(
    name="asymptotic-bounds",
    title="Asymptotic bounds of a closed network of queues and a think time",
    source="Denning and Buzen 1978",
    parameters=(SOURCES, DEMANDS, THINK_OR_NONE),
    measures=(
        Quantity("Xmax", "upper bound of the throughput", "1/time", sympy.Min(1 / _largest, s.N / (_total + s.Z))),
        Quantity("Xmin", "lower bound of the throughput", "1/time", s.N / (s.N * _total + s.Z)),
        Quantity("Rmin", "lower bound of the response", "time", sympy.Max(_total, s.N * _largest - s.Z)),
        Quantity("Rmax", "upper bound of the response", "time", s.N * _total),
        Quantity("Nstar", "population at which the two upper bounds of X meet", "", (_total + s.Z) / _largest),
    ),
    recursion=_asymptotic,
    stability=STABLE,
    kind="bound",
)


def _balanced(a: Arguments) -> Values:
    population, demands, think = a.whole("N"), a.series("D"), a.number("Z")
    total, largest = sum(demands), max(demands)
    mean = total / len(demands)
    least = total + (population - 1) * mean / (1 + think / total)
    most = total + (population - 1) * largest / (1 + think / (population * total))
    shortest = max(population * largest - think, least)
    return {
        "Xmax": population / (shortest + think),
        "Xmin": population / (most + think),
        "Rmin": shortest,
        "Rmax": most,
    }


_mean = sympy.Symbol(r"\bar{D}")
_least = _total + (s.N - 1) * _mean / (1 + s.Z / _total)
_most = _total + (s.N - 1) * _largest / (1 + s.Z / (s.N * _total))
_shortest = sympy.Max(s.N * _largest - s.Z, _least)

BALANCED = Formula(
    name="balanced-bounds",
    title="Balanced job bounds of a closed network of queues and a think time",
    source="Zahorjan, Sevcik, Eager and Galler 1982; Lazowska et al. 1984, section 5.4",
    parameters=(SOURCES, DEMANDS, THINK_OR_NONE),
    measures=(
        Quantity("Xmax", "upper bound of the throughput", "1/time", s.N / (_shortest + s.Z)),
        Quantity("Xmin", "lower bound of the throughput", "1/time", s.N / (_most + s.Z)),
        Quantity("Rmin", "lower bound of the response", "time", _shortest),
        Quantity("Rmax", "upper bound of the response", "time", _most),
    ),
    recursion=_balanced,
    stability=STABLE,
    kind="bound",
)


def _proportional(a: Arguments) -> Values:
    population, demands = a.whole("N"), a.series("D")
    largest = max(demands)
    shares = [d / largest for d in demands]
    total = sum(demands)
    upper = sum(d * d for d in demands) / total
    lower = largest * sum(d**population for d in shares) / sum(d ** (population - 1) for d in shares)
    return {
        "Xmax": min(1 / largest, population / (total + upper * (population - 1))),
        "Xmin": population / (total + lower * (population - 1)),
    }


PROPORTIONAL = Formula(
    name="proportional-bounds",
    title="Proportional bounds of a closed network of queues without think time",
    source="Hsieh and Lam 1987",
    parameters=(SOURCES, DEMANDS),
    measures=(
        Quantity("Xmax", "upper bound of the throughput", "1/time"),
        Quantity("Xmin", "lower bound of the throughput", "1/time"),
    ),
    recursion=_proportional,
    stability=STABLE,
    kind="bound",
)

FAMILIES: Sequence[Formula] = (ASYMPTOTIC, BALANCED, PROPORTIONAL)

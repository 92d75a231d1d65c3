"""M/G/1//N: N sources at one server that works in order of arrival, work of any law, exponential think times.

The busy period seen by the sources left thinking depends on the law of work at N - 1 points of its Laplace transform
only, phi(n / Z) = E[exp(-n work / Z)] for n = 1 .. N - 1 (L. Takacs, Introduction to the Theory of Queues (1962),
chapter 5; D. Gross and C. M. Harris, Fundamentals of Queueing Theory, on machine repair with general service). With

    s = sum over n = 0 .. N - 1 of C(N - 1, n) prod over i = 1 .. n of (1 / phi(i / Z) - 1)

the throughput is s / (m s + Z / N); everything else follows by Little's law. For exponential work it is M/M/1//N.
"""

from collections.abc import Sequence
from math import comb

import sympy

from serq.closedforms.arguments import Arguments, Domain, Parameter, Real
from serq.closedforms.finite_source import SOURCES, STABLE, THINK
from serq.closedforms.formula import Formula, Precondition, Values
from serq.closedforms.mg1 import MEAN
from serq.closedforms.quantities import queue

SOURCE = "L. Takacs, Introduction to the Theory of Queues (1962), chapter 5"
TRANSFORM = Domain("a number in (0, 1]", lambda v: 0 < v <= 1)
PHI = Parameter(
    "phi", sympy.Symbol("phi"), "E[exp(-n work / Z)] for n = 1, 2, ..., N - 1 (more are not looked at)", "", TRANSFORM,
    "list",
)  # fmt: skip


def enough(a: Arguments, *names: str) -> bool:
    """Whether the lists have a value for every number of sources that may go on thinking."""
    return all(len(a.row(name)) >= a.whole("N") - 1 for name in names)


ENOUGH = Precondition("N - 1 values of phi at least", lambda a: enough(a, "phi"))


def series(phi: Sequence[Real], slopes: Sequence[Real], sources: int) -> tuple[Real, Real]:
    """The sum s, and its slope when every phi moves by its slope."""
    term, moves = phi[0] * 0 + 1 if phi else 1, 0 * (phi[0] if phi else 0)
    total, change = term, moves
    for n in range(1, sources):
        value, slope = phi[n - 1], slopes[n - 1]
        factor = 1 / value - 1
        moves = moves * factor - term * slope / value**2
        term = term * factor
        total = total + comb(sources - 1, n) * term
        change = change + comb(sources - 1, n) * moves
    return total, change


def throughput(total: Real, mean: Real, sources: int, think: Real) -> Real:
    """Jobs per unit of time, from the sum s."""
    return total / (mean * total + think / sources)


def _measures(a: Arguments) -> Values:
    sources, mean, think = a.whole("N"), a.number("m"), a.number("Z")
    phi = a.series("phi")[: sources - 1]
    total, _ = series(phi, [0 * p for p in phi], sources)
    through = throughput(total, mean, sources, think)
    number, busy = sources - through * think, through * mean
    return {
        "p0": 1 - busy,
        "U": busy,
        "X": through,
        "L": number,
        "Lq": number - busy,
        "R": number / through,
        "Wq": number / through - mean,
    }


_sum, _through, _n, _i = sympy.Symbol("s"), sympy.Symbol("X"), sympy.Symbol("n"), sympy.Symbol("i")
_N, _m, _Z = SOURCES.symbol, MEAN.symbol, THINK.symbol
_term = sympy.Product(1 / sympy.Function("phi")(_i / _Z) - 1, (_i, 1, _n))
LAWS = (
    sympy.Eq(_sum, sympy.Sum(sympy.binomial(_N - 1, _n) * _term, (_n, 0, _N - 1))),
    sympy.Eq(_through, _sum / (_m * _sum + _Z / _N)),
)

MG1N = Formula(
    name="mg1n",
    title="M/G/1//N: N sources, one server, work of any law by its Laplace transform (Takacs)",
    source=SOURCE,
    parameters=(SOURCES, MEAN, THINK, PHI),
    preconditions=(ENOUGH,),
    measures=queue(dict.fromkeys(("p0", "U", "X", "L", "Lq", "R", "Wq"))),
    recursion=_measures,
    laws=LAWS,
    stability=STABLE + " All terms of the sum are positive: nothing cancels.",
)

FAMILIES: Sequence[Formula] = (MG1N,)

"""One server and Poisson arrivals with work of any law, by its moments; priorities; processor sharing; infinitely many
servers; and approximations.

Sources: F. Pollaczek 1930 and A. Y. Khinchine 1932; L. Kleinrock, Queueing Systems I (1975), chapter 5, and II (1976),
chapters 3 and 4; A. Cobham, Oper. Res. 2 (1954) 70-76; T. E. Phipps, Oper. Res. 4 (1956) 76-85; J. F. C. Kingman,
Proc. Camb. Phil. Soc. 57 (1961) 902-904.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import COUNT, NON_NEGATIVE, Arguments, Domain, Parameter
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.quantities import queue
from serq.closedforms.single import BELOW_SATURATION, LAM, MU

MEAN = Parameter("m", s.m, "mean work", "time")
SECOND = Parameter("m2", s.m2, "second moment of the work (not its variance)", "time^2")
STABLE_MEAN = Precondition("a utilisation lam m below 1", lambda a: a.number("lam") * a.number("m") < 1)

_rho = s.lam * s.m


def _pollaczek(second: sympy.Expr) -> Mapping[str, sympy.Expr]:
    wait = s.lam * second / (2 * (1 - _rho))
    return {
        "p0": 1 - _rho,
        "U": _rho,
        "X": s.lam,
        "L": s.lam * wait + _rho,
        "Lq": s.lam * wait,
        "R": wait + s.m,
        "Wq": wait,
    }


def _case(name: str, title: str, second: sympy.Expr, *more: Parameter) -> Formula:
    return Formula(
        name=name,
        title=title,
        source="Pollaczek-Khinchine; Kleinrock 1975, section 5.6",
        parameters=(LAM, MEAN, *more),
        preconditions=(STABLE_MEAN,),
        measures=queue(_pollaczek(second)),
        stability=BELOW_SATURATION,
    )


MG1 = Formula(
    name="mg1",
    title="M/G/1: Poisson arrivals, work of any law, one server, first come first served (Pollaczek-Khinchine)",
    source="Pollaczek-Khinchine; Kleinrock 1975, section 5.6",
    parameters=(LAM, MEAN, SECOND),
    preconditions=(
        STABLE_MEAN,
        Precondition(
            "moments of a law: m2 at least the square of m",
            lambda a: a.number("m2") >= a.number("m") ** 2,
        ),
    ),
    measures=queue(_pollaczek(s.m2)),
    stability=BELOW_SATURATION,
)
MD1 = _case("md1", "M/D/1: constant work", s.m**2)
MEK1 = _case(
    "mek1",
    "M/E_k/1: Erlang work of k phases",
    s.m**2 * (1 + 1 / s.phases),
    Parameter("k", s.phases, "number of phases", domain=COUNT),
)
AT_LEAST_ONE = Domain("a number that is at least 1", lambda v: v >= 1)
MH21 = _case(
    "mh21",
    "M/H2/1: hyperexponential work, by its squared coefficient of variation",
    s.m**2 * (1 + s.cv2),
    Parameter("cv2", s.cv2, "squared coefficient of variation of the work", domain=AT_LEAST_ONE),
)

MG1PS = Formula(
    name="mg1ps",
    title="M/G/1-PS: Poisson arrivals, work of any law, the server shared equally",
    source="Kleinrock 1976, section 4.4; insensitivity: F. P. Kelly, Reversibility and Stochastic Networks, Wiley 1979",
    parameters=(LAM, MEAN),
    preconditions=(STABLE_MEAN,),
    measures=queue({"p0": 1 - _rho, "U": _rho, "X": s.lam, "L": _rho / (1 - _rho), "R": s.m / (1 - _rho)}),
    stability=BELOW_SATURATION + " The law of the work matters only through its mean.",
)

MGINF = Formula(
    name="mginf",
    title="M/G/inf: a delay with Poisson arrivals, every job alone",
    source="Kleinrock 1975, section 3.4; L. Takacs, Introduction to the Theory of Queues (1962), chapter 3",
    parameters=(LAM, MEAN),
    measures=queue({"p0": sympy.exp(-_rho), "X": s.lam, "L": _rho, "R": s.m}),
    numerical="20 digits, rounded once",
    stability="A steady state at every load; the law of the work matters only through its mean.",
)


def _by_class(a: Arguments) -> Values:
    rates, means, seconds = a.series("lam"), a.series("m"), a.series("m2")
    residual = sum(r * m2 for r, m2 in zip(rates, seconds, strict=True)) / 2
    above = list(accumulate((r * m for r, m in zip(rates, means, strict=True)), initial=0))
    waits = [residual / ((1 - before) * (1 - through)) for before, through in pairwise(above)]
    return {
        "U": above[-1],
        "Wq": waits,
        "R": [w + m for w, m in zip(waits, means, strict=True)],
        "Lq": [r * w for r, w in zip(rates, waits, strict=True)],
    }


def _classes_agree(a: Arguments) -> bool:
    return len(a.series("lam")) == len(a.series("m")) == len(a.series("m2"))


def _classes_fit(a: Arguments) -> bool:
    return not _classes_agree(a) or sum(r * m for r, m in zip(a.series("lam"), a.series("m"), strict=True)) < 1


PRIORITY = Formula(
    name="mg1-priority",
    title="M/G/1 with classes of priority, without preemption (Cobham); the most urgent class comes first",
    source="Cobham 1954; Kleinrock 1976, section 3.6",
    parameters=(
        Parameter("lam", s.lam, "arrival rate, by class", "1/time", shape="list"),
        Parameter("m", s.m, "mean work, by class", "time", shape="list"),
        Parameter("m2", s.m2, "second moment of the work, by class", "time^2", shape="list"),
    ),
    preconditions=(
        Precondition("the same number of classes in every list", _classes_agree),
        Precondition("a utilisation below 1", _classes_fit),
    ),
    measures=(
        *queue({"U": None}),
        Quantity("Wq", "mean time waiting, by class", "time"),
        Quantity("R", "mean sojourn time, by class", "time"),
        Quantity("Lq", "mean number waiting, by class"),
    ),
    recursion=_by_class,
    laws=(
        sympy.Eq(
            sympy.Symbol("W_j"),
            sympy.Symbol("W_0") / ((1 - sympy.Symbol(r"\sigma_{j-1}")) * (1 - sympy.Symbol(r"\sigma_j"))),
        ),
    ),
    stability=BELOW_SATURATION,
)


_below = s.lam / s.mu * (1 - sympy.exp(-s.mu * s.x) * (1 + s.mu * s.x))
_density = s.mu * sympy.exp(-s.mu * s.x)
SHORTEST_FIRST = sympy.Integral(s.lam / s.mu**2 / (1 - _below) ** 2 * _density, (s.x, 0, sympy.oo))
"""The wait of Phipps: a job of work x waits for what is shorter, and `_below` is the load of work up to x."""


def _sjf(a: Arguments) -> Values:
    places = {
        symbol: sympy.Rational(*a.number(name).as_integer_ratio()) for name, symbol in (("lam", s.lam), ("mu", s.mu))
    }
    wait = float(SHORTEST_FIRST.subs(places).evalf(20))
    return {"Wq": wait, "R": wait + float(1 / a.number("mu"))}


MM1_SJF = Formula(
    name="mm1-sjf",
    title="M/M/1 served shortest job first, without preemption",
    source="Phipps 1956; Kleinrock 1976, section 3.6",
    parameters=(LAM, MU),
    preconditions=(Precondition("a utilisation lam / mu below 1", lambda a: a.number("lam") < a.number("mu")),),
    measures=queue({"Wq": SHORTEST_FIRST, "R": SHORTEST_FIRST + 1 / s.mu}),
    recursion=_sjf,
    numerical="numerical quadrature to 20 digits",
    stability=BELOW_SATURATION,
)

KINGMAN = Formula(
    name="kingman",
    title="Kingman's approximation for G/G/1",
    source="Kingman 1961",
    parameters=(
        LAM,
        MEAN,
        Parameter("ca2", s.ca2, "squared coefficient of variation of the gaps", domain=NON_NEGATIVE),
        Parameter("cs2", s.cs2, "squared coefficient of variation of the work", domain=NON_NEGATIVE),
    ),
    preconditions=(STABLE_MEAN,),
    measures=queue({"Wq": _rho / (1 - _rho) * (s.ca2 + s.cs2) / 2 * s.m}),
    stability=BELOW_SATURATION,
    kind="approximation",
)

FAMILIES: Sequence[Formula] = (MG1, MD1, MEK1, MH21, MG1PS, MGINF, PRIORITY, MM1_SJF, KINGMAN)

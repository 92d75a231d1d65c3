"""What one event costs everybody that makes a job longer once, such as a miss in place of a hit.

All are derivatives in the probability that a job has the other law, per event: in an open queue by Pollaczek and
Khinchine, under processor sharing by insensitivity, with finitely many sources by Takacs. They are prices for equal
time: the difference of the time that all sessions together spend at the station.
"""

from collections.abc import Sequence

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import Arguments, Parameter
from serq.closedforms.finite_source import SOURCES, STABLE, THINK
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.mg1 import MEAN, SECOND, STABLE_MEAN
from serq.closedforms.price import station
from serq.closedforms.single import BELOW_SATURATION, LAM
from serq.closedforms.takacs import LAWS, PHI, TRANSFORM, enough, series, throughput

_hit, _miss, _hit2, _miss2 = (sympy.Symbol(t, positive=True) for t in ("s_h", "s_m", "s_h2", "s_m2"))
HIT = Parameter("sh", _hit, "mean work of the job as it is", "time")
MISS = Parameter("sm", _miss, "mean work of the job after the event", "time")
HIT2 = Parameter("sh2", _hit2, "second moment of the work as it is", "time^2")
MISS2 = Parameter("sm2", _miss2, "second moment of the work after the event", "time^2")
_PRICE = "extra session-time at the station, all sessions together"

_more, _rho = _miss - _hit, s.lam * s.m
_wait = s.lam * s.m2 / (2 * (1 - _rho))
_open = _more + s.lam * (_miss2 - _hit2) / (2 * (1 - _rho)) + s.lam * _wait * _more / (1 - _rho)

OPEN = Formula(
    name="mg1-miss",
    title="The price of one miss in M/G/1: what a longer job costs everybody in an open queue",
    source="derivative of Pollaczek-Khinchine; Kleinrock 1975, section 5.6",
    parameters=(LAM, MEAN, SECOND, HIT, MISS, HIT2, MISS2),
    preconditions=(STABLE_MEAN,),
    measures=(
        Quantity("price", _PRICE, "time", _open),
        Quantity("own", "the part that the job itself spends longer in service", "time", _more),
    ),
    stability=BELOW_SATURATION,
)

SHARED = Formula(
    name="mg1ps-miss",
    title="The price of one miss in M/G/1-PS: what a longer job costs everybody who shares the server",
    source="derivative of rho / (1 - rho); Kleinrock 1976, section 4.4",
    parameters=(LAM, MEAN, HIT, MISS),
    preconditions=(STABLE_MEAN,),
    measures=(Quantity("price", _PRICE, "time", _more / (1 - _rho) ** 2),),
    stability=BELOW_SATURATION,
)


def _finite(a: Arguments) -> Values:
    sources, mean, think = a.whole("N"), a.number("m"), a.number("Z")
    phi, hit, miss = (a.series(name)[: sources - 1] for name in ("phi", "phih", "phim"))
    longer = a.number("sm") - a.number("sh")
    total, change = series(phi, [x - y for x, y in zip(miss, hit, strict=True)], sources)
    through = throughput(total, mean, sources, think)
    idle = think / sources
    slower = (change * idle - total * total * longer) / (mean * total + idle) ** 2
    price = -think * slower / through
    return {"price": price, "turn": price * sources / through / think}


FINITE = Formula(
    name="mg1n-miss",
    title="The price of one miss in M/G/1//N: what a longer job costs N sources (Takacs)",
    source="derivative of Takacs 1962, chapter 5",
    parameters=(
        SOURCES,
        MEAN,
        THINK,
        PHI,
        HIT,
        MISS,
        Parameter("phih", sympy.Symbol("phi_h"), "phi of the work as it is", "", TRANSFORM, "list"),
        Parameter("phim", sympy.Symbol("phi_m"), "phi of the work after the event", "", TRANSFORM, "list"),
    ),
    preconditions=(
        Precondition("N - 1 values of phi, phih and phim at least", lambda a: enough(a, "phi", "phih", "phim")),
    ),
    measures=(
        Quantity("price", _PRICE, "time"),
        Quantity("turn", "what the mean response rises by per unit of the event's probability in a turn", "time"),
    ),
    recursion=_finite,
    laws=LAWS,
    stability=STABLE,
)


def _exponential(a: Arguments) -> Values:
    sources, mean, think = a.whole("N"), a.number("m"), a.number("Z")
    now, fewer = station(sources, 1 / mean, think), station(sources - 1, 1 / mean, think)
    price = (a.number("sm") - a.number("sh")) * think / mean * (now["L"] - fewer["L"])
    return {"price": price, "turn": price * sources / now["X"] / think}


_number, _fewer = sympy.Symbol("L_N"), sympy.Symbol("L_{N-1}")
EXPONENTIAL = Formula(
    name="mm1n-miss",
    title="The price of one slightly longer job in M/M/1//N",
    source="the marginal price, dL / dm = X Z (L_N - L_{N-1}) / m, per job",
    parameters=(SOURCES, MEAN, THINK, HIT, MISS),
    measures=(
        Quantity("price", _PRICE, "time"),
        Quantity("turn", "what the mean response rises by per unit of the event's probability in a turn", "time"),
    ),
    recursion=_exponential,
    laws=(sympy.Eq(sympy.Symbol("price"), _more * s.Z / s.m * (_number - _fewer)),),
    stability=STABLE,
)

_present = sympy.Symbol("L", positive=True)

CAP = Formula(
    name="price-cap",
    title="The most that anything can cost N sources: no policy changes the mean number at the station by more",
    source="the number at the station is at most N",
    parameters=(SOURCES, Parameter("L", _present, "mean number at the station now")),
    preconditions=(Precondition("L at most N", lambda a: a.number("L") <= a.whole("N")),),
    measures=(Quantity("cap", "the most by which the mean number at the station can rise", "", s.N - _present),),
    stability=STABLE,
    kind="bound",
)

FAMILIES: Sequence[Formula] = (OPEN, SHARED, FINITE, EXPONENTIAL, CAP)

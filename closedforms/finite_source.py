"""A finite number of sources: M/M/1//N, M/M/c//N, and with loss M/M/c/K//N and Engset.

Each of N sources thinks for a mean time Z and then asks for work of mean 1 / mu at a station of c servers. Think times
may have any law (the delay is insensitive); the work must be exponential unless nobody ever waits.

Sources: Kleinrock 1975, sections 3.8 to 3.10; M. Reiser and S. S. Lavenberg, J. ACM 27 (1980) 313-322 (mean value
analysis); T. O. Engset 1918, and Bolch et al. 2006, section 6.5.
"""

from collections.abc import Sequence

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import COUNT, Arguments, Parameter, Real
from serq.closedforms.birthdeath import Distribution, queue_measures, stationary
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.quantities import queue
from serq.closedforms.single import MU, ROOM, SERVERS

SOURCES = Parameter("N", s.N, "number of sources", domain=COUNT)
THINK = Parameter("Z", s.Z, "mean think time", "time")

STABLE = "A finite population has a steady state at every load."


def finite_source(sources: int, servers: int, room: int, mu: Real, think: Real) -> Distribution:
    """The distribution of the number at the station: births (N - n) / Z, deaths min(n, c) mu, at most `room`."""
    most = min(sources, room)
    births = [(sources - n) / think for n in range(most)]
    return stationary(births, [mu * min(n, servers) for n in range(1, most + 1)])


def _waiting_station(a: Arguments, servers: int) -> Values:
    sources = a.whole("N")
    distribution = finite_source(sources, servers, sources, a.number("mu"), a.number("Z"))
    return {**queue_measures(distribution, servers, a.number("mu")), "pN": distribution[sources]}


def _full_population(weight: sympy.Expr, servers: sympy.Expr | int) -> tuple[Quantity, ...]:
    """Measures of a station without loss, from the weight of n jobs present."""
    total = sympy.Sum(weight, (s.n, 0, s.N))
    number = sympy.Sum(s.n * weight, (s.n, 0, s.N)) / total
    through = (s.N - number) / s.Z
    waiting = number - through / s.mu
    measures = queue(
        {
            "p0": 1 / total,
            "U": through / (servers * s.mu),
            "X": through,
            "L": number,
            "Lq": waiting,
            "R": s.N / through - s.Z,
            "Wq": waiting / through,
        }
    )
    full = weight.subs(s.n, s.N) / total
    return (*measures, Quantity("pN", "probability that every source is at the station", "", full))


_chosen = sympy.factorial(s.N) / sympy.factorial(s.N - s.n)
_one = _chosen / (s.mu * s.Z) ** s.n
_many = _chosen / (s.mu * s.Z) ** s.n / (sympy.factorial(sympy.Min(s.n, s.c)) * s.c ** sympy.Max(s.n - s.c, 0))

_mean = sympy.Function("L")
MEAN_VALUE_ANALYSIS = sympy.Eq(_mean(s.n + 1), (s.n + 1) * (1 + _mean(s.n)) / (s.mu * s.Z + 1 + _mean(s.n)))
"""L(0) = 0 and this give L(N) of M/M/1//N: an arriving job sees the station with one source less."""

MM1N = Formula(
    name="mm1n",
    title="M/M/1//N: N sources, one server",
    source="Kleinrock 1975, section 3.8; Reiser and Lavenberg 1980 for the recursion",
    parameters=(SOURCES, MU, THINK),
    measures=_full_population(_one, 1),
    recursion=lambda a: _waiting_station(a, 1),
    laws=(MEAN_VALUE_ANALYSIS,),
    stability=STABLE,
)

MMCN = Formula(
    name="mmcn",
    title="M/M/c//N: N sources, c servers (the machine repairman)",
    source="Kleinrock 1975, section 3.9; Bolch et al. 2006, section 6.5",
    parameters=(SOURCES, SERVERS, MU, THINK),
    measures=_full_population(_many, s.c),
    recursion=lambda a: _waiting_station(a, a.whole("c")),
    stability=STABLE,
)


def _with_loss(a: Arguments) -> Values:
    sources, servers, room, mu, think = a.whole("N"), a.whole("c"), a.whole("K"), a.number("mu"), a.number("Z")
    distribution = finite_source(sources, servers, room, mu, think)
    measures = queue_measures(distribution, servers, mu)
    full = distribution[room] if room <= sources else 0
    asked = (sources - measures["L"]) / think
    return {**measures, "time_congestion": full, "call_congestion": 1 - measures["X"] / asked, "requests": asked}


_CONGESTION = (
    Quantity("time_congestion", "fraction of time in which an arrival would be lost"),
    Quantity("call_congestion", "probability that an arrival is lost: the full station as N - 1 sources see it"),
)


def _loss_expressions() -> tuple[Quantity, ...]:
    total = sympy.Sum(_many, (s.n, 0, s.K))
    number = sympy.Sum(s.n * _many, (s.n, 0, s.K)) / total
    full = _many.subs(s.n, s.K) / total
    asked = (s.N - number) / s.Z
    through = asked - (s.N - s.K) * full / s.Z
    waiting = number - through / s.mu
    measures = queue(
        {
            "p0": 1 / total,
            "U": through / (s.c * s.mu),
            "X": through,
            "L": number,
            "Lq": waiting,
            "R": number / through,
            "Wq": waiting / through,
        }
    )
    congestion = (full, (s.N - s.K) * full / s.Z / asked)
    return (
        *measures,
        *(Quantity(q.name, q.meaning, q.unit, e) for q, e in zip(_CONGESTION, congestion, strict=True)),
        Quantity("requests", "arrivals per unit of time, lost ones included", "1/time", asked),
    )


MMCKN = Formula(
    name="mmckn",
    title="M/M/c/K//N: N sources, c servers, room for K, a source that finds no room goes on thinking",
    source="Bolch et al. 2006, section 6.5; Engset's model at K = c",
    parameters=(SOURCES, SERVERS, ROOM, MU, THINK),
    preconditions=(
        Precondition("room for a job at every server, K >= c", lambda a: a.whole("K") >= a.whole("c")),
        Precondition("no more room than sources, K <= N", lambda a: a.whole("K") <= a.whole("N")),
    ),
    measures=_loss_expressions(),
    recursion=_with_loss,
    stability=STABLE + " At K = c the law of the work matters only through its mean.",
)


def _engset(a: Arguments) -> Values:
    sources, servers, load = a.whole("N"), a.whole("c"), a.number("alpha")
    distribution = finite_source(sources, servers, servers, 1, 1 / load)
    carried = distribution.mean()
    free = (sources - carried) * load
    return {"time_congestion": distribution[servers], "call_congestion": 1 - carried / free, "carried": carried}


def _engset_expressions() -> tuple[Quantity, ...]:
    weight = sympy.binomial(s.N, s.n) * s.alpha**s.n
    total = sympy.Sum(weight, (s.n, 0, s.c))
    seen = sympy.binomial(s.N - 1, s.n) * s.alpha**s.n
    carried = sympy.Sum(s.n * weight, (s.n, 0, s.c)) / total
    time, call = _CONGESTION
    return (
        Quantity(time.name, time.meaning, "", weight.subs(s.n, s.c) / total),
        Quantity(call.name, call.meaning, "", seen.subs(s.n, s.c) / sympy.Sum(seen, (s.n, 0, s.c))),
        Quantity("carried", "mean number of busy servers", "", carried),
    )


ENGSET = Formula(
    name="engset",
    title="Engset: N sources, c servers, no waiting room",
    source="T. O. Engset 1918; Bolch et al. 2006, section 6.5",
    parameters=(
        SOURCES,
        SERVERS,
        Parameter("alpha", s.alpha, "load of one free source: mean work / mean think time"),
    ),
    preconditions=(Precondition("no more servers than sources, c <= N", lambda a: a.whole("c") <= a.whole("N")),),
    measures=_engset_expressions(),
    recursion=_engset,
    stability=STABLE + " The laws of work and think time matter only through their means.",
)

FAMILIES: Sequence[Formula] = (MM1N, MMCN, MMCKN, ENGSET)

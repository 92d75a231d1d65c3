"""One queue with Poisson arrivals and exponential work: M/M/1, M/M/c, M/M/1/K, M/M/c/K, Erlang B and C.

Sources: L. Kleinrock, Queueing Systems I (Wiley 1975), chapter 3; G. Bolch, S. Greiner, H. de Meer, K. S. Trivedi,
Queueing Networks and Markov Chains, 2nd ed. (Wiley 2006), chapter 6.
"""

from collections.abc import Sequence
from fractions import Fraction

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import COUNT, PROBABILITY, Arguments, Parameter, Real
from serq.closedforms.birthdeath import queue_measures, stationary
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.quantities import queue

LAM = Parameter("lam", s.lam, "arrival rate", "1/time")
MU = Parameter("mu", s.mu, "rate of one server", "1/time")
SERVERS = Parameter("c", s.c, "number of servers", domain=COUNT)
ROOM = Parameter("K", s.K, "largest number of jobs present, in service or waiting", domain=COUNT)
OFFERED = Parameter("a", s.offered, "offered load: arrival rate times mean work, in erlangs")

BELOW_SATURATION = "Without it the queue grows without bound and there is no steady state."
ALWAYS_STABLE = "At most K jobs are present: there is a steady state at every load."

_rho = s.lam / s.mu

MM1 = Formula(
    name="mm1",
    title="M/M/1: Poisson arrivals, exponential work, one server",
    source="Kleinrock 1975, section 3.2",
    parameters=(LAM, MU),
    preconditions=(Precondition("a utilisation lam / mu below 1", lambda a: a.number("lam") < a.number("mu")),),
    measures=queue(
        {
            "p0": 1 - _rho,
            "U": _rho,
            "X": s.lam,
            "L": _rho / (1 - _rho),
            "Lq": _rho**2 / (1 - _rho),
            "R": 1 / (s.mu - s.lam),
            "Wq": _rho / (s.mu - s.lam),
        }
    ),
    stability=BELOW_SATURATION,
)


def erlang_b(offered: Real, servers: int) -> Real:
    """The probability that all servers are busy, by the recursion B_n = a B_{n-1} / (n + a B_{n-1})."""
    blocked: Real = 1
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return blocked


def _mmc(a: Arguments) -> Values:
    lam, mu, servers = a.number("lam"), a.number("mu"), a.whole("c")
    load = lam / mu
    use = load / servers
    lost = erlang_b(load, servers)
    wait = lost / (1 - use * (1 - lost))
    waiting = wait * use / (1 - use)
    return {
        "p0": empty_mmc(load, servers),
        "U": use,
        "X": lam,
        "Pw": wait,
        "L": waiting + load,
        "Lq": waiting,
        "R": waiting / lam + 1 / mu,
        "Wq": waiting / lam,
    }


def empty_mmc(load: Real, servers: int) -> Real:
    """The probability that an M/M/c queue is empty."""
    term: Real = 1
    total: Real = 0
    for n in range(servers):
        total += term
        term = term * load / (n + 1)
    return 1 / (total + term * servers / (servers - load))


_a = s.lam / s.mu
_use = _a / s.c
_top = _a**s.c / (sympy.factorial(s.c) * (1 - _use))
_pwait = _top / (sympy.Sum(_a**s.n / sympy.factorial(s.n), (s.n, 0, s.c - 1)) + _top)
_WAITS = Quantity("Pw", "probability that a job waits (Erlang C)", "", _pwait)

MMC = Formula(
    name="mmc",
    title="M/M/c: Poisson arrivals, exponential work, c servers",
    source="Kleinrock 1975, section 3.5; Bolch et al. 2006, section 6.5",
    parameters=(LAM, MU, SERVERS),
    preconditions=(
        Precondition("a utilisation lam / (c mu) below 1", lambda a: a.number("lam") < a.number("mu") * a.whole("c")),
    ),
    measures=(
        *queue({"p0": _pwait / _top, "U": _use, "X": s.lam}),
        _WAITS,
        *queue(
            {
                "L": _pwait * _use / (1 - _use) + _a,
                "Lq": _pwait * _use / (1 - _use),
                "R": _pwait / (s.c * s.mu - s.lam) + 1 / s.mu,
                "Wq": _pwait / (s.c * s.mu - s.lam),
            }
        ),
    ),
    recursion=_mmc,
    stability=BELOW_SATURATION,
)


def _limited(a: Arguments, servers: int) -> Values:
    lam, mu, room = a.number("lam"), a.number("mu"), a.whole("K")
    distribution = stationary([lam] * room, [mu * min(n, servers) for n in range(1, room + 1)])
    lost = distribution[room]
    return {**queue_measures(distribution, servers, mu), "pK": lost, "losses": lam * lost}


def _finite(weight: sympy.Expr, servers: sympy.Expr | int) -> dict[str, sympy.Expr]:
    """Expressions of a queue with room for K, from the weight of n jobs."""
    total = sympy.Sum(weight, (s.n, 0, s.K))
    p0, full = 1 / total, weight.subs(s.n, s.K) / total
    through = s.lam * (1 - full)
    number = sympy.Sum(s.n * weight, (s.n, 0, s.K)) / total
    waiting = number - through / s.mu
    return {
        "p0": p0,
        "U": through / (servers * s.mu),
        "X": through,
        "L": number,
        "Lq": waiting,
        "R": number / through,
        "Wq": waiting / through,
        "pK": full,
        "losses": s.lam * full,
    }


_LOSSES: dict[str, tuple[str, str]] = {
    "pK": ("probability that an arrival is lost", ""),
    "losses": ("lost arrivals per unit of time", "1/time"),
}


def _loss_measures(expressions: dict[str, sympy.Expr]) -> tuple[Quantity, ...]:
    own = tuple(Quantity(name, *text, expressions[name]) for name, text in _LOSSES.items())
    return queue({k: v for k, v in expressions.items() if k not in _LOSSES}) + own


MM1K = Formula(
    name="mm1k",
    title="M/M/1/K: one server, room for K jobs, the others are lost",
    source="Kleinrock 1975, section 3.6; Bolch et al. 2006, section 6.2",
    parameters=(LAM, MU, ROOM),
    measures=_loss_measures(_finite(_rho**s.n, 1)),
    recursion=lambda a: _limited(a, 1),
    stability=ALWAYS_STABLE,
)

_weight = _a**s.n / (sympy.factorial(sympy.Min(s.n, s.c)) * s.c ** sympy.Max(s.n - s.c, 0))

MMCK = Formula(
    name="mmck",
    title="M/M/c/K: c servers, room for K >= c jobs, the others are lost; Erlang's loss system at K = c",
    source="Kleinrock 1975, sections 3.7 and 3.8; Bolch et al. 2006, section 6.5",
    parameters=(LAM, MU, SERVERS, ROOM),
    preconditions=(Precondition("room for a job at every server, K >= c", lambda a: a.whole("K") >= a.whole("c")),),
    measures=_loss_measures(_finite(_weight, s.c)),
    recursion=lambda a: _limited(a, a.whole("c")),
    stability=ALWAYS_STABLE + " At K = c the law of the work matters only through its mean.",
)

_blocking = (s.offered**s.c / sympy.factorial(s.c)) / sympy.Sum(s.offered**s.n / sympy.factorial(s.n), (s.n, 0, s.c))


def _erlang_b(a: Arguments) -> Values:
    load, servers = a.number("a"), a.whole("c")
    lost = erlang_b(load, servers)
    return {"B": lost, "carried": load * (1 - lost), "U": load * (1 - lost) / servers}


ERLANG_B = Formula(
    name="erlang-b",
    title="Erlang B: a loss system of c servers",
    source="A. K. Erlang 1917; Kleinrock 1975, section 3.7",
    parameters=(OFFERED, SERVERS),
    measures=(
        Quantity("B", "probability that an arrival is lost", "", _blocking),
        Quantity("carried", "mean number of busy servers", "", s.offered * (1 - _blocking)),
        *queue({"U": s.offered * (1 - _blocking) / s.c}),
    ),
    recursion=_erlang_b,
    stability="A steady state at every load; the law of the work matters only through its mean.",
)


def _erlang_c(a: Arguments) -> Values:
    load, servers = a.number("a"), a.whole("c")
    lost = erlang_b(load, servers)
    use = load / servers
    wait = lost / (1 - use * (1 - lost))
    return {"Pw": wait, "Lq": wait * use / (1 - use), "U": use}


ERLANG_C = Formula(
    name="erlang-c",
    title="Erlang C: the probability of waiting at c servers",
    source="A. K. Erlang 1917; Kleinrock 1975, section 3.5",
    parameters=(OFFERED, SERVERS),
    preconditions=(
        Precondition("an offered load below the number of servers", lambda a: a.number("a") < a.whole("c")),
    ),
    measures=(
        Quantity("Pw", "probability that a job waits", "", _pwait.subs(s.lam, s.offered * s.mu)),
        *queue(
            {
                "Lq": (_pwait * _use / (1 - _use)).subs(s.lam, s.offered * s.mu),
                "U": s.offered / s.c,
            }
        ),
    ),
    recursion=_erlang_c,
    stability=BELOW_SATURATION,
)

BISECTIONS = 60


def _offered(a: Arguments) -> Values:
    target, servers = Fraction(a.number("B")), a.whole("c")
    low, high = 0.0, 1.0
    while erlang_b(high, servers) < target:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if erlang_b(middle, servers) < target else (low, middle)
    return {"a": high}


ERLANG_B_OFFERED = Formula(
    name="erlang-b-offered",
    title="Erlang B solved for the load: the traffic that c servers carry at a given loss",
    source="A. K. Erlang 1917; the table in every book on teletraffic",
    parameters=(Parameter("B", sympy.Symbol("B", positive=True), "probability of loss", domain=PROBABILITY), SERVERS),
    preconditions=(
        Precondition("a loss strictly between 0 and 1", lambda a: 0 < a.number("B") < 1),
        Precondition("at most 10000 servers", lambda a: a.whole("c") <= 10_000),
    ),
    measures=(Quantity("a", "offered load in erlangs"),),
    recursion=_offered,
    numerical="bisection to the last bits of a double",
    stability="A loss system has a steady state at every load.",
)

FAMILIES: Sequence[Formula] = (MM1, MMC, MM1K, MMCK, ERLANG_B, ERLANG_C, ERLANG_B_OFFERED)

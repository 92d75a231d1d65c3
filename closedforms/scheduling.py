"""One server that does not serve in order of arrival: shortest remaining work first, and sharing among a few.

Sources: L. E. Schrage and L. W. Miller, Oper. Res. 14 (1966) 670-684 (shortest remaining processing time); B.
Avi-Itzhak and S. Halfin, Proc. ITC 12 (1988) (processor sharing with a limited number of service positions).
"""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import Arguments, Parameter
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.quantities import queue
from serq.closedforms.single import BELOW_SATURATION, LAM, MU


def _load(x: sympy.Expr) -> sympy.Expr:
    """The load of the jobs of work up to x."""
    return s.lam / s.mu * (1 - sympy.exp(-s.mu * x) * (1 + s.mu * x))


_density, _tail = s.mu * sympy.exp(-s.mu * s.x), sympy.exp(-s.mu * s.x)
_square = (2 - _tail * (2 + 2 * s.mu * s.x + (s.mu * s.x) ** 2)) / s.mu**2
_waits = s.lam * (_square + s.x**2 * _tail) / (2 * (1 - _load(s.x)) ** 2) * _density
WAIT = sympy.Integral(_waits, (s.x, 0, sympy.oo))
"""Until a job is first served, which is of work x: it waits for what has less left than x."""
SERVED = sympy.Integral(_tail / (1 - _load(s.x)), (s.x, 0, sympy.oo))
"""From then on, with what is interrupted: work t is left with probability P(work > t), and goes at 1 - load(t)."""


def _srpt(a: Arguments) -> Values:
    places = {
        symbol: sympy.Rational(*a.number(name).as_integer_ratio()) for name, symbol in (("lam", s.lam), ("mu", s.mu))
    }
    wait, served = (float(part.subs(places).evalf(20)) for part in (WAIT, SERVED))
    return {"Wq": wait, "R": wait + served, "L": float(a.number("lam")) * (wait + served)}


SRPT = Formula(
    name="mm1-srpt",
    title="M/M/1 served shortest remaining work first, with preemption (Schrage and Miller)",
    source="Schrage and Miller 1966; Kleinrock 1976, section 3.6",
    parameters=(LAM, MU),
    preconditions=(Precondition("a utilisation lam / mu below 1", lambda a: a.number("lam") < a.number("mu")),),
    measures=queue({"Wq": WAIT, "R": WAIT + SERVED, "L": s.lam * (WAIT + SERVED)}),
    recursion=_srpt,
    numerical="numerical quadrature to 20 digits",
    stability=BELOW_SATURATION,
)


def _limited(a: Arguments) -> Values:
    rate, speeds = a.number("lam"), a.series("rates")
    most, load = len(speeds), rate / speeds[-1]
    weights = list(accumulate([1, *(rate / speed for speed in speeds)], mul))
    full, many = weights[-1], weights[:-1]
    total = sum(many) + full / (1 - load)
    waiting = full * load / (1 - load) ** 2 / total
    number = (sum(n * w for n, w in enumerate(many)) + most * full / (1 - load)) / total + waiting
    return {
        "p0": 1 / total,
        "U": 1 - 1 / total,
        "X": rate,
        "L": number,
        "Lq": waiting,
        "R": number / rate,
        "Wq": waiting / rate,
    }


LIMITED = Formula(
    name="mm1-lps",
    title="Limited processor sharing: at most B jobs share the server, the others wait in order of arrival",
    source="birth-death chain; Avi-Itzhak and Halfin 1988",
    parameters=(
        LAM,
        Parameter(
            "rates", sympy.Symbol("r"), "jobs done per unit of time while 1, 2, ..., B are served", "1/time",
            shape="list",
        ),
    ),
    preconditions=(
        Precondition("a load below 1 when all places are taken", lambda a: a.number("lam") < a.series("rates")[-1]),
    ),
    measures=(
        *queue({"p0": None}),
        Quantity("U", "fraction of time in which the server works"),
        *queue(dict.fromkeys(("X", "L", "Lq", "R", "Wq"))),
    ),
    recursion=_limited,
    stability=BELOW_SATURATION + " The work is exponential.",
)  # fmt: skip

FAMILIES: Sequence[Formula] = (SRPT, LIMITED)

"""What longer work costs a finite population: the finite-source price and its marginal form.

The price of making every job longer is the growth of the mean number at the station, L_N(Z / s1) - L_N(Z / s0), where
L_N is that of M/M/1//N as a function of the think time in units of the mean work. The marginal identities follow from
dL / d ln m = Var(number at the station) and L_N - L_{N-1} = Var / (Z X), both of which are facts of the product form.
"""

from collections.abc import Sequence

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import Arguments, Parameter, Real
from serq.closedforms.birthdeath import queue_measures
from serq.closedforms.finite_source import MEAN_VALUE_ANALYSIS, SOURCES, STABLE, THINK, finite_source
from serq.closedforms.formula import Formula, Quantity, Values
from serq.closedforms.single import MU

SOURCE = "Reiser and Lavenberg, J. ACM 27 (1980) 313-322, for L_N; the price is the difference of two of them"


def station(sources: int, mu: Real, think: Real) -> dict[str, Real]:
    """The measures of M/M/1//N; zero sources are an empty station."""
    if sources == 0:
        return {"L": 0 * mu, "X": 0 * mu}
    return queue_measures(finite_source(sources, 1, sources, mu, think), 1, mu)


def _price(a: Arguments) -> Values:
    sources, think = a.whole("N"), a.number("Z")
    before, after = (station(sources, 1 / a.number(name), think) for name in ("s0", "s1"))
    return {
        "price": after["L"] - before["L"],
        "lost": before["X"] - after["X"],
        "slower": after["R"] - before["R"],
        "L0": before["L"],
        "L1": after["L"],
    }


def _at(work: sympy.Symbol) -> sympy.Expr:
    weight = sympy.factorial(s.N) / sympy.factorial(s.N - s.n) * (work / s.Z) ** s.n
    return sympy.Sum(s.n * weight, (s.n, 0, s.N)) / sympy.Sum(weight, (s.n, 0, s.N))


def _differences() -> dict[str, sympy.Expr]:
    before, after = _at(s.s0), _at(s.s1)
    through = [(s.N - number) / s.Z for number in (before, after)]
    return {
        "price": after - before,
        "lost": through[0] - through[1],
        "slower": s.N / through[1] - s.N / through[0],
        "L0": before,
        "L1": after,
    }


_TEXTS = {
    "price": ("how many more sources are at the station, on average", ""),
    "lost": ("how many fewer jobs are served per unit of time: price / Z", "1/time"),
    "slower": ("how much longer the mean response is", "time"),
    "L0": ("mean number at the station before", ""),
    "L1": ("mean number at the station after", ""),
}

PRICE = Formula(
    name="price",
    title="The finite-source price: N sources at one server, mean work s0 becomes s1",
    source=SOURCE,
    parameters=(
        SOURCES,
        THINK,
        Parameter("s0", s.s0, "mean work before", "time"),
        Parameter("s1", s.s1, "mean work after", "time"),
    ),
    measures=tuple(Quantity(name, *_TEXTS[name], e) for name, e in _differences().items()),
    recursion=_price,
    laws=(MEAN_VALUE_ANALYSIS,),
    stability=STABLE,
)


def _marginal(a: Arguments) -> Values:
    sources, mu, think = a.whole("N"), a.number("mu"), a.number("Z")
    now, fewer = station(sources, mu, think), station(sources - 1, mu, think)
    step = now["L"] - fewer["L"]
    return {
        "step": step,
        "dL": think * now["X"] * step,
        "dX": -now["X"] * step,
        "dR": (now["R"] + think) * step,
    }


_number, _fewer, _through, _response = (sympy.Symbol(t) for t in ("L_N", "L_{N-1}", "X_N", "R_N"))
_step = _number - _fewer

MARGINAL_PRICE = Formula(
    name="marginal-price",
    title="The marginal price: derivatives of M/M/1//N by the logarithm of the mean work",
    source=SOURCE,
    parameters=(SOURCES, MU, THINK),
    measures=(
        Quantity("step", "what one more source adds to the mean number at the station: L_N - L_{N-1}"),
        Quantity("dL", "dL / d ln m: the variance of the number at the station"),
        Quantity("dX", "dX / d ln m", "1/time"),
        Quantity("dR", "dR / d ln m", "time"),
    ),
    recursion=_marginal,
    laws=(
        sympy.Eq(sympy.Symbol(r"\frac{dL}{d\ln m}"), s.Z * _through * _step),
        sympy.Eq(sympy.Symbol(r"\frac{dX}{d\ln m}"), -_through * _step),
        sympy.Eq(sympy.Symbol(r"\frac{dR}{d\ln m}"), (_response + s.Z) * _step),
        MEAN_VALUE_ANALYSIS,
    ),
    stability=STABLE,
)

FAMILIES: Sequence[Formula] = (PRICE, MARGINAL_PRICE)

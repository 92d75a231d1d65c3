"""Every family: expression against recursion, and both against the balance equations of the chain."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy

from serq.closedforms.formula import evaluate_formula
from serq.closedforms.registry import FAMILIES, describe, evaluate, find, read_arguments, to_latex

F = Fraction
NAMES = [f.name for f in FAMILIES]

EXAMPLES = {
    "mm1": ["lam=1/2 mu=3/4", "lam=0.99 mu=1"],
    "mmc": ["lam=9 mu=5 c=2", "lam=1/3 mu=1 c=1", "lam=7/2 mu=1 c=5"],
    "mm1k": ["lam=1 mu=1 K=10", "lam=3 mu=2 K=1", "lam=2/3 mu=7/5 K=4"],
    "mmck": ["lam=50 mu=37 c=2 K=7", "lam=2 mu=1 c=3 K=3", "lam=2 mu=3 c=1 K=2"],
    "erlang-b": ["a=8.108 c=15", "a=1/3 c=1"],
    "erlang-c": ["a=10 c=14", "a=1/2 c=1"],
    "mm1n": ["N=1 mu=2 Z=3", "N=7 mu=5/3 Z=1/2"],
    "mmcn": ["N=5 c=2 mu=1 Z=4", "N=3 c=5 mu=2/3 Z=1"],
    "mmckn": ["N=6 c=2 K=4 mu=1 Z=3", "N=4 c=2 K=2 mu=3/2 Z=1", "N=3 c=1 K=3 mu=1 Z=2"],
    "engset": ["N=3 c=2 alpha=5/7", "N=6 c=6 alpha=2", "N=5 c=1 alpha=1/9"],
    "price": ["N=3 Z=4 s0=1 s1=3/2", "N=1 Z=1 s0=2 s1=1"],
    "asymptotic-bounds": ["N=20 D=9.2,8 Z=120"],
}


def arguments(name: str, text: str) -> dict[str, Any]:
    return read_arguments(name, dict(pair.split("=") for pair in text.split()))


CASES = [(name, text) for name, texts in EXAMPLES.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, t in CASES if find(n).recursion and n != "asymptotic-bounds"])
def test_the_expressions_are_the_recursion(name: str, text: str) -> None:
    formula = find(name)
    written = replace(formula, measures=tuple(q for q in formula.measures if q.expression is not None))
    symbolic = evaluate_formula(replace(written, recursion=None), arguments(name, text)).values
    computed = evaluate_formula(formula, arguments(name, text)).values
    assert len(symbolic) >= 3
    assert symbolic == {k: computed[k] for k in symbolic}


@pytest.mark.parametrize("name", NAMES)
def test_every_family_is_complete(name: str) -> None:
    formula = find(name)
    assert NAMES.count(name) == 1
    assert formula.title
    assert formula.source
    assert formula.stability
    assert formula.parameters
    assert formula.recursion is not None or all(q.expression is not None for q in formula.measures)
    letters = {p.symbol for p in formula.parameters}
    for quantity in formula.measures:
        assert quantity.meaning
        if quantity.expression is not None and formula.kind != "bound":
            assert quantity.expression.free_symbols <= letters, quantity.name


@pytest.mark.parametrize("name", NAMES)
def test_a_description_names_everything(name: str) -> None:
    formula = find(name)
    text = describe(formula)
    lines = text.splitlines()
    assert lines[0] == f"{formula.name}: {formula.title}"
    assert formula.source in text
    for part in (*formula.parameters, *formula.measures):
        assert any(line.split()[:1] == [part.name] for line in lines)
    assert all(p.text in text for p in formula.preconditions)


def test_latex_names_sums_once() -> None:
    latex = to_latex(find("mm1n"))
    assert latex["X"] == r"X = \frac{- L + N}{Z}"
    assert latex["U"] == r"U = \frac{X}{\mu}"
    assert latex["L"].count(r"\sum") == 1
    assert "law 1" in latex
    assert to_latex(find("mm1"))["R"] == r"R = \frac{1}{- \lambda + \mu}"
    assert all(r"\sum" not in to_latex(find("mmck"))[name] for name in ("U", "X", "R", "Wq", "losses"))


# -- against the balance equations -----------------------------------------------------------------------------------


def stationary(rates: dict[tuple[int, int], Fraction], size: int) -> list[Fraction]:
    """pi Q = 0, sum pi = 1 by Gaussian elimination: no product form, no recursion."""
    matrix = sympy.zeros(size, size)
    for (i, j), rate in rates.items():
        value = sympy.Rational(rate.numerator, rate.denominator)
        matrix[j, i] += value
        matrix[i, i] -= value
    matrix = matrix[:-1, :].col_join(sympy.ones(1, size))
    solution = matrix.LUsolve(sympy.Matrix([0] * (size - 1) + [1]))
    return [F(int(x.p), int(x.q)) for x in solution]


def birth_death(births: list[Fraction], deaths: list[Fraction]) -> list[Fraction]:
    rates = {(n, n + 1): rate for n, rate in enumerate(births)}
    rates |= {(n + 1, n): rate for n, rate in enumerate(deaths)}
    return stationary(rates, len(births) + 1)


@pytest.mark.parametrize(("c", "room"), [(1, 1), (1, 4), (2, 2), (2, 5), (3, 4)])
@pytest.mark.parametrize(("lam", "mu"), [(F(1), F(1)), (F(5, 3), F(2, 7))])
def test_loss_queue_against_balance(c: int, room: int, lam: Fraction, mu: Fraction) -> None:
    pi = birth_death([lam] * room, [min(n, c) * mu for n in range(1, room + 1)])
    values = evaluate("mmck", {"lam": lam, "mu": mu, "c": F(c), "K": F(room)}).values
    assert values["p0"] == pi[0]
    assert values["pK"] == pi[room]
    assert values["L"] == sum(n * p for n, p in enumerate(pi))
    assert values["X"] == lam * (1 - pi[room]) == sum(min(n, c) * mu * p for n, p in enumerate(pi))
    if c == 1:
        assert evaluate("mm1k", {"lam": lam, "mu": mu, "K": F(room)}).values == values
    if room == c:
        assert evaluate("erlang-b", {"a": lam / mu, "c": F(c)}).values["B"] == pi[c]


@pytest.mark.parametrize(("sources", "c", "room"), [(1, 1, 1), (4, 1, 4), (5, 2, 5), (5, 2, 3), (4, 3, 3), (3, 3, 3)])
@pytest.mark.parametrize(("mu", "think"), [(F(1), F(4)), (F(3, 5), F(1, 2))])
def test_finite_source_against_balance(sources: int, c: int, room: int, mu: Fraction, think: Fraction) -> None:
    births = [(sources - n) / think for n in range(room)]
    pi = birth_death(births, [min(n, c) * mu for n in range(1, room + 1)])
    number = sum(n * p for n, p in enumerate(pi))
    served = sum(min(n, c) * mu * p for n, p in enumerate(pi))
    asked = sum((sources - n) / think * p for n, p in enumerate(pi))
    base = {"N": F(sources), "c": F(c), "mu": mu, "Z": think}
    values = evaluate("mmckn", {**base, "K": F(room)}).values
    assert values["L"] == number
    assert values["X"] == served
    assert values["time_congestion"] == pi[room]
    assert values["call_congestion"] == 1 - served / asked
    if room == sources:
        plain = evaluate("mmcn", base).values
        assert (plain["L"], plain["X"], plain["pN"]) == (number, served, pi[sources])
    if room == c:
        engset = evaluate("engset", {"N": F(sources), "c": F(c), "alpha": 1 / (mu * think)}).values
        assert engset["time_congestion"] == pi[c]
        assert engset["call_congestion"] == values["call_congestion"]


def test_unlimited_queues_are_the_limit_of_limited_ones() -> None:
    lam, mu = F(1, 2), F(1)
    for c in (1, 2, 3):
        open_queue = evaluate("mmc", {"lam": lam, "mu": mu, "c": F(c)}).values
        limited = evaluate("mmck", {"lam": lam, "mu": mu, "c": F(c), "K": F(80)}).values
        for name in ("p0", "L", "Lq", "R", "Wq", "X", "U"):
            assert float(limited[name]) == pytest.approx(float(open_queue[name]), rel=1e-12)


# -- known values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sources", range(1, 9))
def test_mean_value_analysis_gives_the_same(sources: int) -> None:
    mean = F(0)
    for n in range(sources):
        mean = (n + 1) * (1 + mean) / (4 + 1 + mean)
    assert evaluate("mm1n", {"N": F(sources), "mu": F(1), "Z": F(4)}).values["L"] == mean


PAPER = [
    (2, F(2), 1 / 3), (4, F(5.021020117296837), 0.6456465493698309), (8, F(11.418852017075704), 0.9144813162576311),
    (16, F(24.54074988018703), 1.1259167864796376), (64, F(104.29206303864818), 1.3746036280185057),
]  # fmt: skip


@pytest.mark.parametrize(("sources", "think", "wait"), PAPER)
def test_finite_source_wait_at_utilisation_three_fifths(sources: int, think: Fraction, wait: float) -> None:
    values = evaluate("mm1n", {"N": F(sources), "mu": F(1), "Z": think}).values
    assert float(values["U"]) == pytest.approx(0.6, rel=1e-12)
    assert float(values["Wq"]) == pytest.approx(wait, rel=1e-12)
    assert values["Wq"] < evaluate("mm1", {"lam": F(3, 5), "mu": F(1)}).values["Wq"] == F(3, 2)


def test_price_of_longer_work() -> None:
    answer = {n: evaluate("price", {"N": F(n), "Z": F(4), "s0": F(1), "s1": F(5, 4)}).values for n in (2, 8)}
    assert answer[2]["price"] == F(292, 3029)
    assert answer[8]["price"] == F(36073623352516, 50516600209397)
    longer = [evaluate("price", {"N": F(n), "Z": F(4), "s0": F(1), "s1": F(3)}).values["price"] for n in (1, 2, 3, 4)]
    assert longer == [F(8, 35), F(216, 377), F(21000, 20803), F(138008, 93833)]


MARGINAL = [
    (1, "2/9", "-1/9", "1"), (2, "14/25", "-7/25", "14/9"), (3, "354/361", "-177/361", "59/25"),
    (4, "614/441", "-307/441", "1228/361"), (5, "20210/11881", "-10105/11881", "2021/441"),
    (6, "205818/109561", "-102909/109561", "68606/11881"),
    (7, "10587794/5405625", "-5293897/5405625", "756271/109561"),
    (8, "10764686/5414929", "-5382343/5414929", "43058744/5405625"),
]  # fmt: skip


@pytest.mark.parametrize(("sources", "number", "through", "response"), MARGINAL)
def test_marginal_price(sources: int, number: str, through: str, response: str) -> None:
    values = evaluate("marginal-price", {"N": F(sources), "mu": F(1), "Z": F(2)}).values
    assert (values["dL"], values["dX"], values["dR"]) == (F(number), F(through), F(response))


@pytest.mark.parametrize("sources", [1, 2, 5])
def test_marginal_price_is_the_derivative(sources: int) -> None:
    formula = find("mm1n")
    places = {p.symbol: v for p, v in zip(formula.parameters, (sources, None, 3), strict=True) if v is not None}
    mu = formula.parameters[1].symbol
    values = evaluate("marginal-price", {"N": F(sources), "mu": F(2, 3), "Z": F(3)}).values
    for name, derivative in (("L", "dL"), ("X", "dX"), ("R", "dR")):
        expression = next(q.expression for q in formula.measures if q.name == name).subs(places).doit()
        slope = (-mu * sympy.diff(expression, mu)).subs(mu, sympy.Rational(2, 3))  # d / d ln m = -d / d ln mu
        assert F(int(slope.p), int(slope.q)) == values[derivative]


def test_general_work_by_its_moments() -> None:
    for text, second in (("md1", F(4)), ("mek1 k=1", F(8)), ("mek1 k=4", F(5)), ("mh21 cv2=3", F(16))):
        name, *more = text.split()
        special = evaluate(name, arguments(name, " ".join(["lam=1/5", "m=2", *more]))).values
        general = evaluate("mg1", {"lam": F(1, 5), "m": F(2), "m2": second}).values
        assert special == general
    assert evaluate("mek1", arguments("mek1", "lam=1/5 m=2 k=1")).values == {
        k: v for k, v in evaluate("mm1", arguments("mm1", "lam=1/5 mu=1/2")).values.items()
    }


def test_one_class_of_priority_is_no_priority() -> None:
    alone = evaluate("mg1-priority", arguments("mg1-priority", "lam=0.4 m=1.5 m2=6")).values
    assert alone["Wq"] == (evaluate("mg1", arguments("mg1", "lam=0.4 m=1.5 m2=6")).values["Wq"],)


def test_priorities_conserve_work() -> None:
    # sum of rho_j W_j is that of first come first served, whatever the order (Kleinrock's conservation law)
    rates, means, seconds = (F(1, 5), F(1, 3)), (F(1), F(3, 4)), (F(2), F(1))
    for order in ((0, 1), (1, 0)):
        classes = {n: tuple(v[i] for i in order) for n, v in (("lam", rates), ("m", means), ("m2", seconds))}
        waits = evaluate("mg1-priority", classes).values["Wq"]
        work = sum(r * m * w for r, m, w in zip(classes["lam"], classes["m"], waits, strict=True))
        load = sum(r * m for r, m in zip(rates, means, strict=True))
        residual = sum(r * s for r, s in zip(rates, seconds, strict=True)) / 2
        assert work == load * residual / (1 - load)


def test_shortest_first_beats_first_come_and_meets_it_when_light() -> None:
    for rho, slack in (("1/1000", 1e-5), ("1/2", 1.0)):
        short = evaluate("mm1-sjf", arguments("mm1-sjf", f"lam={rho} mu=1")).values["Wq"]
        plain = evaluate("mm1", arguments("mm1", f"lam={rho} mu=1")).values["Wq"]
        assert 0 < float(plain) - float(short) < slack


def test_lru_formulas() -> None:
    exact = evaluate("lru-king", arguments("lru-king", "items=5 capacity=3 zipf=1.4")).values["hit"]
    che = evaluate("lru-che", arguments("lru-che", "items=5 capacity=3 zipf=1.4")).values["hit"]
    assert exact == pytest.approx(0.7927114748383193, abs=1e-14)
    assert float(che) - float(exact) == pytest.approx(0.0044, abs=5e-5)
    uniform = evaluate("lru-king", arguments("lru-king", "items=6 capacity=2 zipf=0")).values["hit"]
    assert uniform == pytest.approx(1 / 3, abs=1e-14)


def test_erlang_solved_for_the_load_is_the_inverse() -> None:
    for servers, lost in product((1, 5, 40), ("0.5", "0.01", "0.000001")):
        load = evaluate("erlang-b-offered", arguments("erlang-b-offered", f"B={lost} c={servers}")).values["a"]
        assert isinstance(load, float)
        back = evaluate("erlang-b", {"a": load, "c": F(servers)}).values["B"]
        assert back == pytest.approx(float(F(lost)), rel=1e-12)

"""The price of one event by formula: against differences, against chains, and finite sources with work of any law."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from serq.closedforms.formula import evaluate_formula
from serq.closedforms.registry import evaluate, find
from serq.pipeline import SolveOptions, load, solve
from serq.studies.event import price_of_event

F = Fraction
PRICE = Path(__file__).parents[3] / "models" / "textbook" / "price.sq"


def exponential(mean: Fraction, sources: int, think: Fraction) -> tuple[Fraction, ...]:
    """Its Laplace transform at n / Z, n = 1 .. N - 1, and one more that nobody may look at."""
    return (*(1 / (1 + mean * n / think) for n in range(1, sources)), F(1, 77))


def mixed(chance: Fraction, sources: int, think: Fraction) -> dict[str, object]:
    """A turn is a miss of mean 3 with that chance, else a hit of mean 1."""
    hit, miss = (exponential(m, sources, think) for m in (F(1), F(3)))
    phi = tuple((1 - chance) * h + chance * m for h, m in zip(hit, miss, strict=True))
    return {"N": F(sources), "m": 1 + 2 * chance, "Z": think, "phi": phi}


@pytest.mark.parametrize("sources", [1, 2, 7])
def test_exponential_work_is_the_birth_death_chain(sources: int) -> None:
    phi = exponential(F(3, 2), sources, F(4))
    found = evaluate("mg1n", {"N": F(sources), "m": F(3, 2), "Z": F(4), "phi": phi}).values
    known = evaluate("mm1n", {"N": F(sources), "mu": F(2, 3), "Z": F(4)}).values
    assert found == {name: known[name] for name in found}


@pytest.mark.parametrize("sources", [1, 3, 5])
def test_a_mixture_is_the_chain_of_the_program(sources: int) -> None:
    program = load(PRICE, {"N": str(sources), "p": "1/4"}).program
    known = {e.measure: e.value for e in solve(program, SolveOptions(exact=True)).estimates}
    found = evaluate("mg1n", mixed(F(1, 4), sources, F(4))).values
    assert found["L"] == known["stage.svc.number"]
    assert found["Wq"] == known["stage.svc.wait"]
    assert found["X"] == known["stage.svc.throughput"]


@pytest.mark.parametrize("sources", [1, 2, 4])
def test_the_price_of_a_miss_is_that_of_the_chain(sources: int) -> None:
    """Two roads that share nothing: the derivative of Takacs' sum, and Poisson's equation of the chain."""
    sets = {"N": str(sources), "p": "1/4"}
    program = load(PRICE, sets).program
    known = price_of_event(program, sets, "work := ~exp(s_miss)", "17:51", SolveOptions(exact=True))
    event = {"sh": F(1), "sm": F(3), "phih": exponential(F(1), sources, F(4)), "phim": exponential(F(3), sources, F(4))}
    found = evaluate("mg1n-miss", mixed(F(1, 4), sources, F(4)) | event).values
    assert found["price"] == known.present
    assert found["turn"] == known.price.measures["observe.response.mean"]


def test_without_a_difference_there_is_no_price() -> None:
    phi = exponential(F(1), 3, F(4))
    same = {"sh": F(1), "sm": F(1), "phih": phi, "phim": phi}
    assert evaluate("mg1n-miss", mixed(F(0), 3, F(4)) | same).values["price"] == 0


RARE = F(1, 10**9)


def test_the_open_price_is_a_derivative() -> None:
    base = {"lam": F(2, 5), "m": F(3, 2), "m2": F(6)}
    event = {"sh": F(1), "sm": F(3), "sh2": F(2), "sm2": F(18)}
    price = evaluate("mg1-miss", base | event).values["price"]
    after = {"lam": F(2, 5), "m": F(3, 2) + 2 * RARE, "m2": F(6) + 16 * RARE}
    rise = evaluate("mg1", after).values["L"] - evaluate("mg1", base).values["L"]
    assert float(rise / RARE / F(2, 5)) == pytest.approx(float(price), rel=1e-8)
    shared = evaluate("mg1ps-miss", {k: v for k, v in (base | event).items() if k in ("lam", "m", "sh", "sm")})
    before, later = (evaluate("mg1ps", {"lam": F(2, 5), "m": m}).values["L"] for m in (base["m"], after["m"]))
    assert float((later - before) / RARE / F(2, 5)) == pytest.approx(float(shared.values["price"]), rel=1e-8)


def test_a_little_longer_among_exponential_jobs() -> None:
    """By Takacs with a second law that is exponential and nearly the first, and by the marginal price."""
    sources, think = 4, F(4)
    now, then = (exponential(m, sources, think) for m in (F(1), 1 + RARE))
    work = {"N": F(sources), "m": F(1), "Z": think, "sh": F(1), "sm": 1 + RARE}
    any_law = evaluate("mg1n-miss", work | {"phi": now, "phih": now, "phim": then}).values
    marginal = evaluate("mm1n-miss", work).values
    assert float(any_law["price"] / RARE) == pytest.approx(float(marginal["price"] / RARE), rel=1e-8)
    assert float(any_law["turn"] / RARE) == pytest.approx(float(marginal["turn"] / RARE), rel=1e-8)


def test_limited_sharing_among_c_is_c_servers() -> None:
    found = evaluate("mm1-lps", {"lam": F(3, 2), "rates": (F(1), F(2))}).values
    known = evaluate("mmc", {"lam": F(3, 2), "mu": F(1), "c": F(2)}).values
    assert all(found[name] == known[name] for name in ("p0", "X", "L", "Lq", "R", "Wq"))
    alone = evaluate("mm1-lps", {"lam": F(1, 2), "rates": (F(1),) * 3}).values
    assert alone["L"] == 1
    assert alone["Lq"] < evaluate("mm1", {"lam": F(1, 2), "mu": F(1)}).values["Lq"]


def test_shortest_remaining_work_first_is_best() -> None:
    for load_ in (F(1, 2), F(9, 10)):
        best = evaluate("mm1-srpt", {"lam": load_, "mu": F(1)}).values["R"]
        assert best < evaluate("mm1-sjf", {"lam": load_, "mu": F(1)}).values["R"]
    quick = evaluate("mm1-srpt", {"lam": F(1, 10**6), "mu": F(1)}).values
    assert quick["R"] == pytest.approx(1 + 0.5e-6, rel=1e-9)  # when two meet, one waits for the shorter one: 1/2
    faster = evaluate("mm1-srpt", {"lam": F(1), "mu": F(2)}).values
    assert faster["R"] == pytest.approx(evaluate("mm1-srpt", {"lam": F(1, 2), "mu": F(1)}).values["R"] / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "given", "failed"),
    [
        ("mg1n", {"N": F(3), "m": F(1), "Z": F(4), "phi": (F(1, 2),)}, "it needs N - 1 values of phi at least"),
        ("mg1n", {"N": F(2), "m": F(1), "Z": F(4), "phi": (F(0),)}, "phi must be a number in (0, 1], not 0"),
        ("price-cap", {"N": F(2), "L": F(3)}, "it needs L at most N"),
        ("mm1-lps", {"lam": F(2), "rates": (F(3), F(2))}, "it needs a load below 1 when all places are taken"),
    ],
)
def test_what_is_refused(name: str, given: dict[str, object], failed: str) -> None:
    assert evaluate(name, given).failed == (failed,)


def test_the_cap() -> None:
    cap = find("price-cap")
    assert evaluate_formula(replace(cap), {"N": F(8), "L": F(9, 2)}).values["cap"] == F(7, 2)

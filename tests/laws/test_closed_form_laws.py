"""Laws that hold of every closed form, on generated parameters, in exact rationals."""

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.closedforms.registry import evaluate

F = Fraction
rationals = st.fractions(min_value=F(1, 20), max_value=20, max_denominator=20)
small = st.integers(min_value=1, max_value=6)
fast = settings(max_examples=40, deadline=None)


def of(name: str, **arguments: object) -> dict[str, Any]:
    given = {k: F(v) if isinstance(v, int) else v for k, v in arguments.items()}
    answer = evaluate(name, given)
    assert not answer.failed, answer.failed
    return dict(answer.values)


def queue_laws(values: dict[str, Any], servers: int, mu: Fraction) -> None:
    """Little's law for the station and for its queue, the utilisation law, and what lies in between."""
    assert values["L"] == values["X"] * values["R"]
    assert values["Lq"] == values["X"] * values["Wq"]
    assert values["R"] == values["Wq"] + 1 / mu
    assert values["U"] * servers == values["X"] / mu
    assert 0 <= values["Lq"] < values["L"]
    assert 0 < values["p0"] < 1
    assert values["U"] <= 1


@fast
@given(c=small, extra=st.integers(0, 4), lam=rationals, mu=rationals)
def test_queues_with_loss(c: int, extra: int, lam: Fraction, mu: Fraction) -> None:
    values = of("mmck", lam=lam, mu=mu, c=c, K=c + extra)
    queue_laws(values, c, mu)
    assert values["X"] + values["losses"] == lam
    more = of("mmck", lam=lam, mu=mu, c=c, K=c + extra + 1)
    assert more["pK"] < values["pK"]
    assert more["L"] > values["L"]


@fast
@given(c=small, use=st.fractions(F(1, 100), F(99, 100), max_denominator=100), mu=rationals)
def test_queues_without_loss(c: int, use: Fraction, mu: Fraction) -> None:
    lam = use * c * mu
    values = of("mmc", lam=lam, mu=mu, c=c)
    queue_laws(values, c, mu)
    assert use**c <= values["Pw"] <= use  # the servers that a job needs busy, and the bound of one fast server
    if c == 1:
        assert values == of("mm1", lam=lam, mu=mu) | {"Pw": use}


@fast
@given(sources=small, c=small, mu=rationals, think=rationals)
def test_finite_sources(sources: int, c: int, mu: Fraction, think: Fraction) -> None:
    values = of("mmcn", N=sources, c=c, mu=mu, Z=think)
    queue_laws(values, c, mu)
    assert values["L"] + values["X"] * think == sources
    bounds = of("asymptotic-bounds", N=sources, D=(1 / mu,), Z=think)
    if c == 1:
        assert bounds["Xmin"] <= values["X"] <= bounds["Xmax"]
        assert bounds["Rmin"] <= values["R"] <= bounds["Rmax"]
    if c >= sources:
        assert values["Wq"] == 0


@fast
@given(sources=small, mu=rationals, think=rationals)
def test_more_sources_wait_longer_but_less_than_an_open_queue(sources: int, mu: Fraction, think: Fraction) -> None:
    values, more = (of("mm1n", N=n, mu=mu, Z=think) for n in (sources, sources + 1))
    assert more["Wq"] > values["Wq"]
    assert more["Wq"] == values["L"] / mu  # what an arrival finds is what one source less leaves there
    assert values["Wq"] < of("mm1", lam=values["X"], mu=mu)["Wq"]


@fast
@given(sources=st.integers(2, 40), mu=rationals)
def test_growing_populations_tend_to_the_open_queue(sources: int, mu: Fraction) -> None:
    # think times grow with the population, so that the offered rate stays at 0.6 mu
    open_wait = of("mm1", lam=F(3, 5) * mu, mu=mu)["Wq"]
    waits = [of("mm1n", N=n, mu=mu, Z=n / (F(3, 5) * mu))["Wq"] for n in (sources, 2 * sources)]
    assert waits[0] < waits[1] < open_wait


@fast
@given(
    sources=small, think=rationals, times=st.fractions(F(1, 5), 5, max_denominator=10), mu=rationals,
)  # fmt: skip
def test_only_ratios_of_times_matter(sources: int, think: Fraction, times: Fraction, mu: Fraction) -> None:
    values, scaled = (of("mm1n", N=sources, mu=mu / t, Z=think * t) for t in (F(1), times))
    for name in ("p0", "U", "L", "Lq", "pN"):
        assert scaled[name] == values[name]
    assert scaled["R"] == values["R"] * times
    assert scaled["X"] == values["X"] / times


@fast
@given(sources=small, think=rationals, before=rationals, after=rationals)
def test_the_price_is_antisymmetric_and_capped(
    sources: int, think: Fraction, before: Fraction, after: Fraction
) -> None:
    there = of("price", N=sources, Z=think, s0=before, s1=after)
    back = of("price", N=sources, Z=think, s0=after, s1=before)
    assert there["price"] == -back["price"]
    assert there["lost"] == there["price"] / think
    assert there["price"] <= sources - there["L0"]
    assert (there["price"] > 0) == (after > before)


@fast
@given(
    population=st.integers(1, 5),
    works=st.lists(rationals, min_size=1, max_size=4),
    think=rationals,
    data=st.data(),
)
def test_closed_networks(population: int, works: list[Fraction], think: Fraction, data: st.DataObject) -> None:
    size = len(works)
    visits = [data.draw(rationals) for _ in range(size)]
    servers = [data.draw(small) for _ in range(size)]
    values = of(
        "closed-network", N=population, V=(*visits, F(1)), S=(*works, think), c=(*map(F, servers), float("inf"))
    )
    assert sum(values["L"]) == population
    for i in range(size):
        assert values["X"][i] == visits[i] * values["cycles"]
        assert values["L"][i] == values["X"][i] * values["R"][i]
        assert values["U"][i] == values["X"][i] * works[i] / servers[i] <= 1
        assert values["R"][i] >= works[i]
    assert values["R"][size] == think
    assert values["cycle"] == sum(v * r for v, r in zip((*visits, F(1)), values["R"], strict=True))
    # with one job nobody waits
    alone = of("closed-network", N=1, V=(*visits, F(1)), S=(*works, think), c=(*map(F, servers), float("inf")))
    assert 1 / alone["cycles"] == sum(v * s for v, s in zip(visits, works, strict=True)) + think


@fast
@given(population=st.integers(1, 8), demands=st.lists(rationals, min_size=1, max_size=4))
def test_bounds_bracket(population: int, demands: list[Fraction]) -> None:
    ones = tuple(F(1) for _ in demands)
    exact = of("closed-network", N=population, V=ones, S=tuple(demands), c=ones)["cycles"]
    for name, more in (("proportional-bounds", {}), ("asymptotic-bounds", {"Z": F(0)})):
        bounds = of(name, N=population, D=tuple(demands), **more)
        assert bounds["Xmin"] <= exact <= bounds["Xmax"]


@fast
@given(lam=rationals, use=st.fractions(F(1, 50), F(49, 50), max_denominator=50), spread=st.fractions(0, 9))
def test_general_work(lam: Fraction, use: Fraction, spread: Fraction) -> None:
    mean = use / lam
    values = of("mg1", lam=lam, m=mean, m2=mean**2 * (1 + spread))
    queue_laws(values, 1, 1 / mean)
    memoryless = of("mm1", lam=lam, mu=1 / mean)["Wq"]
    assert values["Wq"] == memoryless * (1 + spread) / 2
    assert of("mg1ps", lam=lam, m=mean)["R"] == of("mm1", lam=lam, mu=1 / mean)["R"]

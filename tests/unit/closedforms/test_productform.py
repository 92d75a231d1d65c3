"""The convolution against the balance equations of the network's chain, state by state."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy

from serq.closedforms.productform import Lattice, Station, solve
from serq.closedforms.registry import evaluate, read_arguments

F = Fraction
State = tuple[tuple[int, ...], ...]


def spread(jobs: int, places: int) -> list[tuple[int, ...]]:
    return [v for v in product(range(jobs + 1), repeat=places) if sum(v) == jobs]


def chain(
    works: list[list[Fraction]], rates: list[list[Fraction] | None], population: tuple[int, ...]
) -> dict[State, Fraction]:
    """Processor sharing stations in a cycle, exponential work: the number of each class at each station is a state.

    `works[r][i]`: mean work; `rates[i]`: total rate by number present, None for a delay.
    """
    stations = len(rates)
    states: list[State] = [tuple(zip(*s, strict=True)) for s in product(*(spread(n, stations) for n in population))]
    index = {s: k for k, s in enumerate(states)}
    moves: Counter[tuple[int, int]] = Counter()
    for state, i, r in product(states, range(stations), range(len(population))):
        if state[i][r]:
            present = sum(state[i])
            total = F(present) if rates[i] is None else rates[i][min(present, len(rates[i])) - 1]
            after = [list(row) for row in state]
            after[i][r] -= 1
            after[(i + 1) % stations][r] += 1
            key = index[state], index[tuple(tuple(row) for row in after)]
            moves[key] += total * F(state[i][r], present) / works[r][i]
    matrix = sympy.zeros(len(states))
    for (a, b), rate in moves.items():
        value = sympy.Rational(rate.numerator, rate.denominator)
        matrix[b, a] += value
        matrix[a, a] -= value
    matrix = matrix[:-1, :].col_join(sympy.ones(1, len(states)))
    pi = matrix.LUsolve(sympy.Matrix([0] * (len(states) - 1) + [1]))
    return {s: F(int(p.p), int(p.q)) for s, p in zip(states, pi, strict=True)}


CASES = [
    ([[F(1), F(4)]], [[F(1)], None], (3,)),
    ([[F(1), F(2, 3), F(5, 2)]], [[F(1), F(2)], [F(1)], None], (3,)),
    ([[F(3, 2), F(1)], [F(5, 2), F(2)]], [[F(1), F(2)], None], (2, 2)),
    ([[F(1), F(2)], [F(3), F(4)]], [[F(1)], [F(2), F(1), F(1, 3)]], (2, 1)),
]


@pytest.mark.parametrize(("works", "rates", "population"), CASES)
def test_convolution_against_balance(works, rates, population) -> None:
    pi = chain(works, rates, population)
    stations = [Station(tuple(row[i] for row in works), None if r is None else tuple(r)) for i, r in enumerate(rates)]
    network = solve(stations, population)
    for i in range(len(stations)):
        for r in range(len(population)):
            assert network.numbers[i][r] == sum(s[i][r] * p for s, p in pi.items())
        for n in range(sum(population) + 1):
            assert network.distributions[i][n] == sum(p for s, p in pi.items() if sum(s[i]) == n)
    for r in range(len(population)):
        out = (
            (F(sum(s[0])) if rates[0] is None else rates[0][min(sum(s[0]), len(rates[0])) - 1])
            * F(s[0][r], sum(s[0])) / works[r][0] * p
            for s, p in pi.items() if s[0][r]
        )  # fmt: skip
        assert network.throughputs[r] == sum(out)


def test_a_lattice_counts_in_mixed_radix() -> None:
    lattice = Lattice((2, 1, 3))
    assert len(lattice.vectors) == 3 * 2 * 4
    for n, vector in enumerate(lattice.vectors):
        assert sum(k * u for k, u in zip(vector, lattice.units, strict=True)) == n
        assert sorted(lattice.below(vector)) == sorted(
            m for m, v in enumerate(lattice.vectors) if all(a <= b for a, b in zip(v, vector, strict=True))
        )


def test_an_empty_convolution_is_a_convolution() -> None:
    lattice = Lattice((3,))
    assert lattice.convolve([1, 2, 3, 4], [1, 0, 0, 0]) == [1, 2, 3, 4]
    assert lattice.convolve([1, 2, 3, 4], [5, 6, 7, 8]) == [5, 16, 34, 60]


def values(name: str, **texts: str) -> dict[str, Any]:
    answer = evaluate(name, read_arguments(name, texts))
    assert not answer.failed
    return dict(answer.values)


@pytest.mark.parametrize("sources", ["1", "2", "7"])
@pytest.mark.parametrize("servers", ["1", "2", "9"])
def test_one_queue_and_a_delay_is_the_finite_source_queue(sources: str, servers: str) -> None:
    network = values("closed-network", N=sources, V="1,1", S="2/3,5", c=f"{servers},inf")
    queue = values("mmcn", N=sources, c=servers, mu="3/2", Z="5")
    assert network["cycles"] == queue["X"]
    assert network["L"][0] == queue["L"]
    assert network["U"][0] == queue["U"]
    assert network["p0"] == (queue["p0"], queue["pN"])


def test_visits_and_work_matter_through_their_product() -> None:
    one = values("closed-network", N="4", V="1,2,1/2", S="1,1/4,3", c="1,2,inf")
    other = values("closed-network", N="4", V="1,1,1", S="1,1/2,3/2", c="1,2,inf")
    assert one["L"] == other["L"]
    assert one["cycles"] == other["cycles"]
    assert one["R"][1] * 2 == other["R"][1]


def test_equal_classes_are_one_class() -> None:
    split = values("closed-classes", N="2,3", V="1,1;1,1", S="1,4;1,4", c="2,inf")
    whole = values("closed-network", N="5", V="1,1", S="1,4", c="2,inf")
    rates = values("closed-rates", N="2,3", V="1,1;1,1", S="1,4;1,4", rates="1,2;inf")
    for i in range(2):
        assert split["L"][0][i] + split["L"][1][i] == whole["L"][i]
        assert split["R"][0][i] == split["R"][1][i] == whole["R"][i]
    assert {k: split[k] for k in ("cycles", "X", "L", "R", "p0")} == {
        k: rates[k] for k in ("cycles", "X", "L", "R", "p0")
    }


def test_a_limit_at_one_queue_is_the_loss_queue() -> None:
    network = values("limited-network", lam="50", K="7", V="1", S="1/37", c="2")
    queue = values("mmck", lam="50", mu="37", c="2", K="7")
    assert (network["entered"], network["number"], network["pK"]) == (queue["X"], queue["L"], queue["pK"])


def test_a_high_limit_is_an_open_network() -> None:
    lists = {"V": "1,1/2,2", "S": "1/2,1/2,1/8", "c": "1,inf,2"}
    limited, open_network = (
        values("limited-network", lam="1", K="60", **lists),
        values("open-network", lam="1", **lists),
    )
    for name in ("X", "L", "R"):
        assert limited[name] == pytest.approx(open_network[name], rel=1e-12)


def test_an_open_network_is_its_queues() -> None:
    network = values("open-network", lam="2", V="1/2,1,3", S="1/2,3/4,1", c="1,2,inf")
    queues = values("mm1", lam="1", mu="2"), values("mmc", lam="2", mu="4/3", c="2"), values("mginf", lam="6", m="1")
    assert network["L"] == tuple(q["L"] for q in queues)
    assert network["p0"] == tuple(q["p0"] for q in queues)
    assert network["response"] == sum(q["L"] for q in queues) / 2

"""The deviation matrix: Poisson's equation holds, rows and columns agree, and slopes are those of a formula."""

import random
from fractions import Fraction

import pytest
from hand_chains import finite_source, make_chain

from serq.semantics import deviation
from serq.semantics.deviation import Deviation
from serq.semantics.generator import merged_rates
from serq.semantics.sensitivity import slopes
from serq.semantics.solve import stationary


def some_chain(seed: int, size: int = 7):
    """An irreducible chain, with two transient states behind it."""
    chance = random.Random(seed)
    rows = [{(i + 1) % size: Fraction(chance.randint(1, 9), chance.randint(1, 9))} for i in range(size)]
    for row in rows:
        row[chance.randrange(size)] = Fraction(chance.randint(1, 9), chance.randint(1, 5))
    rows += [{size + 1: Fraction(2), 0: Fraction(1, 3)}, {2: Fraction(5)}]
    chain = make_chain(rows)
    return chain, stationary(chain, exact=True).probabilities


@pytest.mark.parametrize("seed", range(5))
def test_poissons_equation(seed: int) -> None:
    chain, pi = some_chain(seed)
    rows = merged_rates(chain)
    reward = [Fraction(random.Random(seed + 100).randint(-9, 9)) for _ in rows]
    eta, g = Deviation(rows, pi).bias(reward)
    assert eta == sum(p * f for p, f in zip(pi, reward, strict=True))
    assert sum(p * x for p, x in zip(pi, g, strict=True)) == 0
    for i, row in enumerate(rows):
        assert sum(rate * (g[j] - g[i]) for j, rate in row.items()) == eta - reward[i]


@pytest.mark.parametrize("seed", range(5))
def test_rows_and_columns_are_of_one_matrix(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, pi = some_chain(seed)
    rows, chance = merged_rates(chain), random.Random(seed)
    reward = [Fraction(chance.randint(-9, 9)) for _ in rows]
    change = [Fraction(chance.randint(-9, 9)) for _ in rows]
    change[0] -= sum(change)
    matrix = Deviation(rows, pi)
    worth = sum(d * g for d, g in zip(change, matrix.bias(reward)[1], strict=True))
    moved = matrix.row(change)
    assert sum(moved) == 0
    assert sum(y * f for y, f in zip(moved, reward, strict=True)) == worth
    monkeypatch.setattr(deviation, "LARGEST_RATIONAL", 0)
    doubles = Deviation(rows, pi).row(change)
    assert [type(x) for x in doubles] == [float] * len(rows)
    assert doubles == pytest.approx([float(x) for x in moved], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("sessions", [1, 2, 5, 8])
def test_the_slope_of_a_finite_source(sessions: int) -> None:
    """With m = 1/mu: dL/dm = Var(n)/m and dX/dm = -X (L_N - L_{N-1})/m, identities of the page on closed forms."""
    think = Fraction(2)
    chain = finite_source(sessions, think=think)
    solution = stationary(chain, exact=True)
    number = chain.state_rewards["stage.svc.number"]
    mean = sum(p * n for p, n in zip(solution.probabilities, number, strict=True))
    second = sum(p * n * n for p, n in zip(solution.probabilities, number, strict=True))
    shorter = finite_source(sessions - 1, think=think) if sessions > 1 else None
    before = Fraction(0)
    if shorter is not None:
        pi = stationary(shorter, exact=True).probabilities
        before = sum(p * n for p, n in zip(pi, shorter.state_rewards["stage.svc.number"], strict=True))
    service = {(n, n - 1): Fraction(-1) for n in range(1, sessions + 1)}  # d(1/m)/dm at m = 1
    completions = [Fraction(-1 if n else 0) for n in number]
    found = {s.measure: s for s in slopes(chain, solution, service, {"stage.svc.completions": completions})}
    throughput = found["stage.svc.throughput"]
    assert found["stage.svc.number"].value == mean
    assert found["stage.svc.number"].derivative == second - mean * mean
    assert throughput.derivative == -throughput.value * (mean - before)


@pytest.mark.parametrize("seed", range(5))
def test_a_row_in_doubles_lies_within_its_bound(seed: int) -> None:
    chain, pi = some_chain(seed, size=30)
    rows, chance = merged_rates(chain), random.Random(seed + 7)
    change = [Fraction(chance.randint(-9, 9), 7) for _ in rows]
    change[0] -= sum(change)
    right = Deviation(rows, pi).row(change)
    near = [float(p) for p in pi]
    doubt = sum(abs(Fraction(p) - q) for p, q in zip(near, pi, strict=True))
    moved = [float(x) for x in change]
    off = sum(abs(Fraction(x) - y) for x, y in zip(moved, change, strict=True))
    found, bound = Deviation(rows, near).row_within(moved, float(off), float(doubt) * (1 + 1e-9))
    assert sum(abs(Fraction(x) - y) for x, y in zip(found, right, strict=True)) <= bound
    assert bound < 1e-9 * float(sum(map(abs, right)))
    far, much = Deviation(rows, near).row_within(moved, 0.01, float(doubt))
    assert far == found
    assert much > 0.001

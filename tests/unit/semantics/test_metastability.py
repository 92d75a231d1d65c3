"""Two conditions or one: a chain where the answer is known, cache models, and mean first passages."""

from fractions import Fraction
from itertools import pairwise
from math import factorial

import numpy as np
import pytest
from hand_chains import birth_death, finite_source, make_chain

from serq import models
from serq.base.errors import LimitError, UsageError
from serq.pipeline import SolveOptions, load, load_text, solve
from serq.semantics import first_passage, metastability, spectrum
from serq.semantics.first_passage import Entering, entering, mean_times, weighted
from serq.semantics.generator import merged_rates
from serq.semantics.solve import stationary
from serq.semantics.spectrum import slowest
from serq.studies.conditions import conditions


def asked(name: str, **sets: object):
    model = models.find(name)
    assert model is not None
    program = load(model.path, {k: str(v) for k, v in sets.items()}).program
    return conditions(program, solve(program, SolveOptions(exact=False, states=10_000)))


def test_a_plain_cache_has_two_modes_and_one_condition() -> None:
    found = asked("lru", N=12, C=8, s_miss=10, Z=48)
    assert found.verdict == "bimodal, not bistable"
    assert found.modes == (0, 6)
    assert found.gap == pytest.approx(2.6, abs=0.05)
    assert found.switching is not None
    assert [round(x, -1) for x in found.switching] == [110, 280]
    assert sum(found.marginal) == pytest.approx(1)


@pytest.mark.parametrize(
    ("sessions", "think", "modes", "relaxation", "gap", "switching"),
    [(12, "40.875", (0,), 61, 2.8, None), (24, "70.5", (0, 10), 259, 4.7, (578, 678))],
)
def test_memory_that_grows_while_active(
    sessions: int,
    think: str,
    modes: tuple[int, ...],
    relaxation: float,
    gap: float,
    switching: tuple[float, ...] | None,
) -> None:
    found = asked("amp_ps", N=sessions, C=sessions, a=3, s_miss=5, Z=think)
    assert found.verdict != "bistable"
    assert found.modes == modes
    assert found.relaxation == pytest.approx(relaxation, abs=0.5)
    assert found.gap == pytest.approx(gap, abs=0.05)
    assert (found.switching and tuple(map(round, found.switching))) == switching


def test_two_conditions() -> None:
    found = asked("amp_ps")  # at its own constants
    assert found.verdict == "bistable"
    assert found.modes == (0, 23)
    assert found.gap == pytest.approx(16.6, abs=0.05)
    assert found.switching is not None
    assert tuple(map(round, found.switching)) == (5150, 5437)
    assert min(found.basins) > 0.4


def two_wells(low: Fraction, size: int) -> list[dict[int, Fraction]]:
    """A walk on 0..size that is drawn to both ends, and from the middle to neither."""
    pull = Fraction(3)
    births = [low if i < size // 2 else pull for i in range(size)]
    deaths = [pull if i < size // 2 else Fraction(1) for i in range(size)]
    return birth_death(births, deaths)


def test_a_walk_between_two_wells(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = merged_rates(make_chain(two_wells(Fraction(9, 10), 12)))
    pi = stationary(make_chain(two_wells(Fraction(9, 10), 12)), exact=True).probabilities
    found = metastability.metastability(rows, pi, range(13))
    assert found.verdict == "bistable"
    assert found.modes == (0, 12)
    # a walk of two wells is left at the rate at which the top between them is reached
    up, down = found.switching
    assert 1 / found.rates[0] == pytest.approx(1 / (1 / up + 1 / down), rel=0.05)
    assert found.proved
    monkeypatch.setattr(spectrum, "ENCLOSED", 0)
    monkeypatch.setattr(spectrum, "_DENSE", 0)
    again = metastability.metastability(rows, pi, range(13))
    assert again.rates == pytest.approx(found.rates, rel=1e-9)
    assert again.basins == pytest.approx(found.basins, rel=1e-9)


def test_a_well_that_is_almost_never_there_does_not_count() -> None:
    rows = two_wells(Fraction(1, 4), 12)
    pi = stationary(make_chain(rows), exact=True).probabilities
    found = metastability.metastability(merged_rates(make_chain(rows)), pi, range(13))
    assert found.gap > metastability.GAP
    assert min(found.basins) < metastability.LIGHTEST
    assert found.verdict == "bimodal, not bistable"


@pytest.mark.parametrize(
    ("marginal", "modes"),
    [
        ([3, 3, 2, 5, 1], (0, 3)),
        ([1, 2, 2, 3, 1], (3,)),
        ([1, 2, 2, 2, 1, 4, 4], (1, 5)),
        ([1, 1, 1], (0,)),
        ([1, 2 + 4e-16, 2, 3, 3 - 4e-16], (3,)),
    ],
)
def test_equal_neighbours_are_one_mode_where_they_are_higher_than_both_sides(marginal, modes) -> None:
    """The marginal of a walk between neighbours, which balances in both directions at every step."""
    weights = [Fraction(x) for x in marginal]
    rows = birth_death([b / a for a, b in pairwise(weights)], [Fraction(1)] * (len(weights) - 1))
    found = metastability.metastability(
        merged_rates(make_chain(rows)), [w / sum(weights) for w in weights], range(len(weights))
    )
    assert found.modes == modes
    assert (found.switching is not None) == (len(modes) > 1)


def test_the_spectrum_of_independent_sessions() -> None:
    """n sessions that come and go alone: the eigenvalues are the multiples of the sum of the two rates."""
    n = 9
    rows = birth_death([Fraction(n - i, 4) for i in range(n)], [Fraction(i + 1) for i in range(n)])
    pi = np.array([float(p) for p in stationary(make_chain(rows), exact=True).probabilities])
    found = slowest(merged_rates(make_chain(rows)), pi)
    rates, vector = found.rates, found.vector
    assert rates == pytest.approx([1.25 * k for k in range(1, 6)], rel=1e-9)
    assert np.diff(vector) == pytest.approx([vector[1] - vector[0]] * n, rel=1e-8)  # it is linear in the number


LONGER = """
let N = 6; let e = 1e-4;
stage a : fifo; stage b : fifo;
workload { arrive closed(N); }
session { loop {
  branch (busy(a) + queue(a) >= busy(b) + queue(b)) { branch (e) { run b (~exp(1)); } else { run a (~exp(1)); } }
  else { branch (e) { run a (~exp(1)); } else { run b (~exp(1)); } }
} }
"""
"""Every job joins the longer of two queues, but for a share e."""


@pytest.mark.parametrize(
    ("e", "relaxation", "gap"),
    # mpmath with 60 digits, the eigenvalues of the walk of the number at a
    [
        ("1e-4", 1.00000001999799980e12, 9.89950894785936e11),
        ("1e-5", 1.0000000002e15, 9.96832750e14),
        ("1e-7", 1.00000000000002e21, 9.99683722262e20),
    ],
)
def test_rates_of_chains_that_almost_fall_apart(e: str, relaxation: float, gap: float) -> None:
    """160 states with multiple eigenvalues, the slowest rate far below the rounding errors of the others."""
    program = load_text(LONGER, overrides={"e": e}).program
    found = conditions(program, solve(program, SolveOptions(exact=False)))
    assert found.verdict == "bistable"
    assert found.relaxation == pytest.approx(relaxation, rel=1e-9)
    assert found.gap == pytest.approx(gap, rel=1e-8)
    assert found.gap_bound is not None
    assert abs(found.gap - gap) <= found.gap_bound + 1e-8 * gap
    assert found.basins == pytest.approx((0.5, 0.5), abs=1e-6)


def two_parts(size: int, coupling: Fraction) -> list[dict[int, Fraction]]:
    """Two walks of as many states that are joined in the middle."""
    half = size // 2
    births = [Fraction(1) if i != half - 1 else coupling for i in range(size - 1)]
    deaths = [Fraction(2) if i < half - 1 else Fraction(1, 2) if i > half - 1 else coupling for i in range(size - 1)]
    return birth_death(births, deaths)


def test_proved_rates_lie_within_their_bounds() -> None:
    """Two states: the rate is the sum of both."""
    rows = ({1: Fraction(1, 10**30)}, {0: Fraction(1, 3 * 10**30)})
    found = slowest(rows, np.array([0.25, 0.75]))
    assert found.proved
    assert abs(Fraction(found.rates[0]) - Fraction(4, 3 * 10**30)) <= Fraction(found.bounds[0]) <= Fraction(1, 10**44)


def test_what_doubles_do_not_tell_from_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = merged_rates(make_chain(two_parts(12, Fraction(1, 10**18))))
    pi = np.array([float(p) for p in stationary(make_chain(list(rows)), exact=True).probabilities])
    right = slowest(rows, pi)
    assert right.proved
    monkeypatch.setattr(spectrum, "ENCLOSED", 0)
    assert slowest(rows, pi).rates == pytest.approx(right.rates, rel=1e-6)
    monkeypatch.setattr(spectrum, "_DENSE", 0)
    with pytest.raises(LimitError):
        slowest(rows, pi)


@pytest.mark.parametrize("largest", [0, 300])
def test_mean_times_of_a_finite_source(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From i - 1 to i: E_i = (1 + death E_{i-1}) / birth, and so up to the full station."""
    monkeypatch.setattr(first_passage, "LARGEST_RATIONAL", largest)
    n, think = 5, Fraction(4)
    rows = merged_rates(finite_source(n, think=think))
    step, total = think / n, think / n
    for i in range(1, n):
        step = (1 + step) * think / (n - i)
        total += step
    times = mean_times(rows, [n])
    assert times[0] == (total if largest else pytest.approx(float(total), rel=1e-13))
    assert times[n] == 0
    weights = [Fraction(factorial(i)) for i in range(n + 1)]
    assert weighted(times, weights, [0]) == times[0]


@pytest.mark.parametrize("largest", [0, 300])
def test_a_set_that_may_never_be_entered(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0 to 1 or 2, from 1 to 3 or for ever to 4; 5 leads nowhere, but nobody comes there."""
    monkeypatch.setattr(first_passage, "LARGEST_RATIONAL", largest)
    one = Fraction(1)
    rows = ({1: one, 2: 2 * one}, {3: one, 4: 3 * one}, {3: one}, {0: one}, {}, {})
    start = [one, 0, 0, 0, 0, 0]
    found = entering(rows, start, [3])
    assert found.mean_time is None
    assert found.chance == pytest.approx(Fraction(2, 3) + Fraction(1, 3) * Fraction(1, 4))
    assert entering(rows, start, [1, 2]).mean_time == pytest.approx(Fraction(1, 3))
    assert entering(rows, start, [0]) == Entering(0, 1)
    assert entering(rows, start, [5]) == Entering(None, 0)
    sure = entering(rows, [0, 0, one / 2, one / 2, 0, 0], [3])
    assert (sure.mean_time, sure.chance) == (pytest.approx(Fraction(1, 2)), 1)


def test_passages_that_never_are() -> None:
    rows = ({1: Fraction(1)}, {0: Fraction(1)}, {0: Fraction(1)})
    with pytest.raises(LimitError, match="never entered"):
        mean_times(rows, [2])
    with pytest.raises(UsageError, match="to be entered"):
        mean_times(rows, [])
    with pytest.raises(UsageError, match="to be entered"):
        entering(rows, [1, 0, 0], [])
    with pytest.raises(UsageError, match="to be left"):
        weighted([Fraction(1)], [Fraction(1)], [])

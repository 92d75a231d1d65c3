"""Laws of observed times in programs of clocks: closed forms, a chain by hand, the same seen in another way, runs."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from running import run, values
from timed_programs import PROGRAMS, SEMI_MARKOV, SLOTTED

from serq.base.errors import LimitError
from serq.pipeline import SolveOptions, distributions, load_text, solve
from serq.semantics.interval_law import IntervalLaw, Point
from serq.semantics.lattice import Lattice

EXPONENTIAL = {"semi-Markov", "cache", "Poisson arrivals and tools", "a queue beside"}
CLOCKS = [name for name in PROGRAMS if name not in EXPONENTIAL]


def laws(text: str, options: SolveOptions = SolveOptions(), **sets: object) -> dict[str, IntervalLaw]:
    found = distributions(load_text(text, overrides={n: str(x) for n, x in sets.items()}).program, options)
    return dict(found.laws)


# -- closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [Fraction(1, 4), Fraction(1, 2), Fraction(1)])
def test_a_session_alone_waits_a_geometric_time(q: Fraction) -> None:
    law = laws(SLOTTED, N=1, q=q)["response"]
    assert law.moment(1) == 1 / q
    assert law.moment(2) == (2 - q) / q**2
    assert law.moment(3) == (6 - 6 * q + q**2) / q**3
    for k in range(6):
        point = law.cdf(k + 0.5)
        assert point.bound is not None
        assert point.value == pytest.approx(float(1 - (1 - q) ** k), abs=point.bound)


def test_a_level_at_a_step_is_decided_in_whole_numbers() -> None:
    """P(V <= k) = 1 - 2^-k: the least value with probability 1/2 is 1, with 3/4 it is 2; next to it the doubles do."""
    law = laws(SLOTTED, N=1, q=Fraction(1, 2))["response"]
    found = [law.quantile(level) for level in (0.5, 0.75, 0.750001, 0.9)]
    assert found == [Point(1.0, 0.0), Point(2.0, 0.0), Point(3.0, 0.0), Point(4.0, 0.0)]


def test_where_doubles_cannot_decide_the_bound_says_so() -> None:
    """An irrational probability that rounds to 1/2: the chain is solved in doubles, the step is at 1 or at 2."""
    law = laws(SLOTTED, SolveOptions(exact=False), N=1, q="pow(2, 0.5) * pow(2, 0.5) / 4")["response"]
    assert law.quantile(0.5) in (Point(1.0, 1.0), Point(1.0, 0.0), Point(2.0, 0.0))
    assert law.cdf(1.5).value == pytest.approx(0.5, abs=1e-12)


# -- by hand -----------------------------------------------------------------------------------------------------------


def response_by_hand(n: int, q: float, p: float, most: int) -> list[float]:
    """P(response = k) with a batch of one, first come first served: ahead of me, behind me; everything tick by tick.

    A tick ends the job in service with probability q, and each thinker comes with probability p; those who come at one
    tick are in the order in which they began to think, which is in any order alike for the one who is followed.
    """
    rows = np.zeros((n + 1, n + 1))
    for here in range(n + 1):
        for ended, x in ((1, q), (0, 1 - q)) if here else ((0, 1.0),):
            for come in range(n - here + 1):
                rows[here, here - ended + come] += x * comb(n - here, come) * p**come * (1 - p) ** (n - here - come)
    pi = np.linalg.matrix_power(rows, 4096)[0]
    places = np.zeros(n + 1)  # by position in the line, how often somebody takes it
    for here in range(n + 1):
        for ended, x in ((1, q), (0, 1 - q)) if here else ((0, 1.0),):
            for come in range(n - here + 1):
                chance = pi[here] * x * comb(n - here, come) * p**come * (1 - p) ** (n - here - come)
                for i in range(come):
                    places[here - ended + i + 1] += chance
    places /= places.sum()
    return [  # the sum of so many geometric times
        sum(share * comb(k - 1, m - 1) * q**m * (1 - q) ** (k - m) for m, share in enumerate(places) if 1 <= m <= k)
        for k in range(1, most + 1)
    ]


@pytest.mark.parametrize(("n", "q", "p"), [(2, 0.25, 0.125), (3, 0.5, 0.25), (4, 0.75, 0.5)])
def test_a_line_by_hand(n: int, q: float, p: float) -> None:
    law = laws(SLOTTED, N=n, B=1, q=Fraction(q), p=Fraction(p))["response"]
    right = np.cumsum(response_by_hand(n, q, p, 12))
    for k, share in enumerate(right, 1):
        assert law.cdf(k).value == pytest.approx(share, abs=1e-12)
        assert law.cdf(k - 0.01).value == pytest.approx(right[k - 2] if k > 1 else 0.0, abs=1e-12)


def test_masses_in_whole_numbers_are_those_of_doubles() -> None:
    stays = (Fraction(1, 2), Fraction(3, 4))
    chances = ({0: Fraction(1, 3), 1: Fraction(1, 6)}, {0: Fraction(1, 5)})
    lattice = Lattice((Fraction(1), Fraction(2)), chances, stays, ((Fraction(1, 2), 0), (0, Fraction(4, 5))))
    assert lattice.unit == Fraction(1, 4)
    assert lattice.exactly((2, 3)) == Fraction(1, 2) + 2 * Fraction(4, 5)
    for k in range(12):
        value = sum(lattice.by(kind, k)[0] for kind in (0, 1))
        assert value == pytest.approx(float(lattice.exactly((k, k)) or 0), rel=1e-14)


def test_what_is_observed_at_once_alone() -> None:
    text = SLOTTED.replace("set t0 = now;", "set t0 = now; observe first = now - t0;")
    law = laws(text)["first"]
    assert (law.moment(1), law.moment(2), law.rate) == (0, 0, Fraction(43, 284))
    assert law.quantile(0.5) == Point(0.0, 0.0)
    assert [law.cdf(x).value for x in (-0.5, 0.0)] == [0.0, 1.0]


# -- in another way ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLOCKS)
def test_means_and_rates_are_those_of_little(name: str) -> None:
    found = {e.measure: e.value for e in solve(load_text(PROGRAMS[name]).program).estimates}
    for observe, law in laws(PROGRAMS[name]).items():
        assert law.is_exact
        assert law.moment(1) == found[f"observe.{observe}.mean"]
        assert law.rate == found[f"observe.{observe}.rate"]


def test_lumping_changes_no_law() -> None:
    for text in (SLOTTED.replace("N = 2", "N = 3").replace("B = 1", "B = 2"), PROGRAMS["slots of a pool"]):
        small, large = laws(text), laws(text, SolveOptions(unlumped=("symmetry", "dead_values", "service_order")))
        for observe, law in small.items():
            assert law.moment(2) == large[observe].moment(2)
            assert [law.quantile(x) for x in (0.5, 0.95)] == [large[observe].quantile(x) for x in (0.5, 0.95)]


WAIT = """
    stage svc : fifo;  stage think : delay;
    pool turn { cap 1; }
    workload { arrive closed(3); }
    session { loop {
      set t0 = now;  set s = ~geometric(0.5);
      %s
      run think (~geometric(0.25));
    } }
"""


def test_a_draw_that_is_subtracted_stops_the_clock() -> None:
    """A wait is the time to the beginning of service, seen there, or seen at its end without the service."""
    there = laws(WAIT % "hold turn (1) { observe wait = now - t0; run svc (s); }")["wait"]
    after = laws(WAIT % "hold turn (1) { run svc (s); } observe wait = now - t0 - s;")["wait"]
    assert there.moment(1) == after.moment(1) > 0
    assert there.moment(2) == after.moment(2)
    for x in (0.0, 0.5, 1.0, 2.0, 5.0):
        assert there.cdf(x).value == pytest.approx(after.cdf(x).value, abs=1e-12)


# -- runs --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLOCKS)
def test_a_run_has_the_same_law(name: str) -> None:
    """Shares of up to 2000 values, thinned to 250 that hardly depend on each other: 5 standard errors of a share.

    Of the 60 or so comparisons any fails by chance with probability below 1e-4; seeds are fixed.
    """
    result = run(PROGRAMS[name], horizon=6000.0, warmup=50.0)
    for observe, law in laws(PROGRAMS[name]).items():
        seen = values(result, observe)
        seen = seen[:: max(1, len(seen) // 250)]
        for level in (0.1, 0.5, 0.9):
            point = law.quantile(level)
            share = law.cdf(point.value).value
            error = (max(share * (1 - share), 1 / len(seen)) / len(seen)) ** 0.5
            assert abs(sum(x <= point.value + 1e-9 for x in seen) / len(seen) - share) <= 5 * error, (observe, level)


def test_beside_exponential_times_there_is_none() -> None:
    with pytest.raises(LimitError, match="exponential events beside its clocks"):
        laws(SEMI_MARKOV, N=2)

"""The chain of a tagged session: its means are those of Little's law, its laws those of formulas and of simulation."""

from fractions import Fraction
from math import exp, factorial, inf

import pytest
from chain_programs import PROGRAMS
from scipy.special import stdtr

from serq.base.errors import LimitError, OutsideFragmentError
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, SolveOptions, distributions, load_text, simulate, solve
from serq.semantics.distributions import distribution_estimates
from serq.semantics.interval_law import IntervalLaw, Point

EXACT = SolveOptions(exact=True)


def laws(text: str, **sets: object) -> dict[str, IntervalLaw]:
    program = load_text(text, overrides={k: str(v) for k, v in sets.items()}).program
    return dict(distributions(program, EXACT).laws)


INTERVALS = [name for name in PROGRAMS if "now -" in PROGRAMS[name] and name not in ("batch", "arrays")]


@pytest.mark.parametrize("name", INTERVALS)
def test_the_mean_is_that_of_littles_law(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    found = distributions(program, EXACT)
    assert found.laws or found.refused
    by_little = {e.measure: e.value for e in solve(program, EXACT).estimates}
    for observe, law in found.laws.items():
        assert law.rate == by_little[f"observe.{observe}.rate"]
        if by_little[f"observe.{observe}.mean"] is not None:
            assert law.moment(1) == by_little[f"observe.{observe}.mean"]


MM1N = """
    let N = 8;  let Z = 4;
    stage svc : fifo;  stage think : delay;
    workload { arrive closed(N); }
    session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(Z)); } }
"""


def erlang_mixture(sessions: int, think: int, x: float) -> tuple[float, list[float]]:
    """P(R <= x) of M/M/1//N, and the chances to find n jobs: by the arrival theorem those of N - 1 sessions.

    Lazowska et al., Quantitative System Performance (1984), section 6.1; the response is Erlang of n + 1 stages.
    """
    weights = [1.0]
    for n in range(sessions - 1):
        weights.append(weights[-1] * (sessions - 1 - n) / think)
    found = [w / sum(weights) for w in weights]
    tails = [exp(-x) * sum(x**j / factorial(j) for j in range(n + 1)) for n in range(sessions)]
    return 1 - sum(p * tail for p, tail in zip(found, tails, strict=True)), found


@pytest.mark.parametrize(("sessions", "think"), [(1, 4), (4, 2), (8, 4)])
def test_the_response_of_the_finite_source_queue(sessions: int, think: int) -> None:
    law = laws(MM1N, N=sessions, Z=think)["response"]
    for x in (0.0, 0.25, 1.0, 5.0, 12.0, 40.0):
        point = law.cdf(x)
        assert point.bound is not None
        assert abs(point.value - erlang_mixture(sessions, think, x)[0]) <= point.bound < 1e-12
    _, found = erlang_mixture(sessions, think, 1.0)
    for power in (1, 2, 3, 4):
        moment = sum(p * factorial(n + power) / factorial(n) for n, p in enumerate(found))
        assert float(law.moment(power)) == pytest.approx(moment, rel=1e-13)


def test_quantiles_of_eight_sessions() -> None:
    law = laws(MM1N)["response"]
    for level, right in ((0.5, 3.847566936), (0.95, 9.247727764), (0.99, 12.087391339)):
        point = law.quantile(level)
        assert point.value == pytest.approx(right, abs=5.1e-10)
        assert point.bound is not None
        assert point.bound < 1e-11
        assert law.cdf(point.value).value == pytest.approx(level, abs=1e-13)


def test_a_lost_share_of_the_intervals_does_not_count() -> None:
    """A response that is observed in one turn out of four, whatever it was, has the law of all of them."""
    some = MM1N.replace("observe response = now - t0;", "branch (0.25) { observe some = now - t0; }")
    law, whole = laws(some, N=3)["some"], laws(MM1N, N=3)["response"]
    assert law.rate == whole.rate / 4
    assert [law.moment(n) for n in range(4)] == [whole.moment(n) for n in range(4)]
    assert law.quantile(0.9).value == pytest.approx(whole.quantile(0.9).value, rel=1e-12)


def test_an_interval_that_is_seen_only_when_it_was_a_hit() -> None:
    """With one session alone a hit takes an exponential time of mean 1, a miss one of mean 3."""
    text = """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(1); }
        session { loop {
          set t0 = now;  set k = ~choice(1: 1, 3: 1);
          run svc (~exp(k));
          branch (k == 1) { observe short = now - t0; }
          observe all = 2 * (now - t0) + k;
          run think (~exp(4));
        } }
    """
    found = laws(text)
    assert [found["short"].moment(n) for n in range(4)] == [1, 1, 2, 6]
    assert found["all"].moment(1) == Fraction(2 * 2 + 2)
    assert found["all"].moment(2) == Fraction((8 + 4 + 1) + (72 + 36 + 9), 2)
    point = found["all"].quantile(0.75)
    assert 1 - 0.5 * exp(-(point.value - 1) / 2) - 0.5 * exp(-(point.value - 3) / 6) == pytest.approx(0.75, abs=1e-13)


def test_what_is_observed_at_once() -> None:
    """A wait of zero is an atom: the session that finds the server free observes it at the very instant."""
    text = """
        stage svc : fifo;  stage think : delay;
        pool turn { cap 1; }
        workload { arrive closed(2); }
        session { loop {
          set t0 = now;
          hold turn (1) { observe wait = now - t0; run svc (~exp(1)); }
          run think (~exp(2));
        } }
    """
    law = laws(text)["wait"]
    # two sessions: one finds the other in service with probability 1/3 (arrival theorem), then waits Exp(1)
    assert [law.moment(n) for n in range(4)] == [1, Fraction(1, 3), Fraction(2, 3), 2]
    assert law.cdf(0).value == pytest.approx(2 / 3, abs=1e-14)
    assert law.quantile(0.5) == (law.quantile(0.01))
    assert law.quantile(0.5).value == 0.0
    assert law.quantile(0.9).value == pytest.approx(1.2039728043259361, rel=1e-12)  # ln (1/3 / 0.1)


@pytest.mark.parametrize("work", ["1", "1/1000000", "1000000"])
def test_the_median_where_just_half_is_observed_at_once(work: str) -> None:
    """Half of the values are 0, so that the median is 0, whatever doubles make of the half."""
    text = f"""
        stage d : delay;
        workload {{ arrive closed(4); }}
        session {{ loop {{
          set t0 = now;
          observe stay = now - t0;
          run d (~h2({work}, 4));
          observe stay = now - t0;
          run d (~exp(1));
        }} }}
    """
    law = laws(text)["stay"]
    assert law.quantile(0.5).value == 0.0
    assert 0.0 < law.quantile(0.5).bound < 1e-12 * float(law.moment(1))
    assert law.quantile(0.51).value > 1e-3 * float(law.moment(1))
    assert law.quantile(0.49) == Point(0.0, 0.0)


def test_a_clock_that_is_read_again_and_again() -> None:
    """Both ages of a turn count: one of Erlang law of one stage, one of two."""
    text = """
        stage d : delay;
        workload { arrive closed(1); }
        session { loop {
          set t0 = now;
          run d (~exp(1)); observe age = now - t0;
          run d (~exp(1)); observe age = now - t0;
          run d (~exp(4));
        } }
    """
    law = laws(text)["age"]
    assert law.moment(1) == Fraction(3, 2)
    assert law.moment(2) == Fraction(2 + 6, 2)
    x = law.quantile(0.5).value
    assert 1 - exp(-x) * (2 + x) / 2 == pytest.approx(0.5, abs=1e-13)


WAIT = """
    let N = 8;
    stage svc : fifo;  stage think : delay;
    workload { arrive closed(N); }
    session { loop {
      set t0 = now;  set s = ~exp(1);
      run svc (s);
      observe wait = now - t0 - s;
      run think (~exp(4));
    } }
"""


@pytest.mark.parametrize("sessions", [1, 2, 8])
def test_the_wait_is_the_time_without_the_service(sessions: int) -> None:
    """Who finds n jobs waits for n of them (arrival theorem): an Erlang law of n stages, and no wait for n = 0."""
    law = laws(WAIT, N=sessions)["wait"]
    _, found = erlang_mixture(sessions, 4, 0.0)
    assert law.cdf(0).value == pytest.approx(found[0], abs=1e-14)
    for power in (1, 2, 3):
        right = sum(p * factorial(n + power - 1) / factorial(n - 1) for n, p in enumerate(found) if n)
        assert float(law.moment(power)) == pytest.approx(right, rel=1e-13)
    if sessions == 8:
        assert law.cdf(0).value == pytest.approx(0.062748942950, abs=5e-13)
        x = law.quantile(0.99).value
        tails = [exp(-x) * sum(x**j / factorial(j) for j in range(n)) for n in range(sessions)]
        assert sum(p * tail for p, tail in zip(found, tails, strict=True)) == pytest.approx(0.01, rel=1e-10)


def test_the_wait_before_phases_and_in_a_network() -> None:
    """Erlang work at two servers, and another fifo stage on the way: the mean is still that of Little's law."""
    text = """
        stage pre : fifo;  stage svc : fifo(2);  stage think : delay;
        workload { arrive closed(4); }
        session { loop {
          set t0 = now;  set s = ~erlang(2, 3);
          run pre (~exp(1));
          run svc (s);
          observe wait = now - t0 - s;
          run think (~exp(2));
        } }
    """
    law = laws(text)["wait"]
    mean = {e.measure: e.value for e in solve(load_text(text).program, EXACT).estimates}["observe.wait.mean"]
    assert law.moment(1) == mean
    assert law.moment(2) > law.moment(1) ** 2
    assert law.cdf(0).value == 0.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("svc : fifo", "svc : ps(1)"),
        ("observe wait", "set s = ~exp(1);  observe wait"),
        ("run svc (s);", "branch (0.5) { run svc (s); } else { run svc (~exp(1)); }"),
        ("run svc (s);", "run svc (2 * s);"),
        ("set t0 = now;  set s = ~exp(1);\n      run svc (s);", "set s = ~exp(1);  run svc (s);  set t0 = now;"),
    ],
)
def test_a_draw_that_was_not_spent_so_is_not_subtracted(old: str, new: str) -> None:
    assert WAIT.count(old) == 1
    program = load_text(WAIT.replace(old, new)).program
    assert "not spent exactly once" in distributions(program, EXACT).refused["wait"]


def test_why_an_observe_has_no_law() -> None:
    text = """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(2); }
        session { loop {
          set t0 = now;  set s = ~exp(1);
          run svc (s);
          observe late = now - t0 - 2 * s;
          observe slowdown = (now - t0) / s;
          observe backwards = t0 - now;
          observe fixed = 3;
          set t1 = now;
          run think (~exp(4));
          observe apart = 2 * now - t0 - t1;
        } }
    """
    program = load_text(text).program
    found = distributions(program)
    assert not found.laws
    assert set(found.refused) == {"late", "slowdown", "backwards", "fixed", "apart"}
    assert "draw" in found.refused["late"]
    estimates = distribution_estimates(program, found)
    assert all(e.value is None and e.reason for e in estimates)


ONCE = """
    stage svc : fifo;  stage think : delay;
    workload { arrive ARRIVALS; }
    session { set t0 = now; loop { run svc (~exp(1)); observe age = now - t0; run think (~exp(4)); } }
"""


@pytest.mark.parametrize("arrivals", ["closed(2)", "poisson(1) limit(2)"])
def test_a_clock_that_is_set_before_the_long_run_only(arrivals: str) -> None:
    """Ages grow for ever: they have no law, and no way out of their states is no fault."""
    program = load_text(ONCE.replace("ARRIVALS", arrivals)).program
    found = distributions(program, EXACT)
    assert not found.laws
    assert found.refused["age"] == "in the long run no session sets its clock and then observes"


def test_a_program_outside_of_the_fragment_and_one_beyond_the_limit() -> None:
    with pytest.raises(OutsideFragmentError):
        laws(MM1N.replace("~exp(1)", "1"))
    program = load_text(MM1N).program
    with pytest.raises(LimitError, match="tagged-session chain of response has more than 20 states"):
        distributions(program, SolveOptions(states=20))
    with pytest.raises(LimitError, match="the chain has more than 5 states"):
        distributions(program, SolveOptions(states=5))


SEEDED = {"lru": "response", "shortest first": "wait", "open": "response"}


@pytest.mark.parametrize("name", SEEDED)
def test_simulated_shares_below_the_quantiles(name: str) -> None:
    """The share of simulated values below an exact quantile, by replication: Student, a false alarm in 10 000."""
    program: Program = load_text(PROGRAMS[name]).program
    law = distributions(program, EXACT).laws[SEEDED[name]]
    options = SimulateOptions(seed=5, horizon=400, warmup=40, replications=40, jobs=1, keep_samples=True)
    _, results = simulate(program, options)
    for level in (0.5, 0.9, 0.99):
        quantile = law.quantile(level).value
        values = [list(r.samples[SEEDED[name]].values) for r in results]
        off = [sum((x <= quantile) - law.cdf(quantile).value for x in run) for run in values]
        mean = sum(off) / len(off)
        spread = (sum((x - mean) ** 2 for x in off) / (len(off) - 1) / len(off)) ** 0.5
        p = 2 * stdtr(len(off) - 1, -abs(mean / spread)) if spread else inf
        assert p > 1e-4 / 9, (level, mean, spread)

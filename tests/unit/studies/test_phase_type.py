"""Phases that stand for other work: against the finite-source formula of Takacs, with any transform of the work."""

from collections.abc import Callable
from fractions import Fraction
from math import comb, exp
from pathlib import Path

import pytest

from serq.base.errors import OutsideFragmentError, RunError
from serq.compare.laws import with_distributions
from serq.ir.laws import Law, convolution, erlang_mixture, phase_type
from serq.ir.results import Estimate
from serq.pipeline import Solved, SolveOptions, load_text, solve
from serq.studies.phase_type import extrapolate, stands_in

MGN = (Path(__file__).parents[2] / "data" / "values" / "programs" / "mgn.sq").read_text()
SESSIONS, THINK = 5, 4


def solved(work: str, phases: int | None, sessions: int = SESSIONS) -> Solved:
    program = load_text(MGN.replace("~erlang(2, m)", work), overrides={"N": str(sessions)}).program
    return solve(program, SolveOptions(exact=phases is None or None, phase_type=phases))


def takacs(transform: Callable[[float], float], sessions: int = SESSIONS) -> float:
    """The mean response of M/G/1//N, mean work 1: L. Takacs, Introduction to the Theory of Queues (1962), chapter 5."""
    busy, product = 0.0, 1.0
    for n in range(sessions):
        product *= 1 if n == 0 else 1 / transform(n / THINK) - 1
        busy += comb(sessions - 1, n) * product
    return sessions * (busy + THINK / sessions) / busy - THINK


WORKS: dict[str, Callable[[float], float]] = {
    "m": lambda s: exp(-s),
    "~uniform(0, 2)": lambda s: (1 - exp(-2 * s)) / (2 * s),
    "2 * ~uniform(0.25, 0.75)": lambda s: (exp(-0.5 * s) - exp(-1.5 * s)) / s,
    "0.5 + ~exp(0.5)": lambda s: exp(-s / 2) / (1 + s / 2),
    "~uniform(0, 1) + ~h2(0.5, 17 / 8)": lambda s: (1 - exp(-s)) / s * (0.8 / (1 + s * 0.3125) + 0.2 / (1 + s * 1.25)),
}


def response(estimates: tuple[Estimate, ...]) -> dict[str, Estimate]:
    return {e.measure: e for e in estimates if e.measure == "observe.response.mean"}


@pytest.mark.parametrize("work", WORKS)
def test_within_the_stated_error(work: str) -> None:
    right = takacs(WORKS[work])
    coarse, fine = solved(work, 8), solved(work, 16)
    assert stands_in(coarse.chain)
    found = {x.measure: x for x in extrapolate(coarse.estimates, fine.estimates)}["observe.response.mean"]
    assert abs(float(found.value) - right) < 0.2 * found.error
    assert abs(float(found.fine) - right) < 1.2 * found.error


def test_the_values_for_fixed_work() -> None:
    right = takacs(WORKS["m"])
    assert right == pytest.approx(1.905283209, abs=5e-10)
    for phases, value in ((1, 2.242718), (4, 2.005782), (16, 1.931833), (32, 1.918690)):
        (estimate,) = response(solved("m", phases).estimates).values()
        assert float(estimate.value) == pytest.approx(value, abs=6e-7)
        assert float(estimate.value) > right  # work of less variability waits less


@pytest.mark.parametrize("sessions", [2, 3, 4])
def test_sums_of_phase_type_draws_are_exact(sessions: int) -> None:
    """Two exponential parts are an Erlang law, in whatever place they are; nothing stands for anything."""
    whole = solved("~erlang(2, m)", None, sessions)
    parts = solved("~exp(m / 2) + ~exp(m / 2)", 1, sessions)
    assert not stands_in(parts.chain)
    wanted, got = (response(x.estimates)["observe.response.mean"].value for x in (whole, parts))
    assert isinstance(got, Fraction)
    assert got == wanted


def moments(law: Law) -> tuple[Fraction, Fraction]:
    """Mean and second moment of a phase-type law whose phases follow one another."""
    form = erlang_mixture(law, 12) or phase_type(law)
    assert form is not None
    return form_moments(form)


def form_moments(form: object) -> tuple[Fraction, Fraction]:
    first, second = {}, {}
    for i in reversed(range(len(form.rates))):
        after = form.after[i]
        rest, rest2 = (first[after], second[after]) if after is not None else (Fraction(0), Fraction(0))
        stay = 1 / Fraction(form.rates[i])
        first[i], second[i] = stay + rest, 2 * stay**2 + 2 * stay * rest + rest2
    assert sum(form.start) == 1
    return tuple(sum(Fraction(q) * x[i] for i, q in enumerate(form.start)) for x in (first, second))


@pytest.mark.parametrize("ends", [(0, 2), (1, 3), (Fraction(9, 10), Fraction(11, 10)), (2, 2)])
def test_the_mixture_has_the_mean_and_almost_the_variance(ends: tuple[Fraction, Fraction]) -> None:
    low, high = map(Fraction, ends)
    mean, second = moments(Law("uniform", (low, high)))
    assert mean == (low + high) / 2
    variance, right = second - mean**2, (high - low) ** 2 / 12
    assert right < variance < right + mean * high / 5


def test_the_moments_of_a_convolution() -> None:
    a, b = phase_type(Law("h2", (Fraction(1), Fraction(17, 8)))), phase_type(Law("h2", (Fraction(2), Fraction(17, 8))))
    (mean_a, second_a), (mean_b, second_b) = form_moments(a), form_moments(b)
    assert form_moments(convolution(a, b)) == (mean_a + mean_b, second_a + 2 * mean_a * mean_b + second_b)


def test_what_still_has_no_form() -> None:
    with pytest.raises(OutsideFragmentError, match="geometric"):
        solved("~geometric(0.5)", 4)
    with pytest.raises(OutsideFragmentError, match="SQ602"):
        solved("~uniform(0, 2)", None)
    with pytest.raises(RunError, match="may be negative"):
        solved("~exp(1) - ~exp(0.5)", 4)
    with pytest.raises(RunError, match="may be negative"):
        solved("~uniform(0 - 1, 3)", 4)


def test_a_quantile_at_an_atom_is_within_what_is_stated() -> None:
    """Two sessions, one nearly always alone: the 90 % quantile of the response is the fixed time itself, 1."""
    text = "stage s : fifo; stage z : delay; workload { arrive closed(2); } session { loop { set t0 = now; run s (1); "
    text += "observe r = now - t0; run z (~exp(30)); } } run { horizon 100; }"
    program = load_text(text).program

    def answers(phases: int) -> tuple[Estimate, ...]:
        options = SolveOptions(distributions=True, phase_type=phases)
        return with_distributions(solve(program, options), program, options).estimates

    (found,) = [x for x in extrapolate(answers(8), answers(16)) if x.measure == "observe.r.p90"]
    assert found.value != 1
    assert abs(float(found.value) - 1) <= found.error

"""Derivatives in constants: against rational difference quotients, printed values and identities of the queue."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from serq.base.errors import UsageError
from serq.ir.program import Program
from serq.pipeline import SolveOptions, load, load_text, solve
from serq.studies.derivative import derivatives
from serq.studies.rates import Slopes, points_at

PROGRAMS = Path(__file__).parents[2] / "data" / "values" / "programs"
EXACT = SolveOptions(exact=True)


def loader(name: str, sets: dict[str, object]) -> Callable[..., Program]:
    def of(**more: object) -> Program:
        return load(PROGRAMS / f"{name}.sq", {k: str(v) for k, v in {**sets, **more}.items()}).program

    return of


def found(name: str, constant: str, **sets: object) -> dict[str, Fraction]:
    of = loader(name, sets)
    answer = derivatives(of(), constant, lambda x: of(**{constant: x}), EXACT)
    return {s.measure: s.derivative for s in answer.slopes}


@pytest.mark.parametrize(
    ("constant", "value"),
    [("s_miss", "2373324156/7903387801"), ("s_hit", "1852485752/7903387801"), ("Z", "-2243114555/7903387801")],
)
def test_the_number_away_in_a_cached_queue(constant: str, value: str) -> None:
    """Values found by differentiating the parametric solution of another tool."""
    slopes = found("lru", constant, N=3, C=2)
    assert slopes["stage.svc.number"] + slopes["pool.kv.queue"] == -slopes["stage.think.number"] == Fraction(value)


@pytest.mark.parametrize("sessions", range(1, 9))
def test_the_finite_source_queue(sessions: int) -> None:
    """dL/dm = Z X (L_N - L_{N-1}), dX/dm = -X (L_N - L_{N-1}), dR/dm = (R + Z)(L_N - L_{N-1}) at m = 1/mu = 1."""
    slopes = found("mm1n", "mu", N=sessions, mu=1, Z=2)
    number = [Fraction(0)]
    for n in range(sessions):
        number.append((n + 1) * (1 + number[n]) / (3 + number[n]))
    rise = number[-1] - number[-2]
    response = number[-2] + 1
    rate = sessions / (response + 2)
    assert -slopes["stage.svc.number"] == 2 * rate * rise
    assert -slopes["observe.response.rate"] == -rate * rise
    assert -slopes["observe.response.mean"] == (response + 2) * rise


CASES = [
    ("lru_ps", "s_miss", {"N": 3, "C": 2}),
    ("ps", "a", {"N": 3}),
    ("mgn", "m", {"N": 3}),
    ("tandem", "m2", {"N": 2}),
    ("twoclass", "sm", {"N": 2}),
    ("lru_sizes", "Z", {"N": 2, "C": 2}),
]


@pytest.mark.parametrize(("name", "constant", "sets"), CASES, ids=[c[0] for c in CASES])
def test_difference_quotients(name: str, constant: str, sets: dict[str, object]) -> None:
    """A symmetric quotient of rationals is off by h^2: with h = 1e-12 it has 18 digits or more."""
    of, h = loader(name, sets), Fraction(1, 10**12)
    at = of().constant(constant).folded.exact
    low, high = (
        {e.measure: e.value for e in solve(of(**{constant: x}), EXACT).estimates if e.value is not None}
        for x in (at - h, at + h)
    )
    slopes = found(name, constant, **sets)
    assert slopes
    for measure, slope in slopes.items():
        assert isinstance(slope, Fraction)
        assert abs((high[measure] - low[measure]) / (2 * h) - slope) < Fraction(1, 10**18), measure


def test_a_probability_of_one_has_a_derivative_from_below() -> None:
    text = """
        let p = 1;
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(1); }
        session { loop { run svc (~exp(2 - p)); run think (~exp(1)); } }
    """
    answer = derivatives(
        load_text(text).program, "p", lambda x: load_text(text, overrides={"p": str(x)}).program, EXACT
    )
    assert {s.measure: s.derivative for s in answer.slopes}["stage.svc.number"] == Fraction(-1, 4)


def test_a_rate_that_is_no_rational_function() -> None:
    """exp(x) is a double in the program, so the derivative is one; a sixth-degree polynomial tells it well."""
    text = """
        let x = 0.5;
        stage d : delay;  stage think : delay;
        workload { arrive closed(1); }
        session { loop { run d (~exp(exp(x))); run think (~exp(1)); } }
    """
    answer = derivatives(
        load_text(text).program, "x", lambda x: load_text(text, overrides={"x": str(x)}).program, EXACT
    )
    slope = {s.measure: s.derivative for s in answer.slopes}["stage.d.number"]
    assert isinstance(slope, float)
    assert slope == pytest.approx(1.6487212707001282 / 2.6487212707001282**2, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "constant", "said"),
    [("lru", "C", "`C` shapes the states"), ("mm1n", "N", "`N` shapes"), ("mm1n", "nu", "no `let nu`; there are `N`")],
)
def test_constants_without_a_derivative(name: str, constant: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        found(name, constant, N=3)


@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda x: 3 * x**4 - x, 24 * 4 - 1),
        (lambda x: 1 / x, Fraction(-1, 4)),
        (lambda x: (x * x + 1) / (x - 5), Fraction(-17, 9)),
        (lambda x: x / (1 + x * x), Fraction(-3, 25)),
        (lambda x: Fraction(7), 0),
    ],
)
def test_rational_functions_are_found(function: Callable[[Fraction], Fraction], slope: Fraction) -> None:
    points = points_at(Fraction(2))
    slopes = Slopes(points)
    assert slopes.of([Fraction(function(x)) for x in points]) == slope
    assert slopes.is_exact


def test_other_functions_are_told_apart() -> None:
    points = points_at(Fraction(0))
    slopes = Slopes(points)
    assert slopes.of([Fraction((1 - x) ** 9) for x in points]) == pytest.approx(-9, abs=1e-20)
    assert not slopes.is_exact
    assert not slopes.is_rough
    slopes.of([x + abs(x - points[3]) for x in points])
    assert slopes.is_rough


def test_a_rate_with_a_kink() -> None:
    text = """
        let x = 0.5;
        stage d : delay;  stage think : delay;
        workload { arrive closed(1); }
        session { loop { run d (~exp(1 + max(x, 0.4999))); run think (~exp(1)); } }
    """
    at = "0.499930"
    with pytest.raises(UsageError, match="no smooth function of `x`"):
        derivatives(
            load_text(text, overrides={"x": at}).program,
            "x",
            lambda x: load_text(text, overrides={"x": str(x)}).program,
            EXACT,
        )

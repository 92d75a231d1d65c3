"""Queues without a limit: against closed forms, rational where they are, and against ever larger limits."""

from fractions import Fraction
from itertools import accumulate

import pytest

from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError, UsageError
from serq.closedforms.match import match
from serq.ir.expr import Number
from serq.ir.measures import QUANTILES
from serq.pipeline import Solved, SolveOptions, load_text, solve
from serq.semantics.answers import marginal

OPEN = """
let lam = {lam};
stage svc : {stage};  stage other : delay;  {pool}
workload {{ arrive poisson(lam); }}
session {{ set t0 = now; {body} observe response = now - t0; }}
"""


def text(body: str, lam: str = "0.8", stage: str = "fifo", pool: str = "") -> str:
    return OPEN.format(body=body, lam=lam, stage=stage, pool=pool)


def solved(program: str, **options: object) -> Solved:
    return solve(load_text(program).program, SolveOptions(**options))  # type: ignore[arg-type]


def values(found: Solved) -> dict[str, Number]:
    return {e.measure: e.value for e in found.estimates if e.value is not None}


FORMULAS = {
    "M/M/1": text("run svc (~exp(1));"),
    "M/M/1 near saturation": text("run svc (~exp(1));", lam="0.999"),
    "M/M/3": text("run svc (~exp(1));", lam="2.5", stage="fifo(3)"),
    "M/M/20": text("run svc (~exp(1));", lam="19", stage="fifo(20)"),
    "M/M/1 PS": text("run svc (~exp(1));", stage="ps(1)"),
    "M/E4/1": text("run svc (~erlang(4, 1));"),
    "M/H2/1": text("run svc (~h2(1, 17 / 8));"),
    "M/E4/1 near saturation": text("run svc (~erlang(4, 1));", lam="0.9999999"),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_closed_forms_as_rationals(name: str) -> None:
    program = load_text(FORMULAS[name]).program
    found = values(solve(program))
    (formula, *_) = match(program).matches
    compared = 0
    for estimate in formula.estimates:
        if estimate.value is not None and estimate.measure in found:
            compared += 1
            assert isinstance(found[estimate.measure], Fraction)
            if isinstance(estimate.value, Fraction):
                assert found[estimate.measure] == estimate.value, estimate.measure
            else:
                assert float(found[estimate.measure]) == pytest.approx(float(estimate.value), rel=1e-12)
    assert compared >= 6


@pytest.mark.parametrize("name", ["M/M/3", "M/E4/1", "M/H2/1", "M/E4/1 near saturation"])
@pytest.mark.parametrize("method", ["auto", "gth", "lu"])
def test_doubles_are_as_near_to_rationals_as_they_claim(name: str, method: str) -> None:
    exact, doubles = values(solved(FORMULAS[name])), solved(FORMULAS[name], exact=False, method=method)
    assert "balls of 128 bits" in doubles.solution.method
    assert doubles.solution.bound is not None
    assert 0 < doubles.solution.bound < 1e-15
    compared = 0
    for answer in doubles.estimates:
        if answer.value is not None:
            assert isinstance(answer.value, float)
            assert answer.bound is not None
            assert abs(Fraction(answer.value) - exact[answer.measure]) <= Fraction(answer.bound)
            assert answer.bound <= 2.3e-16 * abs(answer.value)
            compared += 1
    assert compared == len(exact)


@pytest.mark.parametrize("name", ["M/M/3", "M/E4/1", "M/H2/1"])
def test_every_method_for_rationals_gives_the_same(name: str) -> None:
    by_default = values(solved(FORMULAS[name]))
    for method in ("direct", "gth", "dixon"):
        assert values(solved(FORMULAS[name], exact=True, method=method)) == by_default


@pytest.mark.parametrize("method", ["levels", "storm"])
def test_a_method_for_finite_chains_only(method: str) -> None:
    with pytest.raises(UsageError, match=f"'{method}' is for finite chains: give a --limit"):
        solved(FORMULAS["M/M/1"], method=method)


LIMITED = {
    "M/H2/2": text("run svc (~h2(1, 17 / 8));", lam="1.5", stage="fifo(2)"),
    "a pool of two": text(
        "hold s (1) { run svc (~exp(0.5)); run other (~exp(1)); }", lam="0.6", pool="pool s { cap 2; }"
    ),
    "two pools, one within the other": text(
        "hold s (1) { run svc (~erlang(2, 0.5)); hold t (2) { run other (~h2(0.5, 17 / 8)); } }",
        lam="0.5", stage="ps(1)", pool="pool s { cap 3; }  pool t { cap 4; }",
    ),
    "growth that preempts": text(
        "hold s (1) { run other (~exp(0.5)); grow s (1); run svc (~erlang(2, 0.5)); }",
        lam="0.8", pool="pool s { cap 3; preempt lifo; }",
    ),
    "three places given back at once": text(
        "hold s (1) { run svc (~exp(1)); grow s (2); run other (~exp(1)); }",
        lam="0.4", pool="pool s { cap 4; preempt lifo; }",
    ),
    "more work now and then": text(
        "hold s (1) { run other (~erlang(2, 1)); run svc (~exp(1)); branch (0.2) { run other (~exp(1)); } }",
        lam="0.3", pool="pool s { cap 1; }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITED)
def test_it_is_where_larger_limits_lead(name: str) -> None:
    found = values(solved(LIMITED[name]))
    errors = []
    for limit in (20, 40, 160):
        near = values(solved(LIMITED[name], limit=limit, exact=False))
        errors.append(abs(float(near["observe.response.mean"]) / float(found["observe.response.mean"]) - 1))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9
    for measure, value in values(solved(LIMITED[name], limit=160, exact=False)).items():
        if measure != "sessions.losses":
            assert float(found[measure]) == pytest.approx(float(value), rel=1e-8, abs=1e-12), measure


def test_the_number_present() -> None:
    tail = solved(FORMULAS["M/M/1"]).tail
    assert tail is not None
    assert tail.decay == Fraction(4, 5)
    # P(N > n) = 0.8^(n + 1)
    assert tail.quantiles == {"p50": 3, "p90": 10, "p95": 13, "p99": 20}


def test_phases_that_stand_for_fixed_work() -> None:
    """The wait in M/D/1 with k phases is off by exactly W / k."""
    wait = Fraction(1, 2)  # rho / (2 (1 - rho)), rho = 1/2
    for k in (1, 4, 16):
        found = values(solved(text("run svc (1);", lam="0.5"), phase_type=k))
        assert found["observe.response.mean"] == 1 + wait * (1 + Fraction(1, k))


def test_two_servers_have_no_rational_matrix() -> None:
    found = solved(LIMITED["M/H2/2"])
    assert "balls" in found.solution.method
    with pytest.raises(UsageError, match="no rational one"):
        solved(LIMITED["M/H2/2"], exact=True)


@pytest.mark.parametrize(("lam", "verdict"), [("1", "critically loaded"), ("1.5", "overloaded"), ("1 + 1e-30", "over")])
def test_a_queue_that_grows_is_said_to_grow(lam: str, verdict: str) -> None:
    with pytest.raises(NoSteadyStateError, match=rf"SQ653.*arrive at rate .* leave at rate 1: the queue is {verdict}"):
        solved(text("run svc (~exp(1));", lam=lam))
    with pytest.raises(NoSteadyStateError, match=rf"SQ653.*arrive at rate .* leave at rate 2: the queue is {verdict}"):
        solved(text("run svc (~h2(1, 17 / 8));", lam=f"2 * ({lam})", stage="fifo(2)"))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (text("run svc (~exp(1)); run other (~exp(1));"), "2 numbers grow without bound: sessions at other (line 5)"),
        (text("run svc (~exp(1)); run last (~exp(1));", pool="stage last : fifo;"),
         "2 numbers grow without bound: sessions waiting for last (line 5) and sessions waiting for svc (line 5)"),
        (text("set k = ~choice(1: 1, 3: 1); run svc (~exp(k / 4));"),
         "2 numbers grow without bound: 2 kinds of sessions waiting for svc (line 5)"),
        (text("run other (~exp(1));"), "sessions at other (line 5) grows without bound, and with it their rate"),
        (text("run svc (~exp(1));", stage="ps(min(n, 4))"), "depends on the number of jobs"),
        (text("hold s (1) { branch (0.3) { run svc (~exp(1)); } }", lam="0.5", pool="pool s { cap 1; }"),
         "of the sessions waiting for s (line 5) any number may leave at once"),
        (text("hold s (1) { hold s (1) { run svc (~exp(1)); } }", pool="pool s { cap 1; }"),
         "in the long run the sessions waiting for s (line 5) never become fewer"),
        (text("run svc (~exp(1)); observe seen = queue(svc);"), "reads how many jobs"),
        ("stage e : step { budget 4; cost 1; } workload { arrive poisson(0.1); } session { run e decode (2); "
         "observe done = 1; }", "semi-Markov"),
    ],
)  # fmt: skip
def test_what_has_no_single_level(program: str, reason: str) -> None:
    with pytest.raises(OutsideFragmentError) as refused:
        solved(program)
    (found,) = refused.value.diagnostics
    assert found.code == "SQ612"
    assert reason in found.notes[0].message


# -- what happens above the front ------------------------------------------------------------------------------------


def test_a_pool_that_is_full_far_up_only() -> None:
    """At most 20 hold a part: the line of svc is short, though it looks endless in a small front."""
    program = text("hold s (1) { run svc (~exp(1)); }", lam="0.9", pool="pool s { cap 20; }")
    found = values(solved(program))
    # M/M/1 in all; of n sessions min(n, 20) are inside
    rho = Fraction(9, 10)
    inside = sum((min(n, 20) * (1 - rho) * rho**n for n in range(20)), Fraction(0)) + 20 * rho**20
    assert found["sessions.number"] == 9
    assert found["stage.svc.number"] == inside
    assert found["pool.s.queue"] == 9 - inside


@pytest.mark.parametrize(("places", "limit"), [(5, 160), (24, 74)])
def test_many_places_in_front_of_a_server(places: int, limit: int) -> None:
    """Those inside are at the server or at the delay: as many phases as places, and one more."""
    body = "hold s (1) { run svc (~exp(1)); run other (~exp(4)); }"
    program = text(body, lam="0.6", pool=f"pool s {{ cap {places}; }}")
    found = solved(program)
    assert found.tail is not None
    assert found.tail.phases == places + 1
    assert found.tail.below == (places + 1) * (places + 2) // 2
    by_limit = values(solved(program, limit=limit, exact=False))
    for answer in found.estimates:
        if answer.value is not None and answer.measure != "sessions.losses":
            assert float(answer.value) == pytest.approx(float(by_limit[answer.measure]), rel=1e-9, abs=1e-9)
            assert answer.bound is not None
            assert answer.bound <= 2.3e-16 * abs(answer.value)


def test_the_reference_explorer_ends_too() -> None:
    """Gauges are left to it: what it would take minutes for is refused."""
    body, pool = "hold s (1) { run other (~exp(4)); run svc (~exp(1)); }", "pool s { cap 60; }  gauge g = used(s);"
    with pytest.raises(OutsideFragmentError) as refused:
        solved(text(body, pool=pool))
    (note,) = refused.value.diagnostics[0].notes
    assert "too many states for the reference explorer, needed since it has gauges" in note.message


def test_as_many_states_as_are_allowed() -> None:
    program = text("hold s (1) { run svc (~exp(1)); run other (~exp(4)); }", lam="0.5", pool="pool s { cap 12; }")
    with pytest.raises(OutsideFragmentError) as refused:
        solved(program, states=100)
    (note,) = refused.value.diagnostics[0].notes
    assert "with up to 8 sessions, there come to be more and more sessions at other (line 5) and" in note.message
    assert (
        "until something is full; with 16 sessions there are over 100 states, and --max-states allows" in note.message
    )
    assert solved(program, states=400).tail is not None


def test_several_places_given_back_at_once() -> None:
    """Then levels are as high as sessions may be admitted at once. Who is preempted neither comes nor leaves."""
    for name, step, lam in (("growth that preempts", 2, "0.8"), ("three places given back at once", 3, "0.4")):
        found = solved(LIMITED[name])
        assert found.tail is not None
        assert found.tail.step == step
        assert f"levels of {step} sessions repeat" in found.chain.explored
        assert f"sessions come at rate {lam} and leave at rate " in found.solution.checks[0]
        limited = solved(LIMITED[name], limit=160, exact=False)
        law = marginal(limited.chain, limited.solution, "sessions.number")
        upto = list(accumulate(float(x) for x in law.values()))
        for quantile, share in QUANTILES.items():
            assert found.tail.quantiles[quantile] == next(n for n, x in enumerate(upto) if x >= share)
        assert float(law[Fraction(60 + step)] / law[Fraction(60)]) == pytest.approx(float(found.tail.decay), rel=1e-6)


# -- near saturation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", ["1e-3", "1e-5", "1e-9", "1e-15"])
def test_two_servers_near_saturation(gap: str) -> None:
    """What is known: 2 (1 - gap) servers are busy on average, and (1 - rho) W tends to (c_a^2 + c_s^2) / 4.

    J. Koellerstroem, J. Appl. Prob. 11 (1974), for the wait in heavy traffic.
    """
    found = solved(text("run svc (~h2(1, 17 / 8));", lam=f"2 * (1 - {gap})", stage="fifo(2)"))
    answers = {e.measure: e for e in found.estimates}
    left = Fraction(gap)
    busy, wait = answers["stage.svc.busy"], answers["stage.svc.wait"]
    assert busy.bound is not None
    assert abs(Fraction(busy.value or 0) - 2 * (1 - left)) <= Fraction(busy.bound) < Fraction(1, 10**15)
    limit = (1 + Fraction(17, 8)) / 4
    assert float(left) * float(wait.value or 0) == pytest.approx(float(limit), rel=2 * float(left))
    assert wait.bound is not None
    assert wait.bound < 2.3e-16 * float(wait.value or 0)
    assert found.tail is not None
    assert found.tail.quantiles["p50"] == pytest.approx(0.6931472 * float(limit / left) * 2, rel=5 * float(left) + 1e-7)


def test_what_is_beyond_all_precision_is_said() -> None:
    with pytest.raises(LimitError, match="all but critically loaded"):
        solved(text("run svc (~h2(1, 17 / 8));", lam="2 * (1 - 1e-300 * 1e-300 * 1e-300)", stage="fifo(2)"))

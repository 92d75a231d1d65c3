"""Questions to chains in slots and to open queues without a limit: answered, or refused with the reason."""

from fractions import Fraction
from math import exp

import pytest
from timed_programs import SEMI_MARKOV, SLOTTED

QUESTIONS = [("--metastability",), ("--symbolic",)]
NOT_BESIDE = [("--transient", "5"), ("--until", "stage.think.number == 0"), ("--distributions",)]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_what_only_continuous_time_answers(serq, write, question) -> None:
    done = serq("solve", write(SLOTTED), *question)
    assert (done.status, done.out) == (4, "")
    assert "continuous time" in done.err
    assert "slots" in done.err


def test_laws_in_slots(serq, write) -> None:
    """Alone, a session is at the engine for a geometric time: P(V <= 8) = 1 - (3/4)^8 = 0.8999, so p90 is 9."""
    done = serq("solve", write(SLOTTED), "--set", "N=1", "--distributions", "--json")
    measures = done.data["measures"]
    assert measures["observe.response.second"]["exact"] == "28"
    assert measures["observe.response.p90"]["value"] == 9
    assert "from instant to instant" in measures["observe.response.p90"]["method"]


def test_a_slotted_program_at_a_time(serq, write) -> None:
    found = serq("solve", write(SLOTTED), "--transient", "1", "--until", "stage.think.number == 2", "--json").data
    number = found["measures"]["stage.engine.number"]
    assert number["value"] == 1.75
    assert number["method"] == "from instant to instant"
    assert number["bound"] < 1e-14
    assert found["chance"]["value"] == 0


@pytest.mark.parametrize("question", NOT_BESIDE, ids=str)
def test_what_has_no_answer_beside_exponential_times(serq, write, question) -> None:
    done = serq("solve", write(SEMI_MARKOV), "--set", "N=2", *question)
    assert (done.status, done.out) == (4, "")
    assert "exponential events beside its clocks" in done.err


def test_what_only_finite_chains_answer(serq) -> None:
    for question in ("--metastability", "--distributions"):
        done = serq("solve", "mm1", question)
        assert (done.status, done.out) == (4, "")
        assert "finite chain" in done.err


def test_the_kind_of_time_is_said(serq, write) -> None:
    path = write(SLOTTED)
    assert "time: slots of 1\n" in serq("solve", path).out
    assert serq("solve", path, "--json").data["time"] == "slots of 1"
    assert serq("explain", path, "--json").data["time"] == "slots of 1"
    assert serq("solve", "mm1n", "--json").data["time"] == "continuous"


def test_derivatives_in_slots(serq, write) -> None:
    """X of one session is 1 / (1/q + 1/p): its derivative in q is (X / q)^2."""
    found = serq("solve", write(SLOTTED), "--set", "N=1", "--derivative", "q", "--json").data["derivatives"]
    assert found["q"]["observe.response.rate"]["exact"] == "1/9"


def test_the_number_present_without_a_limit(serq) -> None:
    done = serq("solve", "mm1")
    assert "sessions present: p50 3, p90 10, p95 13, p99 20; far up, n + 1 are 0.8 times as likely as n" in done.out
    assert "2 states below level 1, from which on levels repeat for ever, with 1 phase each" in done.out
    tail = serq("solve", "mm1", "--json").data["tail"]
    quantiles = {"p50": 3, "p90": 10, "p95": 13, "p99": 20}
    decay = {"value": 0.8, "exact": "4/5"}
    assert tail == {"decay": decay, "quantiles": quantiles, "first": 1, "phases": 1, "below": 2, "step": 1}


def test_the_states_of_a_front_are_not_taken_for_all(serq) -> None:
    done = serq("solve", "mm1", "--set", "lam=0.5", "--set", "mu=1", "--states", "--json")
    states = [Fraction(x["exact"]) for x in done.data["distribution"]]
    text = serq("solve", "mm1", "--set", "lam=0.5", "--set", "mu=1", "--states").out
    assert text.endswith(f"with probability {float(sum(states)):.10g}.\n")
    assert sum(states) == 1 - Fraction(1, 2) ** len(states)


def test_bounds_on_answers_without_a_limit(serq, write) -> None:
    two = write("stage svc : fifo(2); workload { arrive poisson(1.5); } session { run svc (~h2(1, 17/8)); }")
    text = serq("solve", two).out
    assert "matrix-geometric, in balls of 128 bits" in text
    assert "6 states below level 1, from which on levels repeat for ever, with 3 phases each" in text
    data = serq("solve", two, "--json").data
    assert 0 < data["bound"] < 1e-15
    assert 0 < data["tail"]["decay"]["bound"] < 1e-15
    number = data["measures"]["stage.svc.number"]
    assert 0 < number["bound"] < 1e-15 * number["value"]


@pytest.mark.parametrize("method", ["levels", "storm"])
def test_a_method_that_does_not_apply_without_a_limit(serq, method: str) -> None:
    done = serq("solve", "mm1", "--method", method)
    assert done.status == 2
    assert f"the method '{method}' is for finite chains: give a --limit" in done.err
    assert serq("solve", "mm1", "--method", "gth").out == serq("solve", "mm1", "--method", "dixon").out


def test_whether_solving_needs_a_limit_is_explained(serq, write) -> None:
    one = serq("explain", "mm1")
    assert one.status == 1
    assert "note: `serq solve` needs no limit: 2 states below level 1, from which on levels repeat for ever" in one.out
    two = (
        "stage a : fifo; stage b : fifo; workload { arrive poisson(0.5); } "
        "session { run a (~exp(1)); run b (~exp(1)); }"
    )
    assert "note: `serq solve` needs a limit too: 2 numbers grow without bound" in serq("explain", write(two)).out


def test_states_that_may_never_be_entered(serq, write) -> None:
    path = write("""stage a : fifo; stage b : delay; workload { arrive closed(1); }
    session { run a (~exp(1));
      branch (1/3) { loop { run b (~exp(2)); observe x = 1; } } else { loop { run a (~exp(3)); } } }
    run { horizon 10; }""")
    shown = serq("solve", path, "--until", "stage.b.number >= 1")
    assert shown.status == 0
    assert "is entered with probability 1/3 = 0.3333333333 at all: there is no mean time" in shown.out
    data = serq("solve", path, "--until", "stage.b.number >= 1", "--transient", "2", "--json").data
    assert (data["mean_time"], data["ever"]["exact"]) == (None, "1/3")
    assert abs(data["chance"]["value"] - (1 - exp(-2)) / 3) <= data["chance"]["bound"] + 1e-15


def test_a_time_may_be_a_quotient(serq) -> None:
    found = [serq("solve", "mm1n", "--transient", t, "--json").data["measures"] for t in ("1/4", "0.25")]
    assert found[0] == found[1]
    assert serq("solve", "mm1n", "--transient", "1/0").status == 2
    assert "its steady state is the answer" in serq("solve", "mm1n", "--transient", "1e9").err

"""Questions to chains in slots and to open queues without a limit: answered, or refused with the reason."""

import pytest
from timed_programs import SLOTTED

QUESTIONS = [("--transient", "5"), ("--until", "stage.think.number == 0"), ("--metastability",), ("--symbolic",),
             ("--distributions",)]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_what_only_continuous_time_answers(serq, write, question) -> None:
    done = serq("solve", write(SLOTTED), *question)
    assert (done.status, done.out) == (4, "")
    assert "continuous time" in done.err
    assert "slots" in done.err


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
    tail = serq("solve", "mm1", "--json").data["tail"]
    assert tail == {"decay": {"value": 0.8, "exact": "4/5"}, "quantiles": {"p50": 3, "p90": 10, "p95": 13, "p99": 20}}

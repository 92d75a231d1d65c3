"""Gauges of open queues: a value where they are linear in what grows, a reason where the front says nothing of them."""

from fractions import Fraction

import pytest

from serq.pipeline import SolveOptions, load_text, solve

LINE = """
stage svc : {stage}; stage other : fifo; pool s {{ cap 3; }}
workload {{ arrive poisson(0.9); }}
session {{ {body} }}
gauge g = {gauge};
"""
AT_A_STAGE = "run svc (~exp(1));"
AT_A_POOL = "hold s (1) { run svc (~exp(1)); }"


def program(gauge: str, body: str = AT_A_STAGE, stage: str = "fifo") -> str:
    return LINE.format(gauge=gauge, body=body, stage=stage)


def mean(text: str, **options: object) -> tuple[object, str]:
    found = solve(load_text(text).program, SolveOptions(**options))
    (answer,) = (e for e in found.estimates if e.measure == "gauge.g.mean")
    return answer.value, answer.reason


RHO = Fraction(9, 10)


@pytest.mark.parametrize(
    ("gauge", "value"),
    [
        ("queue(svc)", Fraction(81, 10)),
        ("-(queue(svc) + 2 * busy(svc)) * 3 / 4 + 1", Fraction(-257, 40)),
        ("busy(svc) > 0", RHO),
        ("busy(svc) * queue(other) + max(2, busy(svc))", Fraction(2)),
        ("used(s) * used(s) + free(s)", Fraction(3)),
    ],
)
def test_what_is_linear(gauge: str, value: Fraction) -> None:
    assert mean(program(gauge)) == (value, "")


@pytest.mark.parametrize(
    "gauge", ["max(0, queue(svc) - 20)", "queue(svc) * queue(svc)", "queue(svc) > 9 ? 1 : 0", "1 / (1 + queue(svc))"]
)
def test_what_may_be_curved_far_up(gauge: str) -> None:
    value, reason = mean(program(gauge))
    assert value is None
    assert "no linear function of the length of the queue" in reason


def test_what_was_taken_for_nothing() -> None:
    """E max(0, N - 1 - 20) in M/M/1: the front alone shows 0."""
    value, _ = mean(program("max(0, queue(svc) - 20)"), limit=500, exact=False)
    assert value == pytest.approx(float(RHO**22 / (1 - RHO)), rel=1e-9)


def test_those_who_wait_for_a_pool() -> None:
    """Three hold a part of it; the rest wait, and the line of the server is short."""
    inside = sum((min(n, 3) * (1 - RHO) * RHO**n for n in range(3)), Fraction(0)) + 3 * RHO**3
    assert mean(program("queued(s)", AT_A_POOL)) == (9 - inside, "")
    assert mean(program("holders(s) + 2 * used(s)", AT_A_POOL)) == (3 * inside, "")
    assert mean(program("queue(svc) > 1", AT_A_POOL)) == (RHO**3, "")
    assert mean(program("queued(s) > 1", AT_A_POOL))[0] is None


def test_those_who_share_a_server() -> None:
    assert mean(program("busy(svc) > 3", stage="ps(1)"))[0] is None

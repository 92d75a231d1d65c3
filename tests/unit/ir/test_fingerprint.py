"""The fingerprint is blind to spelling and sees every value."""

from dataclasses import replace
from fractions import Fraction

import pytest

from serq.base.source import NOWHERE, SourceFile, Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.fingerprint import fingerprint


def folded(value):
    exact = Fraction(value)
    return p.Folded(e.Num(exact), exact, float(exact))


def small(work="1", servers="1", name="mm1n", span=NOWHERE):
    code = (
        p.Run(e.Ref("svc", 0, span=span), None, e.Draw("exp", (e.Num(Fraction(work)),)), None, span),
        p.Jump(0),
    )
    return p.Program(
        SourceFile(f"{name}.sq", "// a comment"), name, (), (), (p.Stage("svc", p.Fifo(folded(servers)), span),), (),
        p.Closed(folded("8")), None, (), (), code, (), (), p.RunSettings(horizon=folded("100")),
    )  # fmt: skip


def test_spelling_does_not_count():
    assert fingerprint(small()) == fingerprint(small(name="other", span=Span(3, 4, 3, 9)))
    assert fingerprint(small(work="0.5")) == fingerprint(small(work="1/2"))


@pytest.mark.parametrize(
    "changed",
    [
        small(work="0.8"),
        small(servers="2"),
        replace(small(), arrivals=p.Batch(folded("8"))),
        replace(small(), run=p.RunSettings(horizon=folded("101"))),
        replace(small(), gauges=(p.Gauge("g", e.Num(1.0)),)),
        replace(small(), gauges=(p.Gauge("g", e.Num(float("inf"))),)),
        replace(small(), gauges=(p.Gauge("g", e.Num(Fraction(1))),)),
    ],
)
def test_every_value_counts(changed):
    assert fingerprint(changed) != fingerprint(small())


def test_the_hash_is_the_same_in_every_version():
    """Recorded once: a change here makes old reports look like other programs."""
    assert fingerprint(small()) == "fb29f31d0cce2cabffcdb6f1ea9a3f99"


def test_what_is_no_program_data_is_refused():
    with pytest.raises(TypeError, match="a program holds no list"):
        fingerprint(replace(small(), observes=["x"]))

"""Constants: order, both arithmetics, overrides."""

import math
import time
from fractions import Fraction

import pytest

from serq.base.errors import UsageError

REST = """
stage svc : fifo;
workload { arrive closed(2); }
session { loop { run svc (~exp(a)); observe x = now; } }
"""


def test_literals_are_exact_and_doubles_are_ieee(linked) -> None:
    constant = linked("let a = 0.1 + 0.2;" + REST).program.constant("a")
    assert constant.folded.exact == Fraction(3, 10)
    assert constant.folded.value == 0.1 + 0.2 != 0.3


def test_irrational_values_are_doubles_in_both(linked) -> None:
    folded = linked("let a = sqrt(2);" + REST).program.constant("a").folded
    assert folded.exact == folded.value == math.sqrt(2)
    assert isinstance(folded.exact, float)


def test_perfect_squares_and_infinities(linked) -> None:
    program = linked("let a = b; let b = sqrt(9 / 4) + 0 * c; let c = min(d, 3); let d = inf;" + REST).program
    assert program.exact_constants() == {"a": Fraction(3, 2), "b": Fraction(3, 2), "c": 3, "d": math.inf}
    assert [c.name for c in program.constants] == ["a", "b", "c", "d"]


def test_a_let_may_read_lets_behind_it(linked) -> None:
    assert linked("let a = 2 * b; let b = c + 1; let c = 3;" + REST).program.exact_constants()["a"] == 8


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (4, Fraction(4)),
        (0.8, Fraction(4, 5)),
        (1e-3, Fraction(1, 1000)),
        (Fraction(1, 3), Fraction(1, 3)),
        ("1/3", Fraction(1, 3)),
        ("2 * b", Fraction(10)),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
    ],
)
def test_overrides(linked, value: object, exact: object) -> None:
    text = "let b = 5; let a = 1; let c = a;" + REST.replace("exp(a)", "exp(1)")
    program = linked(text, a=value).program
    assert program.exact_constants() == {"b": 5, "a": exact, "c": exact}
    assert [c.overridden for c in program.constants] == [False, True, False]


def test_an_override_stands_where_the_old_value_stood(linked) -> None:
    folded = linked("let b = 5;\nlet a = 1;" + REST, a="b + 2").program.constant("a").folded
    assert (folded.expr.span.line, folded.expr.span.column) == (2, 9)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"alpha": 1}, ["alpha", "did you mean `alfa`?", "`alfa`, `b`"]),
        ({"zzz": 1}, ["zzz", "`alfa`, `b`"]),
        ({"b": "1 +"}, ["--set b=1 +"]),
        ({"b": "c"}, ["--set b=c", "unknown name `c`"]),
        ({"b": "~exp(1)"}, ["chance"]),
        ({"b": "now"}, ["`now`"]),
        ({"b": "0/0"}, ["NaN"]),
        ({"b": math.nan}, ["NaN"]),
        ({"b": "b + 1"}, ["`b` -> `b`"]),
        ({"b": "alfa"}, ["`alfa` -> `b` -> `alfa`"]),
    ],
)
def test_wrong_overrides_are_usage_errors(linked, overrides: dict[str, object], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        linked("let alfa = b; let b = 1;" + REST.replace("exp(a)", "exp(alfa)"), **overrides)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.exit_status == 2


def test_a_program_without_constants_says_so(linked) -> None:
    with pytest.raises(UsageError, match="no constants"):
        linked(REST.replace("exp(a)", "exp(1)"), N=3)


def test_huge_powers_do_not_hang(linked) -> None:
    began = time.process_time()
    folded = linked("let a = min(1, pow(pow(10, 10000), 10000));" + REST).program.constant("a").folded
    assert folded.exact == 1
    assert time.process_time() - began < 10


def test_a_wide_rational_becomes_a_double(linked) -> None:
    folded = linked("let a = 1 / 3 + 1 / pow(7, 6000);" + REST).program.constant("a").folded
    assert isinstance(folded.exact, float)
    assert folded.exact == folded.value == 1 / 3


def test_a_fault_in_a_let_is_reported_once(faults) -> None:
    found = faults("let a = zz; let b = a + 1; let c = b * 2; stage q[c] : fifo(b);" + REST)
    assert found == [("SQ101", "zz")]


def test_run_settings(linked) -> None:
    run = linked("let a = 1;" + REST + "run { horizon 2 * 50; seed 7; }").program.run
    assert run.horizon is not None
    assert run.horizon.exact == 100
    assert run.warmup is None
    assert run.seed is not None
    assert run.seed.value == 7.0

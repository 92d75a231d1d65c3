from fractions import Fraction

import pytest
import sympy

from serq.closedforms.amounts import Amount, Mark, Named, Now, Sample, Unclear, add, as_work, number, plain, scale
from serq.closedforms.evaluation import Knowledge, evaluate
from serq.ir import expr as e

F = Fraction
N, P = sympy.symbols("N p")
KNOWLEDGE = Knowledge(
    {"N": Named(F(8), N), "p": Named(F(1, 4), P), "big": number(float("inf"))},
    {"k": Amount(number(3)), "t": Amount(number(0), ((Mark(7), number(1)),)), "u": Unclear("it is odd")},
    {"serial": number(5)},
    present={0: (2, 1)},
    place=4,
)


def num(x: str) -> e.Num:
    return e.Num(F(x))


def b(op: e.BinaryOp, left: e.Expr, right: e.Expr) -> e.Binary:
    return e.Binary(op, left, right)


def only(expr: e.Expr) -> Amount | Unclear:
    ((probability, value),) = evaluate(expr, KNOWLEDGE)
    assert probability.value == 1
    return value


K, T, U = e.Attr("k"), e.Attr("t"), e.Attr("u")
NOW = e.Builtin("now")


@pytest.mark.parametrize(
    ("expr", "value", "symbol"),
    [
        (b("/", num("1"), e.Const("N")), F(1, 8), 1 / N),
        (b("-", b("*", e.Const("N"), num("0.5")), K), F(1), N / 2 - 3),
        (e.Unary("-", e.Const("p")), F(-1, 4), -P),
        (e.Call("min", (e.Const("N"), num("3"))), F(3), sympy.Min(3, N)),
        (e.Call("pow", (e.Const("N"), num("2"))), F(64), N**2),
        (e.Call("sqrt", (e.Const("p"),)), F(1, 2), sympy.sqrt(P)),
        (b("%", num("-7"), num("3")), F(2), sympy.Integer(2)),
        (e.Cond(b(">", e.Const("N"), num("3")), e.Const("p"), U), F(1, 4), P),
        (e.Builtin("serial"), F(5), sympy.Integer(5)),
        (e.StageState("busy", e.Ref("s", 0)), F(2), sympy.Integer(2)),
        (e.StageState("queue", e.Ref("s", 0)), F(1), sympy.Integer(1)),
        (b("-", NOW, NOW), F(0), sympy.Integer(0)),
    ],
)  # fmt: skip
def test_numbers_and_their_names(expr: e.Expr, value: Fraction, symbol: sympy.Expr) -> None:
    known = plain(only(expr))
    assert known is not None
    assert known.value == value
    assert sympy.simplify(known.symbol - symbol) == 0


@pytest.mark.parametrize(
    ("expr", "truth"),
    [
        (b("<", K, num("3")), 0),
        (b("<=", K, num("3")), 1),
        (b("==", K, num("3")), 1),
        (b("!=", K, num("3")), 0),
        (b("<", e.Const("N"), e.Const("big")), 1),
        (b("&&", num("0"), U), 0),
        (b("||", num("7"), U), 1),
        (b("||", num("0"), num("5")), 1),
        (b("&&", num("2"), num("3")), 1),
        (e.Unary("!", K), 0),
        (e.Unary("!", num("0")), 1),
    ],
)
def test_tests_are_lazy_and_give_0_or_1(expr: e.Expr, truth: int) -> None:
    assert only(expr) == Amount(number(truth))


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        (b("*", T, T), "* of a time or a draw"),
        (b("/", num("1"), T), "/ of a time or a draw"),
        (b("/", K, num("0")), "it is not finite"),
        (b("<", NOW, num("9")), "< of a time or a draw"),
        (e.Call("max", (T, num("0"))), "max of a time or a draw"),
        (b("+", U, num("1")), "it is odd"),
        (e.Attr("zz"), "zz is not set here"),
        (e.Builtin("turn_no"), "turn_no takes unboundedly many values"),
        (e.StageState("busy", e.Ref("other", 1)), "it reads the state of other at that instant"),
        (e.StageState("work", e.Ref("s", 0)), "it reads the state at that instant"),
        (e.PoolState("used", e.Ref("kv", 0)), "it reads the state at that instant"),
        (e.Cond(T, num("1"), num("2")), "a test of something that is no constant"),
        (e.Unary("!", T), "a test of something that is no constant"),
        (e.Draw("exp", (T,)), "a draw whose law is random"),
        (e.Draw("exp", (num("-1"),)), "~exp: its mean must not be negative"),
        (e.Draw("bernoulli", (num("2"),)), "~bernoulli: its probability must lie in [0, 1]"),
    ],
)
def test_what_is_not_linear_is_unclear_with_its_reason(expr: e.Expr, reason: str) -> None:
    value = only(expr)
    assert isinstance(value, Unclear)
    assert value.reason == reason


def test_finite_draws_split() -> None:
    law = e.Draw("choice", (num("1"), num("1"), num("2"), num("3"), num("9"), num("0")))
    outcomes = evaluate(b("*", law, e.Draw("bernoulli", (e.Const("p"),))), KNOWLEDGE)
    table: dict[Fraction, Fraction] = {}
    for probability, value in outcomes:
        known = plain(value)
        assert known is not None
        table[known.value] = table.get(known.value, F(0)) + probability.value
    assert table == {F(0): F(3, 4), F(1): F(1, 16), F(2): F(3, 16)}
    assert sympy.simplify(sum(p.symbol for p, _ in outcomes) - 1) == 0


def test_two_draws_in_a_place_are_two() -> None:
    law = e.Draw("exp", (num("2"),))
    value = only(b("+", law, law))
    assert isinstance(value, Amount)
    assert len(value.atoms) == 2
    difference = only(b("-", law, law))
    assert isinstance(difference, Amount)
    assert len(difference.atoms) == 2


def test_time_differences_lose_what_cancels() -> None:
    value = only(b("-", b("+", NOW, K), T))
    assert isinstance(value, Amount)
    assert dict(value.terms) == {Now(): number(1), Mark(7): number(-1)}
    assert value.constant.value == 3
    assert add(value, value, -1) == Amount(number(0))
    assert scale(value, number(0)) == Amount(number(0))


def drawn(law: e.LawName, *args: str) -> Amount:
    value = only(e.Draw(law, tuple(num(a) for a in args)))
    assert isinstance(value, Amount)
    return value


def test_work_has_the_moments_of_the_sum() -> None:
    exponential = as_work(scale(drawn("exp", "2"), number(3)))
    assert not isinstance(exponential, Unclear)
    assert (exponential.mean.value, exponential.second.value) == (6, 72)
    assert exponential.exponential
    assert exponential.dense
    total = as_work(add(add(drawn("erlang", "2", "4"), drawn("exp", "1")), Amount(number(1))))
    assert not isinstance(total, Unclear)
    assert (total.mean.value, total.second.value) == (6, 36 + 8 + 1)
    assert not total.exponential
    assert (total.law, total.dense) == ("a sum", True)
    fixed = as_work(Amount(number(5)))
    assert not isinstance(fixed, Unclear)
    assert (fixed.mean.value, fixed.second.value, fixed.dense, fixed.law) == (5, 25, False, "constant")


@pytest.mark.parametrize(
    ("law", "args", "name"),
    [("erlang", ("3", "1"), "erlang of 3 phases"), ("h2", ("1", "4"), "h2"), ("geometric", ("1/2",), "geometric")],
)
def test_work_is_called_by_its_law(law: e.LawName, args: tuple[str, ...], name: str) -> None:
    work = as_work(drawn(law, *args))
    assert not isinstance(work, Unclear)
    assert work.law == name
    assert work.dense == (law != "geometric")


def test_no_work_from_times_differences_or_used_draws() -> None:
    once = drawn("exp", "1")
    ((atom, _),) = once.terms
    assert isinstance(atom, Sample)
    used = Amount(number(0), ((Sample(atom.place, atom.number, atom.law, atom.mean, atom.second, True), number(1)),))
    for amount, reason in (
        (Amount(number(0), ((Now(), number(1)),)), "its work depends on the time"),
        (scale(once, number(-1)), "its work is a difference"),
        (Amount(number(-1)), "its work is a difference"),
        (used, "its work is a draw that was the work of an earlier run: the two are not independent"),
    ):
        assert as_work(amount) == Unclear(reason)


def test_a_draw_that_does_not_vary_is_a_number() -> None:
    assert drawn("exp", "0") == Amount(number(0))
    assert drawn("uniform", "3", "3") == Amount(number(3))
    assert drawn("det", "2") == Amount(number(2))

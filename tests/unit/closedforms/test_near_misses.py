"""What the matcher says of programs that no formula fits, or only for a part, and of odd ones that some fit."""

from fractions import Fraction

import pytest
from matching import ENGSET, LOSS, MM1N, OPEN, bindings, matched, names, values

from serq.closedforms.matches import latex_of

F = Fraction


NEAR = [
    (MM1N.replace("~exp(1 / mu)", "~erlang(2, 1)"), "mm1n",
     "the work at svc must be exponential (it is erlang of 2 phases)", 7),
    (OPEN % ("fifo(2)", "poisson(lam)", "1"), "mmc", "the work at svc must be exponential (it is constant)", 5),
    (OPEN % ("fifo", "poisson(lam)", "~exp(2)"), "mm1", "the utilisation of svc must be below 1 (it is 1)", 5),
    (OPEN % ("fifo", "poisson(lam)", "3"), "mg1", "the utilisation of svc must be below 1 (it is 3/2)", 5),
    (OPEN % ("ps(n / (1 + n))", "poisson(lam)", "1"), "mg1ps",
     "without a limit on the number present, a ps stage needs a constant rate or min(n, c)", 5),
    ("stage a : fifo; workload { arrive poisson(0.2); }\nsession { loop { run a (1); branch (0.5) { end; } } }",
     "mg1", "a session can come back to a, and the work at a must be exponential (it is constant)", 2),
    ("stage a : fifo; stage b : fifo; workload { arrive poisson(0.2); }\nsession { run a (1);\nrun b (~exp(1)); }",
     "mm1", "the arrivals at b must be Poisson (they come through a queue that is no M/M/c)", 3),
    ((LOSS + "stage wait : delay;") % "loop { branch (queue(svc) < 3) { run svc (~exp(1)); end; } run wait (1); }",
     "mmck", "a session that found no room must not come back", 0),
    (ENGSET.replace("observe lost = 1;", "run think (9);") % ("c", "1"), "mmckn",
     "a session that found no room must think as one that was served does", 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "formula", "reason", "line"), NEAR)
def test_near_misses_name_what_fails_and_where(text: str, formula: str, reason: str, line: int) -> None:
    found = matched(text)
    miss = found.near_misses[0]
    assert (miss.formula, miss.reason, miss.span.line) == (formula, reason, line)
    if not found.matches:
        assert all(e.value is None and reason in e.reason for e in found.estimates)


TWO_LAWS = MM1N.replace("set s = ~exp(1 / mu);", "set s = ~exp(1);").replace(
    "run svc (s);", "branch (0.25) { run svc (s); } else { set s = ~exp(3); run svc (s); }"
)


def test_two_laws_at_a_first_come_first_served_station_have_no_product_form() -> None:
    found = matched(TWO_LAWS)
    assert names(found) == ["mg1n"]
    assert [m.formula for m in found.near_misses] == ["mm1n", "closed-network"]
    assert found.near_misses[0].reason == "all work at svc must have one mean, first come first served (here 1 and 3)"
    assert names(matched(TWO_LAWS.replace("svc : fifo", "svc : ps(1)"))) == ["mm1n", "closed-network"]


def test_a_branch_that_is_never_taken_is_not_there() -> None:
    found = matched(TWO_LAWS.replace("0.25", "0"))
    assert names(found) == ["mm1n", "closed-network"]
    assert bindings(found.matches[0])["mu"] == (F(1, 3), "1/3")


NONE = [
    ("pool kv { cap 3; } stage a : fifo; workload { arrive closed(3); }"
     "session { loop { hold kv (1) { run a (1); } } }",
     "no closed form covers pools and caches"),
    ("stage a : step { budget 4; cost 1; } workload { arrive closed(3); } session { loop { run a decode (3); } }",
     "no closed form covers step stages"),
    ("stage a : fifo; workload { arrive renewal(1); } session { run a (~exp(0.5)); }",
     "the gaps between arrivals are not exponential"),
    ("stage a : fifo; workload { arrive batch(3); } session { run a (~exp(0.5)); }",
     "a batch drains: there is no steady state"),
    ("stage a : fifo; workload { arrive none; } session { run a (~exp(0.5)); }", "nothing arrives"),
    ("stage a : fifo; workload { arrive poisson(1); } session { loop { run a (~exp(0.1)); } }",
     "sessions arrive and do not leave: there is no steady state"),
    ("stage a[2] : fifo; workload { arrive closed(3); }"
     "session { loop { choose i in 2 by (queue(a[i])); run a[i] (~exp(1)); } }",
     "it chooses by keys that are evaluated as the system runs"),
    ("stage a : fifo; stage b : fifo; workload { arrive closed(3); }"
     "session { loop { branch (queue(a) < queue(b)) { run a (~exp(1)); } else { run b (~exp(1)); } } }",
     "a branch cannot be followed: it reads the state of a at that instant"),
    ("stage a : fifo; workload { arrive closed(3); }"
     "session { set t = now; loop { run a (~exp(1)); branch (now - t > 9) { end; } } }",
     "a branch cannot be followed: > of a time or a draw"),
    ("stage a : fifo; stage b : fifo; workload { arrive poisson(0.5); }"
     "session { set s = ~exp(1); run a (s); run b (s); }",
     "the run at b cannot be followed: its work is a draw that was the work of an earlier run:"
     " the two are not independent"),
    ("stage a : ps(1); stage b : delay; workload { arrive closed(3); } session { loop { run a (1); run b (2); } }",
     "a session whose times have no density repeats itself: its start is never forgotten"),
    ("stage a : fifo; workload { arrive closed(3); } session { set k = 0; loop { run a (~exp(k)); set k = k + 1; } }",
     "its attributes take more than 2000 combinations of values"),
    ("stage a : fifo; stage b : fifo; workload { arrive closed(3); }"
     "session { branch (0.5) { loop { run a (~exp(1)); } } else { loop { run b (~exp(1)); } } }",
     "chance decides for ever which of several loops a session is in"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), NONE)
def test_why_nothing_fits(text: str, reason: str) -> None:
    found = matched(text)
    assert not found.matches
    assert found.why_not == reason
    assert all(e.value is None and e.reason == reason for e in found.estimates)


OBSERVED = [
    ("observe x = (now - t) / s;", "/ of a time or a draw"),
    ("observe x = now;", "it is a time of day, not an interval"),
    ("observe x = now - t > 1;", "> of a time or a draw"),
    ("observe x = queue(svc);", "it reads the state of svc at that instant"),
    ("observe x = queue(svc) > 2;", "it reads the state of svc at that instant"),
    ("set q = busy(svc) == 1; observe x = q;", "it reads the state of svc at that instant"),
    ("observe x = now - begin;", "it spans a stay that no formula here gives"),
]


@pytest.mark.parametrize(("observe", "reason"), OBSERVED)
def test_what_cannot_be_observed_says_why(observe: str, reason: str) -> None:
    text = MM1N.replace("loop {", "set begin = now; loop {").replace("set t0", "set t = now; set t0")
    found = matched(text.replace("run svc (s);", "run svc (s);" + observe))
    assert names(found) == ["mm1n", "closed-network"]
    (mean,) = (e for e in found.estimates if e.measure == "observe.x.mean")
    assert (mean.value, mean.reason) == (None, reason)
    assert values(found)["observe.x.rate"] == F(16319, 16831)


def test_observes_of_numbers_draws_and_differences() -> None:
    text = MM1N.replace(
        "run think (~exp(Z));",
        "set u = ~choice(1: 1, 4: 3); observe number = 2 * u; observe draw = s + ~exp(5);"
        "set r = now - t0; run think (~exp(Z));"
        "observe later = r; observe cycle = now - t0; observe gap = now - t0 - r;",
    )
    got = values(matched(text))
    assert got["observe.number.mean"] == F(13, 2)
    assert got["observe.draw.mean"] == 6
    assert got["observe.later.mean"] == F(69372, 16319)
    assert got["observe.cycle.mean"] == F(69372, 16319) + 4
    assert got["observe.gap.mean"] == 4


def test_a_mark_kept_while_its_place_is_passed_again() -> None:
    text = MM1N.replace("loop {", "set old = now; loop { observe back = now - old;").replace(
        "set t0 = now;", "set t0 = now; set old = t0;"
    )
    got = values(matched(text))
    assert got["observe.back.mean"] == F(69372, 16319) + 4
    text = MM1N.replace("loop {", "set a = now; set b = a; loop { set b = a; set a = now; observe two = now - b;")
    assert values(matched(text))["observe.two.rate"] == F(16319, 16831)
    assert "observe.two.mean" not in values(matched(text))  # two instants of one place: not followed, not guessed


def test_a_mark_that_is_made_again_only_sometimes() -> None:
    text = MM1N.replace("loop {", "set t = now; loop { set k = ~bernoulli(0.5); set t = k ? now : t;").replace(
        "run think (~exp(Z));", "branch (k) { observe fresh = now - t; } observe any = now - t; run think (~exp(Z));"
    )
    found = matched(text)
    assert values(found)["observe.fresh.mean"] == F(69372, 16319)
    (kept,) = (e for e in found.estimates if e.measure == "observe.any.mean")
    assert (kept.value, kept.reason) == (None, "it is kept while the place that made it is passed again")


def test_what_a_test_for_room_leaves_open_is_not_guessed() -> None:
    look = "observe always = busy(svc) + queue(svc) < 9; observe some = queue(svc);"
    look += "observe luck = queue(svc) * ~bernoulli(0.5);"
    first = "observe first = queue(svc);"
    found = matched(LOSS % f"{first} branch (busy(svc) + queue(svc) < K) {{ {look} run svc (~exp(1 / mu)); }}")
    assert names(found) == ["mmck"]
    got = values(found)
    assert got["observe.always.mean"] == 1
    assert "observe.first.mean" not in got
    assert "observe.some.mean" not in got
    assert "observe.luck.mean" not in got


def test_floats_where_the_constants_are_irrational() -> None:
    found = matched(MM1N, mu="sqrt(2)")
    got = values(found)["stage.svc.number"]
    assert isinstance(got, float)
    assert got == pytest.approx(float(values(found.matches[1])["stage.svc.number"]), rel=1e-15)


def test_a_large_population_is_answered_by_the_recursion_alone() -> None:
    found = matched(MM1N, N="100000")
    assert names(found) == ["mm1n"]
    assert values(found)["stage.svc.number"] == 99_996.0
    (miss,) = found.near_misses
    assert miss.formula == "closed-network"
    assert "1000 population vectors" in miss.reason


def test_latex_speaks_the_constants_of_the_program() -> None:
    (one, whole) = matched(MM1N.replace("1 / mu", "work").replace("let mu = 1.0;", "let work = 1.0;")).matches
    assert (
        latex_of(one)["p0"]
        == r"p_0 = \frac{1}{\sum_{n=0}^{N} \frac{\left(\frac{Z}{work}\right)^{- n} N!}{\left(N - n\right)!}}"
    )
    assert latex_of(whole) == {}


def test_a_long_way_through_the_code() -> None:
    # 120 rounds, each with its own state, and a name that grows with every one of them
    found = matched("""
        let p = 0.5; stage a : fifo; stage z : delay; workload { arrive closed(2); }
        session { set x = 1; set k = 0; set t = now; loop {
          set k = k + 1; set x = x * p + 1;
          branch (k < 120) { run z (~exp(0.01)); observe age = now - t; }
          else { run a (~exp(x)); set x = 1; set k = 0; set t = now; } } }""")  # fmt: skip
    assert names(found) == ["mm1n", "closed-network"]
    mean, think = 2 - F(1, 2**120), F(119, 100)
    assert bindings(found.matches[0])["mu"] == (1 / mean, str(1 / mean))
    assert bindings(found.matches[0])["Z"][0] == think
    assert values(found)["observe.age.mean"] == F(60, 100)  # the mean of 1, 2, ..., 119 hundredths


def test_a_program_without_a_run_or_without_anybody() -> None:
    assert matched("stage a : fifo; workload { arrive poisson(1); } session { observe x = 1; }").why_not == (
        "no session runs anywhere"
    )
    assert "N must be a whole number" in matched(MM1N, N="0").why_not

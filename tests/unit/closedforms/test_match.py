"""Matching reads what a program does: many spellings, one formula."""

from fractions import Fraction

import pytest

from serq.closedforms.match import match
from serq.closedforms.matches import Match, Matches, latex_of
from serq.ir.expr import Number
from serq.ir.measures import measures_of
from serq.pipeline import load_text

F = Fraction


def matched(text: str, **sets: str) -> Matches:
    return match(load_text(text, overrides=sets).program)


def values(found: Matches | Match) -> dict[str, Number]:
    return {e.measure: e.value for e in found.estimates if e.value is not None}


def bindings(found: Match) -> dict[str, tuple[object, str]]:
    return {b.name: (b.value, b.text) for b in found.bindings}


def names(found: Matches) -> list[str]:
    return [m.formula.name for m in found.matches]


MM1N = """
let N = 8;  let mu = 1.0;  let Z = 4.0;
stage svc : fifo;  stage think : delay;
workload { arrive closed(N); }
session { loop {
  set t0 = now;  set s = ~exp(1 / mu);
  run svc (s);
  observe wait = now - t0 - s;  observe response = now - t0;
  run think (~exp(Z));
} }
"""


def test_the_finite_source_queue() -> None:
    found = matched(MM1N)
    assert names(found) == ["mm1n", "closed-network"]
    assert found.near_misses == ()
    assert bindings(found.matches[0]) == {"N": (8, "N"), "mu": (1, "mu"), "Z": (4, "Z")}
    assert bindings(found.matches[1])["S"] == ((F(1), F(4)), "1/mu, Z")
    got = values(found)
    assert got["stage.svc.number"] == F(69372, 16831)
    assert got["stage.svc.throughput"] == F(16319, 16831)
    assert got["observe.response.mean"] == F(69372, 16319)
    assert got["observe.wait.mean"] == F(53053, 16319)
    assert got["stage.think.utilisation"] == 1 - F(315, 16831)
    assert got["sessions.number"] == 8
    assert [e.measure for e in found.estimates] == [m.name for m in measures_of(found.program)]
    assert {e.method for e in found.estimates} == {"mm1n"}
    assert {e.witness for e in found.estimates} == {"closed form"}


SPELLINGS = {
    "other names, think first": """
        let people = 8; stage z : delay; stage q : fifo; workload { arrive closed(people); }
        session { loop { run z (~exp(4)); set began = now; run q (~exp(1)); observe response = now - began; } }""",
    "ended sessions are replaced": """
        stage q : fifo; stage z : delay; workload { arrive closed(8); }
        session { set a = now; run q (~exp(1)); observe response = now - a; run z (~exp(4)); }""",
    "unrolled, constants computed": """
        let a = 2; stage q : fifo(a - 1); stage z : delay; workload { arrive closed(a * 4); }
        session { loop {
          set t = now; run q (0.5 * ~exp(a)); observe response = now - t; run z (~exp(4));
          set t = now; run q (~exp(1)); observe response = now - t; run z (~exp(a + 2)); } }""",
    "a service ended by chance, in pieces": """
        let p = 0.75; stage q : fifo; stage z : delay; workload { arrive closed(8); }
        session { loop {
          set t = now; run q (~exp(1)); set r = now - t; observe response = r;
          loop { run z (~exp(1)); branch (1 - p) { set k = 0; } else { set k = 1; } branch (k == 0) { end; } } } }""",
    "thinking by any law, the draw kept": """
        stage q : fifo; stage z1 : delay; stage z2 : delay; workload { arrive closed(8); init { set m = 3; } }
        session { loop {
          set s = ~exp(1); set t = now; run q (s); observe response = now - t;
          run z1 (m); branch (0.5) { run z2 (~erlang(2, 2)); } } }""",
    "a ps station has the same number present": """
        stage q : ps(2); stage z : delay; workload { arrive closed(8); turn { set w = ~h2(2, 4); } }
        session { loop { turn; set t = now; run q (w); observe response = now - t; run z (~exp(4)); } }""",
    "a member of an array": """
        stage q[3] : fifo; stage z : delay; workload { arrive closed(8); }
        session { set i = 1; loop {
          set t = now; run q[i + 1] (~exp(1)); observe response = now - t; run z (~exp(4)); } }""",
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_the_finite_source_queue(spelling: str) -> None:
    found = matched(SPELLINGS[spelling])
    assert names(found) == ["mm1n", "closed-network"]
    for one in found.matches:
        assert values(one)["observe.response.mean"] == F(69372, 16319)


LOSS = """
let lam = 50;  let mu = 37;  let c = 2;  let K = 7;
stage svc : fifo(c);
workload { arrive poisson(lam); }
session { %s }
"""
RUN = "set t = now; run svc (~exp(1 / mu)); observe response = now - t;"
LOSS_SPELLINGS = [
    "branch (busy(svc) + queue(svc) < K) { RUN }",
    "branch (queue(svc) + busy(svc) >= K) { end; } RUN",
    "branch (!(K <= queue(svc) + busy(svc))) { RUN } else { observe lost = 1; end; }",
    "branch (queue(svc) < K - c) { RUN } else { end; }",
    "set lost = busy(svc) + queue(svc) >= K; observe blocked = lost; branch (lost) { end; } RUN",
    "branch (busy(svc) < c || queue(svc) <= K - c - 1) { RUN }",
    "set room = min(busy(svc) + queue(svc), K) != K; branch (room) { RUN }",
    "branch (busy(svc) + queue(svc) > K - 1 ? 0 : 1) { RUN }",
]


@pytest.mark.parametrize("spelling", LOSS_SPELLINGS)
def test_spellings_of_a_loss_station(spelling: str) -> None:
    found = matched(LOSS % spelling.replace("RUN", RUN))
    assert names(found) == ["mmck"]
    (one,) = found.matches
    assert {k: v for k, (v, _) in bindings(one).items()} == {"lam": 50, "mu": 37, "c": 2, "K": 7}
    got = values(found)
    assert got["observe.response.mean"] == F(19263569884, 452843018833)
    assert got["stage.svc.throughput"] == F(22642150941650, 465050050083)
    assert got["sessions.throughput"] == 50
    if "observe.blocked.mean" in got:
        assert got["observe.blocked.mean"] == F(12207031250, 465050050083)
    if "observe.lost.rate" in got:
        assert got["observe.lost.rate"] == 50 * F(12207031250, 465050050083)


def test_the_room_keeps_its_name() -> None:
    found = matched(LOSS % LOSS_SPELLINGS[0].replace("RUN", RUN))
    assert bindings(found.matches[0])["K"] == (7, "K")


def test_a_limit_is_a_loss_station_too() -> None:
    text = "let K = 5; stage svc : fifo; workload { arrive poisson(0.5) limit(K); } session { run svc (~exp(1)); }"
    found = matched(text)
    assert names(found) == ["mm1k", "limited-network"]
    assert bindings(found.matches[0]) == {"lam": (F(1, 2), "1/2"), "mu": (1, "1"), "K": (5, "K")}
    for one in found.matches:
        assert values(one)["sessions.losses"] == F(1, 126)
        assert values(one)["sessions.throughput"] == F(31, 63)


ENGSET = """
let N = 5; let c = 2; let mu = 1; let Z = 4;
stage svc : fifo(c); stage think : delay;
workload { arrive closed(N); }
session { loop {
  run think (~exp(Z));
  branch (busy(svc) + queue(svc) < %s) { run svc (%s); observe lost = 0; } else { observe lost = 1; }
} }
"""


def test_a_finite_source_with_loss() -> None:
    found = matched(ENGSET % ("c + 1", "~exp(1 / mu)"))
    assert names(found) == ["mmckn"]
    assert bindings(found.matches[0])["K"] == (3, "c + 1")
    assert values(found)["observe.lost.mean"] == F(3, 79)


def test_engset_has_any_law_of_work() -> None:
    found = matched(ENGSET % ("c", "1 / mu"))
    assert names(found) == ["mmckn", "engset"]
    first, second = (values(one) for one in found.matches)
    assert first["observe.lost.mean"] == second["observe.lost.mean"]
    assert first["stage.svc.number"] == second["stage.svc.number"]
    (miss,) = matched(ENGSET % ("c + 1", "1 / mu")).near_misses
    assert miss.formula == "mmckn"
    assert miss.reason == "the work at svc must be exponential (it is constant)"


def test_a_test_that_everybody_passes_is_no_test() -> None:
    found = matched(ENGSET % ("N", "~exp(1 / mu)"))
    assert names(found) == ["mmcn", "closed-network"]
    assert values(found)["observe.lost.mean"] == 0


OPEN = """
let lam = 0.5;
stage svc : %s;  stage think : delay;
workload { arrive %s; }
session { set t = now; run svc (%s); observe response = now - t; run think (1); observe whole = now - t; }
"""


@pytest.mark.parametrize(
    ("kind", "work", "formulas", "response"),
    [
        ("fifo", "~exp(1)", ["mm1", "mg1"], F(2)),
        ("fifo(2)", "~exp(1)", ["mmc"], F(16, 15)),
        ("fifo", "1", ["mg1"], F(3, 2)),
        ("fifo", "~erlang(2, 1)", ["mg1"], F(7, 4)),
        ("fifo", "~h2(1, 4)", ["mg1"], F(7, 2)),
        ("fifo", "~uniform(0, 2)", ["mg1"], F(5, 3)),
        ("fifo", "~choice(1: 1, 2: 1) / 2", ["mg1"], F(3, 4) + F(1, 2) * F(5, 8) / (2 * F(5, 8))),
        ("ps(1)", "~h2(1, 4)", ["mg1ps"], F(2)),
        ("ps(4)", "~exp(2)", ["mg1ps"], F(2, 3)),
        ("ps(min(n, 2))", "~erlang(3, 1)", ["mmc"], F(16, 15)),
        ("delay", "~exp(3)", ["mginf", "mginf"], F(3)),
    ],
)
@pytest.mark.parametrize("arrivals", ["poisson(lam)", "renewal(~exp(1 / lam))", "renewal(0.5 * ~exp(2 / lam))"])
def test_open_queues(kind: str, work: str, formulas: list[str], response: Fraction, arrivals: str) -> None:
    found = matched(OPEN % (kind, arrivals, work))
    assert names(found) == formulas
    for one in found.matches:
        assert values(one)["observe.response.mean"] == response
        assert values(one)["observe.whole.mean"] == response + 1
        assert values(one)["sessions.number"] == (response + 1) / 2


def test_a_mixture_of_hits_and_misses_is_one_law() -> None:
    found = matched("""
        let h = 0.75; let hit = 1; let miss = 3; let lam = 0.4;
        stage svc : fifo; workload { arrive poisson(lam); }
        session { set t = now;
          branch (h) { run svc (~exp(hit)); observe short = now - t; } else { run svc (~exp(miss)); }
          observe response = now - t; }""")  # fmt: skip
    assert names(found) == ["mg1"]
    assert bindings(found.matches[0])["m"] == (F(3, 2), "h*hit - h*miss + miss")
    assert values(found)["observe.response.mean"] == F(9, 2)
    assert values(found)["observe.short.mean"] == 4  # the wait is that of all, the work its own


def test_an_open_network_with_feedback_and_a_general_queue_at_its_end() -> None:
    found = matched("""
        let p = 0.3;
        stage a : fifo; stage b : ps(1); stage c : fifo(2); stage last : fifo; stage z : delay;
        workload { arrive poisson(0.5); }
        session { loop {
          run a (~exp(1)); run b (~h2(0.5, 4));
          branch (p) { run z (3); } else { run c (~exp(1)); set t = now; run last (~erlang(2, 1));
            observe end_time = now - t; end; } } }""")  # fmt: skip
    assert sorted(names(found)) == ["mg1", "mg1ps", "mm1", "mmc"]
    got = values(found)
    assert got["stage.a.number"] == F(5, 2)
    assert got["stage.b.number"] == F(5, 9)
    assert got["stage.c.number"] == F(8, 15)
    assert got["observe.end_time.mean"] == F(7, 4)


def test_a_jackson_network_comes_first_as_a_whole() -> None:
    found = matched("""
        let lam = 0.9; let p = 0.3; stage a : fifo; stage b : fifo; workload { arrive poisson(lam); }
        session { set t = now; branch (p) { run a (~exp(1)); } else { run b (~exp(1)); } observe r = now - t; }""")
    assert names(found) == ["open-network", "mm1", "mm1"]
    assert bindings(found.matches[0])["V"] == ((F(3, 10), F(7, 10)), "p, 1 - p")
    assert all(values(one)["observe.r.mean"] == F(6220, 2701) for one in found.matches)


def test_kinds_of_session_told_apart_by_serial() -> None:
    found = matched("""
        let first = 4;
        stage s1 : ps(min(n, 3)); stage s2 : ps(min(n, 3)); stage think : delay;
        workload { arrive closed(6); init { set k = serial >= first; } }
        session { loop {
          run think (k ? 2 : ~exp(1)); run s1 (~exp(k ? 2.5 : 1.5)); run s2 (~exp(k ? 4.5 : 3.5));
          branch (k) { observe second = 1; } else { observe one = 1; } } }""")  # fmt: skip
    assert names(found) == ["closed-classes"]
    got = values(found)
    assert got["observe.one.rate"] == F(424144, 775773)
    assert got["observe.second.rate"] == F(429908, 2327319)


def test_a_station_whose_rate_depends_on_the_number() -> None:
    found = matched(MM1N.replace("stage svc : fifo;", "stage svc : ps(n / (1 + 0.5 * (n - 1)));"), N="3")
    assert names(found) == ["closed-rates"]
    assert values(found)["observe.response.mean"] == F(62, 51)
    assert values(found)["stage.svc.throughput"] == F(153, 266)


def test_central_server() -> None:
    found = matched("""
        let p1 = 0.4; let p2 = 0.2; let p3 = 0.1;
        stage cpu : fifo; stage disk[3] : fifo; workload { arrive closed(6); }
        session { loop {
          run cpu (~exp(0.02));
          set to = ~choice(0: p1, 1: p2, 2: p3, 9: 1 - p1 - p2 - p3);
          branch (to < 9) { run disk[to] (~exp(0.2 * (to + 1))); } } }""")  # fmt: skip
    assert names(found) == ["closed-network"]
    assert bindings(found.matches[0])["V"][0] == (1, F(2, 5), F(1, 5), F(1, 10))
    assert values(found)["stage.disk[0].number"] == F(203360, 89941)


def test_gauges_that_are_sums_of_numbers() -> None:
    found = matched(MM1N + "gauge g = 2 * (busy(svc) + queue(svc)) - 1; gauge h = busy(svc) / N;"
                    "gauge q = queue(svc) > 0; gauge z = busy(think);")  # fmt: skip
    got = values(found)
    assert got["gauge.g.mean"] == 2 * F(69372, 16831) - 1
    assert got["gauge.h.mean"] == F(16319, 16831) / 8
    assert got["gauge.z.mean"] == 8 - F(69372, 16831)
    (unmapped,) = (e for e in found.estimates if e.measure == "gauge.q.mean")
    assert unmapped.value is None
    assert "sum of multiples" in unmapped.reason


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
    assert not found.matches
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

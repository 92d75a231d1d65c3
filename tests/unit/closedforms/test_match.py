"""Matching reads what a program does: many spellings, one formula."""

from fractions import Fraction

import pytest
from matching import ENGSET, LOSS, MM1N, OPEN, bindings, matched, names, values

from serq.ir.measures import measures_of

F = Fraction


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

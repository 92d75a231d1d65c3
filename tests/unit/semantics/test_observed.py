"""Means of observes: which are ratios of reward rates, to what value, and why the others are not."""

from fractions import Fraction

import pytest
from two_explorers import assert_alike

from serq.ir.chain import Unmapped
from serq.pipeline import SolveOptions, load_text, solve
from serq.semantics.control import control_of
from serq.semantics.explore import explore
from serq.semantics.mapping import map_measures

# M/M/1//3 with mean work 1 and mean think time 4: X = 39/71, response 19/13, wait 6/13
HEAD = "stage svc : fifo; stage think : delay; workload { arrive closed(3); }"
RATE, RESPONSE, WAIT = Fraction(39, 71), Fraction(19, 13), Fraction(6, 13)


def session(body: str, before: str = "") -> str:
    return f"{HEAD} session {{ {before} loop {{ {body} }} }}"


SPENT = "set t = now; set w = ~exp(1); run svc (w);"
PLAIN = "set t = now; run svc (~exp(1));"
THINK = "run think (~exp(4));"


def mean(text: str) -> Fraction:
    estimates = solve(load_text(text).program, SolveOptions(exact=True)).estimates
    (found,) = [e for e in estimates if e.measure == "observe.x.mean"]
    assert found.value is not None, found.reason
    return Fraction(found.value)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (f"{PLAIN} observe x = now - t; {THINK}", RESPONSE),
        (f"{PLAIN} {THINK} observe x = now - t;", RESPONSE + 4),
        (f"{SPENT} observe x = now - t - w; {THINK}", WAIT),
        (f"{SPENT} {THINK} observe x = now - t - w;", WAIT + 4),
        (f"{SPENT} observe x = w; {THINK}", Fraction(1)),
        (f"{SPENT} observe x = 3 - 2 * w / 4; {THINK}", Fraction(5, 2)),
        (f"{PLAIN} observe x = 2 * (now - t) / 3 + 1; {THINK}", 2 * RESPONSE / 3 + 1),
        (f"{PLAIN} observe x = -(t - now); {THINK}", RESPONSE),
        (f"{PLAIN} set m = now; {THINK} observe x = 2 * now - t - m;", RESPONSE + 8),
        (f"{PLAIN} set m = now; {THINK} observe x = m - t;", RESPONSE),
        (f"{PLAIN} set r = now - t; {THINK} observe x = r;", RESPONSE),
        (f"{PLAIN} set r = now - t; {THINK} observe x = 3 * r + now - t;", 4 * RESPONSE + 4),
        (f"{PLAIN} set r = now - t; set q = 2 * r; {THINK} observe x = q - r;", RESPONSE),
        (f"{SPENT} set r = now - t - w; {THINK} observe x = r;", WAIT),
        (f"{PLAIN} branch (0.5) {{ observe x = now - t; }} else {{ observe x = now - t; }} {THINK}", RESPONSE),
        (f"{PLAIN} observe x = ~exp(7); {THINK}", Fraction(7)),
        (f"{PLAIN} set u = ~uniform(2, 4); {THINK} branch (0.3) {{ observe x = u; }}", Fraction(3)),
        (f"set k = ~choice(1: 1, 3: 1); {PLAIN} observe x = k == 1 ? now - t + 1 : now - t + 3; {THINK}", RESPONSE + 2),
        (f"set k = ~choice(1: 1, 3: 1); {PLAIN} observe x = now - t + k; {THINK}", RESPONSE + 2),
        (f"{PLAIN} observe x = now - t; {THINK} set t = now;", RESPONSE),
    ],
)
def test_mapped(body: str, value: Fraction) -> None:
    assert mean(session(body)) == value


def test_zero_times_the_time_is_a_number() -> None:
    assert mean(session(f"{PLAIN} observe x = 0 * now + 2; {THINK}")) == 2


TAGGED = "the tagged-session chain"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{PLAIN} branch (0.5) {{ observe x = now - t; }} {THINK}", TAGGED),
        (f"{PLAIN} observe x = now - t; {THINK} observe x = now - t;", TAGGED),
        (f"{PLAIN} branch (0.5) {{ observe x = now - t; }} else {{ observe x = 2 * (now - t); }} {THINK}", TAGGED),
        (f"{SPENT} branch (0.5) {{ observe x = w; }} {THINK}", TAGGED),
        (f"{SPENT} set v = 2 * w; {THINK} branch (0.5) {{ observe x = v; }}", TAGGED),
        (f"{PLAIN} set r = now - t; {THINK} branch (0.5) {{ observe x = r; }}", TAGGED),
        (f"{PLAIN} observe x = (now - t) * (now - t); {THINK}", TAGGED),
        (f"{PLAIN} observe x = now - t > 3; {THINK}", TAGGED),
        (f"{PLAIN} observe x = min(now - t, 3); {THINK}", TAGGED),
        (f"{SPENT} observe x = (now - t) / w; {THINK}", "multiplies, divides or compares a time and a draw"),
        (f"{SPENT} observe x = w * w; {THINK}", "not linear in its draws"),
        (f"{SPENT} observe x = w > 1; {THINK}", "not linear in its draws"),
        (f"{PLAIN} observe x = now; {THINK}", "grows with the time itself"),
        (f"{PLAIN} observe x = now - 2 * t; {THINK}", "grows with the time itself"),
        (f"{PLAIN} observe x = queue(svc) * (now - t); {THINK}", TAGGED),
        (f"{PLAIN} observe x = queue(svc) ? now - t : 2 * now - 2 * t; {THINK}", "which times it counts depends"),
        (f"{PLAIN} observe x = work(svc); {THINK}", "unfinished work"),
        (f"{PLAIN} set u = t; {THINK} observe x = now - u;", "grows with the time itself"),
    ],
)
def test_not_mapped(body: str, reason: str) -> None:
    chain = explore(load_text(session(body)).program)
    (found,) = [r for r in chain.ratios if r.measure == "observe.x.mean"]
    assert isinstance(found, Unmapped)
    assert reason in found.reason


def test_a_sum_over_several_rounds() -> None:
    body = f"set t = now; run svc (~exp(1)); set sum = sum + (now - t); {THINK} observe x = sum;"
    (found,) = [
        r for r in explore(load_text(session(body, "set sum = 0;")).program).ratios if r.measure == "observe.x.mean"
    ]
    assert isinstance(found, Unmapped)


def test_sessions_that_leave_at_once_do_not_count() -> None:
    """M/M/1/2 by a branch: the time of those who are turned away is nothing."""
    text = """stage svc : fifo; workload { arrive poisson(1); } session {
      set t = now; set w = ~exp(1);
      branch (queue(svc) + busy(svc) >= 2) { end; }
      run svc (w);
      observe x = now - t - w;
    }"""
    assert mean(text) == Fraction(1, 2)


def test_a_clock_of_the_turn_block() -> None:
    text = f"""{HEAD.replace("closed(3);", "closed(3); turn { set t = now; }")}
    session {{ loop {{ turn; run svc (~exp(1)); observe x = now - t; {THINK} }} }}"""
    assert mean(text) == RESPONSE


def test_the_region_of_a_clock_is_that_of_the_observe() -> None:
    text = session(f"set t = now; run svc (~exp(1)); observe x = now - t; {THINK} observe y = now - t;")
    mapping = map_measures(control_of(load_text(text).program))
    assert set(mapping.regions) == {"time.t.x", "time.t.y"}
    assert mapping.regions["time.t.x"] < mapping.regions["time.t.y"]


def test_an_observe_that_is_no_number_has_no_mean() -> None:
    text = session(f"set k = ~bernoulli(0.5); {PLAIN} observe x = 1 / k; {THINK}")
    (found,) = [r for r in explore(load_text(text).program).ratios if r.measure == "observe.x.mean"]
    assert isinstance(found, Unmapped)
    assert "inf" in found.reason


@pytest.mark.parametrize("value", ["serial", "0 * serial + 1", "k", "serial - k", "serial ? 1 : now - t"])
def test_the_serials_of_sessions_without_end_are_in_no_state(value: str) -> None:
    """M/M/1/3 with a load of 1/2 has the four states 0..3 with weights 8, 4, 2, 1, whatever is observed in it."""
    text = f"""stage svc : fifo; workload {{ arrive poisson(0.5) limit(3); }} session {{
      set t = now; set k = serial; run svc (~exp(1)); observe x = {value}; }}"""
    program = load_text(text).program
    solved = solve(program, SolveOptions(exact=True))
    values = {e.measure: e.value for e in solved.estimates}
    assert values["stage.svc.number"] == Fraction(1 * 4 + 2 * 2 + 3 * 1, 15)
    assert values["observe.x.rate"] == Fraction(7, 15)
    assert assert_alike(program) == 4
    (found,) = [r for r in solved.chain.ratios if r.measure == "observe.x.mean"]
    assert isinstance(found, Unmapped)
    assert "reads `serial`, which grows for ever" in found.reason

"""Victims by keys, and iterations that are planned before the outcome of the one before is known."""

from typing import Any

import pytest
from running import report, run, seen
from toy import play


def preempted(text: str, **given: Any) -> list[tuple[float, int]]:
    """When and whom growths preempted."""
    return [(time, session) for time, _, _, session in play(text, **given).log.of("preempted")]


GROWING = """
pool m {{ cap 3; {preempt} }}
stage d : delay;
workload {{ arrive batch(3); }}
session {{ hold m (1) {{ run d (1 + serial / 10); {grow} run d (5); }} }}
"""
FIRST_GROWS = "branch (serial == 0) { grow m (1); }"


@pytest.mark.parametrize(
    ("preempt", "victim"),
    [
        ("preempt lifo;", 2),
        ("preempt by (serial);", 0),
        ("preempt by (-serial);", 2),
        ("preempt by (abs(serial - 1));", 1),
        ("preempt by (1);", 0),  # of equals the one admitted first
        ("preempt by (serial == 0, -serial);", 2),
        ("preempt by (serial == 0, serial);", 1),
    ],
)
def test_the_smallest_keys_are_preempted_first_and_of_equals_the_first_admitted(preempt: str, victim: int) -> None:
    assert preempted(GROWING.format(preempt=preempt, grow=FIRST_GROWS))[0] == (1.0, victim)


def test_a_victim_stands_in_its_queue_where_the_keys_put_it() -> None:
    """Session 1 is taken back by the growth of 0 at time 1; session 2, which arrived later, is more urgent."""
    text = """
    pool m {{ cap 2; queue by (urgency); {preempt} }}
    stage d : delay;
    workload {{ arrive none; init {{ set urgency = serial == 2 ? 0 : serial == 0 ? 1 : 5; }} }}
    session {{ hold m (1) {{ branch (serial == 0) {{ run d (1); grow m (1); run d (3); }} else {{ run d (9); }} }} }}
    """
    order = {}
    for preempt in ("preempt by (-urgency);", "preempt lifo;"):
        log = play(text.format(preempt=preempt), arrivals=[0, 0, 0.5]).log
        order[preempt] = [session for time, _, _, session, _ in log.of("admitted") if time > 0]
    assert order["preempt by (-urgency);"] == [2, 1]
    assert order["preempt lifo;"] == [1, 2]


def test_equals_in_the_queue_let_the_victim_go_first() -> None:
    text = """
    pool m { cap 2; queue by (1); preempt by (-serial); }
    stage d : delay;
    workload { arrive none; }
    session { hold m (1) { branch (serial == 0) { run d (1); grow m (1); run d (3); } else { run d (9); } } }
    """
    log = play(text, arrivals=[0, 0, 0.5]).log
    assert [session for time, _, _, session, _ in log.of("admitted") if time > 0] == [1, 2]


STEPPING = """
pool reqs {{ cap 4; queue by (serial); admit via engine; }}
pool kv {{ cap {cap}; block 4; preempt by (serial != {victim}); }}
stage engine : step {{ budget {budget}; cost 1; memory kv; }}
workload {{ arrive batch({sessions}); }}
session {{
  hold reqs (1), kv (min(4, budget_left(engine))) {{
    run engine prefill (4) growing kv;
    observe first = now;
    run engine decode (8) growing kv;
  }}
  observe done = now;
}}
run {{ horizon 100; }}
"""


def test_what_a_victim_was_given_in_the_iteration_returns_to_its_budget() -> None:
    """Iteration 2: session 0 has its token when 1 grows and takes 0's memory; the third then gets a token of it."""
    log = play(STEPPING.format(cap=16, victim=0, budget=12, sessions=3)).log
    rows = {time: [serial for serial, _, _ in jobs] for time, _, _, jobs, _ in log.of("iteration")}
    assert (1.0, 0) in [(time, s) for time, _, _, s in log.of("preempted")]
    assert rows[1.0] == [1, 2]


def test_a_session_that_is_its_own_victim_ends_the_handing_out() -> None:
    """Session 1, in the middle, finds no memory and gives its own back: the third gets nothing in that iteration."""
    log = play(STEPPING.format(cap=16, victim=1, budget=12, sessions=3)).log
    rows = {time: [serial for serial, _, _ in jobs] for time, _, _, jobs, _ in log.of("iteration")}
    assert (1.0, 1) in [(time, s) for time, _, _, s in log.of("preempted")]
    assert rows[1.0] == [0]


AHEAD = """
pool reqs {{ cap 1; admit via engine; }}
pool kv {{ cap 100; }}
stage engine : step {{ budget 8; cost 1; {ahead} memory kv; }}
stage other : step {{ budget 8; cost 1; }}
stage gate : delay;
workload {{ arrive batch(3); }}
session {{
  branch (serial == 2) {{ run gate (4.5); }}
  hold reqs (1), kv (4) {{ run engine prefill (4); run engine decode (2); }}
  observe done = now;
  end;
}}
run {{ horizon 100; }}
"""


def test_an_engine_with_nothing_else_to_do_waits_for_nothing() -> None:
    """One at a time: the next is admitted at the instant at which the one before gives its slot back."""
    assert seen(run(AHEAD.format(ahead="plan ahead;")), "done") == seen(run(AHEAD.format(ahead="")), "done")


def test_who_waits_for_a_slot_gets_it_an_iteration_later() -> None:
    text = """
    pool reqs {{ cap 2; admit via engine; }}
    stage engine : step {{ budget 8; cost 1; {ahead} }}
    workload {{ arrive batch(3); }}
    session {{
      hold reqs (1) {{ run engine prefill (1); run engine decode (serial == 0 ? 1 : 9); }}
      observe done = now;
    }}
    run {{ horizon 100; }}
    """
    done = [[t for t, _, _ in seen(run(text.format(ahead=ahead)), "done")] for ahead in ("", "plan ahead;")]
    assert done == [[2.0, 10.0, 12.0], [2.0, 10.0, 13.0]]


def test_a_hold_that_ends_elsewhere_gives_back_at_once() -> None:
    text = """
    pool reqs { cap 1; admit via engine; }
    stage engine : step { budget 8; cost 1; plan ahead; }
    stage tool : delay;
    workload { arrive batch(2); }
    session { hold reqs (1) { run engine prefill (1); run tool (0.25); } observe done = now; }
    run { horizon 100; }
    """
    assert [t for t, _, _ in seen(run(text), "done")] == [1.25, 2.5]


def test_a_session_that_ends_within_its_hold_lingers_too() -> None:
    text = """
    pool reqs { cap 2; admit via engine; }
    stage engine : step { budget 8; cost 1; plan ahead; }
    workload { arrive batch(3); }
    session { hold reqs (1) { observe begun = now; run engine prefill (serial == 1 ? 20 : 1); end; } }
    run { horizon 100; }
    """
    assert seen(run(text), "begun") == [(0, 0, 0), (0, 1, 0), (2.0, 2, 2.0)]


def test_every_pool_is_conserved_when_holds_linger() -> None:
    text = AHEAD.format(ahead="plan ahead;").replace("batch(3)", "batch(9)").replace("cap 1;", "cap 3;")
    result = report(text)
    assert result.sessions.totals["ended"] == 9

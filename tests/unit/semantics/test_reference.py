"""The interpreter: arrivals, ties, virtual time, limits and errors, on programs whose course is known by hand.

Ties were checked against the peer interpreter as well (`tests/peers`).
"""

import math

import pytest
from running import answer, options, program_of, report, run, seen, values

from serq.base.errors import LimitError, RunError, UsageError
from serq.semantics.limits import Limits
from serq.semantics.options import options_of
from serq.semantics.reference import simulate

END = " run { horizon 40; warmup 0; seed 1; }"


def workload(arrivals, session, stages="stage d : delay; stage s : fifo;", end=END):
    return f"{stages} workload {{ arrive {arrivals}; }} session {{ {session} }} {end}"


# -- arrivals --------------------------------------------------------------------------------------------------------


def test_a_poisson_stream_begins_at_time_0_and_has_its_rate():
    result = run(workload("poisson(50)", "observe at = now; run d (1);"))
    times = values(result, "at")
    assert times[0] == 0.0
    assert len(times) == pytest.approx(2000, abs=5 * math.sqrt(2000))  # false alarm below 1e-6


def test_a_renewal_stream_begins_with_a_gap():
    assert values(run(workload("renewal(3)", "observe at = now; run d (1);")), "at") == [3.0 * k for k in range(1, 14)]


@pytest.mark.parametrize("arrivals", ["closed(3)", "batch(3)"])
def test_a_population_and_a_batch_arrive_at_time_0_in_order(arrivals):
    result = run(workload(arrivals, "observe at = now; run d (50);"))
    assert seen(result, "at") == [(0.0, 0, 0.0), (0.0, 1, 0.0), (0.0, 2, 0.0)]


def test_a_closed_population_replaces_who_leaves():
    result = run(workload("closed(1)", "observe at = now; run d (15);"))
    assert seen(result, "at") == [(0.0, 0, 0.0), (15.0, 1, 15.0), (30.0, 2, 30.0)]


def test_without_arrivals_nothing_happens():
    assert run(workload("none", "observe at = now; run d (1);")).events == 0


def test_an_arrival_at_the_limit_is_lost_and_counted():
    """Arrivals at 1, 2, 3 ...; each stays 2.5: of every three the third finds two present."""
    result = report(workload("renewal(1) limit(2)", "observe at = now; run d (2.5);"), horizon=30.5)
    assert result.sessions.totals["lost"] == 10
    assert result.sessions.totals["arrived"] == 20
    assert answer(result, "sessions.losses") == pytest.approx(10 / 30.5)


# -- ties ------------------------------------------------------------------------------------------------------------


def test_the_next_arrival_is_set_before_the_session_runs():
    """D/D/1 at rho = 1: the arrival at n fires before the departure at n, and nobody waits for any time."""
    result = report(workload("renewal(1)", "observe found = queue(s) + busy(s); run s (1); observe x = 1; end;"))
    assert answer(result, "observe.found.mean") == pytest.approx(39 / 40)
    assert answer(result, "stage.s.wait") == 0
    assert answer(result, "stage.s.number") == pytest.approx(39 / 40)
    assert answer(result, "stage.s.utilisation") == pytest.approx(39 / 40)
    assert answer(result, "stage.s.waiting") == 0


def test_fifo_with_two_servers_starts_in_the_order_of_arrival():
    result = run(workload("batch(6)", "run s (1); observe start = now - 1; end;", "stage s : fifo(2);"))
    assert [(s, v) for _, s, v in seen(result, "start")] == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]


TWO_DELAYS_AROUND = """branch (serial == 0) {{ {first} observe o = 0; end; }}
  branch (serial == 3) {{ run d (4); observe o = 3; end; }} run p (2); observe o = serial;"""


def test_clocks_of_shared_stages_are_set_when_the_instant_is_over():
    """Two jobs of work 2 share the stage until 4, when two delays end that were set before and after they joined."""
    stages = "stage d : delay; stage p : ps(1);"
    text = workload("batch(4)", TWO_DELAYS_AROUND.format(first="run d (4);"), stages)
    assert seen(run(text), "o") == [(4.0, 0, 0.0), (4.0, 3, 3.0), (4.0, 1, 1.0), (4.0, 2, 2.0)]


def test_a_clock_set_later_fires_later():
    stages = "stage d : delay; stage p : ps(1);"
    text = workload("batch(4)", TWO_DELAYS_AROUND.format(first="run d (1); run d (3);"), stages)
    assert [s for _, s, _ in seen(run(text), "o")] == [3, 1, 0, 2]


def test_an_iteration_starts_only_when_no_other_clock_is_set_for_its_instant():
    """Both shared jobs end at 4, as a delay does: the iteration that begins at 4 sees all three, in that order."""
    stages = "stage d : delay; stage p : ps(1); stage e : step { budget 8; cost 1; }"
    session = """branch (serial < 2) { run p (2); observe o = serial; run e prefill (4); observe done = now; end; }
      run d (4); run e prefill (4); observe done = now; end;"""
    assert seen(run(workload("batch(3)", session, stages)), "done") == [(5.0, 2, 5.0), (5.0, 0, 5.0), (6.0, 1, 6.0)]


# -- stages ----------------------------------------------------------------------------------------------------------


def test_processor_sharing_by_hand():
    """Starts at 0, 1, 2 with work 4, 3, 2 at total rate 1."""
    session = "run d (serial); run p (4 - serial); observe done = now; end;"
    result = run(workload("batch(3)", session, "stage d : delay; stage p : ps(1);"))
    # left at 2: 2.5, 2.5, 2; all at 1/3: the last is done at 8, the others tie at 9
    assert [(s, v) for _, s, v in seen(result, "done")] == [(2, 8.0), (0, 9.0), (1, 9.0)]


def test_no_rate_no_progress():
    text = workload("batch(2)", "run d (2 * serial); run p (3); observe done = now; end;",
                    "stage d : delay; stage p : ps(n - 1);")  # fmt: skip
    assert seen(run(text), "done") == [(8.0, 0, 8.0)]


def test_unfinished_work_of_every_kind_of_stage():
    """Read by a session that looks at time 0.5; the step stage has had 4 of 12 tokens by then."""
    stages = """stage d : delay; stage s : fifo(2); stage p : ps(1); stage e : step { budget 4; cost 0.4; }
      stage look : delay;"""
    session = """branch (serial < 3) { run s (8); end; } branch (serial < 5) { run p (3); end; }
      branch (serial < 6) { run d (2); end; } branch (serial < 7) { run e prefill (12); end; }
      run look (0.5); observe s = work(s); observe p = work(p); observe d = work(d); observe e = work(e); end;"""
    result = run(workload("batch(8)", session, stages))
    assert [values(result, x) for x in "spde"] == [[23.0], [5.5], [1.5], [8.0]]


# -- draws -----------------------------------------------------------------------------------------------------------


def test_a_branch_of_0_or_1_draws_nothing():
    plain = workload("batch(2)", "run d (1); observe u = ~uniform(0, 1);")
    tests = workload("batch(2)", "branch (1) { branch (0) { observe u = 5; } } run d (1); observe u = ~uniform(0, 1);")
    drawn = workload("batch(2)", "branch (0.5) { observe v = 1; } run d (1); observe u = ~uniform(0, 1);")
    assert values(run(plain), "u") == values(run(tests), "u") != values(run(drawn), "u")


def test_the_workload_has_a_stream_of_its_own():
    """What `init` draws does not move what the session draws."""
    bare = run("stage d : delay; workload { arrive batch(3); } session { observe u = ~exp(1); run d (1); }" + END)
    text = (
        """stage d : delay; workload { arrive batch(3); init { set a = ~exp(1); } turn { set b = ~exp(1); } }
      session { observe a = a; turn; observe u = ~exp(1); run d (1); }"""
        + END
    )
    other = run(text)
    assert values(bare, "u") == values(other, "u")
    assert not set(values(other, "a")) & set(values(other, "u"))


def test_replications_and_seeds_differ_and_repeat():
    program = program_of(workload("batch(5)", "observe u = ~exp(1); run d (1);"))
    settings = options(program)
    again = [simulate(program, settings, k).samples["u"].values.tolist() for k in (0, 0, 1)]
    assert again[0] == again[1] != again[2]
    reseeded = simulate(program, options(program, seed=2)).samples["u"].values.tolist()
    assert reseeded not in again


# -- errors and limits -----------------------------------------------------------------------------------------------


def failure(text, **changes):
    with pytest.raises(RunError) as caught:
        run(text, **changes)
    fault = caught.value.diagnostics[0]
    line = text.split("\n")[fault.span.line - 1]
    return fault.code, line[fault.span.column - 1 : fault.span.end_column - 1], fault.message


def test_a_draw_from_no_law_is_refused_where_it_stands():
    code, place, message = failure(workload("batch(2)", "run d (1); run d (~exp(3 - 4 * (now + serial)));"))
    assert (code, place) == ("SQ514", "~exp(3 - 4 * (now + serial))")
    assert message == "~exp(-1) cannot be drawn: its mean must not be negative"


@pytest.mark.parametrize(
    ("gap", "shown"),
    [("5 - 2 * now", "-5"), ("1 / (1 - now)", "inf"), ("1 - now", "0, 10000 times in a row")],
)
def test_a_gap_that_is_none_is_refused(gap, shown):
    code, place, message = failure(workload(f"renewal({gap})", "end;"), checked=False)
    assert (code, place) == ("SQ515", gap)
    assert message == f"the gap to the next arrival is {shown}"


@pytest.mark.parametrize(("rate", "shown"), [("1 - n", "-1"), ("0 / (n - 2)", "nan"), ("1 / (2 - n)", "inf")])
def test_a_capacity_that_is_none_is_refused(rate, shown):
    text = workload("batch(2)", "run d (serial); run p (9);", f"stage d : delay; stage p : ps({rate});")
    code, place, message = failure(text)
    assert (code, place) == ("SQ508", rate)
    assert message == f"the capacity for n = 2 of stage p is {shown}"


@pytest.mark.parametrize(("work", "problem"), [("now - 2", "-1 is negative"), ("1 / (now - 1)", "it is infinite"),
                                               ("(now - 1) / (now - 1)", "it is NaN")])  # fmt: skip
def test_work_that_is_none_is_refused(work, problem):
    code, place, message = failure(workload("batch(1)", f"run d (1); run d ({work}); end;"))
    assert (code, place) == ("SQ501", work)
    assert problem in message


def test_a_loop_without_time_is_stopped():
    text = "stage d : delay; workload { arrive batch(1); } session { loop { run d (max(1 - now, 0)); } }" + END
    code, _, message = failure(text, limits=Limits(commands=1000))
    assert code == "SQ509"
    assert "1000 commands at time 1" in message


def test_the_event_limit_says_how_far_the_run_came():
    with pytest.raises(LimitError, match=r"stopped at 500 events: time 250\.75 of 1000, 0 sessions present"):
        run(workload("renewal(1)", "run d (0.75);"), horizon=1000, events=500)


def test_the_memory_limit_is_looked_at():
    with pytest.raises(LimitError, match="MiB of memory"):
        run(workload("poisson(1000)", "run d (1e9);"), memory=1 << 20, checked=False)


def test_progress_rises_to_the_end_and_may_interrupt():
    program = program_of(workload("poisson(400)", "run d (1);"))
    seen_parts = []
    simulate(program, options(program, checked=False), progress=seen_parts.append)
    assert seen_parts == sorted(seen_parts)
    assert 0 < seen_parts[0] < seen_parts[-1] <= 1

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(program, options(program, checked=False), progress=interrupt)


def test_sessions_that_wait_for_ever_are_named():
    text = (
        """pool m { cap 1; } stage d : delay; workload { arrive batch(2); }
session { hold m (1) {
  run d (1);
  hold m (1) { run d (1); } } }"""
        + END
    )
    result = run(text)
    assert result.waiting == ("session 0 waits for pool m at line 4", "session 1 waits for pool m at line 2")


# -- options ---------------------------------------------------------------------------------------------------------


def test_settings_come_from_the_program_or_the_call():
    program = program_of(workload("batch(1)", "run d (1);"))
    assert options_of(program).horizon == 40
    changed = options_of(program, seed=7, horizon=9, warmup=2)
    assert (changed.seed, changed.horizon, changed.warmup) == (7, 9.0, 2.0)


@pytest.mark.parametrize(
    ("end", "given", "text"),
    [
        ("", {}, "there is no horizon"),
        ("run { horizon 10; }", {"warmup": 10.0}, "the warm-up of 10 must lie between 0 and the horizon, 10"),
        ("run { horizon 10; }", {"horizon": 0.0}, "the horizon must be positive"),
    ],
)
def test_settings_that_make_no_sense_are_refused(end, given, text):
    program = program_of(workload("batch(1)", "run d (1);", end=end))
    with pytest.raises(UsageError, match=text):
        options_of(program, **given)


def test_a_trace_without_a_place_for_it_is_refused():
    program = program_of(workload("batch(1)", "run d (1);"))
    with pytest.raises(UsageError, match="has no `trace`"):
        simulate(program, options(program, trace="some.csv"))

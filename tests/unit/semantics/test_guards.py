"""What a program can do wrong while it runs: each stops the run with a code, a place and words."""

import pytest
from toy import play

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, RunError
from serq.semantics.limits import Limits

FEW = Limits(commands=5_000, preemptions=200, replacements=50)


def fault(text: str, **options: object) -> Diagnostic:
    """The diagnostic with which the run ends."""
    with pytest.raises(RunError) as caught:
        play(text, limits=FEW, **options)  # type: ignore[arg-type]
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def in_session(body: str, before: str = "", n: int = 1) -> str:
    """A program with a delay stage d whose session is the body, on line 4."""
    workload = f"workload {{ arrive batch({n}); init {{ set zero = serial; }} }}"
    return f"stage d : delay; {before}\n{workload}\nsession {{\n{body}\n}}"


@pytest.mark.parametrize(
    ("body", "before", "code", "column", "says"),
    [
        ("run d (zero - 1);", "", "SQ501", 8, "-1.0 is no work"),
        ("run d (1 / zero);", "", "SQ501", 8, "inf is no work"),
        ("run d (zero / zero);", "", "SQ501", 8, "nan is no work"),
        ("branch (zero + 1.5) { }", "", "SQ502", 9, "is 1.5"),
        ("branch (zero / zero) { }", "", "SQ502", 9, "is nan"),
        ("run a[zero + 2](1);", "stage a[2] : delay;", "SQ503", 5, "a[2] does not exist"),
        ("run a[zero + 0.5](1);", "stage a[2] : delay;", "SQ503", 5, "a[0.5] does not exist"),
        ("branch (zero) { set x = 1; } run d (x);", "", "SQ504", 37, "reads x"),
        ("hold m (zero / zero) { }", "pool m { cap 4; }", "SQ505", 9, "units"),
        ("hold m (1) reserve (zero / zero) { }", "pool m { cap 4; }", "SQ505", 21, "reserve"),
        ("hold m (1) reuse (zero / zero) { }", "pool m { cap 4; }", "SQ505", 19, "reuse"),
        ("hold m (1) { } cache (zero / zero);", "pool m { cap 4; }", "SQ505", 23, "cache length"),
        ("hold m (1) { grow m (zero / zero); }", "pool m { cap 4; }", "SQ505", 22, "growth"),
        ("hold m[0] (1) { grow m[zero + 1] (1); }", "pool m[2] { cap 4; }", "SQ506", 17, "m[1]"),
        ("hold m[0] (1), m[zero] (1) { }", "pool m[2] { cap 4; }", "SQ507", 1, "m[0] twice"),
        ("hold m (1) { grow m (zero + 4); }", "pool m { cap 4; }", "SQ511", 14, "5 units, and the cap is 4"),
        ("choose k in zero by (k);", "", "SQ513", 13, "among 0"),
        ("choose k in zero + 1.5 by (k);", "", "SQ513", 13, "among 1.5"),
    ],
)  # fmt: skip
def test_a_bad_value_stops_the_run_where_it_is_read(body: str, before: str, code: str, column: int, says: str) -> None:
    found = fault(in_session(body, before))
    assert found.code == code
    assert (found.span.line, found.span.column) == (4, column)
    assert says in found.message


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("budget 1 + 0 / (now - now); cost 1;", "the budget of stage e is nan"),
        ("budget 4; chunk 0 / (now - now); cost 1;", "the chunk of stage e is nan"),
        ("budget 4; cost ntok - 5;", "the cost of stage e is -3"),
        ("budget 4; cost 1 / (ntok - 2);", "the cost of stage e is inf"),
    ],
)
def test_a_bad_value_of_a_step_stage(options: str, says: str) -> None:
    found = fault(f"stage e : step {{ {options} }}\nworkload {{ arrive batch(1); }}\nsession {{ run e prefill (2); }}")
    assert (found.code, found.span.line, found.message) == ("SQ508", 1, says)


def test_an_unset_attribute_in_a_cache_clause_that_a_preemption_reads() -> None:
    found = fault(
        in_session(
            "hold m (2) { run d (1 + serial); branch (serial == 0) { grow m (2); } set l = 4; run d (5); } cache (l);",
            "pool m { cap 4; preempt lifo; }",
            n=2,
        )
    )
    assert (found.code, found.span.line, found.span.column) == ("SQ504", 4, 102)
    assert found.message == "session 1 reads l, which it has not set yet"


def test_an_unset_attribute_in_an_eviction_key_is_the_owners() -> None:
    found = fault(
        in_session(
            "hold m (3) { run d (1); } cache (3); branch (serial == 9) { set k = 1; } run d (k);",
            "pool m { cap 4; evict by (k); }",
            n=2,
        )
    )
    assert (found.code, found.message[:9]) == ("SQ504", "session 0")


def test_a_loop_without_time_is_stopped_and_named() -> None:
    found = fault(in_session("loop { run d (zero); }"))
    assert (found.code, found.span.line) == ("SQ509", 4)
    assert found.message == "more than 5000 commands at time 0 without time passing; session 0 stands here"


def test_the_count_of_commands_starts_anew_when_time_passes() -> None:
    text = in_session("loop { set zero = zero + 1; run d (zero % 1000 == 0 ? 1 : 0); }")
    assert play(text, until=9, limits=FEW).machine.configuration.sessions


@pytest.mark.parametrize(("body", "line"), [("set x = 1;", 5), ("hold m (9 + serial) { run d (1); }", 4)])
def test_a_closed_population_that_ends_without_time_passing(body: str, line: int) -> None:
    text = "stage d : delay; pool m { cap 4; }\nworkload { arrive closed(2); }\nsession {\n" + body + "\n}"
    found = fault(text)
    assert (found.code, found.span.line) == ("SQ510", line)
    assert found.message.startswith("53 sessions of the closed population ended at time 0 without time passing")


def test_preemptions_that_lead_nowhere_are_a_livelock_with_session_and_hold() -> None:
    # session 0 holds z and wants the memory that session 1 keeps while it waits for z
    found = fault(
        """stage e : step { budget 4; cost 1; memory m; }
        pool m { cap 8; preempt lifo; } pool z { cap 1; } stage d : delay;
        workload { arrive batch(2); }
        session {
          branch (serial == 1) { hold m (4) { run d (1); hold z (1) { } } end; }
          hold z (1) {
            hold m (2) { run e decode (6) growing m; }
          }
        }
    """,
        until=5000,
    )
    assert (found.code, found.span.line, found.span.column) == ("SQ512", 7, 13)
    assert "session 0, whose hold on m begins here" in found.message


def test_a_livelock_within_an_instant_is_one_too() -> None:
    found = fault(
        in_session("hold m (2) { run d (1 - serial); grow m (1); run d (1); }", "pool m { cap 4; preempt lifo; }", n=2)
    )
    assert found.code in ("SQ509", "SQ512")


def test_growth_beyond_the_cap_is_impossible_whatever_the_policy() -> None:
    text = """pool kv {{ cap 40; {preempt} }}
        stage eng : step {{ budget 16; cost 1; memory kv; }}
        workload {{ arrive batch(2); }}
        session {{ hold kv (8) {{ run eng prefill (8) growing kv; run eng decode (60) growing kv; }} end; }}
    """
    found = fault(text.format(preempt="preempt lifo;"))
    assert (found.code, found.span.line) == ("SQ511", 4)
    assert found.message == "session 0 can never go on: its holds on kv would grow to 41 units, and the cap is 40"
    played = play(text.format(preempt=""))  # both stall at 20 units: nobody can go on, and nobody is to blame
    assert len(played.machine.configuration.stages[0].residents) == 2


def test_own_outer_holds_count_towards_the_impossible() -> None:
    found = fault(in_session("hold m (3) { hold m (1) { grow m (zero + 1); } }", "pool m { cap 4; preempt lifo; }"))
    assert found.code == "SQ511"


@pytest.mark.parametrize("arrivals", ["closed(1e308)", "batch(5001)"])
def test_more_sessions_at_the_start_than_an_instant_has_commands_are_refused_before_they_are_made(arrivals):
    with pytest.raises(LimitError, match="sessions at time 0 are too many: at most 5000 can start at once"):
        play(f"stage d : delay; workload {{ arrive {arrivals}; }} session {{ run d (1); }}", limits=FEW)


@pytest.mark.parametrize("arrivals", ["closed(4000)", "batch(4000)"])
def test_many_sessions_may_all_begin_at_time_0(arrivals) -> None:
    """Three commands of each are more than the 5000 of an instant, and no loop without time."""
    session = "loop { set t = now; observe x = t; run d (1); }"
    text = f"stage d : delay; workload {{ arrive {arrivals}; }} session {{ {session} }}"
    assert len(play(text, until=0.5, limits=FEW).machine.configuration.sessions) == 4000


def test_a_loop_without_time_is_found_among_many_that_begin() -> None:
    workload = "workload { arrive closed(100); init { set w = now; } }"
    assert fault(f"stage d : delay; {workload} session {{ loop {{ run d (w); }} }}").code == "SQ509"

"""The counting: windows, batches and integrals on runs whose course is known by hand."""

import pytest
from running import answer, program_of, report, run

from serq.ir.measures import measures_of
from serq.semantics.statistics import Window

HEAD = "stage d : delay; stage s : fifo; "


def test_the_window_has_both_ends():
    """Observations at 1, 2, ..., 10: the window [3, 10] has eight of them and is 7 long."""
    text = HEAD + "workload { arrive batch(1); } session { loop { run d (1); observe x = now; } }"
    result = report(text + " run { horizon 10; warmup 3; }")
    assert result.observes[0].summary.count == 8
    assert result.observes[0].summary.minimum == 3
    assert result.observes[0].summary.maximum == 10
    assert answer(result, "observe.x.rate") == pytest.approx(8 / 7)
    assert answer(result, "stage.d.throughput") == pytest.approx(8 / 7)
    assert answer(result, "observe.x.mean") == 6.5


def test_batches_cut_the_window_into_equal_parts():
    assert Window(3.0, 11.0, 4).ends() == [3.0, 5.0, 7.0, 9.0, 11.0]
    text = HEAD + "workload { arrive batch(1); } session { loop { run d (1); observe x = now; } }"
    result = run(text + " run { horizon 10; warmup 2; }", batches=4)
    # an observation on a boundary belongs to the batch that begins there; the last batch has both its ends
    assert result.series["observe.x.mean"].numerator == (2 + 3, 4 + 5, 6 + 7, 8 + 9 + 10)
    assert result.series["observe.x.mean"].denominator == (2, 2, 2, 3)
    assert result.series["stage.d.number"].numerator == (2, 2, 2, 2)


def test_a_stage_by_hand():
    """Three jobs of 4 on two servers, in [0, 20]: 0-4 two busy and one waiting, 4-8 one busy."""
    text = "stage s : fifo(2); workload { arrive batch(3); } session { run s (4); } run { horizon 20; }"
    result = report(text)
    expected = {
        "number": (3 * 4 + 4) / 20, "waiting": 4 / 20, "busy": (8 + 4) / 20, "utilisation": 12 / 40,
        "throughput": 3 / 20, "wait": 4 / 3, "sojourn": (4 + 4 + 8) / 3,
    }  # fmt: skip
    assert {x: answer(result, f"stage.s.{x}") for x in expected} == pytest.approx(expected)
    assert result.stages[0].totals == {"completed": 3, "mean_service": 4, "iterations": 0}
    assert answer(result, "sessions.number") == pytest.approx(16 / 20)


def test_jobs_in_progress_count_in_the_window_they_fall_into():
    """Work 6 from time 0 in the window [4, 10]: two time units of presence, the whole stay of 6 at its completion."""
    text = "stage s : fifo; workload { arrive batch(1); } session { run s (6); } run { horizon 10; warmup 4; }"
    result = report(text)
    assert answer(result, "stage.s.number") == pytest.approx(2 / 6)
    assert answer(result, "stage.s.sojourn") == 6
    assert answer(result, "stage.s.throughput") == pytest.approx(1 / 6)


def test_utilisation_of_a_stage_without_servers_is_the_time_with_somebody_there():
    text = "stage d : delay; workload { arrive batch(3); } session { run d (4 + serial); } run { horizon 12; }"
    result = report(text)
    assert answer(result, "stage.d.utilisation") == pytest.approx(6 / 12)
    assert answer(result, "stage.d.number") == pytest.approx((4 + 5 + 6) / 12)


def test_a_pool_by_hand():
    """Holds of 2 of 3 units for 5 each, one after the other; the prefix of the first is evicted by the second."""
    text = """pool m { cap 3; } stage d : delay; workload { arrive batch(2); }
      session { hold m (2) { run d (5); } cache (2); } run { horizon 20; }"""
    result = report(text)
    expected = {
        "used": 20 / 20, "cached": (5 * 1 * 0 + 10 * 2) / 20, "queue": 5 / 20, "holders": 10 / 20, "queue_wait": 2.5,
        "admissions": 2 / 20, "evictions": 1 / 20, "evicted_units": 2 / 20, "preemptions": 0, "rejections": 0,
    }  # fmt: skip
    assert {x: answer(result, f"pool.m.{x}") for x in expected} == pytest.approx(expected)
    assert result.pools[0].totals["total_admissions"] == 2
    assert result.pools[0].totals["total_evicted_units"] == 2


def test_a_gauge_is_integrated_between_events():
    """queue(s) is a step function; work(s) falls along a line: jobs of 2 and 4 from time 0 in [0, 10]."""
    text = """stage s : fifo; gauge waiting = queue(s); gauge load = work(s); workload { arrive batch(2); }
      session { run s (2 + 2 * serial); } run { horizon 10; }"""
    result = report(text, batches=5)
    assert answer(result, "gauge.waiting.mean") == pytest.approx(2 / 10)
    assert answer(result, "gauge.load.mean") == pytest.approx(6 * 6 / 2 / 10)
    series = run(text, batches=5).series["gauge.load.mean"]
    assert series.numerator == pytest.approx((10, 6, 2, 0, 0))


def test_preempted_jobs_keep_littles_law():
    """Session 1's job is taken away at 2 and starts anew at 4: it was there in [0, 2] and [4, 9]."""
    text = """pool m { cap 2; preempt lifo; } stage d : delay; workload { arrive batch(2); }
      session { hold m (1) { branch (serial == 0) { run d (2); grow m (1); run d (2); } else { run d (5); } } }
      run { horizon 10; }"""
    result = report(text)
    assert result.pools[0].totals["total_preemptions"] == 1
    number, rate, stay = (answer(result, f"stage.d.{x}") for x in ("number", "throughput", "sojourn"))
    assert number == pytest.approx((4 + 2 + 5) / 10)
    assert (rate, stay) == (pytest.approx(3 / 10), pytest.approx(11 / 3))


def test_every_measure_has_a_series():
    text = """pool m[2] { cap 3; } stage s[2] : fifo; stage p : ps(1); stage e : step { budget 4; cost 1; }
      gauge g = used(m[0]); workload { arrive closed(2); }
      session { loop { hold m[0] (1) { run s[1] (1); run p (1); run e prefill (2); } observe x = now; } }
      run { horizon 50; }"""
    program = program_of(text)
    result = run(text)
    assert list(result.series) == [m.name for m in measures_of(program)]
    for name, series in result.series.items():
        assert len(series.numerator) == len(series.denominator) == 32, name


def test_sessions_turns_and_losses_are_counted():
    text = """stage d : delay; workload { arrive renewal(1) limit(1); }
      session { turn; run d (1.5); turn; } run { horizon 10.5; warmup 0.5; }"""
    totals = report(text).sessions.totals
    assert totals == {"arrived": 5, "ended": 5, "lost": 5, "turns": 10}

"""Fifo, ps and delay: who is served when, and what a preemption takes away."""

import pytest
from toy import play

from serq.base.errors import RunError


def test_fifo_serves_in_the_order_of_arrival_on_all_servers() -> None:
    played = play("""
        stage svc : fifo(2);
        workload { arrive batch(6); }
        session { run svc (1); observe start = now - 1; }
    """)
    assert [(s, v) for _, s, v in played.seen("start")] == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]


def test_the_next_job_starts_before_the_session_of_the_finished_one_runs_on() -> None:
    played = play("""
        stage svc : fifo;
        workload { arrive batch(3); }
        session { run svc (1); observe busy = busy(svc); observe queue = queue(svc); observe left = work(svc); }
    """)
    assert (played.values("busy"), played.values("queue"), played.values("left")) == ([1, 1, 0], [1, 0, 0], [2, 1, 0])


def test_ps_shares_its_rate_and_equal_finishes_come_in_start_order() -> None:
    played = play("""
        stage p : ps(min(n, 2));
        stage d : delay;
        workload { arrive batch(3); }
        session { run d (serial == 2 ? 1 : 0); run p (2); observe done = now; observe n = busy(p); }
    """)
    # rates 1, 1 up to 1; 2/3 each from then on: 0 and 1 need 1 more, 2 needs 2
    assert [(s, v) for _, s, v in played.seen("done")] == [(0, 2.5), (1, 2.5), (2, 3.5)]
    assert played.values("n") == [2, 1, 0]


def test_a_preempted_job_frees_its_server_for_the_next() -> None:
    played = play("""
        pool m { cap 4; preempt lifo; }
        stage svc : fifo;
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial == 0) { hold m (2) { run d (1); grow m (2); run d (9); } end; }
          branch (serial == 1) { hold m (2) { run svc (5); } end; }
          run d (0.5); run svc (3); observe done = now;
        }
    """)
    assert played.log.of("withdrawn") == [(1, "withdrawn", "svc", 1)]
    assert played.seen("done") == [(4, 2, 4)]


def test_a_preempted_job_leaves_the_queue_of_a_stage() -> None:
    played = play("""
        pool m { cap 4; preempt lifo; }
        stage svc : fifo;
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial == 0) { hold m (2) { run d (1); grow m (2); run d (9); } end; }
          branch (serial == 1) { hold m (2) { run d (0.5); run svc (5); } end; }
          run svc (3); observe done = queue(svc);
        }
    """)
    assert played.log.of("withdrawn") == [(1, "withdrawn", "svc", 1)]
    assert played.values("done") == [0]


def test_a_capacity_that_is_no_rate_is_refused_with_its_place() -> None:
    with pytest.raises(RunError) as caught:
        play("""
            stage p : ps(1 - n);
            workload { arrive batch(2); }
            session { run p (1); }
        """)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.span.line) == ("SQ508", 2)
    assert fault.message == "the capacity for n = 2 of stage p is -1"

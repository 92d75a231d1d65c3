"""One transition: who runs when, and what blocks."""

from toy import play


def order(played: object) -> list[float]:
    return played.values("o")  # type: ignore[attr-defined]


def test_sessions_run_in_the_order_in_which_they_became_ready_until_they_block() -> None:
    played = play("""
        stage d : delay;
        workload { arrive batch(3); }
        session { observe o = serial; observe o = 10 + serial; run d (1); observe o = 20 + serial; }
    """)
    assert order(played) == [0, 10, 1, 11, 2, 12, 20, 21, 22]


def test_a_run_of_zero_work_does_not_block() -> None:
    played = play("""
        stage d : delay;
        workload { arrive batch(2); }
        session { observe o = serial; run d (0); observe o = 10 + serial; }
    """)
    assert order(played) == [0, 10, 1, 11]
    assert played.log.of("started", "completed") == []


def test_a_hold_joins_its_queue_and_admissions_come_when_nobody_is_ready() -> None:
    played = play("""
        pool m { cap 9; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial == 1) { observe o = 9; end; }
          hold m (1) { observe o = serial + 10 * used(m); run d (1); }
        }
    """)
    assert order(played) == [9, 20, 22]  # both are admitted before either body runs


def test_pools_are_served_in_declaration_order() -> None:
    played = play("""
        pool a { cap 1; }
        pool b { cap 1; }
        workload { arrive batch(2); }
        session { branch (serial == 0) { hold b (1) { observe o = 0; } } else { hold a (1) { observe o = 1; } } }
    """)
    assert order(played) == [1, 0]


def test_a_release_is_seen_by_waiting_holds_only_when_the_releasing_session_blocks() -> None:
    played = play("""
        pool m { cap 4; }
        stage d : delay;
        workload { arrive batch(2); }
        session {
          hold m (3) { run d (1); } cache (3);
          observe kept = cachedin(m); observe waiting = queued(m);
          run d (1);
        }
    """)
    assert played.seen("kept") == [(1, 0, 3), (2, 1, 3)]
    assert played.seen("waiting") == [(1, 0, 1), (2, 1, 0)]


def test_an_iteration_waits_for_every_clock_of_its_instant() -> None:
    played = play("""
        stage e : step { budget 9; cost 1; }
        stage d : delay;
        workload { arrive batch(3); }
        session { run d (serial == 2 ? 2 : 1); run e prefill (2); }
    """)
    assert [(t, jobs) for t, _, _, jobs, _ in played.log.of("iteration")] == [
        (1, [(0, "p", 2), (1, "p", 2)]),
        (2, [(2, "p", 2)]),
    ]


def test_a_departure_precedes_the_next_start_and_an_arrival_at_that_instant_finds_the_server_free() -> None:
    played = play(
        """
        stage svc : fifo;
        workload { arrive none; }
        session { observe found = busy(svc) + queue(svc); run svc (1); }
        """,
        arrivals=[1, 2, 3],
    )
    # the clock of the arrival was set first, so it is the arrival that comes first at 2 and at 3
    assert played.values("found") == [0, 1, 1]
    assert [t for t, *_ in played.log.of("started")] == [1, 2, 3]


def test_an_ended_session_of_a_closed_population_is_replaced_at_once() -> None:
    played = play(
        """
        stage d : delay;
        workload { arrive closed(2); }
        session { run d (1 + serial % 2); end; }
        """,
        until=3,
    )
    assert played.log.of("arrived", "ended") == [
        (0, "arrived", 0),
        (0, "arrived", 1),
        (1, "ended", 0),
        (1, "arrived", 2),
        (2, "ended", 1),
        (2, "arrived", 3),
        (2, "ended", 2),
        (2, "arrived", 4),
        (3, "ended", 4),
        (3, "arrived", 5),
    ]


def test_an_arrival_at_the_limit_is_lost() -> None:
    played = play(
        """
        stage d : delay;
        workload { arrive renewal(1) limit(2); }
        session { run d (10); }
        """,
        until=5,
        arrivals=[1, 2, 3],
    )
    assert played.log.of("arrived", "lost") == [(1, "arrived", 0), (2, "arrived", 1), (3, "lost")]


def test_init_and_turn_blocks_run_at_arrival_and_at_each_turn() -> None:
    played = play("""
        workload { arrive batch(2); init { set a = 10 * serial; observe o = turn_no; } turn { set a = a + turn_no; } }
        session { observe o = a; turn; observe o = a; turn; observe o = a; }
    """)
    assert order(played) == [0, 0, 0, 1, 3, 10, 11, 13]  # both arrive before the first runs


def test_a_branch_of_zero_or_one_draws_nothing() -> None:
    played = play(
        """
        workload { arrive batch(1); }
        session {
          branch (1) { observe o = 1; } else { observe o = 2; }
          branch (0) { observe o = 3; } else { observe o = 4; }
          branch (0.5) { observe o = 5; } else { observe o = 6; }
          branch (0.5) { observe o = 7; } else { observe o = 8; }
        }
        """,
        branches=[True, False],
    )
    assert order(played) == [1, 4, 5, 8]


def test_choose_takes_the_smallest_keys_and_of_equals_the_smallest_index() -> None:
    played = play("""
        workload { arrive batch(1); }
        session {
          choose k in 4 by (abs(k - 2)); observe o = k;
          choose k in 4 by (k == 1 || k == 3 ? 0 : 1, -k); observe o = k;
          choose k in 3 by (7); observe o = k;
        }
    """)
    assert order(played) == [2, 3, 0]

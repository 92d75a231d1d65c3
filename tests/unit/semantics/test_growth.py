"""Growth, preemption, and what a re-executed hold finds."""

from toy import Played, play


def preemptions(played: Played) -> list[tuple[float, int]]:
    """(time, victim) in order."""
    return [(t, s) for t, _, _, s in played.log.of("preempted")]


def test_growth_that_fits_goes_on_at_once_in_whole_blocks_and_a_negative_one_is_none() -> None:
    played = play("""
        pool m { cap 40; block 4; }
        workload { arrive batch(1); }
        session { hold m (5) { grow m (1); observe u = used(m); grow m (-9 * (serial == 0)); observe u = used(m);
                               grow m (8); observe u = used(m); } cache (100); observe u = cachedin(m); }
    """)
    assert played.values("u") == [12, 12, 20, 20]


STALL = """
    stage d : delay;
    workload { arrive batch(4); }
    session {
      hold m (10) {
        run d (serial == 2 ? 1 : serial == 3 ? 2 : 5 + serial);
        branch (serial == 2) { grow m (12); observe go = now; }
        branch (serial == 3) { grow m (2); observe go = now; }
      }
    }
"""


def test_without_preemption_growth_waits_in_place_and_is_retried_in_stall_order() -> None:
    played = play("pool m { cap 40; }" + STALL)
    # at 5 there is room for the 2 of session 3, but session 2 stalled first; at 6 there is room for both
    assert played.seen("go") == [(6, 2, 6), (6, 3, 6)]
    assert preemptions(played) == []


def test_a_stalled_growth_comes_before_the_queue_of_its_pool() -> None:
    played = play("""
        pool m { cap 10; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          run d (serial == 2 ? 3 : 0);
          hold m (5) { run d (1 + 4 * serial); branch (serial == 0) { grow m (5); observe go = now; run d (1); } }
          observe left = now;
        }
    """)
    assert played.seen("go") == [(5, 0, 5)]
    assert [(t, s) for t, _, _, s, _ in played.log.of("admitted")] == [(0, 0), (0, 1), (6, 2)]


LIFO = """
    pool m {{ cap {cap}; preempt lifo; }}
    stage d : delay;
    workload {{ arrive batch(3); }}
    session {{
      hold m (10) {{
        observe start = computed;
        run d (2 + serial);
        branch (serial == {grower}) {{ grow m (5); observe go = now; }}
        run d (5);
      }} cache (100);
      observe done = now;
    }}
"""


def test_lifo_preempts_the_holder_admitted_last_who_starts_again_at_the_head_of_its_queue() -> None:
    played = play(LIFO.format(cap=30, grower=0))
    assert played.seen("go") == [(2, 0, 2)]
    assert preemptions(played) == [(2, 2)]
    assert ("withdrawn", "d", 2) in [row[1:] for row in played.log.of("withdrawn")]
    # its 10 units stay cached but for the 5 that the growth needs: without blocks the whole entry goes
    assert played.log.of("evicted")[0] == (2, "evicted", "m", 2, 10, 0, False)
    assert played.seen("done") == [(7, 0, 7), (8, 1, 8), (16, 2, 16)]


def test_several_victims_fall_from_the_last_and_return_in_their_old_order() -> None:
    played = play(LIFO.format(cap=30, grower=0).replace("grow m (5)", "grow m (15)"))
    assert preemptions(played) == [(2, 2), (2, 1)]
    assert [s for _, _, _, s, _ in played.log.of("admitted")] == [0, 1, 2, 1, 2]


def test_the_grower_itself_can_be_the_victim() -> None:
    played = play(LIFO.format(cap=30, grower=2))
    # it grows at 4 and again at 8, when both others have just left
    assert preemptions(played) == [(4, 2)]
    assert played.seen("go") == [(8, 2, 8)]


def test_of_a_memory_pool_only_residents_are_victims_and_without_one_the_growth_waits() -> None:
    text = """
        pool m { cap 30; preempt lifo; }
        stage e : step { budget 1; cost 1; memory m; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          hold m (10) {
            branch (serial == 0) { run d (2.5); grow m (5); observe go = now; }
            branch (serial == 1) { RUN }
            run d (5);
          }
        }
    """
    played = play(text.replace("RUN", "run e prefill (9);"))
    assert (preemptions(played), played.seen("go")) == ([(2.5, 1)], [(2.5, 0, 2.5)])
    played = play(text.replace("RUN", ""))
    assert (preemptions(played), played.seen("go")) == ([], [(5, 0, 5)])


GROWING = """
    pool m {{ cap {cap}; block 2; preempt lifo; }}
    stage e : step {{ budget 9; cost 1; memory m; }}
    workload {{ arrive batch(2); }}
    session {{
      hold m (computed == 0 ? 4 : {cap}) {{
        observe start = computed; observe hit = cached;
        run e prefill (max(0, 4 - cached)) growing m;
        run e decode (8) growing m;
      }} {cache}
      observe after = computed;
    }}
"""


def test_a_preempted_hold_leaves_its_position_and_is_told_of_it() -> None:
    played = play(GROWING.format(cap=18, cache="cache (100);"))
    # positions 4 at 1, 8 at 5; then session 0 takes 10 units for position 9 and session 1 finds 8 of the 10 it needs
    assert preemptions(played) == [(5, 1)]
    # it comes back when all is free: 8 were cached, 2 of them gave way when session 0 went from 10 to 12
    assert played.seen("start") == [(0, 0, 0), (0, 1, 0), (9, 1, 8)]
    assert played.seen("hit") == [(0, 0, 0), (0, 1, 0), (9, 1, 6)]
    assert played.values("after") == [0, 0]


def test_computed_is_the_largest_position_over_all_executions() -> None:
    played = play("""
        pool m { cap 40; preempt lifo; }
        stage e : step { budget 16; cost 1; memory m; }
        workload { arrive batch(2); }
        session {
          hold m (8) {
            observe start = computed;
            run e prefill (8) growing m;
            run e decode (20) growing m;
          } cache (100);
        }
    """)
    # at 13 both are at 20; at 20 session 0 goes to 28 and session 1, which began again at 14, is at 13
    assert preemptions(played) == [(13, 1), (20, 1)]
    assert played.seen("start") == [(0, 0, 0), (0, 1, 0), (14, 1, 20), (21, 1, 20)]


def test_computed_is_what_this_hold_reached_and_zero_in_an_inner_one() -> None:
    played = play("""
        pool m { cap 16; preempt lifo; }
        pool z { cap 9; }
        stage e : step { budget 9; cost 1; memory m; }
        workload { arrive batch(2); }
        session {
          hold m (computed == 0 ? 4 : 16) {
            observe outer = computed;
            hold z (1) { observe inner = computed; }
            observe outer = computed;
            run e prefill (4) growing m;
            run e decode (8) growing m;
          }
          hold z (1) { observe last = computed; }
        }
    """)
    assert [(s, v) for _, s, v in played.seen("outer")] == [(0, 0), (1, 0), (0, 0), (1, 0), (1, 8), (1, 8)]
    assert played.values("inner") == [0, 0, 0]
    assert played.values("last") == [0, 0]


def test_at_a_preemption_the_cache_clause_limits_what_stays() -> None:
    for cache, kept in (("", 0), ("cache (3);", 2), ("cache (100);", 8)):
        played = play(GROWING.format(cap=18, cache=cache), until=5)
        assert played.machine.configuration.pools[0].cached == kept, cache


def test_inner_holds_are_aborted_with_the_preempted_one_and_outer_ones_stay() -> None:
    played = play(
        """
        pool a { cap 9; }
        pool m { cap 10; preempt lifo; }
        pool z { cap 9; }
        stage d : delay;
        workload { arrive batch(2); }
        session {
          hold a (1) {
            hold m (5) {
              hold z (2) { run d (1 + serial); branch (serial == 0) { grow m (3); } run d (4); } cache (2);
            } cache (5);
          }
        }
    """,
        until=1,
    )
    a, m, z = played.machine.configuration.pools
    assert (a.used, m.used, z.used) == (2, 8, 2)
    assert [claim.session.serial for claim in m.queue] == [1]
    assert {serial: entry.units for serial, entry in z.entries.items()} == {1: 2}
    assert m.cached == 0  # its 5 units were in the way of the growth


def test_a_waiting_and_a_stalled_holder_can_be_preempted() -> None:
    played = play(
        """
        pool m { cap 12; preempt lifo; }
        pool n { cap 4; }
        pool z { cap 1; }
        stage d : delay;
        workload { arrive batch(4); }
        session {
          branch (serial == 0) { hold m (4) { hold z (1) { run d (3); grow m (8); run d (9); } } end; }
          branch (serial == 1) { hold m (4) { run d (1); hold z (1) { } } end; }
          branch (serial == 2) { hold m (4) { hold n (2) { run d (1); grow n (2); } } end; }
          hold n (2) { run d (50); }
        }
    """,
        until=3,
    )
    # at 1 session 1 waits for z and session 2 for room in n; at 3 session 0 needs all of m
    assert preemptions(played) == [(3, 2), (3, 1)]
    m, n, z = played.machine.configuration.pools
    assert [claim.session.serial for claim in m.queue] == [1, 2]
    assert (m.used, n.used, z.used, n.growers, z.queue) == (12, 2, 1, [], [])


def test_a_preempted_session_is_served_before_keys_and_before_older_waiters() -> None:
    played = play("""
        pool m { cap 30; queue by (serial); preempt lifo; }
        stage d : delay;
        workload { arrive batch(4); }
        session {
          run d (serial == 0 ? 1 : 0);
          hold m (10) { run d (2); branch (serial == 1) { grow m (5); } run d (serial == 2 ? 1 : 9); }
        }
    """)
    assert preemptions(played) == [(2, 3)]
    assert [(t, s) for t, _, _, s, _ in played.log.of("admitted")] == [(0, 1), (0, 2), (0, 3), (3, 3), (11, 0)]


def test_an_entry_larger_than_the_units_never_comes_back_larger_than_the_allocation() -> None:
    played = play(
        """
        pool m { cap 20; preempt lifo; }
        stage e : step { budget 1; cost 1; memory m; }
        stage d : delay;
        workload { arrive batch(2); }
        session {
          branch (serial == 1) { hold m (9) { } cache (9); hold m (4) { run e prefill (9); } cache (9); end; }
          hold m (9) { run d (1.5); grow m (9); observe kept = free(m); run d (1); }
        }
    """,
        until=1.5,
    )
    assert preemptions(played) == [(1.5, 1)]
    assert played.machine.configuration.pools[0].cached == 0

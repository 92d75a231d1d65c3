"""Step stages: who is scheduled with how much, admissions, cost, and what an iteration is."""

from typing import Any

from toy import Played, play


def batches(played: Played) -> list[tuple[float, list[Any]]]:
    """(start, [(session, phase, tokens), ...]) of every iteration."""
    return [(t, jobs) for t, _, _, jobs, _ in played.log.of("iteration")]


MIXED = """
    stage e : step {{ budget {budget}; cost 1; {options} }}
    stage d : delay;
    workload {{ arrive batch(3); }}
    session {{
      run d (serial);
      branch (serial == 0) {{ run e decode (4); }} else {{ run e prefill ({work}); }}
      observe done = now;
    }}
"""


def test_residents_take_tokens_in_order_until_the_budget_is_spent() -> None:
    played = play(MIXED.format(budget=4, options="", work=5))
    assert batches(played) == [
        (0, [(0, "d", 1)]),
        (1, [(0, "d", 1), (1, "p", 3)]),
        (2, [(0, "d", 1), (1, "p", 2), (2, "p", 1)]),
        (3, [(0, "d", 1), (2, "p", 3)]),
        (4, [(2, "p", 1)]),
    ]


def test_a_chunk_caps_a_prefill_and_leaves_budget_to_the_next() -> None:
    played = play(MIXED.format(budget=8, options="chunk 2;", work=5))
    assert batches(played)[2] == (2, [(0, "d", 1), (1, "p", 2), (2, "p", 2)])
    assert play(MIXED.format(budget=8, options="chunk 0;", work=5)).seen("done")[0] == (2, 1, 2)


def test_fractions_of_a_token_are_work_too() -> None:
    played = play("""
        stage e : step { budget 1.5; cost 1; }
        workload { arrive batch(1); }
        session { run e prefill (2.5); run e decode (0.5); observe done = now; }
    """)
    assert [jobs for _, jobs in batches(played)] == [[(0, "p", 1.5)], [(0, "p", 1)], [(0, "d", 0.5)]]


DECODERS_LATE = """
    pool m {{ cap 9; }}
    stage e : step {{ budget 3; cost 1; {options} }}
    stage d : delay;
    workload {{ arrive batch(3); }}
    session {{
      hold m (1) {{
        run d (serial == 0 ? 1 : serial == 1 ? 0.5 : 0);
        branch (serial == 0) {{ run e prefill (6); }} else {{ run e decode (6); }}
      }}
    }}
"""


def test_residents_stand_in_the_order_of_admission_not_of_joining() -> None:
    played = play(DECODERS_LATE.format(options=""))
    assert batches(played)[:2] == [(0, [(2, "d", 1)]), (1, [(0, "p", 3)])]


def test_decode_first_serves_each_group_in_admission_order() -> None:
    played = play(DECODERS_LATE.format(options="decode first;"))
    assert batches(played)[:2] == [(0, [(2, "d", 1)]), (1, [(1, "d", 1), (2, "d", 1), (0, "p", 1)])]


def test_a_session_that_was_never_admitted_stands_behind_all_that_were() -> None:
    played = play("""
        pool m { cap 9; }
        stage e : step { budget 1; cost 1; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          run d (serial / 4);
          branch (serial == 1) { hold m (1) { run e decode (2); } } else { run e decode (2); }
        }
    """)
    assert [jobs[0][0] for _, jobs in batches(played)] == [0, 1, 1, 0, 2, 2]


def test_exclusive_prefill_schedules_the_first_prefilling_resident_alone_and_admits_nobody() -> None:
    played = play("""
        pool reqs { cap 9; admit via e; }
        stage e : step { budget 8; cost 1; exclusive prefill; }
        stage d : delay;
        workload { arrive batch(4); }
        session {
          run d (serial == 0 ? 0 : 2.5);
          hold reqs (1) {
            run e prefill (serial == 0 ? 4 : serial == 1 ? 10 : 3);
            run e decode (4);
          }
        }
    """)
    assert batches(played) == [
        (0, [(0, "p", 4)]),
        (1, [(0, "d", 1)]),
        (2, [(0, "d", 1)]),
        (3, [(1, "p", 8)]),  # admitted with 7 left; the decoder steps back and the whole budget is its own
        (4, [(1, "p", 2)]),
        (5, [(2, "p", 3)]),
        (6, [(3, "p", 3)]),
        (7, [(0, "d", 1), (1, "d", 1), (2, "d", 1), (3, "d", 1)]),
        (8, [(0, "d", 1), (1, "d", 1), (2, "d", 1), (3, "d", 1)]),
        (9, [(1, "d", 1), (2, "d", 1), (3, "d", 1)]),
        (10, [(1, "d", 1), (2, "d", 1), (3, "d", 1)]),
    ]


def test_the_stage_admits_from_its_queues_in_declaration_order_while_budget_is_left() -> None:
    played = play("""
        pool late { cap 9; admit via e; }
        pool early { cap 9; admit via e; }
        stage e : step { budget 5; cost 1; }
        workload { arrive batch(4); }
        session {
          branch (serial < 2) { hold early (1) { observe left = budget_left(e); run e prefill (2); } }
          else { hold late (1) { observe left = budget_left(e); run e prefill (2); } }
        }
    """)
    assert batches(played) == [(0, [(2, "p", 2), (3, "p", 2), (0, "p", 1)]), (1, [(0, "p", 1), (1, "p", 2)])]
    assert played.values("left") == [5, 3, 1, 4]


def test_a_session_admitted_by_a_stage_may_go_elsewhere_and_nothing_hangs() -> None:
    played = play("""
        pool reqs { cap 1; admit via e; }
        pool m { cap 1; }
        stage e : step { budget 5; cost 1; }
        stage d : delay;
        workload { arrive batch(2); }
        session { hold reqs (1) { hold m (1) { run d (3); } } observe done = now; }
    """)
    assert played.seen("done") == [(3, 0, 3), (6, 1, 6)]
    assert batches(played) == []


def test_an_idle_engine_with_an_admissible_waiter_starts_at_once() -> None:
    played = play("""
        pool reqs { cap 1; }
        stage eng : step { budget 4; cost 1; }
        workload { arrive batch(3); }
        session { hold reqs (1) { run eng prefill (4); } observe done = now; }
    """)
    assert played.seen("done") == [(1, 0, 1), (2, 1, 2), (3, 2, 3)]


def test_a_lookup_is_one_per_admission_however_long_the_wait() -> None:
    played = play(
        """
        pool kv { cap 100; block 10; evict lru; }
        stage eng : step { budget 10; cost 1; memory kv; }
        workload { arrive batch(2); }
        session {
          loop {
            hold kv (80) reuse (cachedin(kv)) {
              run eng prefill (80 - cached) growing kv;
              observe hit = cached;
            } cache (80);
          }
        }
        """,
        until=100,
    )
    assert len(played.log.of("admitted")) - len(played.values("hit")) in (0, 1)
    assert len(played.values("hit")) > 10


def test_never_more_residents_than_slots_and_the_budget_is_always_used() -> None:
    played = play("""
        pool reqs { cap 4; }
        stage eng : step { budget 2; cost 1; }
        workload { arrive batch(10); }
        session { hold reqs (1) { run eng decode (10); } observe done = now; }
    """)
    assert max(t for t, _, _ in played.seen("done")) == 50
    assert all(sum(tokens for _, _, tokens in jobs) == 2 for _, jobs in batches(played))
    assert max(used[0] for *_, used in played.log.of("iteration")) == 4


def test_prefill_and_decodes_share_an_iteration() -> None:
    played = play("""
        stage eng : step { budget 16; cost 1; }
        stage d : delay;
        workload { arrive batch(2); }
        session { branch (serial == 0) { run eng decode (9); } else { run d (2); run eng prefill (20); } }
    """)
    assert batches(played)[2:5] == [
        (2, [(0, "d", 1), (1, "p", 15)]),
        (3, [(0, "d", 1), (1, "p", 5)]),
        (4, [(0, "d", 1)]),
    ]


GROW = """
    pool m {{ cap {cap}; }}
    stage e : step {{ budget 6; cost 1; memory m; }}
    workload {{ arrive batch(2); }}
    session {{ hold m (2) {{ run e prefill (2) growing m; run e decode (3) growing m; }} observe done = now; }}
"""


def test_a_resident_that_finds_no_room_is_passed_over_and_tried_again() -> None:
    played = play(GROW.format(cap=9))
    # both need 5 in the end; at 3 there is room for one of them
    assert batches(played)[3:] == [(3, [(0, "d", 1)]), (4, [(1, "d", 1)])]
    assert played.seen("done") == [(4, 0, 4), (5, 1, 5)]


def test_residents_that_all_find_no_room_are_no_iteration() -> None:
    played = play(GROW.format(cap=8))
    assert [t for t, _ in batches(played)] == [0, 1, 2]
    assert len(played.machine.configuration.stages[0].residents) == 2


def test_an_iteration_that_only_preempted_is_one_and_admits_nobody() -> None:
    played = play("""
        pool m { cap 8; preempt lifo; admit via e; }
        pool reqs { cap 9; admit via e; }
        stage e : step { budget 9; cost 1; memory m; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial == 0) { hold m (4) { run d (9); } end; }
          branch (serial == 2) { run d (3.5); hold reqs (1) { observe go = now; run e decode (1); } end; }
          hold m (computed == 0 ? 3 : 5) { observe go = now; run e decode (6) growing m; }
        }
    """)
    # at 4 session 1 wants a fifth unit beside the 4 of session 0
    assert [(t, s) for t, _, _, s in played.log.of("preempted")] == [(4, 1)]
    assert batches(played)[3:6] == [(3, [(1, "d", 1)]), (4, []), (5, [(2, "d", 1)])]
    assert played.seen("go") == [(0, 1, 0), (5, 2, 5), (9, 1, 9)]


def test_a_victim_that_had_been_given_tokens_gives_them_back() -> None:
    played = play(
        """
        pool m { cap 8; preempt lifo; }
        stage e : step { budget 2; cost 1; memory m; decode first; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial == 0) { hold m (4) { run d (2); run e prefill (6) growing m; } end; }
          branch (serial == 1) { hold m (4) { run e decode (9); } end; }
          run d (2); run e prefill (5);
        }
    """,
        until=4,
    )
    # at 4 the decoder 1 is planned first; then 0 needs a fifth unit, takes 1 out of the iteration, and 2 gets its token
    assert batches(played)[2:4] == [(2, [(1, "d", 1), (0, "p", 1)]), (3, [(1, "d", 1), (0, "p", 1)])]
    assert batches(played)[4:] == [(4, [(1, "d", 1), (0, "p", 1)])]


CONTEXT = """
    pool m {{ cap 100; }}
    stage e : step {{ budget 2; cost {cost}; memory m; }}
    workload {{ arrive batch(4); }}
    session {{
      hold m (serial + 1) {{ branch (serial < 3) {{ run e decode (1); }} else {{ run e prefill (2); }} }}
      observe done = now;
    }}
"""


def test_what_a_cost_reads() -> None:
    # two decoders, then the third decoder and one prefill token, then the last prefill token
    for cost, ends in {
        "1 + nres": [5, 8, 10],
        "1 + ndec": [3, 5, 6],
        "1 + kvb": [4, 8, 9],
        "1 + kvp": [1, 6, 11],
        "ntok": [2, 4, 5],
        "1 + npre": [1, 3, 5],
        "1 + 8 * attn": [1, 6, 11],
        "now + 1": [1, 3, 7],
    }.items():
        played = play(CONTEXT.format(cost=cost))
        starts = [t for t, _ in batches(played)]
        assert [*starts[1:], max(t for t, _, _ in played.seen("done"))] == ends, cost


def test_attention_counts_from_the_position_of_a_growing_run() -> None:
    played = play("""
        pool m { cap 100; }
        stage e : step { budget 4; cost 1 + attn; memory m; }
        workload { arrive batch(1); }
        session {
          hold m (10) { run e prefill (6) growing m; } cache (10);
          hold m (10) { run e prefill (2) growing m; }
        }
    """)
    # 4 (0 + 2) = 8, then 2 (4 + 1) = 10, then 2 (6 + 1) = 14
    assert [t for t, _ in batches(played)] == [0, 9, 20]
    assert played.log.of("ended") == [(35, "ended", 0)]


def test_a_budget_reads_the_residents_and_an_inner_choice() -> None:
    played = play("""
        pool m { cap 100; }
        stage e : step { budget max(ndec, kvp / 4) + 0 * nres; cost 1; memory m; }
        workload { arrive batch(3); }
        session {
          hold m (serial == 2 ? 16 : 1) { branch (serial < 2) { run e decode (2); } else { run e prefill (8); } }
        }
    """)
    assert [jobs for _, jobs in batches(played)] == [
        [(0, "d", 1), (1, "d", 1), (2, "p", 2)],
        [(0, "d", 1), (1, "d", 1), (2, "p", 2)],
        [(2, "p", 4)],
    ]


def test_budget_left_is_what_the_residents_would_leave() -> None:
    played = play(
        """
        stage e : step { budget 20; cost 1; chunk 7; }
        stage d : delay;
        workload { arrive batch(4); }
        session {
          branch (serial == 3) { loop { observe left = budget_left(e); run d (0.25); } }
          run d (serial == 2 ? 0.3 : 0);
          run e prefill (10); run e decode (2);
        }
    """,
        until=2.5,
    )
    left = {t: v for t, _, v in played.seen("left")}
    assert (left[0], left[0.25], left[0.5], left[1.25], left[2.25]) == (6, 6, 0, 7, 15)


def test_observables_of_a_step_stage() -> None:
    played = play(
        """
        stage e : step { budget 2; cost 1; }
        stage d : delay;
        workload { arrive batch(4); }
        session {
          branch (serial == 3) {
            run d (0.5);
            observe busy = busy(e); observe queue = queue(e); observe work = work(e);
            end;
          }
          run e decode (3);
        }
    """,
        until=1,
    )
    assert (played.values("busy"), played.values("queue"), played.values("work")) == ([2], [1], [9])

"""Who is evicted, in which portions, and what is spilled."""

from typing import Any

from toy import Played, play


def evictions(played: Played) -> list[tuple[Any, ...]]:
    """(time, owner, units, what is left of the entry)."""
    return [(t, owner, units, rest) for t, _, _, owner, units, rest, _ in played.log.of("evicted")]


LEAVE_TWO = """
    stage d : delay;
    workload { arrive batch(3); }
    session {
      branch (serial < 2) { hold m (8) { run d (1 + serial); } cache (8); run d (50); end; }
      run d (3);
"""
"""Sessions 0 and 1 leave 8 units each, released at 1 and 2; session 2 acts at 3."""


def test_the_least_recently_released_goes_first_as_a_whole_where_there_are_no_blocks() -> None:
    played = play("pool m { cap 16; }" + LEAVE_TWO + "hold m (3) { run d (1); } }")
    assert evictions(played) == [(3, 0, 8, 0)]


def test_blocks_are_taken_from_the_tail_until_it_fits() -> None:
    played = play("pool m { cap 16; block 2; }" + LEAVE_TWO + "hold m (3) { run d (1); } }")
    assert evictions(played) == [(3, 0, 4, 4)]
    played = play("pool m { cap 16; block 2; }" + LEAVE_TWO + "hold m (9) { run d (1); } }")
    assert evictions(played) == [(3, 0, 8, 0), (3, 1, 2, 6)]


def test_ties_in_time_go_by_the_order_of_release() -> None:
    played = play("""
        pool m { cap 16; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          branch (serial < 2) { run d (1 - serial); hold m (8) { run d (1 + serial); } cache (8); run d (9); end; }
          run d (3); hold m (9) { }
        }
    """)
    # both are released at 2; the clock of session 1 was set first
    assert evictions(played) == [(3, 1, 8, 0), (3, 0, 8, 0)]


def test_evict_by_is_read_anew_for_every_block() -> None:
    played = play("pool m { cap 16; block 2; evict by (-size, last); }" + LEAVE_TWO + "hold m (7) { run d (1); } }")
    assert evictions(played) == [(3, 0, 2, 6), (3, 1, 2, 6), (3, 0, 2, 4), (3, 1, 2, 4)]


def test_evict_by_reads_age_last_and_the_owner() -> None:
    played = play("pool m { cap 16; evict by (age); }" + LEAVE_TWO + "hold m (3) { run d (1); } }")
    assert evictions(played) == [(3, 1, 8, 0)]
    played = play("pool m { cap 16; evict by (-serial); }" + LEAVE_TWO + "hold m (3) { run d (1); } }")
    assert evictions(played) == [(3, 1, 8, 0)]


def test_the_own_entry_is_used_before_anybody_is_evicted() -> None:
    played = play("""
        pool m { cap 16; }
        stage d : delay;
        workload { arrive batch(2); }
        session {
          hold m (8) { run d (1 + serial); } cache (8);
          branch (serial == 0) { run d (2); hold m (8) { } cache (8); }
        }
    """)
    assert evictions(played) == []


def test_a_dead_entry_keeps_its_age_and_can_be_evicted() -> None:
    played = play("""
        pool m { cap 16; block 2; }
        stage d : delay;
        workload { arrive batch(2); }
        session {
          branch (serial == 0) {
            hold m (8) { run d (1); } cache (8);
            run d (1);
            hold m (8) reuse (2) { run d (9); }
            end;
          }
          hold m (4) { run d (1.5); } cache (4); run d (5); hold m (6) { }
        }
    """)
    assert played.log.of("evicted") == [
        (2, "evicted", "m", 0, 2, 4, True),  # at 2: 8 wanted, 6 dead and 4 cached of 16
        (6.5, "evicted", "m", 0, 2, 2, True),  # session 1 has consumed its own 4
    ]


WAITING = """
    pool slots { cap 1; }
    stage d : delay;
    workload { arrive batch(4); }
    session {
      branch (serial < 2) { hold m (4) { run d (1 + serial); } cache (4); }
      branch (serial == 1) { run d (20); end; }
      branch (serial == 2) { hold slots (1) { run d (10); } end; }
      branch (serial == 3) { run d (3); hold m (8 - 7 * (serial == 0)) { observe go = now; } end; }
      hold slots (1) { run d (1); }
    }
"""
"""Session 0 waits for the slot that 2 has until 10. Its prefix is of time 1; that of 1, who does not wait, of 2."""


def test_the_key_queued_spares_whose_owner_waits_in_any_queue() -> None:
    played = play("pool m { cap 12; evict by (queued, last); }" + WAITING)
    assert evictions(played) == [(3, 1, 4, 0)]
    assert evictions(play("pool m { cap 12; }" + WAITING)) == [(3, 0, 4, 0)]


def test_pinned_entries_are_never_victims_and_make_others_wait() -> None:
    assert evictions(play("pool m { cap 12; pin waiting; }" + WAITING)) == [(3, 1, 4, 0)]
    played = play("pool m { cap 8; pin waiting; }" + WAITING)
    assert played.seen("go") == [(10, 3, 10)]
    assert evictions(played) == [(10, 0, 4, 0), (10, 1, 4, 0)]


def test_growth_evicts_in_the_same_order() -> None:
    played = play("pool m { cap 18; }" + LEAVE_TWO + "hold m (1) { grow m (2); } }")
    assert evictions(played) == [(3, 0, 8, 0)]


SPILL = """
    pool tier { cap 7; }
    stage link : fifo;
    stage d : delay;
    workload { arrive batch(3); }
    session {
      branch (serial < 2) { hold m (6) { run d (1 + serial); } cache (6); run d (serial == 0 ? 2 : 9); }
      branch (serial == 2) { run d (3); hold m (10) { run d (1); } end; }
      observe at = cachedin(tier); run d (2); observe at = cachedin(tier); run d (2); observe at = cachedin(tier);
    }
"""


def test_a_spilled_entry_is_gone_at_once_and_arrives_when_its_job_is_done() -> None:
    played = play("pool m { cap 16; spill tier via link (size / 2) when (size > 2); }" + SPILL)
    assert evictions(played) == [(3, 0, 6, 0)]
    assert played.log.of("spilled") == [(3, "spilled", "m", 0, 6)]
    assert played.seen("at") == [(3, 0, 0), (5, 0, 0), (7, 0, 6), (11, 1, 0), (13, 1, 0), (15, 1, 0)]
    assert [t for t, *_ in played.log.of("completed") if _[1] == "link"] == [6]


def test_what_does_not_meet_the_condition_is_not_spilled() -> None:
    played = play("pool m { cap 16; spill tier via link (size / 2) when (size > 6); }" + SPILL)
    assert played.log.of("spilled") == []


def test_blocks_are_spilled_one_by_one_and_extend_the_entry_as_far_as_the_tier_has_room() -> None:
    played = play("pool m { cap 16; block 2; spill tier via link (1) when (1); }" + SPILL.replace("m (10)", "m (16)"))
    assert [(t, s, u) for t, _, _, s, u in played.log.of("spilled")] == [(3, 0, 2)] * 3 + [(3, 1, 2)] * 3
    tier = played.machine.configuration.pools[1]
    # 0's blocks arrive at 4, 5, 6; 1's at 7, 8, 9, and push 0's out: whole, since the tier has no blocks
    assert {serial: entry.units for serial, entry in tier.entries.items()} == {1: 6}
    assert [(t, p, s, u) for t, _, p, s, u, *_ in played.log.of("evicted") if p == "tier"] == [(7, "tier", 0, 6)]
    assert played.seen("at")[:3] == [(3, 0, 0), (5, 0, 2), (7, 0, 6)]  # its clocks were set before those of the link


def test_a_spill_of_no_work_arrives_at_once() -> None:
    played = play("pool m { cap 16; spill tier via link (0) when (1); }" + SPILL)
    assert played.seen("at")[0] == (3, 0, 6)

"""Pools: admission, rounding, hits, dead entries, releases, rejection."""

import pytest
from toy import play


def admitted(played: object, pool: str) -> list[tuple[float, int, float]]:
    """(time, session, cached) of the admissions of a pool's queue."""
    return [(t, s, c) for t, _, p, s, c in played.log.of("admitted") if p == pool]  # type: ignore[attr-defined]


def test_a_head_that_does_not_fit_blocks_those_behind_it() -> None:
    played = play("""
        pool m { cap 10; }
        stage d : delay;
        workload { arrive batch(3); }
        session { hold m (serial == 0 ? 6 : serial == 1 ? 8 : 2) { run d (serial == 0 ? 5 : 1); } }
    """)
    assert admitted(played, "m") == [(0, 0, 0), (5, 1, 0), (5, 2, 0)]


def test_queue_by_takes_the_smallest_keys_and_units_are_read_at_each_attempt() -> None:
    played = play("""
        pool m { cap 10; queue by (-waited, serial); }
        stage d : delay;
        workload { arrive batch(4); }
        session { run d (1 + (serial == 3)); hold m (now < 4 ? 10 : 5) { run d (2); } }
    """)
    assert admitted(played, "m") == [(1, 0, 0), (3, 1, 0), (5, 2, 0), (5, 3, 0)]


def test_a_hold_on_two_pools_is_admitted_on_both_or_not_at_all() -> None:
    played = play("""
        pool a { cap 2; }
        pool b { cap 3; }
        stage d : delay;
        workload { arrive batch(2); }
        session { hold a (1), b (2) { observe used_a = used(a); run d (1); } }
    """)
    assert admitted(played, "a") == [(0, 0, 0), (1, 1, 0)]
    assert played.values("used_a") == [1, 1]


def test_reserve_must_fit_but_is_not_allocated() -> None:
    played = play("""
        pool m { cap 10; }
        stage d : delay;
        workload { arrive batch(2); }
        session { hold m (2) reserve (9) { observe u = used(m); run d (1); } }
    """)
    assert played.seen("u") == [(0, 0, 2), (1, 1, 2)]


def test_units_are_rounded_to_blocks_before_they_are_compared_with_the_cap() -> None:
    played = play("""
        let u = 17;
        pool m { cap 20; block 16; }
        stage d : delay;
        workload { arrive batch(2); init { set u1 = serial == 0 ? 16 : u; } }
        session { hold m (u1) { observe used = used(m); run d (1); } }
    """)
    assert played.seen("used") == [(0, 0, 16)]
    assert played.log.of("rejected") == [(0, "rejected", "m", 1)]


@pytest.mark.parametrize(
    ("reserve", "units"), [("", "11 - 3 * (serial != 1)"), ("reserve (serial == 1 ? 11 : 0)", "8")]
)
def test_what_can_never_fit_is_rejected_at_once_and_ends_the_session(units: str, reserve: str) -> None:
    played = play(f"""
        pool m {{ cap 10; }}
        stage d : delay;
        workload {{ arrive batch(3); }}
        session {{ hold m ({units}) {reserve} {{ run d (5); }} }}
    """)
    assert played.log.of("rejected", "ended")[:2] == [(0, "rejected", "m", 1), (0, "ended", 1)]
    assert [s for _, s, _ in admitted(played, "m")] == [0, 2]


def test_a_rejected_session_releases_what_it_holds_and_keeps_its_prefix() -> None:
    played = play("""
        pool a { cap 10; }
        pool b { cap 5; }
        stage d : delay;
        workload { arrive batch(1); }
        session { hold a (6) { run d (1); hold b (5 + serial + now) { } } cache (4); }
    """)
    assert played.log.of("rejected") == [(1, "rejected", "b", 0)]
    state = played.machine.configuration.pools[0]
    assert (state.used, state.cached) == (0, 4)


def test_without_reuse_the_whole_entry_is_consumed_even_when_it_is_larger() -> None:
    played = play("""
        pool m { cap 20; }
        stage d : delay;
        workload { arrive batch(1); }
        session { hold m (8) { } cache (8); hold m (3) { observe hit = cached; observe left = cachedin(m); } }
    """)
    assert (played.values("hit"), played.values("left")) == ([8], [0])
    assert played.machine.configuration.pools[0].cached == 0


def test_reuse_takes_whole_blocks_and_leaves_the_rest_dead_with_its_age() -> None:
    played = play(
        """
        pool m { cap 40; block 4; }
        stage d : delay;
        workload { arrive batch(1); }
        session {
          hold m (16) { run d (1); } cache (16);
          run d (1);
          hold m (4) reuse (11) { observe hit = cached; observe left = cachedin(m); run d (1); }
        }
    """,
        until=2,
    )
    assert (played.values("hit"), played.values("left")) == ([8], [0])
    (dead,) = played.machine.configuration.pools[0].dead
    assert (dead.units, dead.time, dead.dead, dead.owner.serial) == (8, 1, True, 0)


@pytest.mark.parametrize("reuse", ["0", "-5 * (serial == 0)"])
def test_reuse_of_nothing_leaves_the_whole_entry_dead(reuse: str) -> None:
    played = play(f"""
        pool m {{ cap 20; }}
        workload {{ arrive batch(1); }}
        session {{ hold m (8) {{ }} cache (8); hold m (3) reuse ({reuse}) {{ observe hit = cached; }} }}
    """)
    assert played.values("hit") == [0]
    assert [entry.units for entry in played.machine.configuration.pools[0].dead] == [8]


def test_cached_is_the_largest_prefix_among_the_pools_of_the_hold() -> None:
    played = play("""
        pool slots { cap 4; }
        pool m { cap 20; }
        workload { arrive batch(1); }
        session { hold slots (1), m (8) { } cache (6); hold slots (1), m (8) { observe hit = cached; } }
    """)
    assert played.values("hit") == [6]


def test_a_release_keeps_what_the_clause_and_the_allocation_allow_in_whole_blocks() -> None:
    played = play("""
        pool m { cap 64; block 16; }
        workload { arrive batch(1); }
        session {
          hold m (17) { } cache (100); observe kept = cachedin(m);
          drop m; hold m (48) { } cache (40); observe kept = cachedin(m);
          drop m; hold m (48) { } cache (15); observe kept = cachedin(m);
          hold m (48) { } cache (-3); observe kept = cachedin(m);
        }
    """)
    assert played.values("kept") == [32, 32, 0, 0]


def test_a_release_replaces_the_older_entry_even_by_a_smaller_one_but_not_by_nothing() -> None:
    played = play("""
        pool m { cap 20; }
        workload { arrive batch(1); }
        session {
          hold m (8) { hold m (5) { } cache (5); observe kept = cachedin(m); } cache (3); observe kept = cachedin(m);
          drop m;
          hold m (8) { hold m (5) { } cache (5); } observe kept = cachedin(m);
        }
    """)
    assert played.values("kept") == [5, 3, 5]


def test_the_cache_clause_is_read_when_the_units_are_free_again() -> None:
    played = play("""
        pool m { cap 20; }
        workload { arrive batch(1); }
        session { hold m (8) { } cache (used(m) == 0 ? 2 : 7); observe kept = cachedin(m); }
    """)
    assert played.values("kept") == [2]


def test_drop_discards_the_entry_but_neither_its_dead_part_nor_an_allocation() -> None:
    played = play("""
        pool m { cap 20; }
        workload { arrive batch(1); }
        session {
          hold m (8) { } cache (8); hold m (8) reuse (3) { } cache (6);
          hold m (2) reuse (0) { drop m; observe used = used(m); }
          hold m (1) { } cache (1); drop m; observe kept = cachedin(m);
        }
    """)
    assert (played.values("used"), played.values("kept")) == ([2], [0])
    assert [entry.units for entry in played.machine.configuration.pools[0].dead] == [5, 6]


def test_end_inside_a_hold_releases_it_like_the_end_of_its_body() -> None:
    played = play("""
        pool a { cap 9; }
        pool b { cap 9; }
        workload { arrive batch(1); }
        session { hold a (5) { hold b (4) { end; } cache (3); } cache (2); }
    """)
    a, b = played.machine.configuration.pools
    assert (a.used, b.used, a.cached, b.cached) == (0, 0, 2, 3)


def test_cached_prefixes_of_those_who_left_stay_until_they_are_evicted() -> None:
    played = play("""
        pool m { cap 10; }
        stage d : delay;
        workload { arrive batch(2); }
        session { run d (serial); hold m (6) { } cache (6); }
    """)
    assert played.log.of("evicted") == [(1, "evicted", "m", 0, 6, 0, False)]
    assert played.machine.configuration.pools[0].cached == 6


def test_observables_of_a_pool() -> None:
    played = play("""
        pool m { cap 10; }
        stage d : delay;
        workload { arrive batch(3); }
        session {
          hold m (4) { run d (1 + serial); } cache (3);
          observe used = used(m); observe free = free(m); observe holders = holders(m); observe waiting = queued(m);
          observe own = cachedin(m);
        }
    """)
    assert played.values("used") == [4, 4, 0]
    assert played.values("free") == [6, 6, 10]
    assert played.values("holders") == [1, 1, 0]
    assert played.values("waiting") == [1, 0, 0]
    assert played.values("own") == [3, 3, 3]

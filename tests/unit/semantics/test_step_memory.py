"""Iterations that run short of memory."""

from running import run, seen, values


def test_an_admitted_prefill_that_finds_no_memory_lets_the_decoding_go_on() -> None:
    """Session 1 is admitted with one unit and finds no second: it is preempted, and session 0 decodes meanwhile."""
    result = run(
        """
        pool kv { cap 8; preempt lifo; }
        pool reqs { cap 2; admit via engine; }
        stage engine : step { budget 4; cost 1; exclusive prefill; memory kv; }
        workload { arrive batch(2); }
        session {
          hold reqs (1), kv (1) {
            run engine prefill (4) growing kv;
            run engine decode (4) growing kv;
            observe done = now;
          }
        }
        run { horizon 100; }
        """
    )
    assert seen(result, "done")[0] == (5.0, 0, 5.0)
    assert len(values(result, "done")) == 2


def test_a_request_preempted_before_its_first_token_leaves_no_prefix() -> None:
    """Session 1 is allocated 4 units and has computed nothing when session 0 takes its memory at time 4."""
    result = run(
        """
        pool kv { cap 8; block 2; preempt lifo; }
        stage engine : step { budget 1; cost 1; memory kv; }
        workload { arrive batch(2); }
        session {
          hold kv (4) {
            observe hit = cached;
            run engine prefill (4) growing kv;
            run engine decode (1) growing kv;
          } cache (4);
          observe kept = cachedin(kv);
        }
        run { horizon 100; }
        """
    )
    assert seen(result, "hit") == [(0.0, 0, 0.0), (0.0, 1, 0.0), (5.0, 1, 0.0)]
    assert values(result, "kept") == [4.0, 4.0]

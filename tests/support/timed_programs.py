"""Programs with clocks, each of which uses one thing that shapes the states of a slotted or semi-Markov chain."""

SLOTTED = """
    let N = 2;  let B = 1;  let q = 1/4;  let p = 1/8;
    stage engine : step { budget B; cost 1; }
    stage think : delay;
    workload { arrive closed(N); }
    session { loop {
      set t0 = now;
      run engine decode (~geometric(q));
      observe response = now - t0;
      run think (~geometric(p));
    } }
"""
"""In a tick each running session ends with probability q, each thinker returns with probability p, and then the batch
is filled up to B.
"""

SEMI_MARKOV = """
    let N = 6;  let B = 3;  let q = 1/4;  let Z = 12;
    stage engine : step { budget B; cost 0.5 + 0.25 * ndec; }
    stage think : delay;
    gauge crowd = busy(engine) * queue(engine);
    workload { arrive closed(N); }
    session { loop {
      set t0 = now;
      run engine decode (~geometric(q));
      observe response = now - t0;
      run think (~exp(Z));
    } }
"""

PROGRAMS = {
    "slotted": SLOTTED,
    "semi-Markov": SEMI_MARKOV,
    "slots of a pool": """
        stage engine : step { budget 8; cost 1; }  stage think : delay;
        pool reqs { cap 2; admit via engine; }
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          hold reqs (1) {
            run engine prefill (~choice(3: 1, 12: 1));
            observe ttft = now - t0;
            run engine decode (~geometric(0.3));
          }
          observe response = now - t0;
          run think (~geometric(0.1));
        } }
    """,
    "costs": """
        stage engine : step { budget 8; cost 1 + ndec / 4; chunk 4; }  stage think : delay;
        workload { arrive closed(2); }
        session { loop {
          set t0 = now;
          run engine prefill (~choice(3: 1, 6: 1));
          observe ttft = now - t0;
          run engine decode (~geometric(0.3));
          observe response = now - t0;
          run think (2 * ~geometric(0.25));
        } }
    """,
    "cache": """
        stage engine : step { budget 8; cost 0.5 + npre / 8 + ndec / 8; }  stage think : delay;
        pool kv { cap 8; block 2; evict lru; admit via engine; }
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          hold kv (2) reserve(6) reuse(4) {
            observe hit = cached;
            run engine prefill (4 - cached) growing kv;
            observe ttft = now - t0;
            run engine decode (~choice(1: 1, 2: 1)) growing kv;
          } cache (4);
          observe response = now - t0;
          run think (~exp(12));
        } }
    """,
    "arrivals in slots": """
        stage engine : step { budget 2; cost 1; decode first; }
        workload { arrive renewal(~geometric(0.4)) limit(4); }
        session {
          set t0 = now;
          run engine prefill (~choice(1: 1, 2: 2));
          run engine decode (~geometric(0.5));
          observe response = now - t0;
        }
    """,
    "arrivals by the clock": """
        stage engine : step { budget 2; cost 0.75; }  stage front : delay;
        workload { arrive renewal(1.5) limit(3); }
        session {
          set t0 = now;
          run front (0.25);
          run engine prefill (~choice(1: 1, 2: 2));
          branch (0.3) { run engine decode (~geometric(0.6)); }
          observe response = now - t0;
        }
    """,
    "Poisson arrivals and tools": """
        stage engine : step { budget 4; cost 0.25 + ntok / 4; exclusive prefill; }  stage tool : fifo(2);
        workload { arrive poisson(0.3) limit(3); }
        session {
          set t0 = now;
          run engine prefill (~choice(3: 1, 5: 2));
          observe ttft = now - t0;
          loop {
            run engine decode (~geometric(0.6));
            branch (0.5) { observe response = now - t0; end; }
            run tool (~erlang(2, 2));
          }
        }
    """,
    "two step stages": """
        stage a : step { budget 2; cost 1; }  stage b : step { budget 1; cost 2; }  stage think : delay;
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          run a decode (~geometric(0.5));
          run b prefill (~choice(1: 1, 2: 1));
          observe response = now - t0;
          run think (~geometric(0.25));
        } }
    """,
    "no step stage": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          run svc (~geometric(0.5));
          observe response = now - t0;
          branch (0.5) { run think (~geometric(0.25)); } else { run think (3); }
        } }
    """,
    "a queue beside": """
        stage engine : step { budget 2; cost 1; }  stage svc : fifo;  stage think : delay;
        pool slots { cap 3; }
        workload { arrive closed(4); }
        session { loop {
          set t0 = now;
          hold slots (1) { run engine decode (~geometric(0.5)); run svc (~exp(0.7)); run engine decode (2); }
          observe response = now - t0;
          run think (~h2(5, 17 / 8));
        } }
    """,
}

"""Small finite programs, each of which uses one part of the language that shapes the states of a chain."""

PROGRAMS = {
    "servers": """
        stage svc : fifo(2);  stage think : delay;
        workload { arrive closed(3); }
        session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(4)); } }
    """,
    "sharing": """
        stage svc : ps(n / (1 + 0.5 * (n - 1)));  stage think : delay;
        gauge crowd = busy(svc) >= 2;
        workload { arrive closed(3); }
        session { loop { set s = ~exp(1); run svc (2 * s); observe work = 2 * s; run think (~exp(4)); } }
    """,
    "phases": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          run svc (~erlang(2, 1));
          observe response = now - t0;
          run think (~h2(4, 17 / 8));
        } }
    """,
    "classes": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(3); }
        session { loop {
          run think (~exp(4));
          set k = ~choice(1: 1, 2: 2, 3: 1);
          set t0 = now;
          run svc (k == 2 ? ~exp(1) : ~exp(k));
          branch (k == 3) { observe long = now - t0; }
          observe all = now - t0;
          observe class = k;
        } }
    """,
    "open": """
        stage svc : fifo;
        workload { arrive poisson(0.5) limit(4); init { set u = ~bernoulli(0.25); } }
        session { set t0 = now; run svc (u ? ~exp(3) : ~exp(1)); observe response = now - t0; observe long = u; }
    """,
    "loss": """
        stage svc : fifo(2);
        workload { arrive poisson(3); }
        session {
          set t0 = now;  set lost = busy(svc) + queue(svc) >= 4;
          observe blocked = lost;
          branch (lost) { end; }
          set s = ~exp(1);
          run svc (s);
          observe wait = now - t0 - s;
        }
    """,
    "batch": """
        stage d : delay;  stage f : fifo;
        workload { arrive batch(3); }
        session { run d (~exp(1)); run f (~exp(2)); }
    """,
    "replaced": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 3; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          hold kv (1) { observe hit = cached; run svc (~exp(cached ? 1 : 2)); } cache (1);
          branch (0.25) { end; }
          run think (~exp(3));
        } }
    """,
    "lru": """
        stage svc : fifo;  stage think : delay;
        pool kv { cap 2; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;
          hold kv (1) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (1);
          observe response = now - t0;
          run think (~exp(4));
        } }
    """,
    "pinned": """
        stage svc : ps(1);  stage think : delay;
        pool slots { cap 1; }
        pool kv { cap 3; evict lru; pin waiting; }
        workload { arrive closed(4); }
        session { loop {
          hold slots (1) { hold kv (1) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (1); }
          run think (~exp(4));
        } }
    """,
    "pinned two": """
        stage svc : ps(1);  stage think : delay;
        pool slots { cap 2; }
        pool kv { cap 3; evict lru; pin waiting; }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          hold slots (1) { hold kv (u) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (1); }
          run think (~exp(4));
        } }
    """,
    "pinned late": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 3; evict lru; pin waiting; }
        pool slots { cap 2; }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          hold slots (1) { hold kv (u) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (1); }
          run think (~exp(4));
        } }
    """,
    "keys": """
        stage svc : ps(1);  stage think : delay;
        pool slots { cap 1; }
        pool kv { cap 3; evict by (queued, 0 - size); }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          hold slots (1) { hold kv (u) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (u); }
          run think (~exp(4));
        } }
    """,
    "worth": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 2; evict by (worth); }
        workload { arrive closed(3); init { set worth = ~choice(1: 1, 2: 1); } }
        session { loop {
          hold kv (1) { observe hit = cached; run svc (~exp(cached ? 1 : 3)); } cache (1);
          branch (0.2) { end; }
          run think (~exp(4));
        } }
    """,
    "shortest first": """
        stage svc : fifo;  stage think : delay;
        pool turn { cap 1; queue by (u); }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          set t0 = now;
          hold turn (1) { observe wait = now - t0; run svc (~exp(u)); }
          run think (~exp(2));
        } }
    """,
    "blocks": """
        stage svc : fifo;  stage think : delay;
        pool kv { cap 20; block 4; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(5: 1, 9: 1);
          hold kv (u) reserve (u + 2) reuse (u - 1) {
            observe hit = cached;
            run svc (~exp(1 + (u - cached) / 4));
          } cache (u);
          run think (~exp(4));
        } }
    """,
    "growing": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 4; }
        workload { arrive closed(2); }
        session { loop {
          hold kv (1) { run svc (~exp(1)); grow kv (~choice(1: 1, 2: 1)); run svc (~exp(1)); }
          run think (~exp(2));
        } }
    """,
    "preempted": """
        stage svc : fifo;  stage think : delay;
        pool kv { cap 4; evict lru; preempt lifo; }
        workload { arrive closed(3); }
        session { loop {
          hold kv (1) { observe hit = cached; run svc (~exp(1)); grow kv (2); run svc (~exp(2)); } cache (1);
          run think (~exp(2));
        } }
    """,
    "preempted length": """
        stage svc : fifo;  stage think : delay;
        pool kv { cap 5; evict lru; preempt lifo; }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1); set keep = 1;
          hold kv (1) {
            observe hit = cached;
            set keep = u;
            run svc (~exp(1)); grow kv (u);
            run svc (~exp(2));
            set keep = 1;
          } cache (keep);
          run think (~exp(2));
        } }
    """,
    "preempted inner": """
        stage svc : ps(n);  stage think : delay;
        pool kv { cap 3; preempt lifo; }
        pool gpu { cap 1; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          hold kv (1) {
            hold gpu (1) { observe hit = cached; run svc (~exp(1)); } cache (1);
            grow kv (1);
            run svc (~exp(2));
          }
          run think (~exp(2));
        } }
    """,
    "preempted by key": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 3; preempt lifo; queue by (u); }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          hold kv (1) { run svc (~exp(1)); grow kv (1); run svc (~exp(u)); }
          run think (~exp(2));
        } }
    """,
    "victims by key": """
        stage svc : ps(1);  stage think : delay;
        pool kv { cap 3; preempt by (0 - u); }
        workload { arrive closed(3); }
        session { loop {
          set u = ~choice(1: 1, 2: 1);
          hold kv (1) { run svc (~exp(1)); grow kv (1); run svc (~exp(2)); }
          run think (~exp(2));
        } }
    """,
    "arrays": """
        let R = 2;
        stage svc[R] : fifo;  stage think : delay;
        pool kv[R] { cap 2; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          choose r in R by (3 * queue(svc[r]) + busy(svc[r]) - 2 * cachedin(kv[r]));
          hold kv[r] (1) { observe hit = cached; observe where = r; run svc[r] (~exp(cached ? 1 : 2)); } cache (1);
          run think (~exp(2));
        } }
    """,
    "two pools": """
        stage svc : delay;  stage think : delay;
        pool a { cap 2; }
        pool b { cap 3; evict lru; }
        workload { arrive closed(3); }
        session { loop {
          hold a (1), b (1) { observe hit = cached; run svc (~exp(1)); } cache (1);
          branch (0.3) { drop b; }
          run think (~exp(2));
        } }
    """,
    "turns": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(2); turn { set t0 = now; set long = ~bernoulli(0.5); } }
        session { turn; loop {
          run svc (~exp(1 + long)); observe response = now - t0;
          run think (~exp(2)); turn;
          branch (turn_no >= 3) { end; }
        } }
    """,
    "serials": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(3); }
        session { loop { run svc (~exp(1 + serial)); run think (~exp(3)); } }
    """,
    "stored times": """
        stage svc : fifo;  stage think : delay;
        workload { arrive closed(3); }
        session { loop {
          set t0 = now;  set s = ~exp(1);
          run svc (s);
          set r = 2 * (now - t0) + 3;  set w = now - t0 - s;
          run think (~exp(4));
          observe twice = r;
          observe both = r / 2 - w + 1;
          observe gap = now - t0;
        } }
    """,
    "gaps": """
        stage svc : fifo;
        workload { arrive renewal(2 * ~exp(1)) limit(3); }
        session { set t0 = now; run svc (~erlang(2, 1)); observe response = now - t0; }
    """,
}

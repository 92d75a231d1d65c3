"""Programs without chance, whose clocks tie, observation for observation against the peer interpreter."""

import pytest
from peer import Job, respell
from peer import run as run_peer
from running import run

END = " run { horizon 60; warmup 0; seed 1; }"
DELAYS = "stage d : delay; "
PROGRAMS = {
    "fifo and delay": DELAYS + """stage s : fifo; workload { arrive batch(3); }
      session { branch (serial < 2) { run s (2); observe o = serial; end; } run d (2); observe o = serial; }""",
    "fifo of two servers": """stage s : fifo(2); workload { arrive batch(7); }
      session { run s (1 + (serial == 2)); observe o = serial; run s (2); observe o = 10 + serial; }""",
    "renewal arrivals at departures": DELAYS + """stage s : fifo; workload { arrive renewal(1); }
      session { observe found = busy(s); run s (1); observe o = serial; run d (2); observe o = 100 + serial; }""",
    "shared stage set before and after delays": DELAYS + """stage p : ps(1); workload { arrive batch(4); }
      session { branch (serial == 0 || serial == 3) { run d (4); observe o = serial; end; } run p (2);
        observe o = serial; }""",
    "a delay set after the last change of sharing": DELAYS + """stage p : ps(1); workload { arrive batch(4); }
      session { branch (serial == 0) { run d (1); run d (3); observe o = 0; end; }
        branch (serial == 3) { run d (4); observe o = 3; end; } run p (2); observe o = serial; }""",
    "sharing with a rate of its own": DELAYS + """stage p : ps(n); workload { arrive batch(4); }
      session { branch (serial == 0) { run p (4); observe o = 0; end; }
        branch (serial == 1) { run d (1); run p (5); observe o = 1; end; }
        branch (serial == 2) { run d (4); observe o = 2; end; } run d (1); run d (3); observe o = 3; }""",
    "two shared stages": """stage p : ps(1); stage q : ps(1); workload { arrive batch(6); }
      session { branch (serial == 0 || serial == 2 || serial == 5) { run q (2); observe o = serial; end; }
        run p (2); observe o = serial; run q (1); observe o = 10 + serial; }""",
    "sharing and an iteration end together": DELAYS + """stage p : ps(1); stage e : step { budget 8; cost 4; }
      workload { arrive batch(2); }
      session { branch (serial == 0) { run e prefill (4); observe o = 0; end; } run p (4); observe o = 1; }""",
    "an iteration waits for every clock of its instant": DELAYS + """stage p : ps(1);
      stage e : step { budget 8; cost 1; } workload { arrive batch(3); }
      session { branch (serial < 2) { run p (2); observe o = 0; run e prefill (4); observe o = now; end; }
        run d (4); run e prefill (4); observe o = now; end; }""",
    "an overloaded step stage": """stage e : step { budget 3; cost 0.5 + ntok; } workload { arrive renewal(4); }
      session { run e prefill (5); observe first = now; run e decode (3); observe o = serial; }""",
    "a closed population that ends": DELAYS + """stage s : fifo; workload { arrive closed(2); }
      session { run s (1); observe o = serial; run d (2); }""",
    "rate 0 with one job": DELAYS + """stage p : ps(n - 1); workload { arrive batch(2); }
      session { run d (serial * 2); run p (3); observe o = serial; }""",
}  # fmt: skip


@pytest.mark.parametrize("case", PROGRAMS)
def test_the_same_observations_in_the_same_order(case):
    text = PROGRAMS[case] + END
    (theirs,) = run_peer([Job(respell(text), horizon=60, dump=True)])
    ours = run(text)
    for name, observe in theirs["observes"].items():
        rows = [(time, session, value) for time, session, _, value in observe["rows"]]
        samples = ours.samples[name]
        assert rows == list(zip(samples.times, samples.sessions, samples.values, strict=True))
        assert rows, "the program observes nothing"

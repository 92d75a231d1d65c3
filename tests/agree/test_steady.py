"""Residents that are counted together do what they do one by one: with room, short of memory, short of budget.

Here CPython runs the text as it stands, so that the defects put back in `tests/mutations/engine.toml` are in it.
"""

from dataclasses import replace

import pytest
from engines import events_of_both

from serq.pipeline import SimulateOptions, load_text, run_options

PROGRAM = """
let blocks = 200;
let B = 24;
let most = 0;
pool kv { cap blocks * 4; block 4; evict lru; preempt lifo; }
pool reqs { cap 6; admit via engine; }
stage engine : step { budget B; chunk most; cost 0.5 + ntok / 16 + kvb / 256; memory kv; }
stage tool : delay;
workload { arrive closed(7); }
session {
  loop {
    set t0 = now;
    set prompt = 1 + floor(~uniform(0, 40));
    set out = ~geometric(0.05);
    hold reqs (1), kv (min(max(prompt, computed + 1), floor(min(cachedin(kv), max(prompt - 1, computed)) / 4) * 4
        + budget_left(engine))) reserve (max(prompt, computed + 1)) reuse (max(prompt - 1, computed)) {
      set known = max(prompt, computed + 1);
      run engine prefill (known - cached) growing kv;
      run engine decode (prompt + out - 1 - known) growing kv;
    } cache (prompt + out - 1);
    observe response = now - t0;
    run tool (~exp(6));
  }
}
run { horizon 800; seed 3; }
"""


CASES = {
    "room": {},
    "short of memory": {"blocks": 40},
    "short of budget": {"B": 7, "most": 3},
}


@pytest.mark.parametrize("name", CASES)
def test_counted_together_or_one_by_one(name):
    program = load_text(PROGRAM, overrides=CASES[name]).program
    options = replace(run_options(program, SimulateOptions()), keep_samples=True)
    for together in (True, False):
        assert events_of_both(program, options, "cpython", bounds_checked=False, together=together) > 200

"""Iterations at whose ends nobody comes or goes are passed over as the reference passes one after the other.

CPython runs the text as it stands, so that the defects put back in `tests/mutations/engine.toml` are in it.
"""

from dataclasses import replace

import pytest
from engines import events_of_both

from serq.pipeline import SimulateOptions, load_text, run_options

ONE = """
pool kv { cap %(blocks)s * 4; block 4; evict lru; preempt lifo; }
pool reqs { cap %(cap)s; %(via)s }
stage engine : step { budget %(budget)s; %(chunk)s cost %(cost)s; memory kv; %(more)s }
stage tool : delay;
%(gauges)s
workload { arrive closed(5); }
session {
  loop {
    set t0 = now;
    hold reqs (1), kv (8) {
      run engine prefill (1 + floor(~uniform(0, 8))) growing kv;
      run engine decode (min(~geometric(0.02), 90)) growing kv;
    } cache (8);
    observe response = now - t0;
    run tool (~uniform(0, 1) < 0.5 ? 32 : ~exp(30));
  }
}
run { horizon 800; seed 3; }
"""
PLAIN = {"blocks": 200, "cap": 9, "via": "admit via engine;", "budget": 24, "chunk": "", "cost": "0.5 + kvb / 256"}
ONES = {
    "memory": {},
    "short of memory": {"blocks": 26},
    "a queue": {"cap": 2, "via": ""},
    "a queue at the stage": {"cap": 2},
    "ties": {"cost": "0.5"},
    "limits": {"budget": "8 + nres + ndec", "chunk": "chunk nres + 1;"},
    "a budget that can be too small": {"budget": "nres > 2 ? 1 : 9"},
    "plans ahead": {"more": "plan ahead;"},
    "gauges": {"gauges": "gauge a = used(kv) + holders(reqs); gauge b = busy(engine) + queue(engine);"},
    "gauges that drift": {"gauges": "gauge a = work(engine) * busy(engine); gauge b = work(tool);"},
    "a cost that looks around": {"cost": "0.5 + (now % 2 + busy(engine) + work(engine) % 3 + busy(tool)) / 64"},
    "no cost": {"cost": "ntok > 2 ? 0.5 : ntok > 1 ? 0 : 0.75"},
}
PAIR = """
pool kv[2] { cap 200; block 4; evict lru; preempt lifo; }
stage engine[2] : step { budget 9; cost 0.25 + ntok / 16; memory kv; }
stage other : step { budget free(reqs) > 0 ? 8 : 0; cost 0.75 + ntok / 8; }
pool reqs { cap 1; }
stage tool : delay;
workload { arrive closed(6); }
session {
  set e = serial % 2;
  loop {
    hold kv[e] (4) {
      run engine[e] prefill (6) growing kv[e];
      run engine[e] decode (~geometric(0.03)) growing kv[e];
    } cache (20);
    observe t = now;
    branch (0.3) { hold reqs (1) { run tool (~exp(20)); } }
    run other decode (~geometric(0.1));
    run tool (~exp(30));
  }
}
run { horizon 900; seed 3; }
"""


def events_of(text, **overrides):
    """The number of events; both engines agree."""
    program = load_text(text).program
    options = replace(run_options(program, SimulateOptions(**overrides)), keep_samples=True)
    return events_of_both(program, options, "cpython", bounds_checked=False)


@pytest.mark.parametrize("name", ONES)
def test_one_stage(name):
    given = dict.fromkeys(("gauges", "more"), "") | PLAIN | ONES[name]
    assert events_of(ONE % given) > 500


def test_two_stages_and_one_that_cannot_begin():
    assert events_of(PAIR) > 500

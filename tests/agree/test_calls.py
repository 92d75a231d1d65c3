"""Where a call of the compiled simulator ends makes no difference: the next one goes on as if there were no seam.

A claim that joins while an iteration is put together waits for the next clock; a call that ends there, after so many
events or for want of room, leaves it waiting.
"""

from dataclasses import replace

import pytest
from deployments import deployment
from engines import assert_same_outcome, events_of_both, short
from pool_programs import pool_program
from step_programs import step_program

from serq.engine import run
from serq.engine.supported import why_not
from serq.pipeline import load_text

NESTED = """
    pool reqs { cap 2; admit via engine; }
    pool kv { cap %(cap)s; preempt lifo; }
    stage engine : step { budget 8; cost 2; %(more)s }
    stage load : delay;
    stage think : delay;
    workload { arrive closed(3); }
    session { loop {
      set t0 = now;
      hold reqs (1) { hold kv (1) { run load (~geometric(0.5)); run engine decode (~geometric(0.5)) %(growing)s; } }
      observe response = now - t0;
      run think (~geometric(0.5));
    } }
"""
KINDS = {
    "room": {},
    "plans ahead": {"more": "plan ahead;"},
    "preempts": {"cap": 9, "growing": "growing kv"},
    "chunks": {"more": "chunk 1;"},
}
CACHED = """
    pool kv { cap 200; evict by (-size); }
    pool reqs { cap 8; admit via engine; }
    stage engine : step { budget 512; cost 1; }
    stage tool : delay;
    workload { arrive closed(12); }
    session { loop {
      set out = ~choice(1: 1, 2: 1, 7: 1);
      hold reqs (1) { hold kv (5) reuse (3) { run engine decode (out) growing kv; } cache (5); }
      observe back = now;
      run tool (1);
    } }
"""
"""Cached prefixes become more and more, so that room for them has to be made."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [1, 7])
def test_a_claim_that_joins_while_an_iteration_is_put_together(monkeypatch, kind, most):
    monkeypatch.setattr(run, "EVENTS_A_CALL", most)
    program = load_text(NESTED % ({"cap": 8, "more": "", "growing": ""} | KINDS[kind])).program
    assert why_not(program) is None
    assert events_of_both(program, short(program, 200.0), "cpython") > 100


def test_room_is_made_while_a_claim_waits():
    program = load_text(CACHED).program
    assert events_of_both(program, short(program, 200.0), "cpython") > 300


@pytest.mark.parametrize("make", [step_program, pool_program])
@pytest.mark.parametrize("seed", range(3))
def test_generated_programs(monkeypatch, make, seed):
    monkeypatch.setattr(run, "EVENTS_A_CALL", 1 + seed % 3)
    program = load_text(make(seed)).program
    assert_same_outcome(program, short(program, 30.0), "cpython")


@pytest.mark.parametrize("seed", range(6))
def test_generated_deployments(monkeypatch, seed, tmp_path):
    monkeypatch.setattr(run, "EVENTS_A_CALL", 1)
    made = deployment(seed)
    program, path = load_text(made.text).program, tmp_path / "trace.csv"
    assert why_not(program) is None
    path.write_text(made.trace)
    options = short(program, made.horizon or 40.0)
    assert_same_outcome(program, replace(options, trace=None if program.trace is None else str(path)), "cpython")

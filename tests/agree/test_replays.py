"""Replays do the same on both engines: rows, iterations, and who waits for ever, to the last digit."""

import pytest
from command_line import serq
from deployments import corpus_of, deployment
from preempting_programs import preempting_program
from replaying import assert_same_replay, diagnostics, of_engine, of_reference

from serq.codegen import jit
from serq.codegen.program import Backend
from serq.engine.request_memory import make_journal
from serq.pipeline import load_text
from serq.replays import replay_on
from serq.semantics.replay import ReplayOptions
from serq.traces.reader import read_trace

pytestmark = pytest.mark.usefixtures("own_cache")

BACKENDS: tuple[Backend, ...] = ("cpython", "llvm") if jit.available() else ("cpython",)
DEPLOYMENTS = range(5)
PREEMPTING = (15, 27, 29)
STUCK = """
pool kv { cap 8; preempt none; } pool box { cap 4; admit via engine; }
stage engine : step { budget 2; cost 1; memory kv; } stage s : delay;
workload { arrive batch(6); }
session { turn; run s (serial); hold kv (serial + 1) { run engine decode (2); grow kv (4); run s (1); }
  hold box (serial * 2) { run engine decode (1) growing box; } }
run { horizon 100; seed 3; }
"""
NEVER = """
pool box[2] { cap 4; queue by (-serial); } stage s : delay;
workload { arrive batch(9); }
session { turn; hold box[serial % 2] (serial) { run s (1); } }
run { horizon 100; seed 3; }
"""
LENGTHS = """
stage engine : step { budget 4; cost 1; } stage s : delay;
workload { arrive batch(4); }
session { set k = 0; branch (serial > 0) { set new = 3; } loop { turn; set out = 2 + k;
  run engine prefill (2); run engine decode (out); set k = k + 1; branch (k == 3) { end; } run s (1); } }
run { horizon 100; seed 3; }
"""
CACHED = """
pool kv { cap 20; block 2; } stage engine : step { budget 8; cost 1; memory kv; } stage s : delay;
workload { arrive closed(4); }
session { loop { turn; hold kv (6) { run engine prefill (6 - cached) growing kv; run engine decode (3); } cache (8);
  run s (1 + serial % 2); } }
run { horizon 60; seed 3; }
"""
MORE = """
stage engine : step { budget 99; cost 1; } workload { arrive renewal(1) limit(15); }
session { turn; run engine decode (30); } run { horizon 20; seed 3; }
"""


@pytest.mark.parametrize("seed", DEPLOYMENTS)
def test_generated_deployments(seed):
    made = deployment(seed)
    program = load_text(made.text).program
    horizon = 25.0 if seed % 3 == 0 else made.horizon
    options = ReplayOptions(horizon=horizon, strict=seed % 2 == 0)
    assert_same_replay(program, corpus_of(made, program), options, "cpython", checked=seed % 2 == 1)


@pytest.mark.parametrize("seed", PREEMPTING)
def test_generated_preemptions(seed):
    program = load_text(preempting_program(seed)).program
    steps, _ = assert_same_replay(program, None, ReplayOptions(horizon=40.0), "cpython", checked=seed % 2 == 0)
    assert steps > 10


def test_what_is_evicted_is_told_in_blocks():
    program = load_text(CACHED).program
    lines, _ = of_reference(program, None, ReplayOptions())
    assert any(line.rstrip().endswith("0:1-3") for line in lines)
    assert_same_replay(program, None, ReplayOptions(), "cpython", checked=False)


@pytest.mark.parametrize(("name", "fault"), [("stuck", "WaitsForEver"), ("never", "NeverAdmitted")])
def test_who_waits_for_ever_is_named(name, fault):
    program = load_text({"stuck": STUCK, "never": NEVER}[name]).program
    _, played = assert_same_replay(program, None, ReplayOptions(strict=True), "cpython")
    assert played is not None
    assert {type(found).__name__ for found in diagnostics(played)} == {fault}


def test_a_horizon_that_leaves_sessions_waiting_is_no_reason_to_replay_again():
    program = load_text(
        "pool box { cap 1; } stage s : delay; workload { arrive batch(3); }\n"
        "session { turn; hold box (1) { run s (5); } } run { horizon 3; }"
    ).program
    played = replay_on(program, None, ReplayOptions(horizon=3.0))
    assert len([r for r in played.requests if r.cached is None]) == 2
    assert (played.engine, played.why, played.stuck) == ("compiled", "", None)


def test_lengths_that_the_program_sets_are_those_of_its_requests():
    program = load_text(LENGTHS).program
    _, played = assert_same_replay(program, None, ReplayOptions(), "cpython")
    assert played is not None
    assert [(r.prompt, r.out) for r in played.requests][:4] == [(None, None), (None, 2.0), (None, 3.0), (3.0, None)]


def test_steps_are_told_once_where_a_replay_has_to_begin_again(monkeypatch):
    """At first there is too little room for what one event may write, once there are many residents."""
    rooms = []

    def make(requests, holds, capacity, factor):
        rooms.append(factor)
        make_journal(requests, holds, capacity, factor)
        if factor == 1:
            requests.spare, requests.space = 20, 40

    monkeypatch.setattr("serq.engine.run.make_journal", make)
    program = load_text(MORE).program
    expected, _ = of_reference(program, None, ReplayOptions())
    found, _ = of_engine(program, None, ReplayOptions(), "cpython", told=True, checked=True)
    assert set(rooms) == {1, 8}
    assert found == expected


def test_more_sessions_than_there_was_room_for(tmp_path):
    program = load_text(
        "pool kv { cap 500; } stage engine : step { budget 300; cost 1; memory kv; }\n"
        'workload { arrive trace; trace "t.csv"; }\n'
        "session { turn; hold kv (1) { run engine prefill (new) growing kv; } cache (1); }\nrun { seed 2; }"
    ).program
    path = tmp_path / "t.csv"
    rows = [f"{i},1,{1 + i % 3},1,0,{i // 700}\n" for i in range(2500)]
    path.write_text("session,turn,new,out,think,start\n" + "".join(rows))
    steps, _ = assert_same_replay(program, read_trace(path, ()), ReplayOptions(), BACKENDS[-1], checked=False)
    assert steps > 5


def test_the_dumps_are_the_same_files(tmp_path, capsys):
    program = tmp_path / "p.sq"
    program.write_text(CACHED)
    for engine in ("compiled", "reference"):
        done = serq(capsys, "replay", program, "--dump", tmp_path / engine, "--engine", engine)
        assert f"engine: {engine}" in done.err
    for name in ("steps.csv", "requests.csv"):
        ours, theirs = ((tmp_path / engine / name).read_bytes() for engine in ("compiled", "reference"))
        assert ours == theirs
    assert b":" in ours or len(ours.splitlines()) > 10

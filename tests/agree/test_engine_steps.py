"""Programs with step stages, with memory and without, do the same on both engines, to the bit or to the word."""

from dataclasses import replace

import pytest
from deployments import deployment
from engines import assert_same, assert_same_outcome, events_of_both, short
from preempting_programs import preempting_program
from step_programs import step_program, traced_program

from serq.codegen import jit
from serq.engine.supported import why_not
from serq.engines import run_compiled
from serq.ir.program import Step
from serq.models import shipped
from serq.pipeline import load, load_text

pytestmark = pytest.mark.usefixtures("own_cache")

LOADED = {model.name: load(model.path).program for model in shipped()}
MODELS = {name: program for name, program in LOADED.items() if any(isinstance(s.kind, Step) for s in program.stages)}
LLVM = ("llvm",) if jit.available() else ()
BACKENDS = ("cpython", *LLVM)
FEW = [*((seed, "cpython") for seed in range(8)), *((seed, b) for b in LLVM for seed in range(3))]
LIMITS = """
stage s : step { budget 9 - budget_left(s); cost 1; }
stage pair[2] : step {
  budget 3 + budget_left(s) / 2 - budget_left(pair[nres % 2]); chunk 1 + budget_left(pair[1]); cost 1; }
workload { arrive poisson(0.5); }
session {
  observe left = budget_left(s) + 10 * budget_left(pair[0]); run s decode (2);
  run pair[serial % 2] prefill (5 + serial % 3); observe one = budget_left(pair[1]); run s prefill (serial % 7); }
"""
PREEMPTED = (15, 18, 22, 26, 29, 44)
"""Seeds of programs in which holders are preempted wherever they can be, even while they wait for a stage to plan."""
PREEMPTING = [*((seed, "cpython") for seed in PREEMPTED), *((seed, b) for b in LLVM for seed in (15,))]
HELD = """
pool kv { cap 9; } stage a : step { budget 4; cost 1; memory kv; } stage b : step { budget 4; cost 1 + kvb; }
workload { arrive closed(3); } session { loop { hold kv (3) { run a decode (2); run b decode (2); } } }
"""
DEPLOYMENTS = [*((seed, "cpython") for seed in range(106)), *((seed, b) for b in LLVM for seed in range(4))]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_shipped_models(name, backend):
    program = MODELS[name]
    assert why_not(program) is None
    assert events_of_both(program, short(program, 5.0 if name == "two_resource" else 30.0), backend, opt=0) > 20


@pytest.mark.parametrize(("seed", "backend"), FEW)
def test_generated_step_stages(seed, backend):
    program = load_text(step_program(seed)).program
    assert why_not(program) is None
    assert events_of_both(program, short(program), backend, opt=0) > 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_limits_may_read_what_budgets_leave(backend):
    program = load_text(LIMITS + "run { horizon 100; seed 4; }").program
    assert events_of_both(program, short(program, 100.0), backend, opt=0) > 200


def test_at_a_stage_without_memory_nobody_holds_any():
    """Also who comes from a stage that has one."""
    program = load_text(HELD + "run { horizon 100; seed 4; }").program
    assert events_of_both(program, short(program, 100.0), "cpython") > 50


@pytest.mark.parametrize(("seed", "backend"), PREEMPTING)
def test_generated_preemptions(seed, backend):
    program = load_text(preempting_program(seed)).program
    assert why_not(program) is None
    assert_same_outcome(program, short(program), backend, bounds_checked=seed % 2 == 0)


@pytest.mark.parametrize(("seed", "backend"), FEW)
def test_generated_traces(seed, backend, tmp_path):
    text, trace = traced_program(seed)
    program, path = load_text(text).program, tmp_path / "t.csv"
    path.write_text(trace)
    assert why_not(program) is None
    assert events_of_both(program, replace(short(program), trace=str(path)), backend, opt=0) > 5


def test_a_trace_of_many_sessions_that_begin_together(tmp_path):
    program = load_text(
        'stage d : delay;\nworkload { arrive trace; trace "t.csv"; }\n'
        "session { turn; run d (out); observe r = now; end; }\nrun { horizon 9; seed 2; }"
    ).program
    rows = [f"{i},1,1,{i % 7},0,{3 * (i > 300)}\n" for i in range(1400)]
    (tmp_path / "t.csv").write_text("session,turn,new,out,think,start\n" + "".join(rows))
    options = replace(short(program, 9.0), warmup=0.0, trace=str(tmp_path / "t.csv"))
    for backend in BACKENDS:
        assert events_of_both(program, options, backend) > 1000


@pytest.mark.parametrize(("seed", "backend"), DEPLOYMENTS)
def test_generated_deployments(seed, backend, tmp_path):
    made = deployment(seed)
    program, path = load_text(made.text).program, tmp_path / "trace.csv"
    if why_not(program) is not None:
        return
    path.write_text(made.trace)
    trace = None if program.trace is None else str(path)
    options = replace(short(program, made.horizon or 40.0), trace=trace)
    assert_same_outcome(program, options, backend, bounds_checked=seed % 4 == 0)


def test_most_deployments_are_compiled():
    compiled = sum(why_not(load_text(deployment(seed).text).program) is None for seed in range(20))
    assert compiled >= 15


@pytest.mark.parametrize("name", ["vllm", "two_resource"])
def test_counting_one_by_one_gives_the_same(name):
    program = MODELS[name]
    options = replace(short(program, 60.0), keep_samples=False)
    (together,) = run_compiled(program, options, 1).results
    (alone,) = run_compiled(program, options, 1, together=False).results
    assert together.events > 5000
    assert_same(together, alone)


@pytest.mark.parametrize("seed", range(4))
def test_counting_one_by_one_gives_what_the_reference_does(seed):
    program = load_text(step_program(seed)).program
    assert events_of_both(program, short(program), "cpython", together=False) > 5

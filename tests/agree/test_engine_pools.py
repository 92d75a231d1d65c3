"""Programs with pools do the same on both engines: every sum, every sample in order, or the same words at the end."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, fields, replace
from pathlib import Path

import pytest
from engines import assert_same, events_of_both, short
from pool_programs import pool_program

from serq.base.diagnostics import Diagnostic
from serq.base.errors import RunError
from serq.codegen import jit
from serq.codegen.program import Backend
from serq.engine.supported import why_not
from serq.engines import run_compiled
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, load, load_text, run_options
from serq.semantics.limits import Limits
from serq.semantics.options import RunOptions
from serq.semantics.reference import simulate
from serq.semantics.run_result import RunResult
from serq.semantics.tallies import PoolSums

pytestmark = pytest.mark.usefixtures("own_cache")

REACHED = {
    "used", "cached", "queue", "holders", "waited", "admissions", "evictions", "evicted_units", "preemptions",
    "rejections", "spills", "spilled_units",
}  # fmt: skip
BACKENDS: tuple[Backend, ...] = ("cpython", "llvm") if jit.available() else ("cpython",)
PROGRAMS_WITH_VALUES = Path(__file__).parents[1] / "data" / "values" / "programs"
DATA = {path.stem: load(path).program for path in PROGRAMS_WITH_VALUES.glob("*.sq")}
WITH_POOLS = 100
WORKLOAD = "workload { arrive closed(6); }\n"
BY_HAND = {
    "reuse": "pool kv { cap 9; evict lru; } stage s : fifo; stage think : delay;\n"
    + WORKLOAD
    + "session { loop { set u = 1 + ~bernoulli(0.5) * 2; hold kv (u) reuse (u - 1)\n"
    "{ run s (~exp(1 + u - cached)); } cache (u); run think (~exp(2)); } }",
    "keys": "pool kv { cap 7; block 2; evict by (queued, -size); pin waiting; } pool slots { cap 2; queue by (u); }\n"
    "stage s : ps(1); stage think : delay;\n"
    + WORKLOAD
    + "session { set u = 2; loop { set u = 1 + ~bernoulli(0.5) * 2; hold slots (1) { hold kv (u)\n"
    "{ run s (~exp(1 + u - cached)); } cache (u); } run think (~exp(1)); } }",
    "growth": "pool kv { cap 6; } stage s : fifo; stage think : delay;\n"
    + WORKLOAD
    + "session { loop { hold kv (1) reserve (2) { run s (0.5); grow kv (1); run s (~exp(1)); }\n"
    "run think (~exp(2)); } }",
    "preemption": "pool kv { cap 7; preempt lifo; } stage s : fifo; stage crew : fifo(2); stage think : delay;\n"
    + WORKLOAD
    + "session { loop { hold kv (2) { run s (~exp(0.5)); grow kv (1); run crew (~exp(1)); run think (~exp(1)); }\n"
    "cache (1); run think (~exp(2)); } }",
    "spill": "pool kv { cap 6; spill host via out (size / 4) when (size > 1); } pool host { cap 8; }\n"
    "stage s : fifo; stage out : fifo; stage think : delay;\n"
    + WORKLOAD
    + "session { loop { set u = 1 + ~bernoulli(0.5) * 2; hold kv (u) {\n"
    "run s (~exp(1 + u - cached - cachedin(host) / 9)); } cache (u); run think (~exp(2)); } }",
    "spills that draw, of sessions that draw nothing else": "pool kv { cap 4; spill host via out (~exp(1))\n"
    "when (~bernoulli(0.7)); } pool host { cap 50; } stage out : delay; stage s : fifo;\n"
    "workload { arrive poisson(0.5); }\n"
    "session { observe at = now; hold kv (2) { run s (1); } cache (2); }",
    "spills that draw": "pool kv { cap 5; spill host via out (~uniform(0, 2)) when (size > 0); } pool host { cap 9; }\n"
    "stage s : ps(1); stage out : fifo(3); stage think : delay;\n"
    + WORKLOAD
    + "session { loop { hold kv (2) { run s (~exp(1)); } cache (2); run think (~exp(2)); } }",
}


def same_of_both(program: Program, options: RunOptions, backend: Backend, checked: bool = True) -> None:
    """Both engines do the same, or stop with the same words; `checked`: with bounds, which takes longer to compile."""
    expected = outcome(lambda: simulate(program, options))
    found = outcome(
        lambda: run_compiled(program, options, 1, backend=backend, bounds_checked=checked, opt=0).results[0]
    )
    if isinstance(expected, RunResult) and isinstance(found, RunResult):
        assert_same(found, expected)
    else:
        assert found == expected


def outcome(run: Callable[[], RunResult]) -> RunResult | list[Diagnostic]:
    """What a run gives, or what it is stopped with."""
    try:
        return run()
    except RunError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize("name", BY_HAND)
def test_one_thing_at_a_time(name):
    program = load_text(BY_HAND[name]).program
    options = replace(run_options(program, SimulateOptions(horizon=200.0, warmup=10.0, seed=5)), keep_samples=True)
    for backend in BACKENDS:
        assert events_of_both(program, options, backend, opt=0) > 100


def test_holds_that_can_never_fit_may_wait_for_ever():
    program = load_text(
        "pool kv { cap 3; } stage s : delay; workload { arrive batch(7); }\n"
        "session { run s (serial); hold kv (serial) { run s (1); } } run { horizon 50; }"
    ).program
    options = replace(short(program, 50.0), limits=Limits(rejects=False))
    for backend in BACKENDS:
        assert events_of_both(program, options, backend, opt=0) > 8
    assert len(simulate(program, options).waiting) == 3


ROOM = {
    "owners that have left": "pool kv { cap 3000; evict by (need, age); } stage s : delay;\n"
    "workload { arrive poisson(20); }\n"
    "session { set need = serial % 7; hold kv (1) { run s (~exp(2)); } cache (1); run s (~exp(1)); }",
    "much within one event": "pool kv { cap inf; } stage s : delay;\n"
    "workload { arrive batch(90); }\n"
    "session { set k = 0; loop { hold kv (1) reuse (0) { } cache (1); set k = k + 1;\n"
    "branch (k % 20 == 0) { run s (~exp(1)); } branch (k == 60) { end; } } }",
}


@pytest.mark.parametrize("name", ROOM)
def test_room_for_sessions_and_prefixes_is_made(name):
    program = load_text(ROOM[name]).program
    options = replace(run_options(program, SimulateOptions(horizon=100.0, seed=5)), keep_samples=True)
    for backend in BACKENDS:
        assert events_of_both(program, options, backend, opt=0) > 100


@pytest.mark.parametrize("seed", range(WITH_POOLS))
def test_generated_programs(seed):
    program = load_text(pool_program(seed)).program
    assert why_not(program) is None
    for backend in BACKENDS if seed % 12 == 0 else ("cpython",):
        same_of_both(program, short(program, 30.0), backend, seed % 3 == 0)


def test_the_generated_programs_use_what_pools_can_do():
    """Batches in which something happened, of all programs together, by what it is that happened."""
    seen = Counter()
    for seed in range(WITH_POOLS):
        program = load_text(pool_program(seed)).program
        with suppress(RunError):
            for rows in simulate(program, short(program, 30.0)).counts.pools:
                for sums in rows:
                    seen.update(f.name for f, x in zip(fields(PoolSums), astuple(sums), strict=True) if x)
    assert {name for name, batches in seen.items() if batches >= 10} >= REACHED


@pytest.mark.parametrize("name", DATA)
def test_programs_with_known_values(name):
    assert why_not(DATA[name]) is None
    for backend in BACKENDS:
        same_of_both(DATA[name], short(DATA[name], 200.0), backend)

"""The compiled simulator is the reference, only quicker: every sum, every sample in order, every count of events."""

from dataclasses import replace

import pytest
from chain_programs import PROGRAMS
from engine_programs import engine_program
from engines import assert_same, assert_same_outcome, events_of_both, short
from finite_programs import finite_program

from serq.base.errors import RunError
from serq.codegen import jit
from serq.engine.supported import why_not
from serq.engines import run_compiled
from serq.ir.program import Step
from serq.models import shipped
from serq.pipeline import SimulateOptions, load, load_text, run_options
from serq.semantics.reference import simulate
from serq.semantics.summary import quantile

pytestmark = pytest.mark.usefixtures("own_cache")

LOADED = {model.name: load(model.path).program for model in shipped()}
MODELS = {
    name: program for name, program in LOADED.items() if not any(isinstance(s.kind, Step) for s in program.stages)
}
"""Those with step stages have a file of their own."""
SUPPORTED = [name for name, program in MODELS.items() if why_not(program) is None]
SMALL = [name for name, text in PROGRAMS.items() if why_not(load_text(text).program) is None]
BACKENDS = ("cpython", "llvm") if jit.available() else ("cpython",)
WITH_TIES, CHAINS = 60, 50


def test_most_textbook_models_can_be_compiled():
    assert len(SUPPORTED) >= 20
    assert len(SMALL) >= 10


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SUPPORTED)
def test_shipped_models(name, backend):
    assert events_of_both(MODELS[name], short(MODELS[name], 300.0), backend) > 50


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SMALL)
def test_small_programs(name, backend):
    program = load_text(PROGRAMS[name]).program
    assert events_of_both(program, short(program), backend, opt=0) > 5


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(WITH_TIES))
def test_generated_programs_with_ties(seed, backend):
    program = load_text(engine_program(seed)).program
    assert why_not(program) is None
    assert events_of_both(program, short(program), backend, opt=0) > 5


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(CHAINS))
def test_generated_chains(seed, backend):
    program = load_text(finite_program(seed).text).program
    assert events_of_both(program, short(program), backend, opt=0) > 5


@pytest.mark.parametrize("name", ["mm1n", "mg1ps", "central_server", "loss"])
def test_without_samples_the_sums_are_the_same(name):
    program = MODELS[name]
    options = replace(short(program, 500.0), keep_samples=False)
    expected = simulate(program, options)
    run = run_compiled(program, options, 1)
    assert run.results[0].samples == {}
    assert_same(run.results[0], expected)
    for observe, samples in expected.samples.items():
        values = sorted(samples.values)
        summary = run.observations[observe].summary
        assert summary.count == len(values)
        assert (summary.minimum, summary.maximum) == (values[0], values[-1])
        assert summary.mean == pytest.approx(sum(values) / len(values), rel=1e-12)
        for level, found in ((0.5, summary.p50), (0.95, summary.p95), (0.99, summary.p99)):
            assert found == pytest.approx(quantile(values, level), rel=5e-4)


def test_an_overloaded_queue_grows():
    program = load_text(
        "stage s : fifo; stage d : delay; stage p : ps(2);\n"
        "workload { arrive poisson(9); }\n"
        "session { set t = now; branch (0.5) { run p (~exp(1)); } run s (~exp(1)); run d (2); observe r = now - t; }\n"
        "run { horizon 400; seed 2; }"
    ).program
    for backend in BACKENDS:
        assert events_of_both(program, short(program, 400.0), backend) > 5000


@pytest.mark.parametrize("backend", BACKENDS)
def test_exponentials_logarithms_and_powers(backend):
    program = load_text(
        "stage s : fifo(2); stage d : delay; stage p : ps(exp(-n / 9)); gauge g = pow(busy(s) + 0.5, -1.5);\n"
        "workload { arrive renewal(-ln(~uniform(0, 1)) * 1.5); }\n"
        "session { set x = ~uniform(0, 4); set y = pow(x, 1 + x); run s (pow(~uniform(0, 1), -0.4));\n"
        "  run d (exp(x - 2)); branch (exp(-x)) { run p (ln(1 + y) / 4); }\n"
        "  observe y = y; observe odd = pow(1 - x, serial % 3) + ln(x - 1); }\n"
        "run { horizon 400; seed 2; }"
    ).program
    assert events_of_both(program, short(program, 200.0), backend) > 300


def test_replications_do_not_depend_on_threads():
    program = MODELS["mm1"]
    options = short(program, 300.0)
    alone, together = run_compiled(program, options, 5), run_compiled(program, options, 5, jobs=2)
    for k, (one, other) in enumerate(zip(alone.results, together.results, strict=True)):
        assert_same(one, other)
        assert_same(one, simulate(program, options, k))


def test_what_one_event_observes_may_be_more_than_the_log_holds():
    program = load_text(
        "stage d : delay;\nworkload { arrive closed(140000); init { observe a = serial; } }\n"
        "session { loop { run d (7); } }\nrun { horizon 10; seed 1; }"
    ).program
    options = replace(run_options(program, SimulateOptions()), keep_samples=True, events=None, horizon=6.0)
    run = run_compiled(program, options, 1)
    assert len(run.results[0].samples["a"].values) == 140000
    assert_same(run.results[0], simulate(program, options))


MANY = (
    "stage s : fifo; workload { arrive poisson(0.5); }\nsession { set w = 0.5 + ~bernoulli(0.5); set a = 0; "
    + "".join(f"set a{i} = a + {i}; " for i in range(70))
    + f"run s (~choice({', '.join(f'{i % 7}: w * {i % 5}' for i in range(100))}));"
    + f"observe b = ~choice({', '.join(f'{i}: {1 + i % 5}' for i in range(40))}) + a69; }}\nrun {{ horizon 99; }}"
)
WRONG = MANY.replace("w * 4", "0 - w")


@pytest.mark.parametrize("backend", BACKENDS)
def test_choices_of_many_values_and_many_attributes(backend):
    program = load_text(MANY).program
    assert why_not(program) is None
    assert events_of_both(program, short(program, 99.0), backend, opt=0) > 50


def test_a_choice_of_many_values_that_is_no_law_is_refused_in_the_same_words():
    program = load_text(WRONG).program
    with pytest.raises(RunError, match="choice"):
        simulate(program, short(program))
    assert_same_outcome(program, short(program), "cpython")

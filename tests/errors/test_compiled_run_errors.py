"""What stops a run stops it with the same words, whichever engine runs it."""

from dataclasses import replace
from pathlib import Path

import pytest

from serq.base.errors import LimitError, RunError
from serq.codegen import jit
from serq.engine.supported import why_not
from serq.engines import run_compiled
from serq.pipeline import load, load_text
from serq.semantics.limits import Limits
from serq.semantics.options import options_of
from serq.semantics.reference import simulate

CASES = {path.stem: load(path).program for path in sorted((Path(__file__).parent / "run").glob("*.sq"))}
CASES |= {
    f"{code} without a pool": load_text(text).program
    for code, text in {
        "SQ501 undefined constant": "stage s : fifo;\nworkload { arrive closed(2); }\n"
        "session { loop { run s (0 / 0); } }\nrun { horizon 20; }",
        "SQ501 undefined tokens": "stage s : step { budget 4; cost 1; }\nworkload { arrive closed(2); }\n"
        "session { loop { run s prefill (0 * inf); } }\nrun { horizon 20; }",
        "SQ505 undefined constant": "pool kv { cap 9; }\nstage s : fifo;\nworkload { arrive closed(2); }\n"
        "session { loop { hold kv (1) { run s (1); } cache (0 / 0); } }\nrun { horizon 20; }",
        "SQ514 weights": "stage s : fifo;\nworkload { arrive closed(2); }\n"
        "session { loop { run s (~choice(1: 1e308 * turn_no, 2: 1e308)); turn; } }\nrun { horizon 20; }",
        "SQ514 phases": "stage s : fifo;\nworkload { arrive closed(2); }\n"
        "session { loop { run s (~erlang(1e9 * (serial + 1), 1)); } }\nrun { horizon 20; }",
        "SQ504": "stage s : fifo;\nworkload { arrive closed(3); }\n"
        "session { loop { branch (serial == 1) { } else { set a = now; } run s (1); "
        "branch (now > 5) { run s (a); } } }\n"
        "run { horizon 20; }",
        "SQ506 growing": "pool kv[2] { cap 9; }\nstage s[2] : step { budget 4; cost 1; memory kv; }\n"
        "workload { arrive batch(2); }\n"
        "session { set e = serial; hold kv[e] (1) { run s[0] decode (3) growing kv[0]; } }\nrun { horizon 20; }",
        "SQ508": "stage s : ps(3 - n);\nworkload { arrive poisson(5); }\nsession { run s (~exp(1)); }\n"
        "run { horizon 20; }",
        "SQ508 budget": "stage s : step { budget 4 - 0 / (nres - 2); cost 1; }\nworkload { arrive renewal(1); }\n"
        "session { run s prefill (20); }\nrun { horizon 20; }",
        "SQ508 chunk": "stage s : step { budget 4; chunk 0 / (2 - ndec); cost 1; }\nworkload { arrive renewal(1); }\n"
        "session { run s decode (20); }\nrun { horizon 20; }",
        "SQ508 cost": "stage s[2] : step { budget 4; cost 2 - ntok; }\nworkload { arrive renewal(0.5); }\n"
        "session { run s[1] decode (20); }\nrun { horizon 20; }",
        "SQ508 undefined cost": "stage s : step { budget 4; cost 1 + 0 * (nres > 2 ? inf : 1); }\n"
        "workload { arrive renewal(0.5); }\nsession { run s decode (20); }\nrun { horizon 20; }",
        "SQ508 rest": "stage s : step { budget nres > 2 ? 0 / 0 : 5; cost 1; }\nworkload { arrive renewal(0.25); }\n"
        "session { observe left = budget_left(s); run s decode (20); }\nrun { horizon 20; }",
        "SQ510": "stage s : fifo;\nworkload { arrive closed(3); }\n"
        "session { branch (now < 5) { run s (1); } end; }\nrun { horizon 20; }",
    }.items()
}
SUPPORTED = [name for name, program in CASES.items() if why_not(program) is None]
BACKENDS = ("cpython", "llvm") if jit.available() else ("cpython",)


def test_every_code_has_a_case_that_can_be_compiled():
    assert {name[:5] for name in SUPPORTED} == {name[:5] for name in CASES}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SUPPORTED)
def test_the_same_diagnostics(name, backend):
    program = CASES[name]
    options = options_of(program)
    with pytest.raises(RunError) as expected:
        simulate(program, options)
    with pytest.raises(RunError) as found:
        run_compiled(program, options, 1, backend=backend, bounds_checked=True, opt=0)
    assert found.value.diagnostics == expected.value.diagnostics


FEW = Limits(commands=50, first_commands=10)


def begun(size: int, engine: str) -> RunError | LimitError | None:
    """What stops a population that begins at time 0 with eight commands each."""
    sets = "".join(f"set a{k} = serial; " for k in range(6))
    text = f"stage s : delay; workload {{ arrive closed({size}); }} session {{ loop {{ {sets} run s (~exp(1)); }} }}"
    program = load_text(text + " run { horizon 1; }").program
    options = replace(options_of(program), limits=FEW, keep_samples=True)
    try:
        if engine == "reference":
            simulate(program, options)
        else:
            run_compiled(program, options, 1, backend="cpython")
    except (RunError, LimitError) as error:
        return error
    return None


def test_many_sessions_may_begin_at_time_0_in_both_engines():
    """They run more commands together than one instant has otherwise; more sessions than that cannot even begin."""
    assert begun(50, "reference") is None
    assert begun(50, "cpython") is None
    refused = begun(51, "reference")
    assert isinstance(refused, LimitError)
    assert str(begun(51, "cpython")) == str(refused)


@pytest.mark.parametrize(
    "text",
    [
        "stage s : fifo(1e30); workload { arrive closed(2); } session { loop { run s (~exp(1)); } }",
        "stage s : fifo; workload { arrive poisson(1) limit(1e25); } session { run s (~exp(0.5)); }",
    ],
)
def test_what_is_no_machine_integer_is_left_to_the_reference(text):
    program = load_text(text + " run { horizon 10; }").program
    assert "machine integer" in (why_not(program) or "")
    assert simulate(program, options_of(program)).events > 0

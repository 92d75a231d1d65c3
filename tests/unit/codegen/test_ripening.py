"""Code that is made in a hurry first: when it is made again, what is kept, and that no result depends on it."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from restricted_texts import NAMES

from serq.codegen import jit
from serq.codegen import ripening as module
from serq.codegen.build import Build
from serq.codegen.compiled import Compiled
from serq.codegen.ripening import CAREFUL, QUICK, Ripening, compile_quickly

TEXT = NAMES + "class S:\n    n: i64\n\ndef step(s: S, by: i64) -> i64:\n    s.n += by\n    return s.n\n"
EXPORTS = ("step",)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SERQ_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def levels(monkeypatch):
    """The levels of optimisation at which LLVM was asked to compile."""
    asked = []
    object_of = jit.object_of

    def counting(text, machine):
        asked.append(machine.opt)
        return object_of(text, machine)

    monkeypatch.setattr(jit, "object_of", counting)
    return asked


def ripening(patience):
    build = Build(TEXT, EXPORTS)
    return Ripening(build.made(QUICK), build, patience)


def test_what_runs_shortly_is_never_optimised(levels):
    program = compile_quickly(TEXT, EXPORTS)
    record = program.record("S", n=1)
    assert [program.call("step", record, by) for by in (1, 2, 3)] == [2, 4, 7]
    assert isinstance(program, Ripening)
    assert not program.ripe
    assert levels == [QUICK]


def test_what_has_run_for_long_is_optimised_once_and_goes_on_with_the_record_it_had(levels):
    program = ripening(0.0)
    record = program.record("S", n=1)
    assert program.call("step", record, 1) == 2
    assert program.ripe
    assert [program.call("step", record, 1) for _ in range(3)] == [3, 4, 5]
    assert program.record("S", n=5).n == record.n
    assert levels == [QUICK, CAREFUL]


def test_patience_is_spent_by_all_calls_together(monkeypatch):
    monkeypatch.setattr(module, "thread_time", count().__next__)  # every call takes a second
    program = ripening(3.0)
    record = program.record("S")
    ripe = []
    for _ in range(4):
        program.call("step", record, 1)
        ripe.append(program.ripe)
    assert ripe == [False, False, True, True]


def test_optimised_code_in_the_cache_is_used_from_the_start(levels):
    program = ripening(0.0)
    program.call("step", program.record("S"), 1)
    again = compile_quickly(TEXT, EXPORTS)
    assert isinstance(again, Compiled)
    assert again.call("step", again.record("S", n=2), 3) == 5
    assert levels == [QUICK, CAREFUL]


def test_quick_code_in_the_cache_is_not_made_again(levels):
    for _ in range(2):
        program = compile_quickly(TEXT, EXPORTS)
        assert program.call("step", program.record("S", n=2), 3) == 5
    assert levels == [QUICK]


def test_threads_share_one_optimisation(levels, monkeypatch):
    monkeypatch.setattr(module, "thread_time", count().__next__)
    program = ripening(20.0)

    def work(start):
        record = program.record("S", n=start)
        return [program.call("step", record, 1) for _ in range(2000)][-1]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [start + 2000 for start in range(8)]
    assert levels == [QUICK, CAREFUL]

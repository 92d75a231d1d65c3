"""Which back end is taken, what its absence means, what is imported, and how calls behave."""

import builtins
import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
import traceback

import pytest
from restricted_texts import NAMES

from serq.base.errors import UsageError
from serq.codegen import BackendError, compile_module

TEXT = NAMES + "def f(n: i64) -> i64:\n    return n + 1\n"


@pytest.fixture
def without_llvmlite(monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("llvmlite"):
            raise ImportError("there is no llvmlite")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for name in [m for m in sys.modules if m.startswith("llvmlite")]:
        monkeypatch.delitem(sys.modules, name)


def test_llvm_is_taken_where_it_is():
    assert compile_module(TEXT).backend == "llvm"


def test_without_llvmlite_cpython_runs_the_text(without_llvmlite):
    program = compile_module(TEXT)
    assert (program.backend, program.call("f", 2)) == ("cpython", 3)


def test_without_llvmlite_llvm_itself_is_refused(without_llvmlite):
    with pytest.raises(BackendError, match="needs llvmlite"):
        compile_module(TEXT, "llvm")


def test_an_unknown_back_end_is_refused():
    with pytest.raises(UsageError, match="no back end 'numba'"):
        compile_module(TEXT, "numba")


def test_a_missing_c_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -q")
    with pytest.raises(BackendError, match="there is no no-such-compiler"):
        compile_module(TEXT, "c")


def test_a_c_compiler_that_fails_is_quoted(monkeypatch, tmp_path):
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    with pytest.raises(BackendError, match=r"fails on the generated text: broken"):
        compile_module(TEXT, "c")


def imported(code):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_texts_cost_no_compiler():
    found = imported("import serq.codegen, serq.codegen.streams, serq.codegen.draws")
    assert not {"llvmlite", "numpy", "ctypes", "serq.codegen.check"} & found


def test_a_cached_program_needs_neither_the_front_end_nor_numpy(tmp_path, monkeypatch):
    monkeypatch.setenv("SERQ_CACHE_DIR", str(tmp_path))
    code = f"from serq.codegen import compile_module\ncompile_module({TEXT!r})"
    first, second = imported(code), imported(code)
    assert {"serq.codegen.check", "serq.codegen.llvm_text"} <= first
    assert "llvmlite.binding" in second
    assert not {"serq.codegen.check", "serq.codegen.llvm_text", "numpy", "scipy"} & second


def test_arguments_of_the_wrong_type_are_refused():
    two = "class S:\n    n: i64\nclass T:\n    n: i64\n"
    program = compile_module(NAMES + two + "def f(s: S, x: f64) -> f64:\n    return x\n")
    other = compile_module(NAMES + "class S:\n    n: i64\ndef f(s: S) -> i64:\n    return 1\n")
    s = program.record("S")
    for wrong in [(None, 1.0), (program.record("T"), 1.0), (other.record("S"), 1.0), (s, "x"), (3, 1.0)]:
        with pytest.raises(ctypes.ArgumentError):
            program.call("f", *wrong)
    with pytest.raises(TypeError):
        program.call("f", program.record("S"))


def test_a_function_that_is_kept_keeps_its_code(backend):
    f = compile_module(TEXT, backend).functions["f"]
    gc.collect()
    others = [compile_module(TEXT.replace("n + 1", f"n + {k}"), backend, cached=False) for k in range(2, 5)]
    assert [p.call("f", 1) for p in others] == [3, 4, 5]
    assert f(1) == 2


def test_tracebacks_of_cpython_show_the_text():
    program = compile_module(NAMES + "def f(n: i64) -> i64:\n    return 10 // n  # here\n", "cpython")
    with pytest.raises(ZeroDivisionError) as caught:
        program.call("f", 0)
    assert "return 10 // n  # here" in "".join(traceback.format_exception(caught.value))


def test_calls_let_other_threads_run():
    """The kernel releases the GIL: while it counts, Python goes on."""
    text = """\
def f(u: u64, n: i64) -> u64:
    for i in range(n):
        u ^= ((u << 7) & 0xFFFFFFFFFFFFFFFF) ^ (u >> 9)
    return u
"""
    program = compile_module(NAMES + text)
    done = threading.Event()

    def count():
        while not done.is_set():
            program.call("f", 1, 50_000_000)
            done.set()

    thread = threading.Thread(target=count)
    thread.start()
    ticks = 0
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 3


FLAGS = ("-O1", "-g", "-fno-sanitize-recover=all")
SUMS = "M = 2**64 - 1\ndef f(a: i64, b: i64, u: u64) -> u64:\n    return (u * u + ((a // b) & 0xFF) - (u << 3)) & M\n"
WRITES = "def f(a: F64Array, i: i64) -> None:\n    a[i] = 1.0\n"


def under_sanitizer(kind, text, call):
    """The outcome of a process that runs a text in C with a sanitizer."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    code = "from ctypes import c_double\nfrom serq.codegen.c_build import by_c\n"
    code += f"f = by_c({NAMES + text!r}, None, False, {(*FLAGS, '-fsanitize=' + kind)!r}).functions['f']\nprint({call})"
    environment = dict(os.environ, PYTHONMALLOC="malloc", ASAN_OPTIONS="detect_leaks=0", CC="gcc")
    if kind == "address":
        runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
        if os.sep not in runtime.stdout:
            pytest.skip("no address sanitizer")
        environment["LD_PRELOAD"] = runtime.stdout.strip()
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)


def test_the_sanitizer_for_undefined_behaviour_finds_overflow_and_nothing_else():
    right = under_sanitizer("undefined", SUMS, "f(-(2**63), -1, 2**64 - 1)")
    assert (right.returncode, right.stdout) == (0, "9\n"), right.stderr
    wrong = under_sanitizer("undefined", "def f(a: i64) -> i64:\n    return a * a\n", "f(2**62)")
    assert wrong.returncode != 0
    assert "signed integer overflow" in wrong.stderr


def test_the_sanitizer_for_addresses_finds_a_wrong_index():
    right = under_sanitizer("address", WRITES, "f((c_double * 100)(), 99)")
    assert (right.returncode, right.stdout) == (0, "None\n"), right.stderr
    wrong = under_sanitizer("address", WRITES, "f((c_double * 100)(), 100)")
    assert wrong.returncode != 0
    assert "heap-buffer-overflow" in wrong.stderr

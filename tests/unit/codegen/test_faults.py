"""Checked builds stop at the first fault and say where; unchecked ones give a value and never trap."""

import pickle
import subprocess
import sys
from array import array

import pytest
from restricted_texts import NAMES
from restricted_texts import NAMES_LINES as LINES

from serq.codegen import FaultError, compile_module

TEXT = """\
T = (1.0, 2.0)
class Inner:
    xs: F64Array
class S:
    inner: Inner
    ys: I64Array
def field(s: S, i: i64) -> f64:
    s.inner.xs[i] += 1.0
    return s.inner.xs[i + 1]
def parameter(ys: I64Array, i: i64) -> i64:
    return deep(ys, i) + 1
def deep(ys: I64Array, i: i64) -> i64:
    ys[i] = 7
    return ys[i]
def table(i: i64) -> f64:
    return T[i]
def quotient(a: i64, b: i64) -> i64:
    return a // b
def remainder(a: i64, b: i64) -> i64:
    return a % b
def ratio(x: f64, y: f64) -> f64:
    return x / y
def words(a: u64, b: u64) -> u64:
    return a // b + a % b & 0xFFFFFFFFFFFFFFFF
def total(a: i64, b: i64) -> i64:
    return (a + b) * 2 - 1
def difference(a: i64, b: i64) -> i64:
    a -= b
    return a
def product(a: i64, b: i64) -> i64:
    return a * b
def negative(a: i64, b: i64) -> i64:
    return -a
def left(a: i64, b: i64) -> i64:
    return a << b
def right(a: u64, b: i64) -> u64:
    return a >> b
def whole(x: f64, y: f64) -> i64:
    return int(x)
def signed(a: u64, b: u64) -> i64:
    return int(a)
def root(x: f64, y: f64) -> f64:
    return sqrt(x)
def first(a: i64, b: i64) -> i64:
    return a // b + a * b * b
"""
LOW, HIGH = -(2**63), 2**63 - 1

FAULTS = [
    ("table", (2,), "index", 16, 12), ("table", (-1,), "index", 16, 12), ("table", (LOW,), "index", 16, 12),
    ("quotient", (1, 0), "division", 18, 12), ("quotient", (LOW, -1), "overflow", 18, 12),
    ("remainder", (1, 0), "division", 20, 12), ("ratio", (1.0, 0.0), "division", 22, 12),
    ("ratio", (1.0, -0.0), "division", 22, 12), ("words", (1, 0), "division", 24, 12),
    ("total", (HIGH, 1), "overflow", 26, 13), ("total", (HIGH - 1, 1), "overflow", 26, 12),
    ("total", (LOW // 2, 0), "overflow", 26, 12), ("difference", (LOW, 1), "overflow", 28, 5),
    ("product", (2**32, 2**31), "overflow", 31, 12), ("negative", (LOW, 0), "overflow", 33, 12),
    ("left", (1, 63), "overflow", 35, 12), ("left", (1, 64), "shift", 35, 12), ("left", (1, -1), "shift", 35, 12),
    ("right", (1, 64), "shift", 37, 12), ("whole", (float("nan"), 0.0), "conversion", 39, 12),
    ("whole", (2.0**63, 0.0), "conversion", 39, 12), ("whole", (-(2.0**63) * 1.001, 0.0), "conversion", 39, 12),
    ("whole", (float("-inf"), 0.0), "conversion", 39, 12), ("signed", (2**63, 0), "conversion", 41, 12),
    ("root", (-1e-300, 0.0), "domain", 43, 12), ("first", (2**62, 0), "division", 45, 12),
]  # fmt: skip

FINE = [
    ("table", (1,), 2.0), ("quotient", (LOW, 1), LOW), ("remainder", (LOW, -1), 0),
    ("total", (2**61, 2**61 - 1), HIGH - 2), ("difference", (LOW + 1, 1), LOW), ("product", (2**32, -(2**31)), LOW),
    ("left", (-1, 63), LOW), ("left", (1, 62), 2**62), ("right", (2**63, 63), 1),
    ("whole", (-(2.0**63), 0.0), LOW), ("signed", (HIGH, 0), HIGH),
    ("root", (-0.0, 0.0), -0.0), ("negative", (HIGH, 0), -HIGH),
]  # fmt: skip


@pytest.fixture
def checked(build):
    return build(TEXT, checked=True)


def test_every_kind_of_fault_is_found_where_it_happens(checked):
    for name, arguments, kind, line, column in FAULTS:
        with pytest.raises(FaultError) as caught:
            checked.call(name, *arguments)
        site = caught.value.site
        assert (site.kind, site.function, site.line - LINES, site.column) == (kind, name, line, column), (
            name,
            arguments,
        )


def test_the_ends_of_the_ranges_are_no_faults(checked):
    for name, arguments, value in FINE:
        assert checked.call(name, *arguments) == value, (name, arguments)


def test_a_wrong_index_names_its_array_and_its_length(checked):
    s = checked.record("S", ys=array("q", [0] * 4))
    s.inner.xs = array("d", [1.0, 2.0, 3.0])
    assert checked.call("field", s, 1) == 3.0
    for i, index in [(2, 3), (3, 3), (-1, -1), (2**62, 2**62)]:
        with pytest.raises(FaultError) as caught:
            checked.call("field", s, i)
        assert (caught.value.array, caught.value.index, caught.value.length) == ("s.inner.xs", index, 3)
    assert list(s.inner.xs) == [1.0, 3.0, 4.0]


def test_a_fault_in_a_function_that_was_called_stops_its_callers(checked):
    ys = array("q", [0, 0])
    assert checked.call("parameter", ys, 1) == 8
    with pytest.raises(FaultError, match=r"in deep: index 2 of ys, which has 2$") as caught:
        checked.call("parameter", ys, 2)
    assert caught.value.site.line - LINES == 13
    assert pickle.loads(pickle.dumps(caught.value)).site == caught.value.site
    assert checked.call("parameter", ys, 0) == 8, "the next call starts afresh"


def test_an_array_that_was_never_set_has_no_items(backend, checked):
    if backend == "cpython":
        pytest.skip("CPython says so itself: None cannot be indexed")
    with pytest.raises(FaultError, match="which has 0"):
        checked.call("field", checked.record("S"), 0)


UNCHECKED = [
    ("quotient", (1, 0), 0), ("quotient", (LOW, -1), LOW), ("remainder", (1, 0), 0), ("remainder", (LOW, -1), 0),
    ("ratio", (1.0, 0.0), float("inf")), ("words", (1, 0), 0), ("total", (HIGH, 1), -1), ("difference", (LOW, 1), HIGH),
    ("product", (2**32, 2**31), LOW), ("negative", (LOW, 0), LOW), ("left", (1, 64), 1), ("left", (1, 63), LOW),
    ("left", (1, -1), LOW), ("right", (2**63, 65), 2**62), ("whole", (float("nan"), 0.0), 0),
    ("whole", (1e300, 0.0), HIGH), ("whole", (-1e300, 0.0), LOW), ("signed", (2**64 - 1, 0), -1), ("first", (3, 0), 0),
]  # fmt: skip


def test_unchecked_machine_code_gives_what_is_documented(backend, build):
    if backend == "cpython":
        pytest.skip("CPython has whole numbers without bounds")
    program = build(TEXT)
    for name, arguments, value in UNCHECKED:
        assert program.call(name, *arguments) == value, (name, arguments)
    assert program.call("root", -1.0, 0.0) != program.call("root", -1.0, 0.0)


def test_unchecked_cpython_raises_where_python_does():
    program = compile_module(NAMES + TEXT, "cpython")
    with pytest.raises(ZeroDivisionError):
        program.call("quotient", 1, 0)


def test_no_fault_ends_the_process():
    """Constants let LLVM see the fault beforehand: it must not make use of that."""
    text = NAMES + "ZERO = (0, -1)\ndef f() -> i64:\n    return 5 // ZERO[0] + (-9223372036854775808) // ZERO[1]\n"
    code = f"from serq.codegen import compile_module\nprint(compile_module({text!r}, cached=False).call('f'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{LOW}\n"), done.stderr

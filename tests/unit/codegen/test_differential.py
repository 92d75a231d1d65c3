"""Generated texts: CPython, LLVM and C give the same bits, and stop at the same faults."""

import shutil
from array import array
from random import Random
from struct import pack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from restricted_texts import Writer

from serq.codegen import FaultError, compile_module

FUNCTIONS = 8
EXTREMES = [(0, 0, 0.0, False), (-5, 2**64 - 1, -0.0, True), (7, 2**63, float("inf"), False),
            (2**40 + 1, 12345678901234567890, 5e-324, True), (-(2**63), 1, float("nan"), True),
            (11, 0x3FF8000000000000, -1.75, False)]  # fmt: skip


def state_of(program):
    s = program.record("State", level=0.75, number=-3, word=2**63 + 5)
    s.whole = array("q", [1, -2, 3, 2**62, -(2**63), 0, 7, 100])
    s.words = array("Q", [0, 1, 2**64 - 1, 2**64 - 1, 2**63, 3, 0x7FF0000000000000, 9])
    s.inner.real = array("d", [0.0, -0.0, 1.5, float("inf"), -1e308, 5e-324, 3.25, 2.0**53])
    return s


def bits(x):
    """Doubles by their bits, all NaNs alike."""
    if isinstance(x, float):
        return "nan" if x != x else pack("<d", x).hex()
    return x


def outcome(program, name, arguments):
    s = state_of(program)
    try:
        result = program.call(name, s, *arguments)
    except FaultError as fault:
        return ("fault", fault.site, fault.index, fault.length)
    memory = [s.level, s.number, s.word, s.inner.count, *s.whole, *s.words, *s.inner.real]
    return ("value", bits(result), *map(bits, memory))


def compare(seed, backends):
    text = Writer(Random(seed)).module(FUNCTIONS)
    truth = compile_module(text, "cpython", checked=True)
    others = [(b, c, compile_module(text, b, checked=c, cached=False, opt=o)) for b, c, o in backends]
    plain = compile_module(text, "cpython")
    faults = 0
    for k in range(FUNCTIONS):
        for arguments in EXTREMES:
            expected = outcome(truth, f"f{k}", arguments)
            faults += expected[0] == "fault"
            if expected[0] == "value":
                assert outcome(plain, f"f{k}", arguments) == expected, (seed, k, arguments)
            for backend, checked, program in others:
                if checked or expected[0] == "value":
                    found = outcome(program, f"f{k}", arguments)
                    assert found == expected, (seed, k, arguments, backend, checked)
    return faults


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_llvm_does_what_cpython_does(seed):
    compare(seed, [("llvm", False, 2), ("llvm", True, 1)])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_c_does_what_cpython_does(seed):
    compare(seed, [("c", False, 0), ("c", True, 0)])


def test_generated_texts_reach_values_and_faults():
    """The generator is of use: most calls end with a value, some with a fault."""
    count = 6
    faults = sum(compare(seed, []) for seed in range(count))
    calls = count * FUNCTIONS * len(EXTREMES)
    assert 0.02 * calls < faults < 0.5 * calls

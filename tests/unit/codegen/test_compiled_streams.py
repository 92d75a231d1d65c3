"""The random streams compiled: the same bits as CPython's, draw for draw, by every back end."""

import shutil
from array import array

import pytest

from serq.codegen import compile_module
from serq.codegen.seeds import stream, stream_key
from serq.codegen.streams import exponential, next_bits

TEXT = """\
from serq.codegen.draws import (
    draw_bernoulli, draw_choice, draw_erlang, draw_exp, draw_geometric, draw_h2, draw_uniform)
from serq.codegen.elementary import exp, log, log1p
from serq.codegen.lang import F64Array, U64Array, bits_of, f64, i64, u64
from serq.codegen.streams import exponential, next_bits, start_stream, u01

MASK = 0xFFFFFFFFFFFFFFFF

def folded(h: u64, bits: u64) -> u64:
    return ((h ^ bits) * 0x9E3779B97F4A7C15 + 1) & MASK

def draw_all(s: U64Array, at: i64, n: i64) -> u64:
    h: u64 = 0
    for i in range(n):
        h = folded(h, next_bits(s, at))
        h = folded(h, bits_of(u01(s, at)))
        h = folded(h, bits_of(exponential(s, at)))
    return h

def sessions(key: U64Array, s: U64Array, n: i64) -> u64:
    h: u64 = 0
    for i in range(n):
        start_stream(key, 1, i, s, 2)
        h = folded(h, next_bits(s, 2))
    return h

def exponentials(s: U64Array, out: F64Array, n: i64) -> None:
    for i in range(n):
        out[i] = exponential(s)

def laws(s: U64Array, pairs: F64Array, n: i64) -> u64:
    h: u64 = 0
    for i in range(n):
        h = folded(h, bits_of(draw_exp(s, 4, 2.5)))
        h = folded(h, bits_of(draw_uniform(s, 4, -1.0, 3.0)))
        h = folded(h, bits_of(draw_erlang(s, 4, 3.0, 2.0)))
        h = folded(h, bits_of(draw_h2(s, 4, 2.0, 4.0)))
        h = folded(h, bits_of(draw_bernoulli(s, 4, 0.3)))
        h = folded(h, bits_of(draw_geometric(s, 4, 0.01)))
        h = folded(h, bits_of(draw_choice(s, 4, pairs, 2, 3)))
    return h

def functions(s: U64Array, n: i64) -> u64:
    h: u64 = 0
    for i in range(n):
        x = 1500.0 * (u01(s) - 0.5)
        h = folded(h, bits_of(exp(x)))
        h = folded(h, bits_of(exp(x * 1e-3)))
        h = folded(h, bits_of(log(exp(x))))
        h = folded(h, bits_of(log(u01(s) + 5e-324)))
        h = folded(h, bits_of(log1p(u01(s) - 1.0 + 1e-9)))
    return h
"""
EXPORTS = ("draw_all", "sessions", "exponentials", "laws", "functions")


@pytest.fixture
def program(backend):
    return compile_module(TEXT, backend, exports=EXPORTS)


@pytest.fixture(scope="module")
def plain():
    return compile_module(TEXT, "cpython", exports=EXPORTS)


def words(*lists):
    return array("Q", [w for words in lists for w in words])


def test_bits_uniforms_and_exponentials(program, plain):
    """50 000 draws of each, from the middle of an array; the streams end in the same state."""
    count = 50_000
    one, other = (words([0] * 4, stream(1, 0, "session", 3), [9]) for _ in range(2))
    assert program.call("draw_all", one, 4, count) == plain.call("draw_all", other, 4, count)
    assert one == other
    assert (one[3], one[8]) == (0, 9)


def test_streams_of_sessions(program, plain):
    key = words([0], stream_key(4, 2, "workload"))
    one, other = words([5] * 7), words([5] * 7)
    assert program.call("sessions", key, one, 10_000) == plain.call("sessions", key, other, 10_000)
    assert one == other == words([5] * 2, one[2:6], [5])
    assert program.call("sessions", key, one, 8) != program.call("sessions", key, one, 7)
    serial = array("Q", stream(4, 2, "workload", 7))
    next_bits(serial)
    assert one[2:6] != serial
    program.call("sessions", key, one, 8)
    assert one[2:6] == serial


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_machine_codes_agree_over_millions_of_draws():
    results = []
    for backend in ("llvm", "c"):
        s = words(stream(5, 1, "session", 7))
        results.append((compile_module(TEXT, backend, exports=EXPORTS).call("draw_all", s, 0, 3_000_000), list(s)))
    assert results[0] == results[1]


def test_the_modules_themselves_are_the_text():
    """What the reference calls is what the compiled program computes."""
    s, t = stream(1, 0, "workload", 2), words(stream(1, 0, "workload", 2))
    out = array("d", bytes(8 * 2000))
    compile_module(TEXT, exports=EXPORTS).call("exponentials", t, out, 2000)
    assert list(out) == [exponential(s) for _ in range(2000)]
    assert list(t) == s


def test_laws(program, plain):
    pairs = array("d", [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 10.0, 1.0])
    one, other = (words([0] * 4, stream(2, 0, "session")) for _ in range(2))
    assert program.call("laws", one, pairs, 5_000) == plain.call("laws", other, pairs, 5_000)
    assert one == other


def test_logarithm_and_exponential(program, plain):
    one, other = (words(stream(3, 0, "session")) for _ in range(2))
    assert program.call("functions", one, 10_000) == plain.call("functions", other, 10_000)

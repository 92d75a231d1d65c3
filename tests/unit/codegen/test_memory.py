"""Records and arrays from Python's side."""

import ctypes
from array import array

import numpy as np
import pytest
from restricted_texts import NAMES

from serq.codegen import FaultError, compile_module

TEXT = """\
class Inner:
    k: i64
    xs: F64Array
class S:
    n: i64
    u: u64
    x: f64
    inner: Inner
    ys: I64Array
    zs: I64Array
    ws: U64Array
def f(s: S, i: i64) -> f64:
    s.inner.xs[i] += 1.0
    s.ys[i] -= 1
    s.ws[i] ^= 1
    return s.inner.xs[i]
def total(a: F64Array, n: i64) -> f64:
    t = 0.0
    for i in range(n):
        t += a[i]
    return t
"""


@pytest.fixture(scope="module")
def program():
    return compile_module(NAMES + TEXT, "llvm", cached=False)


@pytest.mark.parametrize("make", [
    lambda kind, v: array(kind, v),
    lambda kind, v: ({"d": ctypes.c_double, "q": ctypes.c_int64, "Q": ctypes.c_uint64}[kind] * len(v))(*v),
    lambda kind, v: memoryview(array(kind, v)),
    lambda kind, v: np.array(v, {"d": np.float64, "q": np.int64, "Q": np.uint64}[kind]),
], ids=["array", "ctypes", "memoryview", "numpy"])  # fmt: skip
def test_arrays_of_all_makes_are_seen_in_place(program, make):
    xs, ys, ws = make("d", [1.0, 2.0]), make("q", [5, 6]), make("Q", [2**64 - 1, 8])
    s = program.record("S", ys=ys, ws=ws)
    s.inner.xs = xs
    assert program.call("f", s, 1) == 3.0
    assert (list(xs), list(ys), list(ws)) == ([1.0, 3.0], [5, 5], [2**64 - 1, 9])
    assert s.inner.xs is xs
    assert s.ys is ys
    assert program.call("total", xs, 2) == 4.0


def test_numbers_are_kept_to_the_bit(program):
    s = program.record("S", n=-(2**63), u=2**64 - 1, x=-0.0)
    assert (s.n, s.u, str(s.x), s.inner.k) == (-(2**63), 2**64 - 1, "-0.0", 0)
    s.inner.k = 5
    assert s.inner.k == 5


@pytest.mark.parametrize(("array_", "words"), [
    ([1, 2], "must be an array of i64, not list"),
    (array("d", [1.0]), "must be an array of i64; this one has items of format d"),
    (array("i", [1]), "items of format i"),
    (np.zeros(3), "items of format d"),
    (np.zeros((2, 2), np.int64), "must be an array of i64"),
    (np.zeros(4, np.int64)[::2], "must be contiguous memory that can be written"),
    (memoryview(bytes(16)).cast("q"), "must be contiguous memory that can be written"),
    (None, "not NoneType"),
])  # fmt: skip
def test_what_is_no_fitting_array_is_refused(program, array_, words):
    with pytest.raises(TypeError, match=words):
        program.record("S", ys=array_)


def test_an_array_in_a_record_cannot_be_resized_until_it_is_let_go(program):
    ys = array("q", [1])
    s = program.record("S", ys=ys)
    with pytest.raises(BufferError):
        ys.append(2)
    s.ys = array("q", [0, 0])
    ys.append(2)


def test_two_fields_cannot_share_their_memory(program):
    ys = array("q", [1])
    s = program.record("S", ys=ys)
    with pytest.raises(ValueError, match=r"S\.zs and ys would share their memory"):
        s.zs = ys
    s.ys = ys
    long = memoryview(array("q", [1, 2, 3, 4]))
    s.ys = long[1:3]
    s.zs = long[3:]
    with pytest.raises(ValueError, match="share"):
        s.zs = long[2:]


def test_empty_arrays_are_arrays(program):
    s = program.record("S", ys=array("q"), zs=array("q"))
    assert len(s.ys) == 0


def test_unknown_fields_are_refused_by_every_back_end(build):
    with pytest.raises(AttributeError):
        build(TEXT).record("S", typo=1)


def test_records_are_independent(build):
    program = build(TEXT)
    a, b = program.record("S", n=1), program.record("S", n=2)
    a.inner.k = 7
    assert (a.n, b.n, b.inner.k) == (1, 2, 0)


ROWS = """\
class S:
    n: i64
    xs: Annotated[F64Array, "row"]
    apart: I64Array
    ks: Annotated[I64Array, "row"]
    ws: Annotated[U64Array, "row"]
    zs: Annotated[F64Array, "other"]
def f(s: S, i: i64) -> f64:
    s.xs[i] += 0.5
    s.ks[i] -= s.apart[i]
    s.ws[i] ^= 1
    s.zs[i] = s.xs[i] * float(s.ks[i])
    return s.zs[i]
"""


def rows_of(program):
    s = program.record("S", n=4, apart=array("q", [1, 2]), zs=array("d", [0.0, 0.0]))
    s.ks, s.xs, s.ws = array("q", [5, 6]), array("d", [1.0, 2.0]), array("Q", [2**64 - 1, 8])
    return s


INSIDE = "S_ROW_ROWS = 2\n" + ROWS
"""The same, where the text gives the number of rows: they lie in the record itself."""


@pytest.mark.parametrize("text", [ROWS, INSIDE])
def test_arrays_that_lie_together_hold_what_they_would_hold_apart(build, text):
    program = build(text)
    s = rows_of(program)
    assert program.call("f", s, 1) == 10.0
    assert [list(x) for x in (s.xs, s.ks, s.ws, s.apart, s.zs)] == [
        [1.0, 2.5], [5, 4], [2**64 - 1, 9], [1, 2], [0.0, 10.0]
    ]  # fmt: skip
    s.ks[0] = 7
    assert (program.call("f", s, 0), s.n) == (9.0, 4)


def test_a_longer_array_makes_room_for_those_beside_it():
    program = compile_module(NAMES + ROWS, "llvm", cached=False)
    s = rows_of(program)
    s.ks = array("q", [1, 2, 3])
    assert [list(x) for x in (s.xs, s.ks, s.ws)] == [[1.0, 2.0, 0.0], [1, 2, 3], [2**64 - 1, 8, 0]]
    s.ks[2] = 9
    s.xs = array("d", [4.0])
    assert [list(x) for x in (s.xs, s.ks, s.ws)] == [[4.0], [1], [2**64 - 1]]
    s.apart, s.zs = array("q", [0]), array("d", [0.0])
    assert program.call("f", s, 0) == 4.5
    with pytest.raises(TypeError, match=r"S\.ks must be an array of i64"):
        s.ks = array("d", [1.0])


def test_an_array_that_was_never_set_is_none(program):
    s = compile_module(NAMES + ROWS, "llvm", cached=False).record("S")
    assert s.ks is None


def test_indices_of_arrays_that_lie_together_are_checked(build):
    program = build(ROWS, checked=True)
    s = rows_of(program)
    with pytest.raises(FaultError) as raised:
        program.call("f", s, 2)
    fault = raised.value
    assert (fault.kind, fault.array, fault.index, fault.length) == ("index", "s.xs", 2, 2)


def test_rows_in_a_record_need_no_address_and_keep_their_number(tmp_path):
    outside, inside = (compile_module(NAMES + text, "llvm") for text in (ROWS, INSIDE))
    sizes = [ctypes.sizeof(type(program.record("S"))) for program in (outside, inside)]
    assert sizes[1] - sizes[0] == 3 * 2 * 8 - 16
    again = compile_module(NAMES + INSIDE, "llvm")  # from the cache, which keeps the layout
    s = rows_of(again)
    assert again.call("f", s, 1) == 10.0
    with pytest.raises(ValueError, match=r"S\.ks has 2 items, not 3"):
        s.ks = array("q", [1, 2, 3])
    with pytest.raises(TypeError, match=r"S\.ks must be an array of i64"):
        s.ks = array("d", [1.0, 2.0])


def test_indices_of_rows_in_a_record_are_checked(build):
    program = build(INSIDE, checked=True)
    with pytest.raises(FaultError) as raised:
        program.call("f", rows_of(program), 2)
    fault = raised.value
    assert (fault.kind, fault.array, fault.index, fault.length) == ("index", "s.xs", 2, 2)

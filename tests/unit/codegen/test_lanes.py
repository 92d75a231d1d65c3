"""Loops of lanes: what they compute, what they cannot hold, and that LLVM makes vectors of them."""

from array import array
from dataclasses import replace

import pytest
from restricted_texts import NAMES
from restricted_texts import NAMES_LINES as LINES

from serq.codegen import FaultError, RestrictedError, compile_module, jit
from serq.codegen.check import check
from serq.codegen.llvm_text import llvm_text
from serq.codegen.lower import lower
from serq.codegen.units import unit_of_text

MASK = 2**64 - 1

TEXT = """\
MASK = 2**64 - 1
WIDTH = 8
THIRDS = (1.0, 0.5, 0.25, 0.125)

class S:
    scale: f64
    count: i64
    xs: F64Array
    words: U64Array
    pair: Annotated[I64Array, "pair"]

@inline
def turned(u: u64, by: i64) -> u64:
    v = (u << by) & MASK
    return v | (u >> (64 - by))

def words(a: U64Array, at: i64, b: U64Array, to: i64, step: u64) -> None:
    for i in lanes(4):
        u = (a[at + i] + step) & MASK
        u ^= turned(u, 7)
        b[to + i] = (u * 0xBF58476D1CE4E5B9) & MASK

def numbers(s: S, xs: F64Array, at: i64) -> f64:
    for i in lanes(WIDTH):
        x: f64 = max(xs[i], -s.scale) * s.scale
        xs[i] = floor(x) / 3.0 + sqrt(float(s.count))
        s.xs[at + i] -= -x + min(float(i), 2.0)
    for i in lanes(4):
        x = THIRDS[i] + fabs(s.xs[2 + i])
        s.words[i] = bits_of(x) ^ s.words[i]
    return s.xs[at]

def picked(xs: F64Array, ks: I64Array) -> None:
    for i in lanes(4):
        known = ks[i] >= 0
        xs[4 + i] = (THIRDS[ks[i] & 3] if known else -1.0) + (xs[i] if xs[i] < 0.5 else 0.5)
        ks[8 + i] = int(known)

def whole(a: I64Array, n: i64) -> None:
    for i in lanes(4):
        '''Shifts, bits and a conversion.'''
        a[i] += (a[i] << 2) - (a[i] >> n) + int(float(n)) + (~i & 3)
        a[i] = -a[i]
    for _ in lanes(16):
        pass
"""


@pytest.mark.parametrize("checked", [False, True])
def test_words(build, checked):
    program = build(TEXT, checked=checked)
    a, b = array("Q", [9, 1, 2**63, MASK, 5, 9]), array("Q", [7] * 6)
    program.call("words", a, 1, b, 2, 2**63)

    def mixed(u):
        u = (u + 2**63) & MASK
        return ((u ^ ((u << 7) & MASK | (u >> 57))) * 0xBF58476D1CE4E5B9) & MASK

    assert list(b) == [7, 7, *map(mixed, a[1:5])]
    program.call("words", a, 1, a, 1, 2**63)
    assert list(a) == [9, *b[2:], 9], "one piece of memory will do where each lane stays in its own item"


@pytest.mark.parametrize("checked", [False, True])
def test_numbers(build, checked):
    program = build(TEXT, checked=checked)
    kept = [0.5 * k for k in range(12)]
    s = program.record("S", scale=1.5, count=2, xs=array("d", kept), words=array("Q", range(4)))
    xs = array("d", [-9.0, 2.0, -0.0, 1e300, 3.3, 0.1, -1.4, 7.0])
    x = [max(v, -1.5) * 1.5 for v in xs]
    assert program.call("numbers", s, xs, 3) == s.xs[3]
    assert list(xs) == [v // 1 / 3.0 + 2**0.5 for v in x]
    assert list(s.xs) == [
        *kept[:3],
        *(k - (-v + min(i, 2.0)) for i, (k, v) in enumerate(zip(kept[3:11], x, strict=True))),
        kept[11],
    ]
    third = [t + abs(v) for t, v in zip((1.0, 0.5, 0.25, 0.125), s.xs[2:6], strict=True)]
    assert [u ^ i for i, u in enumerate(s.words)] == list(array("Q", array("d", third).tobytes()))


@pytest.mark.parametrize("checked", [False, True])
def test_choices_tables_and_places_far_apart(build, checked):
    xs, ks = array("d", [0.25, 0.75, 0.5, -8.0, 0, 0, 0, 0]), array("q", [3, -1, 6, 0, *[7] * 8])
    build(TEXT, checked=checked).call("picked", xs, ks)
    assert list(xs[4:]) == [0.125 + 0.25, -1.0 + 0.5, 0.25 + 0.5, 1.0 - 8.0]
    assert list(ks[4:]) == [7, 7, 7, 7, 1, 0, 1, 1]


@pytest.mark.parametrize("checked", [False, True])
def test_whole_numbers(build, checked):
    a = array("q", [10, -7, 3, 0, 5])
    build(TEXT, checked=checked).call("whole", a, 1)
    assert list(a) == [-(10 + 40 - 5 + 1 + 3), -(-7 - 28 + 4 + 1 + 2), -(3 + 12 - 1 + 1 + 1), -(0 + 1 + 0), 5]


def test_a_checked_build_stops_at_the_lane_that_is_wrong(build):
    program = build(TEXT, checked=True)
    b = array("Q", [7] * 4)
    with pytest.raises(FaultError) as caught:
        program.call("words", array("Q", range(8)), 1, b, 2, 0)
    assert (caught.value.array, caught.value.index, caught.value.length) == ("b", 4, 4)
    assert b[:2] == array("Q", [7, 7])
    assert 7 not in b[2:]


REFUSED = [
    ("for i in lanes(n):\n        a[i] = 1.0", 2, 14, "lanes are 4, 8 or 16"),
    ("for i in lanes(2):\n        a[i] = 1.0", 2, 14, "lanes are 4, 8 or 16"),
    ("for i in lanes(0, 4):\n        a[i] = 1.0", 2, 14, "lanes are 4, 8 or 16"),
    ("for i in lanes(4.0):\n        a[i] = 1.0", 2, 14, "lanes are 4, 8 or 16"),
    ("for i in lanes(4):\n        break", 3, 9, "lanes assign to variables and items, and do nothing else"),
    ("for i in lanes(4):\n        if n > i:\n            a[i] = 1.0", 3, 9, "lanes assign"),
    ("for i in lanes(4):\n        helper(a)", 3, 9, "lanes assign"),
    ("for i in lanes(4):\n        s.f = 1.0", 3, 9, "lanes assign"),
    ("for i in lanes(4):\n        for j in lanes(4):\n            a[j] = 1.0", 3, 9, "lanes assign"),
    ("for i in lanes(4):\n        n += 1", 3, 9, "n has a value before the lanes"),
    ("x = 1.0\n    for i in lanes(4):\n        x = a[i]", 4, 9, "x has a value before the lanes"),
    ("for i in lanes(4):\n        i = 1", 3, 9, "i has a value before the lanes"),
    ("for i in lanes(4):\n        x = a[i]\n    b[n] = x", 4, 12, "x may have no value here"),
    ("for i in lanes(4):\n        a[i + n] = 1.0", 3, 9, "lanes take items side by side: a[i], or a[base + i]"),
    ("for i in lanes(4):\n        a[n] = 1.0", 3, 9, "lanes take items side by side"),
    ("for i in lanes(4):\n        a[2 * i] = 1.0", 3, 9, "lanes take items side by side"),
    ("for i in lanes(4):\n        k = 2\n        a[k + i] = 1.0", 4, 9, "lanes take items side by side"),
    ("for i in lanes(4):\n        a[i] = s.ys[i]", 3, 9, "lanes take items side by side: s.ys[i]"),
    ("for i in lanes(4):\n        a[i] = a[n + i]", 3, 9, "a lane writes to a where another one may read or write"),
    ("for i in lanes(4):\n        x = a[n + i]\n        a[i] += x", 4, 9, "a lane writes to a where another"),
    ("for i in lanes(4):\n        a[1 + i] = 1.0\n        a[i] = 2.0", 4, 9, "a lane writes to a where another"),
    ("for i in lanes(4):\n        s.xs[i] = 1.0\n        t.xs[n + i] = 1.0", 4, 9, "a lane writes to t.xs"),
    ("for i in lanes(4):\n        a[3 + i] = 1.0\n        a[i] = 3.0", 4, 9, "a lane writes to a where another"),
    ("for i in lanes(4):\n        a[9 + i] = 1.0\n        a[n + i] = 2.0", 4, 9, "a lane writes to a where another"),
    ("for i in lanes(4):\n        a[i] = float(n // 3)", 3, 9, "lanes have no `and`, `or`, `not`, // and %"),
    ("for i in lanes(4):\n        a[i] = 1.0 if n > 0 and n < 9 else 2.0", 3, 9, "lanes have no `and`"),
    ("for i in lanes(4):\n        a[i] = 1.0 if a[n] > 0.0 else 2.0", 3, 9, "lanes take items side by side"),
    ("for i in lanes(4):\n        c = not n > 0", 3, 9, "lanes have no `and`"),
    ("for i in lanes(4):\n        a[i] = called(n)", 3, 9, "lanes call @inline functions that only compute"),
    ("for i in lanes(4):\n        a[i] = reads(b, n)", 3, 9, "lanes call @inline functions that only compute"),
    ("for i in lanes(4):\n        a[i] = asks(n)", 3, 9, "lanes call @inline functions that only compute"),
    ("for i in lanes(4):\n        a[i] = float(asks(n // 2))", 3, 9, "lanes call @inline functions"),
    ("n = lanes(4)", 2, 9, "lanes is no function of restricted Python"),
]  # fmt: skip

HEAD = """
class S:
    f: f64
    xs: F64Array
    ys: Annotated[F64Array, "row"]
    zs: Annotated[F64Array, "row"]
def helper(a: F64Array) -> None:
    a[0] = 1.0
def called(n: i64) -> f64:
    return float(n)
@inline
def reads(a: F64Array, n: i64) -> f64:
    return a[n]
@inline
def asks(n: i64) -> f64:
    if n > 0:
        return 1.0
    return 2.0
def f(a: F64Array, b: F64Array, s: S, t: S, n: i64) -> None:
"""


IDS = [c[0].split("\n        ")[-1] for c in REFUSED]


@pytest.mark.parametrize(("body", "line", "column", "words"), REFUSED, ids=IDS)
def test_what_cannot_be_done_in_lanes_is_refused(body, line, column, words):
    with pytest.raises(RestrictedError) as caught:
        compile_module(f"{NAMES}{HEAD}    {body}\n", "cpython", exports=("f",))
    problem = caught.value.problems[0]
    before = LINES + HEAD.count("\n") - 1
    assert (problem.line - before, problem.column) == (line, column), problem
    assert words in problem.message


def test_a_parameter_may_be_called_lanes():
    with pytest.raises(RestrictedError, match="a for loop runs over range"):
        compile_module(NAMES + "def f(lanes: i64) -> None:\n    for i in lanes(4):\n        pass\n", "cpython")


def test_a_function_of_ones_own_may_be_called_lanes(build):
    text = "def lanes(n: i64) -> i64:\n    return n + 1\ndef f(n: i64) -> i64:\n    return lanes(n)\n"
    assert build(text, exports=("f",)).call("f", 1) == 2


# -- what LLVM makes of them -----------------------------------------------------------------------------------------


def instructions(text, exports, name, checked=False, opt=2):
    """The instructions of a function as LLVM optimises it for the least of the processors of this kind."""
    plain = replace(jit.machine(opt), cpu="generic", features="")
    code = lower(check(unit_of_text(text), exports), checked)
    lines = str(jit.optimised(llvm_text(code), plain)[0]).splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("define") and f".{name}(" in line)
    return [line.split(" = ")[-1].strip() for line in lines[begin + 1 : lines.index("}", begin)]]


def count(found, *beginnings):
    return sum(line.startswith(beginnings) for line in found)


STREAMS = """\
from serq.codegen.lang import U64Array, i64, u64
from serq.codegen.streams import next_bits, start_stream
class S:
    keys: U64Array
    words: U64Array
def begin(s: S, serial: i64, at: i64) -> None:
    start_stream(s.keys, 4, serial, s.words, at)
def run(s: S, n: i64) -> u64:
    u: u64 = 0
    for k in range(n):
        begin(s, k, 4 * k)
        u ^= next_bits(s.words, 4 * k)
    return u
"""


@pytest.mark.parametrize("opt", [1, 2])
def test_the_words_of_a_stream_are_mixed_by_one_instruction_each(opt, capfd):
    """All of it is four lanes wide, and nothing asks whether the key overlaps the words."""
    found = instructions(STREAMS, ("start_stream",), "start_stream", opt=opt)
    assert [count(found, f"{op} <4 x i64>") for op in ("mul", "xor", "lshr")] == [2, 3, 3]
    assert (count(found, "load"), count(found, "store <4 x i64>"), count(found, "store")) == (1, 1, 1)
    assert count(found, "br", "icmp", "phi", "xor i64") == 0
    assert capfd.readouterr().err == ""


def test_lanes_are_vectors_where_the_function_became_a_part_of_its_caller(capfd):
    found = instructions(STREAMS, ("run",), "run")
    assert count(found, "mul <4 x i64>") == 2
    assert count(found, "call void") == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "wide"),
    [
        ("words", "xor <4 x i64>"), ("numbers", "fmul <8 x double>"), ("whole", "ashr <4 x i64>"),
        ("picked", "fcmp olt <4 x double>"),
    ],
)  # fmt: skip
def test_every_operation_that_lanes_may_have_is_done_in_vectors(name, wide, capfd):
    """LLVM says so on stderr where it cannot do what it is told."""
    found = instructions(NAMES + TEXT, (name,), name)
    assert count(found, wide) > 0
    assert count(found, "br", "phi") == 0
    assert capfd.readouterr().err == ""


def test_checked_builds_have_turns_one_after_the_other(capfd):
    found = instructions(STREAMS, ("start_stream",), "start_stream", checked=True)
    assert count(found, "mul i64") > 1
    assert not any("x i64>" in line for line in found)
    assert capfd.readouterr().err == ""

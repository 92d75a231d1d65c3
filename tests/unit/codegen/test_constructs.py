"""Every construct of restricted Python, by every back end, against values found by hand."""

import math
from array import array


def run(build, body, *arguments, parameters="a: i64, b: i64", returns="i64"):
    text = f"def f({parameters}) -> {returns}:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return build(text).call("f", *arguments)


WHOLE = [
    ("a + b * 2 - 1", 3, 4, 10), ("a // b", 7, 2, 3), ("a // b", -7, 2, -4), ("a // b", 7, -2, -4),
    ("a // b", -7, -2, 3), ("a // b", 6, -3, -2), ("a % b", 7, 2, 1), ("a % b", -7, 2, 1), ("a % b", 7, -2, -1),
    ("a % b", -7, -2, -1), ("a % b", 6, -3, 0), ("a // 8 + b", -9, 0, -2), ("a % 8 + b", -9, 0, 7),
    ("a // 5 + b", -9, 0, -2), ("a % -8 + b", 9, 0, -7), ("a & b", -4, 7, 4), ("a | b", -4, 3, -1),
    ("a ^ b", -4, 3, -1),
    ("~a + b", 5, 0, -6), ("-a - b", 5, 1, -6), ("a << b", -3, 4, -48), ("a >> b", -49, 4, -4),
    ("a >> 63 | b", -1, 0, -1),
    ("min(a, b) * 100 + max(a, b)", 3, -2, -197), ("min(a, 5) + max(7, b)", 9, 1, 12), ("a if a > b else b", 3, 9, 9),
    ("1 if a == b and not a > 3 or b < 0 else 2", 3, 3, 1), ("int(a < b) + int(a <= 3 < b)", 3, 4, 2),
    ("int(float(a) / float(b))", -7, 2, -3), ("a + 2**62 - 2**62 + b", -(2**62), 0, -(2**62)), ("-a // b", 7, 2, -4),
    ("+a + b", 1, 2, 3), ("a * b", 2**31, -(2**31), -(2**62)), ("a // b", -(2**63), 1, -(2**63)),
    ("a // b", -(2**63), 3,
    -(2**63) // 3), ("a % b", -(2**63), 10, 2), ("a % b", 5, -(2**63), 5 - 2**63), ("a % b", -(2**63), -1, 0),
]  # fmt: skip

M = 2**64 - 1
WORDS = [
    ("(a + b) & M", M, 2, 1), ("(a - b) & M", 1, 2, M), ("(a * b) & M", M, M, 1), ("(-a) & M", 1, 0, M),
    ("~a & M", 0, 0, M), ("(a << 63) & M", 3, 0, 2**63), ("a >> 63", M, 0, 1), ("a // b", M, 2, 2**63 - 1),
    ("a % b", M, 10, 5), ("a & b", 12, 10, 8), ("a | b", 12, 10, 14), ("a ^ b", 12, 10, 6),
    ("(a ^ n) & M", 5, 0, M - 5), ("n & a", M, 0, M), ("((a | n) + b) & M", 1, 3, 2), ("(a * n) & b", 3, M, M - 2),
    ("(((a << 23) | (b >> 41)) + a) & 0xFFFF", 9, M, (((9 << 23) | (M >> 41)) + 9) & 0xFFFF),
    ("min(a, b)", M, 2**63, 2**63), ("1 + 1 if a > 2**63 else a", M, 0, 2), ("bits_of(float(a))", M, 0, 0x43F << 52),
    ("a // 2 % 3", M, 0, (2**63 - 1) % 3), ("a << n + 3 & M", 1, 0, 4), ("a // 8 + b & M", M, 1, 2**61),
]  # fmt: skip

INF, NAN = math.inf, math.nan
DOUBLES = [
    ("x + y - 1", 1.5, 2.0, 2.5), ("x * y", 0.1, 3.0, 0.1 * 3), ("x * y + 1.0", 0.1, 10.0, 0.1 * 10.0 + 1.0),
    ("x / y", 1.0, 3.0, 1 / 3), ("x * 3 + 2 / 3", 0.0, 0.0, 2 / 3), ("-x", 0.0, 0.0, -0.0), ("x - y", INF, INF, NAN),
    ("x * y", 1e308, 10.0, INF), ("x + y", 1e16, 1.0, 1e16), ("(x + y) - x", 1e16, 1.0, 0.0),
    ("x * 0.0", -1.0, 0.0, -0.0),
    ("floor(x) + ceil(y)", -0.5, -0.5, -1.0), ("ceil(x)", -0.5, 0.0, -0.0), ("floor(x)", 2.0**51 + 0.5, 0.0, 2.0**51),
    ("floor(x)", -INF, 0.0, -INF), ("floor(x)", NAN, 0.0, NAN), ("fabs(x)", -0.0, 0.0, 0.0),
    ("sqrt(x)", 2.0, 0.0, math.sqrt(2)), ("sqrt(x)", -0.0, 0.0, -0.0), ("min(x, y)", NAN, 1.0, NAN),
    ("min(x, y)", 1.0, NAN, 1.0), ("max(x, y)", 0.0, -0.0, 0.0), ("max(x, y)", -0.0, 0.0, -0.0),
    ("float(int(x))", -2.9, 0.0, -2.0), ("float_of(bits_of(x) ^ (1 << 63))", 2.5, 0.0, -2.5),
    ("1.0 if x < y else 2.0", NAN, 1.0, 2.0), ("1.0 if x != x else 2.0", NAN, 1.0, 1.0),
    ("1.0 if not x >= y else 2.0", NAN, 1.0, 1.0), ("1.0 if x == y else 2.0", 0.0, -0.0, 1.0),
    ("BIG * x", 1.0, 0.0, 2.0**0.5), ("x / 4 * -0.0", 1.0, 0.0, -0.0), ("0.0 - x", 0.0, 0.0, 0.0),
    ("x * x + y", 1 + 2.0**-30,
    -1 - 2.0**-29, 0.0), ("x + 0.0", -0.0, 0.0, 0.0),
]  # fmt: skip


def same(x, y):
    return (x != x and y != y) or (x == y and math.copysign(1, x) == math.copysign(1, y))


def values(build, head, parameters, returns, cases, *more):
    """Pairs (found, expected) of expressions in two parameters, all compiled in one module."""
    functions = [f"def f{i}({parameters}) -> {returns}:\n    return {c[0]}\n" for i, c in enumerate(cases)]
    program = build(head + "".join(functions))
    return [(c, program.call(f"f{i}", c[1], c[2], *more)) for i, c in enumerate(cases)]


def test_whole_numbers(build):
    for case, found in values(build, "", "a: i64, b: i64", "i64", WHOLE):
        assert found == case[3], case


def test_words_wrap_where_the_text_masks(build):
    for case, found in values(build, f"M = {M}\n", "a: u64, b: u64, n: i64", "u64", WORDS, -1):
        assert found == case[3], case


def test_doubles(build):
    for case, found in values(build, "BIG = 2**0.5\n", "x: f64, y: f64", "f64", DOUBLES):
        assert same(found, case[3]), (case, found)


def test_integers_are_converted_to_the_nearest_double(build):
    text = "def f(n: i64, u: u64) -> f64:\n    return n * 1.0 + (u - 0.0)\n"
    program = build(text)
    assert program.call("f", 2**53 + 1, 0) == 2.0**53
    assert program.call("f", 2**53 + 3, 0) == 2.0**53 + 4
    assert program.call("f", 0, 2**64 - 1) == 2.0**64
    assert program.call("f", 0, 2**63 + 1025) == 2.0**63 + 2048
    assert program.call("f", -(2**53) - 3, 0) == -(2.0**53) - 4


def test_while_break_continue_and_assigned_parameters(build):
    body = """\
n = 0
while True:
    a -= 1
    if a < 0:
        break
    if a % b == 0:
        continue
    n += a
return n"""
    assert run(build, body, 10, 3) == sum(i for i in range(10) if i % 3)


def test_for_evaluates_its_bounds_once_and_leaves_the_count_alone(build):
    body = """\
total = 0
for i in range(a, b):
    b = 0
    total += i
    i = 100
    if total > 20:
        break
for _ in range(3):
    total += 1000
return total"""
    assert run(build, body, 2, 6) == 3014
    assert run(build, body, 5, 20) == 3026
    assert run(build, body, 5, 2) == 3000


def test_loops_in_loops_and_returns_from_them(build):
    body = """\
for i in range(a):
    for j in range(i, a):
        if i * j == b:
            return i * 100 + j
        if j > 5:
            break
    else_ = i
return -1"""
    assert run(build, body, 10, 12) == 206
    assert run(build, body, 3, 7) == -1


def test_if_elif_else_with_values_on_every_way(build):
    body = """\
if a > 0 and b > 0:
    x = 1
elif a > 0 or b > 0:
    x = 2
else:
    return 9
return x"""
    assert [run(build, body, a, b) for a, b in [(1, 1), (1, 0), (0, 1), (0, 0)]] == [1, 2, 2, 9]


def test_annotated_variables_and_bools(build):
    body = """\
x: f64
good: bool = a > b
other = not good
x = 1.5
u: u64 = 7
if other:
    x += 1
x /= 2
x -= float(u)
x *= 2.0
return good if x > 0 else other"""
    assert run(build, body, 1, 2, returns="bool") is True
    assert run(build, body, 3, 2, returns="bool") is False
    assert run(build, body.replace("x > 0", "x < 0"), 3, 2, returns="bool") is True


def test_augmented_operators(build):
    body = """\
a += 5
a -= 1
a *= 3
a //= 2
a %= 100
a <<= 2
a >>= 1
a &= 0xFF
a |= 1
a ^= b
return a"""

    def truth(a, b):
        return ((((((a + 5 - 1) * 3 // 2) % 100) << 2) >> 1) & 0xFF | 1) ^ b

    assert run(build, body, 11, 6) == truth(11, 6)


STATE = """\
CAPACITY = 4
WEIGHTS = (0.5, 0.25, 0.125)

class Queue:
    head: i64
    items: F64Array

class State:
    now: f64
    count: i64
    word: u64
    first: Queue
    second: Queue
    ids: I64Array
    words: U64Array

def push(q: Queue, x: f64) -> bool:
    if q.head == CAPACITY:
        return False
    q.items[q.head] = x
    q.head += 1
    return True

@cold
def scale(a: F64Array, n: i64, by: f64) -> None:
    for i in range(n):
        a[i] *= by

@inline
def mixed(s: State, flag: bool = False, by: f64 = 2.0, n: i64 = -1) -> f64:
    return s.now * by + s.count + (n + 1) if flag else s.now

def step(s: State, x: f64) -> i64:
    s.now += WEIGHTS[s.count]
    if not push(s.first, x):
        return 3
    push(s.second, mixed(s))
    scale(s.first.items, s.first.head, 2.0)
    s.ids[s.count] = s.first.head * 10
    s.ids[s.count] -= 1
    s.words[0] ^= bits_of(mixed(s, True))
    s.word = s.words[0] >> 12
    s.count += 1
    return 0
"""


def test_records_arrays_tables_and_calls(build):
    program = build(STATE)
    s = program.record("State", now=1.0, ids=array("q", [0] * 4), words=array("Q", [1, 2]))
    s.first.items = array("d", [0.0] * 4)
    s.second.items = array("d", [0.0] * 4)
    assert [program.call("step", s, 1.0), program.call("step", s, 10.0)] == [0, 0]
    assert (s.now, s.count, s.first.head, s.second.head) == (1.75, 2, 2, 2)
    assert list(s.first.items) == [4.0, 20.0, 0.0, 0.0]
    assert list(s.second.items) == [1.5, 1.75, 0.0, 0.0]
    assert list(s.ids) == [9, 19, 0, 0]
    assert program.call("mixed", s) == 1.75
    assert program.call("mixed", s, True) == 5.5
    assert program.call("mixed", s, True, 1.0) == 3.75
    assert program.call("mixed", s, True, 1.0, 0) == 4.75
    assert s.word == s.words[0] >> 12
    s.first.head = 4
    assert program.call("step", s, 1.0) == 3
    assert program.call("push", s.second, 7.0) is True


def test_a_larger_array_in_the_field_is_seen_by_the_next_call(build):
    program = build(STATE)
    s = program.record("State", ids=array("q", [0] * 4), words=array("Q", [1]))
    s.second.items = array("d", [0.0] * 4)
    s.first.items = old = array("d", [0.0])
    s.first.items = array("d", [*old, 0.0, 0.0, 0.0])
    program.call("step", s, 1.0)
    program.call("step", s, 1.0)
    assert list(s.first.items) == [4.0, 2.0, 0.0, 0.0]
    assert list(old) == [0.0]


def test_order_of_evaluation_is_from_left_to_right(build):
    text = """\
class State:
    n: i64
    a: I64Array

def next(s: State) -> i64:
    s.n += 1
    return s.n

def f(s: State) -> i64:
    x = next(s) * 100 + next(s) * 10 + next(s)
    y = s.n * 1000 + next(s) + s.n
    s.a[next(s) - 5] = next(s)
    s.a[next(s) - 6] += next(s) * s.n
    s.n -= next(s)
    return x + y
"""
    program = build(text)
    s = program.record("State", a=array("q", [0, 50]))
    assert program.call("f", s) == 123 + 3000 + 4 + 4
    assert list(s.a) == [0, 5 + 8 * 8]
    assert s.n == 8 - 9


def test_short_circuits_skip_calls(build):
    text = """\
class State:
    n: i64

def seen(s: State, answer: bool) -> bool:
    s.n += 1
    return answer

def f(s: State, p: bool, q: bool) -> bool:
    return (seen(s, p) and seen(s, q)) or (not p and seen(s, q) and p)
"""
    program = build(text)
    for p, q, answer, calls in [
        (True, True, True, 2),
        (True, False, False, 2),
        (False, True, False, 2),
        (False, False, False, 2),
    ]:
        s = program.record("State")
        assert (program.call("f", s, p, q), s.n) == (answer, calls)


def test_names_of_library_functions_are_free(build):
    text = "def log(x: f64) -> f64:\n    return x + 1.0\ndef exp(x: f64, pow: f64) -> f64:\n    return log(x) * pow\n"
    assert build(text).call("exp", 2.0, 5.0) == 15.0


def test_imported_text_is_compiled_with_the_rest(build):
    text = "from serq.codegen.elementary import exp as power_of_e, LN2_HIGH\n"
    text += "def f(x: f64) -> f64:\n    return power_of_e(x) + LN2_HIGH\n"
    program = build(text, exports=("f", "power_of_e"))
    from serq.codegen.elementary import LN2_HIGH, exp

    assert program.call("f", 1.5) == exp(1.5) + LN2_HIGH
    assert program.call("power_of_e", -3.0) == exp(-3.0)


def test_only_exported_functions_can_be_called(build):
    text = "def f() -> i64:\n    return _g() + h()\ndef _g() -> i64:\n    return 1\ndef h() -> i64:\n    return 2\n"
    assert set(build(text).functions) == {"f", "h"}
    assert set(build(text, exports=("f",)).functions) == {"f"}


def test_what_is_not_reached_may_be_any_python(build):
    text = (
        "def table():\n    return [x for x in range(3)]\nT = tuple(table())\ndef f(i: i64) -> i64:\n    return T[i]\n"
    )
    assert build(text, exports=("f",)).call("f", 2) == 2


def test_docstrings_pass_and_assert_are_no_code(build):
    body = '"""What it does."""\nassert a == b\npass\nreturn a'
    assert run(build, body, 3, 3) == 3

"""What is not restricted Python: each problem with its line, column and words."""

import pickle

import pytest
from restricted_texts import NAMES
from restricted_texts import NAMES_LINES as LINES

from serq.codegen import RestrictedError, compile_module


def refused(text, **options):
    with pytest.raises(RestrictedError) as caught:
        compile_module(NAMES + text, "cpython", **options)
    return caught.value.problems


CASES = [
    # names and types
    ("def f(a) -> i64:\n    return 1", 1, 7, "a needs an annotation"),
    ("def f(a: i64):\n    return a", 1, 1, "f needs an annotation of what it returns"),
    ("def f(a: int) -> i64:\n    return 1", 1, 10, "int is no type"),
    ("def f(a: I64Array) -> I64Array:\n    return a", 1, 23, "a function returns a scalar or None"),
    ("def f() -> i64:\n    return x", 2, 12, "x is no variable, parameter or constant number"),
    ("X = 'text'\ndef f() -> i64:\n    return X", 3, 12, "X is no variable, parameter or constant number"),
    ("def f(a: i64) -> i64:\n    return a.b", 2, 12, "a is no record"),
    ("def f(a: i64) -> i64:\n    return a[0]", 2, 12, "a is no array"),
    ("def f(a: I64Array) -> i64:\n    return a", 2, 12, "a is no scalar"),
    ("class S:\n    x: i64\ndef f(s: S) -> i64:\n    return s.y", 4, 12, "S has no field y"),
    ("class S:\n    x: i64\ndef f(s: S) -> i64:\n    return s", 4, 12, "s is no scalar"),
    ("class S:\n    x: i64 = 1\ndef f(s: S) -> i64:\n    return s.x", 2, 5, "a record has annotated fields"),
    ("class S:\n    x: bool\ndef f(s: S) -> i64:\n    return 1", 2, 5, "a record has annotated fields"),
    ("class S:\n    def g(self): pass\ndef f(s: S) -> i64:\n    return 1", 2, 5, "a record has annotated fields"),
    ("class B:\n    x: i64\nclass S(B):\n    y: i64\ndef f(s: S) -> i64:\n    return 1", 3, 1, "a record has no bases"),
    ("T = (1, 2.5)\ndef f(i: i64) -> i64:\n    return T[i]", 3, 12, "T is no array"),
    ("T = (-1, 2**64 - 1)\ndef f(i: i64) -> u64:\n    return T[i]",
     3, 12, "T has numbers that do not fit into one type"),
    ("T = (1, 2)\ndef f(i: i64) -> None:\n    T[i] = 3", 3, 5, "T is no array"),
    ("T = (1, 2)\ndef g(a: I64Array) -> None:\n    pass\ndef f() -> None:\n    g(T)", 5, 7, "T is no array"),
    # whole numbers, words, doubles
    ("def f(a: i64, b: i64) -> i64:\n    return a / b", 2, 12, "/ is for doubles"),
    ("def f(a: u64, b: i64) -> i64:\n    return int(a // b)", 2, 16, "// needs two operands of one type"),
    ("def f(a: u64) -> u64:\n    return a + 1", 2, 12, "a u64 that may have wrapped: mask it"),
    ("def f(a: u64) -> u64:\n    x = a * a\n    return 1", 2, 9, "the value is a u64 that may have wrapped"),
    ("def f(a: u64) -> u64:\n    return (a + 1) >> 3", 2, 12, ">> needs all bits"),
    ("def f(a: u64) -> bool:\n    return a + 1 < 5", 2, 12, "< compares two i64, two u64 or two f64, not wide"),
    ("def f(a: u64, b: i64) -> bool:\n    return a < b",
     2, 12, "< compares two i64, two u64 or two f64, not u64 and i64"),
    ("def f(a: i64, b: f64) -> bool:\n    return a < b", 2, 12, "not i64 and f64: write float(n)"),
    ("def f(a: u64) -> bool:\n    return a < -1", 2, 12, "-1 is no u64"),
    ("def f(a: i64) -> bool:\n    return a < 2**63", 2, 12, "9223372036854775808 is no i64"),
    ("def f(x: f64) -> bool:\n    return x < 2**53 + 1", 2, 12, "9007199254740993 is no double"),
    ("def f(x: f64) -> f64:\n    return x % 1.0", 2, 12, "% is not for doubles"),
    ("def f(x: f64) -> f64:\n    return x & 1", 2, 12, "& is not for doubles"),
    ("def f(x: f64) -> f64:\n    return ~x", 2, 12, "~ is not for f64"),
    ("def f(x: f64) -> f64:\n    return x ** 2", 2, 12, "** is for constants only"),
    ("def f(x: f64) -> f64:\n    return 1", 2, 12, "what is returned is an i64, and an f64 is needed: write 1.0"),
    ("def f(a: i64) -> f64:\n    return a", 2, 12, "what is returned is an i64, and an f64 is needed"),
    ("def f(a: i64) -> i64:\n    return a + True", 2, 12, "+ has a bool for an operand"),
    ("def f(a: i64, n: u64) -> i64:\n    return a << n", 2, 12, "the shift count is a u64, and an i64 is needed"),
    ("def f(x: f64) -> f64:\n    return x << 1", 2, 12, "<< is not for f64"),
    ("def f() -> i64:\n    return 1 // 0", 2, 12, "the constant cannot be computed"),
    ("def f() -> i64:\n    return 1 << 5000", 2, 12, "the constant is too large"),
    ("def f() -> i64:\n    return 2**63", 2, 12, "9223372036854775808 is no i64"),
    ("def f() -> u64:\n    return 2**64", 2, 12, "18446744073709551616 is no u64"),
    ("def f(a: i64) -> i64:\n    return a @ a", 2, 12, "restricted Python has no such operator"),
    ("def f(a: i64) -> bool:\n    return a is a", 2, 12, "restricted Python has no such comparison"),
    ("def f(a: I64Array) -> i64:\n    return a[-1]", 2, 14, "an index counts from 0"),
    ("def f(a: I64Array, u: u64) -> i64:\n    return a[u]", 2, 14, "an index is a u64, and an i64 is needed"),
    ("def f(a: I64Array) -> i64:\n    return a[0:1]", 2, 14, "0:1 is no expression of restricted Python"),
    # conditions
    ("def f(a: i64) -> i64:\n    if a:\n        return 1\n    return 2",
     2, 8, "the condition is an i64, and a bool is needed: compare it"),
    ("def f(a: i64) -> i64:\n    while a:\n        a -= 1\n    return 2", 2, 11, "the condition is an i64"),
    ("def f(a: bool) -> bool:\n    return a and 1", 2, 18, "an operand of and is an i64"),
    ("def f(a: i64) -> bool:\n    return not a", 2, 16, "the operand of not is an i64"),
    ("def f(a: bool, b: bool) -> bool:\n    return a == b",
     2, 12, "== compares two i64, two u64 or two f64, not bool"),
    ("def f(a: i64) -> i64:\n    return 1.0 if a > 0 else a", 2, 12, "both values of a choice is an i64"),
    ("def f(a: i64) -> f64:\n    return 1.0 if a > 0 else 2",
     2, 12, "both values of a choice is an i64, and an f64 is needed: write 2.0"),
    ("def g() -> i64:\n    return 1\ndef f() -> bool:\n    return 0 < g() < 3",
     4, 16, "a call inside a chained comparison"),
    # variables
    ("def f(a: i64) -> i64:\n    if a > 0:\n        x = 1\n    return x", 4, 12, "x may have no value here"),
    ("def f(a: i64) -> i64:\n    while a > 0:\n        x = 1\n        a -= 1\n    return x",
     5, 12, "x may have no value here"),
    ("def f(a: i64) -> i64:\n    for i in range(a):\n        pass\n    return i", 4, 12, "i may have no value here"),
    ("N = 3\ndef f(a: i64) -> i64:\n    a = N\n    N = 2\n    return a", 3, 9, "N may have no value here"),
    ("def f() -> i64:\n    x += 1\n    return x", 2, 5, "x may have no value here"),
    ("def f(a: i64) -> i64:\n    x = a\n    x = 1.5\n    return x",
     3, 9, "what x gets is an f64, and an i64 is needed"),
    ("def f(a: i64) -> i64:\n    a /= 2\n    return a", 2, 5, "/ is for doubles"),
    ("def f(a: u64) -> u64:\n    a += 1\n    return a", 2, 5, "what a gets is a u64 that may have wrapped"),
    ("def f(a: i64) -> i64:\n    x: f64 = a\n    return a", 2, 14, "what x gets is an i64, and an f64 is needed"),
    ("def f(a: i64) -> i64:\n    x = 1\n    x: f64 = 1.0\n    return a", 3, 5, "x has another type already"),
    ("def f(a: I64Array) -> i64:\n    a = a\n    return 1", 2, 5, "a is an array or a record and stays what it is"),
    ("def f(a: I64Array) -> i64:\n    b = a\n    return 1", 2, 9, "a is no scalar"),
    ("class S:\n    a: I64Array\ndef f(s: S, a: I64Array) -> None:\n    s.a = a",
     4, 5, "s.a is set from outside only"),
    ("def f(a: i64) -> i64:\n    a, b = 1, 2\n    return a", 2, 5, "assign to one variable, field or item"),
    ("def f(a: i64) -> i64:\n    b = c = 1\n    return a", 2, 5, "this is no statement of restricted Python"),
    # statements and functions
    ("def f(a: i64) -> i64:\n    if a > 0:\n        return 1", 1, 1, "f may end without a return"),
    ("def f(a: i64) -> i64:\n    while a > 0:\n        return 1", 1, 1, "f may end without a return"),
    ("def f(a: i64) -> i64:\n    while True:\n        if a > 0:\n            break",
     1, 1, "f may end without a return"),
    ("def f() -> None:\n    return 1", 2, 5, "a value is returned where the function is annotated to have one"),
    ("def f() -> i64:\n    return", 2, 5, "a value is returned where the function is annotated to have one"),
    ("def f(a: i64) -> i64:\n    a + 1\n    return a", 2, 5, "an expression alone has no effect"),
    ("def f(a: i64) -> i64:\n    for i in a:\n        pass\n    return a", 2, 14, "a for loop runs over range"),
    ("def f(a: i64) -> i64:\n    for i in range(0, a, 2):\n        pass\n    return a",
     2, 14, "a for loop runs over range"),
    ("def f(a: i64) -> i64:\n    for i in range(1.5):\n        pass\n    return a",
     2, 20, "a bound of the range is an f64"),
    ("def f(a: i64) -> i64:\n    while a > 0:\n        a -= 1\n    else:\n        a = 1\n    return a",
     5, 9, "a loop has no else"),
    ("def f(a: i64) -> i64:\n    try:\n        a = 1\n    finally:\n        a = 2\n    return a",
     2, 5, "this is no statement"),
    ("def f(a: i64) -> i64:\n    del a\n    return 1", 2, 5, "this is no statement of restricted Python"),
    ("def f(*a: i64) -> i64:\n    return 1", 1, 1, "parameters are plain"),
    ("def f(a: i64, *, b: i64) -> i64:\n    return 1", 1, 1, "parameters are plain"),
    ("def f(a: i64 = (1, 2)) -> i64:\n    return 1", 1, 16, "a default is a constant number"),
    ("def f(a: i64 = 1 + 1) -> i64:\n    return 1", 1, 16, "a default is a constant number"),
    ("def f(a: f64 = 1) -> i64:\n    return 1", 1, 16, "the default is an i64, and an f64 is needed: write 1.0"),
    ("def f(a: i64) -> i64:\n    return f(a - 1)", 1, 1, "f calls itself"),
    ("def f(a: i64) -> i64:\n    return g(a)\ndef g(a: i64) -> i64:\n    return f(a)",
     1, 1, "f calls itself, directly or through others"),
    # calls
    ("def f(a: i64) -> i64:\n    return g(a)", 2, 12, "g is no function of restricted Python"),
    ("def f(a: i64) -> i64:\n    return abs(a)", 2, 12, "abs is no function of restricted Python"),
    ("def f(a: i64) -> i64:\n    return a.g(a)", 2, 12, "a call is name(argument, ...)"),
    ("def f(a: i64) -> i64:\n    return int(x=a)", 2, 12, "a call is name(argument, ...)"),
    ("def f(a: i64) -> i64:\n    return min(a)", 2, 12, "min takes 2 arguments"),
    ("def f(a: i64) -> i64:\n    return int(min(a, 1.0))", 2, 16, "an operand of min is"),
    ("def f(a: i64) -> f64:\n    return sqrt(a)", 2, 12, "the argument of sqrt is an i64, and an f64 is needed"),
    ("def f(a: u64) -> i64:\n    return int(a + 1)", 2, 12, "int takes a number or a bool; mask a u64"),
    ("def f(a: bool) -> f64:\n    return float(a)", 2, 12, "an operand is a bool, and an f64 is needed"),
    ("def g(a: i64) -> i64:\n    return a\ndef f() -> i64:\n    return g(1, 2)",
     4, 12, "g takes 1 to 1 arguments, not 2"),
    ("def g(a: f64) -> f64:\n    return a\ndef f() -> f64:\n    return g(1)",
     4, 14, "argument a is an i64, and an f64 is needed: write 1.0"),
    ("def g(a: F64Array) -> None:\n    pass\ndef f(a: I64Array) -> None:\n    g(a)",
     4, 7, "a holds i64, and a is an array of f64"),
    ("class S:\n    x: i64\nclass T:\n    x: i64\ndef g(s: S) -> None:\n    pass\ndef f(t: T) -> None:\n    g(t)",
     8, 7, "t is a T, and s is a S"),
    ("class S:\n    xs: Annotated[I64Array, 'r']\n    ys: Annotated[F64Array, 'r']\ndef g(a: F64Array) -> None:\n"
     "    pass\ndef f(s: S) -> None:\n    g(s.ys)", 7, 7, "s.ys lies among others and cannot be passed on"),
    ("class S:\n    n: Annotated[i64, 'r']\ndef f(s: S) -> None:\n    pass", 2, 5, "a record has annotated fields of"),
    ("class S:\n    n: Annotated[I64Array, 'a b']\ndef f(s: S) -> None:\n    pass", 2, 5, "a record has annotated"),
    ("def f(a: Annotated[I64Array, 'r']) -> None:\n    pass", 1, 10, "Annotated[I64Array, 'r'] is no type"),
    ("def g() -> None:\n    pass\ndef f() -> i64:\n    return g()",
     4, 12, "what is returned is nothing, and an i64 is needed"),
    ("def g() -> None:\n    pass\ndef f() -> i64:\n    x = g()\n    return 1", 4, 9, "the value is nothing"),
    ("def f() -> i64:\n    g = 1\n    return g()\ndef g() -> i64:\n    return 1",
     3, 12, "g is no function of restricted Python"),
    ("def f(a: i64) -> i64:\n    return [a][0]", 2, 12, "[a] is no array"),
    ("def f(a: i64) -> i64:\n    return (lambda: a)()", 2, 12, "a call is name(argument, ...)"),
    ("def f(a: i64) -> str:\n    return 'x'", 1, 18, "str is no type"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "words"), CASES, ids=[c[3] for c in CASES])
def test_a_problem_has_its_place_and_says_what_is_wrong(text, line, column, words):
    problems = refused(text)
    assert (problems[0].line - LINES, problems[0].column) == (line, column)
    assert words in problems[0].message


def test_all_problems_are_listed_in_order_of_place():
    text = "def f(a: i64) -> i64:\n    x = a / 2\n    y = b\n    if a:\n        z = a and a\n    return 1.0\n"
    problems = refused(text)
    assert [p.line - LINES for p in problems] == [2, 3, 4, 6]


def test_a_function_with_problems_is_named_where_it_is_called():
    problems = refused("def g(a) -> i64:\n    return 1\ndef f() -> i64:\n    return g(1)\n")
    assert [(p.line - LINES, p.message) for p in problems] == [
        (1, "a needs an annotation"), (4, "g has problems of its own"),
    ]  # fmt: skip


def test_a_text_that_is_no_python_is_refused_with_its_place():
    problems = refused("def f(:\n")
    assert (problems[0].line - LINES, problems[0].column) == (1, 7)


def test_an_export_must_be_a_function():
    problems = refused("N = 3\n", exports=("N",))
    assert problems[0].message == "N is to be exported and is no function"


def test_no_other_decorators():
    text = "def other(f):\n    return f\n@other\ndef f(a: i64) -> i64:\n    return 1"
    problems = refused(text, exports=("f",))
    assert [(p.line - LINES, p.column) for p in problems] == [(4, 1)]
    assert problems[0].message == "a function may be marked @cold or @inline, and with nothing else"


def test_a_record_cannot_contain_itself():
    problems = refused("class S:\n    s: 'S'\ndef f(s: S) -> i64:\n    return 1\n")
    assert problems[0].message.startswith("a record has annotated fields")


def test_the_message_of_the_error_has_file_line_and_column():
    with pytest.raises(RestrictedError, match=r"^<serq_text_[0-9a-f]+>:2:12: x is no variable") as caught:
        compile_module("def f() -> 'i64':\n    return x\n", "cpython")
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems

"""Texts that no person writes: refused or read, without a crash and in bounded time."""

import time

import pytest

from serq.base.errors import LoadError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.syntax.limits import MAX_DEPTH, MAX_FAULTS, MAX_TEXT
from serq.syntax.parser import parse, parse_expression
from serq.syntax.printer import format_module


def refusal(text):
    """The codes of the faults; the rendering must work and stay short."""
    with pytest.raises(LoadError) as caught:
        parse(SourceFile("p.sq", text))
    diagnostics = caught.value.diagnostics
    assert len(diagnostics) <= MAX_FAULTS
    assert len(render_all(caught.value.source, diagnostics)) < 30_000
    return [d.code for d in diagnostics]


DEEP = {
    "parentheses": lambda n: f"let a = {'(' * n}1{')' * n};",
    "unclosed parentheses": lambda n: f"let a = {'(' * n}",
    "braces": lambda n: f"session {{ {'loop { ' * n}{'}' * n} }}",
    "unclosed braces": lambda n: "session { " + "loop { " * n,
    "calls": lambda n: f"let a = {'f(' * n}{')' * n};",
    "indices": lambda n: f"let a = {'f(r[' * n}1{'])' * n};",
    "minus signs": lambda n: f"let a = {'-' * n}1;",
    "sums": lambda n: f"let a = 1{' + 1' * n};",
    "conditionals": lambda n: f"let a = {'1 ? 2 : ' * n}3;",
    "conditions": lambda n: f"let a = {'1 ? ' * n}2{' : 3' * n};",
    "branches": lambda n: f"session {{ {'branch (1) { } else { ' * n}{'}' * n} }}",
}


@pytest.mark.parametrize("shape", DEEP)
def test_deep_nesting_is_refused_as_such(shape):
    assert refusal(DEEP[shape](10_000)) == ["SQ022"]


@pytest.mark.parametrize("shape", [name for name in DEEP if "unclosed" not in name])
def test_what_is_nested_half_as_deep_as_the_limit_passes_every_road(shape):
    module = parse(SourceFile("p.sq", DEEP[shape](MAX_DEPTH // 2 - 5)))
    again = parse(SourceFile("p.sq", format_module(module)))
    assert again == module
    assert hash(again) == hash(module)
    assert repr(again)


def test_the_limit_counts_brackets_exactly():
    assert parse_expression(SourceFile("e", "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH))
    with pytest.raises(LoadError):
        parse_expression(SourceFile("e", "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1)))


def test_a_chain_is_shown_as_a_whole():
    with pytest.raises(LoadError) as caught:
        parse(SourceFile("p.sq", "let a = 2;\nlet b = 1" + " + 1" * 300 + ";"))
    assert caught.value.diagnostics[0].span[:2] == (2, 9)


def test_ten_megabytes_are_refused_at_once():
    text = "let a = 1;\n" * 1_000_000
    start = time.process_time()
    assert refusal(text) == ["SQ006"]
    assert time.process_time() - start < 1


def test_bytes_count_not_characters():
    assert refusal("// " + "λ" * (MAX_TEXT // 2)) == ["SQ006"]
    assert parse(SourceFile("p.sq", "// " + "λ" * (MAX_TEXT // 2 - 10))).items == ()


def test_reading_takes_time_linear_in_the_length():
    """Twice the text may take thrice the time at most; a quadratic reader takes four times as long."""
    text = "let a = 1 + x * 2;\nsession { set b = f(1, 2); hold m (1) { run s (~exp(2)); } }\n"

    def seconds(copies):
        start = time.process_time()
        parse(SourceFile("p.sq", text * copies))
        return time.process_time() - start

    seconds(10)
    short, long = min(seconds(300) for _ in range(3)), min(seconds(600) for _ in range(3))
    assert long < 3 * short


@pytest.mark.parametrize(
    "text",
    ["#" * 100_000, ")" * 100_000, "}" * 100_000, "a " * 50_000, ";" * 100_000, '"' * 100_000, "\0" * 100_000,
     "session { " + "else " * 50_000 + "}", "let a = 1 + ;\n" * 10_000, "session { " + "set a = 1\n" * 10_000 + "}"],
    ids=["hashes", "round", "braces", "words", "semicolons", "quotes", "nul", "else", "operands", "missing"],
)  # fmt: skip
def test_after_many_faults_the_reader_stops(text):
    start = time.process_time()
    assert refusal(text)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["1" * 100_000, "1e999999999", "1e-999999999", "0." + "3" * 5000, "9" * 309])
def test_literals_that_no_double_holds(text):
    assert refusal(f"let a = {text};") == ["SQ014"]

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import commented, expressions, modules, parts

from serq.base.errors import LoadError
from serq.base.source import NOWHERE, SourceFile
from serq.syntax import ast
from serq.syntax.parser import parse, parse_expression
from serq.syntax.printer import format_module
from serq.syntax.shape import children
from serq.syntax.wording import expression


def reread(text):
    return parse(SourceFile("again.sq", text))


@given(modules)
@settings(max_examples=120)
def test_a_program_survives_printing_and_reading(module):
    text = format_module(module)
    assert reread(text) == module
    assert format_module(reread(text)) == text


@given(expressions)
@settings(max_examples=120)
def test_an_expression_survives_printing_and_reading(expr):
    assert parse_expression(SourceFile("e", expression(expr))) == expr


KEPT = [
    "1 - (2 - 3)", "1 / (2 * 3)", "(1 + 2) * 3", "-(1 + 2)", "!(a && b)", "(a || b) && c", "(1 == 2) < 3",
    "1 == (2 != 3)", "(a ? 1 : 2) ? 3 : 4", "(a ? 1 : 2) + 3", "queue(s[1 - (2 - 3)])", "~exp(1 / (2 / 3))",
]  # fmt: skip


@pytest.mark.parametrize("text", KEPT)
def test_parentheses_that_matter_are_kept(text):
    assert expression(parse_expression(SourceFile("e", text))) == text


@given(expressions, st.data())
@settings(max_examples=120)
def test_no_pair_of_parentheses_could_be_left_out(expr, data):
    text = expression(expr)
    opened = [i for i, c in enumerate(text) if c == "(" and (i == 0 or text[i - 1] in " -!([")]
    if opened:
        start = data.draw(st.sampled_from(opened))
        end = closing(text, start)
        bare = text[:start] + text[start + 1 : end] + text[end + 1 :]
        assert parsed_or_none(bare) != expr


def closing(text, start):
    """The index of the parenthesis that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise AssertionError(text)


def parsed_or_none(text):
    try:
        return parse_expression(SourceFile("e", text))
    except LoadError:
        return None


@given(st.data(), modules)
@settings(max_examples=120)
def test_comments_are_kept_in_order_and_stay_where_the_printer_puts_them(data, module):
    source, count = data.draw(commented(format_module(module)))
    read = parse(source)
    assert read == module
    text = format_module(read)
    again = reread(text)
    assert again == module
    assert [c.text for c in again.comments] == [f"// comment {i}" for i in range(count)]
    assert format_module(again) == text


@given(modules)
@settings(max_examples=100)
def test_every_node_knows_its_place_inside_of_its_parent(module):
    text = format_module(module)
    read = reread(text)
    lines = text.split("\n")
    pending = [(item, None) for item in read.items]
    while pending:
        node, parent = pending.pop()
        span = node.span
        assert span != NOWHERE
        assert (span.line, span.column) < (span.end_line, span.end_column)
        assert span.end_column - 1 <= len(lines[span.end_line - 1])
        if parent is not None:
            assert parent.span[:2] <= span[:2]
            assert span[2:] <= parent.span[2:]
        if hasattr(node, "name_span") and not isinstance(node, ast.Draw):
            where = node.name_span
            assert lines[where.line - 1][where.column - 1 : where.end_column - 1] == node.name
        pending += [(child, node) for child in children(node)]


def test_the_strategies_build_every_kind_of_node():
    """A production that the strategies forget would be one that no property is tested on."""
    kinds = {
        cls for cls in vars(ast).values() if isinstance(cls, type) and "span" in vars(cls).get("__annotations__", ())
    }
    seen = set()
    for strategy in parts:

        @given(strategy)
        @settings(max_examples=200, derandomize=True, database=None)
        def collect(node):
            pending = [node]
            while pending:
                node = pending.pop()
                seen.add(type(node))
                pending += children(node)

        collect()
    assert kinds - seen == {ast.Comment}

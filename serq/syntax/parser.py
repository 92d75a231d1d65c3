"""Text to AST."""

from functools import cache
from importlib.resources import files
from typing import cast

from lark import Lark, UnexpectedCharacters, UnexpectedInput

from serq.base.errors import LoadError
from serq.base.source import SourceFile, Span
from serq.syntax import ast
from serq.syntax.build import Builder
from serq.syntax.errors import Unexpected


@cache
def automaton() -> Lark:
    """The parser's tables, built once (0.1 s)."""
    return Lark(
        files("serq.syntax").joinpath("grammar.lark").read_text("utf-8"),
        parser="lalr",
        lexer="contextual",
        start=["program", "expr"],
        keep_all_tokens=True,
        maybe_placeholders=True,
        transformer=Builder(),
    )


def parse(source: SourceFile) -> ast.Module:
    """The program's tree; LoadError with every fault that was found."""
    items = cast("tuple[ast.Item, ...]", _run(source, "program"))
    return ast.Module(items, (), source)


def parse_expression(source: SourceFile) -> ast.Expr:
    """A single expression, as in `--set NAME=EXPR`; LoadError when it is none."""
    return cast(ast.Expr, _run(source, "expr"))


def _run(source: SourceFile, start: str) -> object:
    try:
        return automaton().parse(source.text, start=start)
    except UnexpectedInput as error:
        found = "character" if isinstance(error, UnexpectedCharacters) else str(getattr(error, "token", ""))
        span = Span(error.line, error.column, error.line, error.column + 1)
        raise LoadError(source, [Unexpected(span=span, found=found)]) from None

"""Parts of a program in few words, taken from its text."""

import re
from fractions import Fraction

from serq.base.source import Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import NoScope, Rationals, compile_expr
from serq.ir.numbers import short

WIDEST = 44
"""Longer texts are cut: a picture shows the way, the program has the details."""

_TESTS = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


class Words:
    """The words of one program."""

    def __init__(self, program: p.Program) -> None:
        self.program = program
        self._constants = program.exact_constants()

    def text(self, span: Span) -> str:
        """What stands there, on one line; an ellipsis where nothing does."""
        lines = self.program.source.lines[span.line - 1 : span.end_line] if span.line else ()
        if not lines:
            return "…"
        last = lines[-1][: span.end_column - 1]
        whole = [lines[0][span.column - 1 :], *lines[1:-1], last] if len(lines) > 1 else [last[span.column - 1 :]]
        return shortened(re.sub(r"//[^\n]*", "", "\n".join(whole)))

    def expr(self, expr: e.Expr) -> str:
        """The expression as it is written."""
        return self.text(expr.span)

    def folded(self, folded: p.Folded) -> str:
        """A constant: as written, and its value where that is another text."""
        value = short(folded.exact, 6)
        written = self.expr(folded.expr)
        return value if written in (value, "…") or written == str(folded.exact) else f"{written} = {value}"

    def constant(self, expr: e.Expr) -> Fraction | float | None:
        """The value of an expression of numbers and constants; None for any other."""
        if not all(isinstance(x, e.Num | e.Const | e.Unary | e.Binary | e.Cond | e.Call) for x in e.walk(expr)):
            return None
        value = compile_expr(expr, Rationals(), self._constants)(NoScope())
        return value if isinstance(value, Fraction | float) else None

    def is_test(self, expr: e.Expr) -> bool:
        """Whether the expression is plainly a question with the answers yes and no."""
        return (isinstance(expr, e.Binary) and expr.op in _TESTS) or (isinstance(expr, e.Unary) and expr.op == "!")


def shortened(text: str) -> str:
    """The text with single spaces, cut where it is too long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= WIDEST else plain[: WIDEST - 1].rstrip() + "…"

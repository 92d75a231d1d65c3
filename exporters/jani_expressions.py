"""The texts of a counter model as JANI expressions, which are trees.

The texts are PRISM's: `?:`, `|`, `&`, `!`, comparisons, `+ -`, `* /`, functions. Formulas are put in where their names
stand, because JANI has none.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

Tree: TypeAlias = "str | int | bool | dict[str, Tree]"

_TOKEN = re.compile(r"\s*(\d+\.\d+|\d+|[A-Za-z_]\w*|<=|>=|!=|[-+*/<>=!&|?:(),])")
_LEVELS: tuple[Mapping[str, str], ...] = (
    {"|": "∨"},
    {"&": "∧"},
    {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "=": "=", "!=": "≠"},
    {"+": "+", "-": "-"},
    {"*": "*", "/": "/"},
)
"""Binary operators, the loosest first, and what JANI calls them."""
_COMPARISON = 2
_CALLS = {"min": "min", "max": "max", "floor": "floor", "ceil": "ceil", "pow": "pow", "mod": "%"}


class JaniExpressions:
    """Turns texts into trees; `formulas` are the names that stand for texts."""

    def __init__(self, formulas: Mapping[str, str]) -> None:
        self._formulas = {}
        for name, text in formulas.items():
            # Each may use the ones before it.
            self._formulas[name] = self.tree(text)

    def tree(self, text: str) -> Tree:
        """The tree of an expression."""
        reader = _Reader(text, self._formulas)
        out = reader.conditional()
        assert reader.done(), text
        return out


class _Reader:
    def __init__(self, text: str, formulas: Mapping[str, Tree]) -> None:
        self.tokens = _TOKEN.findall(text)
        assert "".join(self.tokens) == "".join(text.split()), text
        self.at = 0
        self.formulas = formulas

    def done(self) -> bool:
        return self.at == len(self.tokens)

    def _take(self, *wanted: str) -> str | None:
        """The next token, where it is one of these."""
        if not self.done() and self.tokens[self.at] in wanted:
            self.at += 1
            return str(self.tokens[self.at - 1])
        return None

    def _want(self, token: str) -> None:
        assert self._take(token), self.tokens

    def conditional(self) -> Tree:
        test = self._binary(0)
        if not self._take("?"):
            return test
        then = self.conditional()
        self._want(":")
        return {"op": "ite", "if": test, "then": then, "else": self.conditional()}

    def _binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self._unary()
        if level == _COMPARISON and self._take("!"):
            return {"op": "¬", "exp": self._unary()}
        left = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            left = {"op": _LEVELS[level][operator], "left": left, "right": self._binary(level + 1)}
        return left

    def _unary(self) -> Tree:
        if self._take("-"):
            return {"op": "-", "left": 0, "right": self._unary()}
        if self._take("("):
            inner = self.conditional()
            self._want(")")
            return inner
        token = str(self.tokens[self.at])
        self.at += 1
        if token[0].isdigit():
            return _number(Fraction(token))
        if token in ("true", "false"):
            return token == "true"
        if token in _CALLS and self._take("("):
            return self._call(token)
        return self.formulas.get(token, token)

    def _call(self, name: str) -> Tree:
        args = [self.conditional()]
        while self._take(","):
            args.append(self.conditional())
        self._want(")")
        operator = _CALLS[name]
        if len(args) == 1:
            return {"op": operator, "exp": args[0]}
        out = args[0]
        for other in args[1:]:
            out = {"op": operator, "left": out, "right": other}
        # A power is a real number in JANI; ours are powers of whole numbers and go into integer variables.
        return {"op": "floor", "exp": out} if name == "pow" else out


def _number(value: Fraction) -> Tree:
    """A number that no reader rounds: a decimal is written as a quotient."""
    if value.denominator == 1:
        return value.numerator
    return {"op": "/", "left": value.numerator, "right": value.denominator}

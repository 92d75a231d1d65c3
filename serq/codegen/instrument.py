"""Checked text for CPython: every operation that can be a fault asks first.

CPython itself has no bounds on whole numbers and takes negative indices, so the tree of each function is rewritten:
`a[i]` becomes `a[_index(a, i, site)]`, `x + y` of `i64` becomes `_word(x + y, site)`, and so on. Lines and columns
stay.
"""

import ast
from collections.abc import Callable
from copy import deepcopy
from types import FunctionType
from typing import Any

from serq.codegen.check import Source
from serq.codegen.errors import FaultError, FaultKind, Site
from serq.codegen.operators import I64_HIGH, I64_LOW
from serq.codegen.tree import Arithmetic, BuiltinCall, Expr, Unary
from serq.codegen.units import place_of

_MOST_SHIFT = 63


def instrumented(sources: list[Source]) -> dict[FunctionType, FunctionType]:
    """The checked form of each function, by the function as it is; they call each other."""
    sites: list[Site] = []
    helpers = _helpers(sites)
    spaces: dict[str, dict[str, object]] = {}
    made: dict[FunctionType, FunctionType] = {}
    for source in sources:
        unit, node = source.unit, source.node
        space = spaces.setdefault(unit.name, {**unit.namespace, **helpers})
        tree = ast.Module([_Rewriter(source, sites).function(_copy(source))], [])
        exec(compile(ast.fix_missing_locations(tree), unit.file, "exec"), space)
        made[unit.namespace[node.name]] = space[node.name]  # type: ignore[index, assignment]
    for space in spaces.values():
        for name, value in space.items():
            if isinstance(value, FunctionType) and value in made:
                space[name] = made[value]
    return made


def _copy(source: Source) -> ast.FunctionDef:
    """The tree of a function, to be rewritten; its nodes remember what they became when they were checked."""
    for node, e in source.typed.items():
        node.typed = e  # type: ignore[attr-defined]
    return deepcopy(source.node)


def _helpers(sites: list[Site]) -> dict[str, Callable[..., Any]]:
    def index(array: Any, i: int, site: int) -> int:
        if not 0 <= i < len(array):
            raise FaultError(sites[site], i, len(array))
        return i

    def ask(good: Callable[[Any], bool]) -> Callable[[Any, int], Any]:
        def asked(x: Any, site: int) -> Any:
            if not good(x):
                raise FaultError(sites[site])
            return x

        return asked

    return {
        "_index": index,
        "_word": ask(lambda x: I64_LOW <= x <= I64_HIGH),
        "_divisor": ask(lambda x: bool(x != 0)),
        "_count": ask(lambda n: 0 <= n <= _MOST_SHIFT),
        "_whole": ask(lambda x: I64_LOW <= x <= I64_HIGH),
        "_root": ask(lambda x: not x < 0.0),
    }


class _Rewriter(ast.NodeTransformer):
    """Puts the questions in; `node.typed` is what a node became when it was checked."""

    def __init__(self, source: Source, sites: list[Site]) -> None:
        self.source = source
        self.sites = sites

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function with another body."""
        node.body = [new for old in node.body for new in _listed(self.visit(old))]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`x op= e` as `x = x op e`, with the index evaluated once."""
        before: list[ast.stmt] = []
        target = node.target
        if isinstance(target, ast.Subscript):
            index = self.visit(target).slice
            before = [_at(node, ast.Assign([ast.Name("_at", ast.Store())], index))]
            target = ast.Subscript(target.value, ast.Name("_at", ast.Load()), ast.Store())
        read = deepcopy(target)
        read.ctx = ast.Load()
        value = self._binary(node, read, node.op, self.visit(node.value), getattr(node, "typed", None))
        return [*before, _at(node, ast.Assign([_at(node, target)], value))]

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """`a[_index(a, i, site)]`."""
        array = deepcopy(node.value)
        index = self._ask("_index", node, "index", array, self.visit(node.slice), name=ast.unparse(node.value))
        return _at(node, ast.Subscript(node.value, index, node.ctx))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """Divisors, shift counts, and results that must stay in range."""
        return self._binary(node, self.visit(node.left), node.op, self.visit(node.right), getattr(node, "typed", None))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """The lowest number has no negative."""
        typed: Expr | None = getattr(node, "typed", None)
        new = self.generic_visit(node)
        if isinstance(typed, Unary) and typed.type == "i64" and typed.op == "-":
            return self._ask("_word", node, "overflow", new)
        return new

    def visit_Call(self, node: ast.Call) -> Any:
        """`int` of what is no `i64`, `sqrt` of what is negative."""
        typed: Expr | None = getattr(node, "typed", None)
        new = self.generic_visit(node)
        assert isinstance(new, ast.Call)
        if isinstance(typed, BuiltinCall) and typed.name == "int":
            new.args = [self._ask("_whole", node, "conversion", new.args[0])]
        elif isinstance(typed, BuiltinCall) and typed.name == "sqrt":
            new.args = [self._ask("_root", node, "domain", new.args[0])]
        return new

    def _binary(self, node: Any, left: Any, op: ast.operator, right: Any, typed: Expr | None) -> Any:
        if not isinstance(typed, Arithmetic):
            return _at(node, ast.BinOp(left, op, right))
        if typed.op in ("/", "//", "%"):
            right = self._ask("_divisor", node, "division", right)
        elif typed.op in ("<<", ">>"):
            right = self._ask("_count", node, "shift", right)
        new = _at(node, ast.BinOp(left, op, right))
        return self._ask("_word", node, "overflow", new) if typed.type == "i64" else new

    def _ask(self, helper: str, node: Any, kind: FaultKind, *arguments: Any, name: str = "") -> Any:
        place = place_of(node)
        source = self.source
        self.sites.append(Site(kind, name, source.node.name, source.unit.file, place.line, place.column))
        number = ast.Constant(len(self.sites) - 1)
        return _at(node, ast.Call(ast.Name(helper, ast.Load()), [*arguments, number], []))


def _at(node: Any, new: Any) -> Any:
    return ast.copy_location(new, node)


def _listed(new: Any) -> list[ast.stmt]:
    return new if isinstance(new, list) else [new]

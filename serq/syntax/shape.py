"""What the grammar cannot say about a tree: its depth, and laws called like functions."""

from collections.abc import Iterator
from typing import Protocol, get_args

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.ir.expr import FunctionName, LawName
from serq.syntax import ast, errors
from serq.syntax.limits import MAX_DEPTH
from serq.syntax.text_errors import TooDeep

ONLY_LAWS = frozenset(get_args(LawName)) - frozenset(get_args(FunctionName))
"""The laws that no function shares its name with."""


class Node(Protocol):
    """Anything in the tree."""

    @property
    def span(self) -> Span:
        """Its place."""
        ...


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below a node, in the order of the text."""
    for value in getattr(node, "__dict__", {}).values():
        if isinstance(value, Span):
            continue
        if isinstance(value, tuple):
            yield from value
        elif hasattr(value, "span"):
            yield value


Tree = Node | tuple[Node, ...]
"""A whole parse: one expression, or the items of a program."""


def shape_faults(tree: Tree) -> list[Diagnostic]:
    """The faults of a tree: an expression that is nested too deep, a law without its `~`."""
    faults: list[Diagnostic] = []
    roots = tree if isinstance(tree, tuple) else (tree,)
    pending = [(node, node, 1) for node in roots]
    while pending:
        node, whole, depth = pending.pop()
        if depth > MAX_DEPTH:
            return [TooDeep(span=whole.span, limit=MAX_DEPTH)]
        if isinstance(node, ast.Call) and node.name in ONLY_LAWS:
            faults.append(errors.DrawWithoutTilde(span=node.name_span, law=node.name))
        inside = isinstance(whole, ast.Expr)
        pending += [(child, whole if inside else child, depth + 1) for child in children(node)]
    return faults

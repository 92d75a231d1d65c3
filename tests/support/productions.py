"""Which productions of the grammar a program is made of."""

from collections.abc import Callable, Mapping
from typing import Any

from serq.base.source import SourceFile
from serq.syntax.automaton import automaton
from serq.syntax.parser import _Run
from serq.syntax.scan import scan


def all_productions() -> dict[str, Any]:
    """Every alternative of every rule, by its text; optional parts and repetitions written out."""
    callbacks = automaton().begin("program").parser_state.parse_conf.callbacks
    return {_text(rule): rule for rule in callbacks}


def productions(text: str) -> set[str]:
    """The alternatives that the parse of a program reduces by."""
    run = automaton().begin("program")
    seen: set[str] = set()
    conf = run.parser_state.parse_conf
    conf.callbacks = _Recording(conf.callbacks, seen)
    assert _Run(scan(SourceFile("program.sq", text)).tokens, run, set()).finish() is not None
    return seen


class _Recording(dict[Any, Callable[..., Any]]):
    """The parser's callbacks; asking for one means to reduce by its rule."""

    def __init__(self, callbacks: Mapping[Any, Callable[..., Any]], seen: set[str]) -> None:
        super().__init__(callbacks)
        self._seen = seen

    def __getitem__(self, rule: Any) -> Callable[..., Any]:
        self._seen.add(_text(rule))
        return super().__getitem__(rule)


def _text(rule: Any) -> str:
    """`rule: symbols`, keywords and symbols as they are written."""
    literals = automaton().literals
    symbols = " ".join(repr(literals[s.name]) if s.name in literals else s.name for s in rule.expansion)
    return f"{rule.origin.name}: {symbols}"

"""Text to AST: the automaton is fed token by token, and goes on after a fault where it can."""

from dataclasses import dataclass, field
from typing import cast

from lark import Token, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LoadError
from serq.base.source import SourceFile, Span
from serq.syntax import ast
from serq.syntax.automaton import Start, automaton
from serq.syntax.explain import Mend, explain
from serq.syntax.limits import MAX_FAULTS, MAX_TEXT
from serq.syntax.recover import after_panic, symbol
from serq.syntax.scan import scan
from serq.syntax.shape import Tree, shape_faults
from serq.syntax.situation import END, situation
from serq.syntax.text_errors import TooLarge


def parse(source: SourceFile) -> ast.Module:
    """The tree of a program.

    Raises LoadError with every syntax fault that was found, in the order of the text.
    """
    items, comments = _tree(source, "program")
    return ast.Module(cast("tuple[ast.Item, ...]", items), comments, source)


def parse_expression(source: SourceFile) -> ast.Expr:
    """The tree of a single expression, as in `--set NAME=EXPR`; LoadError when it is none."""
    return cast(ast.Expr, _tree(source, "expr")[0])


def _tree(source: SourceFile, start: Start) -> tuple[object, tuple[ast.Comment, ...]]:
    _refuse_large(source)
    read = scan(source)
    tree = None
    faults = list(read.faults)
    if read.sound:
        run = _Run(read.tokens, automaton().begin(start), {fault.span.line for fault in faults})
        tree = run.finish()
        faults += run.faults
    if tree is not None and not faults:
        faults += shape_faults(cast(Tree, tree))
    if faults:
        raise LoadError(source, sorted(faults, key=lambda fault: fault.span)[:MAX_FAULTS])
    return tree, read.comments


def _refuse_large(source: SourceFile) -> None:
    if len(source.text) > MAX_TEXT // 4 and len(source.text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise LoadError(source, [TooLarge(span=Span(1, 1, 1, 2), limit=MAX_TEXT)])


@dataclass
class _Run:
    """One parse. `muted` are the lines of faults that the scanner found: a second one there would come of the first."""

    tokens: list[Token]
    parse: InteractiveParser
    muted: set[int]
    faults: list[Diagnostic] = field(default_factory=list)
    previous: Token | None = None
    stuck: int = -1
    """The token at which the parse last panicked: at no token does it panic twice."""

    def finish(self) -> object:
        """Feed every token and the end; the value of the whole, or None after a fault."""
        known = automaton()
        keywords = known.terminals
        states = self.parse.parser_state.parse_conf.states
        state = self.parse.parser_state
        tokens = [*self.tokens, self._end()]
        result: object = None
        i = 0
        while i < len(tokens) and len(self.faults) < MAX_FAULTS:
            token = tokens[i]
            if token.type == "NAME":
                keyword = keywords.get(token)
                if keyword in states[state.position]:
                    token = token.update(type=keyword)
            try:
                result = state.feed_token(token, token.type == END)
            except UnexpectedToken:
                i = self._mend(tokens, i, token)
            else:
                self.previous = token
                i += 1
        return None if self.faults else result

    def _end(self) -> Token:
        if not self.tokens:
            return Token(END, "", 0, 1, 1, 1, 2)
        last = self.tokens[-1]
        column = last.end_column or 0
        return Token(END, "", last.end_pos, last.end_line, column, last.end_line, column + 1)

    def _mend(self, tokens: list[Token], i: int, token: Token) -> int:
        """Report the fault and set the parse up to go on; the index of the next token to read."""
        following = tokens[min(i + 1, len(tokens) - 1)]
        there = situation(self.parse, token, self.previous, following)
        fault, mend = explain(there)
        if fault.span.line not in self.muted:
            self.faults.append(fault)
        if mend.way not in ("resume", "panic"):
            return self._repair(mend, i, token)
        if there.place is None or i == self.stuck:
            return len(tokens)
        self.stuck = i
        return after_panic(self.parse, there, tokens, i, resume=mend.way == "resume")

    def _repair(self, mend: Mend, i: int, token: Token) -> int:
        if mend.way != "skip":
            self.previous = symbol(mend.symbol, token)
            self.parse.feed_token(self.previous)
        return i if mend.way == "insert" else i + 1

"""From reductions of the grammar to the AST: one method for each rule, called by the parser bottom-up.

The parser keeps every token, so the children of a rule are its symbols in the order of the grammar (an absent
`[part]` is None) and a node's span runs from the first child to the last.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lark import Token, Transformer

from serq.base.source import Span
from serq.syntax import ast

Children = list[Any]
"""Tokens, nodes, `Held` values and None: what the symbols of one rule were reduced to."""


@dataclass(frozen=True, slots=True)
class Held:
    """What stands between brackets or after a keyword, with the span of the whole."""

    value: Any
    span: Span


def token_span(token: Token) -> Span:
    """The place of a token; no token runs over a line's end."""
    return Span(token.line or 0, token.column or 0, token.end_line or 0, token.end_column or 0)


def _place(child: Any) -> Span:
    return token_span(child) if isinstance(child, Token) else child.span


def _span(children: Children) -> Span:
    last = next(child for child in reversed(children) if child is not None)
    return _place(children[0]).to(_place(last))


def _value(held: Held | None) -> Any:
    return held.value if held else None


def _nodes(children: Children) -> tuple[Any, ...]:
    return tuple(child for child in children if child is not None and not isinstance(child, Token))


class Builder(Transformer[Token, Any]):
    """The callbacks. They hold no state, so one automaton serves every parse."""

    # -- items

    def program(self, c: Children) -> tuple[ast.Item, ...]:
        """`item*`."""
        return tuple(c)

    def let(self, c: Children) -> ast.Let:
        """`let NAME = expr ;`."""
        return ast.Let(c[1].value, c[3], token_span(c[1]), span=_span(c))

    def gauge(self, c: Children) -> ast.Gauge:
        """`gauge NAME = expr ;`."""
        return ast.Gauge(c[1].value, c[3], token_span(c[1]), span=_span(c))

    def session(self, c: Children) -> ast.Session:
        """`session block`."""
        return ast.Session(c[1], span=_span(c))

    def pool(self, c: Children) -> ast.Pool:
        """`pool NAME [index] { option* }`."""
        return ast.Pool(c[1].value, _value(c[2]), tuple(c[4:-1]), token_span(c[1]), span=_span(c))

    def option_value(self, c: Children) -> ast.PoolOption:
        """`cap expr ;` or `block expr ;`."""
        return ast.PoolOption(c[0].value, None, (c[1],), span=_span(c))

    def option_word(self, c: Children) -> ast.PoolOption:
        """`evict lru ;` and its like."""
        return ast.PoolOption(c[0].value, c[1].value, (), token_span(c[1]), span=_span(c))

    def option_keys(self, c: Children) -> ast.PoolOption:
        """`evict by ( expr, ... ) ;`, or `queue by` or `preempt by`."""
        return ast.PoolOption(c[0].value, c[1].value, c[2].value, token_span(c[1]), span=_span(c))

    def option_via(self, c: Children) -> ast.PoolOption:
        """`admit via STAGE ;`."""
        return ast.PoolOption(c[0].value, c[2].value, (), token_span(c[2]), span=_span(c))

    def option_spill(self, c: Children) -> ast.SpillOption:
        """`spill POOL via STAGE ( work ) when ( condition ) ;`."""
        return ast.SpillOption(c[1], c[3], c[4].value, c[6].value, span=_span(c))

    def stage(self, c: Children) -> ast.Stage:
        """`stage NAME [index] : fifo [amount] ;`, or `ps` or `delay`."""
        kind, argument = c[4], c[5] if isinstance(c[5], Held) else None
        return ast.Stage(c[1].value, _value(c[2]), kind.value, _value(argument), (), token_span(c[1]), span=_span(c))

    def step_stage(self, c: Children) -> ast.Stage:
        """`stage NAME [index] : step { option* } [;]`."""
        return ast.Stage(c[1].value, _value(c[2]), "step", None, _nodes(c[6:]), token_span(c[1]), span=_span(c))

    def step_value(self, c: Children) -> ast.StepOption:
        """`budget expr ;`, `cost expr ;` or `chunk expr ;`."""
        return ast.StepOption(c[0].value, c[1], span=_span(c))

    def step_switch(self, c: Children) -> ast.StepOption:
        """`exclusive prefill ;`, `decode first ;` or `plan ahead ;`."""
        return ast.StepOption(c[0].value, None, c[1].value, token_span(c[1]), span=_span(c))

    step_memory = step_switch

    def workload(self, c: Children) -> ast.Workload:
        """`workload { item* }`."""
        return ast.Workload(tuple(c[2:-1]), span=_span(c))

    def arrive(self, c: Children) -> ast.Arrive:
        """`arrive KIND amount [limit] ;`."""
        limit = c[3] if isinstance(c[3], Held) else None
        return ast.Arrive(c[1].value, c[2].value, _value(limit), span=_span(c))

    def arrive_plain(self, c: Children) -> ast.Arrive:
        """`arrive none ;` or `arrive trace ;`."""
        return ast.Arrive(c[1].value, None, None, span=_span(c))

    def trace(self, c: Children) -> ast.Trace:
        """`trace "FILE.csv" [ordered] [with] ;`."""
        columns = () if c[3] is None else c[3].value
        return ast.Trace(c[1].value[1:-1], c[2] is not None, columns, span=_span(c))

    def workload_block(self, c: Children) -> ast.WorkloadBlock:
        """`init block` or `turn block`."""
        return ast.WorkloadBlock(c[0].value, c[1], span=_span(c))

    def run_block(self, c: Children) -> ast.RunBlock:
        """`run { option* }`."""
        return ast.RunBlock(tuple(c[2:-1]), span=_span(c))

    def run_option(self, c: Children) -> ast.RunOption:
        """`horizon expr ;`, `warmup expr ;` or `seed expr ;`."""
        return ast.RunOption(c[0].value, c[1], span=_span(c))

    # -- statements

    def block(self, c: Children) -> ast.Block:
        """`{ statement* }`."""
        return ast.Block(tuple(c[1:-1]), span=_span(c))

    def turn(self, c: Children) -> ast.Turn:
        """`turn ;`."""
        return ast.Turn(span=_span(c))

    def end(self, c: Children) -> ast.End:
        """`end ;`."""
        return ast.End(span=_span(c))

    def set(self, c: Children) -> ast.Set:
        """`set NAME = expr ;`."""
        return ast.Set(c[1].value, c[3], token_span(c[1]), span=_span(c))

    def observe(self, c: Children) -> ast.Observe:
        """`observe NAME = expr ;`."""
        return ast.Observe(c[1].value, c[3], token_span(c[1]), span=_span(c))

    def hold(self, c: Children) -> ast.Hold:
        """`hold part, ... [reuse] block [cache ;]`."""
        parts = tuple(child for child in c if isinstance(child, ast.HoldPart))
        at = next(i for i, child in enumerate(c) if isinstance(child, ast.Block))
        cache = c[at + 1] if isinstance(c[at + 1], Held) else None
        return ast.Hold(parts, _value(c[at - 1]), c[at], _value(cache), span=_span(c))

    def hold_part(self, c: Children) -> ast.HoldPart:
        """`PREF amount [reserve]`."""
        return ast.HoldPart(c[0], c[1].value, _value(c[2]), span=_span(c))

    def grow(self, c: Children) -> ast.Grow:
        """`grow PREF amount ;`."""
        return ast.Grow(c[1], c[2].value, span=_span(c))

    def drop(self, c: Children) -> ast.Drop:
        """`drop PREF ;`."""
        return ast.Drop(c[1], span=_span(c))

    def run(self, c: Children) -> ast.Run:
        """`run SREF [phase] amount [growing] ;`."""
        phase = c[2].value if c[2] else None
        return ast.Run(c[1], phase, c[3].value, _value(c[4]), span=_span(c))

    def branch(self, c: Children) -> ast.Branch:
        """`branch [with] amount block [else block]`."""
        return ast.Branch(c[2].value, c[3], c[5], span=_span(c))

    def loop(self, c: Children) -> ast.Loop:
        """`loop block`."""
        return ast.Loop(c[1], span=_span(c))

    def choose(self, c: Children) -> ast.Choose:
        """`choose NAME in expr by keys ;`."""
        return ast.Choose(c[1].value, c[3], c[5].value, token_span(c[1]), span=_span(c))

    # -- parts

    def ref(self, c: Children) -> ast.Reference:
        """`NAME [index]`."""
        return ast.Reference(c[0].value, _value(c[1]), span=_span(c))

    def inner(self, c: Children) -> Held:
        """An expression in brackets."""
        return Held(c[1], _span(c))

    def clause(self, c: Children) -> Held:
        """A keyword and what follows it."""
        return Held(c[1] if isinstance(c[1], ast.Reference) else c[1].value, _span(c))

    def keys(self, c: Children) -> Held:
        """`( expr, ... )`."""
        return Held(_nodes(c), _span(c))

    def names(self, c: Children) -> Held:
        """`( NAME, ... )`."""
        return Held(tuple(self.name([token]) for token in c if token.type == "NAME"), _span(c))

    # -- expressions

    def number(self, c: Children) -> ast.Number:
        """A literal."""
        return ast.Number(Fraction(c[0].replace("_", "")), c[0].value, span=_span(c))

    def infinity(self, c: Children) -> ast.Number:
        """`inf`."""
        return ast.Number(None, c[0].value, span=_span(c))

    def name(self, c: Children) -> ast.Name:
        """A name in an expression."""
        return ast.Name(c[0].value, span=_span(c))

    def unary(self, c: Children) -> ast.Unary:
        """`-x` or `!x`."""
        return ast.Unary(c[0].value, c[1], span=_span(c))

    def binary(self, c: Children) -> ast.Binary:
        """`left op right`."""
        return ast.Binary(c[1].value, c[0], c[2], span=_span(c))

    def ternary(self, c: Children) -> ast.Ternary:
        """`test ? then : otherwise`."""
        return ast.Ternary(c[0], c[2], c[4], span=_span(c))

    def group(self, c: Children) -> ast.Expr:
        """`( expr )`: the expression itself, its span widened to the parentheses."""
        expr: ast.Expr = c[1]
        return replace(expr, span=_span(c))

    def member(self, c: Children) -> ast.Member:
        """`NAME [ index ]` as an argument."""
        return ast.Member(c[0].value, c[2], span=_span(c))

    def call(self, c: Children) -> ast.Call:
        """`NAME ( argument, ... )`."""
        return ast.Call(c[0].value, _nodes(c), token_span(c[0]), span=_span(c))

    def pair(self, c: Children) -> tuple[ast.Expr, ast.Expr]:
        """`value : weight`."""
        return c[0], c[2]

    def draw(self, c: Children) -> ast.Draw:
        """`~ LAW ( argument, ... )`; the pairs of `choice` are laid flat."""
        args: list[ast.Expr] = []
        for node in _nodes(c):
            args += node if isinstance(node, tuple) else (node,)
        return ast.Draw(c[1].value, tuple(args), token_span(c[1]), span=_span(c))

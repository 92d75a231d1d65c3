"""The abstract syntax tree: what was written, with spans, before any name is resolved.

Everything a user can write has its node, so that the printer can give the program back; comments are kept beside the
tree (`Module.comments`).
"""

from dataclasses import field
from fractions import Fraction
from typing import Literal

from serq.base.frozen import Frozen
from serq.base.source import NOWHERE, SourceFile, Span

# -- expressions -----------------------------------------------------------------------------------------------------


class Number(Frozen):
    """A literal: its exact value and its text. `inf` has value None."""

    value: Fraction | None
    text: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Name(Frozen):
    """A name in an expression: a let, an attribute, a built-in, a context variable, a pool or a stage."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Unary(Frozen):
    """`-x` or `!x`."""

    op: str
    operand: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Binary(Frozen):
    """`left op right`."""

    op: str
    left: "Expr"
    right: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Ternary(Frozen):
    """`test ? then : otherwise`."""

    test: "Expr"
    then: "Expr"
    otherwise: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Member(Frozen):
    """`NAME[index]`, as an argument of an observable."""

    name: str
    index: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Call(Frozen):
    """`name(args)`: a function, an observable, or `price`."""

    name: str
    args: "tuple[Expr, ...]"
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Draw(Frozen):
    """`~law(args)`. For `choice` the arguments alternate value, weight."""

    law: str
    args: "tuple[Expr, ...]"
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Expr = Number | Name | Unary | Binary | Ternary | Member | Call | Draw


class Reference(Frozen):
    """PREF or SREF: `NAME` or `NAME[index]`."""

    name: str
    index: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# -- session ---------------------------------------------------------------------------------------------------------


class Block(Frozen):
    """`{ statements }`."""

    statements: "tuple[Statement, ...]"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Turn(Frozen):
    """`turn;`."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Set(Frozen):
    """`set NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Observe(Frozen):
    """`observe NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class HoldPart(Frozen):
    """`PREF (units) [reserve (reserve)]`."""

    pool: Reference
    units: Expr
    reserve: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Hold(Frozen):
    """`hold parts [reuse (reuse)] { body } [cache (cache);]`."""

    parts: tuple[HoldPart, ...]
    reuse: Expr | None
    body: Block
    cache: Expr | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Grow(Frozen):
    """`grow PREF (units);`."""

    pool: Reference
    units: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Drop(Frozen):
    """`drop PREF;`."""

    pool: Reference
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Run(Frozen):
    """`run SREF [prefill | decode] (work) [growing PREF];`."""

    stage: Reference
    phase: Literal["prefill", "decode"] | None
    work: Expr
    growing: Reference | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Branch(Frozen):
    """`branch [with] (probability) { then } [else { otherwise }]`."""

    probability: Expr
    then: Block
    otherwise: Block | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Loop(Frozen):
    """`loop { body }`."""

    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Choose(Frozen):
    """`choose NAME in count by (keys);`."""

    name: str
    count: Expr
    keys: tuple[Expr, ...]
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class End(Frozen):
    """`end;`."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Statement = Turn | Set | Observe | Hold | Grow | Drop | Run | Branch | Loop | Choose | End


# -- items -----------------------------------------------------------------------------------------------------------


class Let(Frozen):
    """`let NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class PoolOption(Frozen):
    """One option of a pool: `name` is its keyword (`cap`, `block`, `evict`, `preempt`, `queue`, `admit`, `pin`).

    `word` is what follows the keyword where that is a word (`lru`, `by`, `none`, `lifo`, `fifo`, `waiting`, or the
    stage's name after `admit via`); `values` are the expressions.
    """

    name: str
    word: str | None
    values: tuple[Expr, ...]
    word_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class SpillOption(Frozen):
    """`spill POOL via STAGE (work) when (condition);`."""

    tier: Reference
    via: Reference
    work: Expr
    when: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Pool(Frozen):
    """`pool NAME [size] { options }`."""

    name: str
    size: Expr | None
    options: tuple[PoolOption | SpillOption, ...]
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class StepOption(Frozen):
    """One option of a step stage: `budget`, `cost`, `chunk` (with `value`), `memory` (with `word`, the pool),
    `exclusive prefill`, `decode first`, `plan ahead`.
    """

    name: str
    value: Expr | None
    word: str | None = None
    word_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Stage(Frozen):
    """`stage NAME [size] : kind`. `kind` is the word; `argument` what `fifo` and `ps` take."""

    name: str
    size: Expr | None
    kind: Literal["fifo", "ps", "delay", "step"]
    argument: Expr | None = None
    options: tuple[StepOption, ...] = ()
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Gauge(Frozen):
    """`gauge NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Arrive(Frozen):
    """`arrive KIND (amount) [limit (limit)];`; `none` and `trace` take no amount."""

    kind: Literal["poisson", "renewal", "closed", "batch", "none", "trace"]
    amount: Expr | None
    limit: Expr | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Trace(Frozen):
    """`trace "path" [ordered] [with (columns)];`."""

    path: str
    ordered: bool
    columns: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class WorkloadBlock(Frozen):
    """`init { ... }` or `turn { ... }`."""

    name: Literal["init", "turn"]
    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Workload(Frozen):
    """`workload { items }`."""

    items: tuple[Arrive | Trace | WorkloadBlock, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Session(Frozen):
    """`session { ... }`."""

    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class RunOption(Frozen):
    """`horizon value;`, `warmup value;` or `seed value;`."""

    name: Literal["horizon", "warmup", "seed"]
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class RunBlock(Frozen):
    """`run { options }`."""

    options: tuple[RunOption, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Item = Let | Pool | Stage | Gauge | Workload | Session | RunBlock


class Comment(Frozen):
    """A comment with its `//`; `alone` when nothing else stands on its line."""

    text: str
    alone: bool
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


class Module(Frozen):
    """A parsed program. Two modules are equal when their items are, wherever these stand."""

    items: tuple[Item, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    source: SourceFile = field(default=SourceFile("<memory>", ""), compare=False)

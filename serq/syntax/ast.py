"""The abstract syntax tree: what was written, with spans, before any name is resolved.

Everything a user can write has its node, so that the printer can give the program back; comments are kept beside the
tree (`Module.comments`).
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from serq.base.source import NOWHERE, SourceFile, Span

# -- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A literal: its exact value and its text. `inf` has value None."""

    value: Fraction | None
    text: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in an expression: a let, an attribute, a built-in, a context variable, a pool or a stage."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `!x`."""

    op: str
    operand: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`."""

    op: str
    left: "Expr"
    right: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Ternary:
    """`test ? then : otherwise`."""

    test: "Expr"
    then: "Expr"
    otherwise: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Member:
    """`NAME[index]`, as an argument of an observable."""

    name: str
    index: "Expr"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Call:
    """`name(args)`: a function, an observable, or `price`."""

    name: str
    args: "tuple[Expr, ...]"
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Draw:
    """`~law(args)`. For `choice` the arguments alternate value, weight."""

    law: str
    args: "tuple[Expr, ...]"
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Expr = Number | Name | Unary | Binary | Ternary | Member | Call | Draw


@dataclass(frozen=True, slots=True)
class Reference:
    """PREF or SREF: `NAME` or `NAME[index]`."""

    name: str
    index: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# -- session ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """`{ statements }`."""

    statements: "tuple[Statement, ...]"
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Turn:
    """`turn;`."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Set:
    """`set NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Observe:
    """`observe NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class HoldPart:
    """`PREF (units) [reserve (reserve)]`."""

    pool: Reference
    units: Expr
    reserve: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Hold:
    """`hold parts [reuse (reuse)] { body } [cache (cache);]`."""

    parts: tuple[HoldPart, ...]
    reuse: Expr | None
    body: Block
    cache: Expr | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Grow:
    """`grow PREF (units);`."""

    pool: Reference
    units: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Drop:
    """`drop PREF;`."""

    pool: Reference
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Run:
    """`run SREF [prefill | decode] (work) [growing PREF];`."""

    stage: Reference
    phase: Literal["prefill", "decode"] | None
    work: Expr
    growing: Reference | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Branch:
    """`branch [with] (probability) { then } [else { otherwise }]`."""

    probability: Expr
    then: Block
    otherwise: Block | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Loop:
    """`loop { body }`."""

    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Choose:
    """`choose NAME in count by (keys);`."""

    name: str
    count: Expr
    keys: tuple[Expr, ...]
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class End:
    """`end;`."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Statement = Turn | Set | Observe | Hold | Grow | Drop | Run | Branch | Loop | Choose | End


# -- items -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    """`let NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PoolOption:
    """One option of a pool: `name` is its keyword (`cap`, `block`, `evict`, `preempt`, `queue`, `admit`, `pin`).

    `word` is what follows the keyword where that is a word (`lru`, `by`, `none`, `lifo`, `fifo`, `waiting`, or the
    stage's name after `admit via`); `values` are the expressions.
    """

    name: str
    word: str | None
    values: tuple[Expr, ...]
    word_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SpillOption:
    """`spill POOL via STAGE (work) when (condition);`."""

    tier: Reference
    via: Reference
    work: Expr
    when: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Pool:
    """`pool NAME [size] { options }`."""

    name: str
    size: Expr | None
    options: tuple[PoolOption | SpillOption, ...]
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class StepOption:
    """One option of a step stage: `budget`, `cost`, `chunk` (with `value`), `memory` (with `word`, the pool),
    `exclusive prefill`, `decode first`, `plan ahead`.
    """

    name: str
    value: Expr | None
    word: str | None = None
    word_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Stage:
    """`stage NAME [size] : kind`. `kind` is the word; `argument` what `fifo` and `ps` take."""

    name: str
    size: Expr | None
    kind: Literal["fifo", "ps", "delay", "step"]
    argument: Expr | None = None
    options: tuple[StepOption, ...] = ()
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Gauge:
    """`gauge NAME = value;`."""

    name: str
    value: Expr
    name_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Arrive:
    """`arrive KIND (amount) [limit (limit)];`; `none` and `trace` take no amount."""

    kind: Literal["poisson", "renewal", "closed", "batch", "none", "trace"]
    amount: Expr | None
    limit: Expr | None
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Trace:
    """`trace "path" [ordered] [with (columns)];`."""

    path: str
    ordered: bool
    columns: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class WorkloadBlock:
    """`init { ... }` or `turn { ... }`."""

    name: Literal["init", "turn"]
    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Workload:
    """`workload { items }`."""

    items: tuple[Arrive | Trace | WorkloadBlock, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Session:
    """`session { ... }`."""

    body: Block
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class RunOption:
    """`horizon value;`, `warmup value;` or `seed value;`."""

    name: Literal["horizon", "warmup", "seed"]
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class RunBlock:
    """`run { options }`."""

    options: tuple[RunOption, ...]
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


Item = Let | Pool | Stage | Gauge | Workload | Session | RunBlock


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its `//`; `alone` when nothing else stands on its line."""

    text: str
    alone: bool
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True)
class Module:
    """A parsed program. Two modules are equal when their items are, wherever these stand."""

    items: tuple[Item, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    source: SourceFile = field(default=SourceFile("<memory>", ""), compare=False)

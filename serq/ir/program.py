"""The linked program: what the linker makes, what every back end reads, and nothing else.

The session is a flat list of instructions: a continuation is an index into it, structure is jumps, and a data-flow
analysis is a loop. `Hold` and `Release` bracket a scope; the linker guarantees that they nest.
"""

from dataclasses import field
from fractions import Fraction
from typing import Literal

from serq.base.frozen import Frozen
from serq.base.source import NOWHERE, SourceFile, Span
from serq.ir.expr import Expr, Number, Ref


class Folded(Frozen):
    """An expression with a constant value: the text it came from, and the value in both arithmetics.

    `exact` is a rational, or a double where no rational exists (inf, irrational functions); `value` is what IEEE
    double arithmetic gives.
    """

    expr: Expr
    exact: Number
    value: float


class Constant(Frozen):
    """A `let`, after `--set`."""

    name: str
    folded: Folded
    overridden: bool
    span: Span = field(default=NOWHERE, compare=False)


# -- deployment ------------------------------------------------------------------------------------------------------


class Spill(Frozen):
    """`spill TIER via STAGE (work) when (condition)`: what happens to an evicted entry."""

    tier: int
    via: int
    work: Expr
    when: Expr
    span: Span = field(default=NOWHERE, compare=False)


class Pool(Frozen):
    """A counted resource with an optional prefix cache. Members of an array `kv[3]` are `kv[0]`, `kv[1]`, `kv[2]`.

    `block` is None where units are allocated one by one. `evict` empty means least recently released first; `queue`
    empty means first come first served. `victims` are the keys of `preempt by`: the smallest is preempted first.
    """

    name: str
    cap: Folded
    block: Folded | None
    evict: tuple[Expr, ...]
    preempt: Literal["none", "lifo", "by"]
    victims: tuple[Expr, ...]
    queue: tuple[Expr, ...]
    admit_via: int | None
    pin_waiting: bool
    spill: Spill | None
    span: Span = field(default=NOWHERE, compare=False)


class Fifo(Frozen):
    """`servers` servers, first come first served, each at rate 1."""

    servers: Folded


class ProcessorSharing(Frozen):
    """Total rate `rate` (reads `n`), shared equally by the n jobs present."""

    rate: Expr


class Delay(Frozen):
    """Every job alone at rate 1."""


class Step(Frozen):
    """Iterations of at most `budget` tokens that last `cost`. `chunk` None: no cap. `memory`: place of a pool.

    `plan_ahead`: an iteration is put together before the outcome of the one before it is known.
    """

    budget: Expr
    cost: Expr
    chunk: Expr | None
    exclusive_prefill: bool
    decode_first: bool
    plan_ahead: bool
    memory: int | None


StageKind = Fifo | ProcessorSharing | Delay | Step


class Stage(Frozen):
    """A place where sessions spend time. Members of an array are separate stages, `s[0]`, `s[1]`, ..."""

    name: str
    kind: StageKind
    span: Span = field(default=NOWHERE, compare=False)


class Gauge(Frozen):
    """A function of the state whose time average is reported."""

    name: str
    expr: Expr
    span: Span = field(default=NOWHERE, compare=False)


# -- workload --------------------------------------------------------------------------------------------------------


class Poisson(Frozen):
    """Arrivals at exponential gaps, the first at time 0. `limit`: one that finds that many present is lost."""

    rate: Folded
    limit: Folded | None


class Renewal(Frozen):
    """Arrivals at independent gaps (may draw), the first after one gap."""

    gap: Expr
    limit: Folded | None


class Closed(Frozen):
    """A fixed population; an ended session is replaced at once."""

    population: Folded


class Batch(Frozen):
    """That many sessions at time 0, and no more."""

    size: Folded


class FromTrace(Frozen):
    """One session for each session of the trace, which it replays, at the start recorded there (0 where none is)."""


class NoArrivals(Frozen):
    """No sessions arrive."""


Arrivals = Poisson | Renewal | Closed | Batch | FromTrace | NoArrivals

TRACE_ATTRIBUTES = ("new", "out", "think", "more", "forced")
"""The attributes that `turn` sets when the workload has a trace, whichever it is."""


class Trace(Frozen):
    """A file of sessions to replay: in the file's order, or each drawn at random.

    `columns` are further columns that the file must have; each becomes an attribute that `turn` sets.
    """

    path: str
    ordered: bool
    columns: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)


# -- session ---------------------------------------------------------------------------------------------------------


class Turn(Frozen):
    """The next turn begins: `turn_no` grows, the trace gives its row, the workload's `turn` block runs."""

    span: Span = field(default=NOWHERE, compare=False)


class Set(Frozen):
    """`set NAME = expr`."""

    name: str
    expr: Expr
    span: Span = field(default=NOWHERE, compare=False)


class Observe(Frozen):
    """`observe NAME = expr`."""

    name: str
    expr: Expr
    span: Span = field(default=NOWHERE, compare=False)


class HoldPart(Frozen):
    """One pool of a hold. `reserve` None: nothing beyond the units."""

    pool: Ref
    units: Expr
    reserve: Expr | None
    span: Span = field(default=NOWHERE, compare=False)


class Hold(Frozen):
    """Wait until every part fits, then allocate. The body is what follows, up to the `Release` at `release`.

    `reuse` None: the whole own entry is consumed. The queue joined is that of the first part's pool.
    """

    parts: tuple[HoldPart, ...]
    reuse: Expr | None
    release: int
    span: Span = field(default=NOWHERE, compare=False)


class Release(Frozen):
    """The end of the body of the hold at `hold`. `cache` None: nothing stays cached."""

    hold: int
    cache: Expr | None
    span: Span = field(default=NOWHERE, compare=False)


class Grow(Frozen):
    """Enlarge the innermost hold on the pool."""

    pool: Ref
    units: Expr
    span: Span = field(default=NOWHERE, compare=False)


class Drop(Frozen):
    """Discard the session's own entry in the pool."""

    pool: Ref
    span: Span = field(default=NOWHERE, compare=False)


class Run(Frozen):
    """Spend `work` at a stage. `phase` is None except on a step stage; `growing` names the pool that grows along."""

    stage: Ref
    phase: Literal["prefill", "decode"] | None
    work: Expr
    growing: Ref | None
    span: Span = field(default=NOWHERE, compare=False)


class Branch(Frozen):
    """Go on to the next instruction with that probability, else to `otherwise`.

    A branch that is an `event` is made for pairs of runs, no program says it: a simulation draws nothing there, goes on
    to the next one, and to `otherwise` at the one passage, of all sessions together, that its settings name.
    """

    probability: Expr
    otherwise: int
    span: Span = field(default=NOWHERE, compare=False)
    event: bool = False


class Jump(Frozen):
    """Go to `target`."""

    target: int
    span: Span = field(default=NOWHERE, compare=False)


class Choose(Frozen):
    """Set `name` to the index in 0..count-1 with the smallest keys, ties to the smallest index."""

    name: str
    count: Expr
    keys: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False)


class End(Frozen):
    """The session ends: its holds are released, its cached prefixes stay."""

    span: Span = field(default=NOWHERE, compare=False)


Instruction = Turn | Set | Observe | Hold | Release | Grow | Drop | Run | Branch | Jump | Choose | End


class RunSettings(Frozen):
    """What the `run` block says; None where it is silent."""

    horizon: Folded | None = None
    warmup: Folded | None = None
    seed: Folded | None = None


class Program(Frozen):
    """A linked, checked program. Back ends may assume everything that `serq.check` promises.

    `init` and `turn` are the workload's blocks (only `Set` and `Observe`); `code` is the session, and ends in an
    `End` or a `Jump` on every path. `attributes` lists every attribute name, trace attributes included when there is
    a trace; `observes` lists the observe names in the order of their first appearance.
    """

    source: SourceFile
    name: str
    constants: tuple[Constant, ...]
    pools: tuple[Pool, ...]
    stages: tuple[Stage, ...]
    gauges: tuple[Gauge, ...]
    arrivals: Arrivals
    trace: Trace | None
    init: tuple[Set | Observe, ...]
    turn: tuple[Set | Observe, ...]
    code: tuple[Instruction, ...]
    attributes: tuple[str, ...]
    observes: tuple[str, ...]
    run: RunSettings

    @property
    def traced(self) -> tuple[str, ...]:
        """The attributes that `turn` sets from the trace; none where there is none."""
        return () if self.trace is None else (*TRACE_ATTRIBUTES, *self.trace.columns)

    def constant(self, name: str) -> Constant:
        """The `let` of that name; KeyError when there is none."""
        for constant in self.constants:
            if constant.name == name:
                return constant
        raise KeyError(name)

    def exact_constants(self) -> dict[str, Number]:
        """The constants by name, as rationals where they are rational."""
        return {c.name: c.folded.exact for c in self.constants}


def whole(folded: Folded) -> int:
    """The value of a constant that the linker has checked to be a whole number (servers, populations, blocks)."""
    return int(Fraction(folded.exact))

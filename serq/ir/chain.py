"""A Markov chain as plain data: what the explorer makes, what solvers and explicit exports read.

State i is `states[i]`, a text that a person can read. Rewards come in two kinds and carry the name of what they count:
a state reward is earned per unit of time in a state, an impulse reward at a transition. A measure of
`serq.ir.measures` is a ratio of long-run reward rates (`Ratio`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from serq.ir.expr import Number


@dataclass(frozen=True, slots=True)
class Transition:
    """`rate` = `coefficient` * the rate of `symbols[symbol]`, to `target`. Self-loops are kept: they may earn rewards.

    `impulses` maps the name of an impulse reward to what one passage earns (zero entries left out).
    """

    source: int
    target: int
    rate: Fraction
    coefficient: Fraction
    symbol: int
    impulses: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class RateSymbol:
    """A rate that transitions share: its text in the program's constants, and its value."""

    text: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Ratio:
    """A measure as (sum of weight * reward rate) / (reward rate of `per`); `per` None: per unit of time.

    A long-run rate of zero in the denominator means that the event never happens: the measure has no value.
    """

    measure: str
    terms: tuple[tuple[Fraction, str], ...]
    per: str | None = None


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A measure that the chain cannot give, and why."""

    measure: str
    reason: str


@dataclass(frozen=True)
class Embedded:
    """What tells the chain of a program with clocks from one in continuous time.

    `holding`: per state the mean time that it lasts from its entry to the next entry of a state, itself among them. The
    rates of the chain are probabilities over these. `fixed`: every stay lasts just so long. `rounded`: probabilities
    are exponentials, and the doubles next to them were taken. `alone`: nothing exponential happens beside the clocks.
    """

    holding: tuple[Fraction, ...]
    fixed: bool
    rounded: bool
    alone: bool

    @property
    def slot(self) -> Fraction | None:
        """The length of the slots of a chain in discrete time; None where stays differ or are random."""
        return self.holding[0] if self.fixed and len(set(self.holding)) == 1 else None


class Nearness(Enum):
    """What was put in the place of what."""

    RATIONAL = "a rational that has thirty digits of an irrational parameter"
    DOUBLE = "the rational of a double that stands for an irrational parameter"
    EXPONENTIALS = "doubles for the probabilities of what happens while a clock runs"
    PHASES = "phases for work that is not phase-type"


@dataclass(frozen=True, slots=True)
class Approximation:
    """One way in which the chain is next to that of the program: of what kind, and what it is about, in words."""

    kind: Nearness
    what: str

    @property
    def text(self) -> str:
        """What reports say of it."""
        irrational = self.kind in (Nearness.RATIONAL, Nearness.DOUBLE)
        return f"{self.what}: a rational next to it was taken" if irrational else self.what


@dataclass(frozen=True)
class Chain:
    """The reachable chain. `initial` is a distribution over states; rewards are named as in `ratios`.

    `labels` name sets of states. `lumped` says in words which exact quotients were taken, `truncated` what was cut
    off, `approximated` which laws and numbers were replaced by near ones. `lines` maps a state to the program lines at
    which its sessions are. `explored` says in words how the states were found, where that is not the usual way.
    `embedded` is there where the program has clocks: then the rates have its long-run averages, but not its law at a
    time.

    A large chain keeps its transitions, rewards and texts in arrays (`serq.ir.packed`): sequences like any other, but
    whoever goes through them item by item waits long.
    """

    name: str
    states: Sequence[str]
    initial: tuple[tuple[int, Fraction], ...]
    symbols: tuple[RateSymbol, ...]
    transitions: Sequence[Transition]
    state_rewards: Mapping[str, Sequence[Fraction]]
    labels: Mapping[str, frozenset[int]]
    ratios: tuple[Ratio | Unmapped, ...]
    lumped: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    lines: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    approximated: tuple[Approximation, ...] = ()
    explored: str = ""
    embedded: Embedded | None = None

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def is_near(self) -> bool:
        """Whether some parameter is irrational, so that its rational answers are next to those of the program."""
        return self.has(Nearness.RATIONAL) or self.has(Nearness.DOUBLE)

    def has(self, kind: Nearness) -> bool:
        """Whether something was approximated in that way."""
        return any(a.kind is kind for a in self.approximated)

    @property
    def timing(self) -> str:
        """In words, how time passes in it: `continuous`, `slots of 1/2`, `semi-Markov`."""
        if self.embedded is None:
            return "continuous"
        slot = self.embedded.slot
        return "semi-Markov" if slot is None else f"slots of {slot}"

    def impulse_names(self) -> tuple[str, ...]:
        """The names of the impulse rewards, sorted."""
        return tuple(sorted({name for t in self.transitions for name, _ in t.impulses}))

    def reward_rates(self, name: str) -> tuple[Fraction, ...]:
        """The reward as a rate per state: impulses are lowered to rate times reward, which is what every tool reads
        alike.
        """
        return self.reward_table((name,))[name]

    def reward_table(self, names: Iterable[str]) -> dict[str, tuple[Fraction, ...]]:
        """`reward_rates` of several rewards, in one pass over the transitions."""
        nothing = (Fraction(0),) * self.size
        table = {name: list(self.state_rewards.get(name, nothing)) for name in names}
        for t in self.transitions:
            for name, value in t.impulses:
                if name in table:
                    table[name][t.source] += t.rate * value
        return {name: tuple(vector) for name, vector in table.items()}


@dataclass(frozen=True, slots=True)
class Solution:
    """A stationary vector over all states (zero on transient ones) and how it was found.

    `probabilities` are Fractions when `method` is exact. `residual` is the largest |pi Q| relative to the largest flow
    through a state; it is no bound on the error. `bound` is a bound on the sum of the absolute errors of the
    probabilities, or None. `checks` lists what was verified, in words. `transient` is the number of states outside the
    recurrent class; a double that stands for a probability below the smallest one is zero, too.
    """

    probabilities: tuple[Number, ...]
    method: str
    residual: float
    bound: float | None = None
    checks: tuple[str, ...] = ()
    transient: int = 0

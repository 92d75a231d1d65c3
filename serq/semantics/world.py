"""What the machine asks of its surroundings: the seam between the meaning of a program and its two drivers.

The machine changes a `Configuration` and knows neither clocks nor chance. The interpreter answers by sampling and keeps
an event list; the explorer answers by replaying a script of finite choices and keeps rates.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Arithmetic, Value
from serq.semantics.configuration import Claim, Entry, Job, Session, Transfer

Work = Any
"""An amount of work: a number for the interpreter, a law (not drawn yet) for the explorer."""

Purpose = Literal["workload", "session"]
"""Who draws: the workload's `init` and `turn` blocks, or the session. Each has its own random stream."""

Estimate = Literal["est_lambda", "est_rho", "est_wait"]


class World(Protocol):
    """Numbers, chance, clocks. Stages and pools are named by their place in the program."""

    arithmetic: Arithmetic
    """How expressions are calculated."""

    def constants(self) -> Mapping[str, Value]:
        """The `let` constants in this arithmetic."""

    def number(self, folded: p.Folded) -> Value:
        """A folded constant in this arithmetic."""

    def now(self) -> Value:
        """The time."""

    def draw(self, draw: e.Draw, args: tuple[Value, ...], session: Session, purpose: Purpose) -> Value:
        """A draw; `args` are the law's parameters. The world refuses parameters that make no law."""

    def branch(self, probability: Value, session: Session, pc: int) -> bool:
        """Whether the first block is taken; asked only for a probability strictly between 0 and 1."""

    def store(self, session: Session, name: str, value: Value) -> Value:
        """What is kept when `set` or `choose` assigns a value (the interpreter: the value itself)."""

    def trace_turn(self, session: Session) -> Mapping[str, Value]:
        """The trace's row for turn `session.turn_no` (counted from 1): `new out think more forced`."""

    def work_problem(self, work: Work) -> str | None:
        """Why this is no amount of work (negative, infinite, NaN), in words, or None when it is one."""

    def is_zero(self, work: Work) -> bool:
        """Whether a run of this work completes at once."""

    def tokens(self, work: Work) -> Value:
        """What a step stage counts down of an amount of tokens (the interpreter: the amount itself)."""

    def start(self, stage: int, job: Job) -> None:
        """A job enters service: on a fifo a server is free, on ps and delay at once.

        The driver calls `Machine.complete(job)` when it is done.
        """

    def stop(self, stage: int, job: Job) -> None:
        """A job leaves service before it is done: its session was preempted. Its clock is void."""

    def begin_iteration(self, stage: int, duration: Value) -> None:
        """A step stage begins an iteration; the driver calls `Machine.end_iteration(stage)` when it is over."""

    def other_clock_now(self) -> bool:
        """Whether a clock is still set for this very instant: then no iteration starts yet."""

    def work(self, stage: int) -> Value:
        """The unfinished work at a stage: what `work(s)` reads."""

    def estimate(self, fact: Estimate, stage: int) -> Value:
        """An online estimate about a stage."""


class Recorder:
    """What happened, told to whoever counts. Every method does nothing here; override what is of interest."""

    def observed(self, session: Session, observe: p.Observe, value: Value) -> None:
        """An `observe` was executed."""

    def turned(self, session: Session) -> None:
        """A session began a turn."""

    def arrived(self, session: Session) -> None:
        """A session arrived (replacements of a closed population too)."""

    def lost(self) -> None:
        """An arrival found the limit of sessions present."""

    def ended(self, session: Session) -> None:
        """A session ended."""

    def joined(self, stage: int, job: Job) -> None:
        """A job joined a stage."""

    def started(self, stage: int, job: Job) -> None:
        """A job entered service (fifo, ps, delay)."""

    def completed(self, stage: int, job: Job) -> None:
        """A job is done and has left."""

    def withdrawn(self, stage: int, job: Job) -> None:
        """A job left before it was done: its session was preempted."""

    def queued(self, pool: int, claim: Claim) -> None:
        """A hold joined the queue of a pool (again, if its session was preempted)."""

    def unqueued(self, pool: int, claim: Claim) -> None:
        """A hold left a queue without being admitted: an enclosing hold was preempted."""

    def admitted(self, pool: int, claim: Claim) -> None:
        """A hold of this queue was admitted; it had waited since `claim.since`."""

    def rejected(self, pool: int, claim: Claim) -> None:
        """A hold asked for more than its pools ever have; its session ends."""

    def evicted(self, pool: int, entry: Entry, units: Value, whole: bool) -> None:
        """Units were taken off an entry to make room; `whole` when nothing of it is left."""

    def preempted(self, pool: int, session: Session) -> None:
        """A session lost its hold on a pool to a growth."""

    def spilled(self, pool: int, entry: Entry, units: Value) -> None:
        """Evicted units set out for the offload tier of the pool."""

    def landed(self, pool: int, transfer: Transfer, units: Value) -> None:
        """Spilled units arrived at the tier, which is `pool`; so many of them had room there."""

    def iteration_started(self, stage: int, batch: Sequence[tuple[Job, Value]]) -> None:
        """An iteration began with these jobs and tokens, in the order in which they were scheduled."""

    def iteration_ended(self, stage: int) -> None:
        """An iteration is over; its tokens are about to count."""

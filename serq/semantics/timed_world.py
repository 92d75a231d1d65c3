"""The world of an explorer that keeps clocks: what is left of a fixed or geometric time is part of the state."""

from fractions import Fraction
from typing import Literal, NamedTuple

from serq.base.errors import OutsideFragmentError
from serq.base.source import NOWHERE, Span
from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics.configuration import Job
from serq.semantics.enumerated import EnumeratedWorld
from serq.semantics.fragment_errors import ClockStartsBetween
from serq.semantics.symbols import Amount, ComposedWorkError
from serq.semantics.timed_laws import TimedLaws, tokens_of
from serq.semantics.world import Work

Key = int | tuple[Literal["iteration"], int] | Literal["arrival"]
"""Whose clock it is: that of a job (its number), of an iteration (its stage), of the next arrival."""


class Clock(NamedTuple):
    """Time until it rings, and the number of the law of what it counts (-1: an iteration or a fixed gap)."""

    left: Fraction
    law: int


class TimedWorld(EnumeratedWorld):
    """Answers the machine for the explorer of a program with clocks.

    `clocks` are those that are set, in the order of setting. `between`: clocks run while something else happens, so
    that a clock which is set now would run at an offset to them that can be any real number.
    """

    laws: TimedLaws

    def __init__(self, program: p.Program, laws: TimedLaws) -> None:
        super().__init__(program, laws)
        self.clocks: dict[Key, Clock] = {}
        self.between = False

    def work_problem(self, work: Value) -> str | None:
        """Why this is no work of a chain; ComposedWorkError where geometric draws are a part of it only."""
        problem = super().work_problem(work)
        if problem is not None and isinstance(work, Amount):
            names = dict.fromkeys(f"~{draw.law.name}" for draw, _ in work.terms)
            if "~geometric" in names and all(factor > 0 for _, factor in work.terms) and work.constant >= 0:
                raise ComposedWorkError(" and ".join(names))
        return problem

    def tokens(self, work: Work) -> Value:
        """A geometric number of tokens stays undrawn."""
        return tokens_of(work)

    def start(self, stage: int, job: Job) -> None:
        """A job enters service: its clock is set, or it is in one of its first phases."""
        trial = self.laws.trial_of(job.work)
        if trial is None:
            super().start(stage, job)
        else:
            self.set_clock(job.number, trial.period, self.laws.code(job.work), self.program.stages[stage].span)

    def stop(self, stage: int, job: Job) -> None:
        """A job leaves service."""
        if self.clocks.pop(job.number, None) is None:
            super().stop(stage, job)

    def begin_iteration(self, stage: int, duration: Value) -> None:
        """Set the clock of an iteration."""
        left = self._exact(duration, "the cost of an iteration")
        self.set_clock(("iteration", stage), left, -1, self.program.stages[stage].span)

    def set_clock(self, key: Key, left: Fraction, law: int, span: Span = NOWHERE) -> None:
        """Set a clock, behind all that are set; `span` is the place to complain of. A time of 0 is no offset."""
        if self.between and left:
            raise OutsideFragmentError(self.program.source, [ClockStartsBetween(span=span)])
        self.clocks[key] = Clock(left, law)

    def other_clock_now(self) -> bool:
        """Whether a clock is still set for this very instant."""
        return any(clock.left == 0 for clock in self.clocks.values())

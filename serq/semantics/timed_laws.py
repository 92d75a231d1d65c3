"""Amounts that a clock counts down: fixed ones, and geometric ones, which end at every trial with the same probability.

A geometric amount is never drawn. It is a row of trials, `period` apart, of which each ends it with probability
`chance`; that it forgets the trials that have failed is what keeps the chain finite.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from serq.ir.laws import PhaseType
from serq.semantics.phases import WorkLaw, WorkLaws
from serq.semantics.symbols import Amount, RealNumberError, rational


@dataclass(frozen=True, slots=True)
class Trial:
    """A clock that rings `period` after it was set and is then done with probability `chance`, or is set again."""

    period: Fraction
    chance: Fraction


_NO_PHASES = PhaseType((), (), ())


class TimedLaws(WorkLaws):
    """The laws of work of a program with clocks. `trials` has those that are no phase-type laws, by their numbers."""

    def __init__(self, erlang: int | None = None) -> None:
        super().__init__(erlang)
        self.trials: dict[int, Trial] = {}
        self._clock_codes: dict[Trial, int] = {}

    def problem(self, work: Any) -> str | None:
        """Why this is no work of a chain with clocks, in words, or None."""
        if isinstance(work, Amount) and geometric_of(work) is not None:
            return None
        if not isinstance(work, Amount) and work > 0 and isfinite(work):
            return None
        return super().problem(work)

    def trial_of(self, work: Any) -> Trial | None:
        """The clock that counts an amount down; None where phases do."""
        if isinstance(work, Amount):
            if not work.terms:
                return Trial(work.constant, Fraction(1))
            found = geometric_of(work)
            return None if found is None else Trial(*found)
        return Trial(rational(work), Fraction(1)) if self._erlang is None else None

    def code(self, work: Any) -> int:
        """The number of the law of an amount of work that has no problem and is not zero."""
        if isinstance(work, Amount) and work.code >= 0:
            return work.code
        trial = self.trial_of(work)
        if trial is None:
            return super().code(work)
        amount = work if isinstance(work, Amount) else Amount((), rational(work))
        amount.code = self._clock_code(trial, amount)
        return amount.code

    def _clock_code(self, trial: Trial, amount: Amount) -> int:
        code = self._clock_codes.get(trial)
        if code is None:
            code = self._clock_codes[trial] = len(self.laws)
            self.laws.append(WorkLaw(amount, _NO_PHASES, (), ()))
            self.trials[code] = trial
        return code


def geometric_of(amount: Amount) -> tuple[Fraction, Fraction] | None:
    """Factor and probability of a positive multiple of one geometric draw; None for any other amount."""
    if len(amount.terms) != 1 or amount.constant != 0:
        return None
    draw, factor = amount.terms[0]
    return (factor, rational(draw.law.args[0])) if draw.law.name == "geometric" and factor > 0 else None


@dataclass(frozen=True)
class Lasting:
    """What is left of a geometric number of tokens: one at least, and it is the last with probability `chance`."""

    chance: Fraction

    def __gt__(self, other: Any) -> bool:
        """Only that there is a token left is known."""
        if other <= 1:
            return True
        raise RealNumberError("an iteration takes more than one token of a number that is geometric")

    def __le__(self, other: Any) -> bool:
        return not self > other


def tokens_of(work: Any) -> Any:
    """What a step stage counts down of an amount of tokens: a number, or a geometric number of them."""
    if not isinstance(work, Amount):
        return work
    found = geometric_of(work)
    if found is None or found[0] != 1:
        raise RealNumberError("a number of tokens is neither one of finitely many nor one geometric draw")
    return Lasting(found[1])

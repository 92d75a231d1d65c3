"""SQ3xx: loops, holds, stages and pools that fit together badly."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class TimelessLoop(Diagnostic):
    """A loop that can go round without letting time pass."""

    code: ClassVar[str] = "SQ301"
    template: ClassVar[str] = "this loop can go round without letting time pass"
    hint_template: ClassVar[str] = "every path through a loop must reach a `run` of positive work, a `hold`, or `end`"


class Unreachable(Diagnostic):
    """A statement that no session ever executes."""

    code: ClassVar[str] = "SQ302"
    template: ClassVar[str] = "this statement is never reached"
    hint_template: ClassVar[str] = "remove it, or move it up"


class UnitsAboveCap(Diagnostic):
    """A hold or a growth that can never fit."""

    code: ClassVar[str] = "SQ303"
    template: ClassVar[str] = "{units} units can never fit into `{pool}`, whose cap is {cap}{rounding}"
    hint_template: ClassVar[str] = "ask for less, or raise the cap"

    units: str
    pool: str
    cap: str
    rounding: str = ""


class NotAStepStage(Diagnostic):
    """Something that only a step stage can do is asked of another."""

    code: ClassVar[str] = "SQ304"
    template: ClassVar[str] = "{what} needs a step stage, and `{stage}` is a {kind} stage"
    hint_template: ClassVar[str] = "{advice}"

    what: str
    stage: str
    kind: str
    advice: str


class MissingPhase(Diagnostic):
    """A run on a step stage that does not say which kind of tokens it needs."""

    code: ClassVar[str] = "SQ305"
    template: ClassVar[str] = "a run on the step stage `{stage}` must say `prefill` or `decode`"
    hint_template: ClassVar[str] = "write `run {stage} prefill (TOKENS)` or `run {stage} decode (TOKENS)`"

    stage: str


class GrowOutsideHold(Diagnostic):
    """A growth without a hold to enlarge."""

    code: ClassVar[str] = "SQ306"
    template: ClassVar[str] = "`{word}` enlarges a hold on `{pool}`, and there is none here"
    hint_template: ClassVar[str] = "put it inside the body of a `hold {pool} (...)`"

    word: str
    pool: str


class RepeatedPool(Diagnostic):
    """One hold names a pool twice."""

    code: ClassVar[str] = "SQ307"
    template: ClassVar[str] = "this hold names `{pool}` twice"
    hint_template: ClassVar[str] = "hold the sum of the units once"

    pool: str


class NotAProbability(Diagnostic):
    """A constant branch outside of [0, 1]."""

    code: ClassVar[str] = "SQ308"
    template: ClassVar[str] = "a branch is taken with a probability from 0 to 1, not {value}"
    hint_template: ClassVar[str] = "a test such as `x > 0` is 0 or 1; a probability lies between"

    value: str


class SpillIntoItself(Diagnostic):
    """A pool that is its own offload tier."""

    code: ClassVar[str] = "SQ309"
    template: ClassVar[str] = "`{pool}` spills into itself"
    hint_template: ClassVar[str] = "name another pool as the tier"

    pool: str


class SpillViaStep(Diagnostic):
    """An offload over a step stage, which moves tokens of sessions, not background jobs."""

    code: ClassVar[str] = "SQ310"
    template: ClassVar[str] = "a spill cannot go via the step stage `{stage}`"
    hint_template: ClassVar[str] = "a step stage serves sessions: use a `fifo`, `ps` or `delay` stage for the transfer"

    stage: str

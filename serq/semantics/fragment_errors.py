"""Why a program is no finite Markov chain: one class per reason, with what would admit it.

The rules (M1) to (M8) are those of the page 'The Markov chain of a program' of the documentation.
"""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class FixedWork(Diagnostic):
    """(M1) A run of a fixed amount."""

    code: ClassVar[str] = "SQ601"
    template: ClassVar[str] = "M1: the work of this run is a fixed amount, so what is left of it is a real number"
    hint_template: ClassVar[str] = (
        "draw it (~exp, ~erlang, ~h2), or let `--phase-type 8` put an Erlang law of 8 phases and the same mean in its "
        "place"
    )


class GeneralWork(Diagnostic):
    """(M1) A run of a draw that is not phase-type."""

    code: ClassVar[str] = "SQ602"
    template: ClassVar[str] = "M1: the work of this run is {what}, which is not phase-type"
    hint_template: ClassVar[str] = (
        "~exp, ~erlang and ~h2 are phase-type, and so is a finite choice among them; `--phase-type 8` lets a mixture "
        "of Erlang laws stand for ~uniform"
    )

    what: str


class CompositeWork(Diagnostic):
    """(M1) A run of an expression of a draw that is no finite multiple of it."""

    code: ClassVar[str] = "SQ603"
    template: ClassVar[str] = "M1: the work of this run is more than a finite factor times one draw ({what})"
    hint_template: ClassVar[str] = (
        "spend the parts in several runs, one after the other, or let `--phase-type 8` put together a phase-type law "
        "of the sum"
    )

    what: str


class DrawInControl(Diagnostic):
    """(M2) A real-valued draw steers the program."""

    code: ClassVar[str] = "SQ604"
    template: ClassVar[str] = "M2: a real-valued draw ({what}) reaches {place}"
    hint_template: ClassVar[str] = "make it a finite choice: ~choice(v1: w1, v2: w2, ...) or ~bernoulli(p)"

    place: str
    what: str


class DrawReused(Diagnostic):
    """(M2) A draw is used again after it was spent in a run."""

    code: ClassVar[str] = "SQ605"
    template: ClassVar[str] = (
        "M2: the draw in {name} is used again after this step; once it is spent in a run its value is known, and it is "
        "no longer memoryless"
    )
    hint_template: ClassVar[str] = "set {name} anew before each use, or draw in the run itself"

    name: str


class TimeInControl(Diagnostic):
    """(M3) The time steers the program."""

    code: ClassVar[str] = "SQ606"
    template: ClassVar[str] = "M3: the time ({what}) reaches {place}; the state would need a real-valued clock"
    hint_template: ClassVar[str] = "`now` may only reach observes; a clock that steers can be simulated with `serq run`"

    place: str
    what: str


class EndlessValues(Diagnostic):
    """(M4) What steers the program takes infinitely many values."""

    code: ClassVar[str] = "SQ607"
    template: ClassVar[str] = "M4: {what}, which takes infinitely many values, reaches {place}"
    hint_template: ClassVar[str] = (
        "a ~choice among finitely many values can be enumerated; {what} can be simulated with `serq run`"
    )

    place: str
    what: str


class RealKey(Diagnostic):
    """(M3) An order is decided by an age."""

    code: ClassVar[str] = "SQ608"
    template: ClassVar[str] = "M3: `{what}`, a real number, reaches {place}"
    hint_template: ClassVar[str] = (
        "the order of release (`evict lru`) and of joining (`queue fifo`) needs no clock, and is kept exactly"
    )

    place: str
    what: str


class StepStage(Diagnostic):
    """A step stage whose iterations hang on more than a state holds."""

    code: ClassVar[str] = "SQ609"
    template: ClassVar[str] = "M6: {what}; the states of a program with step stages do not hold what that takes"
    hint_template: ClassVar[str] = "`serq run` simulates it; leave it out, and the program can be solved"

    what: str


class ClockStartsBetween(Diagnostic):
    """A fixed time that begins at a random moment of another one."""

    code: ClassVar[str] = "SQ617"
    template: ClassVar[str] = (
        "M1: a fixed time begins here at a random moment while another one runs, so how they lie to each other is a "
        "real number"
    )
    hint_template: ClassVar[str] = (
        "draw one of the two (~exp, ~erlang), let `--phase-type 8` put phases in the place of fixed work, or let "
        "everything run in slots: fixed and ~geometric times only"
    )


class TraceReplay(Diagnostic):
    """A replayed trace."""

    code: ClassVar[str] = "SQ610"
    template: ClassVar[str] = "M4: the workload replays a trace, whose numbers no finite chain keeps"
    hint_template: ClassVar[str] = "fit laws to the trace (~choice, ~exp, ~erlang, ~h2), or simulate with `serq run`"


class RenewalGap(Diagnostic):
    """(M1) Gaps between arrivals that are not exponential."""

    code: ClassVar[str] = "SQ611"
    template: ClassVar[str] = "M1: the gap between arrivals is {what}, not exponential"
    hint_template: ClassVar[str] = "~exp(m) with a constant m, or `arrive poisson(1 / m)`, keeps arrivals memoryless"

    what: str


class OpenWithoutLimit(Diagnostic):
    """(M5) Sessions arrive whatever the state, and enter whatever the state."""

    code: ClassVar[str] = "SQ612"
    template: ClassVar[str] = "M5: sessions arrive without a limit, so the number present takes infinitely many values"
    hint_template: ClassVar[str] = (
        "say `limit(K)` behind the arrivals, or give `--limit K`: an arrival that finds K sessions is lost, and "
        "sessions.losses says how often that happens"
    )


class PopulationGrows(Diagnostic):
    """(M5) Found while exploring: the number of sessions passes every bound."""

    code: ClassVar[str] = "SQ616"
    template: ClassVar[str] = (
        "M5: more than {bound} sessions can be present at once, and nothing seems to stop their number from growing"
    )
    hint_template: ClassVar[str] = (
        "say `limit(K)` behind the arrivals, or give `--limit K`: an arrival that finds K sessions is lost, and "
        "sessions.losses says how often that happens"
    )

    bound: int


class HoldNeverFits(Diagnostic):
    """(M8) Found while exploring: a hold asks for more than its pool ever has."""

    code: ClassVar[str] = "SQ613"
    template: ClassVar[str] = (
        "M8: this hold can ask for more than pool {pool} ever has, and its session is then rejected"
    )
    hint_template: ClassVar[str] = "raise the cap, or bound the units: min(..., cap)"

    pool: str


class SpillTier(Diagnostic):
    """(M6) Transfers between tiers are not enumerated."""

    code: ClassVar[str] = "SQ614"
    template: ClassVar[str] = "M6: pool {pool} spills what it evicts; transfers in flight are not enumerated"
    hint_template: ClassVar[str] = "leave `spill` out, or simulate with `serq run`"

    pool: str


class NoAmount(Diagnostic):
    """(M1) Found while exploring: in some state, what is done to a draw leaves no draw."""

    code: ClassVar[str] = "SQ615"
    template: ClassVar[str] = "M1: in a state that can be reached, {what} here"
    hint_template: ClassVar[str] = (
        "a draw may be multiplied or divided by finite numbers that are not zero; guard it: k > 0 ? ~exp(1) / k : 0"
    )

    what: str

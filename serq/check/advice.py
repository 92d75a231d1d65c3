"""SQ4xx: warnings. The program means something, but perhaps not what was meant."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic, Severity


class Warn(Diagnostic):
    """What all warnings share."""

    severity: ClassVar[Severity] = "warning"


class NothingObserved(Warn):
    """A session that measures nothing."""

    code: ClassVar[str] = "SQ401"
    template: ClassVar[str] = "this session never observes anything"
    hint_template: ClassVar[str] = "add `observe NAME = EXPR;` where something is worth measuring"


class Unused(Warn):
    """A constant, pool or stage that nothing mentions."""

    code: ClassVar[str] = "SQ402"
    template: ClassVar[str] = "the {kind} `{name}` is never used"
    hint_template: ClassVar[str] = "remove it, or use it"

    kind: str
    name: str


class ContextWins(Warn):
    """A name that could mean an attribute or a constant, and means the context variable."""

    code: ClassVar[str] = "SQ403"
    template: ClassVar[str] = "`{name}` here is the context variable, not the {kind} of that name"
    hint_template: ClassVar[str] = "rename the {kind} if it is meant"

    name: str
    kind: str


class NestedHold(Warn):
    """A hold inside of a hold on the same pool: it can wait for itself."""

    code: ClassVar[str] = "SQ404"
    template: ClassVar[str] = "this hold on `{pool}` stands inside of another one on the same pool"
    hint_template: ClassVar[str] = (
        "sessions that wait for units which they hold themselves wait for ever: `grow {pool}` instead"
    )

    pool: str


class ComputedOutsideHold(Warn):
    """`computed` where it is always 0."""

    code: ClassVar[str] = "SQ405"
    template: ClassVar[str] = "`computed` is always 0 outside of a hold"
    hint_template: ClassVar[str] = "read it in the hold's header, body or cache clause"


class NoTurns(Warn):
    """A trace or a `turn` block that no statement ever turns to."""

    code: ClassVar[str] = "SQ407"
    template: ClassVar[str] = "the session never says `turn;`: {what} has no effect"
    hint_template: ClassVar[str] = "put `turn;` where a session begins its next turn"

    what: str


class BadWork(Warn):
    """Constant work that will stop the run."""

    code: ClassVar[str] = "SQ406"
    template: ClassVar[str] = "this work is {value}: the run will stop here with an error"
    hint_template: ClassVar[str] = "work is a finite number that is not negative"

    value: str


class NotDrawn(Warn):
    """Work by the exponential function where an exponential draw is likely to be meant."""

    code: ClassVar[str] = "SQ408"
    template: ClassVar[str] = "`exp` is the exponential function: this work is not drawn"
    hint_template: ClassVar[str] = (
        "`~exp(mean)` is an exponential draw; if the number is meant, give it a name by `let` or `set`"
    )

"""SQ2xx: names that mean something, but not here; draws where none may stand; attributes read before they are set."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class ContextOutOfPlace(Diagnostic):
    """A context variable where it has no meaning."""

    code: ClassVar[str] = "SQ201"
    template: ClassVar[str] = "`{name}` cannot be read in {what}"
    hint_template: ClassVar[str] = "`{name}` can be read in {where}"

    name: str
    what: str
    where: str


class DrawOutOfPlace(Diagnostic):
    """A draw in an expression that is evaluated again and again."""

    code: ClassVar[str] = "SQ202"
    template: ClassVar[str] = "{what} may not draw"
    hint_template: ClassVar[str] = (
        "it is evaluated more than once: draw into an attribute first, `set x = ~{law}(...);`"
    )

    what: str
    law: str


class AttributeOutOfPlace(Diagnostic):
    """A session's attribute where there is no session."""

    code: ClassVar[str] = "SQ203"
    template: ClassVar[str] = "`{name}` is an attribute of a session and cannot be read in {what}"
    hint_template: ClassVar[str] = "{what} belongs to no session: use constants and {instead}"

    name: str
    what: str
    instead: str


class TimeOutOfPlace(Diagnostic):
    """`now` where it may not be read."""

    code: ClassVar[str] = "SQ204"
    template: ClassVar[str] = "`now` cannot be read in {what}"
    hint_template: ClassVar[str] = "`now` can be read in a session, a workload, a key, a budget or a cost"

    what: str


class CachedOutsideHold(Diagnostic):
    """`cached` where no hold was admitted."""

    code: ClassVar[str] = "SQ205"
    template: ClassVar[str] = "`cached` is read outside of a hold"
    hint_template: ClassVar[str] = (
        "it says what the hold consumed at its admission: read it in the body, and keep it with `set c = cached;`; "
        "before the admission ask `cachedin(POOL)`"
    )


class UnsetAttribute(Diagnostic):
    """An attribute that has no value yet, whichever path led here."""

    code: ClassVar[str] = "SQ206"
    template: ClassVar[str] = "`{name}` is read before it is set"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str


class WorkloadStatement(Diagnostic):
    """A statement that the workload's blocks cannot have."""

    code: ClassVar[str] = "SQ207"
    template: ClassVar[str] = "`{statement}` cannot stand in the workload's `{block}` block"
    hint_template: ClassVar[str] = "`init` and `turn` blocks may only `set` and `observe`: write it in the session"

    statement: str
    block: str


class StateOutOfPlace(Diagnostic):
    """An observable of a stage or pool in an expression that is no function of it."""

    code: ClassVar[str] = "SQ208"
    template: ClassVar[str] = "`{name}` cannot be read in {what}"
    hint_template: ClassVar[str] = (
        "the rate of a `ps` stage is a function of `n`, the number present there, and arrivals come whatever the "
        "state: a session can look at it, and `end` at once"
    )

    name: str
    what: str

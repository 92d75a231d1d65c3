"""What keeps a program in the earlier form from being lifted. SQ060-069."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class NotFreed(Diagnostic):
    """An `admit` whose block ends before its `free`."""

    code: ClassVar[str] = "SQ060"
    template: ClassVar[str] = "`{pool}` is admitted here, and its block ends without `free {pool}`"
    hint_template: ClassVar[str] = "write `free {pool};` in the same block, where the memory is given back"

    pool: str


class NotAdmitted(Diagnostic):
    """A `free` without an `admit`."""

    code: ClassVar[str] = "SQ061"
    template: ClassVar[str] = "`{pool}` is freed here, and nothing admitted it before"
    hint_template: ClassVar[str] = "write `admit {pool} UNITS;` in front, in the same block"

    pool: str


class OtherBlock(Diagnostic):
    """A `free` in another block than its `admit`."""

    code: ClassVar[str] = "SQ062"
    template: ClassVar[str] = "`free {pool}` stands in another block than `admit {pool}`"
    hint_template: ClassVar[str] = "a hold is a block: move the two into one block"

    pool: str


class Crossing(Diagnostic):
    """Two pairs of `admit` and `free` that overlap without one holding the other."""

    code: ClassVar[str] = "SQ063"
    template: ClassVar[str] = "`{pool}` is freed while `{inner}`, admitted after it, is still held"
    hint_template: ClassVar[str] = "free `{inner}` first: holds are blocks, and blocks nest"

    pool: str
    inner: str


class NoHit(Diagnostic):
    """`H` where it says nothing."""

    code: ClassVar[str] = "SQ064"
    template: ClassVar[str] = "`H` is read where no pool that is freed with `cache` is admitted"
    hint_template: ClassVar[str] = "read it between `admit` and `free ... cache ...`, and keep it with `set hit = H;`"


class Incomplete(Diagnostic):
    """An `admit` or `free` that lacks a part."""

    code: ClassVar[str] = "SQ065"
    template: ClassVar[str] = "this `{word}` lacks {part}"
    hint_template: ClassVar[str] = "write `{usage}`"

    word: str
    part: str
    usage: str

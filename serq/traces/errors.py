"""What can be wrong with a trace file. A span points into the trace, not into the program."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class BadHeader(Diagnostic):
    """The first line does not name the columns. `problem` says how."""

    code: ClassVar[str] = "SQ710"
    template: ClassVar[str] = "the header of the trace {problem}"
    hint_template: ClassVar[str] = (
        "the columns are session,turn,new,out,think and, if wanted, forced; `serq trace convert` makes them from other "
        "formats"
    )

    problem: str


class BadCell(Diagnostic):
    """A value that its column cannot hold. `row` counts data rows from 1."""

    code: ClassVar[str] = "SQ711"
    template: ClassVar[str] = "row {row}, column `{column}`: {value!r} is no {expected}"

    row: int
    column: str
    value: str
    expected: str


class BadRow(Diagnostic):
    """A row with too few or too many cells."""

    code: ClassVar[str] = "SQ712"
    template: ClassVar[str] = "row {row} has {found} cells and the header has {expected}"

    row: int
    found: int
    expected: int


class TurnOrder(Diagnostic):
    """A session whose turns do not count upwards."""

    code: ClassVar[str] = "SQ713"
    template: ClassVar[str] = "row {row}, column `turn`: turn {turn} of session {session} follows turn {before}"
    hint_template: ClassVar[str] = "the turns of a session stand in their order, each number once"

    row: int
    session: str
    turn: int
    before: int


class EmptyTrace(Diagnostic):
    """A trace without rows."""

    code: ClassVar[str] = "SQ714"
    template: ClassVar[str] = "the trace has no rows"

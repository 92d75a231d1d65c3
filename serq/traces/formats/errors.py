"""What can be wrong with a file of another format: SQ715 and SQ716. A span points into that file."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class ForeignHeader(Diagnostic):
    """A file that is to be converted lacks columns of the format that it is said to have."""

    code: ClassVar[str] = "SQ715"
    template: ClassVar[str] = "the header lacks {missing}: this is no trace of the format {form}"
    hint_template: ClassVar[str] = "the format {form} has the columns {columns}"

    missing: str
    form: str
    columns: str


class BadLine(Diagnostic):
    """A line that is no JSON object."""

    code: ClassVar[str] = "SQ716"
    template: ClassVar[str] = "row {row} is no JSON object: {problem}"

    row: int
    problem: str

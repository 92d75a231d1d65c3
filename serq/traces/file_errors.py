"""What is wrong with a trace file as a whole: SQ704 to SQ706. There is no row to point at."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class UnreadableTrace(Diagnostic):
    """The system does not let the trace be read, or there is none."""

    code: ClassVar[str] = "SQ704"
    template: ClassVar[str] = "cannot read the trace {path}: {reason}"

    path: str
    reason: str


class NotATable(Diagnostic):
    """A file that is not what its contents should be: CSV text, Parquet, JSON."""

    code: ClassVar[str] = "SQ705"
    template: ClassVar[str] = "the trace {path} is not {form}: {reason}"

    path: str
    form: str
    reason: str


class NoReader(Diagnostic):
    """Parquet, and nothing installed that reads it."""

    code: ClassVar[str] = "SQ706"
    template: ClassVar[str] = "the trace {path} is Parquet, and pyarrow is not installed"
    hint_template: ClassVar[str] = "install serq[frames], or write the trace as CSV"

    path: str

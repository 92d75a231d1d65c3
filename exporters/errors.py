"""What keeps a program from being written symbolically: each reason a diagnostic, told all at once."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic
from serq.base.errors import DiagnosedError


class NotSymbolicError(DiagnosedError):
    """No symbolic tier can write the program; the explored chain can still be exported."""

    exit_status = 1


class NoCounterForm(Diagnostic):
    """A construct that counters and fifo words cannot express."""

    code: ClassVar[str] = "SQ801"
    template: ClassVar[str] = "{construct} has no form with counters: {reason}"
    hint_template: ClassVar[str] = "export the explored chain instead: --explicit or --drn"

    construct: str
    reason: str


class TooManyPlaces(Diagnostic):
    """The session has more local states than a readable file can hold."""

    code: ClassVar[str] = "SQ802"
    template: ClassVar[str] = "the session has more than {limit} local states (program point and values of attributes)"
    hint_template: ClassVar[str] = "export the explored chain instead: --explicit or --drn"

    limit: int


class NoPopulationBound(Diagnostic):
    """An open program without a limit needs a bound on the number of sessions present."""

    code: ClassVar[str] = "SQ803"
    template: ClassVar[str] = "arrivals without limit: the counters need a largest number of sessions present"
    hint_template: ClassVar[str] = "write `arrive poisson(...) limit(K)`"

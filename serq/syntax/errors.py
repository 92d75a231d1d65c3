"""What can be wrong with the text of a program, one class for each code (SQ0xx)."""

from dataclasses import dataclass

from serq.base.diagnostics import Diagnostic


@dataclass(frozen=True, kw_only=True)
class Unexpected(Diagnostic):
    """A symbol that cannot stand where it stands."""

    code = "SQ059"
    template = "`{found}` cannot stand here"

    found: str

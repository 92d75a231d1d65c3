"""A diagnostic is data: a class per code, typed fields, the text made in one place.

A stage that finds something wrong builds a `Diagnostic` subclass and goes on, so that a user sees every fault at
once. The subclasses live beside the stage that makes them; their codes are listed in `serq.base.codes`.
"""

from dataclasses import fields
from typing import ClassVar, Literal

from serq.base.frozen import FrozenByName
from serq.base.source import NOWHERE, Span

Severity = Literal["error", "warning"]


class Note(FrozenByName):
    """A second place that a diagnostic points at."""

    message: str
    span: Span = NOWHERE


class Diagnostic(FrozenByName):
    """One thing wrong with a program. `template` and `hint_template` name the fields in braces."""

    code: ClassVar[str] = "SQ000"
    template: ClassVar[str] = ""
    hint_template: ClassVar[str] = ""
    severity: ClassVar[Severity] = "error"

    span: Span
    notes: tuple[Note, ...] = ()

    @property
    def message(self) -> str:
        """What is wrong, in one line."""
        return self.template.format(**self._fields())

    @property
    def hint(self) -> str:
        """What would mend it; empty when nothing general can be said."""
        return self.hint_template.format(**self._fields())

    def _fields(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def to_dict(self, file: str) -> dict[str, object]:
        """The diagnostic as the object that `--json` prints."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": file,
            "line": self.span.line,
            "column": self.span.column,
            "end_line": self.span.end_line,
            "end_column": self.span.end_column,
            "hint": self.hint,
            "notes": [{"message": n.message, "line": n.span.line, "column": n.span.column} for n in self.notes],
        }

"""What can be wrong with a recording that is to be compared: SQ720 and SQ721."""

from typing import ClassVar

from serq.base.diagnostics import Diagnostic


class UnreadableRecording(Diagnostic):
    """The system does not let it be read, or there is none."""

    code: ClassVar[str] = "SQ720"
    template: ClassVar[str] = "cannot read the recording {path}: {reason}"

    path: str
    reason: str


class NoRecording(Diagnostic):
    """A file or directory that is no dump and no recording of an oracle."""

    code: ClassVar[str] = "SQ721"
    template: ClassVar[str] = "{path} is no recording of a run: {problem}"
    hint_template: ClassVar[str] = (
        "give a directory of `serq replay --dump` or `serq run --dump`, a table of requests or of steps, or a recorded "
        "scenario (JSON)"
    )

    path: str
    problem: str

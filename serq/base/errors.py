"""The exceptions of the project. Each carries the exit status that the command line ends with."""

from collections.abc import Sequence
from typing import ClassVar, Self

from serq.base.diagnostics import Diagnostic
from serq.base.render import render_all
from serq.base.source import SourceFile


class SerqError(Exception):
    """What every error of serQ is; catch this to catch them all."""

    exit_status: ClassVar[int] = 1


class UsageError(SerqError):
    """The call is off: an unknown option value, an unknown name given with `--set`."""

    exit_status = 2


class NoRationalsError(UsageError):
    """Rationals were asked for where an irrational number decides: only doubles are near to the answer."""


class DiagnosedError(SerqError):
    """An error that is a list of diagnostics about one source file.

    Its text is the first of them in one line; a traceback, in a terminal or a notebook, shows all with their lines and
    carets (as the note of the exception).
    """

    def __init__(self, source: SourceFile, diagnostics: Sequence[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = tuple(diagnostics)
        first = self.diagnostics[0]
        super().__init__(f"{source.name}:{first.span.line}:{first.span.column}: {first.code}: {first.message}")
        self.add_note(self.rendered)

    @property
    def rendered(self) -> str:
        """Every diagnostic as the command line prints it: place, code, message, source line, carets, hint."""
        return render_all(self.source, self.diagnostics)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Errors travel between processes: they are made again from what they were made from."""
        return type(self), (self.source, self.diagnostics)


class LoadError(DiagnosedError):
    """The input does not load: syntax, link or trace."""

    exit_status = 3


class PlacelessError(SerqError):
    """An error with a code of the catalogue that points at no line of a program."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        self.code = code
        self.hint = hint
        super().__init__(message)

    @classmethod
    def of(cls, diagnostic: Diagnostic) -> Self:
        """The error that a diagnostic without a place stands for."""
        return cls(diagnostic.code, diagnostic.message, diagnostic.hint)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Made again from its three parts in another process."""
        return type(self), (self.code, str(self), self.hint)


class InputError(PlacelessError):
    """A file that cannot be read, or is not what it should be."""

    exit_status = 3


class OutputError(PlacelessError):
    """A path that was given for the output and cannot be written to."""

    exit_status = 2


class OutsideFragmentError(DiagnosedError):
    """The program is no finite Markov chain; every reason is listed."""

    exit_status = 1


class NoSteadyStateError(DiagnosedError):
    """The chain has no single steady state: absorbing, several closed classes, or a deadlock."""

    exit_status = 1


class RunError(DiagnosedError):
    """The program failed while running: bad work, an index, a livelock, a zero-time loop."""

    exit_status = 5


class LimitError(SerqError):
    """A limit on states, memory or time was reached; the message says what was learned so far."""

    exit_status = 4

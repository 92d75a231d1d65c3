"""What can be wrong with a study: its grid, its directory, its cluster."""

from collections.abc import Iterable
from typing import ClassVar, Self

from serq.base.diagnostics import Diagnostic
from serq.base.source import NOWHERE
from serq.base.suggestions import did_you_mean, near, question


class BadGrid(Diagnostic):
    """A `--vary` that is no list of values and ranges."""

    code: ClassVar[str] = "SQ820"
    template: ClassVar[str] = "--vary {text}: {problem}"
    hint_template: ClassVar[str] = "write NAME=1:20 (both ends included), NAME=1:20:3 (a step of 3) or NAME=0.5,1,2"

    text: str
    problem: str


class NothingToVary(Diagnostic):
    """A `--vary` for a constant that a program of the study does not have."""

    code: ClassVar[str] = "SQ821"
    template: ClassVar[str] = "--vary {name}: `{program}` has no `let {name}`"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    program: str
    advice: str

    @classmethod
    def of(cls, name: str, program: str, constants: Iterable[str]) -> Self:
        """The diagnostic, with the constants that there are as its advice."""
        known = list(constants)
        listed = f"the constants are {', '.join(f'`{x}`' for x in known)}" if known else "it has no constants"
        advice = " ".join(filter(None, (did_you_mean(name, known), listed)))
        return cls(span=NOWHERE, name=name, program=program, advice=advice)


class NoSuchMeasure(Diagnostic):
    """A `--measure` that fits nothing which the programs can be asked."""

    code: ClassVar[str] = "SQ822"
    template: ClassVar[str] = "--measure {name}: no measure is called so"
    hint_template: ClassVar[str] = "{advice}"

    name: str
    advice: str

    @classmethod
    def of(cls, name: str, known: Iterable[str]) -> Self:
        """The diagnostic, with the nearest names as its advice."""
        names = list(known)
        parts = [x for x in names if name in x][:4] or near(name, names, alike=0.4)
        advice = question(*parts) or "a measure is named like `stage.svc.number`; `*` fits anything"
        return cls(span=NOWHERE, name=name, advice=advice)


class OtherStudy(Diagnostic):
    """A study directory that holds the points of another study."""

    code: ClassVar[str] = "SQ823"
    template: ClassVar[str] = "`{path}` belongs to another study: {difference}"
    hint_template: ClassVar[str] = "name another directory with --resume; nothing in this one was touched"

    path: str
    difference: str


class NoStudy(Diagnostic):
    """A directory that has files in it, but is no study directory."""

    code: ClassVar[str] = "SQ824"
    template: ClassVar[str] = "`{path}` is not empty and is no study directory: {reason}"
    hint_template: ClassVar[str] = "name an empty or a new directory; nothing in this one was touched"

    path: str
    reason: str


class StudyInUse(Diagnostic):
    """A study directory that another process works on."""

    code: ClassVar[str] = "SQ825"
    template: ClassVar[str] = "another process is working on the study in `{path}`"
    hint_template: ClassVar[str] = "wait until it is done, or end it; what it has done will not be done again"

    path: str


class NoScheduler(Diagnostic):
    """A dask scheduler that does not answer, has no workers, or went away."""

    code: ClassVar[str] = "SQ826"
    template: ClassVar[str] = "the dask scheduler at {address} {problem}"
    hint_template: ClassVar[str] = "{advice}"

    address: str
    problem: str
    advice: str


class MissingExtra(Diagnostic):
    """Something that needs a package which is not installed."""

    code: ClassVar[str] = "SQ827"
    template: ClassVar[str] = "{what} needs {package}, which is not installed"
    hint_template: ClassVar[str] = "pip install 'serq[{extra}]'"

    what: str
    package: str
    extra: str

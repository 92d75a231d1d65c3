"""What can be wrong with a text, and what can go wrong when a checked build of it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from serq.base.errors import SerqError

FaultKind = Literal["index", "division", "overflow", "conversion", "shift", "domain"]
"""What checked builds stop at (see `docs/reference/restricted-python.md`)."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong with a text, at a line and column counted from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class RestrictedError(SerqError):
    """A text that is no restricted Python. An error of whoever wrote the text, not of a user's program."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Made again from its problems in another process."""
        return type(self), (self.problems,)


class BackendError(SerqError):
    """A back end cannot be used here: llvmlite or a C compiler is missing, or fails."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place of a text at which something can go wrong.

    `array` is the name of the array for an index, as in `s.times`; otherwise empty.
    """

    kind: FaultKind
    array: str
    function: str
    file: str
    line: int
    column: int


class FaultError(SerqError):
    """A checked build stopped. For an index also: the `array`, and the `index` that its `length` does not allow."""

    def __init__(self, site: Site, index: int = 0, length: int = 0) -> None:
        self.site = site
        self.kind = site.kind
        self.array = site.array
        self.index = index
        self.length = length
        what = f"index {index} of {site.array}, which has {length}" if site.kind == "index" else site.kind
        super().__init__(f"{site.file}:{site.line}:{site.column}: in {site.function}: {what}")

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Made again from its parts in another process."""
        return type(self), (self.site, self.index, self.length)

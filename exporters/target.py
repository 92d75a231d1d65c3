"""A target: a small frozen object that turns what it exports into contents, file name by file name.

A target never touches the disk: whoever calls it decides where the contents go. Its options are its fields.
"""

from collections.abc import Mapping
from typing import Protocol, TypeAlias, TypeVar

Content: TypeAlias = str | bytes
"""What is in a file."""

Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Target(Protocol[Subject_contra]):
    """Something that a program (or an explored chain) can be exported to."""

    @property
    def name(self) -> str:
        """The name on the command line: `prism`, `jani`, `drn`, ..."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings of the files it writes, the main file first."""

    def emit(self, subject: Subject_contra, stem: str) -> Mapping[str, Content]:
        """The contents by file name; every name is `stem` with an ending."""

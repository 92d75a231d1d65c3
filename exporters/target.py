"""A target: a small frozen object that turns what it exports into texts, file name by file name.

A target never touches the disk: whoever calls it decides where the texts go. Its options are its fields.
"""

from collections.abc import Mapping
from typing import Protocol, TypeVar

Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Target(Protocol[Subject_contra]):
    """Something that a program (or an explored chain) can be exported to."""

    @property
    def name(self) -> str:
        """The name on the command line: `prism`, `drn`, `explicit`, `dot`."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The endings of the files it writes, the main file first."""

    def emit(self, subject: Subject_contra, stem: str) -> Mapping[str, str]:
        """The texts by file name; every name is `stem` with an ending."""

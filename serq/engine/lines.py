"""Writing indented text."""

from collections.abc import Iterator
from contextlib import contextmanager


class Lines:
    """Lines of Python, and names for the values of steps on the way."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self._names = 0

    def add(self, *lines: str) -> None:
        """Write lines at the present depth."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is written meanwhile stands below this head."""
        self.add(head)
        self.depth += 1
        yield
        self.depth -= 1

    @contextmanager
    def apart(self, deeper: int = 0) -> Iterator[list[str]]:
        """What is written meanwhile goes to a list of its own."""
        kept, self.lines = self.lines, []
        self.depth += deeper
        yield self.lines
        self.lines = kept
        self.depth -= deeper

    def splice(self, lines: list[str]) -> None:
        """Lines that were written apart."""
        self.lines += lines

    def name(self) -> str:
        """A fresh variable."""
        self._names += 1
        return f"x{self._names}"

    def text(self) -> str:
        """Everything."""
        return "\n".join(self.lines) + "\n"

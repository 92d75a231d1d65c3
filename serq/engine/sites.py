"""Places of a program at which a run can fail: the compiled text names them by number."""

from dataclasses import dataclass, field
from typing import Literal

from serq.base.source import Span

FaultKind = Literal[
    "work", "probability", "index", "unset", "capacity", "commands", "replacement", "count", "law", "gap", "step",
    "units", "twice", "held", "never fits", "livelock",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """Where and what. `name` is the array, attribute, law, kind of units or value of a step stage that is concerned,
    `size` the members of an array or the arguments of a law.
    """

    kind: FaultKind
    span: Span
    name: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """What happened: where, when, to which session; `place` is a stage or pool, `values` say what was wrong."""

    site: Site
    time: float
    serial: int
    place: int
    values: tuple[float, ...]


class FaultRaised(Exception):  # noqa: N818 (it carries a fault to whoever can put it into words)
    """A program did something wrong."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(fault.site.kind)


@dataclass(slots=True)
class Sites:
    """The sites of a program, each once."""

    all: list[Site] = field(default_factory=list)
    _numbers: dict[tuple[Site, Span], int] = field(default_factory=dict)

    def number(self, site: Site) -> int:
        """The number of a site."""
        key = site, site.span
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(site)
        return self._numbers[key]

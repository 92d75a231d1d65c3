"""What every format is read into: turns of sessions, and remarks on what could not be taken over as it stood."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from serq.traces.formats.records import Faults, Record, SkipRecordError


@dataclass(frozen=True, slots=True)
class Turn:
    """A row of the trace that is written. `start`: seconds from the first arrival of the file; None where unknown."""

    session: str
    turn: int
    new: float
    out: float
    think: float = 0.0
    forced: bool = False
    start: float | None = None


@dataclass
class Reading:
    """The reading of one file: its faults, and in words how things were taken over.

    `counts` are remarks with how often they apply; `keep_failed`: calls that failed are kept, with an output of 0.
    """

    path: Path
    keep_failed: bool = False
    faults: Faults = field(init=False)
    remarks: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.faults = Faults(self.path)

    def each(self, records: Iterator[Record], turn_of: Callable[[Record], Turn | None]) -> Iterator[Turn]:
        """The turns of the records that have one and no fault."""
        for record in records:
            try:
                turn = turn_of(record)
            except SkipRecordError:
                continue
            if turn is not None:
                yield turn

    def remark(self, text: str) -> None:
        """Say something once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def not_negative(self, seconds: float) -> float:
        """A time between an answer and the next call; a call that came before the answer was complete waits for it."""
        if seconds < 0:
            self.counts["calls were sent before the answer to the call before was complete: think 0"] += 1
        return max(seconds, 0.0)


OWN_SESSIONS = "every call is a session of one turn: the file names no sessions"

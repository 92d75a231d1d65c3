"""What a replication gives, whichever engine runs it, and how it says that it was stopped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from serq.base.errors import LimitError
from serq.semantics.series import Series
from serq.semantics.statistics import Counts
from serq.semantics.tallies import Samples

Progress = Callable[[float], object]
"""Told from time to time which part of the run is done, from 0 to 1. What it raises stops the run."""


@dataclass(frozen=True)
class RunResult:
    """One replication. `series` holds every measure by name, `samples` the values of every observe.

    `rested` is the time of the last event when nothing could happen any more before the horizon, else None; `waiting`
    then describes the sessions that wait for ever.
    """

    replication: int
    series: dict[str, Series]
    samples: dict[str, Samples]
    counts: Counts
    events: int
    rested: float | None = None
    waiting: tuple[str, ...] = ()


class StoppedError(LimitError):
    """A run reached a limit on its events or its memory.

    `result` is what its replication has counted until then, None within the warm-up. `observations` by observe (see
    `serq.semantics.quantiles.Observations`) stand for its samples where it kept none.
    """

    def __init__(
        self, message: str, result: RunResult | None = None, observations: Mapping[str, Any] | None = None
    ) -> None:
        self.result = result
        self.observations = observations
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        """Made again from its parts in another process."""
        return type(self), (str(self), self.result, self.observations)


def stopped_at(reached: str, time: float, horizon: float, present: int) -> str:
    """The message: which limit, and how far the run had come."""
    return f"the run was stopped at {reached}: time {time:g} of {horizon:g}, {present} sessions present"

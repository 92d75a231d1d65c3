"""Accumulators for one stretch of time: integrals of what is there, counts and sums of what happens.

A tally is brought up to a time with `advance` before what it watches changes, and emptied with `close` at the end of a
batch, so that every sum is over one batch only.
"""

from array import array
from dataclasses import dataclass, fields
from functools import reduce
from operator import add

from serq.semantics.configuration import PoolState


@dataclass(slots=True)
class StageSums:
    """What happened at a stage in one batch. Integrals are over time; `nonempty` is the time with a job present.

    `wait`, `sojourn` and `service` are sums over the jobs completed in the batch, over their whole stay. The wait and
    the stay of a job that was preempted are added when it leaves, without a completion, so that Little's law
    holds: number = throughput * sojourn.
    """

    number: float = 0.0
    busy: float = 0.0
    nonempty: float = 0.0
    completed: int = 0
    wait: float = 0.0
    sojourn: float = 0.0
    service: float = 0.0
    iterations: int = 0


class StageTally:
    """A stage: jobs present and in service, and when each of them joined and was started.

    `queues` says whether jobs wait before service (fifo); elsewhere a job is in service from when it joins.
    """

    __slots__ = ("begun", "busy", "joined", "last", "number", "queues", "sums")

    def __init__(self, queues: bool) -> None:
        self.queues = queues
        self.number = 0
        self.busy = 0
        self.last = 0.0
        self.joined: dict[int, float] = {}  # by job number
        self.begun: dict[int, float] = {}
        self.sums = StageSums()

    def advance(self, now: float) -> None:
        """Integrate up to `now`."""
        if self.number:
            passed = now - self.last
            sums = self.sums
            sums.number += self.number * passed
            sums.busy += self.busy * passed
            sums.nonempty += passed
        self.last = now

    def leave(self, number: int, now: float) -> float:
        """A job leaves, done or not: when it was started comes back (`now` when it was not)."""
        if now != self.last:
            self.advance(now)
        self.number -= 1
        joined = self.joined.pop(number)
        sums = self.sums
        sums.sojourn += now - joined
        if not self.queues:
            return joined
        begun = self.begun.pop(number, None)
        if begun is None:
            sums.wait += now - joined
            return now
        self.busy -= 1
        sums.wait += begun - joined
        return begun

    def close(self, now: float) -> StageSums:
        """The sums of the batch that ends now; the next batch begins."""
        self.advance(now)
        sums, self.sums = self.sums, StageSums()
        return sums


@dataclass(slots=True)
class PoolSums:
    """What happened at a pool in one batch: integrals over time, then counts. `waited` sums over admissions."""

    used: float = 0.0
    cached: float = 0.0
    queue: float = 0.0
    holders: float = 0.0
    waited: float = 0.0
    admissions: int = 0
    evictions: int = 0
    evicted_units: float = 0.0
    preemptions: int = 0
    rejections: int = 0
    spills: int = 0
    spilled_units: float = 0.0


class PoolTally:
    """A pool. Its state is read when the program is at rest: what comes and goes within an instant has no duration."""

    __slots__ = ("cached", "holders", "last", "queue", "sums", "used")

    def __init__(self) -> None:
        self.used = 0.0
        self.cached = 0.0
        self.queue = 0
        self.holders = 0
        self.last = 0.0
        self.sums = PoolSums()

    def advance(self, now: float) -> None:
        """Integrate up to `now`."""
        passed = now - self.last
        sums = self.sums
        sums.used += self.used * passed
        sums.cached += self.cached * passed
        sums.queue += self.queue * passed
        sums.holders += self.holders * passed
        self.last = now

    def differs(self, state: PoolState) -> bool:
        """Whether the pool has changed since it was read."""
        return (
            state.used != self.used
            or state.cached != self.cached
            or len(state.queue) != self.queue
            or len(state.allocations) != self.holders
        )

    def read(self, state: PoolState, now: float) -> None:
        """From now on the pool is in this state."""
        self.advance(now)
        self.used, self.cached = state.used, state.cached
        self.queue, self.holders = len(state.queue), len(state.allocations)

    def close(self, now: float) -> PoolSums:
        """The sums of the batch that ends now; the next batch begins."""
        self.advance(now)
        sums, self.sums = self.sums, PoolSums()
        return sums


@dataclass(slots=True)
class SessionSums:
    """Sessions in one batch: the integral of their number, and counts."""

    number: float = 0.0
    arrived: int = 0
    ended: int = 0
    lost: int = 0
    turns: int = 0


class SessionTally:
    """The live sessions."""

    __slots__ = ("last", "number", "sums")

    def __init__(self) -> None:
        self.number = 0
        self.last = 0.0
        self.sums = SessionSums()

    def advance(self, now: float) -> None:
        """Integrate up to `now`."""
        self.sums.number += self.number * (now - self.last)
        self.last = now

    def close(self, now: float) -> SessionSums:
        """The sums of the batch that ends now; the next batch begins."""
        self.advance(now)
        sums, self.sums = self.sums, SessionSums()
        return sums


class GaugeTally:
    """The integral of a function of the state that runs along a straight line between events (`slope` per time)."""

    __slots__ = ("area", "last", "slope", "value")

    def __init__(self) -> None:
        self.area = 0.0
        self.last = 0.0
        self.value = 0.0
        self.slope = 0.0

    def reach(self, now: float, value: float) -> None:
        """The value just before an event at `now`: the line leads there from the last value."""
        if now != self.last:
            self.slope = (value - self.value) / (now - self.last)

    def read(self, now: float, value: float) -> None:
        """The value after an event at `now`."""
        if now != self.last:
            self.advance(now)
        self.value, self.slope = value, 0.0

    def advance(self, now: float) -> None:
        """Integrate up to `now`."""
        passed = now - self.last
        self.area += passed * (self.value + 0.5 * self.slope * passed)
        self.value += self.slope * passed
        self.last = now

    def close(self, now: float) -> float:
        """The integral over the batch that ends now; the next batch begins."""
        self.advance(now)
        area, self.area = self.area, 0.0
        return area


class Samples:
    """The observations of one `observe`, in order. `times`, `sessions` and `turns` are kept on request only."""

    __slots__ = ("closed", "sessions", "times", "turns", "values")

    def __init__(self) -> None:
        self.values = array("d")
        self.times = array("d")
        self.sessions = array("q")
        self.turns = array("q")
        self.closed = 0

    def clear(self) -> None:
        """Forget everything: the window begins."""
        for kept in (self.values, self.times, self.sessions, self.turns):
            del kept[:]
        self.closed = 0

    def close(self) -> tuple[float, int]:
        """(sum, number) of the observations since the last call."""
        fresh = self.values[self.closed :]
        self.closed = len(self.values)
        return reduce(add, fresh, 0.0), len(fresh)  # `sum` adds in another way from Python 3.12 on


def add_up(sums: list[StageSums] | list[PoolSums] | list[SessionSums]) -> dict[str, float]:
    """Field by field, the total over batches."""
    return {f.name: sum(getattr(s, f.name) for s in sums) for f in fields(sums[0])}

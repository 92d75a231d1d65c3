"""The pending clocks of a run: an event list, and processor sharing in virtual time.

The earliest clock fires first; clocks of one instant fire in the order in which they were set.
"""

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from serq.ir.evaluate import total
from serq.semantics.configuration import Job

Action = Callable[[Any], object]
"""What is called when a clock fires, with the argument that it was set with."""


class Clocks:
    """The event list: a binary heap of (time, order of setting, action, argument)."""

    __slots__ = ("_heap", "_order", "_void")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Action, Any]] = []
        self._order = 0
        self._void: set[int] = set()

    def set(self, time: float, action: Action, argument: Any) -> int:
        """Set a clock; the number that names it comes back."""
        order = self._order
        self._order = order + 1
        heappush(self._heap, (time, order, action, argument))
        return order

    def cancel(self, order: int) -> None:
        """Make a pending clock void. It must not have fired yet."""
        self._void.add(order)

    def earliest(self) -> float | None:
        """The time of the next clock, None when there is none."""
        heap, void = self._heap, self._void
        while void and heap and heap[0][1] in void:
            void.remove(heappop(heap)[1])
        return heap[0][0] if heap else None

    def fire(self) -> None:
        """Take the next clock off the list and act. Call `earliest` first: it drops void clocks."""
        _, _, action, argument = heappop(self._heap)
        action(argument)

    def __len__(self) -> int:
        return len(self._heap) - len(self._void)


class Sharing:
    """The jobs of a processor-sharing stage in virtual time, which advances at rate(n) / n with n jobs present.

    A job that starts at virtual time v with work w has the finish tag v + w; the smallest tag finishes first, equal
    tags in the order of starting. The virtual clock is advanced before every change of n. Source: A. K. Parekh, R. G.
    Gallager, A generalized processor sharing approach to flow control, IEEE/ACM ToN 1 (1993), section III.
    """

    __slots__ = ("_numbers", "_pace", "_rate", "_speed", "_tags", "clock", "last", "virtual")

    def __init__(self, rate: Callable[[int], float]) -> None:
        self._rate = rate
        self._speed = 0.0
        self._pace = math.inf
        """Time that passes while virtual time advances by 1: a product is nearer to the truth than a quotient by a
        rounded speed, and quicker."""
        self._tags: list[tuple[float, int, Job]] = []  # a heap; the second entry is the order of starting
        self._numbers = 0
        self.virtual = 0.0
        self.last = 0.0
        self.clock: int | None = None
        """The clock set for the next finish, if any: the driver's business."""

    def __len__(self) -> int:
        return len(self._tags)

    def start(self, now: float, job: Job) -> None:
        """A job enters."""
        self._advance(now)
        heappush(self._tags, (self.virtual + job.work, self._numbers, job))
        self._numbers += 1
        self._change()

    def finish(self, now: float) -> Job:
        """The job with the smallest tag leaves; its clock has fired, so that the virtual time is its tag."""
        tag, _, job = heappop(self._tags)
        self.virtual, self.last = tag, now
        self._change()
        return job

    def stop(self, now: float, job: Job) -> None:
        """A job leaves before it is done."""
        self._advance(now)
        self._tags.remove(next(entry for entry in self._tags if entry[2] is job))
        self._tags.sort()
        self._change()

    def next_finish(self) -> float | None:
        """When the next job is done if nothing changes; None when there is none or the rate is 0."""
        if not self._tags or self._speed == 0.0:
            return None
        return self.last + max(self._tags[0][0] - self.virtual, 0.0) * self._pace

    def work(self, now: float) -> float:
        """The unfinished work of all jobs present, added up in the order of starting."""
        virtual = self.virtual + (now - self.last) * self._speed
        return total((max(tag - virtual, 0.0) for tag, _, _ in sorted(self._tags, key=_number)), 0)

    def _advance(self, now: float) -> None:
        self.virtual += (now - self.last) * self._speed
        self.last = now

    def _change(self) -> None:
        """The number of jobs has changed: an empty stage starts its virtual time anew, which keeps tags precise."""
        n = len(self._tags)
        if n:
            rate = self._rate(n)
            self._speed = rate / n
            self._pace = n / rate if rate else math.inf
        else:
            self._speed = 0.0
            self.virtual = 0.0


def _number(entry: tuple[float, int, Job]) -> int:
    """The order of starting of a job with its tag."""
    return entry[1]

"""What a compiled run gives: sums per batch, and the observations or what is known of them."""

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, compress, count, pairwise
from math import inf, nan
from typing import NamedTuple

from serq.engine.observing import BUCKETS, EXPONENTS, GROUP, GROUPS, LOWEST, SIDE, SMALLEST, bucket_of

LEAST, MOST = 2.0**-SMALLEST, 2.0 ** (EXPONENTS - SMALLEST)
"""Sizes between which observations have buckets of their own."""


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage in one batch (see `serq.semantics.tallies.StageSums`)."""

    number: float
    busy: float
    nonempty: float
    wait: float
    sojourn: float
    service: float
    completed: int
    iterations: int


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool in one batch (see `serq.semantics.tallies.PoolSums`)."""

    used: float
    cached: float
    queue: float
    holders: float
    waited: float
    admissions: int
    evictions: int
    evicted_units: float
    preemptions: int
    rejections: int
    spills: int
    spilled_units: float


@dataclass(frozen=True, slots=True)
class SessionRow:
    """The sessions in one batch."""

    number: float
    arrived: int
    ended: int
    lost: int
    turns: int


@dataclass(frozen=True, slots=True)
class Row:
    """All sums of one batch; an observe's are (sum, number)."""

    stages: tuple[StageRow, ...]
    gauges: tuple[float, ...]
    sessions: SessionRow
    observes: tuple[tuple[float, int], ...]
    pools: tuple[PoolRow, ...] = ()


@dataclass(slots=True)
class Log:
    """The observations of one name, in order."""

    values: "array[float]" = field(default_factory=lambda: array("d"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    sessions: "array[int]" = field(default_factory=lambda: array("q"))
    turns: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is known of the observations of one name: moments, ends, and how many lie in which bucket.

    `undefined` is the number of NaN among them, which are counted nowhere else. `square` is the sum of squared
    deviations from the mean. Sketches of several runs can be merged.
    """

    count: int
    undefined: int
    mean: float
    square: float
    least: float
    most: float
    buckets: dict[int, int]

    def distribution(self) -> "Distribution":
        """The same in order."""
        places = sorted(self.buckets)
        return Distribution(places, list(accumulate(self.buckets[place] for place in places)), self.least, self.most)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The buckets that are not empty, in order, and how many observations lie in each or below it."""

    places: list[int]
    counted: list[int]
    least: float
    most: float

    def quantile(self, level: float) -> float:
        """The quantile, interpolated between order statistics, each right to 0.05 %; NaN where one of them lies beyond
        the powers of two that have buckets (2^-64 .. 2^96), and is no end that is known.
        """
        rank = level * (self.counted[-1] - 1)
        part = rank % 1.0
        below = self._ordered(int(rank))
        above = below if part == 0.0 else self._ordered(int(rank) + 1)
        return below if above == below or below == -inf else below + part * (above - below)

    def _ordered(self, rank: int) -> float:
        """The observation with so many smaller ones."""
        if self.least == self.most:
            return self.least
        at = min(bisect_right(self.counted, rank), len(self.places) - 1)
        place = self.places[at]
        if self._may_lie_beyond(place):
            first, last = rank == 0, rank == self.counted[-1] - 1
            return self.least if first else self.most if last else nan
        return min(max(middle_of(place), self.least), self.most)

    def _may_lie_beyond(self, place: int) -> bool:
        """Whether observations in this bucket may have joined it from beyond its edges."""
        if place == 2 * SIDE:
            return self.most >= MOST
        if place == 0:
            return self.least <= -MOST
        if place == SIDE + 1:
            return self.least < LEAST
        return place == SIDE - 1 and self.most > -LEAST

    def up_to(self, value: float) -> int:
        """How many observations lie in the value's bucket or below it."""
        return self._in_or_below(bucket_of(value))

    def part_of_group(self, value: float) -> float:
        """Which part of the observations in the value's group of buckets lies in its bucket or below it."""
        bucket = bucket_of(value)
        first = bucket // GROUP * GROUP
        before = self._in_or_below(first - 1)
        whole = self._in_or_below(first + GROUP - 1) - before
        return (self._in_or_below(bucket) - before) / whole if whole else (bucket - first + 1) / GROUP

    def _in_or_below(self, bucket: int) -> int:
        place = bisect_right(self.places, bucket)
        return self.counted[place - 1] if place else 0


@dataclass(frozen=True, slots=True)
class Profile:
    """How many observations of one name lie in which group of buckets by the end of each batch.

    `rows[batch][i]` counts those in group `first` + i since the window began.
    """

    first: int
    rows: tuple["array[int]", ...]

    def up_to(self, value: float, part: float) -> tuple[list[float], list[float]]:
        """By batch how many observations do not exceed the value, and how many there are.

        `part`: of those in the value's own group so many are taken not to exceed it, in every batch alike.
        """
        place = bucket_of(value) // GROUP - self.first
        below = [
            sum(row[: max(place, 0)]) + part * sum(row[place : place + 1] if place >= 0 else ()) for row in self.rows
        ]
        return _differences(below), _differences([float(sum(row)) for row in self.rows])


def _differences(totals: list[float]) -> list[float]:
    return [b - a for a, b in pairwise([0.0, *totals])]


def merged(sketches: list[Sketch]) -> Sketch:
    """The sketch of all observations together (T. Chan, G. Golub, R. LeVeque, Am. Stat. 37 (1983))."""
    whole = sketches[0]
    for other in sketches[1:]:
        count = whole.count + other.count
        off = other.mean - whole.mean if whole.count and other.count else 0.0
        mean = whole.mean + off * (other.count / count) if whole.count else other.mean
        cross = off * off * (whole.count * other.count / count) if count else 0.0
        buckets = dict(whole.buckets)
        for bucket, n in other.buckets.items():
            buckets[bucket] = buckets.get(bucket, 0) + n
        whole = Sketch(
            count, whole.undefined + other.undefined, mean, whole.square + other.square + cross,
            min(whole.least, other.least), max(whole.most, other.most), buckets,
        )  # fmt: skip
    return whole


def middle_of(bucket: int) -> float:
    """The middle of a bucket."""
    from serq.codegen.lang import float_of

    if bucket == SIDE:
        return 0.0
    place = abs(bucket - SIDE) - 1 + LOWEST
    value = 0.5 * (float_of(place << 42) + float_of((place + 1) << 42))
    return value if bucket > SIDE else -value


def buckets_of(counts: "array[int]", name: int, least: float, most: float) -> dict[int, int]:
    """The buckets of one name that are not empty; nothing lies outside `least` to `most`."""
    if least > most:
        return {}
    first, last = bucket_of(least), bucket_of(most)
    part = counts[name * BUCKETS + first : name * BUCKETS + last + 1]
    return dict(zip(compress(count(first), part), compress(part, part), strict=True))


def profile_of(counts: "array[int]", rows: int, name: int, names: int, least: float, most: float) -> Profile:
    """The profile of one of several names, from so many rows for all of them."""
    if least > most:
        return Profile(0, (array("q"),) * rows)
    first, last = bucket_of(least) // GROUP, bucket_of(most) // GROUP
    starts = ((row * names + name) * GROUPS for row in range(rows))
    return Profile(first, tuple(counts[at + first : at + last + 1] for at in starts))


class Waiting(NamedTuple):
    """A session that is still there when nothing happens any more: at the stage at `place`, or, where there is a
    `line`, at this line for the pool at `place`.
    """

    serial: int
    place: int
    line: int | None


@dataclass(frozen=True, slots=True)
class Left:
    """A session that is there at the end of a replay: its place in the trace, its turn, the instruction at which it is.

    `place` is the stage at which it is, or the pool for which it waits.
    """

    session: int
    turn: int
    pc: int
    place: int
    at_stage: bool


@dataclass(frozen=True, slots=True)
class NeverAdmitted:
    """Whose hold asks for more of a pool than there ever is: so many units, and so many holds wait behind it."""

    waiting: Left
    pool: int
    needed: float
    behind: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of the requests of a replay: `rows` of `serq.engine.requests.COLUMNS` numbers, one after the other.

    `time` and `events` are those of its end. `never` are the holds, first in the queue of a pool, that can never be
    admitted; `left` the sessions that are still there when nothing happens any more.
    """

    rows: "array[float]"
    time: float
    events: int
    rejections: int
    never: "tuple[NeverAdmitted, ...]"
    left: "tuple[Left, ...]"


@dataclass(frozen=True, slots=True)
class EngineResult:
    """One run. Either `logs` or `sketches` holds the observes, in the program's order, with `profiles` on request.

    `rested` is the time of the last event when no clock is set any more, else None; `waiting` are then the sessions
    that are still there. `stopped` says why the run ended early, with fewer rows; empty when it did not.
    """

    widths: tuple[float, ...]
    rows: tuple[Row, ...]
    logs: tuple[Log, ...]
    sketches: tuple[Sketch, ...]
    profiles: tuple[Profile, ...]
    events: int
    rested: float | None
    waiting: tuple[Waiting, ...]
    stopped: str = ""

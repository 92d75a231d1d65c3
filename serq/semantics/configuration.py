"""The state of a running program, as plain data: no clocks, no closures, no order that is not written down.

What a `Configuration` holds is all that the future of a program depends on, the pending clocks and remaining work
apart: those belong to the driver. Every list is in the order that its comment names.
"""

from collections import deque
from enum import IntEnum
from typing import Literal

from serq.ir.evaluate import Value


class Status(IntEnum):
    """Where a session is. A session is in exactly one place."""

    READY = 0
    """In `Configuration.ready`, or running its commands at this moment."""
    QUEUED = 1
    """Its hold waits in the queue of pool `Session.place`."""
    AT_STAGE = 2
    """Its job is at stage `Session.place`."""
    GROWING = 3
    """Its `grow` waits for room in pool `Session.place`."""
    ENDED = 4
    """It has left."""
    LEAVING = 5
    """It waits to give its units back until stage `Session.place`, which plans ahead, has planned."""


class Session:
    """A session: its attributes, its continuation, its open holds.

    `pc` is the instruction it executes next, or at which it waits. `cached` and `computed` are the built-in attributes.
    `admitted` is the number of its latest admission.
    """

    __slots__ = (
        "admitted", "attributes", "cached", "computed", "job", "pc", "place", "scopes", "serial", "status", "turn_no",
    )  # fmt: skip

    def __init__(self, serial: int, zero: Value) -> None:
        self.serial = serial
        self.attributes: dict[str, Value] = {}
        self.pc = 0
        self.turn_no = 0
        self.admitted = 0
        self.cached: Value = zero
        self.computed: Value = zero
        self.status = Status.READY
        self.place = -1
        self.job: Job | None = None
        self.scopes: list[Scope] = []  # outermost first

    def __repr__(self) -> str:
        return f"<session {self.serial} at {self.pc}, {self.status.name.lower()}>"


class Allocation:
    """What a scope holds of one pool.

    `position` is the computed position of a pool along which a `run ... growing` of the body went, None for the others.
    `consumed` is how much of the session's own entry went into it at the admission.
    """

    __slots__ = ("consumed", "pool", "position", "scope", "session", "units")

    def __init__(self, session: Session, scope: "Scope", pool: int, units: Value, consumed: Value) -> None:
        self.session = session
        self.scope = scope
        self.pool = pool
        self.units = units
        self.consumed = consumed
        self.position: Value | None = None


class Scope:
    """An open hold: the instruction, its admission number, its allocations in the order of the hold's pools.

    `computed` is the largest position that earlier executions of this hold reached, which is what the attribute of
    that name reads within it; 0 on the first.
    """

    __slots__ = ("allocations", "computed", "number", "pc")

    def __init__(self, pc: int, number: int, computed: Value) -> None:
        self.pc = pc
        self.number = number
        self.computed = computed
        self.allocations: list[Allocation] = []


class Claim:
    """A hold that waits: who, since when, for which pools, and its join number (negative for a preempted one)."""

    __slots__ = ("number", "pools", "session", "since")

    def __init__(self, session: Session, pools: tuple[int, ...], since: Value, number: int) -> None:
        self.session = session
        self.pools = pools
        self.since = since
        self.number = number


class Entry:
    """A cached prefix. A dead one can be evicted but never hit; `owner` is then whose it was."""

    __slots__ = ("dead", "number", "owner", "time", "units")

    def __init__(self, owner: Session, units: Value, time: Value, number: int, dead: bool = False) -> None:
        self.owner = owner
        self.units = units
        self.time = time  # of the release
        self.number = number  # of the release
        self.dead = dead


class Grower:
    """A `grow` that waits for room: for how many units more, and its stall number."""

    __slots__ = ("allocation", "number", "session", "units")

    def __init__(self, session: Session, allocation: Allocation, units: Value, number: int) -> None:
        self.session = session
        self.allocation = allocation
        self.units = units
        self.number = number


class Job:
    """Work at a stage. `session` is None for the background job of a spill, which has a `transfer` instead.

    On a step stage `work` is what is left of it in tokens, `growing` the allocation that grows along, `origin` its
    computed position at the beginning, and `order` the key by which residents are served: (0, the number of the
    session's latest admission), or (1, the number of joining) for a session that no pool ever admitted.
    """

    __slots__ = ("growing", "number", "order", "origin", "phase", "session", "stage", "transfer", "work")

    def __init__(self, number: int, stage: int, work: Value, session: Session | None) -> None:
        self.number = number  # of joining; a key within the configuration
        self.stage = stage
        self.work = work
        self.session = session
        self.phase: Literal["prefill", "decode"] | None = None
        self.growing: Allocation | None = None
        self.origin: Value = 0
        self.order = (1, number)
        self.transfer: Transfer | None = None


class Transfer:
    """What a spill carries: units of an owner's prefix on their way to the cache of pool `tier`."""

    __slots__ = ("owner", "tier", "units")

    def __init__(self, owner: Session, tier: int, units: Value) -> None:
        self.owner = owner
        self.tier = tier
        self.units = units


class PoolState:
    """A pool. `used` and `cached` are sums, kept because they are asked for so often."""

    __slots__ = ("allocations", "cached", "dead", "entries", "growers", "queue", "used")

    def __init__(self, zero: Value) -> None:
        self.used: Value = zero
        self.cached: Value = zero
        self.allocations: list[Allocation] = []  # admission order
        self.entries: dict[int, Entry] = {}  # what can be hit: by the owner's serial, in the order of release numbers
        self.dead: list[Entry] = []  # in the order of release numbers
        self.queue: list[Claim] = []  # by join number
        self.growers: list[Grower] = []  # by stall number


class StageState:
    """A stage: fifo `waiting` and `serving`, ps and delay `serving` only, step `residents` and `batch`."""

    __slots__ = ("batch", "budget_left", "done", "leaving", "plan", "residents", "serving", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Job] = deque()  # arrival order
        self.serving: dict[int, Job] = {}  # by job number, in the order of starting
        self.residents: list[Job] = []  # by `Job.order`
        self.batch: list[tuple[Job, Value]] | None = None  # jobs and tokens of the running iteration, None when idle
        self.budget_left: Value | None = None  # a number only while an iteration is put together
        self.plan: list[tuple[Job, Value]] | None = None  # its jobs and tokens so far; None at rest
        # only of a stage that plans ahead: whose work was done in the iteration that has just ended and who has not
        # come back, and those among them that wait to give units back until the next has been put together
        self.done: list[Session] = []
        self.leaving: list[Session] = []


class Configuration:
    """Everything but the clocks. `next_number` numbers joins, admissions, releases and stalls in one sequence."""

    __slots__ = ("next_number", "next_serial", "pools", "ready", "sessions", "stages")

    def __init__(self, pools: int, stages: int, zero: Value) -> None:
        self.sessions: dict[int, Session] = {}  # live ones, by serial
        self.ready: deque[Session] = deque()  # in the order they became ready
        self.pools = [PoolState(zero) for _ in range(pools)]
        self.stages = [StageState() for _ in range(stages)]
        self.next_serial = 0
        self.next_number = 1

    def number(self) -> int:
        """The next running number."""
        number = self.next_number
        self.next_number = number + 1
        return number

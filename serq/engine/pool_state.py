"""What a run knows of its pools, as a record of restricted Python that lies inside the state of the run.

A *hold* is a hold statement of the program, by number; a *part* is one pool of a hold, numbered through all holds. A
statement is open at most once in a session, so what it holds has a fixed place: the slot and the part. Lists are links
in preallocated arrays: the queue of a pool through the slots that wait in it, the cache of a pool through its entries
in the order of release, the holders of a pool through what they hold in the order of admission.
"""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array, f64, i64

GOING = 0
"""A session that is ready, or at a stage."""
QUEUED = 1
"""Its hold waits in the queue of a pool."""
STALLED = 2
"""Its growth waits for room."""
GONE = 3
"""The session has ended, but something of it is still cached, or on its way to a tier."""

CARRIER = 6
"""The background job of a spill: `claim` is the slot of the owner, `growing` the tier, `wanted` how many units."""

BLOCKED = 16
"""The hold that was tried does not fit."""
ADMITTED = 17
"""It was admitted: its session is ready to run on at once, and is in no list."""
REJECTED = 18
"""It can never fit: its session has ended."""
NONE = -1.0
"""The position of what has not grown along with a run."""

POOL_SUMS = 12
"""Per pool in a row of sums: used, cached, queue, holders, waited, admissions, evictions, evicted units, preemptions,
rejections, spills, spilled units.
"""


class Pools:
    """The pools of a run.

    `number` numbers admissions and releases. `changed`: something has happened for which a hold that waits may fit now.
    `ghosts`: an owner's slot is kept for what is cached of it, as keys or tiers may ask for it. `short`: an entry or a
    session had no place, so that everything since is void. `index` and `value` are where functions that give a status
    put what they found. `waits` is how many sessions are queued or stalled, `running` that which has come to a `grow`,
    -1 elsewhere.
    """

    count: i64
    holds: i64
    parts: i64
    number: i64
    changed: i64
    ghosts: i64
    short: i64
    index: i64
    value: f64
    gone: i64
    running: i64
    landed: i64
    landed_last: i64
    preemptions: i64
    waits: i64

    # per pool
    used: Annotated[F64Array, "pool"]
    cached: Annotated[F64Array, "pool"]
    holders: Annotated[I64Array, "pool"]
    queued: Annotated[I64Array, "pool"]
    head: Annotated[I64Array, "pool"]
    tail: Annotated[I64Array, "pool"]
    oldest: Annotated[I64Array, "pool"]
    newest: Annotated[I64Array, "pool"]
    eldest: Annotated[I64Array, "pool"]
    youngest: Annotated[I64Array, "pool"]
    stalled: Annotated[I64Array, "pool"]
    stalled_last: Annotated[I64Array, "pool"]
    touched: Annotated[I64Array, "pool"]

    # per slot
    status: Annotated[I64Array, "slot"]
    open: Annotated[I64Array, "slot"]
    claim: Annotated[I64Array, "slot"]
    before: Annotated[I64Array, "slot"]
    ahead: Annotated[I64Array, "slot"]
    since: Annotated[F64Array, "slot"]
    hit: Annotated[F64Array, "slot"]
    computed: Annotated[F64Array, "slot"]
    admitted: Annotated[I64Array, "slot"]
    kept: Annotated[I64Array, "slot"]
    growing: Annotated[I64Array, "slot"]
    wanted: Annotated[F64Array, "slot"]

    # per slot and part, per slot and hold, per slot and pool
    pool: Annotated[I64Array, "part"]
    units: Annotated[F64Array, "part"]
    consumed: Annotated[F64Array, "part"]
    position: Annotated[F64Array, "part"]
    elder: Annotated[I64Array, "part"]
    younger: Annotated[I64Array, "part"]
    opened: Annotated[I64Array, "statement"]
    reached: Annotated[F64Array, "statement"]
    own: I64Array

    # entries; `free` is the first of the `vacant` ones, chained by `newer`; an event may need `reserve` of them, and as
    # many slots
    vacant: i64
    reserve: i64
    free: i64
    size: Annotated[F64Array, "entry"]
    time: Annotated[F64Array, "entry"]
    owner: Annotated[I64Array, "entry"]
    dead: Annotated[I64Array, "entry"]
    release: Annotated[I64Array, "entry"]
    older: Annotated[I64Array, "entry"]
    newer: Annotated[I64Array, "entry"]

    # per pool, as it was when it was last read at rest, and the sums of a batch
    seen_used: Annotated[F64Array, "pool"]
    seen_cached: Annotated[F64Array, "pool"]
    seen_queue: Annotated[I64Array, "pool"]
    seen_holders: Annotated[I64Array, "pool"]
    seen_at: Annotated[F64Array, "pool"]
    sum_used: Annotated[F64Array, "pool"]
    sum_cached: Annotated[F64Array, "pool"]
    sum_queue: Annotated[F64Array, "pool"]
    sum_holders: Annotated[F64Array, "pool"]
    sum_waited: Annotated[F64Array, "pool"]
    sum_evicted: Annotated[F64Array, "pool"]
    sum_spilled: Annotated[F64Array, "pool"]
    admissions: Annotated[I64Array, "pool"]
    evictions: Annotated[I64Array, "pool"]
    preempted: Annotated[I64Array, "pool"]
    rejections: Annotated[I64Array, "pool"]
    spills: Annotated[I64Array, "pool"]
    rows: F64Array

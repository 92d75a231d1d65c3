"""What a run knows of its pools, as a record of restricted Python that lies inside the state of the run.

A *hold* is a hold statement of the program, by number; a *part* is one pool of a hold, numbered through all holds. A
statement is open at most once in a session, so what it holds has a fixed place: the slot and the part. Lists are links
in preallocated arrays: the queue of a pool through the slots that wait in it, the cache of a pool through its entries
in the order of release, the holders of a pool through what they hold in the order of admission.
"""

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
    put what they found. `running` is the session that has come to a `grow`, -1 elsewhere.
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

    # per pool
    used: F64Array
    cached: F64Array
    holders: I64Array
    queued: I64Array
    head: I64Array
    tail: I64Array
    oldest: I64Array
    newest: I64Array
    eldest: I64Array
    youngest: I64Array
    stalled: I64Array
    stalled_last: I64Array
    touched: I64Array

    # per slot
    status: I64Array
    open: I64Array
    claim: I64Array
    before: I64Array
    ahead: I64Array
    since: F64Array
    hit: F64Array
    computed: F64Array
    admitted: I64Array
    kept: I64Array
    growing: I64Array
    wanted: F64Array

    # per slot and part, per slot and hold, per slot and pool
    pool: I64Array
    units: F64Array
    consumed: F64Array
    position: F64Array
    elder: I64Array
    younger: I64Array
    opened: I64Array
    reached: F64Array
    own: I64Array

    # entries; `free` is the first of the `vacant` ones, chained by `newer`; an event may need `reserve` of them, and as
    # many slots
    vacant: i64
    reserve: i64
    free: i64
    size: F64Array
    time: F64Array
    owner: I64Array
    dead: I64Array
    release: I64Array
    older: I64Array
    newer: I64Array

    # per pool, as it was when it was last read at rest, and the sums of a batch
    seen_used: F64Array
    seen_cached: F64Array
    seen_queue: I64Array
    seen_holders: I64Array
    seen_at: F64Array
    sum_used: F64Array
    sum_cached: F64Array
    sum_queue: F64Array
    sum_holders: F64Array
    sum_waited: F64Array
    sum_evicted: F64Array
    sum_spilled: F64Array
    admissions: I64Array
    evictions: I64Array
    preempted: I64Array
    rejections: I64Array
    spills: I64Array
    rows: F64Array

"""The state of a run, as one record of restricted Python, and the words for how a call ends.

A session lives in a slot, which is used again after its end. A pending job has its clock in one of two places: a stage
at which at most one can be pending (a single server, a shared processor, the stream of arrivals) has an entry of
`clock_time` and `clock_order`; all others lie in region 0 of the heap. Region 1, 2, ... of the heap hold the jobs of
the processor-sharing stages by finish tag. `order` numbers the clocks as they are set: of two clocks for one instant
the one that was set first fires first.
"""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array, U64Array, f64, i64
from serq.engine.online_state import Online
from serq.engine.pool_state import Pools
from serq.engine.replaying import Trace
from serq.engine.request_state import Requests
from serq.engine.step_state import Steps

INF = float("inf")
NAN = float("nan")
NEVER = 2**62
"""The order of a clock that is not set; its time is INF."""

MORE = 0
"""A call has done as many events as it was asked to."""
DONE = 1
"""The next event lies beyond the horizon."""
RESTED = 2
"""No clock is set: nothing happens any more."""
GROW = 3
"""There is no slot left for another session."""
DRAIN = 4
"""The log of observations is nearly full."""
FAULT = 6
"""The program did something wrong: see `fault_site`."""

NOBODY = -1
"""In place of a slot: nobody runs on at once."""
FAILED = -2
"""In place of a slot: the program did something wrong."""

STAGE_SUMS = 8
"""Per stage in a row of sums: number, busy, nonempty, wait, sojourn, service, completed, iterations."""
SESSION_SUMS = 5
"""In a row of sums: number, arrived, ended, lost, turns."""


class Sim:
    """Everything that a run knows. Arrays `per slot` have `cap` items, those of a stage one for each stage."""

    now: f64
    horizon: f64
    events: i64
    order: i64
    commands: i64
    left: i64
    ended_now: i64
    most_ends: i64
    passages: i64
    changed: i64
    settled: i64

    # sessions, per slot; `words` has 4 for each stream that the program draws from, and `attrs` as many as there are
    # attributes; `flags` says which attributes have been set; `ahead` is a draw that has been made before it is needed
    cap: i64
    free: i64
    live: i64
    next_serial: i64
    ready_head: i64
    ready_tail: i64
    serial: Annotated[I64Array, "slot"]
    pc: Annotated[I64Array, "slot"]
    turn: Annotated[I64Array, "slot"]
    follow: Annotated[I64Array, "slot"]
    place: Annotated[I64Array, "slot"]
    flags: Annotated[I64Array, "slot"]
    joined: Annotated[F64Array, "slot"]
    begun: Annotated[F64Array, "slot"]
    work: Annotated[F64Array, "slot"]
    ahead: Annotated[F64Array, "slot"]
    attrs: F64Array
    words: U64Array

    # seeds; by lane the streams of the next sessions, or what they draw and whether that is good
    # (`serq.codegen.blocks`), and a place for the stream of one that is drawn alone; the next gap
    keys: U64Array
    arrival: U64Array
    zeros: i64
    coming: U64Array
    coming_work: U64Array
    alone: U64Array
    drawn: F64Array
    room: F64Array
    gap: f64

    # the numbers of the program's arrivals: sessions at time 0, how many may be there, the rate
    first_sessions: i64
    most_live: i64
    rate: f64

    # clocks
    clock_time: Annotated[F64Array, "clock"]
    clock_order: Annotated[I64Array, "clock"]
    heap_time: F64Array
    heap_order: Annotated[I64Array, "heap"]
    heap_slot: Annotated[I64Array, "heap"]
    heap_size: Annotated[I64Array, "region"]
    hole: Annotated[I64Array, "region"]
    heap_room: Annotated[I64Array, "region"]
    first_time: Annotated[F64Array, "region"]
    first_order: Annotated[I64Array, "region"]
    first_slot: Annotated[I64Array, "region"]
    sequence: Annotated[U64Array, "region"]
    half_bytes: Annotated[U64Array, "region"]
    top: Annotated[I64Array, "region"]

    # stages
    servers: Annotated[I64Array, "stage"]
    serving: Annotated[I64Array, "stage"]
    queue_head: Annotated[I64Array, "stage"]
    queue_tail: Annotated[I64Array, "stage"]
    number: Annotated[I64Array, "stage"]
    last: Annotated[F64Array, "stage"]
    sum_number: Annotated[F64Array, "stage"]
    sum_busy: Annotated[F64Array, "stage"]
    sum_nonempty: Annotated[F64Array, "stage"]
    sum_wait: Annotated[F64Array, "stage"]
    sum_sojourn: Annotated[F64Array, "stage"]
    sum_service: Annotated[F64Array, "stage"]
    completed: Annotated[I64Array, "stage"]
    iterations: Annotated[I64Array, "stage"]
    virtual: Annotated[F64Array, "stage"]
    shared_last: Annotated[F64Array, "stage"]
    speed: Annotated[F64Array, "stage"]
    started: Annotated[I64Array, "stage"]
    moved: Annotated[I64Array, "stage"]

    steps: Steps
    trace: Trace
    requests: Requests

    # what is counted about sessions and gauges
    sessions_last: f64
    sessions_area: f64
    arrived: i64
    ended: i64
    lost: i64
    turns: i64
    gauge_value: Annotated[F64Array, "gauge"]
    gauge_last: Annotated[F64Array, "gauge"]
    gauge_area: Annotated[F64Array, "gauge"]
    gauge_slope: Annotated[F64Array, "gauge"]

    # observes: sums of a batch; moments, ends and histograms of the window, the latter by batch too where `profiled`;
    # or the log
    batch_sum: Annotated[F64Array, "observe"]
    batch_count: Annotated[I64Array, "observe"]
    seen: Annotated[I64Array, "observe"]
    undefined: Annotated[I64Array, "observe"]
    mean: Annotated[F64Array, "observe"]
    square: Annotated[F64Array, "observe"]
    least: Annotated[F64Array, "observe"]
    most: Annotated[F64Array, "observe"]
    buckets: I64Array
    profiled: i64
    profile: I64Array
    log_cap: i64
    log_reserve: i64
    log_size: i64
    log_full: i64
    log_name: Annotated[I64Array, "log"]
    log_value: Annotated[F64Array, "log"]
    log_time: Annotated[F64Array, "log"]
    log_serial: Annotated[I64Array, "log"]
    log_turn: Annotated[I64Array, "log"]

    # batches: where they end, and a row of sums for each
    ends: F64Array
    last_end: i64
    closed: i64
    next_end: f64
    stages: i64
    gauges: i64
    observes: i64
    rows: F64Array

    pools: Pools
    online: Online

    fault_site: i64
    fault_serial: i64
    fault_place: i64
    fault_values: F64Array


def fail(s: Sim, site: i64, serial: i64, place: i64) -> i64:
    """The program did something wrong at a site, with a stage or pool or member at that place."""
    s.fault_site = site
    s.fault_serial = serial
    s.fault_place = place
    return FAULT


def fail_with(s: Sim, site: i64, serial: i64, place: i64, value: f64) -> i64:
    """The same, with the number that is to blame."""
    s.fault_values[0] = value
    return fail(s, site, serial, place)

"""What a run knows of its step stages, as a record of restricted Python that lies inside the state of the run.

Step stages are numbered among themselves in the order of declaration. Arrays `per stage` have an item for each of
them, arrays `per stage and slot` a region of `cap` items for each, in which a list lies from the front. A session has a
job at one stage at most, so that what belongs to a job lies in its session's slot.
"""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array, f64, i64

PREFILL = 1
DECODE = 2
"""What `phase` is of a resident; 0 for a session that is at no step stage."""

NEVER_ADMITTED = 2**60
"""Ranks from here on are those of residents that no pool has ever admitted: they come last, in the order of joining."""


WIDEST = 1024
"""The largest block with which growth is counted together."""

FAR = 2**62
"""A round that never comes."""


class Steps:
    """The step stages of a run."""

    # per stage of any kind: its number among the step stages
    number_of: I64Array

    # per stage: how many residents, whether an iteration runs or is being put together, and how long its lists are
    place: Annotated[I64Array, "stage"]
    memory: Annotated[I64Array, "stage"]
    count: Annotated[I64Array, "stage"]
    running: Annotated[I64Array, "stage"]
    planning: Annotated[I64Array, "stage"]
    size: Annotated[I64Array, "stage"]
    listed: Annotated[I64Array, "stage"]
    cursor: Annotated[I64Array, "stage"]
    aside_size: Annotated[I64Array, "stage"]
    done_size: Annotated[I64Array, "stage"]
    leaving_size: Annotated[I64Array, "stage"]
    left: Annotated[F64Array, "stage"]
    most: Annotated[F64Array, "stage"]
    options: Annotated[I64Array, "stage"]

    # per stage: what is counted together of its steady residents (see `serq.engine.steady`)
    loose_count: Annotated[I64Array, "stage"]
    steady_count: Annotated[I64Array, "stage"]
    steady_batch: Annotated[I64Array, "stage"]
    round: Annotated[I64Array, "stage"]
    next_finish: Annotated[I64Array, "stage"]
    steady_held: Annotated[F64Array, "stage"]
    cap: Annotated[F64Array, "stage"]
    block: Annotated[F64Array, "stage"]
    width: Annotated[I64Array, "stage"]
    due: Annotated[I64Array, "stage"]

    # per stage, `WIDEST` items: of the steady residents that grow, how many have a `base` with this remainder
    crossings: I64Array

    # per stage and slot: residents by rank, when each steady one of them is done (FAR for loose ones), the loose ones
    # among them, those that are to be given tokens, and the batch in the order of scheduling
    residents: I64Array
    finishes: I64Array
    loose: I64Array
    order: I64Array
    batch: I64Array
    aside: I64Array
    done: I64Array
    leaving: I64Array
    aside_tokens: F64Array

    # per slot
    phase: Annotated[I64Array, "slot"]
    rank: Annotated[I64Array, "slot"]
    tokens: Annotated[F64Array, "slot"]
    lately: Annotated[I64Array, "slot"]
    part: Annotated[I64Array, "slot"]
    at: Annotated[I64Array, "slot"]
    pool: Annotated[I64Array, "slot"]
    site: Annotated[I64Array, "slot"]
    origin: Annotated[F64Array, "slot"]
    held: Annotated[F64Array, "slot"]
    steady: Annotated[I64Array, "slot"]
    finish: Annotated[I64Array, "slot"]
    base: Annotated[I64Array, "slot"]
    crosses: Annotated[I64Array, "slot"]

    # `idle`: how many stages have something to do, or to let go, and could not begin; `coasted`: the events of a call
    joined: i64
    idle: i64
    coasted: i64
    value: f64
    budget: f64
    chunk: f64
    barren: i64
    most_barren: i64
    moved: i64
    started: i64

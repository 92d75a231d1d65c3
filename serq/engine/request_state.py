"""What a replay knows of its requests, as a record of restricted Python that lies inside the state of the run."""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array, i64


class Requests:
    """By slot the request that is under way (`turn` 0: none), and the rows of those that are over.

    NaN stands for what has not happened. `room` is how many rows there is memory for, `size` how many are in it; room
    for none means that nobody asks for requests.
    """

    turn: Annotated[I64Array, "slot"]
    sent: Annotated[F64Array, "slot"]
    reached: Annotated[F64Array, "slot"]
    first: Annotated[F64Array, "slot"]
    done: Annotated[F64Array, "slot"]
    prompt: Annotated[F64Array, "slot"]
    cached: Annotated[F64Array, "slot"]
    out: Annotated[F64Array, "slot"]
    preemptions: Annotated[I64Array, "slot"]
    room: i64
    size: i64
    reserve: i64
    rows: F64Array

    # the journal of the step stages (see `serq.engine.journal`): `written` numbers one after the other, of `space` that
    # there is room for and of which one event may need `spare`; by pool the step stage that it belongs to, -1 for none
    journal: F64Array
    written: i64
    space: i64
    spare: i64
    stage_of: I64Array

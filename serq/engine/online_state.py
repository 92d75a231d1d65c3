"""What a run keeps of its stages only for programs that ask for it, as a record of restricted Python.

The online estimates are exponentially weighted means that start at their first sample and are 0 before it.
"""

from typing import Annotated

from serq.codegen.lang import F64Array, I64Array


class Online:
    """Of every stage, the gaps between arrivals so far, and the waits and services that are over; and room for as many
    jobs as there are slots, in which the work of a stage is added up.
    """

    arrivals: Annotated[I64Array, "stage"]
    departures: Annotated[I64Array, "stage"]
    last: Annotated[F64Array, "stage"]
    gap: Annotated[F64Array, "stage"]
    wait: Annotated[F64Array, "stage"]
    service: Annotated[F64Array, "stage"]

    order: I64Array
    work: F64Array

"""The measures that many families share, under one name each."""

from collections.abc import Mapping

import sympy

from serq.closedforms.formula import Quantity

QUEUE: Mapping[str, tuple[str, str]] = {
    "p0": ("probability that the station is empty", ""),
    "U": ("utilisation: busy servers / servers", ""),
    "X": ("throughput: jobs served per unit of time", "1/time"),
    "L": ("mean number of jobs present", ""),
    "Lq": ("mean number of jobs waiting", ""),
    "R": ("mean sojourn time, waiting and service", "time"),
    "Wq": ("mean time waiting", "time"),
}


def queue(expressions: Mapping[str, sympy.Expr | None]) -> tuple[Quantity, ...]:
    """Quantities of a queue with their expressions, in the order given."""
    return tuple(Quantity(name, *QUEUE[name], expression) for name, expression in expressions.items())

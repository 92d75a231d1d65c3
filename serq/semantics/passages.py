"""The absorbing chain of one interval, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.ir.expr import Number
from serq.semantics.generator import Rows


@dataclass(frozen=True)
class Passage:
    """The absorbing chain of one interval, in rates.

    `start`: rate of beginning in each state. `rows`: rates from state to state. `exits`: rate of leaving a state.
    `observed`: by the rest that is added to the time, the rate of observing in each state; `at_once`: likewise, the
    rate of observing at the very instant at which the clock is set. The observed value is `factor` * time + rest.
    `error` bounds the sum of the errors of all rates in `start` and `at_once`, None where nothing is known of it.
    `clocked`: a state does not last an exponential time but just 1 / `exits`, and `rows` has what leads back to itself.
    """

    observe: str
    factor: Fraction
    start: tuple[Number, ...]
    rows: Rows
    exits: tuple[Fraction, ...]
    observed: Mapping[Fraction, tuple[Fraction, ...]]
    at_once: Mapping[Fraction, Number]
    method: str
    error: float | None = 0.0
    clocked: bool = False

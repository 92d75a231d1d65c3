"""What a witness answers: a value with its error and its provenance, or the reason why there is none."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from serq.ir.expr import Number

Witness = Literal["simulation", "exact", "closed form"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One answer about one measure.

    `value` is a Fraction when it is exact. Simulation gives `half_width` (of the interval at `confidence`) and
    `standard_error` with `degrees` of freedom; a numerical solution gives a `bound` on its error where it has one.
    `value` None: there is no answer, and `reason` says why. `near`: a parameter is irrational and a rational next to it
    was taken, so a rational value is one of another program.
    """

    measure: str
    witness: Witness
    value: Number | None
    method: str
    half_width: float | None = None
    confidence: float | None = None
    standard_error: float | None = None
    degrees: float | None = None
    bound: float | None = None
    reason: str = ""
    near: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the value is a rational, with no error at all."""
        return isinstance(self.value, Fraction) and not self.near

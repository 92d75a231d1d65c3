"""Answers as strict JSON and back, with nothing lost: rationals as texts, doubles to the bit, infinities as texts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal

from serq.compare.rare import Usual
from serq.ir.expr import Number
from serq.ir.results import Estimate

Status = Literal["done", "silent", "limit", "failed", "broken"]
"""`silent`: the method does not apply, `limit`: it would take too much, `failed`: the program is at fault, `broken`:
serQ is, or the machine; another try may end differently.
"""

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Bounds:
    """What is known of a measure without solving: no less than `low`, no more than `high` (None: nothing is known)."""

    measure: str
    kind: str
    low: Number | None
    high: Number | None


@dataclass(frozen=True)
class Outcome:
    """What one method said at one point. `how`: with what it was found, `reason` why there is nothing, `remark` what a
    reader must know. A simulation has `usual` values, and the `shares` of its batches; formulas have `bounds` and the
    population at which a closed network saturates; a chain has its `conditions` where they were asked for.
    """

    status: Status
    reason: str = ""
    how: str = ""
    remark: str = ""
    estimates: tuple[Estimate, ...] = ()
    usual: Mapping[str, Usual] = field(default_factory=dict)
    shares: Mapping[str, Rows] = field(default_factory=dict)
    bounds: tuple[Bounds, ...] = ()
    saturation: Number | None = None
    conditions: Mapping[str, Any] | None = None

    def answer(self, measure: str) -> Estimate | None:
        """The answer about a measure, None where there is none."""
        return next((e for e in self.estimates if e.measure == measure), None)

    def to_data(self) -> dict[str, object]:
        """The outcome as JSON data."""
        return {
            "status": self.status, "reason": self.reason, "how": self.how, "remark": self.remark,
            "estimates": [_plain(e) for e in self.estimates],
            "usual": {name: _plain(u) for name, u in self.usual.items()},
            "shares": {name: [list(row) for row in rows] for name, rows in self.shares.items()},
            "bounds": [_plain(b) for b in self.bounds],
            "saturation": encode(self.saturation),
            "conditions": None if self.conditions is None else dict(self.conditions),
        }  # fmt: skip

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "Outcome":
        """The outcome that `to_data` wrote."""
        return cls(
            data["status"], data["reason"], data["how"], data["remark"],
            tuple(Estimate(**_values(row)) for row in data["estimates"]),
            {name: Usual(**_values(row)) for name, row in data["usual"].items()},
            {name: tuple(tuple(row) for row in rows) for name, rows in data["shares"].items()},
            tuple(Bounds(**_values(row)) for row in data["bounds"]),
            decode(data["saturation"]),
            data["conditions"],
        )  # fmt: skip


_NUMBERS = frozenset(
    {"value", "half_width", "confidence", "standard_error", "degrees", "bound", "low", "high"}
    | {"excursion", "total", "length", "rounding"}
)


def _plain(item: Any) -> dict[str, object]:
    return {f.name: encode(getattr(item, f.name)) for f in fields(item)}


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: decode(value) if name in _NUMBERS else value for name, value in row.items()}


def encode(value: object) -> object:
    """A number as JSON: `{"exact": "1/3"}` for a rational, a text for an infinity or NaN, else as it is."""
    if isinstance(value, Fraction):
        return {"exact": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def decode(value: Any) -> Any:
    """The number that `encode` wrote."""
    if isinstance(value, dict):
        return Fraction(value["exact"])
    return float(value) if isinstance(value, str) else value

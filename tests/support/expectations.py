"""The known values beside the shipped models, read from their `.toml`."""

import tomllib
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from serq import models


@dataclass(frozen=True)
class Expectation:
    """One `[[expect]]`.

    `measures` are added up. What they must be: a Fraction (equal), a Decimal (equal in the digits it prints), the
    name of another measure (`equals`), or at most `at_most`. `error` is the standard error of `value`, where that was
    simulated by somebody else.
    """

    model: models.ShippedModel
    sets: tuple[tuple[str, str], ...]
    measures: tuple[str, ...]
    witnesses: tuple[str, ...]
    source: str
    value: Fraction | Decimal | None = None
    error: float = 0.0
    at_most: Fraction | None = None
    equals: str | None = None

    def __str__(self) -> str:
        sets = "".join(f" {name}={text}" for name, text in self.sets)
        return f"{self.model.name}{sets} {'+'.join(self.measures)}"


def read_toml(model: models.ShippedModel) -> dict[str, Any]:
    """The whole file; decimals keep the digits that were written."""
    return tomllib.loads(model.expectations.read_text("utf-8"), parse_float=Decimal)


def expectations() -> list[Expectation]:
    """All of them, model by model."""
    return [_read(model, entry) for model in models.shipped() for entry in read_toml(model)["expect"]]


def _read(model: models.ShippedModel, entry: dict[str, Any]) -> Expectation:
    measure, bound = entry["measure"], entry.get("at_most")
    return Expectation(
        model,
        tuple((name, str(value)) for name, value in entry.get("set", {}).items()),
        (measure,) if isinstance(measure, str) else tuple(measure),
        tuple(entry["witness"]),
        entry["source"],
        _value(entry.get("value")),
        float(entry.get("error", 0)),
        None if bound is None else Fraction(bound),
        entry.get("equals"),
    )


def _value(written: str | int | Decimal | None) -> Fraction | Decimal | None:
    if isinstance(written, str):
        return Fraction(written)
    return Decimal(written) if isinstance(written, int) else written

"""The reference rationals of `exact.json` that a closed form reaches, through the programs that they belong to."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from serq.closedforms.match import match
from serq.ir.expr import Number
from serq.pipeline import load

VALUES = Path(__file__).parent.parent / "data" / "values"
ENTRIES = json.loads((VALUES / "exact.json").read_text(encoding="utf-8"))
REACHED = {"mm1n.sq", "mmcn.sq", "ps.sq", "tandem.sq"}
STAGE = {"tandem.sq": "prefill"}


def values(name: str, sets: dict[str, Any]) -> dict[str, Number | None]:
    overrides = {key: str(value) for key, value in sets.items()}
    found = match(load(VALUES / "programs" / name, overrides).program)
    assert found.matches, found.why_not
    return {e.measure: e.value for e in found.estimates}


def label(entry: dict[str, object]) -> str:
    return f"{entry['program']} {entry['set']}"


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.get("program") in REACHED], ids=label)
def test_throughput_and_response(entry: dict[str, Any]) -> None:
    got = values(entry["program"], entry["set"])
    stage = STAGE.get(entry["program"], "svc")
    assert got[f"stage.{stage}.throughput"] == got["observe.response.rate"] == Fraction(entry["values"]["X"])
    assert got["observe.response.mean"] == Fraction(entry["values"]["R"])


def test_an_interval_that_ends_inside_the_loop() -> None:
    (entry,) = (e for e in ENTRIES if e.get("case") == "tandem N=3 ttft")
    assert values("tandem.sq", {"N": 3})["observe.ttft.mean"] == Fraction(entry["values"]["mean"])


@pytest.mark.parametrize("entry", [e for e in ENTRIES if "~exp(m)" in e.get("case", "")], ids=lambda e: e["case"])
def test_the_memoryless_case_of_general_work(entry: dict[str, Any]) -> None:
    sources = entry["case"].split("N=")[1].split(",")[0]
    assert values("mm1n.sq", {"N": sources, "Z": 4, "mu": 1})["stage.svc.throughput"] == Fraction(entry["values"])

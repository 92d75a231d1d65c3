"""Numbers that textbooks and other tools print, reproduced to their printed digits by closed forms or exact solutions.

`published.json` has the numbers with their sources, `recipes.toml` says how each is reproduced. Where the independent
recomputation of an entry differs from the print, the print is wrong and the recomputation counts.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serq.closedforms.registry import evaluate, read_arguments
from serq.pipeline import SolveOptions, load_text, solve

VALUES = Path(__file__).parent.parent / "data" / "values"
RECIPES = tomllib.loads((VALUES / "recipes.toml").read_text(encoding="utf-8"))
PUBLISHED = {entry["name"]: entry for entry in json.loads((VALUES / "published.json").read_text(encoding="utf-8"))}
SERQ = ("yes", "needs a loss station", "maybe (needs a preemptive stage")
"""What the entries say that a formula or a program of ours gives; we have the formulas of preemptive stages."""
ASKED = {n for n, entry in PUBLISHED.items() if entry["serq"].startswith(SERQ)}
WRONG = RECIPES["wrong"]
PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "what-to-trust.md").read_text("utf-8")
FEWEST = 60
RECOMPUTED_DIGITS = 9


def closed() -> Iterator[tuple[str, dict[str, Any], Any]]:
    for recipe in RECIPES["closed"]:
        for name, path in recipe["gives"].items():
            yield name, recipe, path


def solved() -> Iterator[tuple[str, str, str, float | None]]:
    for recipe in RECIPES["solved"]:
        for name, measure in recipe["gives"].items():
            yield name, recipe["program"], measure, None
        for name, (whole, measure) in recipe.get("rest_of", {}).items():
            yield name, recipe["program"], measure, whole


CLOSED = {name: (recipe, path) for name, recipe, path in closed()}
SOLVED = {name: rest for name, *rest in solved()}


def value_of(formula: str, texts: dict[str, str], path: str) -> float:
    evaluation = evaluate(formula, read_arguments(formula, texts))
    assert not evaluation.failed
    name, *places = path.split(".")
    value: Any = evaluation.values[name]
    for place in places:
        value = value[int(place)]
    return float(value)


def check(name: str, found: float, printed: float) -> None:
    entry = PUBLISHED[name]
    recomputed, digits = entry.get("recomputed", WRONG.get(name, printed)), entry["digits"]
    if not isinstance(entry["value"], list) and abs(recomputed - printed) > 0.5 * 10**-digits:
        assert f"| {printed:.{digits}f} | {found:.6g} |" in PAGE, f"the page reports the print of {name} as wrong"
        printed, digits = recomputed, RECOMPUTED_DIGITS
    slack = 1e-14 * abs(printed)  # of the doubles in which the two numbers are written
    assert abs(found - printed) <= 0.5 * 10**-digits + slack, f"{name}: {found} against {printed}"


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_form_gives_the_printed_number(name: str) -> None:
    recipe, path = CLOSED[name]
    if isinstance(path, list):
        for part, printed in zip(path, PUBLISHED[name]["value"], strict=True):
            check(name, value_of(recipe["formula"], recipe["with"], part), printed)
        return
    found = value_of(recipe["formula"], recipe["with"], path)
    if "over" in recipe:
        found /= value_of(recipe["formula"], recipe["over"], path)
    check(name, found, PUBLISHED[name]["value"])


@pytest.mark.parametrize("name", SOLVED)
def test_an_exact_solution_gives_the_printed_number(name: str) -> None:
    program, measure, whole = SOLVED[name]
    found = next(
        e.value for e in solve(load_text(program).program, SolveOptions(exact=True)).estimates if e.measure == measure
    )
    assert found is not None
    check(name, float(found) if whole is None else float(whole - found), PUBLISHED[name]["value"])


def test_bounds_bracket_the_exact_throughput() -> None:
    for size in (5, 10, 20, 80):
        entry = PUBLISHED[f"prop_bounds_{size}"]
        demands = ",".join(str(d) for d in entry["parameters"]["D"])
        network = {"N": str(size), "V": "1,1,1,1", "S": demands, "c": "1,1,1,1"}
        throughput = value_of("closed-network", network, "cycles")
        assert throughput == pytest.approx(entry["recomputed"], rel=1e-12)
        low, high = (value_of("proportional-bounds", {"N": str(size), "D": demands}, x) for x in ("Xmin", "Xmax"))
        assert low <= throughput <= high


def test_every_entry_is_reproduced_or_waits_with_a_reason() -> None:
    reproduced, waiting = set(CLOSED) | set(SOLVED), set(RECIPES["waiting"])
    assert not reproduced & waiting
    assert reproduced | waiting == ASKED
    assert len(reproduced) >= FEWEST

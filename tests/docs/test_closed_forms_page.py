"""The page on closed forms names every family, and no other."""

import re
from pathlib import Path

from serq.closedforms.registry import FAMILIES, evaluate, read_arguments

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "closed-forms.md").read_text(encoding="utf-8")


def test_the_table_lists_the_families() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(f.name for f in FAMILIES)


def test_approximations_and_bounds_are_called_so() -> None:
    kinds = {f.name: f.kind for f in FAMILIES}
    for name, kind in kinds.items():
        (row,) = (line for line in PAGE.splitlines() if line.startswith("| `") and f"`{name}`" in line.split("|")[1])
        assert ("approximation" in row) == (kind == "approximation")
        assert ("bounds" in row) == (kind == "bound")


def test_the_number_on_the_page() -> None:
    values = evaluate("mm1n", read_arguments("mm1n", {"N": "8", "mu": "1", "Z": "4"})).values
    assert f"L = {values['L']}." in PAGE

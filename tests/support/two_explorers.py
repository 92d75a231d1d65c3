"""The compiled explorer against the reference explorer, which is its specification."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

from serq.codegen import Compiled
from serq.ir.chain import Chain
from serq.semantics.explore import Exploration, ExploreOptions
from serq.semantics.explore_fast import compiled
from serq.semantics.explore_packed import Reader, compiled_chain, search

Row = dict[tuple[str, tuple[str, Fraction], tuple[tuple[str, Fraction], ...]], Fraction]


def plain(chain: Chain) -> dict[str, Any]:
    """What a chain says, without the order of its states."""
    names = chain.states
    assert len(set(names)) == len(names)
    rows: dict[str, Row] = {name: {} for name in names}
    for t in chain.transitions:
        symbol = chain.symbols[t.symbol]
        key = names[t.target], (symbol.text, symbol.value), t.impulses
        assert key not in rows[names[t.source]], "equal transitions are one"
        assert t.rate == t.coefficient * symbol.value
        rows[names[t.source]][key] = t.coefficient
    start: dict[str, Fraction] = defaultdict(Fraction)
    for state, probability in chain.initial:
        start[names[state]] += probability
    return {
        "rows": rows,
        "initial": dict(start),
        "rewards": {name: dict(zip(names, values, strict=True)) for name, values in chain.state_rewards.items()},
        "labels": {name: {names[i] for i in states} for name, states in chain.labels.items()},
        "lines": {names[i]: lines for i, lines in chain.lines.items()},
        "ratios": chain.ratios,
        "said": (chain.lumped, chain.truncated, chain.approximated),
    }


def assert_alike(program: Any, code: Compiled | None = None, **options: Any) -> int:
    """Both explorers find the same chain; its number of states."""
    reference = Exploration(program, ExploreOptions(**options))
    reference.run()
    other = Exploration(program, ExploreOptions(**options))
    want, got = plain(reference.chain()), plain(compiled_chain(other, code or compiled()))
    for part in want:
        assert got[part] == want[part], part
    return len(want["rows"])


__all__ = ["Reader", "assert_alike", "plain", "search"]

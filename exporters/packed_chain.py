"""The rates and rewards of a chain in arrays, as columns: without a Python object per transition."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from serq.exporters.columns import Column, Places, Rows
from serq.ir.chain import Chain
from serq.ir.packed import PackedRewards, PackedTransitions


class PackedChain:
    """What an export needs of a chain whose transitions and state rewards are in arrays."""

    def __init__(self, transitions: PackedTransitions, rewards: PackedRewards) -> None:
        self.transitions = transitions
        self.rewards = rewards
        self.rates = _rates(transitions)
        """Of every arc."""

    def rows(self) -> Rows:
        """The rates by state, those between the same states added up, nothing where there is none."""
        arcs, size = self.transitions.arcs, self.transitions.size
        some = self.rates.nonzero()
        edges = arcs.sources[some].astype(np.int64) * size + arcs.targets[some]
        order = np.argsort(edges, kind="stable")
        found, starts = np.unique(edges[order], return_index=True)
        begin = np.append(starts, len(order)).astype(np.int64)
        numbers = self.rates[some[order]].sums(begin)
        sources, targets = np.divmod(found, size)
        return Rows(_begin(sources, size), targets, numbers)

    def columns(self) -> Iterator[tuple[str, Column]]:
        """Every reward as a rate per state, by name."""
        for name in sorted({*self.rewards, *self.transitions.impulse_names()}):
            yield name, self._reward(name)

    def _reward(self, name: str) -> Column:
        earned = self._impulses(name)
        if name not in self.rewards:
            return earned
        values, ids = np.unique(self.rewards.doubles(name), return_inverse=True)
        stays = Column([Fraction(value) for value in values.tolist()], ids.reshape(-1))
        return stays.combined(earned, lambda a, b: a + b) if earned.any() else stays

    def _impulses(self, name: str) -> Column:
        arcs, size = self.transitions.arcs, self.transitions.size
        worth = Column([dict(impulse).get(name, Fraction(0)) for impulse in self.transitions.impulses], arcs.impulses)
        some = worth.nonzero()
        flows = self.rates[some].combined(worth[some], lambda a, b: a * b)
        return flows.sums(_begin(arcs.sources[some], size))


def packed(chain: Chain) -> PackedChain | None:
    """The chain in arrays, if it is."""
    if isinstance(chain.transitions, PackedTransitions) and isinstance(chain.state_rewards, PackedRewards):
        return PackedChain(chain.transitions, chain.state_rewards)
    return None


def _rates(transitions: PackedTransitions) -> Column:
    arcs = transitions.arcs
    counts = arcs.counts.astype(np.int64)
    kinds = (counts * len(transitions.factors) + arcs.factors) * len(transitions.symbols) + arcs.symbols
    found, ids = np.unique(kinds, return_inverse=True)
    table = []
    for kind in found.tolist():
        rest, symbol = divmod(kind, len(transitions.symbols))
        count, factor = divmod(rest, len(transitions.factors))
        table.append(count * transitions.factors[factor] * transitions.symbols[symbol].value)
    return Column(table, ids.reshape(-1))


def _begin(sources: Places, size: int) -> Places:
    """Where the stretch of each state begins in ascending sources."""
    return np.searchsorted(sources, np.arange(size + 1)).astype(np.int64)

"""Whether fewer states would do: the coarsest lumping of a chain that keeps all its measures.

Partition refinement (Paige and Tarjan 1987; Derisavi, Hermanns and Sanders 2003 for chains): states begin in one block
when they earn the same, and a block is split as long as two of its states have different total rates into some block.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from serq.ir.chain import Chain, Ratio
from serq.semantics.generator import merged_rates

LARGEST = 2_000
"""States up to which a coarser chain is looked for."""


@dataclass(frozen=True)
class Coarsest:
    """A partition of the states: `block[i]` is the block of state i, `size` the number of blocks."""

    block: tuple[int, ...]
    size: int


def coarsest(chain: Chain) -> Coarsest:
    """The coarsest ordinary lumping that keeps every reward rate that some measure reads (Kemeny and Snell, Finite
    Markov Chains, section 6.3). Rates into the own block need not agree.
    """
    names = {name for r in chain.ratios if isinstance(r, Ratio) for name in (*(n for _, n in r.terms), r.per) if name}
    table = chain.reward_table(sorted(names))
    block = _numbered([tuple(vector[i] for vector in table.values()) for i in range(chain.size)])
    rows = merged_rates(chain)
    while True:
        keys = []
        for i, row in enumerate(rows):
            into: dict[int, Fraction] = defaultdict(Fraction)
            for j, rate in row.items():
                if block[j] != block[i]:
                    into[block[j]] += rate
            keys.append((block[i], tuple(sorted(into.items()))))
        finer = _numbered(keys)
        if max(finer) == max(block):
            return Coarsest(tuple(block), max(block) + 1)
        block = finer


def _numbered(keys: Sequence[tuple[object, ...]]) -> list[int]:
    numbers: dict[tuple[object, ...], int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def lumping_report(chain: Chain) -> tuple[str, ...]:
    """What was lumped, and whether the measures would need fewer states, in words."""
    out = [f"lumped: {text}" for text in chain.lumped] or ["nothing was lumped"]
    if chain.size > LARGEST:
        return (*out, f"a coarser chain is looked for up to {LARGEST} states; this one has {chain.size}")
    found = coarsest(chain)
    if found.size == chain.size:
        return (*out, f"no chain of fewer than these {chain.size} states keeps all the measures")
    return (
        *out,
        f"{found.size} states would do for the measures in place of {chain.size} (which ones is not used yet)",
    )

"""Chains of millions of transitions: the sequences and mappings of a `serq.ir.chain.Chain` over arrays.

Whoever wants speed asks whether `chain.transitions` is a `PackedTransitions` and reads its arrays; everybody else sees
ordinary sequences, whose items are made when they are asked for.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from serq.ir.chain import RateSymbol, Transition

Item = TypeVar("Item")
Impulse = tuple[tuple[str, Fraction], ...]


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for."""

    def __init__(self, size: int, make: Callable[[int], Item]) -> None:
        self._size = size
        self._make = make

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | Sequence[Item]:
        if isinstance(at, slice):
            return tuple(self._make(i) for i in range(self._size)[at])
        return self._make(range(self._size)[at])

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, range(self._size))


class LazyMapping(Mapping[int, Item]):
    """Numbers from 0 on to items that are made when they are asked for."""

    def __init__(self, items: Lazy[Item]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._items)))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and 0 <= key < len(self._items)

    def __getitem__(self, key: int) -> Item:
        if key not in self:
            raise KeyError(key)
        return self._items[key]


@dataclass(frozen=True, eq=False)
class Arcs:
    """The arcs of a chain as arrays of one length: the coefficient is `counts` times the factor.

    `sources` ascend. `factors`, `impulses` and `symbols` are places in the tables of `PackedTransitions`.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    symbols: NDArray[np.int64]
    impulses: NDArray[np.int64]
    factors: NDArray[np.int64]
    counts: NDArray[np.int64]


class PackedTransitions(Sequence[Transition]):
    """The transitions of a chain over arrays."""

    def __init__(
        self,
        size: int,
        arcs: Arcs,
        symbols: Sequence[RateSymbol],
        impulses: Sequence[Impulse],
        factors: Sequence[Fraction],
    ) -> None:
        self.size = size
        """Number of states."""
        self.arcs = arcs
        self.symbols = tuple(symbols)
        self.impulses = tuple(impulses)
        self.factors = tuple(factors)
        self._known: dict[tuple[int, int, int], tuple[Fraction, Fraction]] = {}

    def __len__(self) -> int:
        return len(self.arcs.sources)

    @overload
    def __getitem__(self, at: int) -> Transition: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Transition]: ...
    def __getitem__(self, at: int | slice) -> Transition | Sequence[Transition]:
        if isinstance(at, slice):
            return tuple(self._make(i) for i in range(len(self))[at])
        return self._make(range(len(self))[at])

    def __iter__(self) -> Iterator[Transition]:
        return map(self._make, range(len(self)))

    def __add__(self, other: Sequence[Transition]) -> tuple[Transition, ...]:
        return (*self, *other)

    def _make(self, i: int) -> Transition:
        a = self.arcs
        count, factor, symbol = int(a.counts[i]), int(a.factors[i]), int(a.symbols[i])
        known = self._known.get((count, factor, symbol))
        if known is None:
            coefficient = count * self.factors[factor]
            known = self._known[count, factor, symbol] = coefficient * self.symbols[symbol].value, coefficient
        rate, coefficient = known
        impulses = self.impulses[a.impulses[i]]
        return Transition(int(a.sources[i]), int(a.targets[i]), rate, coefficient, symbol, impulses)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """The rates as doubles, each within three roundings of the rational."""
        values = np.array([float(s.value) for s in self.symbols])
        factors = np.array([float(x) for x in self.factors])
        out: NDArray[np.float64] = self.arcs.counts * factors[self.arcs.factors] * values[self.arcs.symbols]
        return out

    def impulse_rates(self, name: str) -> NDArray[np.float64]:
        """What an impulse reward earns per unit of time in each state, as doubles."""
        worth = np.array([float(dict(impulse).get(name, 0)) for impulse in self.impulses])
        earned = worth[self.arcs.impulses]
        some = np.nonzero(earned)[0]
        weights = self.rates[some] * earned[some]
        return np.asarray(np.bincount(self.arcs.sources[some], weights=weights, minlength=self.size), dtype=float)

    def impulse_names(self) -> tuple[str, ...]:
        """The names of the impulse rewards that some arc earns, sorted."""
        used = np.nonzero(np.bincount(self.arcs.impulses, minlength=1))[0]
        return tuple(sorted({name for i in used for name, _ in self.impulses[i]}))


class PackedRewards(Mapping[str, Sequence[Fraction]]):
    """State rewards that add up over the words of a state: `shares` gives each kind's, per reward.

    State i has the words `begin[i]` to `begin[i + 1]`: `counts` sessions of the kinds `kinds`. The names in `derived`
    are 1 where the reward that they map to is not 0, and 0 elsewhere.
    """

    def __init__(
        self, begin: NDArray[np.int64], kinds: NDArray[np.int64], counts: NDArray[np.int64],
        shares: Mapping[str, Sequence[Any]], derived: Mapping[str, str],
    ) -> None:  # fmt: skip
        size = max((len(share) for share in shares.values()), default=1)
        self._members = csr_matrix((counts.astype(float), kinds, begin), shape=(len(begin) - 1, size))
        self._shares = dict(shares)
        self._derived = dict(derived)

    def __len__(self) -> int:
        return len(self._shares) + len(self._derived)

    def __iter__(self) -> Iterator[str]:
        yield from self._shares
        yield from self._derived

    def __contains__(self, name: object) -> bool:
        return name in self._shares or name in self._derived

    def __getitem__(self, name: str) -> Sequence[Fraction]:
        values = self.doubles(name)
        known: dict[float, Fraction] = {}
        return tuple(known[v] if v in known else known.setdefault(v, Fraction(v)) for v in values.tolist())

    def doubles(self, name: str) -> NDArray[np.float64]:
        """The reward of every state as doubles. Shares are whole numbers, so nothing is rounded below 2^53."""
        of = self._derived.get(name)
        if of is not None:
            return np.asarray(self.doubles(of) != 0, dtype=float)
        share = np.array([float(s) for s in self._shares[name]])
        return np.asarray(self._members @ share) if share.any() else np.zeros(self._members.shape[0])

"""What is known of the counters before a transition, as intervals: by the guards so far, and by what holds at rest.

At rest nobody waits who could be admitted, no pool is more than full, and a fifo stage has no line while a server is
idle. These invariants decide most questions of a cascade of admissions without a further guard.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from serq.exporters.layout import Layout, Line
from serq.exporters.memory import Claim
from serq.exporters.stores import Store

Bound = int | float
Span = tuple[Bound, Bound]


class ContradictionError(Exception):
    """Nothing at rest is like that."""


@dataclass
class Facts:
    """Intervals by quantity. A quantity is a counter or the text of a line's length, `("left", pool)`: what nobody has
    taken of it, `("free", pool)`: what is not even cached, `("idle", stage)`: idle servers.
    """

    layout: Layout
    stores: Mapping[int, Store]
    spans: dict[Hashable, Span] = field(default_factory=dict)
    at_rest: bool = True
    """Whether nobody waits who could be admitted."""
    digits: dict[str, dict[int, int]] = field(default_factory=dict)
    """Of words, by their identifier: the digits that are known, from the oldest on."""

    def copy(self) -> "Facts":
        """A copy that may learn more."""
        digits = {word: dict(known) for word, known in self.digits.items()}
        return Facts(self.layout, self.stores, dict(self.spans), self.at_rest, digits)

    def span(self, of: Hashable) -> Span:
        """The interval of a quantity, which is never negative."""
        return self.spans.get(of, (0, 0) if of == "0" else (0, math.inf))

    def learn(self, of: Hashable, least: Bound = 0, most: Bound = math.inf) -> bool:
        """Narrow an interval; whether that was news. ContradictionError when nothing is left of it."""
        low, high = self.span(of)
        new = max(low, least), min(high, most)
        if new[0] > new[1]:
            raise ContradictionError
        if new == (low, high):
            return False
        self.spans[of] = new
        return True

    def read(self, line: Line, at: int, code: int) -> None:
        """Learn the class at a place of a line."""
        assert line.word is not None
        known = self.digits.setdefault(line.word, {})
        known[at] = code
        if len(line.counts) > 1:
            self.learn(line.counts[code], least=sum(1 for other in known.values() if other == code))

    def conclude(self) -> None:
        """Draw every conclusion. ContradictionError when nothing at rest is like that."""
        while any([rule() for rule in self._rules()]):
            pass

    def _rules(self) -> Iterator[Callable[[], bool]]:
        for line in self.layout.lines():
            if len(line.counts) > 1:
                yield partial(self._sum, line)
        for station in self.layout.stations:
            if station.line:
                yield partial(self._blocked, station.line, ("idle", station.stage), 1)
        for store in self.stores.values():
            if store.cap is not None:
                yield partial(self._store, store)

    def _sum(self, line: Line) -> bool:
        """The length of a line is the sum of its counters."""
        spans = [self.span(name) for name in line.counts]
        _, high = self.span(line.length().text)
        news = self.learn(line.length().text, sum(s[0] for s in spans), sum(s[1] for s in spans))
        for name, own in zip(line.counts, spans, strict=True):
            others = sum(s[0] for s in spans) - own[0]
            news |= self.learn(name, most=high - others)
        return news

    def _blocked(self, line: Line, room: Hashable, need: Bound) -> bool:
        """Somebody waits only while less than he needs is left."""
        length = line.length().text
        news = False
        if self.span(length)[0] >= 1:
            news |= self.learn(room, most=need - 1)
        if self.span(room)[0] >= need:
            news |= self.learn(length, most=0)
        return news

    def _store(self, store: Store) -> bool:
        left, free = ("left", store.pool), ("free", store.pool)
        news = self._stepped(store, left) | self._shared(store, left)
        if store.full:
            news |= self.learn(free, store.residue, store.residue)
        if store.owner is not None:
            news |= self._owned(store, left, free, store.owner.variable)
        elif not store.several:
            news |= self.learn(left, *self.span(free)) | self.learn(free, *self.span(left))
        if (
            self.at_rest
            and store.line is not None
            and store.line.classes
            and all(len(rest.parts) == 1 for rest in _claims(store.line))
        ):
            wants = [store.wants(claim) for claim in _claims(store.line)]
            first = self.digits.get(store.line.word or "", {}).get(0)
            news |= self._blocked(store.line, left, max(wants) if first is None else wants[first])
        return news

    def _shared(self, store: Store, left: Hashable) -> bool:
        """What is left, and what the counters take, are the cap."""
        spans = [(weight, name, self.span(name)) for weight, name in store.weights]
        most = sum(weight * span[1] for weight, _, span in spans)
        news = self.learn(left, least=max(0, store.least - most))
        if store.exact:
            taken = sum(weight * span[0] for weight, _, span in spans)
            news |= self.learn(left, max(0, store.size - most), store.size - taken)
            for weight, name, span in spans:
                others = taken - weight * span[0]
                news |= self.learn(name, most=(store.size - self.span(left)[0] - others) // weight)
        return news

    def _stepped(self, store: Store, left: Hashable) -> bool:
        """What is left is what remains of the cap, and multiples of the step."""
        low, high = self.span(left)
        step, rest = store.step, store.residue
        down = high if math.isinf(high) else math.floor((high - rest) / step) * step + rest
        return self.learn(left, math.ceil((low - rest) / step) * step + rest, down)

    def _owned(self, store: Store, left: Hashable, free: Hashable, owners: str) -> bool:
        """What is left is free, or cached with so many owners."""
        (low, high), (none, most), (few, many) = self.span(left), self.span(free), self.span(owners)
        each = store.entry
        news = self.learn(left, none + each * few, most + each * many)
        news |= self.learn(free, max(0, low - each * many), high - each * few)
        least = 0 if math.isinf(most) else math.ceil((low - most) / each)
        largest = math.inf if math.isinf(high) else math.floor((high - none) / each)
        return news | self.learn(owners, max(0, least), largest)


def _claims(line: Line) -> list[Claim]:
    return [rest for rest in line.classes if isinstance(rest, Claim)]


def _one_by_one(line: Line) -> bool:
    """Whether anybody ever waits, and each for one pool only."""
    return bool(line.classes) and all(len(claim.parts) == 1 for claim in _claims(line))

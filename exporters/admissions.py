"""Admissions at an instant: pool by pool the heads of the queues that fit, evicting what they need the room of.

A cascade of admissions is unrolled: every way in which it can go becomes a transition of its own, so that nothing
immediate is left and a continuous-time chain remains. Where that has no end, one admission is left to each transition,
and what follows to transitions that happen at once: a Markov automaton.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from serq.exporters.automaton import Automaton, evicted
from serq.exporters.layout import Layout, Line
from serq.exporters.memory import Claim
from serq.exporters.observables import more_held, total_more
from serq.exporters.partial import reads_state
from serq.exporters.passages import Rest
from serq.exporters.situation import Passing, Situation
from serq.exporters.stores import Store
from serq.exporters.text import SUM, NoTextError, Piece, shifted

DEEPEST = 12
"""Admissions of one instant that are unrolled."""


class NoPoolError(NoTextError):
    """A pool has no form with counters; `construct` is what of it, the message why."""

    def __init__(self, pool: int, construct: str, reason: str) -> None:
        super().__init__(reason)
        self.pool = pool
        self.construct = construct


@dataclass(frozen=True)
class Way:
    """A line at the end of an instant."""

    now: Situation
    line: Line

    def word(self) -> str:
        """The text of its word."""
        line, queue = self.line, self.now.queue(self.line)
        if line.word is None:
            return ""
        base, low_high = line.base, self.now.facts.span(line.length().text)
        text = f"floor({line.word} / {base**queue.popped})" if queue.popped else line.word
        if low_high[1] <= queue.popped:
            value = sum(line.classes.index(rest) * base**i for i, rest in enumerate(queue.joined))
            return str(value) if queue.joined or queue.popped else text
        for i, rest in enumerate(queue.joined):
            code = line.classes.index(rest)
            if code:
                exponent = shifted(line.length(), i - queue.popped)
                text += f" + {'' if code == 1 else f'{code} * '}pow({base}, {exponent})"
        return text


class Admissions:
    """Serves the pools of a layout. `unplaced` takes the places that the layout lacks."""

    def __init__(
        self, automaton: Automaton, layout: Layout, stores: Mapping[int, Store], unplaced: set[Rest], *, one: bool
    ) -> None:
        self.automaton = automaton
        self.layout = layout
        self.stores = stores
        self.unplaced = unplaced
        self.one = one
        """Whether an instant ends with the first admission."""
        self.pools = sorted(layout.queues)

    def step(self, now: Situation) -> list[Situation] | None:
        """How it goes on once nobody is ready; None: it does not, everything is at rest."""
        if self.one and now.admitted:
            return [_running(now)] if now.ready else None
        if now.serving < 0:
            now.serving = 0
        if now.serving < len(self.pools):
            return self._serve(now, self.pools[now.serving])
        if not now.happened:
            return None
        now.serving, now.happened = -1, False
        return [now]

    def _serve(self, now: Situation, pool: int) -> list[Situation]:
        """One attempt at the head of a queue."""
        line = self.layout.queues[pool]
        if self._hopeless(now, line):
            return [_next(now)]
        out = []
        for occupied, way in now.occupied(line):
            out += self._heads(way, line) if occupied else [_next(way)]
        return out

    def _heads(self, now: Situation, line: Line) -> list[Situation]:
        queue, out = now.queue(line), []
        olds = now.longer(line.length().text, queue.popped) if queue.joined else [(True, now)]
        for old, way in olds:
            if not old:
                out += self._attempt(way, line, queue.joined[0])
            elif queue.popped == 0 and way.facts.at_rest and not self._room_made(way):
                out.append(_next(way))  # who is first did not fit at rest
            else:
                for rest, headed in way.old_heads(line, queue.popped):
                    out += self._attempt(headed, line, rest)
        return out

    def _attempt(self, now: Situation, line: Line, claim: Rest) -> list[Situation]:
        assert isinstance(claim, Claim)
        waiting, out = [now], []
        for part in claim.parts:
            store = self.stores[part.pool]
            if store.cap is None:
                continue
            own = claim.memory.entry(part.pool) if store.pinned else 0
            fitting = []
            for way in waiting:
                for fits, tried in self._left(way, store, part.need - own):
                    if fits:
                        fitting.append(tried)
                    else:
                        out.append(_next(tried))
            waiting = fitting
        for way in waiting:
            out += self._admit(way, line, claim)
        return out

    def _admit(self, now: Situation, line: Line, claim: Claim) -> list[Situation]:
        if len(now.admitted) >= DEEPEST:
            reason = f"more than {DEEPEST} holds can be admitted at one instant"
            raise NoPoolError(claim.pool, "the queue", reason)
        now.pop(line, claim)
        now.ready = (*now.ready, Passing(tuple(self.automaton.after[claim]), claim.admitted()))
        now.admitted = (*now.admitted, claim.pool)
        now.happened = True
        ways = [now]
        for part in claim.parts:
            store = self.stores[part.pool]
            if store.cap is not None:
                ways = [done for way in ways for done in self._make_room(way, store)]
        return ways

    # -- room ------------------------------------------------------------------------------------------------------

    def _taken_more(self, now: Situation, store: Store) -> int:
        return total_more(now, self.layout, lambda memory, waits: store.takes(memory, waiting=waits))

    def _room_made(self, now: Situation) -> bool:
        """Whether less of some pool is taken than before."""
        return any(self._taken_more(now, store) < 0 for store in self.stores.values())

    def _hopeless(self, now: Situation, line: Line) -> bool:
        """Whether nobody who may stand in the line can fit."""
        claims = [*line.classes, *now.queue(line).joined]
        return all(isinstance(claim, Claim) and self._too_much(now, claim) for claim in claims)

    def _too_much(self, now: Situation, claim: Claim) -> bool:
        for part in claim.parts:
            store = self.stores[part.pool]
            own = claim.memory.entry(part.pool) if store.pinned else 0
            most = now.facts.span(("left", part.pool))[1] - self._taken_more(now, store)
            if store.cap is not None and most < part.need - own:
                return True
        return False

    def _left(self, now: Situation, store: Store, need: int) -> list[tuple[bool, Situation]]:
        """Whether so much is left of a pool."""
        assert store.cap is not None
        threshold = need + self._taken_more(now, store)
        taken, cap = Piece(store.taken), store.cap.at(SUM)
        if threshold == 1:
            full = "=" if now.facts.span(("left", store.pool))[0] == 0 else ">="
            return now.known(("left", store.pool), 1, f"{taken} < {cap}", f"{taken} {full} {cap}")
        more = shifted(taken, threshold)
        return now.known(("left", store.pool), threshold, f"{more} <= {cap}", f"{more} > {cap}")

    def _make_room(self, now: Situation, store: Store) -> list[Situation]:
        """Evict until what has been allocated has room."""
        assert store.cap is not None
        pool, out, todo = store.pool, [], [now]
        while todo:
            way = todo.pop()
            threshold = more_held(way, self.layout, pool)
            threshold += total_more(way, self.layout, lambda memory, _: memory.entry(pool))
            more = shifted(Piece(f"{store.held} + {store.cached}", SUM), threshold)
            cap = store.cap.at(SUM)
            for fits, tried in way.known(("free", pool), threshold, f"{more} <= {cap}", f"{more} > {cap}"):
                if fits:
                    out.append(tried)
                else:
                    todo += self._evict(tried, store)
        return out

    def _evict(self, now: Situation, store: Store) -> list[Situation]:
        """The oldest prefix goes: that of any owner, as all are alike. None where there cannot be an owner."""
        moving = any(passing.memory.entry(store.pool) for passing in now.ready)
        waiting = any(rest.memory.entry(store.pool) for rest in now.joined())
        if store.several or moving or (waiting and not store.pinned):
            raise NoPoolError(
                store.pool, "the cache", "whose prefix is the oldest is an order of sessions at several places"
            )
        if store.owner is None:
            return []
        if store.loser is None:
            self.unplaced.add(evicted(store.owner.place, store.pool))
            return []
        owners = store.owner.variable
        gone = -now.add.get(owners, 0)
        out = []
        for some, way in now.known(owners, 1 + gone, f"{owners} > {gone}", f"{owners} <= {gone}"):
            if some:
                way.shift(owners, -1)
                way.shift(store.loser.variable, 1)
                way.evicted = (*way.evicted, (store.pool, store.entry))
                out.append(way)
        return out


def sequential(automaton: Automaton) -> bool:
    """Whether admissions of one instant may follow each other one by one: there is one queue, and what an admitted
    session does before it rests does not depend on who else has been admitted.
    """
    read = [way for claim in automaton.claims for way in automaton.after[claim]]
    values = [seen.value for way in read for seen in way.seen if seen.value is not None]
    return (
        len({claim.pool for claim in automaton.claims}) == 1
        and not any(way.guards for way in read)
        and not any(map(reads_state, values))
    )


def _running(now: Situation) -> Situation:
    now.serving = -1
    return now


def _next(now: Situation) -> Situation:
    now.serving += 1
    return now

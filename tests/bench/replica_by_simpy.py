"""A replica of a language model's server in SimPy: the engine is a process, and so is each session.

The model is that of `replica.c`: iterations, which are timeouts, walk over all residents, memory comes in blocks, what
sessions have computed stays cached in the order of release, and the last one admitted is preempted where memory is
short.
"""

import random
from collections import OrderedDict, deque
from collections.abc import Generator
from typing import Any, Protocol

BLOCK, BUDGET = 16, 2048


class Mean(Protocol):
    """What takes observations."""

    def note(self, value: float) -> None:
        """One observation."""


class Turn:
    """What the engine knows of a session: its request, and where that stands."""

    def __init__(self, env: Any) -> None:
        self.prompt = self.answer = self.position = self.left = self.blocks = self.taken = 0
        self.decodes = False
        self.done = env.event()


class Engine:
    """The server of a replica."""

    def __init__(self, env: Any, blocks: int, seats: int) -> None:
        self.env = env
        self.capacity = blocks
        self.seats = seats
        self.used = self.cached = 0
        self.entries: OrderedDict[Turn, int] = OrderedDict()
        self.residents: list[Turn] = []
        self.waiting: deque[Turn] = deque()
        self.woken = env.event()
        env.process(self._iterate())

    def serve(self, turn: Turn) -> Any:
        """An event for the end of a request that is sent now."""
        turn.done = self.env.event()
        self.waiting.append(turn)
        if not self.woken.triggered:
            self.woken.succeed()
        return turn.done

    def _iterate(self) -> Generator[Any]:
        while True:
            length = self._plan() if self.residents or self.waiting else 0.0
            if length == 0.0:
                self.woken = self.env.event()
                yield self.woken
                continue
            yield self.env.timeout(length)
            self._end()
            yield self.env.timeout(0)  # who is done may send the next request at once

    def _plan(self) -> float:
        """Put an iteration together; how long it takes, 0 where there is nothing to do."""
        attended = sum(t.position for t in self.residents if t.decodes)
        before, budget, preempted = list(self.residents), BUDGET, False
        for turn in before:
            if budget == 0 or turn not in self.residents:
                break
            tokens = 1 if turn.decodes else min(turn.left, budget)
            blocks = -(-(turn.position + tokens) // BLOCK) - turn.blocks
            if blocks > 0:
                preempted |= self._make_way(blocks)
                if turn not in self.residents:
                    break
                self._take(turn, blocks)
            turn.taken = tokens
            budget -= tokens
        while not preempted and self.waiting and budget > 0 and len(self.residents) < self.seats:
            tokens = self._admit(budget)
            if tokens == 0:
                break
            budget -= tokens
        tokens = BUDGET - budget
        return 0.001 + 0.008 + 2e-8 * attended + tokens * 2e-5 if tokens or preempted else 0.0

    def _make_way(self, blocks: int) -> bool:
        """Preempt until so many blocks are there; whether anybody was."""
        preempted = False
        while self.used + blocks > self.capacity and self.residents:
            victim = self.residents.pop()
            victim.taken, preempted = 0, True
            self._release(victim)
            self.waiting.appendleft(victim)
        return preempted

    def _admit(self, budget: int) -> int:
        """Admit the first one that waits; how many tokens it is given, 0 where its memory is not there."""
        turn = self.waiting[0]
        found = min(self.entries.get(turn, 0), (turn.prompt - 1) // BLOCK)
        blocks = -(-min(found * BLOCK + budget, turn.prompt) // BLOCK)
        if self.used + blocks > self.capacity:
            return 0
        self.waiting.popleft()
        if turn in self.entries:
            self.cached -= self.entries.pop(turn)
        self._take(turn, blocks)
        turn.position, turn.decodes = found * BLOCK, False
        turn.left = turn.prompt - turn.position
        turn.taken = min(turn.left, budget)
        self.residents.append(turn)
        return turn.taken

    def _take(self, turn: Turn, blocks: int) -> None:
        """Blocks for a resident; the oldest cached ones give way."""
        self.used += blocks
        turn.blocks += blocks
        while self.used + self.cached > self.capacity:
            oldest, kept = next(iter(self.entries.items()))
            gone = min(kept, self.used + self.cached - self.capacity)
            self.cached -= gone
            self.entries[oldest] = kept - gone
            if kept == gone:
                del self.entries[oldest]

    def _release(self, turn: Turn) -> None:
        """What was computed stays cached."""
        self.used -= turn.blocks
        turn.blocks = 0
        if turn.position >= BLOCK:
            self.entries[turn] = turn.position // BLOCK
            self.cached += turn.position // BLOCK

    def _end(self) -> None:
        """The tokens count; who is done leaves."""
        stay = []
        for turn in self.residents:
            turn.position += turn.taken
            turn.left -= turn.taken
            turn.taken = 0
            if turn.left == 0 and not turn.decodes and turn.answer > 1:
                turn.decodes, turn.left = True, turn.answer - 1
            if turn.left > 0:
                stay.append(turn)
            else:
                self._release(turn)
                turn.done.succeed()
        self.residents = stay


def replica(env: Any, draws: random.Random, mean: Mean, blocks: float, seats: float, rate: float) -> None:
    """Sessions arrive, send turns, think between them and leave."""
    engine = Engine(env, int(blocks), int(seats))

    def session() -> Generator[Any]:
        turn, known, again = Turn(env), 0, True
        while again:
            fresh = int(draws.uniform(1000, 3000)) if known == 0 else int(draws.expovariate(1 / 500)) + 1
            turn.prompt, turn.answer = known + fresh, int(draws.expovariate(1 / 200)) + 1
            again = draws.random() < 0.8
            begun = env.now
            yield engine.serve(turn)
            mean.note(env.now - begun)
            known = turn.prompt + turn.answer
            if again:
                yield env.timeout(draws.expovariate(1 / 3))

    def source() -> Generator[Any]:
        while True:
            env.process(session())
            yield env.timeout(draws.expovariate(rate))

    env.process(source())

"""The queueing models in SimPy, written as its documentation writes such models."""

import heapq
import random
from collections.abc import Callable, Generator
from typing import Any

import simpy
from replica_by_simpy import replica
from workloads import Model

Run = Callable[[float, int], float]
"""Simulates up to a horizon with a seed and gives the mean response."""

_BRANCH = 0.8872983346207417  # of the balanced hyperexponential with squared coefficient of variation 4


class Mean:
    """The mean of what is noted."""

    def __init__(self) -> None:
        self.number = 0
        self.total = 0.0

    def note(self, value: float) -> None:
        """One observation."""
        self.number += 1
        self.total += value


def hyper(draws: random.Random) -> float:
    """A service of mean 1."""
    share = _BRANCH if draws.random() < _BRANCH else 1 - _BRANCH
    return draws.expovariate(2 * share)


def by_simpy(model: Model) -> Run | None:
    """The model, or None where it is not stated here."""
    makers: dict[str, Callable[..., None]] = {"closed": _closed, "open": _open, "shared": _shared, "central": _central}
    make = replica if model.kind == "replica" else makers.get(model.kind)
    if make is None:
        return None

    def run(horizon: float, seed: int) -> float:
        env, draws, mean = simpy.Environment(), random.Random(seed), Mean()
        make(env, draws, mean, *model.numbers)
        env.run(horizon)
        return mean.total / mean.number

    return run


def _served(env: Any, server: Any, time: float) -> Generator[Any]:
    with server.request() as turn:
        yield turn
        yield env.timeout(time)


def _closed(env: Any, draws: random.Random, mean: Mean, population: float, think: float) -> None:
    server = simpy.Resource(env, 1)

    def customer() -> Generator[Any]:
        while True:
            yield env.timeout(draws.expovariate(1 / think))
            begun = env.now
            with server.request() as turn:
                yield turn
                yield env.timeout(draws.expovariate(1.0))
            mean.note(env.now - begun)

    for _ in range(int(population)):
        env.process(customer())


def _source(env: Any, draws: random.Random, rate: float, customer: Callable[[], Generator[Any]]) -> Generator[Any]:
    while True:
        env.process(customer())
        yield env.timeout(draws.expovariate(rate))


def _open(env: Any, draws: random.Random, mean: Mean, rate: float) -> None:
    server = simpy.Resource(env, 1)

    def customer() -> Generator[Any]:
        begun = env.now
        with server.request() as turn:
            yield turn
            yield env.timeout(hyper(draws))
        mean.note(env.now - begun)

    env.process(_source(env, draws, rate, customer))


class Shared:
    """A shared processor: a heap of finish tags, and a timeout for the first, ignored if it was overtaken."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.jobs: list[tuple[float, int, Any]] = []
        self.attained = self.last = 0.0
        self.joined = self.version = 0

    def serve(self, work: float) -> Any:
        """An event for the end of a job that comes now."""
        self._advance()
        self.joined += 1
        done = self.env.event()
        heapq.heappush(self.jobs, (self.attained + work, self.joined, done))
        self._schedule()
        return done

    def _advance(self) -> None:
        if self.jobs:
            self.attained += (self.env.now - self.last) / len(self.jobs)
        self.last = self.env.now

    def _schedule(self) -> None:
        self.version += 1
        if self.jobs:
            version = self.version
            left = max(0.0, (self.jobs[0][0] - self.attained) * len(self.jobs))
            self.env.timeout(left).callbacks.append(lambda _: self._finish(version))

    def _finish(self, version: int) -> None:
        if version == self.version:
            self._advance()
            self.attained, _, done = heapq.heappop(self.jobs)
            done.succeed()
            self._schedule()


def _shared(env: Any, draws: random.Random, mean: Mean, rate: float) -> None:
    processor = Shared(env)

    def customer() -> Generator[Any]:
        begun = env.now
        yield processor.serve(hyper(draws))
        mean.note(env.now - begun)

    env.process(_source(env, draws, rate, customer))


def _central(env: Any, draws: random.Random, mean: Mean, population: float) -> None:
    cpu, fast, slow = (simpy.Resource(env, 1) for _ in range(3))

    def customer() -> Generator[Any]:
        while True:
            yield env.timeout(draws.expovariate(1 / 5))
            begun = env.now
            while True:
                yield from _served(env, cpu, draws.expovariate(1 / 0.05))
                way = draws.random()
                if way < 0.1:
                    break
                if way < 0.6:
                    yield from _served(env, fast, draws.expovariate(1 / 0.08))
                else:
                    yield from _served(env, slow, draws.expovariate(1 / 0.1))
            mean.note(env.now - begun)

    for _ in range(int(population)):
        env.process(customer())

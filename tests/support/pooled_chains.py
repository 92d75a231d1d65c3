"""Random closed programs with pools that are finite Markov chains: caches, evictions, queues, growth, preemption.

Stages are fifo, shared or delays, work is phase-type, sizes are finite choices. A program is a function of its seed.
"""

from random import Random

_KINDS = ("fifo", "fifo(2)", "ps(1)", "ps(n > 1 ? 1.5 : 1)")
_EVICT = ("lru", "lru", "by (size)", "by (-size)", "by (waiting, size)", "by (waiting, -size)")
_QUEUE = ("fifo", "fifo", "by (want)", "by (-want)")
_FACTS = ("used(m)", "free(m)", "cachedin(m)", "queued(m)", "busy(s)", "queue(s)")


def program(seed: int) -> str:
    """The program of a seed."""
    return _Writer(seed).program()


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pools = ["m", "k"][: self.random.randint(1, 2)]
        self.observes = 0

    def program(self) -> str:
        random = self.random
        lines = [self._pool(name) for name in self.pools]
        lines.append(f"stage s : {random.choice(_KINDS)};  stage u : {random.choice(_KINDS)};  stage d : delay;")
        lines.append(f"workload {{ arrive closed({random.randint(2, 3)}); }}")
        body = [self._hold(nested=random.random() < 0.1)]
        if random.random() < 0.4:
            body.append(self._hold(nested=False))
        if random.random() < 0.2:
            body.append(f"branch (0.25) {{ drop {random.choice(self.pools)}; }}")
        if random.random() < 0.2:
            body.append("branch (0.1) { end; }")
        lines.append(
            "session { loop { set want = ~choice(1: 0.5, 2: 0.5); set t0 = now; "
            f"run d ({self._law(random.choice(['1', '3']))}); {' '.join(body)} observe response = now - t0; }} }}"
        )
        return "\n".join([*lines, "run { horizon 1000; }"]) + "\n"

    def _pool(self, name: str) -> str:
        random = self.random
        cap = random.randint(2, 5)
        block = random.choice(["", "", "block 2; "]) if cap >= 4 else ""
        preempt = random.choice(["", "", "preempt lifo; "])
        order = f"evict {random.choice(_EVICT)}; queue {random.choice(_QUEUE)}; "
        return f"pool {name} {{ cap {cap}; {block}{preempt}{order}}}"

    def _law(self, mean: str) -> str:
        return self.random.choice([f"~exp({mean})"] * 4 + [f"~erlang(2, {mean})", f"~h2({mean}, 2)"])

    def _run(self) -> str:
        mean = self.random.choice(["0.5", "1", "2", "(cached ? 1 : 2)", "(cached ? 1 : 2)"])
        return f"run {self.random.choice('ssud')} ({self._law(mean)});"

    def _observe(self) -> str:
        self.observes += 1
        return f"observe o{self.observes} = {self.random.choice((*_FACTS, 'cached', 'cached'))};"

    def _hold(self, nested: bool) -> str:
        random = self.random
        chosen = random.sample(self.pools, random.randint(1, len(self.pools)))
        parts = ", ".join(
            f"{p} ({random.choice(['1', '1', 'want'])}){random.choice(['', '', '', '', ' reserve (2)'])}"
            for p in chosen
        )
        reuse = random.choice(["", "", " reuse (1)", " reuse (want)"])
        inner = [self._observe(), self._run()]
        if random.random() < 0.25:
            inner += [f"grow {random.choice(chosen)} (1);", self._run()]
        if nested:
            inner.append(self._hold(nested=False))
        if random.random() < 0.3:
            inner.append(f"branch ({random.choice(['0.5', '0.25', 'want == 1'])}) {{ {self._run()} }}")
        random.shuffle(inner)
        cache = random.choice(["", " cache (1);", " cache (want);", " cache (2);", " cache (9);"])
        # the peer serves waiting holds at a release, serQ when the releasing session blocks: here it blocks at once
        return f"hold {parts}{reuse} {{ {' '.join(inner)} {self._run()} }}{cache} run d (~exp(0.5));"

"""Random programs with pools that first come first served words and counters can often express: holds of one or two
pools, nested or one after the other, whole amounts, caches of equal prefixes, all with open constants.

A program is a function of its seed.
"""

from random import Random

_STAGES = ("fifo", "fifo(2)", "ps(1)", "ps(min(n, 2))", "delay")
_FACTS = ("used(m)", "free(m)", "queued(m)", "holders(m)", "cachedin(m)", "busy(s)", "queue(s)", "cached")


def program(seed: int) -> str:
    """The program of a seed."""
    return _Writer(seed).program()


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pools = ["m", "k"][: self.random.choice((1, 1, 1, 2))]
        self.caching = self.random.random() < 0.4
        self.pinned = self.caching and self.random.random() < 0.3
        self.seen = 0

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def program(self) -> str:
        sessions = self.random.randint(2, 4)
        caps = [self.random.randint(2, 4) for _ in self.pools]
        lets = [f"let N = {sessions};", "let mu = 2;"]
        lets += [f"let C{name} = {cap};" for name, cap in zip(self.pools, caps, strict=True)]
        pin = " pin waiting;" if self.pinned else ""
        pools = [f"pool {name} {{ cap C{name};{pin} }}" for name in self.pools]
        stages = f"stage s : {self.pick(*_STAGES)}; stage u : {self.pick(*_STAGES)}; stage d : delay;"
        open_ended = not self.caching and self.maybe(0.2)
        arrivals = "poisson(0.5) limit(N)" if open_ended else "closed(N)"
        rest = ["run d (~exp(3));", *(["run u (~exp(0.5));"] if self.maybe(0.2) else [])]
        body = ["set t = now;", *self.middle(), "observe response = now - t;", *rest]
        session = f"{' '.join(body)} end;" if open_ended else f"loop {{ {' '.join(body)} }}"
        items = [*lets, *pools, stages, f"workload {{ arrive {arrivals}; }}", f"session {{ {session} }}"]
        return "\n".join([*items, "run { horizon 100; }"]) + "\n"

    def middle(self) -> list[str]:
        sized = not self.caching and self.maybe(0.4)
        out = ["set w = ~choice(1: 0.5, 2: 0.5);"] if sized else []
        first, *others = self.random.sample(self.pools, len(self.pools))
        amounts = ("w", "1") if sized else ("1", "1", "2")
        inner = [self.observe(), self.work()]
        if others and self.maybe(0.5):
            inner.append(f"hold {others[0]} (1) {{ {self.work()} }}")
            others = []
        parts = [f"{name} ({self.pick(*amounts)})" for name in (first, *(others if self.maybe(0.5) else []))]
        cache = f" cache ({self.pick('1', '1', '2')});" if self.caching else ""
        out.append(f"hold {', '.join(parts)} {{ {' '.join(inner)} }}{cache}")
        if self.maybe(0.2):
            out.append(f"branch (0.25) {{ drop {first}; }}" if self.caching else "branch (0.25) { run u (~exp(1)); }")
        return out

    def observe(self) -> str:
        self.seen += 1
        fact = self.pick(*_FACTS)
        if fact in ("cached", "cachedin(m)") or self.maybe(0.7):
            return f"observe o{self.seen} = {fact};"
        return f"branch ({fact} >= 1) {{ run u (~exp(0.5)); }}"

    def work(self) -> str:
        mean = self.pick("1 / mu", "1", "2", "(cached ? 0.5 : 1.5)", "(cached ? 0.5 : 1.5)")
        law = self.pick("~exp({})", "~exp({})", "~exp({})", "~erlang(2, {})")
        return f"run {self.pick('s', 's', 'u')} ({law.format(mean)});"

"""Random programs in which holds are preempted around step stages: of residents and of whoever else holds a pool.

The stages plan ahead or not, and have a memory or none; holds grow by a statement and along runs. All amounts are
multiples of 1/4, so that much happens at one instant. A program is a function of its seed.
"""

from random import Random

_STAGES = ("fifo", "fifo(2)", "delay", "ps(1)")
_ARRIVALS = ("closed(4)", "closed(7)", "batch(8)", "poisson(0.8) limit(8)", "renewal(~choice(0: 1, 0.5: 2, 2: 1))")
_PREEMPT = ("preempt lifo;", "preempt lifo;", "preempt by (need, serial);", "preempt by (-serial);", "preempt none;")
_COSTS = ("1", "0.25 + 0.25 * ndec", "0.5 + ntok / 16 + kvb / 8", "0.5 + kvp / 4")
_CACHES = ("inf", "need", "1", "0")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts)

    def items(self) -> list[str]:
        memory = self.pick("", "memory kv;", "memory kv;")
        ahead = ["plan ahead;", "plan ahead;" if self.maybe() else ""]
        engines = [
            f"budget {self.pick('2', '4', '9', 'inf')}; cost {self.pick(*_COSTS)}; {ahead[i]} {(memory, '')[i]}"
            for i in range(2)
        ]
        via = "admit via engine;" if self.maybe(0.3) else ""
        pools = [f"pool {name} {{ cap {self.random.randint(5, 12)}; {self.pick(*_PREEMPT)}" for name in ("kv", "box")]
        return [
            f"{pools[0]} {self.pick('', 'block 2;')} {via} }}",
            f"{pools[1]} {self.pick('', 'pin waiting;')} }}",
            f"stage engine : step {{ {engines[0]} }}",
            f"stage other : step {{ {engines[1]} }}",
            f"stage s : {self.pick(*_STAGES)};",
            "stage pause : delay;",
        ]

    def run(self, held: tuple[str, ...]) -> str:
        roll = self.random.random()
        if roll < 0.3:
            return f"run {self.pick('s', 'pause')} ({self.pick('0.25', '0.5', '1', '0.25 * need')});"
        if held and roll < 0.5:
            return f"grow {self.pick(*held)} ({self.pick('1', '1', '2')});"
        along = f" growing {self.pick(*held)}" if held and self.maybe() else ""
        stage = self.pick("engine", "engine", "other")
        return f"run {stage} {self.pick('prefill (need)', 'decode (2)', 'decode (need)', 'decode (1)')}{along};"

    def hold(self, held: tuple[str, ...] = ()) -> str:
        free = [name for name in ("kv", "box") if name not in held]
        chosen = tuple(self.random.sample(free, self.random.randint(1, len(free))))
        parts = ", ".join(f"{name} ({self.pick('1', '2', 'need')})" for name in chosen)
        inner = [self.run((*held, *chosen)) for _ in range(self.random.randint(1, 3))]
        if len(held) + len(chosen) < 2 and self.maybe():
            inner.insert(self.random.randint(0, len(inner)), self.hold((*held, *chosen)))
        cache = f" cache ({self.pick(*_CACHES)});" if self.maybe(0.6) else ""
        return f"hold {parts} {{ {' '.join(inner)} observe held = used(kv) + 16 * used(box); }}{cache}"

    def text(self) -> str:
        items = self.items()
        arrivals = self.pick(*_ARRIVALS)
        body = [self.hold(), *(self.hold() for _ in range(self.random.randint(0, 1))), self.run(())]
        self.random.shuffle(body)
        stop = "" if arrivals.startswith("closed") and self.maybe() else "branch (k >= 4) { end; }"
        return (
            "\n".join(items)
            + f"\nworkload {{ arrive {arrivals}; }}\n"
            + "session { set k = 0; set need = 1 + serial % 3; loop { set k = k + 1; set t = now; run pause (0.25);\n  "
            + "\n  ".join(body)
            + f"\n  set need = 1 + (need + k) % 4; observe stay = now - t; {stop} }} }}\n"
            + "run { horizon 60; warmup 7; seed 3; }\n"
        )


def preempting_program(seed: int) -> str:
    """The program of a seed."""
    return _Writer(seed).text()

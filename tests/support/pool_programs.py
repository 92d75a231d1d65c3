"""Random programs with pools for comparing the two engines: whatever a hold, a cache and a queue can be told.

A program is a function of its seed. Half of the seeds use amounts of work that are multiples of 1/4, so that many
clocks are set for one instant and the order of everything matters.
"""

from random import Random

_STAGES = ("fifo", "fifo(2)", "delay", "ps(1)", "ps(min(n, 2))")
_ARRIVALS = (
    "closed(3)", "closed(6)", "closed(9)", "batch(8)", "poisson(1.2) limit(8)", "poisson(0.8)",
    "renewal(~uniform(0.25, 1.5))", "renewal(~choice(0.5: 2, 1: 1, 0: 1)) limit(6)",
)  # fmt: skip
_LAWS = ("~exp({a})", "~h2({a}, 2.5)", "~uniform({a} / 2, {a})", "~choice({a}: 1, 2 * {a}: 0.5, 0: 0.1)")
_EXACT = ("{a}", "~choice(0.25: 1, 0.5: 1, 1: 1)", "0.25 * (1 + serial % 3)", "~bernoulli(0.5) * {a}")
_FIXED = ("1", "2", "3", "need", "need + 1", "1.5", "k + 1", "max(1, need - 1)", "0.75 * need", "turn_no % 3 + 1")
_MOVING = (
    "min(need, max(1, free({p})))", "1 + queued({p}) % 2", "max(1, need - cachedin({p}))", "now % 3 + 0.5",
    "1 + busy({s})", "holders({p}) + 1", "min(4, 1 + floor(used({p}) / 4))",
)  # fmt: skip
_KEYS = (
    "size", "-size", "age", "-last", "last", "queued", "size * age", "need", "-serial", "cachedin({p})", "k",
    "used({p}) - size", "turn_no", "floor(size / 3)", "size > 2", "0",
)  # fmt: skip
_QUEUE_KEYS = ("need", "-need", "waited", "-waited", "serial % 3", "-serial", "cachedin({p})", "k", "turn_no")
_VICTIMS = ("need", "-need", "serial", "-serial", "k", "turn_no", "cachedin({p})", "computed")
_CACHES = (
    "need", "inf", "1", "2.5", "need - 1", "cached + 1", "need > 2 ? need : 0", "min(need, free({p}))", "0 - k", "k",
)  # fmt: skip
_SIZES = ("~bernoulli(0.5)", "~geometric(0.5)", "serial % 4", "12 * ~bernoulli(0.2)")
_TESTS = ("need > 2", "0.4", "cachedin({p}) == 0", "queued({p}) > 1", "cachedin({p}) > 1", "round % 2 == 0")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.laws = _EXACT if seed % 2 else _LAWS
        self.moving = self.random.random() < 0.4
        self.tier = self.random.random() < 0.4
        self.plain = [f"p{i}" for i in range(self.random.randint(1, 3))]
        self.stages = [f"s{i}" for i in range(self.random.randint(1, 3))]

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def pick(self, *texts: str) -> str:
        pool = self.random.choice([*self.plain, "q[0]", "q[1]"])
        amount = self.random.choice(("0.25", "0.5", "1", "1.5"))
        return self.random.choice(texts).format(p=pool, s=self.random.choice(self.stages), a=amount)

    def keys(self, texts: tuple[str, ...]) -> str:
        return ", ".join(self.pick(*texts) for _ in range(self.random.randint(1, 3)))

    # -- declarations ------------------------------------------------------------------------------------------------

    def pool(self, name: str) -> str:
        cap = self.random.choice(("inf", "6", "7", "8", "9.5", "12", "14"))
        options = [f"cap {cap};"]
        options += [f"block {self.pick('1', '2', '3', '4')};"] if self.maybe() else []
        if self.maybe(0.55):
            options.append(f"evict by ({self.keys(_KEYS)});")
        options += ["pin waiting;"] if self.maybe(0.25) else []
        options += [f"queue by ({self.keys(_QUEUE_KEYS)});"] if self.maybe(0.4) else []
        if self.maybe(0.6):
            options.append(self.pick("preempt lifo;", f"preempt by ({self.keys(_VICTIMS)});", "preempt none;"))
        if self.tier and name != "tier" and self.maybe(0.6):
            work = self.pick("0", "size / 4", "~det(0.5)", "~exp(0.3)", "size > 1 ? 0.25 : 0", "need / 8")
            test = self.pick(
                "1", "size > 1", "age > 0.5", "queued", "~bernoulli(0.6)", "!queued && need > 1", "serial % 2"
            )
            options.append(f"spill tier via {self.random.choice(self.stages)} ({work}) when ({test});")
        self.random.shuffle(options)
        return f"pool {name} {{ {' '.join(options)} }}"

    def items(self) -> list[str]:
        items = [self.pool(name) for name in (*self.plain, "q[2]", *(["tier"] if self.tier else []))]
        items += [f"stage {name} : {self.random.choice(_STAGES)};" for name in self.stages]
        facts = ("used({p})", "free({p})", "queued({p})", "holders({p}) > 1", "queue({s})")
        items += [f"gauge g{i} = {self.pick(*facts)};" for i in range(self.random.randint(0, 2))]
        return items

    # -- the session -------------------------------------------------------------------------------------------------

    def run(self) -> str:
        return f"run {self.random.choice(self.stages)} ({self.pick(*self.laws)});"

    def units(self) -> str:
        return self.pick(*_FIXED, *(_MOVING if self.moving else ()))

    def hold(self, names: list[str], depth: int) -> str:
        chosen = self.random.sample(names, min(len(names), self.random.choice((1, 1, 1, 2, 3))))
        parts = [
            f"{name} ({self.units()})" + (f" reserve ({self.units()})" if self.maybe(0.25) else "") for name in chosen
        ]
        reuse = f" reuse ({self.pick('need', '1', '2', 'need - 1', '0', 'inf', '0 - k')})" if self.maybe(0.45) else ""
        cache = f" cache ({self.pick(*_CACHES)});" if self.maybe(0.75) else self.pick("", ";")
        inner = [self.statement(names, depth - 1) for _ in range(self.random.randint(1, 2))]
        if self.maybe():
            inner.insert(0, "observe hit = cached;")
        for name in chosen:
            if self.maybe(0.4):
                more = self.pick("1", "1", "0.5", "2", "0", "k", "~bernoulli(0.5)")
                inner.insert(self.random.randint(0, len(inner)), f"grow {name} ({more});")
        return f"hold {', '.join(parts)}{reuse} {{ {' '.join(inner)} }}{cache}"

    def statement(self, names: list[str], depth: int) -> str:
        roll = self.random.random()
        if depth <= 0 or roll < 0.3:
            return self.run()
        if roll < 0.7:
            return self.hold(names, depth)
        if roll < 0.8:
            test = self.pick(*_TESTS)
            other = f" else {{ {self.statement(names, depth - 1)} }}" if self.maybe() else ""
            return f"branch ({test}) {{ {self.statement(names, depth - 1)} }}{other}"
        if roll < 0.86:
            return f"set need = 1 + {self.pick(*_SIZES)};"
        if roll < 0.92:
            return f"drop {self.random.choice(names)};"
        if roll < 0.96:
            keys = self.pick("used(q[k])", "queued(q[k]), -cachedin(q[k])", "holders(q[k])", "k == 0")
            return f"choose k in 2 by ({keys});"
        return self.random.choice(("turn;", "branch (0.05) { end; }", "observe o1 = used(p0);"))

    def body(self) -> str:
        names = [*self.plain, *(["tier"] if self.tier else []), "q[k]", "q[1]" if self.maybe(0.1) else "q[k]"]
        return "\n    ".join(self.statement(sorted(set(names)), 3) for _ in range(self.random.randint(2, 4)))


def pool_program(seed: int) -> str:
    """The program of a seed."""
    w = _Writer(seed)
    arrivals = w.random.choice(_ARRIVALS)
    items = w.items()
    init = f"set need = {w.pick('1 + serial % 3', '~geometric(0.5)', '2')}; set k = serial % 2; set round = 0;"
    items.append(f"workload {{ arrive {arrivals}; init {{ {init} }} turn {{ observe pace = now; }} }}")
    ending = f"branch (round >= {w.random.randint(1, 5)}) {{ end; }}"
    if arrivals.startswith("closed") and w.maybe():
        ending = ""
    body = "set t = now; set round = round + 1; run s0 (0.25);"
    items.append(
        f"session {{\n  loop {{\n    {body}\n    {w.body()}\n    observe stay = now - t;\n    {ending}\n  }}\n}}"
    )
    return "\n".join(items) + "\nrun { horizon 60; warmup 7; seed 3; }\n"

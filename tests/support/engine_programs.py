"""Random programs for comparing the two engines: all laws, all arrivals, choices, gauges, and clocks that often tie.

A program is a function of its seed. Half of the seeds use amounts of work that are multiples of 1/4, so that many
clocks are set for one instant and their order matters.
"""

from random import Random

_STAGES = ("fifo", "fifo(2)", "fifo(3)", "delay", "ps(1)", "ps(min(n, 2))", "ps(n > 2 ? 2 + n % 2 / 2 : n)")
_ARRIVALS = (
    "closed(3)", "closed(7)", "batch(5)", "poisson(1.5) limit(6)", "poisson(0.7)", "renewal(~uniform(0.25, 1.5))",
    "renewal(~choice(0.5: 2, 1: 1, 0: 1)) limit(4)", "renewal(0.75 + (now > 20 ? ~erlang(2, 0.5) : 0.25))",
)  # fmt: skip
_LAWS = (
    "~exp({a})", "~erlang(3, {a})", "~h2({a}, 2.5)", "~uniform({a} / 2, {a})", "~geometric(0.4) * {a} / 2",
    "~choice({a}: 1, 2 * {a}: 0.5, 0: 0.1)", "(~bernoulli(0.3) ? {a} : ~exp({a} / 2))", "~det({a})",
)  # fmt: skip
_EXACT = (
    "{a}", "~choice(0.25: 1, 0.5: 1, 1: 1)", "{a} * ~geometric(0.5) / 2", "0.25 * (1 + serial % 3)",
    "~bernoulli(0.5) * {a}",
)  # fmt: skip
_FACTS = (
    "queue({s})", "busy({s})", "queue({s}) + busy({s})", "turn_no", "serial % 4", "round", "u", "k", "work({s})",
    "work(a[k])",
)  # fmt: skip
_ESTIMATES = ("est_lambda({s})", "est_rho({s})", "est_wait({s})", "price({s}, u, 0.5)", "est_wait(a[k])")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.laws = _EXACT if seed % 2 else _LAWS
        self.stages = [f"s{i}" for i in range(self.random.randint(1, 4))]
        self.facts = (*_FACTS, *(_ESTIMATES if seed % 5 == 0 else ()))

    def pick(self, *texts: str) -> str:
        return self.random.choice(texts).format(s=self.random.choice(self.stages), a=self.amount())

    def amount(self) -> str:
        return self.random.choice(("0.25", "0.5", "1", "1.5", "0.75"))

    def value(self, depth: int = 2) -> str:
        """An expression of any value."""
        roll = self.random.random()
        if depth == 0 or roll < 0.3:
            return self.pick(*self.facts, "{a}", "2", "now")
        a, b = self.value(depth - 1), self.value(depth - 1)
        if roll < 0.6:
            return f"({a} {self.random.choice('+-*/%')} {b})"
        if roll < 0.8:
            name = self.random.choice(("min", "max", "abs", "floor", "ceil", "sqrt"))
            return f"{name}({a}, {b}, 1)" if name in ("min", "max") else f"{name}({a})"
        return f"({self.test(depth - 1)} ? {a} : {b})"

    def test(self, depth: int = 2) -> str:
        roll = self.random.random()
        if depth == 0 or roll < 0.6:
            return f"({self.value(0)} {self.random.choice(('<', '<=', '>', '>=', '==', '!='))} {self.value(1)})"
        if roll < 0.7:
            return f"!{self.test(depth - 1)}"
        draw = self.random.choice((self.test(depth - 1), "~bernoulli(0.5)"))
        return f"({self.test(depth - 1)} {self.random.choice(('&&', '||'))} {draw})"

    def run(self) -> str:
        place = self.random.choice([*self.stages, "a[k]"])
        return f"run {place} ({self.pick(*self.laws)});"

    def statement(self, depth: int) -> str:
        roll = self.random.random()
        if depth == 0 or roll < 0.4:
            return self.run()
        if roll < 0.55:
            chance = self.random.choice((self.test(), "0.3", "~bernoulli(0.6)", "round % 2 == 0", "1", "0"))
            other = f" else {{ {self.statement(depth - 1)} }}" if self.random.random() < 0.6 else ""
            return f"branch ({chance}) {{ {self.statement(depth - 1)} }}{other}"
        if roll < 0.65:
            return f"choose k in 3 by (busy(a[k]) + queue(a[k]), {self.value(1)}); run a[k] ({self.pick(*self.laws)});"
        if roll < 0.75:
            return f"set u = {self.value()};"
        if roll < 0.85:
            return f"observe o{self.random.randint(0, 2)} = {self.value()};"
        return "turn;"


def engine_program(seed: int) -> str:
    """The program of a seed."""
    w = _Writer(seed)
    arrivals = w.random.choice(_ARRIVALS)
    items = [f"stage {name} : {w.random.choice(_STAGES)};" for name in w.stages]
    items += [
        f"stage a[3] : {w.random.choice(_STAGES)};",
        f"gauge g = {w.pick('queue({s})', 'busy({s}) > 1', 'work({s})')};",
    ]
    first = w.random.choice(("~exp(1)", "0", "~uniform(0, 2)", "serial"))
    init = f"set u = {first}; set k = serial % 3; set round = 0;"
    items.append(f"workload {{ arrive {arrivals}; init {{ {init} }} turn {{ set u = ~uniform(0, 1) + u / 2; }} }}")
    body = "\n    ".join(w.statement(2) for _ in range(w.random.randint(2, 5)))
    more = f"branch (round >= {w.random.randint(2, 5)}) {{ end; }}" if w.random.random() < 0.7 else ""
    ending = "" if arrivals.startswith("closed") and w.random.random() < 0.5 else more or "branch (0.4) { end; }"
    items.append(
        f"session {{\n  set t = now;\n  loop {{\n    set round = round + 1;\n    run s0 ({w.amount()});\n    {body}\n"
        f"    observe stay = now - t;\n    {ending}\n  }}\n}}"
    )
    return "\n".join(items) + "\nrun { horizon 60; warmup 7; seed 3; }\n"

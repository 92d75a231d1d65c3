"""Random programs that are finite Markov chains without pools: text that counters can express.

Names are drawn from what tools reserve and what people write; items come in any order; constants are lets or literals.
A program is a function of its seed.
"""

import random
from dataclasses import dataclass, field
from fractions import Fraction

NAMES = (
    "ma", "R", "C", "S", "init", "rate", "n", "x", "q", "min", "P", "T", "svc", "think", "A", "module", "const",
    "label", "F", "G", "U", "X", "W", "I", "E", "formula", "mdp", "prob", "invariant", "endmodule", "global",
    "speed", "count", "sessions", "ended", "lost", "n_svc", "q_svc", "waiting", "hold_time", "z1", "_a", "longrun",
)  # fmt: skip
MEANS = ("0.5", "1", "1.5", "2", "0.25", "3", "1.2")
CHANCES = ("0.25", "0.5", "0.75", "0.2", "0.9")


@dataclass
class FiniteProgram:
    """The text of a program, and other values for its open constants."""

    text: str
    other: dict[str, Fraction] = field(default_factory=dict)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.free = list(NAMES)
        self.random.shuffle(self.free)
        self.lets: list[tuple[str, str]] = []
        self.other: dict[str, Fraction] = {}
        self.stages: list[tuple[str, str]] = []
        self.runs = 0

    def name(self) -> str:
        return self.free.pop()

    def constant(self, values: tuple[str, ...], *, chance: bool = False) -> str:
        """A literal, or a new let with another value to try later."""
        value = self.random.choice(values)
        if self.random.random() < 0.5 or len(self.free) < 12:
            return value
        name = self.name()
        self.lets.append((name, value))
        self.other[name] = Fraction(1, 3) if chance else Fraction(self.random.randint(1, 9), 4)
        return name

    def program(self) -> FiniteProgram:
        for _ in range(self.random.randint(1, 3)):
            self.stages.append((self.name(), self.kind()))
        if all(kind.startswith("fifo") for _, kind in self.stages) and self.random.random() < 0.7:
            self.stages.append((self.name(), "delay"))
        arrivals, closed = self.arrivals()
        body = self.session(closed)
        items = [f"let {n} = {v};" for n, v in self.lets]
        items += [f"stage {n} : {k};" for n, k in self.stages]
        items += [f"workload {{ arrive {arrivals}; }}", body]
        self.random.shuffle(items)
        items.append("run { horizon 100; warmup 0; seed 1; }")
        return FiniteProgram("\n".join(items) + "\n", self.other)

    def kind(self) -> str:
        servers = str(self.random.randint(1, 2))
        shared = ("ps(1)", "ps(min(n, 2))", "ps(n / (1 + 0.5 * (n - 1)))")
        return self.random.choice((f"fifo({servers})", "fifo", "delay", *shared))

    def arrivals(self) -> tuple[str, bool]:
        population = str(self.random.choice((1, 2, 2, 2, 3)))
        if self.random.random() < 0.3:
            name = self.name()
            self.lets.append((name, population))
            self.other[name] = Fraction(2)
            population = name
        if self.random.random() < 0.25:
            return f"poisson({self.constant(MEANS)}) limit({population})", False
        return f"closed({population})", True

    def session(self, closed: bool) -> str:
        clock = self.name()
        # A run comes first: a loop must let time pass on every path.
        lines = [f"set {clock} = now;", self.run()]
        for _ in range(self.random.randint(1, 2)):
            lines += self.statement(2)
        lines.append(f"observe {self.name()} = now - {clock};")
        loop = closed and self.random.random() < 0.8
        inner = "\n    ".join(lines)
        return f"session {{\n  loop {{\n    {inner}\n  }}\n}}" if loop else f"session {{\n    {inner}\n    end;\n}}"

    def statement(self, depth: int) -> list[str]:
        roll = self.random.random()
        if depth == 0 or roll < 0.45:
            return [self.run()]
        if roll < 0.65:
            return self.branch(self.constant(CHANCES, chance=True), depth)
        if roll < 0.8:
            mark = self.name()
            law = self.random.choice(("~choice(1: 0.5, 2: 0.25, 5: 0.25)", "~bernoulli(0.3)", "1 + ~bernoulli(0.5)"))
            observe = [f"observe {self.name()} = {mark} * 2 + 1;"] if self.random.random() < 0.5 else []
            use = [self.run(f"{self.random.choice(MEANS)} * (1 + {mark})")] if self.random.random() < 0.5 else []
            return [f"set {mark} = {law};", *observe, *use, *self.branch(f"{mark} == 1", depth)]
        if roll < 0.9:
            stage = self.random.choice(self.stages)[0]
            fact = self.random.choice((f"busy({stage})", f"queue({stage})", f"busy({stage}) + queue({stage})"))
            return self.branch(f"{fact} >= {self.random.randint(0, 2)}", depth)
        return [self.run(), self.run()]

    def branch(self, condition: str, depth: int) -> list[str]:
        then = " ".join(self.statement(depth - 1))
        otherwise = f" else {{ {' '.join(self.statement(depth - 1))} }}" if self.random.random() < 0.6 else ""
        return [f"branch ({condition}) {{ {then} }}{otherwise}"]

    def run(self, mean: str | None = None) -> str:
        self.runs += 1
        stage = self.random.choice(self.stages)[0]
        mean = mean or self.constant(MEANS)
        roll = self.random.random()
        law = f"~exp({mean})" if roll < 0.8 else f"~erlang(2, {mean})" if roll < 0.92 else f"~h2({mean}, 17/8)"
        return f"run {stage} ({law});"


def finite_program(seed: int) -> FiniteProgram:
    """The program of a seed."""
    return _Writer(seed).program()

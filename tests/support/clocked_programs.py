"""Random programs with step stages that are mostly solvable: clocks that tie, memory, caches, routing, short sessions.

A program is a function of its seed. All times are doubles without rounding, so that clocks ring at one instant in a run
where they do so by the program's numbers.
"""

from random import Random

_BUDGETS = ("1", "2", "3", "4", "8", "inf", "max(ndec, 2)", "nres > 1 ? 2 : 4", "ndec + 2")
_COSTS = (
    "1", "1", "0.5", "0.5 + ntok / 4", "0.25 + 0.25 * ndec", "0.5 + npre / 4", "0.5 * nres",
    "(ntok > 2 ? 0.5 : 0) + 0.25", "npre > 2 ? 0 : 0.5", "0.25 + attn / 8", "ndec > 0 ? 0.5 : 0",
)  # fmt: skip
_OF_MEMORY = ("4 - min(kvb, 2)", "kvp > 2 ? 2 : 3"), ("0.5 + kvb / 8", "0.25 + (kvp + kvb) / 4")
_CHUNKS = ("", "", "chunk 1;", "chunk 2;", "chunk nres > 1 ? 1 : 3;")
_TIMES = (
    "0.5", "1", "~geometric(0.5)", "~geometric(0.25) / 2", "~choice(0.5: 1, 1.5: 1)", "2 * ~geometric(0.5)",
    "~choice(0: 1, 1: 1)",
)  # fmt: skip
_SMOOTH_TIMES = ("~exp(2)", "~exp(3)", "~erlang(2, 2)", "~h2(2, 3)")
_GAPS = ("~geometric(0.5)", "1.5", "~choice(0.5: 1, 2: 1)", "2 * ~geometric(0.5)", "1", "~choice(0: 1, 3: 2)")
_EVICTIONS = ("", "evict lru;", "evict by (queued);", "evict by (-size);", "evict by (size, queued);")


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.smooth = random.random() < 0.35
        self.closed = random.random() < 0.65
        self.ends = not self.closed or random.random() < 0.25
        self.pair = random.random() < 0.2
        self.reqs, self.kv = random.random() < 0.35, random.random() < 0.6
        self.geometric = random.random() < 0.5
        self.queue = random.random() < 0.4
        self.depth = 0
        self.held: list[str] = []
        self.facts = 0

    # -- the deployment ----------------------------------------------------------------------------------------------

    def step(self) -> str:
        random = self.random
        budgets, costs = _OF_MEMORY if self.kv else ((), ())
        halves = () if self.geometric else ("1.5", "2.5")
        out = [f"budget {random.choice((*_BUDGETS, *budgets, *halves))};", f"cost {random.choice((*_COSTS, *costs))};"]
        out += [random.choice(_CHUNKS), "memory kv;" if self.kv else ""]
        out += [word for word in ("decode first;", "exclusive prefill;") if random.random() < 0.25]
        return f"step {{ {' '.join(out)} }}"

    def deployment(self) -> list[str]:
        random = self.random
        out = [f"stage pair[2] : {self.step()}" if self.pair else f"stage engine : {self.step()}", "stage d : delay;"]
        if self.queue:
            out.append(f"stage f : fifo{random.choice(('', ' (2)'))};")
        via = "" if self.pair else "admit via engine;"
        if self.reqs:
            keys = "queue by (-serial);" if self.closed and not self.ends and random.random() < 0.3 else ""
            out.append(f"pool reqs {{ cap {random.choice((1, 2))}; {random.choice((via, via, ''))} {keys} }}")
        if self.kv:
            options = [f"cap {random.choice((4, 5, 6, 8))};", random.choice(("", "", "block 2;"))]
            options += [random.choice(_EVICTIONS), random.choice((via, "", ""))]
            options += [random.choice(("", "", "pin waiting;")), random.choice(("", "", "queue by (-k);"))]
            out.append(f"pool kv {{ {' '.join(options)} }}")
        random.shuffle(out)
        return out

    # -- amounts and tests -------------------------------------------------------------------------------------------

    @property
    def engine(self) -> str:
        return self.random.choice(("pair[e]", "pair[e]", "pair[1 - e]")) if self.pair else "engine"

    def tokens(self, growing: bool, prefill: bool) -> str:
        random = self.random
        if growing:
            more = ("3 - min(cached, 2)", "max(2 - cached, 0)") if prefill else ("1",)
            return random.choice(("2", "~choice(1: 1, 2: 1)", "1 + k", *more))
        if self.geometric and random.random() < 0.6:
            return f"~geometric({random.choice(('0.5', '0.25', '0.75'))})"
        return random.choice(("1", "2", "3", "~choice(1: 1, 3: 1)", "~choice(0: 1, 2: 1)", "1 + k"))

    def time(self) -> str:
        return self.random.choice(_SMOOTH_TIMES if self.smooth and self.random.random() < 0.8 else _TIMES)

    def fact(self) -> str:
        place = "pair[e]" if self.pair else "engine"
        facts = [f"busy({place})", f"queue({place})", f"min(budget_left({place}), 5)", "busy(d)"]
        facts += ["used(kv)", "cachedin(kv)", "holders(kv)", "queued(kv)", "free(kv)"] if self.kv else []
        facts += ["queued(reqs)", "holders(reqs)"] if self.reqs else []
        return " + ".join(self.random.sample(facts, 2))

    def test(self) -> str:
        place = "pair[e]" if self.pair else "engine"
        out = ["0.5", "0.5", "0.25", "k == 1", f"busy({place}) > 0", f"queue({place}) + busy({place}) > 1"]
        out += [f"budget_left({place}) > 1"] + (["used(kv) > 2", "cachedin(kv) > 0"] if self.kv else [])
        return self.random.choice(out + (["cached > 0"] if "kv" in self.held else []))

    # -- the session -------------------------------------------------------------------------------------------------

    def statement(self) -> str:
        roll = self.random.random()
        if roll < 0.5:
            return self.run()
        if roll < 0.72 and (hold := self.hold()):
            return hold
        if roll < 0.78:
            return f"run {'f' if self.queue and self.random.random() < 0.5 else 'd'} ({self.time()});"
        if roll < 0.86 and self.depth < 2:
            return self.branch()
        if roll < 0.9:
            self.facts += 1
            return f"observe fact{self.facts} = {self.fact()};"
        if roll < 0.94 and self.pair:
            return "choose e in 2 by (busy(pair[e]), -e);"
        if roll < 0.97 and self.kv:
            return "grow kv (1);" if "kv" in self.held else "drop kv;"
        return self.random.choice(("set k = ~choice(0: 1, 1: 1);", "set k = 1 - k;", "set k = ~bernoulli(0.25);"))

    def run(self) -> str:
        growing, prefill = "kv" in self.held and self.random.random() < 0.6, self.random.random() < 0.6
        kind = "prefill" if prefill else "decode"
        return f"run {self.engine} {kind} ({self.tokens(growing, prefill)}){' growing kv' if growing else ''};"

    def branch(self) -> str:
        self.depth += 1
        first, second = self.statement(), f" else {{ {self.statement()} }}" if self.random.random() < 0.4 else ""
        self.depth -= 1
        end = " end;" if self.ends and self.random.random() < 0.3 else ""
        return f"branch ({self.test()}) {{ {first}{end} }}{second}"

    def hold(self) -> str:
        random = self.random
        free = [name for name in ("reqs", "kv") if getattr(self, name) and name not in self.held]
        if "kv" in self.held or not free or self.depth > 1:
            return ""
        names = free if random.random() < 0.3 else [random.choice(free)]
        units = {"reqs": "reqs (1)", "kv": f"kv ({random.choice(('1', '2', '1 + k', '2 + 2 * k'))})"}
        reserve = random.choice(("", "", " reserve(3)", " reserve(4)")) if names[-1] == "kv" else ""
        reuse = f" reuse ({random.choice((1, 2, 4))})" if "kv" in names and random.random() < 0.5 else ""
        cache = f" cache ({random.choice((1, 2, 3, 4))})" if "kv" in names and random.random() < 0.7 else ""
        self.held += names
        self.depth += 1
        body = " ".join(self.statement() for _ in range(random.randint(1, 3)))
        self.depth -= 1
        del self.held[-len(names) :]
        hit = "observe hit = cached; " if "kv" in names and random.random() < 0.5 else ""
        return f"hold {', '.join(units[name] for name in names)}{reserve}{reuse} {{ {hit}{body} }}{cache};"

    # -- the program -------------------------------------------------------------------------------------------------

    def arrivals(self) -> str:
        random = self.random
        if self.closed:
            return f"closed({random.choice((2, 2, 3))})"
        gap = random.choice(("poisson(0.5)", "poisson(1)", "renewal(~exp(1.5))"))
        return f"{gap if self.smooth else f'renewal({random.choice(_GAPS)})'} limit({random.choice((2, 3))})"

    def session(self) -> str:
        random = self.random
        body = [self.statement() for _ in range(random.randint(1, 4))]
        body.append(f"run {self.engine} decode ({self.tokens(False, False)});" if random.random() < 0.5 else "")
        body.insert(random.randint(1, len(body)), "observe mid = now - t0;" if random.random() < 0.5 else "")
        turn = f"set t0 = now; {' '.join(filter(None, body))} observe response = now - t0;"
        think = f"run d ({'~exp(2)' if self.smooth else random.choice(_TIMES)});"
        own = "serial % 2" if self.closed and not self.ends else "~bernoulli(0.5)"
        begin = f"set k = {random.choice(('0', '~bernoulli(0.5)', own))};" + (f" set e = {own};" if self.pair else "")
        if self.closed:
            last = "branch (0.25) { end; } " if self.ends else ""
            return f"{begin} loop {{ {turn} {last}{think if random.random() < 0.85 else ''} }}"
        return f"{begin} loop {{ {turn} branch (0.5) {{ end; }} {think} }}" if random.random() < 0.4 else begin + turn

    def text(self) -> str:
        place = "pair[0]" if self.pair else "engine"
        gauges = [f"busy({place}) * queue({place})", f"min(budget_left({place}), 4)"]
        gauges += ["used(kv) * used(kv)", f"(used(kv) > 2) * busy({place})"] if self.kv else []
        lines = [*self.deployment(), *(f"gauge g{i} = {x};" for i, x in enumerate(gauges))]
        return (
            "\n".join([*lines, f"workload {{ arrive {self.arrivals()}; }}", f"session {{ {self.session()} }}"]) + "\n"
        )


def clocked_program(seed: int) -> str:
    """The program of a seed."""
    return _Maker(seed).text()

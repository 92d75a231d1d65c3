"""Random programs in which nothing is drawn, for comparing two interpreters event for event.

All amounts are short binary fractions, so that two interpreters that calculate in another order still meet at the same
instants. `%` is written out, because the peer has none.
"""

from collections.abc import Callable
from random import Random

Writer = Callable[[Random], str]


def program(seed: int) -> str:
    """A program of the seed's own: even seeds mix stages and pools, odd ones run a step stage."""
    random = Random(seed)
    return step_program(random) if seed % 2 else queueing_program(random)


def modulo(expr: str, base: int) -> str:
    """`expr % base`, in words that both interpreters know."""
    return f"(({expr}) - {base} * floor(({expr}) / {base}))"


def _amount(random: Random, least: str = "1") -> str:
    """A positive number that varies from session to session and from round to round."""
    a, b, base = random.randint(1, 5), random.randint(1, 5), random.randint(2, 5)
    return f"({least} + {modulo(f'{a} * serial + {b} * round', base)} / {random.choice([1, 2, 4])})"


# -- stages and pools ------------------------------------------------------------------------------------------------

_STAGES = ("fifo", "fifo(2)", "ps(n)", "ps(n / 2)", "ps(n > 2 ? n / 4 : n)", "delay")
_EVICT = ("lru", "lru", "by (size, last)", "by (-size)", "by (waiting, last)", "by (-last)", "by (-age)")
_QUEUE = ("fifo", "fifo", "by (want)", "by (-waited)", "by (-serial)")
_FACTS = ("now", "used({p})", "free({p})", "cachedin({p})", "queued({p})", "busy({s})", "queue({s})", "work({s})")


def queueing_program(random: Random) -> str:
    """Fifo, ps and delay stages, one or two pools, holds that may nest, caches, growth, drops, choices."""
    pools = ["m", "k"][: random.randint(1, 2)]
    lines = [f"pool {name} {{ cap {random.randint(4, 12)}; {_pool_options(random)} }}" for name in pools]
    lines += [f"stage s{i} : {random.choice(_STAGES)};" for i in range(2)]
    lines += ["stage d : delay;", "stage a[2] : fifo;", f"workload {{ {_arrivals(random)} }}"]
    writer = _Body(random, pools)
    body = " ".join(writer.statement(0) for _ in range(random.randint(2, 4)))
    stop = f"branch (round >= {random.randint(2, 5)}) {{ end; }}"
    lines.append(
        "session { set round = 0; set want = 1; set at = 0; "
        f"loop {{ set round = round + 1; set want = {_amount(random)}; {stop} "
        f"run d ({_amount(random, '0.25')}); {body} observe done = now; }} }}"
    )
    lines.append(f"run {{ horizon {random.randint(20, 60)}; warmup {random.choice([0, 0, 7])}; seed 1; }}")
    return "\n".join(lines) + "\n"


def _pool_options(random: Random) -> str:
    block = random.choice(["", "", "block 2;"])
    lifo = random.choice(["", "", "preempt lifo;"])
    return f"{block} {lifo} evict {random.choice(_EVICT)}; queue {random.choice(_QUEUE)};"


def _arrivals(random: Random) -> str:
    return random.choice(
        [
            f"arrive batch({random.randint(2, 6)});",
            f"arrive closed({random.randint(2, 5)});",
            f"arrive renewal({random.choice(['0.5', '1', '1.25', '3'])});",
        ]
    )


class _Body:
    """Statements of a session, nested at most twice."""

    def __init__(self, random: Random, pools: list[str]) -> None:
        self.random = random
        self.pools = pools
        self.observes = 0
        self.holding = 0

    def statement(self, depth: int) -> str:
        kinds: list[Callable[[int], str]] = [self._run, self._observe, self._observe, self._choose, self._branch]
        if depth < 2:
            kinds += [self._hold, self._hold, self._hold]
        else:
            kinds += [self._drop]
        return self.random.choice(kinds)(depth)

    def _run(self, depth: int) -> str:
        return f"run {self.random.choice(['s0', 's1', 'd'])} ({_amount(self.random, '0.5')});"

    def _observe(self, depth: int) -> str:
        self.observes += 1
        fact = self.random.choice((*_FACTS, "cached", "cached") if self.holding else _FACTS)
        return f"observe o{self.observes} = {fact.format(p=self.random.choice(self.pools), s='s0')};"

    def _choose(self, depth: int) -> str:
        key = self.random.choice(["queue(a[at]) + busy(a[at])", "work(a[at])", "-work(a[at])", "at == 0"])
        return f"choose at in 2 by ({key}); run a[at] ({_amount(self.random, '0.5')});"

    def _branch(self, depth: int) -> str:
        test = modulo("serial + round", self.random.randint(2, 3))
        return f"branch ({test} == 0) {{ {self._run(depth)} }} else {{ {self.statement(depth + 1)} }}"

    def _drop(self, depth: int) -> str:
        return f"drop {self.random.choice(self.pools)};"

    def _hold(self, depth: int) -> str:
        random = self.random
        chosen = random.sample(self.pools, random.randint(1, len(self.pools)))
        parts = ", ".join(f"{p} ({_amount(random)}){random.choice(['', '', ' reserve (3)'])}" for p in chosen)
        reuse = random.choice(["", "", f" reuse ({_amount(random)})", " reuse (2)"])
        self.holding += 1
        inner = [self._run(depth), self.statement(depth + 1 if random.random() < 0.3 else 2)]
        self.holding -= 1
        if random.random() < 0.3:
            inner.append(f"grow {random.choice(chosen)} ({random.choice(['0.5', '1', '2'])});")
        random.shuffle(inner)
        cache = random.choice(["", f" cache ({_amount(random)});", " cache (99);", " cache (2);"])
        # the peer serves waiting holds at a release, serQ when the releasing session blocks: here it blocks at once
        return f"hold {parts}{reuse} {{ {' '.join(inner)} {self._run(depth)} }}{cache} run d (0.5);"


# -- step stages -----------------------------------------------------------------------------------------------------

_COSTS = (
    "1", "1 + ndec / 4", "0.5 + ntok / 8 + npre / 16", "1 + kvb / 16 + kvp / 32", "1 + attn / 64", "1 + nres / 2",
)  # fmt: skip


def step_program(random: Random) -> str:
    """Iterations with a budget, a memory that grows and preempts, slots that the stage serves, prefix reuse."""
    cap, block = random.randint(10, 24), random.choice(["", "block 2;", "block 4;"])
    lifo = random.random() < 0.6
    order = random.choice(["", "", "exclusive prefill;"] if lifo else ["", "decode first;", "exclusive prefill;"])
    chunk = random.choice(["", "chunk 3;", "chunk 2 + nres;"])
    budget = random.choice(["4", "6", "8", "2 + 2 * nres", "max(3, ndec + 2)"])
    served = random.choice(["kv", "reqs", "reqs"])
    via = {name: "admit via eng;" if served == name else "" for name in ("kv", "reqs")}
    growing = " growing kv" if lifo and random.random() < 0.9 else ""
    preempt = "preempt lifo;" if lifo else ""
    lines = [
        f"pool kv {{ cap {cap}; {block} evict lru; {preempt} {via['kv']} }}",
        f"pool reqs {{ cap {random.randint(1, 4)}; {via['reqs']} }}",
        f"stage eng : step {{ budget {budget}; cost {random.choice(_COSTS)}; {chunk} {order} memory kv; }}",
        "stage d : delay;",
        f"workload {{ {_arrivals(random)} }}",
        _step_session(random, cap, growing, served),
        f"run {{ horizon {random.randint(30, 90)}; warmup 0; seed 1; }}",
    ]
    return "\n".join(lines) + "\n"


def _step_session(random: Random, cap: int, growing: str, served: str) -> str:
    prompt = f"(2 + {modulo(f'{random.randint(1, 5)} * serial + round', 4)} + {random.choice([0, 1, 2])} * round)"
    out = f"(1 + {modulo(f'serial + {random.randint(1, 3)} * round', 5)})"
    reuse = random.choice(["", " reuse (hitmax)", " reuse (hitmax)"])
    # a first growth that preempts itself leaves a prefix that was never computed: the peer keeps it, serQ does not
    cache = random.choice(["", " cache (prompt);", " cache (prompt + out);"])
    first = random.choice(["prompt", "1 + cachedin(kv)"] if growing and not cache else ["prompt + 1"])
    kv, reqs = f"kv ({first}){random.choice(['', ' reserve (prompt)'])}", "reqs (1)"
    parts = f"{kv}, {reqs}" if served == "kv" else f"{reqs}, {kv}"
    again = f"branch (round >= {random.randint(1, 3)}) {{ end; }}"
    return (
        f"session {{ set round = 0; set prev = 0; run d ({_amount(random, '0.25')}); loop {{ set round = round + 1;"
        f" set prompt = min({prompt}, {cap // 2}); set out = {out}; set hitmax = min(prev, prompt - 1);"
        f" hold {parts}{reuse} {{ observe used = used(kv); observe hit = cached;"
        f" run eng prefill (max(prompt - cached, 0.5)){growing}; observe ttft = now; observe load = busy(eng);"
        f" run eng decode (out){growing}; observe full = used(kv); }}{cache}"
        f" set prev = prompt; observe done = now; {again} run d ({_amount(random, '0.25')}); }} }}"
    )

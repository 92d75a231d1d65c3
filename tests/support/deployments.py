"""Random deployments: an engine under load, with memory, caches, tiers and whatever else the language has around it.

Every program links and runs to its end or to its horizon; what is drawn is its form, its sizes and its requests.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from serq.ir.program import Program
from serq.traces.corpus import Corpus
from serq.traces.reader import read_trace

PROGRAMS = 300
"""The laws are tried on the deployments of the seeds below this."""

HEADER = ("session", "turn", "new", "out", "think", "forced")
COLUMNS = ("urgency", "size_class", "extra")


@dataclass(frozen=True)
class Deployment:
    """A program, the trace it replays (empty where it has none), and the time at which to stop it (None: its end).

    `grows`: requests compute along growing holds, so that a preempted one keeps what it has.
    """

    text: str
    trace: str
    horizon: float | None
    grows: bool


def deployment(seed: int) -> Deployment:
    """The deployment of a seed."""
    return _Writer(Random(seed)).deployment()


def corpus_of(made: Deployment, program: Program) -> Corpus | None:
    """The trace of a deployment, read for its linked program."""
    if program.trace is None:
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        path.write_text(made.trace)
        return read_trace(path, program.trace.columns)


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.block = random.choice([None, 1, 4, 4, 16])
        self.units = random.randint(20, 56)
        self.budget = random.choice([1, 7, 16, 64])
        self.arrive = random.choices(
            ["trace", "batch", "closed", "poisson", "poisson limit", "renewal", "renewal limit", "none"],
            [32, 14, 9, 9, 9, 11, 9, 7],
        )[0]
        self.columns = COLUMNS[: random.choice([0, 0, 1, 2, 3])]
        self.traced = self.arrive == "trace" or self.maybe(0.5)
        self.engines = 2 if self.maybe(0.3) else 1
        self.keyed = self.maybe(0.3)
        self.preempt = random.choice(
            ["", "preempt none;", "preempt lifo;", "preempt lifo;", "preempt by (-k, serial);"]
        )
        self.tier = self.maybe(0.3)
        self.grows = self.maybe(0.8)
        self.aux = random.sample(list(_AUX_STAGES), 4)
        self.boxes = random.sample(list(_AUX_POOLS), 3)

    # -- small choices -----------------------------------------------------------------------------------------------

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # -- the whole ---------------------------------------------------------------------------------------------------

    def deployment(self) -> Deployment:
        """The items in any order: names may be used before they are given."""
        items = [*self.lets(), *self.pools(), *self.stages(), self.workload(), self.session(), self.run()]
        if self.maybe(0.4):
            items.append(f"gauge load = {self.pick('used', 'free', 'holders', 'queued')}({self.kv('0')});")
        if self.maybe(0.3):
            self.random.shuffle(items)
        endless = self.arrive not in ("trace", "batch", "none")
        return Deployment(
            "\n".join(items) + "\n", self.trace() if self.traced else "", 40.0 if endless else None, self.grows
        )

    def lets(self) -> list[str]:
        return [f"let rounds = {self.random.randint(1, 3)};", f"let pause_mean = {self.random.randint(1, 4)};"]

    def kv(self, index: str) -> str:
        return f"kv[{index}]" if self.engines > 1 else "kv"

    def member(self, name: str) -> str:
        return f"{name}[e]" if self.engines > 1 else name

    # -- deployment --------------------------------------------------------------------------------------------------

    def pools(self) -> list[str]:
        size = f"[{self.engines}]" if self.engines > 1 else ""
        unit = self.block or 1
        options = [f"cap {self.units // unit * unit};"]
        options += [f"block {self.block};"] if self.block is not None else []
        options.append(self.pick("", "evict lru;", "evict by (size, last);", "evict by (queued, -age, serial);"))
        options += [self.preempt, "pin waiting;" if self.maybe(0.12) else ""]
        if self.tier:
            work = self.pick("0", "size / 8", "~det(size * 0.125)")
            options.append(f"spill host via link ({work}) when ({self.pick('1', 'size > 0', 'age >= 0')});")
        queue = "queue by (k, waited, serial);" if self.keyed else self.pick("", "queue fifo;")
        via = "admit via engine;" if self.maybe(0.75) else ""
        out = [
            f"pool kv{size} {{ {' '.join(o for o in options if o)} }}",
            f"pool reqs{size} {{ cap {self.random.randint(1, 8)}; {queue} {via} }}",
        ]
        out += ["pool host { cap 64; }"] if self.tier else []
        return out + [f"pool {name}{_AUX_POOLS[name]}" for name in self.boxes]

    def stages(self) -> list[str]:
        size = f"[{self.engines}]" if self.engines > 1 else ""
        switches = ["exclusive prefill;", "decode first;", "plan ahead;"]
        options = [f"budget {self.pick(str(self.budget), f'max(ndec, {self.budget})', f'{self.budget} + 0 * kvp')};"]
        options.append(
            f"cost {self.pick('1', '0.25 + 0.125 * ndec', '0.5 + attn / 64 + npre / 32', '0.5 + ntok / 16')};"
        )
        options += [f"chunk {self.pick('0', '3', '8', 'nres > 2 ? 2 : 0')};"] if self.maybe(0.3) else []
        options += [switch for switch in switches if self.maybe(0.15)]
        options += ["memory kv;"] if self.maybe(0.85) else []
        self.random.shuffle(options)
        out = [f"stage engine{size} : step {{ {' '.join(options)} }}{self.pick('', ';')}", "stage pause : delay;"]
        out += [f"stage link : {self.pick('fifo', 'delay', 'fifo(2)')};"] if self.tier else []
        return out + [f"stage {name}{_AUX_STAGES[name]};" for name in self.aux]

    # -- workload ----------------------------------------------------------------------------------------------------

    def workload(self) -> str:
        amounts = {"batch": f"({self.random.randint(1, 6)})", "closed": f"({self.random.randint(1, 4)})"}
        rate = {"poisson": f"({self.pick('0.2', '1 / 3')})", "renewal": f"({self.pick('2', '~erlang(2, 3)')})"}
        kind, _, limit = self.arrive.partition(" ")
        items = [f"arrive {kind}{(amounts | rate).get(kind, '')}{' limit(3)' if limit else ''};"]
        if self.traced:
            columns = f" with ({', '.join(self.columns)})" if self.columns else ""
            items.append(f'trace "trace.csv"{" ordered" if self.maybe() else ""}{columns};')
        if self.maybe(0.3):
            items.append("init { set born = now; }")
        if self.maybe(0.3):
            items.append("turn { observe pace = turn_no; }")
        return f"workload {{ {' '.join(items)} }}"

    def run(self) -> str:
        options = ["horizon 40;", "warmup 5;", "seed 3;"]
        return f"run {{ {' '.join(option for option in options if self.maybe(0.6))} }}"

    def trace(self) -> str:
        rows = [",".join((*HEADER, *self.columns))]
        for session in range(self.random.randint(2, 8)):
            new = self.random.randint(1, 9)
            for turn in range(1, self.random.randint(1, 3) + 1):
                out, think = self.random.randint(1, 10), self.random.choice([0, 0.5, 3])
                more = [str(self.random.randint(0, 3)) for _ in self.columns]
                rows.append(
                    ",".join(
                        [str(session), str(turn), str(new), str(out), str(think), str(self.random.randint(0, 1)), *more]
                    )
                )
                new += out + self.random.randint(1, 3)
        return "\n".join(rows) + "\n"

    # -- the session -------------------------------------------------------------------------------------------------

    def session(self) -> str:
        turn = "turn;" if self.traced or self.maybe(0.3) else ""
        over = "more == 0" if self.arrive == "trace" else "k >= rounds"
        rest = "run pause (~exp(pause_mean));"
        stop = f"branch{self.pick('', ' with')} ({over}) {{ end; }}"
        stop += f" else {{ {rest} }}" if self.maybe() else f" {rest}"
        asides = [self.aside() for _ in range(self.random.randint(3, 6))]
        at = self.random.randint(0, len(asides))
        body = [turn, "set k = k + 1;", *self.lengths(), *asides[:at], self.request(), *asides[at:], stop]
        return f"session {{ set k = 0; set e = 0; loop {{ {' '.join(part for part in body if part)} }} }}"

    def lengths(self) -> list[str]:
        """The tokens of the next request, and which engine takes it."""
        if self.traced:
            out = ["set prompt = new; set answer = out;"]
        else:
            prompt = self.pick("1 + floor(~uniform(0, 20))", "~geometric(0.2)", "~choice(3: 1, 9: 2, 17: 1)")
            answer = self.pick("~geometric(0.3)", "1 + ~bernoulli(0.5) * 4", "~choice(2: 1)", "~choice(1: 1, 5: 1)")
            out = [f"set prompt = {prompt}; set answer = {answer};"]
        if self.engines > 1:
            keys = self.pick("work(engine[e]), queued(reqs[e]), e", "busy(engine[e])", "used(kv[e]), -cachedin(kv[e])")
            out.append(f"choose e in 2 by ({keys});")
        return out

    def request(self) -> str:
        """The hold around a prefill and a decode: growing along, or allocated at once."""
        kv, engine = self.member("kv"), self.member("engine")
        slots = [f"{self.member('reqs')} (1)"] if self.maybe(0.85) else []
        return self.growing(kv, engine, slots) if self.grows else self.at_once(kv, engine, slots)

    def growing(self, kv: str, engine: str, slots: list[str]) -> str:
        known, unit = "max(prompt, computed + 1)", self.block or 1
        hit = "max(prompt - 1, computed)"
        if self.traced and self.maybe(0.3):
            hit = f"forced && computed == 0 ? 0 : {hit}"
        cached, reuse, cache = "0", "", self.pick("", ";")
        if self.maybe(0.75):
            cached, reuse = f"floor(min(cachedin({kv}), {hit}) / {unit}) * {unit}", f" reuse ({hit})"
            cache = f" cache ({self.pick('prompt + answer - 1', 'prompt', 'inf')});"
        reserve = f" reserve ({known})" if self.maybe(0.4) else ""
        parts = [*slots, f"{kv} (min({known}, {cached} + budget_left({engine}))){reserve}"]
        return (
            f"hold {', '.join(parts)}{reuse} {{ set known = {known}; observe hit = cached;"
            f" run {engine} prefill (known - {'cached' if reuse else '0'}) growing {kv};"
            f" run {engine} decode (prompt + answer - 1 - known) growing {kv}; }}{cache} observe done = now;"
        )

    def at_once(self, kv: str, engine: str, slots: list[str]) -> str:
        parts = [*slots, f"{kv} (prompt + answer)"]
        tail = self.pick("", ";", " cache (prompt);")
        reuse = self.pick("", " reuse (prompt - 1)")
        return (
            f"hold {', '.join(parts)}{reuse} {{ run {engine} prefill (max(1, prompt - cached));"
            f" run {engine} decode (answer); }}{tail} observe done = now;"
        )

    # -- asides: the rest of the language ----------------------------------------------------------------------------

    def aside(self) -> str:
        """A statement that has nothing to do with the request."""
        kind = self.random.choices(
            ("run", "hold", "set", "observe", "branch", "drop", "choose"), (4, 6, 2, 3, 3, 1, 2)
        )[0]
        match kind:
            case "run":
                return f"run {self.stage()} ({self.amount()});"
            case "hold":
                return self.box()
            case "set":
                return f"set x{self.random.randint(0, 1)} = {self.expr(draws=True)};"
            case "observe":
                return f"observe y{self.random.randint(0, 1)} = {self.expr()};"
            case "branch":
                return self.fork()
            case "drop":
                return f"drop {self.member('kv')};"
            case _:
                keys = ", ".join(self.pick("j", "-j", "abs(j - 1)", "j == 1") for _ in range(self.random.randint(1, 4)))
                return f"choose j in {self.pick('2', '3')} by ({keys});"

    def stage(self) -> str:
        name = self.random.choice(self.aux)
        return f"{name}[{self.pick('0', '1', 'serial % 2')}]" if "[" in _AUX_STAGES[name] else name

    def amount(self) -> str:
        return self.pick("0", "0.25", "~det(0.5)", "~exp(0.5)", "~h2(0.5, 2)", f"abs({self.expr(2)}) % 3 / 4")

    def box(self) -> str:
        """A hold of one, two or three pools, in every way of writing one."""
        names = self.random.sample(self.boxes, self.random.choice([1, 1, 2, 3]))
        parts = []
        for name in names:
            member = f"{name}[{self.pick('0', '1')}]" if "[" in _AUX_POOLS[name] else name
            parts.append(f"{member} ({self.pick('1', '2', '0')}){self.pick('', '', ' reserve (2)')}")
        reuse = self.pick("", f" reuse ({self.pick('0', '1', 'inf')})")
        tail = self.pick("", ";", f" cache ({self.pick('1', 'inf', '0')});")
        inner = self.pick("", f"run {self.stage()} ({self.amount()});", f"observe held = {self.expr()};")
        first = parts[0].split(" ")[0]
        if self.maybe(0.3) and "[" not in first:
            inner += f" grow {first} (1); run pause (0.125);"
        return f"hold {', '.join(parts)}{reuse} {{ {inner} }}{tail}"

    def fork(self) -> str:
        chance = self.pick("0.5", "1", "k % 2 == 0", "k > 1 || serial == 0", "!(k >= 2) && serial < 3", "k != 1")
        then = self.pick("", "observe z = 1;", f"run {self.stage()} ({self.amount()});")
        tail = self.pick("", " else { }", f" else {{ observe z = {self.expr()}; }}")
        return f"branch{self.pick('', ' with')} ({chance}) {{ {then} }}{tail}"

    def expr(self, depth: int = 3, draws: bool = False) -> str:
        """A finite number, whatever the state."""
        if depth == 0:
            return self.leaf(draws)
        a, b = self.expr(depth - 1, draws), self.expr(depth - 1, draws)
        match self.random.randint(0, 7):
            case 0 | 1:
                return f"{a} {self.pick('+', '-', '*')} {b}"
            case 2:
                return f"({a}) {self.pick('/', '%')} {self.pick('2', '3')}"
            case 3:
                comparison = self.pick("==", "!=", "<", "<=", ">", ">=")
                return f"(({a}) {comparison} ({b}) {self.pick('&&', '||')} k > 1)"
            case 4:
                return f"({self.pick('-', '!')}({a}) < 1 ? {b} : {self.leaf(False)})"
            case 5:
                return f"{self.pick('max', 'min')}({a}, {b}{self.pick('', ', 1', ', min(inf, 7), 2')})"
            case 6:
                return f"{self.pick('abs', 'floor', 'ceil')}({a})"
            case _:
                inner = self.leaf(False)
                return self.pick(
                    f"sqrt(abs({inner}))", f"exp(min({inner}, 1))", f"ln(1 + abs({inner}))", f"pow(abs({inner}), 0.5)"
                )

    def leaf(self, draws: bool) -> str:
        if draws and self.maybe(0.4):
            return self.pick(
                "~exp(1)", "~uniform(0, 2)", "~erlang(2, 3)", "~choice(1: 1, 2: 2, 4: 0.5, 8: 1)", "~bernoulli(0.5)"
            )
        facts = ["1", "0.5", "2.25", "1e1", "k", "serial", "turn_no", "now", "rounds", "prompt"]
        facts += [
            f"used({self.kv('0')})",
            f"cachedin({self.kv('0')})",
            f"free({self.kv('1')})",
            f"queued({self.reqs()})",
        ]
        facts += [
            f"busy({self.facing()})",
            f"queue({self.facing()})",
            f"work({self.facing()})",
            f"holders({self.reqs()})",
        ]
        facts += (
            ["est_rho(pause)", "est_wait(pause)", "(est_lambda(pause) < 9 ? price(pause, 1, 0.5) : 0)"]
            if self.maybe(0.2)
            else []
        )
        return self.random.choice(facts)

    def reqs(self) -> str:
        return "reqs[0]" if self.engines > 1 else "reqs"

    def facing(self) -> str:
        return self.pick("pause", "engine[1]" if self.engines > 1 else "engine", self.stage())


_AUX_STAGES = {
    "desk": " : fifo", "desks": "[2] : fifo", "crew": " : fifo(2)", "crews": "[2] : fifo(2)", "cpu": " : ps(min(n, 2))",
    "cpus": "[2] : ps(1)", "walks": "[2] : delay",
}  # fmt: skip
_AUX_POOLS = {
    "box": " { }", "boxes": "[2] { }", "crate": " { cap 6; block 2; evict lru; }",
    "crates": "[2] { cap 5; queue fifo; }",
    "chest": " { cap 4; preempt lifo; pin waiting; }",
    "shelf": " { cap 8; preempt none; queue by (serial); evict by (last); }",
}  # fmt: skip

"""How a session moves between two places: its instructions, executed with values that may still be names.

A walk carries the values of attributes, the probability of the way it took, and the tests on the deployment that it
passed. It forks where a draw can fall several ways, and ends at the next place where time passes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from serq.base.source import Span
from serq.exporters.holding import Holding, NoHoldError, own_view
from serq.exporters.memory import NOTHING, Claim, Memory
from serq.exporters.partial import (
    Partial,
    UnknownValueError,
    complement,
    is_known,
    is_test,
    number,
    reads_state,
    replaced,
    times,
)
from serq.exporters.works import scaled_draw, size
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

PHASE_TYPE = ("exp", "erlang", "h2")
Refuse = Callable[[Span, str, str], None]
"""Called with a place, a construct, and why it has no counter form."""


@dataclass(frozen=True, slots=True)
class Place:
    """A session at a stage: where in the program, with which values, and with how much work (a draw)."""

    pc: int
    stage: int
    work: e.Draw
    values: tuple[tuple[str, e.Expr], ...]
    memory: Memory = NOTHING


Rest = Place | Claim
"""Where time passes for a session: at a stage, or in the queue of a pool."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that a passage passes: an observe with its value, an end."""

    kind: str
    name: str = ""
    pc: int = -1
    value: e.Expr | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """From a place (or the start) to the next; `target` None: the session has left for good.

    `guards` are tests over observables, read after the session has left its old stage (or has been admitted).
    """

    probability: e.Expr
    guards: tuple[e.Expr, ...]
    seen: tuple[Seen, ...]
    target: Rest | None


@dataclass
class Walk:
    """A session on its way: changed while it runs, copied where it may go two ways."""

    pc: int
    values: dict[str, e.Expr]
    probability: e.Expr
    guards: tuple[e.Expr, ...] = ()
    seen: tuple[Seen, ...] = ()
    steps: int = 0
    memory: Memory = NOTHING
    begun: Memory = NOTHING
    """What it held and had cached when it set out."""

    def fork(self, pc: int, probability: e.Expr, guard: e.Expr | None = None) -> "Walk":
        """A copy that goes to `pc` with that further probability and guard."""
        guards = self.guards if guard is None else (*self.guards, guard)
        chance = times(self.probability, probability)
        return Walk(pc, dict(self.values), chance, guards, self.seen, self.steps, self.memory, self.begun)


class Session:
    """Executes the session's instructions on walks."""

    def __init__(self, program: p.Program, partial: Partial, refuse: Refuse) -> None:
        self.program = program
        self.partial = partial
        self.refuse = refuse
        self.holding = Holding(program, partial)
        self.clocks = clocks(program)
        self._refused: set[int] = set()
        uses = [flow.reads(program, pc) - self.clocks for pc in range(len(program.code))]
        self.live, _ = flow.liveness(
            program, uses.__getitem__, lambda pc: flow.writes(program, pc), lambda pc: flow.successors(program, pc)
        )

    def begin(self) -> list[Walk]:
        """A new session: the walks that stand at its first instruction."""
        return list(self._block(Walk(0, dict(_UNSET), number(1)), self.program.init))

    def resume(self, rest: Rest) -> list[Walk]:
        """A session whose work at a place is done, or whose claim has been admitted."""
        values, memory = dict(rest.values), rest.memory
        if isinstance(rest, Claim):
            values |= {"cached": number(rest.cached), "computed": number(0)}
            memory = rest.admitted()
        return [Walk(rest.pc + 1, values, number(1), memory=memory, begun=memory)]

    def step(self, walk: Walk) -> list[Passage | Walk]:
        """One instruction: the walks that follow, and the passages that end here."""
        instruction = self.program.code[walk.pc]
        try:
            match instruction:
                case p.Set():
                    return _next(self._assign(walk, instruction))
                case p.Observe():
                    return _next(self._observe(walk, instruction))
                case p.Turn():
                    return _next(list(self._block(walk, self.program.turn)))
                case p.Jump(target=target):
                    return [walk.fork(target, number(1))]
                case p.Branch():
                    return [*self._branch(walk, instruction)]
                case p.Choose():
                    return [*self._choose(walk, instruction)]
                case p.Run():
                    return self._run(walk, instruction)
                case p.Hold() | p.Release() | p.Drop() | p.Grow():
                    return self._memory(walk, instruction)
                case p.End():
                    return self._end(walk)
        except UnknownValueError:
            self.refuse(instruction.span, "this statement", "it depends on the state in a way that is no counter")
        except NoHoldError as problem:
            self.refuse(instruction.span, problem.construct, problem.reason)
        return []

    def _reduced(self, walk: Walk, expr: e.Expr) -> e.Expr:
        """The expression with what the session knows put in."""
        known = self.partial.reduce(expr, walk.values)
        if not any(isinstance(n, e.PoolState) for n in e.walk(known)):
            return known
        return self.partial.reduce(own_view(known, walk.begun, walk.memory), {})

    def _memory(self, walk: Walk, instruction: p.Hold | p.Release | p.Drop | p.Grow) -> list[Passage | Walk]:
        match instruction:
            case p.Hold():
                return self._hold(walk, instruction)
            case p.Release(cache=cache):
                walk.memory = self.holding.release(cache, walk.values, walk.memory)
            case p.Drop():
                walk.memory = self.holding.drop(instruction, walk.values, walk.memory)
            case p.Grow():
                raise NoHoldError("`grow`", "who waits for more room stands before the queue")
        return _next([walk])

    def _hold(self, walk: Walk, hold: p.Hold) -> list[Passage | Walk]:
        kept = self.live[walk.pc + 1] - {"cached", "computed"}
        claim = self.holding.claim(walk.pc, hold, walk.values, kept, walk.memory)
        if any(reads_state(value) for _, value in claim.values):
            raise UnknownValueError
        return [Passage(walk.probability, walk.guards, walk.seen, claim)]

    def _block(self, walk: Walk, block: tuple[p.Set | p.Observe, ...]) -> Iterator[Walk]:
        walks = [walk]
        for statement in block:
            if isinstance(statement, p.Set):
                walks = [w for walk in walks for w in self._assign(walk, statement)]
            else:
                walks = [w for walk in walks for w in self._observe(walk, statement)]
        yield from walks

    def _assign(self, walk: Walk, statement: p.Set) -> list[Walk]:
        if statement.name in self.clocks:
            return [walk]
        out = []
        for fork, value in self._valued(walk, statement.expr):
            fork.values[statement.name] = value
            out.append(fork)
        return out

    def _valued(self, walk: Walk, expr: e.Expr) -> list[tuple[Walk, e.Expr]]:
        """The values that an expression can take here, one walk for each way its finite draws can fall."""
        todo = [(walk, self._reduced(walk, expr))]
        out = []
        while todo:
            here, value = todo.pop(0)
            draw = next((d for d in e.draws(value) if d.law in ("det", "bernoulli", "choice")), None)
            if draw is None:
                out.append((here, value))
                continue
            for probability, outcome in self._outcomes(draw):
                fallen = self._reduced(here, replaced(value, draw, outcome))
                todo.append((here.fork(here.pc, probability), fallen))
        return out

    def _outcomes(self, draw: e.Draw) -> list[tuple[e.Expr, e.Expr]]:
        """The values that a finite draw can take, with their probabilities."""
        if draw.law == "det":
            return [(number(1), draw.args[0])]
        if draw.law == "bernoulli":
            q = draw.args[0]
            pairs: list[tuple[e.Expr, e.Expr]] = [(q, number(1)), (complement(q), number(0))]
        else:
            total = self._sum(draw.args[1::2])
            pairs = [(_share(w, total), v) for v, w in zip(draw.args[::2], draw.args[1::2], strict=True)]
        return [(q, v) for q, v in pairs if self._possible(q)]

    def _sum(self, terms: tuple[e.Expr, ...]) -> e.Expr:
        """The sum of weights; 1 where it is 1 whatever the constants are at present (they then must sum to 1)."""
        total = terms[0]
        for term in terms[1:]:
            total = e.Binary("+", total, term)
        value = self.partial.value(total)
        return e.Num(value) if all(isinstance(t, e.Num) for t in terms) else total

    def _possible(self, probability: e.Expr) -> bool:
        """Whether the probability is positive; one that is 0 or 1 only at the present constants closes them."""
        if reads_state(probability):
            raise UnknownValueError
        value = self.partial.value(probability)
        if value in (0, 1):
            self.partial.number(probability)
        return value > 0

    def _observe(self, walk: Walk, statement: p.Observe) -> list[Walk]:
        out = []
        for fork, value in self._valued(walk, statement.expr):
            fork.seen = (*fork.seen, Seen("observe", statement.name, fork.pc, value=value))
            out.append(fork)
        return out

    def _branch(self, walk: Walk, instruction: p.Branch) -> list[Walk]:
        return [
            way
            for fork, test in self._valued(walk, instruction.probability)
            for way in self._ways(fork, test, instruction.otherwise)
        ]

    def _ways(self, walk: Walk, test: e.Expr, otherwise: int) -> list[Walk]:
        """The two ways of a branch, or the one that is certain."""
        if reads_state(test):
            if not is_test(test):
                raise UnknownValueError
            taken, not_taken = (
                walk.fork(walk.pc + 1, number(1), test),
                walk.fork(otherwise, number(1), e.Unary("!", test)),
            )
            return [taken, not_taken]
        if is_test(test):
            return [walk.fork(walk.pc + 1 if self.partial.decide(test) else otherwise, number(1))]
        ways = [(test, walk.pc + 1), (complement(test), otherwise)]
        return [walk.fork(pc, q) for q, pc in ways if self._possible(q)]

    def _choose(self, walk: Walk, instruction: p.Choose) -> list[Walk]:
        count = int(self.partial.number(self.partial.reduce(instruction.count, walk.values)))
        keys = []
        for i in range(count):
            chosen = walk.fork(walk.pc, number(1))
            chosen.values[instruction.name] = number(i)
            keys.append([self._reduced(chosen, k) for k in instruction.keys])
        out = []
        for i in range(count):
            fork = walk
            guard: e.Expr = number(1)
            for j in range(count):
                if j != i:
                    guard = _both(guard, _precedes(keys[i], keys[j], strict=j < i))
            if is_known(guard):
                if not self.partial.decide(guard):
                    continue
                fork = walk.fork(walk.pc + 1, number(1))
            else:
                fork = walk.fork(walk.pc + 1, number(1), guard)
            fork.values[instruction.name] = number(i)
            out.append(fork)
        return out

    def _run(self, walk: Walk, instruction: p.Run) -> list[Passage | Walk]:
        out: list[Passage | Walk] = []
        for fork, work in self._valued(walk, instruction.work):
            out += self._work(fork, instruction, work)
        return out

    def _work(self, walk: Walk, instruction: p.Run, work: e.Expr) -> list[Passage | Walk]:
        stage = self.partial.place(instruction.stage, walk.values)
        kind = self.program.stages[stage.base].kind
        if isinstance(kind, p.Step):
            self.refuse(instruction.span, "a run on a step stage", "its state is positions in prompts, not a count")
            return self._behind(walk)
        amount = size(work)
        if is_known(amount) and self.partial.value(amount) == 0:
            self.partial.number(amount)  # no work is no job; with another value there would be one
            return _next([walk])
        draw = scaled_draw(work)
        if draw is None or draw.law not in ("exp", "erlang", "h2"):
            self.refuse(instruction.span, "this work", "it is no exponential, Erlang or hyperexponential draw")
            return self._behind(walk)
        return [Passage(walk.probability, walk.guards, walk.seen, self._place(walk, stage.base, draw))]

    def _behind(self, walk: Walk) -> list[Passage | Walk]:
        """One walk goes on behind a run that is refused, to find what else is: time passes there."""
        if walk.pc in self._refused:
            return []
        self._refused.add(walk.pc)
        return _next([walk])

    def _place(self, walk: Walk, stage: int, draw: e.Draw) -> Place:
        kept = {name: walk.values[name] for name in self.live[walk.pc + 1] if name in walk.values}
        if any(reads_state(v) for v in kept.values()):
            raise UnknownValueError
        return Place(walk.pc, stage, draw, tuple(sorted(kept.items(), key=lambda item: item[0])), walk.memory)

    def _end(self, walk: Walk) -> list[Passage | Walk]:
        seen = (*walk.seen, Seen("ended"))
        self._leave_nothing(walk)
        if not isinstance(self.program.arrivals, p.Closed):
            return [Passage(walk.probability, walk.guards, seen, None)]
        successor = Walk(
            0, dict(_UNSET), walk.probability, walk.guards, seen, walk.steps, memory=NOTHING, begun=walk.begun
        )
        return [*self._block(successor, self.program.init)]

    def _leave_nothing(self, walk: Walk) -> None:
        """What outlives its session has no owner; counters know entries by their owners."""
        holds = [self.program.code[pc] for pc in flow.enclosing_holds(self.program)[walk.pc]]
        ends = [self.program.code[hold.release] for hold in holds if isinstance(hold, p.Hold)]
        if walk.memory.entries or any(isinstance(end, p.Release) and end.cache is not None for end in ends):
            raise NoHoldError("`end`", "a cached prefix would outlive its session")


_UNSET: dict[str, e.Expr] = {"cached": number(0), "computed": number(0)}


def _next(walks: list[Walk]) -> list[Passage | Walk]:
    for walk in walks:
        walk.pc += 1
    return [*walks]


def clocks(program: p.Program) -> frozenset[str]:
    """Attributes that hold times: assigned from `now` or from another clock."""
    statements = [s for s in (*program.code, *program.init, *program.turn) if isinstance(s, p.Set)]
    clocks: frozenset[str] = frozenset()
    while True:
        more = {s.name for s in statements if e.reads_time(s.expr) or e.attributes_read(s.expr) & clocks}
        if more <= clocks:
            return clocks
        clocks |= more


def _share(weight: e.Expr, total: e.Expr) -> e.Expr:
    return weight if total == number(1) else e.Binary("/", weight, total)


def _both(a: e.Expr, b: e.Expr) -> e.Expr:
    return b if a == number(1) else a if b == number(1) else e.Binary("&&", a, b)


def _precedes(a: list[e.Expr], b: list[e.Expr], *, strict: bool) -> e.Expr:
    """Whether the keys `a` come before the keys `b` in lexicographic order (`strict`: and are not equal)."""
    if len(a) == 1:
        return e.Binary("<" if strict else "<=", a[0], b[0])
    first = e.Binary("<", a[0], b[0])
    return e.Binary("||", first, _both(e.Binary("==", a[0], b[0]), _precedes(a[1:], b[1:], strict=strict)))

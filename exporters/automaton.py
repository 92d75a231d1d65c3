"""The session as an automaton: local states where time passes, and passages between them.

A `Place` is a program point and the values of the attributes that are still needed there; a `Passage` is what may
happen between two places: with which probability, under which condition on the deployment, and which observes and
completions it passes. The automaton is derived from the linked program alone, whatever its names and order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.exporters.errors import NoCounterForm, NotSymbolicError, TooManyPlaces
from serq.exporters.partial import Partial, UnknownValueError, complement, is_known, is_test, number, reads_state, times
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

PLACE_LIMIT = 64
_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """A session at a stage: where in the program, with which values, and with how much work (a draw)."""

    pc: int
    stage: int
    work: e.Draw
    values: tuple[tuple[str, e.Expr], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that a passage passes: an observe with its value, a completed run of no work, an end."""

    kind: str
    name: str = ""
    pc: int = -1
    stage: int = -1
    value: e.Expr | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """From a place (or the start) to the next; `target` None: the session has left for good.

    `guards` are tests over stage observables, read after the session has left its old stage.
    """

    probability: e.Expr
    guards: tuple[e.Expr, ...]
    seen: tuple[Seen, ...]
    target: Place | None


@dataclass
class _Walk:
    """A session on its way: changed while it runs, copied where it may go two ways."""

    pc: int
    values: dict[str, e.Expr]
    probability: e.Expr
    guards: tuple[e.Expr, ...] = ()
    seen: tuple[Seen, ...] = ()
    steps: int = 0

    def fork(self, pc: int, probability: e.Expr, guard: e.Expr | None = None) -> "_Walk":
        """A copy that goes to `pc` with that further probability and guard."""
        guards = self.guards if guard is None else (*self.guards, guard)
        return _Walk(pc, dict(self.values), times(self.probability, probability), guards, self.seen, self.steps)


@dataclass
class Automaton:
    """Places in the order in which they were found, and the passages out of the start and out of each place."""

    program: p.Program
    partial: Partial
    places: list[Place] = field(default_factory=list)
    start: list[Passage] = field(default_factory=list)
    after: dict[Place, list[Passage]] = field(default_factory=dict)


def automaton(program: p.Program) -> Automaton:
    """The automaton of the session; NotSymbolicError names every construct that has no counter form."""
    return _Builder(program).build()


class _Builder:
    def __init__(self, program: p.Program) -> None:
        self.program = program
        self.partial = Partial(program.exact_constants())
        self.out = Automaton(program, self.partial)
        self.problems: dict[tuple[Span, str], Diagnostic] = {}
        self.clocks = _clocks(program)
        uses = [flow.reads(program, pc) - self.clocks for pc in range(len(program.code))]
        self.live, _ = flow.liveness(
            program, uses.__getitem__, lambda pc: flow.writes(program, pc), lambda pc: flow.successors(program, pc)
        )

    def build(self) -> Automaton:
        self.out.start = self._passages(0, {}, fresh=True)
        todo = self._new(self.out.start)
        while todo:
            place = todo.pop(0)
            self.out.after[place] = self._passages(place.pc + 1, dict(place.values), fresh=False)
            todo += self._new(self.out.after[place])
        if self.problems:
            raise NotSymbolicError(self.program.source, list(self.problems.values()))
        return self.out

    def _new(self, passages: list[Passage]) -> list[Place]:
        new = []
        for passage in passages:
            if passage.target is not None and passage.target not in self.out.places:
                self.out.places.append(passage.target)
                new.append(passage.target)
        if len(self.out.places) > PLACE_LIMIT:
            raise NotSymbolicError(self.program.source, [TooManyPlaces(span=self._span(0), limit=PLACE_LIMIT)])
        return new

    def _span(self, pc: int) -> Span:
        return self.program.code[pc].span

    def _refuse(self, span: Span, construct: str, reason: str) -> None:
        self.problems.setdefault((span, construct), NoCounterForm(span=span, construct=construct, reason=reason))

    def _passages(self, pc: int, values: dict[str, e.Expr], *, fresh: bool) -> list[Passage]:
        todo = [_Walk(pc, values, number(1))]
        if fresh:
            todo = list(self._block(todo[0], self.program.init))
        out: list[Passage] = []
        while todo:
            walk = todo.pop(0)
            walk.steps += 1
            if walk.steps > _STEPS:
                self._refuse(self._span(walk.pc), "this loop", "it lets no time pass")
                continue
            step = self._step(walk)
            if isinstance(step, Passage):
                out.append(step)
            else:
                todo = [*step, *todo]
        return out

    def _step(self, walk: _Walk) -> Passage | list[_Walk]:
        """One instruction: the walks that follow, or the passage that ends here."""
        instruction = self.program.code[walk.pc]
        try:
            match instruction:
                case p.Set():
                    return self._next(self._assign(walk, instruction))
                case p.Observe():
                    return self._next([self._observe(walk, instruction)])
                case p.Turn():
                    return self._next(list(self._block(walk, self.program.turn)))
                case p.Jump(target=target):
                    return [walk.fork(target, number(1))]
                case p.Branch():
                    return self._branch(walk, instruction)
                case p.Choose():
                    return self._choose(walk, instruction)
                case p.Run():
                    return self._run(walk, instruction)
                case p.End():
                    return self._end(walk)
        except UnknownValueError:
            self._refuse(instruction.span, "this statement", "it depends on the state in a way that is no counter")
            return []
        name = type(instruction).__name__.lower()
        reason = "memory needs orders (queue, cache) that a few counters do not hold"
        self._refuse(instruction.span, f"`{'hold' if name == 'release' else name}`", reason)
        return self._next([walk])

    @staticmethod
    def _next(walks: list[_Walk]) -> list[_Walk]:
        for walk in walks:
            walk.pc += 1
        return walks

    def _block(self, walk: _Walk, block: tuple[p.Set | p.Observe, ...]) -> Iterator[_Walk]:
        walks = [walk]
        for statement in block:
            if isinstance(statement, p.Set):
                walks = [w for walk in walks for w in self._assign(walk, statement)]
            else:
                walks = [self._observe(walk, statement) for walk in walks]
        yield from walks

    def _assign(self, walk: _Walk, statement: p.Set) -> list[_Walk]:
        if statement.name in self.clocks:
            return [walk]
        value = self.partial.reduce(statement.expr, walk.values)
        out = []
        for probability, outcome in self._outcomes(value):
            fork = walk.fork(walk.pc, probability)
            fork.values[statement.name] = outcome
            out.append(fork)
        return out

    def _outcomes(self, value: e.Expr) -> list[tuple[e.Expr, e.Expr]]:
        """The values a finite draw can take, with their probabilities; anything else is its own only outcome."""
        match value:
            case e.Draw(law="det", args=(x,)):
                return [(number(1), x)]
            case e.Draw(law="bernoulli", args=(q,)):
                pairs: list[tuple[e.Expr, e.Expr]] = [(q, number(1)), (complement(q), number(0))]
            case e.Draw(law="choice", args=args):
                total = self._sum(args[1::2])
                pairs = [(_share(w, total), v) for v, w in zip(args[::2], args[1::2], strict=True)]
            case _:
                return [(number(1), value)]
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

    def _observe(self, walk: _Walk, statement: p.Observe) -> _Walk:
        value = self.partial.reduce(statement.expr, walk.values)
        walk.seen = (*walk.seen, Seen("observe", statement.name, walk.pc, value=value))
        return walk

    def _branch(self, walk: _Walk, instruction: p.Branch) -> list[_Walk]:
        test = self.partial.reduce(instruction.probability, walk.values)
        if reads_state(test):
            if not is_test(test):
                raise UnknownValueError
            return [
                walk.fork(walk.pc + 1, number(1), test),
                walk.fork(instruction.otherwise, number(1), e.Unary("!", test)),
            ]
        if is_test(test):
            return [walk.fork(walk.pc + 1 if self.partial.decide(test) else instruction.otherwise, number(1))]
        ways = [(test, walk.pc + 1), (complement(test), instruction.otherwise)]
        return [walk.fork(pc, q) for q, pc in ways if self._possible(q)]

    def _choose(self, walk: _Walk, instruction: p.Choose) -> list[_Walk]:
        count = int(self.partial.number(self.partial.reduce(instruction.count, walk.values)))
        keys = []
        for i in range(count):
            bound = {**walk.values, instruction.name: number(i)}
            keys.append([self.partial.reduce(k, bound) for k in instruction.keys])
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

    def _run(self, walk: _Walk, instruction: p.Run) -> Passage | list[_Walk]:
        stage = self.partial.place(instruction.stage, walk.values)
        kind = self.program.stages[stage.base].kind
        if isinstance(kind, p.Step):
            self._refuse(instruction.span, "a run on a step stage", "its state is positions in prompts, not a count")
            return self._next([walk])
        work = self.partial.reduce(instruction.work, walk.values)
        if is_known(work) and self.partial.value(work) == 0:
            self.partial.number(work)
            walk.seen = (*walk.seen, Seen("completed", stage=stage.base))
            return self._next([walk])
        draw = scaled_draw(work)
        if draw is None or draw.law not in ("exp", "erlang", "h2"):
            self._refuse(instruction.span, "this work", "it is no exponential, Erlang or hyperexponential draw")
            return self._next([walk])
        kept = {name: walk.values[name] for name in self.live[walk.pc + 1] if name in walk.values}
        if any(reads_state(v) for v in kept.values()):
            raise UnknownValueError
        place = Place(walk.pc, stage.base, draw, tuple(sorted(kept.items(), key=lambda item: item[0])))
        return Passage(walk.probability, walk.guards, walk.seen, place)

    def _end(self, walk: _Walk) -> Passage | list[_Walk]:
        seen = (*walk.seen, Seen("ended"))
        if not isinstance(self.program.arrivals, p.Closed):
            return Passage(walk.probability, walk.guards, seen, None)
        replaced = _Walk(0, {}, walk.probability, walk.guards, seen, walk.steps)
        return list(self._block(replaced, self.program.init))


def scaled_draw(work: e.Expr) -> e.Draw | None:
    """The work as one draw, a factor without draws put into its mean; None when it is not of that form."""
    match work:
        case e.Draw():
            return work
        case e.Binary(op="*", left=e.Draw() as draw, right=factor) if not e.draws(factor):
            return _with_mean(draw, lambda mean: times(mean, factor))
        case e.Binary(op="*", left=factor, right=e.Draw() as draw) if not e.draws(factor):
            return _with_mean(draw, lambda mean: times(factor, mean))
        case e.Binary(op="/", left=e.Draw() as draw, right=factor) if not e.draws(factor):
            return _with_mean(draw, lambda mean: e.Binary("/", mean, factor))
        case _:
            return None


def _with_mean(draw: e.Draw, change: Callable[[e.Expr], e.Expr]) -> e.Draw | None:
    if draw.law == "erlang":
        return e.Draw("erlang", (draw.args[0], change(draw.args[1])), draw.span)
    if draw.law in ("exp", "h2"):
        return e.Draw(draw.law, (change(draw.args[0]), *draw.args[1:]), draw.span)
    return None


def _clocks(program: p.Program) -> frozenset[str]:
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

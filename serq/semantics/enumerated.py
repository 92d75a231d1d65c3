"""The world of the explorer: no time, no chance, no clocks; finite choices are replayed, draws stay undrawn."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from serq.base.errors import LimitError, RunError
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.chain import Nearness
from serq.ir.evaluate import Arithmetic, NoScope, Value, compile_expr
from serq.ir.laws import Law, problem_of, support
from serq.semantics.configuration import Job, Session
from serq.semantics.errors import BadLaw, BadStageValue
from serq.semantics.phases import WorkLaws
from serq.semantics.symbols import Amount, Symbolic, Undrawn, rate_text, rational, slim
from serq.semantics.world import Estimate, Purpose

Options = tuple[tuple[Any, Fraction], ...]


MOST_OUTCOMES = 100_000
"""Outcomes of one event that are gone through: 24 coins at one instant have 16 million."""
MOST_IN_A_ROW = 500
"""Choices of one outcome: a loop that chance alone ends has ever longer ones, which take ever longer to go through."""


class Script:
    """Finite choices, replayed: the first run takes the first option everywhere, `advance` moves on to the next run."""

    def __init__(self) -> None:
        self.probability: Fraction | int = 1
        self._taken: list[int] = []
        self._options: list[Options] = []
        self._next = 0
        self._runs = 0

    def begin(self) -> None:
        """The next run starts from the beginning."""
        self._next = 0
        self.probability = 1

    def clear(self) -> None:
        """The runs that are left are given up."""
        self._taken.clear()
        self._options.clear()
        self._runs = 0

    def choose(self, options: Options) -> Any:
        """The option of this run; the probability of the run is multiplied by its own.

        LimitError when there are too many choices.
        """
        place = self._next
        self._next += 1
        if place == MOST_IN_A_ROW:
            self.clear()
            raise LimitError(
                f"one event makes more than {MOST_IN_A_ROW} choices one after the other: a loop may go round in no "
                "time, as a hold does that finds room, for as long as chance has it"
            )
        if place == len(self._taken):
            self._taken.append(0)
            self._options.append(options)
        value, probability = self._options[place][self._taken[place]]
        self.probability *= probability
        return value

    def advance(self) -> bool:
        """Whether there is another run; if not, the script is empty again. LimitError when there are too many."""
        self._runs += 1
        if self._runs > MOST_OUTCOMES:
            self.clear()
            raise LimitError(
                f"one event has more than {MOST_OUTCOMES} outcomes: too many finite choices are made at one instant"
            )
        while self._taken and self._taken[-1] + 1 == len(self._options[-1]):
            self._taken.pop()
            self._options.pop()
        if self._taken:
            self._taken[-1] += 1
        else:
            self._runs = 0
        return bool(self._taken)


class EnumeratedWorld:
    """Answers the machine for the explorer. `phases` has the phase of every job in service, by job number."""

    def __init__(self, program: p.Program, laws: WorkLaws) -> None:
        self.program = program
        self.arithmetic: Arithmetic = Symbolic()
        self.laws = laws
        self.script = Script()
        self.phases: dict[int, int] = {}
        self._constants = {c.name: slim(c.folded.exact) for c in program.constants}
        self._drawn: dict[tuple[int, tuple[Value, ...]], Amount | Options] = {}

    # -- numbers -----------------------------------------------------------------------------------------------------

    def constants(self) -> Mapping[str, Value]:
        """The `let` constants as rationals."""
        return self._constants

    def number(self, folded: p.Folded) -> Value:
        """A folded constant as a rational."""
        return slim(folded.exact)

    def now(self) -> Value:
        """No time: nothing that steers a chain reads it."""
        return 0

    def store(self, session: Session, name: str, value: Value) -> Value:
        """An attribute keeps the value itself."""
        return value

    def work_problem(self, work: Value) -> str | None:
        """Why this is no work of a chain."""
        return self.laws.problem(work)

    def is_zero(self, work: Value) -> bool:
        """Whether a run of this work completes at once."""
        if isinstance(work, Amount):
            return work.code < 0 and work.mean == 0
        return bool(work == 0)

    # -- chance ------------------------------------------------------------------------------------------------------

    def draw(self, draw: e.Draw, args: tuple[Value, ...], session: Session | None, purpose: Purpose) -> Value:
        """A choice of the script for a law of finite support, an undrawn amount for any other."""
        key = (id(draw), args)
        drawn = self._drawn.get(key)
        if drawn is None:
            drawn = self._drawn[key] = self._worked_out(draw, Law(draw.law, args))
        if isinstance(drawn, Amount):
            return drawn
        return drawn[0][0] if len(drawn) == 1 else self.script.choose(drawn)

    def _worked_out(self, draw: e.Draw, law: Law) -> "Amount | Options":
        """The values of a law of finite support with their probabilities, an amount for any other."""
        problem = problem_of(law)
        if problem is not None:
            text = ", ".join(str(a) for a in law.args)
            fault = BadLaw(span=draw.span, law=draw.law, arguments=text, problem=problem)
            raise RunError(self.program.source, [fault])
        values = support(law)
        if values is not None:
            return tuple((slim(v), self._exact(q, f"a probability of ~{law.name}")) for v, q in values)
        exact = Law(law.name, tuple(self._exact(a, f"a parameter of ~{law.name}") for a in law.args))
        phases = int(law.args[0]) if law.name == "erlang" else 1
        return Amount(((Undrawn(exact, rate_text(draw, phases)), Fraction(1)),))

    def branch(self, probability: Value, session: Session, pc: int) -> bool:
        """A choice of the script between the two blocks."""
        first = self._exact(probability, "the probability of a branch")
        return bool(self.script.choose(((True, first), (False, 1 - first))))

    def _exact(self, value: e.Number, what: str) -> Fraction:
        """The number as a rational; it is remembered that a double stands for one that is none."""
        if isinstance(value, float):
            self.laws.irrational(Nearness.DOUBLE, f"{what} is {value}, which stands for an irrational number")
        return rational(value)

    def arrival_gap(self, gap: e.Expr) -> Amount:
        """The gap of a renewal process whose gaps are exponential."""
        amount = self.gap(gap)
        assert isinstance(amount, Amount), "the fragment admits exponential gaps only"
        return amount

    def gap(self, gap: e.Expr) -> Value:
        """A gap between arrivals, whatever its law."""
        return compile_expr(gap, self.arithmetic, self._constants)(_GapScope(self))

    def trace_turn(self, session: Session) -> Mapping[str, Value]:
        """No trace: the fragment has none."""
        raise LookupError("a chain replays no trace")

    # -- clocks ------------------------------------------------------------------------------------------------------

    def tokens(self, work: Value) -> Value:
        """No step stages in continuous time."""
        raise LookupError("a chain in continuous time has no step stages")

    def start(self, stage: int, job: Job) -> None:
        """A job enters service in one of the first phases of its law."""
        start = self.laws.laws[self.laws.code(job.work)].start
        self.phases[job.number] = start[0][0] if len(start) == 1 else self.script.choose(start)

    def stop(self, stage: int, job: Job) -> None:
        """A job leaves service."""
        del self.phases[job.number]

    def begin_iteration(self, stage: int, duration: Value) -> None:
        """No iterations: the fragment has no step stages."""
        raise LookupError("a chain has no iterations")

    def other_clock_now(self) -> bool:
        """Two clocks of a chain never fire at one instant."""
        return False

    def capacity(self, stage: int, present: int) -> Fraction:
        """The total rate of a ps stage with so many jobs."""
        place = self.program.stages[stage]
        assert isinstance(place.kind, p.ProcessorSharing)
        value = compile_expr(place.kind.rate, self.arithmetic, self._constants)(_Present(present))
        if not 0 <= value < float("inf"):
            more = f", and finite, with {present} jobs present too"
            fault = BadStageValue(span=place.span, what="capacity", stage=place.name, value=str(value), limit=more)
            raise RunError(self.program.source, [fault])
        return self._exact(value, f"the capacity of {place.name} with {present} jobs")

    # -- observables -------------------------------------------------------------------------------------------------

    def work(self, stage: int) -> Value:
        """Unfinished work is a real number: the fragment lets nothing read it."""
        raise LookupError("a chain knows no unfinished work")

    def estimate(self, fact: Estimate, stage: int) -> Value:
        """Online estimates are real numbers: the fragment lets nothing read them."""
        raise LookupError("a chain keeps no online estimates")


class _Present(NoScope):
    """The surroundings of a capacity: the number of jobs present."""

    def __init__(self, n: int) -> None:
        self._n = n

    def context(self, name: e.ContextName) -> Value:
        """`n`, the only context variable there is."""
        return self._n


class _GapScope(NoScope):
    """The surroundings of a gap between arrivals: it may draw."""

    def __init__(self, world: EnumeratedWorld) -> None:
        self._world = world

    def draw(self, draw: e.Draw, args: tuple[Value, ...]) -> Value:
        return self._world.draw(draw, args, None, "workload")

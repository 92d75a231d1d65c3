"""The world of the interpreter: numbers are doubles, chance is sampled, time is kept by an event list."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from serq.base.errors import RunError
from serq.codegen.seeds import Words, stream
from serq.codegen.streams import u01
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Arithmetic, NoScope, compile_expr, total
from serq.ir.laws import Law, problem_of
from serq.semantics.clocks import Clocks, Sharing
from serq.semantics.configuration import Job, Session
from serq.semantics.errors import BadLaw, BadStageValue
from serq.semantics.machine import Machine
from serq.semantics.online import StageEstimates
from serq.semantics.run_doubles import RunDoubles
from serq.semantics.sampling import SAMPLERS, Arguments
from serq.semantics.world import Estimate, Purpose
from serq.traces.corpus import Corpus


class SampledWorld:
    """Answers the machine by sampling. `attach` gives it the machine that its clocks drive.

    A session has a stream of its own per purpose, so its draws depend on (seed, replication, serial) and on nothing
    that other sessions do.
    """

    def __init__(
        self, program: p.Program, seed: int, replication: int, corpus: Corpus | None = None, changed: int = 0
    ) -> None:
        self.program = program
        self.arithmetic: Arithmetic = RunDoubles()
        self.time = 0.0
        self.clocks = Clocks()
        self.estimates: list[StageEstimates] = []
        self._seed = seed
        self._replication = replication
        self._corpus = corpus
        self._changed = changed
        self._passages = 0
        self._by_start: Sequence[int] = () if corpus is None else corpus.by_start()
        self._constants = {c.name: c.folded.value for c in program.constants}
        self._streams: dict[Purpose, dict[int, Words]] = {"workload": {}, "session": {}}
        self._trace_sessions: dict[int, int] = {}
        self._valid: dict[int, Arguments] = {}  # by identity of the draw: parameters known to make a law
        self._sharing = [self._shared(stage) for stage in program.stages]
        self._moved: set[int] = set()  # ps stages whose next finish has changed at this instant
        self._pending: dict[int, tuple[float, int]] = {}  # by job number: when it is done, and its clock

    def attach(self, machine: Machine) -> None:
        """The machine whose clocks these are."""
        self._machine = machine

    # -- numbers -----------------------------------------------------------------------------------------------------

    def constants(self) -> Mapping[str, float]:
        """The `let` constants as doubles."""
        return self._constants

    def number(self, folded: p.Folded) -> float:
        """A folded constant as a double."""
        return folded.value

    def now(self) -> float:
        """The time."""
        return self.time

    def store(self, session: Session, name: str, value: float) -> float:
        """An attribute keeps the value itself."""
        return value

    def work_problem(self, work: float) -> str | None:
        """Why this is no amount of work."""
        if 0.0 <= work < float("inf"):
            return None
        if work != work:
            return "it is NaN"
        return f"{work:g} is negative" if work < 0.0 else "it is infinite"

    def is_zero(self, work: float) -> bool:
        """Whether a run of this work completes at once."""
        return work == 0.0

    # -- chance ------------------------------------------------------------------------------------------------------

    def draw(self, draw: e.Draw, args: Arguments, session: Session, purpose: Purpose) -> float:
        """A draw from the session's stream of that purpose."""
        if self._valid.get(id(draw)) != args:
            self.validate(draw, args)
        return SAMPLERS[draw.law](self._stream(session.serial, purpose), args)

    def validate(self, draw: e.Draw, args: Arguments) -> None:
        """Refuse parameters that make no law; remember the last ones that do."""
        problem = problem_of(Law(draw.law, args))
        if problem is not None:
            text = ", ".join(f"{a:g}" for a in args)
            fault = BadLaw(span=draw.span, law=draw.law, arguments=text, problem=problem)
            raise RunError(self.program.source, [fault])
        self._valid[id(draw)] = args

    def branch(self, probability: float, session: Session, pc: int) -> bool:
        """One uniform of the session's stream; nothing is drawn where an event may go the other way once."""
        branch = self.program.code[pc]
        if isinstance(branch, p.Branch) and branch.event:
            self._passages += 1
            return self._passages != self._changed
        return u01(self._stream(session.serial, "session")) < probability

    def _stream(self, serial: int, purpose: Purpose) -> Words:
        streams = self._streams[purpose]
        words = streams.get(serial)
        if words is None:
            words = streams[serial] = stream(self._seed, self._replication, purpose, serial)
        return words

    def arrival_stream(self) -> Words:
        """The stream of the gaps between arrivals, from its beginning."""
        return stream(self._seed, self._replication, "arrivals")

    def trace_turn(self, session: Session) -> Mapping[str, float]:
        """The row of the session's turn."""
        assert self._corpus is not None
        return self._corpus.turn(self.trace_place(session), session.turn_no)

    def trace_place(self, session: Session) -> int:
        """Which session of the trace this one replays: the file's order, or one drawn at random; without one itself."""
        place = self._trace_sessions.get(session.serial)
        if place is None:
            sessions = 0 if self._corpus is None else len(self._corpus)
            place = self._choose_trace(session.serial, sessions) if sessions else session.serial
            self._trace_sessions[session.serial] = place
        return place

    def trace_name(self, place: int) -> str:
        """What the trace calls the session at a place."""
        return str(place) if self._corpus is None else self._corpus.names[place]

    def recorded_arrivals(self) -> Iterator[tuple[float, int]]:
        """Instants at which sessions of the trace began, and how many."""
        assert self._corpus is not None
        return self._corpus.arrivals()

    def _choose_trace(self, serial: int, sessions: int) -> int:
        if isinstance(self.program.arrivals, p.FromTrace):
            return self._by_start[serial]
        if self.program.trace is not None and self.program.trace.ordered:
            return serial % sessions
        return int(u01(stream(self._seed, self._replication, "trace choice", serial)) * sessions)

    def forget(self, session: Session) -> None:
        """A session has ended: it draws no more."""
        for streams in self._streams.values():
            streams.pop(session.serial, None)
        self._trace_sessions.pop(session.serial, None)

    # -- clocks ------------------------------------------------------------------------------------------------------

    def tokens(self, work: float) -> float:
        """The amount itself: it has been drawn."""
        return work

    def start(self, stage: int, job: Job) -> None:
        """Set the clock of a job that enters service, or share the stage with it."""
        sharing = self._sharing[stage]
        if sharing is None:
            finish = self.time + job.work
            self._pending[job.number] = (finish, self.clocks.set(finish, self._done, job))
        else:
            sharing.start(self.time, job)
            self._moved.add(stage)

    def stop(self, stage: int, job: Job) -> None:
        """Void the clock of a job that leaves before it is done."""
        sharing = self._sharing[stage]
        if sharing is not None:
            sharing.stop(self.time, job)
            self._moved.add(stage)
        elif job.number in self._pending:
            self.clocks.cancel(self._pending.pop(job.number)[1])

    def _done(self, job: Job) -> None:
        del self._pending[job.number]
        self._machine.complete(job)

    def _shared_done(self, stage: int) -> None:
        sharing = self._sharing[stage]
        assert sharing is not None
        sharing.clock = None
        self._moved.add(stage)
        self._machine.complete(sharing.finish(self.time))

    def rest(self) -> None:
        """Nothing more happens at this instant: set the clocks of the ps stages that changed, in declaration order."""
        if not self._moved:
            return
        for stage in sorted(self._moved):
            sharing = self._sharing[stage]
            assert sharing is not None
            if sharing.clock is not None:
                self.clocks.cancel(sharing.clock)
            finish = sharing.next_finish()
            sharing.clock = None if finish is None else self.clocks.set(finish, self._shared_done, stage)
        self._moved.clear()

    def begin_iteration(self, stage: int, duration: float) -> None:
        """Set the clock of an iteration."""
        self.clocks.set(self.time + duration, self._machine.end_iteration, stage)

    def other_clock_now(self) -> bool:
        """Whether a clock is still set for this instant."""
        self.rest()
        return self.clocks.earliest() == self.time

    # -- observables -------------------------------------------------------------------------------------------------

    def work(self, stage: int) -> float:
        """The unfinished work of all jobs at the stage; on a step stage the tokens that do not count yet."""
        sharing = self._sharing[stage]
        if sharing is not None:
            return sharing.work(self.time)
        state = self._machine.configuration.stages[stage]
        if isinstance(self.program.stages[stage].kind, p.Step):
            return float(total((job.work for job in state.residents), 0.0))
        now, pending = self.time, self._pending
        waiting = total((job.work for job in state.waiting), 0.0)
        return float(waiting + total((pending[number][0] - now for number in state.serving), 0))

    def estimate(self, fact: Estimate, stage: int) -> float:
        """An online estimate."""
        return self.estimates[stage].read(fact)

    def _shared(self, stage: p.Stage) -> Sharing | None:
        return Sharing(self._capacity(stage, stage.kind)) if isinstance(stage.kind, p.ProcessorSharing) else None

    def _capacity(self, stage: p.Stage, kind: p.ProcessorSharing) -> Callable[[int], float]:
        """The total rate as a function of the jobs present, calculated once for each number."""
        rate = compile_expr(kind.rate, self.arithmetic, self._constants)
        known: dict[int, float] = {}

        def capacity(n: int) -> float:
            value = known.get(n)
            if value is None:
                value = known[n] = float(rate(_Present(float(n))))
                if not 0.0 <= value < float("inf"):
                    what = f"capacity for n = {n}"
                    fault = BadStageValue(span=kind.rate.span, what=what, stage=stage.name, value=f"{value:g}")
                    raise RunError(self.program.source, [fault])
            return value

        return capacity


class _Present(NoScope):
    """The surroundings of a capacity: the number of jobs present."""

    def __init__(self, n: float) -> None:
        self._n = n

    def context(self, name: e.ContextName) -> float:
        """`n`, the only context variable there is."""
        return self._n

"""What became of every request of a replay: one row for each turn of each session.

A request is sent when its turn begins and reaches the engine when it first asks for memory there; its first token comes
with the end of its prefill, its last one with the end of its last run on a step stage.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isnan, nan

from serq.ir import program as p
from serq.semantics.configuration import Claim, Configuration, Job, Session
from serq.semantics.sampled import SampledWorld
from serq.semantics.world import Recorder

COLUMNS = ("session", "turn", "sent", "reached", "first", "done", "prompt", "cached", "out", "preemptions")


@dataclass(frozen=True, slots=True)
class Request:
    """One turn of a session. None where it never came to that, or where there is no trace to say.

    `prompt` and `out` are tokens as the trace gives them, `cached` the tokens hit at the first admission.
    """

    session: str
    turn: int
    sent: float
    reached: float | None
    first: float | None
    done: float | None
    prompt: float | None
    cached: float | None
    out: float | None
    preemptions: int

    @property
    def name(self) -> str:
        """`SESSION.TURN`."""
        return f"{self.session}.{self.turn}"


class RequestRows:
    """Rows as columns of numbers. `name` gives the name of the session of the trace at a place."""

    def __init__(self, name: Callable[[int], str]) -> None:
        self.rejections = 0
        self._name = name
        self._rows = tuple(array("d") for _ in COLUMNS)

    def extend(self, numbers: "array[float]") -> None:
        """More rows, one after the other; NaN stands for what has not happened."""
        for place, column in enumerate(self._rows):
            column.extend(numbers[place :: len(COLUMNS)])

    def __len__(self) -> int:
        return len(self._rows[0])

    def __iter__(self) -> Iterator[Request]:
        """The requests in the order of the trace."""
        places, turns = self._rows[:2]
        for row in sorted(range(len(self)), key=lambda row: (places[row], turns[row])):
            place, turn, sent, reached, first, done, prompt, cached, out, preemptions = (c[row] for c in self._rows)
            yield Request(
                self._name(int(place)),
                int(turn),
                sent,
                _known(reached),
                _known(first),
                _known(done),
                _known(prompt),
                _known(cached),
                _known(out),
                int(preemptions),
            )


class _Open:
    """A turn that is under way; NaN stands for what has not happened."""

    __slots__ = ("cached", "done", "first", "out", "preemptions", "prompt", "reached", "sent", "turn")

    def __init__(self, session: Session, sent: float) -> None:
        self.turn = session.turn_no
        self.sent = sent
        self.prompt = float(session.attributes.get("new", nan))
        self.out = float(session.attributes.get("out", nan))
        self.reached = self.first = self.done = self.cached = nan
        self.preemptions = 0


class RequestLog(RequestRows, Recorder):
    """Makes the rows of what it is told. `world` knows the time and which session of the trace each one is."""

    def __init__(self, program: p.Program, world: SampledWorld) -> None:
        super().__init__(world.trace_name)
        self._world = world
        self._engine = engine_pools(program)
        self._is_step = [isinstance(stage.kind, p.Step) for stage in program.stages]
        self._open: dict[int, _Open] = {}

    # -- what happens ------------------------------------------------------------------------------------------------

    def turned(self, session: Session) -> None:
        """A request is sent, and the one before it is over."""
        self._close(session)
        self._open[session.serial] = _Open(session, self._world.now())

    def ended(self, session: Session) -> None:
        """The session's last request is over."""
        self._close(session)

    def queued(self, pool: int, claim: Claim) -> None:
        """It asks for memory."""
        request = self._request(claim)
        if request is not None and isnan(request.reached):
            request.reached = self._world.now()

    def admitted(self, pool: int, claim: Claim) -> None:
        """It has memory; what it hits counts the first time."""
        request = self._request(claim)
        if request is not None and isnan(request.cached):
            request.cached = float(claim.session.cached)

    def rejected(self, pool: int, claim: Claim) -> None:
        """It asked for more than there is."""
        self.rejections += 1
        request = self._request(claim)
        if request is not None:
            request.done = nan

    def preempted(self, pool: int, session: Session) -> None:
        """It must compute again what it had."""
        request = self._open.get(session.serial)
        if request is not None and pool in self._engine:
            request.preemptions += 1

    def completed(self, stage: int, job: Job) -> None:
        """It has its first token, or its last one so far."""
        request = None if job.session is None else self._open.get(job.session.serial)
        if request is not None and self._is_step[stage]:
            request.done = self._world.now()
            if job.phase == "prefill" and isnan(request.first):
                request.first = request.done

    def finish(self, configuration: Configuration) -> None:
        """Nothing happens any more: whoever still holds or wants memory is not done."""
        for pool in self._engine:
            for allocation in configuration.pools[pool].allocations:
                self._give_up(allocation.session)
        for state in configuration.pools:
            for claim in state.queue:
                if self._request(claim) is not None:
                    self._give_up(claim.session)
        for session in configuration.sessions.values():
            self._close(session)

    def _give_up(self, session: Session) -> None:
        request = self._open.get(session.serial)
        if request is not None:
            request.done = nan

    def _request(self, claim: Claim) -> _Open | None:
        """The request whose memory this is about."""
        return None if self._engine.isdisjoint(claim.pools) else self._open.get(claim.session.serial)

    def _close(self, session: Session) -> None:
        r = self._open.pop(session.serial, None)
        if r is None:
            return
        place = float(self._world.trace_place(session))
        row = (place, r.turn, r.sent, r.reached, r.first, r.done, r.prompt, r.cached, r.out, r.preemptions)
        for column, value in zip(self._rows, row, strict=True):
            column.append(value)


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def engine_pools(program: p.Program) -> frozenset[int]:
    """The pools that a request of a step stage asks for: its memory and what it is admitted by.

    In a program without a step stage every pool is one.
    """
    memories = {stage.kind.memory for stage in program.stages if isinstance(stage.kind, p.Step)}
    served = {place for place, pool in enumerate(program.pools) if pool.admit_via is not None}
    found = served | {memory for memory in memories if memory is not None}
    return frozenset(found or range(len(program.pools)))

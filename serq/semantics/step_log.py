"""What every iteration of the step stages did: who was scheduled, admitted, preempted, and what was evicted for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import nan

from serq.ir import program as p
from serq.ir.evaluate import Value, total
from serq.semantics.configuration import Claim, Entry, Job, Session
from serq.semantics.machine import Machine
from serq.semantics.sampled import SampledWorld
from serq.semantics.steps import attention, units_held
from serq.semantics.world import Recorder

Names = tuple[tuple[str, float], ...]
"""Requests, as `SESSION.TURN`, each with a number."""


@dataclass(frozen=True, slots=True)
class Step:
    """An iteration from `start` to `end`.

    `ndec`, `kvb`, `npre`, `attn` are what a cost may read. `waiting` are the holds in the queues that the stage serves,
    `running` its residents, `free` what is left of its memory, in blocks where it has blocks: all three when the
    iteration has been put together. `scheduled` are requests and tokens in order; `admitted` requests with what they
    hit; `preempted` the victims; `evicted` (session, first block or unit, one past the last) of prefixes cut from
    their tails: these since the iteration before.
    """

    stage: str
    start: float
    end: float
    ndec: int
    kvb: float
    npre: float
    attn: float
    waiting: int
    running: int
    free: float
    scheduled: Names
    admitted: Names
    preempted: tuple[str, ...]
    evicted: tuple[tuple[str, float, float], ...]


@dataclass
class Since:
    """What has happened since an iteration of a stage was put together."""

    admitted: list[tuple[str, float]] = field(default_factory=list)
    preempted: list[str] = field(default_factory=list)
    evicted: list[tuple[str, float, float]] = field(default_factory=list)


class Observer(Recorder):
    """A recorder that also looks at the machine; a replay sets `machine` before it begins."""

    machine: Machine


class StepLog(Observer):
    """Hands every finished iteration to `sink`."""

    def __init__(self, program: p.Program, world: SampledWorld, sink: Callable[[Step], object]) -> None:
        self._program = program
        self._world = world
        self._sink = sink
        self._stage_of = stages_of_pools(program)
        self._since: dict[int, Since] = {place: Since() for place in set(self._stage_of.values())}
        self._running: dict[int, Step] = {}

    def admitted(self, pool: int, claim: Claim) -> None:
        """A request is admitted."""
        stage = next((self._stage_of[p] for p in claim.pools if p in self._stage_of), None)
        if stage is not None:
            self._since[stage].admitted.append((self._name(claim.session), float(claim.session.cached)))

    def preempted(self, pool: int, session: Session) -> None:
        """A request loses its memory."""
        if pool in self._stage_of:
            self._since[self._stage_of[pool]].preempted.append(self._name(session))

    def evicted(self, pool: int, entry: Entry, units: Value, whole: bool) -> None:
        """Cached units make room."""
        if pool in self._stage_of:
            block = self._block(pool)
            owner = self._world.trace_name(self._world.trace_place(entry.owner))
            first, end = float(entry.units) / block, float(entry.units + units) / block
            self._since[self._stage_of[pool]].evicted.append((owner, first, end))

    def iteration_started(self, stage: int, batch: Sequence[tuple[Job, Value]]) -> None:
        """Look at what was put together, and wait for its end."""
        since = self._since.get(stage, Since())
        self._since[stage] = Since()
        kind, configuration = self._program.stages[stage].kind, self.machine.configuration
        assert isinstance(kind, p.Step)
        prefills = [(job, tokens) for job, tokens in batch if job.phase == "prefill"]
        decodes = [job for job, _ in batch if job.phase == "decode"]
        served = (place for place, pool in enumerate(self._program.pools) if pool.admit_via == stage)
        self._running[stage] = Step(
            stage=self._program.stages[stage].name,
            start=self._world.now(),
            end=nan,
            ndec=len(decodes),
            kvb=float(total((units_held(job, kind.memory) for job in decodes), 0)),
            npre=float(total((tokens for _, tokens in prefills), 0)),
            attn=float(total((attention(job, tokens) for job, tokens in prefills), 0)),
            waiting=sum(len(configuration.pools[pool].queue) for pool in served),
            running=len(configuration.stages[stage].residents),
            free=0.0 if kind.memory is None else self._free(kind.memory),
            scheduled=tuple((self._name(job.session), float(tokens)) for job, tokens in batch if job.session),
            admitted=tuple(since.admitted),
            preempted=tuple(since.preempted),
            evicted=tuple(since.evicted),
        )

    def iteration_ended(self, stage: int) -> None:
        """The iteration is over."""
        self._sink(replace(self._running.pop(stage), end=self._world.now()))

    def _free(self, pool: int) -> float:
        cap = self._program.pools[pool].cap.value
        return (cap - float(self.machine.configuration.pools[pool].used)) / self._block(pool)

    def _block(self, pool: int) -> float:
        block = self._program.pools[pool].block
        return 1.0 if block is None else block.value

    def _name(self, session: Session) -> str:
        return f"{self._world.trace_name(self._world.trace_place(session))}.{session.turn_no}"


def stages_of_pools(program: p.Program) -> dict[int, int]:
    """The step stage whose memory a pool is, or that serves its queue."""
    out = {place: pool.admit_via for place, pool in enumerate(program.pools) if pool.admit_via is not None}
    for place, stage in enumerate(program.stages):
        if isinstance(stage.kind, p.Step) and stage.kind.memory is not None:
            out.setdefault(stage.kind.memory, place)
    return out

"""The transition function: what happens at an instant, from one clock to the next.

A driver tells the machine which clock fired (`arrive`, `complete`, `end_iteration`), then calls `settle`; afterwards
the configuration rests until the next clock. The documentation's page on how a program runs says the same in words.
"""

from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics.cache import Caches
from serq.semantics.commands import Commands
from serq.semantics.configuration import Claim, Configuration, Entry, Job, Session, Status
from serq.semantics.limits import Limits
from serq.semantics.pools import Pools
from serq.semantics.progress import Progress
from serq.semantics.rules import HoldRule, PoolRule, StepRule
from serq.semantics.scene import Frame
from serq.semantics.stages import Stages
from serq.semantics.steps import Steps
from serq.semantics.world import Recorder, World

__all__ = ["Limits", "Machine"]


class Machine:
    """The meaning of one program in one world. Compiles the program once; `configuration` may be replaced at rest."""

    def __init__(
        self, program: p.Program, world: World, recorder: Recorder | None = None, limits: Limits | None = None
    ) -> None:
        self.program = program
        self._recorder = recorder or Recorder()
        self.frame = frame = Frame(program, world)
        """How expressions are compiled and what they see, for drivers that evaluate some themselves."""
        self._scene = frame.scene
        rules = [PoolRule(frame, place) for place in range(len(program.pools))]
        holds = {pc: HoldRule(frame, pc, x) for pc, x in enumerate(program.code) if isinstance(x, p.Hold)}
        steps = [StepRule(frame, s, x.kind) for s, x in enumerate(program.stages) if isinstance(x.kind, p.Step)]
        limit = program.arrivals.limit if isinstance(program.arrivals, p.Poisson | p.Renewal) else None
        self._limit = None if limit is None else p.whole(limit)
        self._gauges = [frame.compile(gauge.expr) for gauge in program.gauges]
        self._progress = Progress(frame, limits or Limits())
        self._stages = Stages(frame, self._recorder)
        self._caches = Caches(frame, rules, self._stages, self._recorder)
        self._pools = Pools(frame, rules, holds, self._stages, self._caches, self._progress, self._recorder, self._end)
        self._commands = Commands(
            frame, self._stages, self._caches, self._pools, self._progress, self._recorder, self._end
        )
        self._steps = Steps(frame, steps, self._pools, self._stages, self._recorder, self._commands.run)
        self._scene.budget_left = self._steps.budget_left
        self._served_here = [rule.via is None for rule in rules]

    @property
    def configuration(self) -> Configuration:
        """The state between two clocks."""
        return self._scene.configuration

    @configuration.setter
    def configuration(self, configuration: Configuration) -> None:
        self._scene.configuration = configuration

    def fresh(self) -> Configuration:
        """An empty configuration of this program."""
        return Configuration(len(self.program.pools), len(self.program.stages), self._scene.zero)

    # -- events ------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Time 0: the sessions of a closed population or of a batch arrive. Then call `settle`.

        Raises LimitError when there are more of them than commands may run at one instant: they cannot even begin.
        """
        for _ in range(self._progress.beginning()):
            self.arrive()

    def arrive(self) -> Session | None:
        """A session arrives and is ready; None when it found the limit of sessions present and is lost."""
        configuration = self.configuration
        if self._limit is not None and len(configuration.sessions) >= self._limit:
            self._recorder.lost()
            return None
        session = Session(configuration.next_serial, self._scene.zero)
        configuration.next_serial += 1
        configuration.sessions[session.serial] = session
        self._recorder.arrived(session)
        self._commands.initialise(session)
        configuration.ready.append(session)
        return session

    def complete(self, job: Job) -> None:
        """A job in service at a fifo, ps or delay stage is done: its session is ready behind its `run`."""
        self._stages.complete(job)
        session = job.session
        if session is None:
            assert job.transfer is not None
            self._caches.land(job.transfer)
            return
        session.pc += 1
        session.status = Status.READY
        self.configuration.ready.append(session)

    def end_iteration(self, stage: int) -> None:
        """The iteration of a step stage is over: its tokens count, and whose work is done becomes ready."""
        self._steps.end(stage)

    def run_first(self) -> None:
        """The first of the ready sessions runs its commands; nobody is admitted."""
        self._commands.run(self.configuration.ready.popleft())

    def admit_head(self, pool: int) -> bool:
        """Try the head of a pool's queue; whether it was admitted."""
        claim = self._pools.head(pool)
        return claim is not None and self._pools.attempt(claim) == "admitted"

    def new_instant(self) -> None:
        """Time has passed since the last event: the count of commands at one instant starts anew."""
        self._progress.new_instant()

    def total_rate(self, stage: int) -> Value:
        """The total rate of a ps stage with the jobs present now."""
        return self._stages.total_rate(stage)

    def gauges(self) -> list[Value]:
        """The program's gauges as they stand now, in its order."""
        self._scene.session = None
        return [gauge(self._scene) for gauge in self._gauges]

    def eviction_keys(self, pool: int, entry: Entry) -> tuple[Value, ...]:
        """What decides when an entry is evicted, before its release number; empty where nothing does."""
        return self._caches.keys(pool, entry)

    def queue_keys(self, claim: Claim) -> tuple[Value, ...]:
        """What decides when a hold is admitted, before its join number; empty where nothing does."""
        return self._pools.queue_keys(claim)

    def waiting(self) -> list[tuple[Claim, list[Value]]]:
        """The heads of the queues, and what must fit in each of their pools before they are admitted."""
        heads = (self._pools.head(pool) for pool in range(len(self.program.pools)))
        return [(head, self._pools.needs(head)) for head in heads if head is not None]

    # -- the transition ----------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Run whoever is ready, retry growths and admissions, start iterations, until nothing more happens.

        Raises `RunError` for what a program does wrong and for a program that cannot go on.
        """
        ready, run = self.configuration.ready, self._commands.run
        while True:
            while ready:
                run(ready.popleft())
            if self._serve_pools() or ready:
                continue
            # an iteration that is put together may evict, and spills of no work arrive at once
            if not self._steps.start_all() and not ready and not self._caches.land_all():
                return

    def _serve_pools(self) -> bool:
        """Pool by pool in declaration order: growers that fit now, then queue heads; whether anything happened."""
        happened = self._caches.land_all()
        for pool, state in enumerate(self.configuration.pools):
            if state.growers:
                happened |= self._pools.retry_growers(pool)
            if state.queue and self._served_here[pool]:
                happened |= self._serve_queue(pool)
        return happened

    def _serve_queue(self, pool: int) -> bool:
        """Admit heads until one does not fit: nobody behind it is tried."""
        happened = False
        while (claim := self._pools.head(pool)) is not None:
            outcome = self._pools.attempt(claim)
            if outcome == "blocked":
                break
            if outcome == "admitted":
                self.configuration.ready.append(claim.session)
            happened = True
        return happened

    def _end(self, session: Session) -> None:
        """The session leaves: its holds are released, its prefixes stay, a closed population gets another session."""
        while session.scopes:
            self._pools.release(session)
        session.status = Status.ENDED
        del self.configuration.sessions[session.serial]
        self._recorder.ended(session)
        self._progress.ended(self.program.code[session.pc].span)
        if isinstance(self.program.arrivals, p.Closed):
            self.arrive()

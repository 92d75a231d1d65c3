"""The session's instructions: what each does, compiled once into a function of the session.

An action moves the session's `pc` and says whether the session goes on at once. Commands take no time.
"""

import math
from collections.abc import Callable

from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics import errors
from serq.semantics.cache import Caches
from serq.semantics.configuration import Session, Status
from serq.semantics.pools import Pools, position
from serq.semantics.progress import Progress
from serq.semantics.scene import Frame, shown
from serq.semantics.stages import Stages
from serq.semantics.world import Recorder

Action = Callable[[Session], bool]


class Commands:
    """The program's code as actions, and the blocks of its workload."""

    def __init__(
        self, frame: Frame, stages: Stages, caches: Caches, pools: Pools, progress: Progress, recorder: Recorder,
        end: Callable[[Session], None],
    ) -> None:  # fmt: skip
        self._frame = frame
        self._scene = frame.scene
        self._world = frame.world
        self._stages = stages
        self._caches = caches
        self._pools = pools
        self._progress = progress
        self._recorder = recorder
        self._end = end
        self._code = frame.program.code
        self._turn_block = [self._statement(s) for s in frame.program.turn]
        self._init_block = [self._statement(s) for s in frame.program.init]
        self._actions = [self._action(pc, instruction) for pc, instruction in enumerate(self._code)]

    def run(self, session: Session) -> None:
        """Execute a ready session until it blocks: at a run of positive work, a hold, a growth that stalls, its end."""
        scene, actions, progress = self._scene, self._actions, self._progress
        scene.session = session
        left = progress.commands_left
        while True:
            left -= 1
            if left < 0:
                progress.exhausted(session, self._code[session.pc].span)
            if not actions[session.pc](session):
                break
        progress.commands_left = left

    def initialise(self, session: Session) -> None:
        """The workload's `init` block, at the session's arrival."""
        self._workload(session, self._init_block)

    def _workload(self, session: Session, block: list[Callable[[Session], None]]) -> None:
        scene = self._scene
        scene.session, scene.purpose = session, "workload"
        for statement in block:
            statement(session)
        scene.purpose = "session"

    # -- one action per kind of instruction --------------------------------------------------------------------------

    def _action(self, pc: int, instruction: p.Instruction) -> Action:
        match instruction:
            case p.Set() | p.Observe():
                return self._simple(self._statement(instruction))
            case p.Run():
                return self._run(instruction)
            case p.Branch():
                return self._branch(pc, instruction)
            case p.Jump(target=target):
                return self._jump(target)
            case p.Hold(parts=parts):
                return self._hold(tuple(self._frame.place(part.pool) for part in parts))
            case p.Release():
                return self._release
            case p.Grow():
                return self._grow(instruction)
            case p.Drop(pool=ref):
                place = self._frame.place(ref)
                return self._simple(lambda session: self._caches.drop(place(self._scene), session))
            case p.Turn():
                return self._simple(self._turn)
            case p.Choose():
                return self._choose(instruction)
            case p.End():
                return self._ending

    @staticmethod
    def _simple(command: Callable[[Session], None]) -> Action:
        """A command that goes on to the next instruction."""

        def action(session: Session) -> bool:
            command(session)
            session.pc += 1
            return True

        return action

    def _statement(self, statement: p.Set | p.Observe) -> Callable[[Session], None]:
        scene = self._scene
        value = self._frame.compile(statement.expr)
        if isinstance(statement, p.Set):
            store, name = self._world.store, statement.name

            def assign(session: Session) -> None:
                session.attributes[name] = store(session, name, value(scene))

            return assign
        observed = self._recorder.observed

        def observe(session: Session) -> None:
            observed(session, statement, value(scene))

        return observe

    def _run(self, run: p.Run) -> Action:
        scene, world = self._scene, self._world
        place, work_of = self._frame.place(run.stage), self._frame.compile(run.work)
        bring = self._bring(run)

        def action(session: Session) -> bool:
            stage, work = place(scene), work_of(scene)
            problem = world.work_problem(work)
            if problem is not None:
                name = self._frame.program.stages[stage].name
                raise scene.error(
                    errors.BadWork(span=run.work.span, session=session.serial, stage=name, problem=problem)
                )
            if world.is_zero(work):
                session.pc += 1
                return True
            bring(session, stage, work)
            return False

        return action

    def _bring(self, run: p.Run) -> Callable[[Session, int, Value], object]:
        """How work comes to the stage: as a job, or as a resident of a step stage, with what grows along."""
        if run.phase is None:
            return self._stages.join
        phase = run.phase
        if run.growing is None:
            return lambda session, stage, work: self._stages.join_step(session, stage, work, phase, None)
        pool, span = self._frame.place(run.growing), run.growing.span

        def bring(session: Session, stage: int, work: Value) -> None:
            allocation = self._pools.innermost(session, pool(self._scene), span)
            allocation.position = position(allocation)  # from now on only tokens count as computed, not allocated units
            self._stages.join_step(session, stage, work, phase, allocation)

        return bring

    def _branch(self, pc: int, branch: p.Branch) -> Action:
        scene, world = self._scene, self._world
        probability, otherwise = self._frame.compile(branch.probability), branch.otherwise

        def action(session: Session) -> bool:
            chance = probability(scene)
            if chance == 1:
                taken = True
            elif chance == 0:
                taken = False
            elif 0 < chance < 1:
                taken = world.branch(chance, session, pc)
            else:
                span = branch.probability.span
                raise scene.error(errors.BadProbability(span=span, session=session.serial, value=shown(chance)))
            session.pc = session.pc + 1 if taken else otherwise
            return True

        return action

    @staticmethod
    def _jump(target: int) -> Action:
        def action(session: Session) -> bool:
            session.pc = target
            return True

        return action

    def _hold(self, places: tuple[Callable[..., int], ...]) -> Action:
        def action(session: Session) -> bool:
            self._pools.claim(session, tuple(place(self._scene) for place in places))
            return False

        return action

    def _grow(self, grow: p.Grow) -> Action:
        place, units = self._frame.place(grow.pool), self._frame.compile(grow.units)

        def action(session: Session) -> bool:
            allocation = self._pools.innermost(session, place(self._scene), grow.span)
            more = units(self._scene)
            if more != more:
                name = self._frame.program.pools[allocation.pool].name
                span = grow.units.span
                raise self._scene.error(errors.BadUnits(span=span, what="growth", session=session.serial, pool=name))
            self._pools.grow(allocation, more, grow.span)
            if session.status is not Status.READY:
                return False
            session.pc += 1
            return True

        return action

    def _turn(self, session: Session) -> None:
        session.turn_no += 1
        if self._frame.program.trace is not None:
            session.attributes.update(self._world.trace_turn(session))
        self._recorder.turned(session)
        self._workload(session, self._turn_block)

    def _choose(self, choose: p.Choose) -> Action:
        scene, name = self._scene, choose.name
        count = self._frame.compile(choose.count)
        keys = tuple(self._frame.compile(key) for key in choose.keys)

        def rank(session: Session, candidate: int) -> tuple[tuple[Value, ...], int]:
            session.attributes[name] = scene.zero + candidate
            return tuple(key(scene) for key in keys), candidate

        def action(session: Session) -> bool:
            size = count(scene)
            if not (1 <= size < math.inf and size == int(size)):
                raise scene.error(errors.BadCount(span=choose.count.span, session=session.serial, value=shown(size)))
            best = min(range(int(size)), key=lambda candidate: rank(session, candidate))
            session.attributes[name] = self._world.store(session, name, scene.zero + best)
            session.pc += 1
            return True

        return action

    def _release(self, session: Session) -> bool:
        if self._stages.lingers(session):
            return False
        self._pools.release(session)
        session.pc += 1
        return True

    def _ending(self, session: Session) -> bool:
        if session.scopes and self._stages.lingers(session):
            return False
        self._end(session)
        return False

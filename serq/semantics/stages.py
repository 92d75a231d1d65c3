"""Stages: who waits, who is served, and what happens when a job joins, is done, or is taken away.

How long a service takes is the driver's business: it hears of every start and stop.
"""

from bisect import insort
from typing import Literal

from serq.ir import program as p
from serq.ir.evaluate import Value
from serq.semantics import errors
from serq.semantics.configuration import Allocation, Job, Session, StageState, Status, Transfer
from serq.semantics.scene import Frame, shown
from serq.semantics.world import Recorder, Work


class Stages:
    """Joining and leaving the stages of a configuration."""

    def __init__(self, frame: Frame, recorder: Recorder) -> None:
        self._frame = frame
        self._scene = frame.scene
        self._world = frame.world
        self._recorder = recorder
        self._kinds = [stage.kind for stage in frame.program.stages]
        self._planning_ahead = [s for s, kind in enumerate(self._kinds) if isinstance(kind, p.Step) and kind.plan_ahead]
        self._servers = [p.whole(kind.servers) if isinstance(kind, p.Fifo) else None for kind in self._kinds]
        self._rates = [
            frame.compile(kind.rate) if isinstance(kind, p.ProcessorSharing) else None for kind in self._kinds
        ]

    def state(self, stage: int) -> StageState:
        """The stage's part of the configuration."""
        return self._scene.configuration.stages[stage]

    def join(self, session: Session, stage: int, work: Work) -> Job:
        """A session brings work to a fifo, ps or delay stage."""
        job = self._new_job(stage, work, session)
        self._enter(job)
        return job

    def join_step(
        self, session: Session, stage: int, work: Value, phase: Literal["prefill", "decode"], growing: Allocation | None
    ) -> Job:
        """A session becomes a resident of a step stage, in the order of admission, the never admitted last."""
        job = self._new_job(stage, self._world.tokens(work), session)
        job.phase = phase
        job.growing = growing
        if growing is not None:
            job.origin = growing.position
        if session in self.state(stage).done:
            self.state(stage).done.remove(session)
        if session.admitted:
            job.order = (0, session.admitted)
        insort(self.state(stage).residents, job, key=lambda resident: resident.order)
        self._recorder.joined(stage, job)
        return job

    def send(self, transfer: Transfer, stage: int, work: Work) -> None:
        """A background job without a session: cached units on their way to another pool."""
        job = self._new_job(stage, work, None)
        job.transfer = transfer
        self._enter(job)

    def complete(self, job: Job) -> None:
        """A job is done and leaves; on a fifo the next one starts before its session runs on."""
        state = self.state(job.stage)
        del state.serving[job.number]
        self._detach(job)
        self._recorder.completed(job.stage, job)
        if state.waiting:
            self._start(state, state.waiting.popleft())

    def withdraw(self, job: Job) -> None:
        """A job leaves before it is done, its session having been preempted."""
        state = self.state(job.stage)
        if job.number in state.serving:
            del state.serving[job.number]
            self._world.stop(job.stage, job)
            if state.waiting:
                self._start(state, state.waiting.popleft())
        elif job in state.waiting:
            state.waiting.remove(job)
        else:
            state.residents.remove(job)
            if state.batch is not None:
                state.batch = [(other, tokens) for other, tokens in state.batch if other is not job]
        self._detach(job)
        self._recorder.withdrawn(job.stage, job)

    def marked(self, job: Job, position: Value) -> Value:
        """How long a prefix is marked as cached when its job is at a computed position.

        Tokens are marked when they are scheduled, before they are computed: those of the iteration that is being put
        together count. A stage that plans ahead does not know the latest token of a decoding job yet.
        """
        plan = self.state(job.stage).plan or ()
        marked = position + sum(tokens for other, tokens in plan if other is job)
        if job.stage in self._planning_ahead and job.phase == "decode":
            return max(job.origin, marked - 1)
        return marked

    def lingers(self, session: Session) -> bool:
        """Whether a session that is about to give units back must wait until a stage that plans ahead has planned."""
        for stage in self._planning_ahead:
            state = self.state(stage)
            if session in state.done:
                state.done.remove(session)
                state.leaving.append(session)
                session.status, session.place = Status.LEAVING, stage
                return True
        return False

    def finish(self, job: Job) -> None:
        """A resident of a step stage has had its last token and leaves."""
        self.state(job.stage).residents.remove(job)
        if job.stage in self._planning_ahead and job.session is not None:
            self.state(job.stage).done.append(job.session)
        self._detach(job)
        self._recorder.completed(job.stage, job)

    def total_rate(self, stage: int) -> Value:
        """The rate phi(n) that a ps stage shares among the n jobs present."""
        rate = self._rates[stage]
        kind = self._kinds[stage]
        assert rate is not None
        assert isinstance(kind, p.ProcessorSharing)
        present = self._scene.zero + len(self.state(stage).serving)
        with self._scene.reading((kind.rate,), None, {"n": present}) as scene:
            value: Value = rate(scene)
        if not value >= 0:
            name = self._frame.program.stages[stage].name
            what = f"capacity for n = {shown(present)}"
            raise self._scene.error(
                errors.BadStageValue(span=kind.rate.span, what=what, stage=name, value=shown(value))
            )
        return value

    def _new_job(self, stage: int, work: Work, session: Session | None) -> Job:
        job = Job(self._scene.configuration.number(), stage, work, session)
        if session is not None:
            session.status = Status.AT_STAGE
            session.place = stage
            session.job = job
        return job

    def _enter(self, job: Job) -> None:
        state = self.state(job.stage)
        self._recorder.joined(job.stage, job)
        servers = self._servers[job.stage]
        if servers is not None and len(state.serving) >= servers:
            state.waiting.append(job)
        else:
            self._start(state, job)

    def _start(self, state: StageState, job: Job) -> None:
        state.serving[job.number] = job
        self._recorder.started(job.stage, job)
        self._world.start(job.stage, job)

    @staticmethod
    def _detach(job: Job) -> None:
        if job.session is not None:
            job.session.job = None

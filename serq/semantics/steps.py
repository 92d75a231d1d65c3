"""Step stages: how an iteration is put together, what it costs, and what its end does.

The rules are those of the vLLM v1 scheduler reduced to its decisions: first the residents in their order, each with
what the budget leaves it, growing its memory first; then, unless anybody was preempted, the heads of the queues that
the stage serves.
"""

import math
from collections.abc import Callable

from serq.base.source import Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Compiled, Value, total
from serq.semantics import errors
from serq.semantics.configuration import Job, Session, StageState, Status
from serq.semantics.pools import Pools, position
from serq.semantics.rules import StepRule
from serq.semantics.scene import Frame, shown
from serq.semantics.stages import Stages
from serq.semantics.world import Recorder

Batch = list[tuple[Job, Value]]


class Steps:
    """The iterations of the step stages of a configuration. `run` executes a session until it blocks."""

    def __init__(
        self, frame: Frame, rules: list[StepRule], pools: Pools, stages: Stages, recorder: Recorder,
        run: Callable[[Session], None],
    ) -> None:  # fmt: skip
        self._code = frame.program.code
        self._scene = frame.scene
        self._world = frame.world
        self._rules = {rule.place: rule for rule in rules}
        self._pools = pools
        self._stages = stages
        self._recorder = recorder
        self._run = run

    def start_all(self) -> bool:
        """Every idle stage that has something to do starts an iteration.

        True when none started although a queue moved: an admitted session went elsewhere, and there is no iteration
        whose end would look at the pools again.
        """
        moved = started = False
        for rule in self._rules.values():
            state = self._stages.state(rule.place)
            if state.batch is not None or self._world.other_clock_now():
                continue
            if self._is_wanted(rule, state):
                moved |= self._start(rule, state)
                started |= state.batch is not None
            self._let_go(state)
        return moved and not started

    def _let_go(self, state: StageState) -> None:
        """The iteration has been put together, if there was anything for it: what the one before used is free now."""
        state.done.clear()
        for session in state.leaving:
            session.status = Status.READY
            self._scene.configuration.ready.append(session)
        state.leaving.clear()

    def _is_wanted(self, rule: StepRule, state: StageState) -> bool:
        return bool(state.residents) or any(self._pools.state(pool).queue for pool in rule.serves)

    def _start(self, rule: StepRule, state: StageState) -> bool:
        """Put an iteration together and begin it; whether a queue moved.

        An iteration that schedules nothing is none, unless it preempted.
        """
        preemptions = self._pools.preemptions
        state.budget_left = self._budget(rule, state)
        chunk = self._chunk(rule, state)
        batch: Batch = []
        state.plan = batch
        for job in self._order(rule, state):
            if state.budget_left <= 0:
                break
            if job in state.residents:  # it may have been preempted by one before it
                self._schedule(state, batch, job, chunk)
                if job not in state.residents:
                    break  # its own victim: there is no memory for those behind it either
        admitted = False
        if self._pools.preemptions == preemptions and not (rule.exclusive_prefill and _prefills(batch)):
            admitted = self._admit(rule, state, batch, chunk)
        state.budget_left = state.plan = None
        if not batch and self._pools.preemptions == preemptions:
            return admitted
        duration = self._cost(rule, state, batch)
        state.batch = batch
        self._recorder.iteration_started(rule.place, batch)
        self._world.begin_iteration(rule.place, duration)
        return admitted

    def end(self, stage: int) -> None:
        """The iteration's tokens count; whose work is done leaves and is ready, in the order of scheduling."""
        state = self._stages.state(stage)
        self._recorder.iteration_ended(stage)
        batch, state.batch = state.batch or [], None
        for job, tokens in batch:
            job.work -= tokens
            if job.growing is not None:
                job.growing.position = position(job.growing) + tokens
            if job.work <= 0:
                self._stages.finish(job)
                self._make_ready(job)

    def budget_left(self, stage: int) -> Value:
        """What an iteration leaves: while one is put together, what is left so far; else what would be left of the
        budget once the residents had taken their tokens.
        """
        rule, state = self._rules[stage], self._stages.state(stage)
        left = state.budget_left
        if left is None:
            state.budget_left = self._scene.zero  # a budget that reads its own stage's rest reads 0
            try:
                left, chunk = self._budget(rule, state), self._chunk(rule, state)
            finally:
                state.budget_left = None
            for job in self._order(rule, state):
                left -= _wanted(job, chunk)
        return max(left, self._scene.zero)

    # -- scheduling --------------------------------------------------------------------------------------------------

    @staticmethod
    def _order(rule: StepRule, state: StageState) -> list[Job]:
        """The residents in the order in which they take tokens."""
        jobs = list(state.residents)
        if rule.decode_first:
            jobs.sort(key=lambda job: job.phase != "decode")  # stable: each group stays in admission order
        if rule.exclusive_prefill:
            prefilling = next((job for job in jobs if job.phase == "prefill"), None)
            return jobs if prefilling is None else [prefilling]
        return jobs

    def _schedule(self, state: StageState, batch: Batch, job: Job, chunk: Value) -> None:
        """Give a resident its tokens, its memory first."""
        assert state.budget_left is not None
        tokens = min(_wanted(job, chunk), state.budget_left)
        if job.growing is not None:
            target = position(job.growing) + tokens
            grown = self._pools.grow_to(job.growing, target, self._growing_span(job))
            _take_back(state, batch)
            if not grown:
                return
        batch.append((job, tokens))
        state.budget_left -= tokens

    def _admit(self, rule: StepRule, state: StageState, batch: Batch, chunk: Value) -> bool:
        """Admit from the queues that the stage serves while budget is left; whether anybody left a queue.

        An admitted session runs its body at once and, if it joins this stage, takes its tokens from what is left.
        """
        happened = False
        preemptions = self._pools.preemptions
        assert state.budget_left is not None
        for pool in rule.serves:
            while state.budget_left > 0:
                claim = self._pools.head(pool)
                outcome = "blocked" if claim is None else self._pools.attempt(claim)
                if claim is None or outcome == "blocked":
                    break
                happened = True
                if outcome == "rejected":
                    continue
                self._run(claim.session)
                _take_back(state, batch)
                job = claim.session.job
                if job is None or job.stage != rule.place:
                    continue
                alone = rule.exclusive_prefill and job.phase == "prefill"
                if alone:
                    self._schedule_alone(state, batch, job, chunk)
                else:
                    self._schedule(state, batch, job, chunk)
                if alone or self._pools.preemptions != preemptions:
                    return True
        return happened

    def _schedule_alone(self, state: StageState, batch: Batch, job: Job, chunk: Value) -> None:
        """Give the whole budget to an admitted prefill; who was scheduled before it gives way, unless it finds no
        memory.
        """
        others = list(batch)
        batch.clear()
        taken = sum(tokens for _, tokens in others)
        state.budget_left += taken
        self._schedule(state, batch, job, chunk)
        if not batch:
            batch += others
            state.budget_left -= taken
            _take_back(state, batch)

    def _make_ready(self, job: Job) -> None:
        assert job.session is not None
        job.session.pc += 1
        job.session.status = Status.READY
        self._scene.configuration.ready.append(job.session)

    def _growing_span(self, job: Job) -> Span:
        assert job.session is not None
        run = self._code[job.session.pc]
        assert isinstance(run, p.Run)
        assert run.growing is not None
        return run.growing.span

    # -- the values of the declaration -------------------------------------------------------------------------------

    def _budget(self, rule: StepRule, state: StageState) -> Value:
        facts = self._facts(rule, rule.before_names, state, state.residents)
        return self._value(rule, "budget", rule.budget_expr, rule.budget, facts)

    def _chunk(self, rule: StepRule, state: StageState) -> Value:
        """The most tokens of one prefill in one iteration; no cap is infinity."""
        if rule.chunk is None or rule.chunk_expr is None:
            return math.inf
        facts = self._facts(rule, rule.before_names, state, state.residents)
        chunk = self._value(rule, "chunk", rule.chunk_expr, rule.chunk, facts)
        return chunk if chunk > 0 else math.inf

    def _cost(self, rule: StepRule, state: StageState, batch: Batch) -> Value:
        """How long the iteration lasts. Of the residents, only those that are in it count as decoding or prefilling."""
        facts = self._facts(rule, rule.cost_names, state, [job for job, _ in batch])
        prefills = [(job, tokens) for job, tokens in batch if job.phase == "prefill"]
        zero = self._scene.zero
        if "ntok" in rule.cost_names:
            facts["ntok"] = total((tokens for _, tokens in batch), zero)
        if "npre" in rule.cost_names:
            facts["npre"] = total((tokens for _, tokens in prefills), zero)
        if "attn" in rule.cost_names:
            facts["attn"] = total((attention(job, tokens) for job, tokens in prefills), zero)
        cost = self._value(rule, "cost", rule.cost_expr, rule.cost, facts)
        if not 0 <= cost < math.inf:
            self._refuse(rule, "cost", rule.cost_expr, cost, ", and finite")
        return cost

    def _value(self, rule: StepRule, what: str, expr: e.Expr, compiled: Compiled, facts: dict[str, Value]) -> Value:
        with self._scene.reading((expr,), None, facts) as scene:
            value = compiled(scene)
        if value != value:
            self._refuse(rule, what, expr, value, "")
        return value

    def _refuse(self, rule: StepRule, what: str, expr: e.Expr, value: Value, limit: str) -> None:
        raise self._scene.error(
            errors.BadStageValue(span=expr.span, what=what, stage=rule.name, value=shown(value), limit=limit)
        )

    def _facts(self, rule: StepRule, names: frozenset[str], state: StageState, jobs: list[Job]) -> dict[str, Value]:
        """The context variables that are read: about all residents, and about those of them that count."""
        zero = self._scene.zero
        makers: dict[str, Callable[[], Value]] = {
            "nres": lambda: zero + len(state.residents),
            "ndec": lambda: zero + sum(job.phase == "decode" for job in jobs),
            "kvb": lambda: self._memory(rule, jobs, "decode"),
            "kvp": lambda: self._memory(rule, jobs, "prefill"),
        }
        return {name: makers[name]() for name in names if name in makers}

    def _memory(self, rule: StepRule, jobs: list[Job], phase: str) -> Value:
        """Units allocated on the stage's memory pool to the sessions of jobs in a phase."""
        return total((units_held(job, rule.memory) for job in jobs if job.phase == phase), self._scene.zero)


def _take_back(state: StageState, batch: Batch) -> None:
    """Whoever was preempted after he had been given tokens leaves the iteration, and they return to the budget."""
    gone = [(job, tokens) for job, tokens in batch if job not in state.residents]
    if gone:
        batch[:] = [(job, tokens) for job, tokens in batch if job in state.residents]
        state.budget_left += sum(tokens for _, tokens in gone)


def _wanted(job: Job, chunk: Value) -> Value:
    """The tokens a resident would take of an unlimited budget."""
    return min(job.work, 1) if job.phase == "decode" else min(job.work, chunk)


def _prefills(batch: Batch) -> bool:
    return any(job.phase == "prefill" for job, _ in batch)


def units_held(job: Job, pool: int | None) -> Value:
    """Units of a pool that are allocated to the job's session, in all its open holds."""
    scopes = () if job.session is None else job.session.scopes
    return total((a.units for scope in scopes for a in scope.allocations if a.pool == pool), 0)


def attention(job: Job, tokens: Value) -> Value:
    """What a chunk of m tokens behind K earlier ones attends to: m (K + m/2)."""
    before = 0 if job.growing is None else position(job.growing)
    return tokens * (2 * before + tokens) / 2

"""Generated deployments: invariants after every transition, no hang, nothing left unused, every request ends or is
named as impossible, every token is generated once. And what the generator covers.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import pytest
from deployments import PROGRAMS, Deployment, corpus_of, deployment
from productions import all_productions, productions

from serq.base.errors import RunError
from serq.ir import program as p
from serq.ir.evaluate import Doubles, NoScope, Value, compile_expr
from serq.pipeline import load_text
from serq.semantics.configuration import Claim, Entry, Job, Session, StageState
from serq.semantics.pools import position
from serq.semantics.replay import Replayed, ReplayOptions, replay
from serq.semantics.step_log import Observer

GROUPS = 10
LEAST = 0.05
"""Each thing that is to be covered is in at least this part of the programs."""

NO_PROGRAM = {
    "program: ": "a program has a session",
    "stage: 'stage' NAME index ':' 'step' '{' '}' ';'": "a step stage has a budget and a cost",
    "stage: 'stage' NAME index ':' 'step' '{' '}'": "a step stage has a budget and a cost",
    "stage: 'stage' NAME ':' 'step' '{' '}' ';'": "a step stage has a budget and a cost",
    "stage: 'stage' NAME ':' 'step' '{' '}'": "a step stage has a budget and a cost",
    "workload: 'workload' '{' '}'": "a workload says how sessions arrive",
    "statement: 'run' ref amount growing ';'": "only step stages grow memory, and their runs have a phase",
    "primary: NAME '(' ')'": "every function takes an argument",
    "primary: '~' NAME '(' ')'": "every law has a parameter",
}
"""Productions that the grammar has and no linked program: the linker refuses them, for the reason beside."""


@dataclass
class Watch(Observer):
    """Counts what happens, and holds every iteration to work conservation."""

    program: p.Program
    faults: list[str] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    tokens: Counter[int] = field(default_factory=Counter)
    prefilling: dict[int, bool] = field(default_factory=dict)
    _preempted: bool = False

    def admitted(self, pool: int, claim: Claim) -> None:
        self.events["admission"] += 1
        self.events["admit via"] += self.program.pools[pool].admit_via is not None
        self.events["hit"] += claim.session.cached > 0

    def preempted(self, pool: int, session: Session) -> None:
        self.events["preemption"] += 1
        self._preempted = True

    def evicted(self, pool: int, entry: Entry, units: Value, whole: bool) -> None:
        self.events["eviction"] += 1
        self.events["partial eviction"] += not whole

    def spilled(self, pool: int, entry: Entry, units: Value) -> None:
        self.events["spill"] += 1

    def rejected(self, pool: int, claim: Claim) -> None:
        self.events["rejection"] += 1

    def lost(self) -> None:
        self.events["loss"] += 1

    def completed(self, stage: int, job: Job) -> None:
        kind = type(self.program.stages[stage].kind).__name__
        self.events[f"completion at {kind}"] += 1
        if job.phase == "prefill" and job.session is not None:
            self.tokens[job.session.serial] += 1

    def iteration_started(self, stage: int, batch: Sequence[tuple[Job, Value]]) -> None:
        self.events["iteration"] += 1
        preempted, self._preempted = self._preempted, False
        kind = self.program.stages[stage].kind
        state = self.machine.configuration.stages[stage]
        assert isinstance(kind, p.Step)
        given = sum(tokens for _, tokens in batch)
        budget = float(compile_expr(kind.budget, Doubles(), {})(_Residents(state.residents)))
        for job, tokens in batch:
            if job.phase == "decode" and job.session is not None:
                self.tokens[job.session.serial] += tokens
        if given > budget:
            self.faults.append(f"{given} tokens of a budget of {budget}")
        if given < budget and not preempted and not kind.exclusive_prefill:
            self._nobody_could_have_had_more(stage, state, [job for job, _ in batch], budget, budget - given)

    def _nobody_could_have_had_more(
        self, stage: int, state: StageState, batch: list[Job], budget: float, left: float
    ) -> None:
        for job in state.residents:
            if job not in batch and not self._lacks_memory(job, budget):
                self.faults.append(f"resident {job.session} was passed over with {left} tokens left")
        state.budget_left = left  # what the heads of the queues were offered
        for claim, needs in self.machine.waiting():
            pools = self.program.pools
            if pools[claim.pools[0]].admit_via == stage and not any(pools[pool].pin_waiting for pool in claim.pools):
                states = self.machine.configuration.pools
                fits = [states[q].used + need <= pools[q].cap.value for q, need in zip(claim.pools, needs, strict=True)]
                if all(fits):
                    self.faults.append(f"{claim.session} was not admitted with {left} tokens left")
        state.budget_left = None

    def _lacks_memory(self, job: Job, budget: float) -> bool:
        """Whether memory does not have room for what the job may have asked for: all its tokens or none."""
        if job.growing is None:
            return False
        pool = self.program.pools[job.growing.pool]
        block = 1.0 if pool.block is None else pool.block.value
        wanted = 1 if job.phase == "decode" else min(job.work, budget)
        target = math.ceil((position(job.growing) + wanted) / block) * block
        used = self.machine.configuration.pools[job.growing.pool].used
        return pool.pin_waiting or used + target - job.growing.units > pool.cap.value


class _Residents(NoScope):
    """What the generated budgets read."""

    def __init__(self, residents: Sequence[Job]) -> None:
        self._decoding = sum(job.phase == "decode" for job in residents)

    def context(self, name: str) -> float:
        return {"ndec": float(self._decoding), "kvp": 0.0}[name]


@dataclass(frozen=True)
class Outcome:
    """What became of a deployment; `named` is the code of the error or of the wait in which it ended, if any."""

    made: Deployment
    program: p.Program
    watch: Watch
    result: Replayed | None
    named: str


@cache
def outcome(seed: int) -> Outcome:
    made = deployment(seed)
    program = load_text(made.text, name=f"deployment{seed}.sq").program
    watch = Watch(program)
    options = ReplayOptions(checked=True, horizon=made.horizon, events=50_000)
    try:
        result = replay(program, corpus_of(made, program), options, recorder=watch)
    except RunError as error:
        return Outcome(made, program, watch, None, error.diagnostics[0].code)
    return Outcome(made, program, watch, result, "" if result.stuck is None else result.stuck.diagnostics[0].code)


def group(number: int) -> list[tuple[int, Outcome]]:
    return [(seed, outcome(seed)) for seed in range(number, PROGRAMS, GROUPS)]


# -- the laws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(GROUPS))
def test_nothing_is_left_unused_while_somebody_could_use_it(number: int) -> None:
    """And the invariants held after every transition: the run would have stopped at the first that did not."""
    assert {seed: done.watch.faults for seed, done in group(number) if done.watch.faults} == {}


@pytest.mark.parametrize("number", range(GROUPS))
def test_every_request_ends_or_is_named_as_impossible(number: int) -> None:
    """A growth beyond the pool (SQ511), a wait for ever (SQ517), a preemption without end (SQ512), endless replacement
    (SQ510); in everything else every session that came has gone, or the horizon was reached.
    """
    for seed, done in group(number):
        if done.named:
            assert done.named in ("SQ510", "SQ511", "SQ512", "SQ517"), seed
        elif done.made.horizon is None:
            assert done.result is not None
            unfinished = [r.name for r in done.result.requests if r.reached is not None and r.done is None]
            assert len(unfinished) <= done.result.requests.rejections, seed


@pytest.mark.parametrize("number", range(GROUPS))
def test_every_output_token_is_generated_once(number: int) -> None:
    """However often its request was preempted: a prefill that is completed gives one, every step of decoding one."""
    for seed, done in group(number):
        if done.result is None or done.named or done.made.horizon is not None or not done.made.grows:
            continue
        if done.result.requests.rejections or done.program.trace is None:
            continue
        expected: Counter[int] = Counter()
        for request in done.result.requests:
            assert request.out is not None
            expected[int(request.session)] += int(request.out)
        if isinstance(done.program.arrivals, p.FromTrace):
            assert {s: int(n) for s, n in done.watch.tokens.items()} == dict(expected), seed
        else:
            assert sum(done.watch.tokens.values()) == sum(expected.values()), seed


# -- what is covered -------------------------------------------------------------------------------------------------


def covered() -> dict[str, float]:
    """The part of the programs in which each thing occurs."""
    counts: Counter[str] = Counter(dict.fromkeys(all_productions(), 0))
    for seed in range(PROGRAMS):
        done = outcome(seed)
        counts.update(productions(done.made.text))
        counts.update({f"event: {event}" for event, times in done.watch.events.items() if times})
        counts.update({f"stage: {type(stage.kind).__name__}" for stage in done.program.stages})
        counts.update({f"arrivals: {type(done.program.arrivals).__name__}"})
    return {name: count / PROGRAMS for name, count in counts.items()}


EVENTS = (
    "admission", "admit via", "hit", "preemption", "eviction", "partial eviction", "spill", "iteration",
    "completion at Step", "completion at Fifo", "completion at ProcessorSharing", "completion at Delay",
)  # fmt: skip


def test_the_generator_covers_the_language_and_what_can_happen() -> None:
    parts = covered()
    report = "\n".join(f"{100 * part:5.1f} %  {name}" for name, part in sorted(parts.items(), key=lambda item: item[1]))
    print(f"coverage of {PROGRAMS} generated deployments\n{report}")
    assert {name for name in NO_PROGRAM if parts[name] > 0} == set()
    wanted = [name for name in parts if name not in NO_PROGRAM and not name.startswith("event: ")]
    wanted += [f"event: {event}" for event in EVENTS]
    wanted += [f"stage: {kind.__name__}" for kind in (p.Fifo, p.ProcessorSharing, p.Delay, p.Step)]
    rare = {name: parts.get(name, 0.0) for name in wanted if parts.get(name, 0.0) < LEAST}
    assert rare == {}, report


def test_most_deployments_run_to_their_end() -> None:
    named = Counter(outcome(seed).named for seed in range(PROGRAMS))
    assert named[""] >= 0.8 * PROGRAMS, named

"""A driver of the machine that is as small as it can be: an event list, no sampling, everything written down.

Chance is a script: `branches` and `draws` are taken one after the other. The invariants are checked after every
transition. It stands beside the reference interpreter so that the machine is tested without it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from serq.ir import program as p
from serq.ir.evaluate import Doubles
from serq.pipeline import load_text
from serq.semantics.configuration import Claim, Entry, Job, Session
from serq.semantics.invariants import check_invariants
from serq.semantics.limits import Limits
from serq.semantics.machine import Machine
from serq.semantics.world import Recorder

Turn = Mapping[str, float]


class Log(Recorder):
    """Everything that happened, as tuples (time, what, ...), pools and stages by name, sessions by serial."""

    def __init__(self, program: p.Program, world: "ToyWorld") -> None:
        self.program = program
        self.world = world
        self.rows: list[tuple[Any, ...]] = []

    def of(self, *kinds: str) -> list[tuple[Any, ...]]:
        """The rows of some kinds, in order."""
        return [row for row in self.rows if row[1] in kinds]

    def _add(self, what: str, *rest: Any) -> None:
        self.rows.append((self.world.time, what, *rest))

    def observed(self, session: Session, observe: p.Observe, value: float) -> None:
        self._add("observe", session.serial, observe.name, value)

    def arrived(self, session: Session) -> None:
        self._add("arrived", session.serial)

    def lost(self) -> None:
        self._add("lost")

    def ended(self, session: Session) -> None:
        self._add("ended", session.serial)

    def started(self, stage: int, job: Job) -> None:
        self._add("started", self.program.stages[stage].name, job.session and job.session.serial)

    def completed(self, stage: int, job: Job) -> None:
        self._add("completed", self.program.stages[stage].name, job.session and job.session.serial)

    def withdrawn(self, stage: int, job: Job) -> None:
        self._add("withdrawn", self.program.stages[stage].name, job.session and job.session.serial)

    def admitted(self, pool: int, claim: Claim) -> None:
        self._add("admitted", self.program.pools[pool].name, claim.session.serial, claim.session.cached)

    def rejected(self, pool: int, claim: Claim) -> None:
        self._add("rejected", self.program.pools[pool].name, claim.session.serial)

    def evicted(self, pool: int, entry: Entry, units: float, whole: bool) -> None:
        self._add("evicted", self.program.pools[pool].name, entry.owner.serial, units, entry.units, entry.dead)

    def preempted(self, pool: int, session: Session) -> None:
        self._add("preempted", self.program.pools[pool].name, session.serial)

    def spilled(self, pool: int, entry: Entry, units: float) -> None:
        self._add("spilled", self.program.pools[pool].name, entry.owner.serial, units)

    def iteration_started(self, stage: int, batch: Sequence[tuple[Job, float]]) -> None:
        jobs = [(job.session.serial, job.phase[0], tokens) for job, tokens in batch]
        used = [pool.used for pool in self.world.machine.configuration.pools]
        self._add("iteration", self.program.stages[stage].name, jobs, used)


class ToyWorld:
    """Doubles, an event list, and scripted chance."""

    def __init__(self, program: p.Program, branches: Iterable[bool], draws: Iterable[float], turns: Any) -> None:
        self.program = program
        self.arithmetic = Doubles()
        self.time = 0.0
        self.branches, self.draws, self.turns = iter(branches), iter(draws), turns
        self.clocks: list[list[Any]] = []  # [time, number, action, argument]
        self.shared: dict[int, dict[int, float]] = {}  # ps stages: work left by job number
        self.machine: Machine
        self._number = 0

    def constants(self) -> Mapping[str, float]:
        return {c.name: c.folded.value for c in self.program.constants}

    def number(self, folded: p.Folded) -> float:
        return folded.value

    def now(self) -> float:
        return self.time

    def draw(self, draw: Any, args: Any, session: Session, purpose: str) -> float:
        return next(self.draws)

    def branch(self, probability: float, session: Session, pc: int) -> bool:
        return next(self.branches)

    def store(self, session: Session, name: str, value: float) -> float:
        return value

    def trace_turn(self, session: Session) -> Turn:
        turns: Sequence[Turn] = self.turns[session.serial]
        return {"forced": 0.0, **turns[session.turn_no - 1], "more": float(session.turn_no < len(turns))}

    def work_problem(self, work: float) -> str | None:
        return None if 0 <= work < math.inf else f"{work} is no work"

    def is_zero(self, work: float) -> bool:
        return work == 0

    def tokens(self, work: float) -> float:
        return work

    def start(self, stage: int, job: Job) -> None:
        if isinstance(self.program.stages[stage].kind, p.ProcessorSharing):
            self.shared.setdefault(stage, {})[job.number] = job.work
        else:
            self.set(self.time + job.work, self.machine.complete, job)

    def stop(self, stage: int, job: Job) -> None:
        if self.shared.get(stage, {}).pop(job.number, None) is None:
            self.clocks = [clock for clock in self.clocks if clock[3] is not job]

    def begin_iteration(self, stage: int, duration: float) -> None:
        self.set(self.time + duration, self.machine.end_iteration, stage)

    def other_clock_now(self) -> bool:
        return any(clock[0] == self.time for clock in self._all_clocks())

    def work(self, stage: int) -> float:
        state = self.machine.configuration.stages[stage]
        clocks = {id(clock[3]): clock[0] - self.time for clock in self.clocks}
        left = [clocks.get(id(job), job.work) for job in state.serving.values()]
        return sum(left) + sum(job.work for job in (*state.waiting, *state.residents))

    def estimate(self, fact: str, stage: int) -> float:
        return {"est_lambda": 0.5, "est_rho": 0.5, "est_wait": 1.0}[fact]

    def set(self, time: float, action: Any, argument: Any) -> None:
        """Set a clock."""
        self._number += 1
        self.clocks.append([time, self._number, action, argument])

    def _all_clocks(self) -> list[list[Any]]:
        out = list(self.clocks)
        for stage, left in self.shared.items():
            if left and (rate := self.machine.total_rate(stage) / len(left)) > 0:
                number = min(left, key=lambda job: (left[job], job))
                job = self.machine.configuration.stages[stage].serving[number]
                out.append([self.time + left[number] / rate, math.inf, self._shared_done, job])
        return out

    def _shared_done(self, job: Job) -> None:
        del self.shared[job.stage][job.number]
        self.machine.complete(job)

    def fire(self, horizon: float) -> bool:
        """Let the earliest clock ring; False when there is none before the horizon."""
        clocks = self._all_clocks()
        if not clocks or min(clocks)[0] > horizon:
            return False
        clock = min(clocks, key=lambda c: (c[0], c[1]))
        if clock[0] > self.time:
            for stage, left in self.shared.items():
                rate = self.machine.total_rate(stage) / len(left) if left else 0.0
                for number in left:
                    left[number] -= rate * (clock[0] - self.time)
            self.time = clock[0]
            self.machine.new_instant()
        self.clocks = [other for other in self.clocks if other is not clock]
        clock[2](clock[3])
        return True


@dataclass
class Played:
    """A run: what was logged, and the machine as it stands at the end."""

    machine: Machine
    log: Log

    def seen(self, name: str) -> list[tuple[float, int, float]]:
        """(time, session, value) of an observe."""
        return [(t, s, v) for t, _, s, n, v in self.log.of("observe") if n == name]

    def values(self, name: str) -> list[float]:
        """The values of an observe."""
        return [v for _, _, v in self.seen(name)]


def play(
    text: str, until: float = 1000.0, branches: Iterable[bool] = (), draws: Iterable[float] = (), turns: Any = None,
    arrivals: Sequence[float] = (), limits: Limits | None = None,
) -> Played:  # fmt: skip
    """Run program text up to a time. `arrivals`: times at which sessions arrive, beside the program's own at time 0."""
    program = load_text(text).program
    world = ToyWorld(program, branches, draws, turns)
    log = Log(program, world)
    machine = world.machine = Machine(program, world, log, limits)  # type: ignore[arg-type]
    for time in arrivals:
        world.set(time, lambda _: machine.arrive(), None)
    machine.begin()
    machine.settle()
    check_invariants(program, machine.configuration)
    while world.fire(until):
        machine.settle()
        check_invariants(program, machine.configuration)
    return Played(machine, log)

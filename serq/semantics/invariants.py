"""What holds in every configuration between two clocks. A violation is a bug of serQ, never of the program."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from serq.ir import program as p
from serq.semantics.configuration import Configuration, Job, PoolState, Session, StageState, Status


class InvariantError(AssertionError):
    """The machine broke one of its own rules."""


def check_invariants(program: p.Program, configuration: Configuration) -> None:
    """Raise `InvariantError` with everything that is wrong with a configuration at rest."""
    problems = list(problems_of(program, configuration))
    if problems:
        raise InvariantError("; ".join(problems))


def problems_of(program: p.Program, configuration: Configuration) -> Iterator[str]:
    """Every rule that the configuration breaks, in words."""
    if configuration.ready:
        yield f"sessions {[s.serial for s in configuration.ready]} are ready, but nothing runs them"
    for place, state in enumerate(configuration.pools):
        yield from (f"pool {program.pools[place].name}: {x}" for x in _pool(program.pools[place], place, state))
    for place, stage in enumerate(configuration.stages):
        yield from (f"stage {program.stages[place].name}: {x}" for x in _stage(program.stages[place], place, stage))
    for serial, session in configuration.sessions.items():
        yield from (f"session {serial}: {x}" for x in _session(program, configuration, serial, session))


def _pool(pool: p.Pool, place: int, state: PoolState) -> Iterator[str]:
    allocated = sum(a.units for a in state.allocations)
    entries = [*state.dead, *state.entries.values()]
    cached = sum(entry.units for entry in entries)
    if not _same(allocated, state.used):
        yield f"used is {state.used}, the allocations add up to {allocated}"
    if not _same(cached, state.cached):
        yield f"cached is {state.cached}, the entries add up to {cached}"
    if state.used + state.cached > pool.cap.value * (1 + _ROUNDING):
        yield f"{state.used} allocated and {state.cached} cached exceed the cap {pool.cap.value}"
    if any(a.units < 0 or a.pool != place for a in state.allocations) or any(x.units <= 0 for x in entries):
        yield "a negative allocation, an empty entry, or an allocation of another pool"
    if pool.block is not None and any(
        u % pool.block.value for u in [*(a.units for a in state.allocations), *(x.units for x in entries)]
    ):
        yield "an allocation or an entry is not in whole blocks"
    if any(entry.owner.serial != serial or entry.dead for serial, entry in state.entries.items()):
        yield "an entry is not its owner's"
    for what, numbers in (
        ("allocations", [a.scope.number for a in state.allocations]),
        ("entries", [x.number for x in state.entries.values()]),
        ("dead entries", [x.number for x in state.dead]),
        ("queue", [claim.number for claim in state.queue]),
        ("growers", [grower.number for grower in state.growers]),
    ):
        if not _ascends(numbers):
            yield f"the {what} are out of order: {numbers}"
    if any(claim.pools[0] != place for claim in state.queue):
        yield "a hold waits in the queue of a pool that is not its first"


def _stage(stage: p.Stage, place: int, state: StageState) -> Iterator[str]:
    jobs = [*state.waiting, *state.serving.values(), *state.residents]
    if any(job.stage != place for job in jobs) or any(job.number != n for n, job in state.serving.items()):
        yield "a job of another stage, or under another number"
    if any(job.session is not None and job.session.job is not job for job in jobs):
        yield "a job whose session does not know it"
    if isinstance(stage.kind, p.Fifo):
        servers = p.whole(stage.kind.servers)
        if len(state.serving) > servers or (state.waiting and len(state.serving) < servers):
            yield f"{len(state.serving)} of {servers} servers are busy while {len(state.waiting)} jobs wait"
    elif state.waiting:
        yield "jobs wait at a stage that makes nobody wait"
    if not _ascends([job.order for job in state.residents]):
        yield "the residents are out of order"
    if state.batch is not None and any(job not in state.residents for job, _ in state.batch):
        yield "the running iteration has a job that is no resident"
    if state.budget_left is not None:
        yield "an iteration is still being put together"


def _session(program: p.Program, configuration: Configuration, serial: int, session: Session) -> Iterator[str]:
    if session.serial != serial:
        yield f"it is filed under {serial}"
    if not 0 <= session.pc < len(program.code):
        yield f"its continuation {session.pc} is no instruction"
    places = list(_places(configuration, session))
    if places != [session.status]:
        yield f"it is {session.status.name}, and found at {[place.name for place in places]}"
    elif session.status is Status.AT_STAGE and (session.job is None or session.job.stage != session.place):
        yield "its job is at another stage"
    if (session.job is not None) != (session.status is Status.AT_STAGE):
        yield "it has a job without being at a stage, or is at a stage without one"
    held = [a for scope in session.scopes for a in scope.allocations]
    for pool, state in enumerate(configuration.pools):
        mine = [a for a in state.allocations if a.session is session]
        if {id(a) for a in mine} != {id(a) for a in held if a.pool == pool}:
            yield f"its holds and the allocations of pool {program.pools[pool].name} differ"
    if not _ascends([scope.number for scope in session.scopes]):
        yield "its holds do not nest"


def _places(configuration: Configuration, session: Session) -> Iterator[Status]:
    """Everywhere the session is found."""
    if session in configuration.ready:
        yield Status.READY
    for pool in configuration.pools:
        yield from (Status.QUEUED for claim in pool.queue if claim.session is session)
        yield from (Status.GROWING for grower in pool.growers if grower.session is session)
    for stage in configuration.stages:
        yield from (Status.AT_STAGE for job in _jobs(stage) if job.session is session)
        yield from (Status.LEAVING for other in stage.leaving if other is session)


def _jobs(state: StageState) -> Iterator[Job]:
    yield from state.waiting
    yield from state.serving.values()
    yield from state.residents


def _ascends(numbers: Sequence[Any]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


_ROUNDING = 1e-9
"""Sums of doubles that are no whole numbers are right up to this."""


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= _ROUNDING * max(1.0, abs(a), abs(b))

"""What holds of every configuration at rest. The checked mode asserts it after every transition."""

from serq.ir import program as p
from serq.semantics.configuration import Configuration, Job, PoolState, Session, StageState, Status


def check_invariants(program: p.Program, configuration: Configuration) -> None:
    """Raise AssertionError, with the names of what is wrong, when an invariant does not hold."""
    assert not configuration.ready, "a session is ready and nobody runs it"
    for pool, pool_state in zip(program.pools, configuration.pools, strict=True):
        _check_pool(pool, pool_state)
    for stage, stage_state in zip(program.stages, configuration.stages, strict=True):
        _check_stage(stage, stage_state)
    for session in configuration.sessions.values():
        _check_session(configuration, session)


def _check_pool(pool: p.Pool, state: PoolState) -> None:
    used = sum(a.units for a in state.allocations)
    kept = [*state.entries.values(), *state.dead]
    cached = sum(entry.units for entry in kept)
    assert _close(state.used, used), f"pool {pool.name} counts {state.used} used units of {used}"
    assert _close(state.cached, cached), f"pool {pool.name} counts {state.cached} cached units of {cached}"
    assert _within(used + cached, pool.cap.value), f"pool {pool.name} holds {used} + {cached} of {pool.cap.value}"
    assert all(entry.units > 0 for entry in kept), f"pool {pool.name} keeps an empty entry"
    assert all(serial == entry.owner.serial for serial, entry in state.entries.items()), f"pool {pool.name}: owners"
    assert not any(entry.dead for entry in state.entries.values()), f"a dead entry of {pool.name} can be hit"
    if pool.block is not None:
        block = pool.block.value
        amounts = [*(a.units for a in state.allocations), *(entry.units for entry in kept)]
        assert all(amount % block == 0 for amount in amounts), f"pool {pool.name} holds a part of a block"
    waiting = [claim.number for claim in state.queue]
    assert waiting == sorted(waiting), f"the queue of {pool.name} is out of order"


def _check_stage(stage: p.Stage, state: StageState) -> None:
    if isinstance(stage.kind, p.Fifo):
        servers = stage.kind.servers.value
        assert len(state.serving) <= servers, f"stage {stage.name} serves {len(state.serving)} with {servers} servers"
        assert not state.waiting or len(state.serving) == servers, f"a server of {stage.name} idles while jobs wait"
    else:
        assert not state.waiting, f"jobs wait at {stage.name}, which has no queue"
    orders = [job.order for job in state.residents]
    assert orders == sorted(orders), f"the residents of {stage.name} are out of order"
    if state.batch is not None:
        assert all(job in state.residents for job, _ in state.batch), f"{stage.name} serves somebody who has left"


def _check_session(configuration: Configuration, session: Session) -> None:
    """A session is in exactly one place, the one that its status names."""
    match session.status:
        case Status.QUEUED:
            found = sum(claim.session is session for claim in configuration.pools[session.place].queue)
        case Status.GROWING:
            found = sum(grower.session is session for grower in configuration.pools[session.place].growers)
        case Status.AT_STAGE:
            found = sum(job.session is session for job in _jobs(configuration.stages[session.place]))
        case _:
            found = 0
    assert found == 1, f"{session} is found {found} times where its status says it is"
    for scope in session.scopes:
        for allocation in scope.allocations:
            assert any(a is allocation for a in configuration.pools[allocation.pool].allocations), (
                f"{session} lost a hold"
            )


def _jobs(state: StageState) -> list[Job]:
    return [*state.waiting, *state.serving.values(), *state.residents]


_ROUNDING = 1e-9


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= _ROUNDING * max(1.0, abs(a), abs(b))


def _within(amount: float, cap: float) -> bool:
    return amount <= cap or _close(amount, cap)

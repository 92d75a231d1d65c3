"""What the compiled simulator can run."""

from collections.abc import Iterator

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_MOST_ATTRIBUTES = 60
_MOST_CHOICES = 32
_LARGEST = 2**62
"""Whole numbers beyond this are no machine integers."""


def why_not(program: p.Program) -> str | None:
    """Why the program cannot be compiled, in a few words; None where it can."""
    return next(_reasons(program), None)


def _reasons(program: p.Program) -> Iterator[str]:
    yield from _pool_reasons(program)
    yield from _ahead_reasons(program)
    for stage in program.stages:
        if isinstance(stage.kind, p.Fifo) and p.whole(stage.kind.servers) > _LARGEST:
            yield f"stage {stage.name} has more servers than a machine integer can count"
        if isinstance(stage.kind, p.Step):
            limits = (stage.kind.budget, *(() if stage.kind.chunk is None else (stage.kind.chunk,)))
            if any(isinstance(n, e.StageState) and n.fact == "budget_left" for x in limits for n in e.walk(x)):
                yield f"a limit of stage {stage.name} reads budget_left"
    limit = program.arrivals.limit if isinstance(program.arrivals, p.Poisson | p.Renewal) else None
    if limit is not None and p.whole(limit) > _LARGEST:
        yield "its limit is no machine integer"
    if isinstance(program.arrivals, p.Poisson) and not program.arrivals.rate.value > 0.0:
        yield "its arrival rate is 0"
    if len(program.attributes) > _MOST_ATTRIBUTES:
        yield f"it has more than {_MOST_ATTRIBUTES} attributes"
    for expr in expressions_of(program):
        for node in e.walk(expr):
            reason = _why_not_node(node)
            if reason is not None:
                yield reason


def _ahead_reasons(program: p.Program) -> Iterator[str]:
    """Who waits for a stage that plans ahead may lose a hold only where pools are memory: there he is not asked."""
    steps = [stage.kind for stage in program.stages if isinstance(stage.kind, p.Step)]
    memory = {kind.memory for kind in steps}
    if any(kind.plan_ahead for kind in steps):
        for ref in _grown(program):
            for place in range(ref.base, ref.base + ref.size):
                if program.pools[place].preempt != "none" and place not in memory:
                    yield f"a stage plans ahead, and pool {program.pools[place].name} preempts whoever holds it"


def _grown(program: p.Program) -> Iterator[e.Ref]:
    """The pools in which holds grow."""
    refs = (x.pool if isinstance(x, p.Grow) else x.growing for x in program.code if isinstance(x, p.Grow | p.Run))
    yield from (ref for ref in refs if ref is not None)


def _pool_reasons(program: p.Program) -> Iterator[str]:
    for pool in program.pools:
        if pool.spill is not None and isinstance(program.stages[pool.spill.via].kind, p.Step):
            yield f"pool {pool.name} spills through a step stage"
    memory = {stage.kind.memory for stage in program.stages if isinstance(stage.kind, p.Step)}
    for ref in _grown(program):
        if program.pools[ref.base].preempt == "none":
            continue
        if len({place in memory for place in range(ref.base, ref.base + ref.size)}) > 1:
            yield f"some members of {ref.name} are the memory of a stage and others are not"


def _why_not_node(node: e.Expr) -> str | None:
    match node:
        case e.Draw(law="choice", args=args) if len(args) > 2 * _MOST_CHOICES:
            return f"a choice has more than {_MOST_CHOICES} values"
        case _:
            return None


def expressions_of(program: p.Program) -> Iterator[e.Expr]:
    """Every expression that is evaluated while the program runs."""
    for instruction in program.code:
        yield from flow.expressions(instruction)
    yield from (s.expr for s in (*program.init, *program.turn))
    yield from (gauge.expr for gauge in program.gauges)
    if isinstance(program.arrivals, p.Renewal):
        yield program.arrivals.gap
    for pool in program.pools:
        yield from (*pool.evict, *pool.queue, *pool.victims)
        if pool.spill is not None:
            yield from (pool.spill.work, pool.spill.when)
    for stage in program.stages:
        if isinstance(stage.kind, p.ProcessorSharing):
            yield stage.kind.rate
        elif isinstance(stage.kind, p.Step):
            chunk = stage.kind.chunk
            yield from (stage.kind.budget, stage.kind.cost, *(() if chunk is None else (chunk,)))

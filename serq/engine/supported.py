"""What the compiled simulator can run."""

from collections.abc import Iterator

from serq.engine.assigned import certainly_set
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_MOST_ATTRIBUTES = 58
"""As many bits of a word say which of the attributes that are read too early, perhaps, have been set."""
_MOST_CHOICES = 256
"""The text says them one by one, which takes a compiler its time."""
_LARGEST = 2**62
"""Whole numbers beyond this are no machine integers."""


def why_not(program: p.Program) -> str | None:
    """Why the program cannot be compiled, in a few words; None where it can."""
    return next(_reasons(program), None)


def _reasons(program: p.Program) -> Iterator[str]:
    for stage in program.stages:
        if isinstance(stage.kind, p.Fifo) and p.whole(stage.kind.servers) > _LARGEST:
            yield f"stage {stage.name} has more servers than a machine integer can count"
    limit = program.arrivals.limit if isinstance(program.arrivals, p.Poisson | p.Renewal) else None
    if limit is not None and p.whole(limit) > _LARGEST:
        yield "its limit is no machine integer"
    if len(program.attributes) > _MOST_ATTRIBUTES and len(certainly_set(program).doubtful) > _MOST_ATTRIBUTES:
        yield f"more than {_MOST_ATTRIBUTES} attributes may be read before they are set"
    for expr in expressions_of(program):
        for node in e.walk(expr):
            reason = _why_not_node(node)
            if reason is not None:
                yield reason


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

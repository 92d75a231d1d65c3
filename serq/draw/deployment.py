"""The cards of the deployment. Members of an array that are alike are one card."""

import re
from collections.abc import Iterator

from serq.draw.picture import Card
from serq.draw.words import Words, shortened
from serq.ir import program as p


def cards(program: p.Program) -> tuple[Card, ...]:
    """The workload, the stages and the pools, in the order of the program."""
    words = Words(program)
    stages = _grouped(Card("stage", s.name, tuple(_stage(words, s))) for s in program.stages)
    pools = _grouped(Card("pool", q.name, tuple(_pool(words, q))) for q in program.pools)
    return (Card("workload", "workload", tuple(_workload(words, program))), *stages, *pools)


def _grouped(listed: Iterator[Card]) -> Iterator[Card]:
    """Cards that differ in their index alone, put together: `kv[0]` to `kv[2]` is `kv[0..2]`."""
    groups: dict[tuple[str, tuple[str, ...]], list[Card]] = {}
    for card in listed:
        groups.setdefault((re.sub(r"\[\d+\]$", "", card.title), card.lines), []).append(card)
    for (base, lines), members in groups.items():
        first, last = members[0].title, members[-1].title
        title = first if len(members) == 1 else f"{base}[{first[len(base) + 1 : -1]}..{last[len(base) + 1 : -1]}]"
        yield Card(members[0].kind, title, lines)


def _workload(words: Words, program: p.Program) -> Iterator[str]:
    match program.arrivals:
        case p.Poisson(rate=rate, limit=limit):
            yield f"poisson ({words.folded(rate)})"
            yield from _limit(words, limit)
        case p.Renewal(gap=gap, limit=limit):
            yield f"renewal ({words.expr(gap)})"
            yield from _limit(words, limit)
        case p.Closed(population=population):
            yield f"closed ({words.folded(population)})"
        case p.Batch(size=size):
            yield f"batch ({words.folded(size)})"
        case p.FromTrace():
            yield "the sessions of the trace"
        case p.NoArrivals():
            yield "no arrivals"
    if program.trace is not None:
        yield shortened(f"trace {program.trace.path}" + (", in order" if program.trace.ordered else ""))


def _limit(words: Words, limit: p.Folded | None) -> Iterator[str]:
    if limit is not None:
        yield f"limit ({words.folded(limit)}), else lost"


def _stage(words: Words, stage: p.Stage) -> Iterator[str]:
    match stage.kind:
        case p.Fifo(servers=servers):
            yield "fifo, one server" if servers.exact == 1 else f"fifo, servers {words.folded(servers)}"
        case p.ProcessorSharing(rate=rate):
            yield f"ps ({words.expr(rate)})"
        case p.Delay():
            yield "delay"
        case p.Step() as step:
            yield f"step, budget {words.expr(step.budget)}"
            yield shortened(f"cost {words.expr(step.cost)}")
            if step.chunk is not None:
                yield f"chunk {words.expr(step.chunk)}"
            switches = (("exclusive prefill", step.exclusive_prefill), ("decode first", step.decode_first))
            yield from (name for name, on in (*switches, ("plan ahead", step.plan_ahead)) if on)
            if step.memory is not None:
                yield f"memory {words.program.pools[step.memory].name}"


def _pool(words: Words, pool: p.Pool) -> Iterator[str]:
    yield f"cap {words.folded(pool.cap)}" + ("" if pool.block is None else f", block {words.folded(pool.block)}")
    if pool.evict:
        yield shortened(f"evict by ({', '.join(map(words.expr, pool.evict))})")
    if pool.preempt != "none":
        keys = f" ({', '.join(map(words.expr, pool.victims))})" if pool.victims else ""
        yield shortened(f"preempt {pool.preempt}{keys}")
    if pool.queue:
        yield shortened(f"queue by ({', '.join(map(words.expr, pool.queue))})")
    if pool.admit_via is not None:
        yield f"admit via {words.program.stages[pool.admit_via].name}"
    if pool.pin_waiting:
        yield "pin waiting"
    if pool.spill is not None:
        tier, via = words.program.pools[pool.spill.tier].name, words.program.stages[pool.spill.via].name
        yield shortened(f"spill {tier} via {via}")

"""Which attributes have certainly been set where: a forward data-flow analysis over the code."""

from dataclasses import dataclass

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p


@dataclass(frozen=True, slots=True)
class Assigned:
    """`before[pc]` has been set whenever an instruction is reached, `initial` at the end of the init block.

    `doubtful` are the attributes that are read somewhere where they may not have been set. The cache clause of a hold
    is read wherever the session is within it, and what the keys of a pool read is read of everybody.
    """

    before: tuple[frozenset[str], ...]
    initial: frozenset[str]
    doubtful: frozenset[str]


def certainly_set(program: p.Program) -> Assigned:
    """The greatest fixed point: what is set on every way."""
    doubtful, initial = _block(program.init, frozenset())
    everything = frozenset(program.attributes)
    before = [everything] * len(program.code)
    before[0] = initial
    todo = [0]
    reached = {0}
    while todo:
        pc = todo.pop()
        after = before[pc] | (flow.writes(program, pc) & everything)
        for target in flow.successors(program, pc):
            joint = before[target] & after
            if joint != before[target] or target not in reached:
                before[target] = joint
                reached.add(target)
                todo.append(target)
    for pc in reached:
        doubtful |= _doubtful(program, pc, before[pc])
    doubtful |= _keys(program) - initial
    return Assigned(tuple(before), initial, doubtful)


def _doubtful(program: p.Program, pc: int, before: frozenset[str]) -> frozenset[str]:
    if isinstance(program.code[pc], p.Turn):
        return _block(program.turn, before | frozenset(program.traced))[0]
    names = flow.reads(program, pc)
    instruction = program.code[pc]
    if isinstance(instruction, p.Hold):
        names |= flow.reads(program, instruction.release)
    return (names & frozenset(program.attributes)) - before


def _keys(program: p.Program) -> frozenset[str]:
    """What the keys of the pools read, and what they ask about an entry that is spilled."""
    exprs = [x for pool in program.pools for x in (*pool.evict, *pool.queue, *pool.victims)]
    spills = [pool.spill for pool in program.pools if pool.spill is not None]
    exprs += [x for spill in spills for x in (spill.work, spill.when)]
    return frozenset(name for x in exprs for name in e.attributes_read(x))


def _block(block: tuple[p.Set | p.Observe, ...], before: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """What a block reads too early, and what has been set behind it."""
    early: frozenset[str] = frozenset()
    for statement in block:
        early |= e.attributes_read(statement.expr) - before
        if isinstance(statement, p.Set):
            before |= {statement.name}
    return early, before

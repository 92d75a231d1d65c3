"""Where the code of a session is cut into pieces for the compiled simulator."""

from serq.ir import flow
from serq.ir import program as p


def cuts_of(program: p.Program) -> list[int]:
    """Where pieces begin: at the start, behind every run, and where several ways meet."""
    ways = [0] * len(program.code)
    ways[0] = 2
    todo, seen = [0], {0}
    while todo:
        pc = todo.pop()
        rests = flow.is_rest(program, pc)
        for target in flow.successors(program, pc):
            ways[target] += 2 if rests else 1
            if target not in seen:
                seen.add(target)
                todo.append(target)
    if plans_ahead(program):  # sessions may wait before they give units back
        for pc in seen:
            ways[pc] += isinstance(program.code[pc], p.Release | p.End)
    return [pc for pc, n in enumerate(ways) if n > 1]


def plans_ahead(program: p.Program) -> bool:
    """Whether a session that is done may have to wait for a stage before it gives its units back."""
    return bool(program.pools) and any(isinstance(s.kind, p.Step) and s.kind.plan_ahead for s in program.stages)

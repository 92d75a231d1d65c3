"""Open programs without a limit whose states repeat, level by level, as a queue grows.

The program is explored with a limit far enough up. One kind of session must be the only one of which there come to be
more and more: those that wait in one line, or share one server. The *level* is their number, the *phase* all the rest.
From some level on, states and transitions must be the same up to the level. Why they go on being the same is said in
`serq.semantics.level_search`.
"""

from collections.abc import Iterator
from dataclasses import replace

from serq.base.errors import LimitError
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p
from serq.semantics.control import control_of
from serq.semantics.exploration import Exploration, ExploreOptions
from serq.semantics.fragment import unlimited_arrivals, violations
from serq.semantics.fragment_errors import OpenWithoutLimit
from serq.semantics.level_search import Explored, Levels, NoLevelsError, Search
from serq.semantics.timing import has_clocks

_LIMITS = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512)
LARGEST_FRONT = 5_000
"""States up to which levels are looked for unless somebody says otherwise."""
_FEW = 300
"""States that the reference explorer finds sooner than the compiled one begins."""
_BY_REFERENCE = 2_000
"""States up to which it goes on where there is no compiled one."""


def is_unlimited(program: p.Program, *, fixed_work: bool = False) -> bool:
    """Whether all that keeps the program from being a finite chain is that nobody is turned away.

    `fixed_work`: phases are to stand for fixed amounts of work.
    """
    if unlimited_arrivals(program) is None:
        return False
    found = violations(program, fixed_work=fixed_work)
    return bool(found) and all(isinstance(d, OpenWithoutLimit) for d in found)


def levels_of(program: p.Program, options: ExploreOptions) -> Levels:
    """The levels of a program for which `is_unlimited` holds, in the states that the options allow.

    NoLevelsError says why there are none.
    """
    why = _reads_numbers(program)
    if why:
        raise NoLevelsError(why)
    most = LARGEST_FRONT if options.states is None else options.states
    reason = ""
    for limit in _LIMITS:
        explored = _explored(program, replace(options, limit=limit, states=most))
        if explored is None:
            more = f"with {limit} sessions there are over {most} states, and --max-states allows more"
            raise NoLevelsError(f"{reason}; {more}" if reason else more)
        try:
            return Search(explored).levels()
        except NoLevelsError as found:
            if found.final:
                raise
            reason = f"with up to {limit} sessions, {found}"
    raise NoLevelsError(reason)


def _explored(program: p.Program, options: ExploreOptions) -> Explored | None:
    """The chain up to a limit; None where it has more states than the options allow."""
    most = options.most_compiled
    exploration = Exploration(program, options)
    limit = options.limit or 0
    try:
        if exploration.run(min(most, _FEW)):
            return Explored(program, exploration.chain(), exploration.states, exploration.events.codec.records, limit)
        return _compiled(exploration, limit)
    except LimitError:
        return None


def _compiled(exploration: Exploration, limit: int) -> Explored | None:
    """The same by the compiled explorer, or to the end by the other where it cannot."""
    program, codec = exploration.program, exploration.events.codec
    try:
        from serq.semantics.explore_packed import read_states
        from serq.semantics.frontier_tables import NotCompiledError

        try:
            chain, states = read_states(exploration)
            return Explored(program, chain, states, codec.records, limit)
        except NotCompiledError:
            pass
    except ImportError:
        pass
    if exploration.run(min(exploration.options.most_by_reference, _BY_REFERENCE)):
        return Explored(program, exploration.chain(), exploration.states, codec.records, limit)
    return None


def _reads_numbers(program: p.Program) -> str:
    """Why no depth of the queue is known to be like the one before it; empty where nothing looks at it."""
    if has_clocks(control_of(program)):
        return "it runs in slots or is semi-Markov; levels are looked for in continuous time only"
    for x in _expressions(program):
        for part in e.walk(x):
            if isinstance(part, e.StageState) or (isinstance(part, e.PoolState) and part.fact != "cachedin"):
                return (
                    f"line {part.span.line}: the program reads how many jobs there are, which may matter at any depth"
                )
    for stage in program.stages:
        if isinstance(stage.kind, p.ProcessorSharing) and any(
            isinstance(x, e.Context) for x in e.walk(stage.kind.rate)
        ):
            return f"the rate of stage {stage.name} depends on the number of jobs there"
    return ""


def _expressions(program: p.Program) -> Iterator[e.Expr]:
    for step in program.code:
        yield from flow.expressions(step)
    for statement in (*program.init, *program.turn):
        yield statement.expr
    for pool in program.pools:
        yield from (*pool.evict, *pool.queue, *pool.victims)

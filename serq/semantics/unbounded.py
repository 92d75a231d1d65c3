"""Open programs without a limit whose states repeat, level by level, as a queue grows.

The program is explored with a limit far enough up. One kind of session must be the only one of which there come to be
more and more: those that wait in one line, or share one server. The *level* is their number, the *phase* all the rest.
From some level on, states and transitions must be the same up to the level. Why they go on being the same is said in
`serq.semantics.level_search`.
"""

from collections.abc import Iterator
from dataclasses import replace

from serq.base.diagnostics import Note
from serq.base.errors import LimitError, OutsideFragmentError
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
_SMALL = 32
_FEW = 300
"""States with up to _SMALL sessions that the reference explorer finds sooner than the compiled one begins."""
_BY_REFERENCE = 30_000
"""Sessions in all states, roughly, up to which it goes on where there is no compiled one: some seconds."""


def is_unlimited(program: p.Program, *, fixed_work: bool = False) -> bool:
    """Whether all that keeps the program from being a finite chain is that nobody is turned away.

    `fixed_work`: phases are to stand for fixed amounts of work.
    """
    if unlimited_arrivals(program) is None:
        return False
    found = violations(program, fixed_work=fixed_work)
    return bool(found) and all(isinstance(d, OpenWithoutLimit) for d in found)


def needs_a_limit(program: p.Program, why: str) -> OutsideFragmentError:
    """The refusal of such a program, with a note."""
    refused = [d for d in violations(program, fixed_work=True) if isinstance(d, OpenWithoutLimit)]
    return OutsideFragmentError(program.source, [replace(d, notes=(Note(message=why),)) for d in refused])


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
        try:
            explored = _explored(program, replace(options, limit=limit, states=most))
        except LimitError as many:
            raise NoLevelsError(f"{reason}; {many}" if reason else str(many)) from None
        try:
            return Search(explored).levels()
        except NoLevelsError as found:
            if found.final:
                raise
            reason = f"with up to {limit} sessions, {found}"
    raise NoLevelsError(reason)


def _explored(program: p.Program, options: ExploreOptions) -> Explored:
    """The chain up to a limit; LimitError where it has more states than the options allow."""
    exploration, limit = Exploration(program, options), options.limit or 0
    most = options.most_by_reference
    try:
        if limit <= _SMALL and exploration.run(min(most, _FEW)):
            return _by_reference(exploration, limit)
        why = ""
        try:
            from serq.semantics.explore_packed import read_states
            from serq.semantics.frontier_tables import NotCompiledError

            try:
                chain, states = read_states(exploration)
                return Explored(program, chain, states, exploration.events.codec.records, limit)
            except NotCompiledError as reason:
                why = str(reason)
        except ImportError as missing:
            why = f"{missing.name} is missing"
        if exploration.run(min(most, _BY_REFERENCE // limit)):
            return _by_reference(exploration, limit)
    except LimitError:
        raise LimitError(f"with {limit} sessions there are over {most} states, and --max-states allows more") from None
    raise LimitError(f"with {limit} sessions there are too many states for the reference explorer, needed since {why}")


def _by_reference(exploration: Exploration, limit: int) -> Explored:
    records = exploration.events.codec.records
    return Explored(exploration.program, exploration.chain(), exploration.states, records, limit)


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

"""The chain of a program: the reference explorer finds the small ones, the compiled explorer the large ones."""

from dataclasses import replace

from serq.ir import program as p
from serq.ir.chain import Chain
from serq.semantics.control import control_of
from serq.semantics.exploration import Exploration, ExploreOptions, with_limit
from serq.semantics.timed import TimedExploration
from serq.semantics.timing import has_clocks

__all__ = ["Exploration", "ExploreOptions", "explore", "with_limit"]


def explore(program: p.Program, options: ExploreOptions | None = None) -> Chain:
    """The chain of the program.

    Raises `OutsideFragmentError` with every reason why there is none, `LimitError` beyond the states of the options,
    and `RunError` for what the program does wrong in a state that it can reach.
    """
    if has_clocks(control_of(program)):
        timed = TimedExploration(program, options or ExploreOptions())
        timed.run()
        return timed.chain()
    exploration = Exploration(program, options or ExploreOptions())
    why = ""
    if exploration.options.explorer == "reference" or exploration.run(_few(exploration)):
        exploration.run()
        return exploration.chain()
    try:
        from serq.semantics.explore_packed import compiled_chain
        from serq.semantics.frontier_tables import NotCompiledError

        try:
            return compiled_chain(exploration)
        except NotCompiledError as reason:
            why = f"by the reference explorer, since {reason}"
    except ImportError as missing:
        why = f"by the reference explorer, since {missing.name} is missing"
    exploration.run()
    return replace(exploration.chain(), explored=why)


_FEW = 2000
"""Records of sessions up to which the reference explorer is done before the compiled one has begun."""


def _few(exploration: Exploration) -> int:
    """States to look for before the compiled explorer takes over."""
    if exploration.options.explorer == "compiled":
        return 0
    match exploration.program.arrivals:
        case p.Closed(population=size) | p.Batch(size=size):
            return _FEW // (5 + p.whole(size))
        case _:
            return _FEW // 10

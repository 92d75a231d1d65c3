"""The whole road in one silent file: text to tree to AST to program to back ends. It returns, never prints.

text -> parse -> link -> Program -> replicate -> RunReport            (simulation)
-> explore   -> Chain -> Solution -> Estimates   (exact)
-> match     -> Estimates            (closed forms)
-> Prism().export -> texts           (other tools)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from serq.base.source import SourceFile
from serq.check.link import Linked, link
from serq.check.overrides import OverrideValue
from serq.ir.chain import Chain, Solution
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.syntax.parser import parse
from serq.syntax.reader import read_source

RATIONAL_BY_DEFAULT = 400
"""States up to which a solution is rational unless somebody asks otherwise."""


def load(path: Path, overrides: Mapping[str, OverrideValue] | None = None) -> Linked:
    """Read, parse and link a program file. InputError, LoadError or UsageError when that fails."""
    return link(parse(read_source(path)), overrides)


def load_text(text: str, name: str = "program.sq", overrides: Mapping[str, OverrideValue] | None = None) -> Linked:
    """Parse and link program text; `name` is what diagnostics call it."""
    return link(parse(SourceFile(name, text)), overrides)


@dataclass(frozen=True)
class Solved:
    """A solved program: its chain, the stationary vector, and every measure."""

    chain: Chain
    solution: Solution
    estimates: tuple[Estimate, ...]

    @property
    def recurrent(self) -> int:
        """Number of recurrent states."""
        return sum(1 for probability in self.solution.probabilities if probability)


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How to solve: rational or not (None: rational when small), method, largest number of states and sessions."""

    exact: bool | None = None
    method: str = "auto"
    states: int | None = None
    limit: int | None = None


def explore_chain(
    program: Program, options: SolveOptions = SolveOptions(), progress: Callable[[int], None] | None = None
) -> Chain:
    """The Markov chain of the program. OutsideFragmentError with every reason when it is none."""
    from serq.semantics.explore import ExploreOptions, explore

    chosen = {k: v for k, v in (("max_states", options.states), ("limit", options.limit)) if v is not None}
    return explore(program, ExploreOptions(**chosen), progress)


def solve(
    program: Program, options: SolveOptions = SolveOptions(), progress: Callable[[int], None] | None = None
) -> Solved:
    """The exact steady state. NoSteadyStateError when there is none."""
    return solve_chain(explore_chain(program, options, progress), program, options)


def solve_chain(chain: Chain, program: Program, options: SolveOptions = SolveOptions()) -> Solved:
    """The steady state of a chain that has been explored."""
    from serq.semantics.answers import answers
    from serq.semantics.operational_laws import with_laws
    from serq.semantics.solve import stationary

    exact = chain.size <= RATIONAL_BY_DEFAULT if options.exact is None else options.exact
    solution = stationary(chain, exact=exact, method=options.method, source=program.source)
    estimates = answers(chain, solution)
    return Solved(chain, with_laws(solution, estimates), estimates)

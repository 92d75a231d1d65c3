"""The whole road in one silent file: text to tree to AST to program to back ends. It returns, never prints.

text -> parse -> link -> Program -> replicate -> RunReport            (simulation)
-> explore   -> Chain -> Solution -> Estimates   (exact)
-> match     -> Estimates            (closed forms)
-> Prism().export -> texts           (other tools)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from serq.base.source import SourceFile
from serq.check.link import Linked, link
from serq.check.overrides import OverrideValue
from serq.ir.program import Program
from serq.syntax.parser import parse
from serq.syntax.reader import read_source

if TYPE_CHECKING:
    # Named in signatures only: a verb pays for the back end that it uses.
    from serq.closedforms.matches import Matches
    from serq.engines import Engine
    from serq.ir.chain import Chain, Solution
    from serq.ir.results import Estimate
    from serq.semantics.distributions import Distributions
    from serq.semantics.explore import ExploreOptions
    from serq.semantics.open_tail import OpenTail
    from serq.semantics.options import RunOptions
    from serq.semantics.replay import Progress as ReplayProgress
    from serq.semantics.replay import Replayed, ReplayOptions
    from serq.semantics.report import RunReport
    from serq.semantics.run_result import RunResult
    from serq.semantics.step_log import Step

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

    chain: "Chain"
    solution: "Solution"
    estimates: "tuple[Estimate, ...]"
    tail: "OpenTail | None" = None
    """Of an open program without a limit, of which the chain is the front only."""

    @property
    def recurrent(self) -> int:
        """Number of recurrent states."""
        return self.chain.size - self.solution.transient


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How to solve: rational or not (None: rational when small), method, largest number of states and of sessions
    present in an open program, phases that stand for fixed amounts of work. `distributions`: whether to find the laws
    of observed times too, None where that costs little (`solve` alone never does). `unlumped`: names of quotients of
    `serq.semantics.records.Quotients` that are not to be taken. `memory`: bytes that a large chain may take.
    """

    exact: bool | None = None
    method: str = "auto"
    states: int | None = None
    limit: int | None = None
    phase_type: int | None = None
    distributions: bool | None = None
    unlumped: tuple[str, ...] = ()
    memory: int | None = None


def limited(program: Program, limit: int | None) -> Program:
    """The program in which an arrival that finds `limit` sessions present is lost; itself where None or closed."""
    from serq.semantics.explore import with_limit

    return with_limit(program, limit)


def explore_chain(
    program: Program, options: SolveOptions = SolveOptions(), progress: Callable[[int, int], None] | None = None
) -> "Chain":
    """The Markov chain of the program; `progress` is told how many states were found and how many of them are done.

    OutsideFragmentError with every reason when the program is no finite Markov chain, LimitError when it is too large.
    """
    from serq.semantics.explore import explore

    return explore(program, explore_options(options, progress))


def explore_finite(
    program: Program,
    options: SolveOptions,
    asked: str,
    progress: Callable[[int, int], None] | None = None,
    instead: str = "without a limit `serq solve` finds the steady state of such a queue where it can",
) -> "Chain":
    """`explore_chain` for a question that only finite chains have an answer to.

    Where nothing but the missing limit is in the way, the refusal says what was `asked`, in words, and what can be had
    `instead`.
    """
    if unlimited(program, options):
        from serq.semantics.unbounded import needs_a_limit

        raise needs_a_limit(program, f"{asked} needs a finite chain; {instead}")
    return explore_chain(program, options, progress)


def explore_options(options: SolveOptions, progress: Callable[[int, int], None] | None = None) -> "ExploreOptions":
    """What the explorer is told."""
    from serq.semantics.explore import ExploreOptions
    from serq.semantics.records import Quotients

    plain = ExploreOptions(
        limit=options.limit, phase_type=options.phase_type, progress=progress, memory=options.memory,
        quotients=replace(Quotients(), **dict.fromkeys(options.unlumped, False)),
    )  # fmt: skip
    return plain if options.states is None else replace(plain, states=options.states)


def solve(
    program: Program, options: SolveOptions = SolveOptions(), progress: Callable[[int, int], None] | None = None
) -> Solved:
    """The exact steady state. NoSteadyStateError when there is none.

    An open program without a limit is solved where its states are levels that repeat for ever.
    """
    if unlimited(program, options):
        return solve_without_limit(program, options)
    return solve_chain(explore_chain(program, options, progress), program, options)


def unlimited(program: Program, options: SolveOptions = SolveOptions()) -> bool:
    """Whether nothing but the missing limit of its arrivals keeps the program from being a finite chain."""
    from serq.semantics.unbounded import is_unlimited

    return options.limit is None and is_unlimited(program, fixed_work=options.phase_type is not None)


def solve_without_limit(program: Program, options: SolveOptions = SolveOptions()) -> Solved:
    """The steady state of an open program without a limit by the matrix-geometric method.

    OutsideFragmentError, with the reason, where its states are no levels that repeat.
    """
    from serq.semantics.near_values import as_near_solution, as_near_values
    from serq.semantics.open_tail import solve_unlimited
    from serq.semantics.operational_laws import with_laws

    found = solve_unlimited(program, explore_options(options), options.exact, options.method)
    chain, checked = found.chain, with_laws(found.solution, found.estimates)
    estimates = as_near_values(chain, found.estimates)
    return Solved(chain, as_near_solution(chain, checked), estimates, found.tail)


def solve_chain(chain: "Chain", program: Program, options: SolveOptions = SolveOptions()) -> Solved:
    """The steady state of a chain that has been explored."""
    from serq.semantics.answers import answers
    from serq.semantics.levels import sessions_away
    from serq.semantics.near_values import as_near_solution, as_near_values
    from serq.semantics.operational_laws import with_laws
    from serq.semantics.solve import stationary

    exact = in_rationals(chain, options)
    levels = sessions_away(chain, program)
    solution = stationary(chain, exact=exact, method=options.method, source=program.source, levels=levels)
    estimates = answers(chain, solution)
    checked = with_laws(solution, estimates)
    found = _of_those_who_go_on(chain, program, options, solution, estimates)
    return Solved(chain, as_near_solution(chain, checked), as_near_values(chain, found))


def _of_those_who_go_on(
    chain: "Chain", program: Program, options: SolveOptions, solution: "Solution", estimates: "tuple[Estimate, ...]"
) -> "tuple[Estimate, ...]":
    """The answers without mean times that a session falsifies which waits for ever while others go on."""
    from serq.semantics.starvation import MOST_STATES, crowded, waiting_for_ever, without_means_of

    places = crowded(program, chain, solution) if chain.size <= MOST_STATES else None
    stuck = waiting_for_ever(program, places, explore_options(options)) if places else frozenset()
    return without_means_of(program, chain, estimates, stuck) if stuck else estimates


def in_rationals(chain: "Chain", options: SolveOptions) -> bool:
    """Whether a solution is rational: as it was asked for, else where the chain is small and its rates are rational.

    NoRationalsError where rationals are asked for and those of the chain are not the program's.
    """
    from serq.semantics.near_values import no_rationals_of
    from serq.semantics.solve import is_rounded

    if options.exact:
        no_rationals_of(chain)
    if options.exact is not None:
        return options.exact
    return chain.size <= RATIONAL_BY_DEFAULT and not is_rounded(chain)


def distributions(
    program: Program, options: SolveOptions = SolveOptions(), progress: Callable[[int, int], None] | None = None
) -> "Distributions":
    """The laws of the program's observes, by following one tagged session. Raises what `solve` raises."""
    from serq.semantics.distributions import distributions_of
    from serq.semantics.solve import stationary

    def solve_it(chain: "Chain") -> "Solution":
        exact = in_rationals(chain, options)
        return stationary(chain, exact=exact, method=options.method, source=program.source)

    return distributions_of(program, explore_options(options, progress), solve_it)


def distribution_estimates(program: Program, found: "Distributions") -> "tuple[Estimate, ...]":
    """Means, second moments and quantiles of the observes that have a law, and why others have none."""
    from serq.semantics.distributions import distribution_estimates

    return distribution_estimates(program, found)


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """How to simulate; None: as the program's `run` block says. Replications run `jobs` at a time.

    The warm-up `auto` is found by MSER-5 in runs without one. `events` and `memory` (bytes; None: a quarter of the
    machine's) stop a run that is too large.
    """

    seed: int | None = None
    horizon: float | None = None
    warmup: float | Literal["auto"] | None = None
    replications: int = 1
    jobs: int = 1
    confidence: float = 0.95
    trace: str | None = None
    keep_samples: bool = False
    checked: bool = False
    engine: "Engine" = "auto"
    events: int | None = None
    memory: int | None = None


def run_options(program: Program, options: SimulateOptions) -> "RunOptions":
    """The settings of every replication, with no warm-up where it is automatic. UsageError when they make no sense."""
    from serq.semantics.memory import memory_of_machine
    from serq.semantics.options import options_of

    warmup = 0.0 if options.warmup == "auto" else options.warmup
    plain = options_of(program, options.seed, options.horizon, warmup)
    return replace(
        plain, trace=options.trace, keep_samples=options.keep_samples, checked=options.checked, events=options.events,
        memory=memory_of_machine() // 4 if options.memory is None else options.memory,
    )  # fmt: skip


def simulate(
    program: Program, options: SimulateOptions = SimulateOptions(), progress: Callable[[float], None] | None = None
) -> "tuple[RunReport, tuple[RunResult, ...]]":
    """Run the program: the report, and the replications it was made of.

    RunError when the program fails; at a limit PartialError with a report on what was learned so far, or StoppedError
    when that was within the warm-up.
    """
    from serq.engines import run_replications
    from serq.running import automatic_warmup, partial, remarks_on
    from serq.semantics.report import report_of
    from serq.semantics.run_result import StoppedError

    settings, n, jobs = run_options(program, options), options.replications, options.jobs
    remarks = remarks_on(settings)
    try:
        if options.warmup == "auto":
            found = automatic_warmup(program, settings, n, jobs, options.engine, progress)
            settings, remarks = replace(settings, warmup=found.time), (found.text(settings.horizon),)
        run = run_replications(program, settings, n, jobs, progress, options.engine)
    except StoppedError as stopped:
        partial(program, settings, options.confidence, options.engine, stopped)
        raise
    report = report_of(program, settings, run.results, options.confidence, run.observations)
    remarks = (*remarks, *report.remarks)
    return replace(report, engine=run.engine, why_reference=run.why, remarks=remarks), run.results


def pooled_estimates(
    program: Program, results: "tuple[RunResult, ...]", confidence: float = 0.95
) -> "tuple[Estimate, ...]":
    """Every measure over the batches of all replications: the intervals with the most degrees of freedom."""
    from serq.semantics.report import estimates_of

    return estimates_of(program, results, confidence)


def replay(
    program: Program,
    trace: str | None,
    options: "ReplayOptions",
    sink: "Callable[[Step], object] | None" = None,
    progress: "ReplayProgress | None" = None,
    engine: "Engine" = "auto",
) -> "Replayed":
    """Replay a trace, the program's own when None is given, request for request; `sink` is given every iteration.

    InputError or LoadError for a trace that is none, RunError when the program fails.
    """
    from serq.replays import replay_on
    from serq.traces.reader import trace_of

    return replay_on(program, trace_of(program, trace), options, sink, progress, engine)


def closed_forms(program: Program) -> "Matches":
    """The formulas that fit the program, their values, and why others do not fit."""
    from serq.closedforms.match import match

    return match(program)

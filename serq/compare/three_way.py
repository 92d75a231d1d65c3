"""`serq check` without its printing: run, solve, find formulas, compare."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError
from serq.compare.agree import FALSE_ALARM, Agreement, compare
from serq.compare.laws import with_distributions
from serq.compare.quantiles import tested_quantiles
from serq.compare.rare import usual_values
from serq.ir.measures import QUANTILES, comparable_measures_of
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.pipeline import (
    SimulateOptions,
    SolveOptions,
    closed_forms,
    limited,
    pooled_estimates,
    simulate,
    solve,
)

LONGEST_STUDY = 1024
"""Replications after which a run that should reach some power gives up."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How to compare. `simulated` is the program to simulate when that is not the one that is solved (for tests of the
    check itself). `until_power`: go on until an error of this relative size would be found in every measure.
    """

    simulation: SimulateOptions = SimulateOptions(replications=4)
    solving: SolveOptions = SolveOptions()
    false_alarm: float = FALSE_ALARM
    simulated: Program | None = None
    until_power: float | None = None


@dataclass(frozen=True)
class ThreeWay:
    """The comparison and where it came from. `no_chain` and `no_formula` say why a witness is silent, `remarks` what
    a reader must know of the simulation.
    """

    program: Program
    agreement: Agreement
    replications: int
    horizon: float
    warmup: float
    seed: int
    events: int
    engine: str
    chain: str
    formulas: tuple[str, ...]
    no_chain: tuple[str, ...] = ()
    no_formula: str = ""
    remarks: tuple[str, ...] = ()


def three_way(
    program: Program, options: CheckOptions = CheckOptions(), progress: Callable[[float], None] | None = None
) -> ThreeWay:
    """Simulate, solve and match the program, and compare what the witnesses say.

    A program without a chain or without a formula is compared by what is left. A limit on the sessions present is the
    same for every witness. Errors of loading and of running propagate.
    """
    program = limited(program, options.solving.limit)
    to_simulate = limited(options.simulated or program, options.solving.limit)
    exact, chain, no_chain = _exact(program, options.solving)
    matches = closed_forms(program)
    formulas = tuple(dict.fromkeys(match.formula.title for match in matches.matches))
    replications = options.simulation.replications
    while True:
        simulation = replace(options.simulation, replications=replications)
        report, results = simulate(to_simulate, simulation, progress)
        simulated = (
            *pooled_estimates(to_simulate, results, simulation.confidence),
            *tested_quantiles(to_simulate, results, report.observations, simulation.confidence),
        )
        usual = usual_values(to_simulate, results, report.options.horizon)
        measures = comparable_measures_of(program)
        agreement = compare(measures, simulated, exact, matches.estimates, options.false_alarm, usual)
        if _enough(agreement, options.until_power) or replications >= LONGEST_STUDY:
            break
        replications *= 2
    settings = report.options
    return ThreeWay(
        program,
        agreement,
        replications,
        settings.horizon,
        settings.warmup,
        settings.seed,
        report.events,
        report.engine,
        chain,
        formulas,
        no_chain,
        matches.why_not,
        report.remarks,
    )


def _enough(agreement: Agreement, wanted: float | None) -> bool:
    """Whether every measure would show so small an error; quantiles show their errors late and are not waited for."""
    found = [row.finds for row in agreement.rows if row.finds is not None and row.measure.statistic not in QUANTILES]
    return wanted is None or not found or max(found) <= wanted


def _exact(program: Program, options: SolveOptions) -> tuple[tuple[Estimate, ...], str, tuple[str, ...]]:
    """The chain's answers and how they were found, or no answers and why."""
    try:
        solved = with_distributions(solve(program, options), program, options)
    except (OutsideFragmentError, NoSteadyStateError) as error:
        return (), "", tuple(_at_line(d) for d in error.diagnostics)
    except LimitError as error:
        return (), "", (str(error),)
    notes = "".join(f"; {text}" for text in solved.chain.truncated)
    return solved.estimates, f"{solved.chain.size} states, {solved.solution.method}{notes}", ()


def _at_line(diagnostic: Diagnostic) -> str:
    line = diagnostic.span.line
    return f"line {line}: {diagnostic.message}" if line else diagnostic.message

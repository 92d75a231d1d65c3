"""`serq price --vary`: the price of a change at every point of a grid, exact, by formula, and simulated.

Before and after are two policies of a study, so that a simulated price is a difference with common random numbers.
"""

from dataclasses import replace
from pathlib import Path

from serq.api.files import find_file
from serq.api.studied import StudyAnswer
from serq.base.errors import UsageError
from serq.cli.common import Common, parse_sets
from serq.cli.progress import working
from serq.cli.study import methods_of
from serq.cli.study_text import contrast_text
from serq.ir import program as p
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.change import from_before, of_itself
from serq.studies.grid import parse_axis
from serq.studies.plan import AS_WRITTEN, Plan, Policy
from serq.studies.runners import processes
from serq.studies.study import Work, study
from serq.syntax.reader import read_source


def price_study(
    common: Common,
    change: tuple[tuple[str, ...], tuple[str, ...]],
    vary: tuple[str, ...],
    methods: str | None,
    solving: SolveOptions,
    simulation: SimulateOptions,
) -> bool:
    """Print the prices of a change over a grid; whether everything agreed."""
    program = common.load()
    source = read_source(find_file(common.file))
    base = tuple(parse_sets(common.sets).items())
    labels = [", ".join(sets) or AS_WRITTEN for sets in change]
    if labels[0] == labels[1]:
        raise UsageError("nothing changes: --from and --to say the same")
    if vary:
        for option, sets in zip(("--from", "--to"), change, strict=True):
            _check(option, sets, vary)
    new = (from_before(program, parse_sets(sets)) for sets in change)
    policies = tuple(
        Policy(label, source, (*base, *((name, str(value)) for name, value in sets.items())))
        for label, sets in zip(labels, new, strict=True)
    )
    axes = tuple(parse_axis(text) for text in vary)
    wanted = replace(solving, states=solving.states or Plan.solving.states, distributions=False)
    plan = Plan(policies, axes, methods_of(methods), _prices(policies[0].base), simulation, wanted).checked()
    with working(common.quiet) as progress:
        result = study(plan, Work(processes(simulation.jobs), progress=progress))
    title = f"{Path(source.name).stem}: {labels[0]} -> {labels[1]}"
    common.emit(contrast_text(result, title), StudyAnswer(result).to_dict())
    return result.sound


def _check(option: str, sets: tuple[str, ...], vary: tuple[str, ...]) -> None:
    """UsageError for a constant that is varied as well, or that is an expression of itself: of which value of it?"""
    given = parse_sets(sets)
    varied = {parse_axis(text).name for text in vary}
    name = of_itself(given) or next((name for name in given if name in varied), None)
    if name is not None:
        how = f"`serq study FILE --vary ... --price '{name}={given[name]}'` prices that at every point"
        fault = "is varied as well" if name in varied else "is an expression of itself"
        raise UsageError(f"{option} {name}={given[name]}: `{name}` {fault}; {how}")


def _prices(program: p.Program) -> tuple[str, ...]:
    """The headline of a price, and what a turn pays: numbers at shared stages, and the means that are observed."""
    shared = (s.name for s in program.stages if not isinstance(s.kind, p.Delay))
    return (*(f"stage.{name}.number" for name in shared), *(f"observe.{name}.mean" for name in program.observes))

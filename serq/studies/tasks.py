"""What is computed at one point by one method: a pure function of a task, in whatever process or machine it runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError, SerqError, UsageError
from serq.base.source import SourceFile
from serq.base.version import __version__
from serq.compare.laws import with_distributions
from serq.compare.quantiles import tested_quantiles
from serq.compare.rare import usual_values
from serq.engines import run_replications
from serq.ir.fingerprint import fingerprint
from serq.ir.program import Program
from serq.pipeline import (
    SimulateOptions,
    Solved,
    SolveOptions,
    closed_forms,
    limited,
    load_text,
    pooled_estimates,
    run_options,
)
from serq.semantics.estimate import Batches, shares
from serq.semantics.resolution import coarse_clock
from serq.semantics.series import batches_of
from serq.semantics.stability import stability_of
from serq.studies.encoding import Bounds, Outcome, Rows

Method = Literal["exact", "sim", "closed"]
METHODS: tuple[Method, ...] = ("exact", "sim", "closed")
STRETCHES = 8
"""Parts of the window of each replication whose shares in an error are kept, for differences between policies."""


@dataclass(frozen=True)
class Task:
    """One method at one point. `key` names what it computes: the same key, the same answer. `version` is the version of
    serQ that planned it. `conditions`: whether the chain is asked for its conditions too.
    """

    key: str
    method: Method
    source: SourceFile
    sets: tuple[tuple[str, str], ...]
    simulation: SimulateOptions
    solving: SolveOptions
    version: str
    conditions: bool = False


def key_of(
    program: Program, method: Method, simulation: SimulateOptions, solving: SolveOptions, conditions: bool = False
) -> str:
    """A name for what the method computes of this program with these settings."""
    parts: list[object] = [fingerprint(program), method, solving.limit]
    if method == "exact":
        parts += [solving.exact, solving.method, solving.states, solving.phase_type, solving.distributions]
        parts += ["conditions"] if conditions else []
    elif method == "sim":
        parts += [_settings(program, simulation), simulation.replications, simulation.confidence, _trace(program)]
    return blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def _settings(program: Program, simulation: SimulateOptions) -> object:
    """The settings of a run; those that make no sense are found when it is tried."""
    try:
        return run_options(program, simulation)
    except UsageError as error:
        return str(error)


def _trace(program: Program) -> str:
    """A hash of the trace that the program replays, as far as it can be read."""
    if program.trace is None:
        return ""
    path = Path(program.source.name).parent / program.trace.path
    try:
        return blake2b(path.read_bytes(), digest_size=12).hexdigest()
    except OSError:
        return ""


def work(task: Task) -> dict[str, object]:
    """The outcome of a task as JSON data. What goes wrong is an outcome too; an interrupt is not."""
    if task.version != __version__:
        return Outcome("broken", f"the worker has serQ {__version__}, the study was begun by {task.version}").to_data()
    try:
        program = load_text(task.source.text, task.source.name, dict(task.sets)).program
        return _METHODS[task.method](limited(program, task.solving.limit), task).to_data()
    except (OutsideFragmentError, NoSteadyStateError) as error:
        reasons = "; ".join(_at_line(d.span.line, d.message) for d in error.diagnostics)
        return Outcome("silent", reasons).to_data()
    except LimitError as error:
        return Outcome("limit", str(error)).to_data()
    except SerqError as error:
        return Outcome("failed", str(error)).to_data()
    except MemoryError:
        return Outcome("limit", "there is not enough memory for this").to_data()
    except Exception as error:
        return Outcome("broken", f"internal error, a bug in serQ: {type(error).__name__}: {error}").to_data()


def _at_line(line: int, message: str) -> str:
    return f"line {line}: {message}" if line else message


# -- the methods -----------------------------------------------------------------------------------------------------


def _exact(program: Program, task: Task) -> Outcome:
    from serq.pipeline import solve

    solved = solve(program, task.solving)
    chain = solved.chain
    how = f"{chain.size} states, {solved.solution.method}"
    notes = [*chain.truncated, *(a.text for a in chain.approximated)]
    try:
        solved = with_distributions(solved, program, task.solving)
    except LimitError as error:
        notes.append(f"no law of what is observed: {error}")
    done = Outcome("done", how=how, remark="; ".join(notes), estimates=solved.estimates)
    return _with_conditions(program, solved, done) if task.conditions else done


def _with_conditions(program: Program, solved: Solved, done: Outcome) -> Outcome:
    """The outcome with the verdict on the conditions of the chain; with a remark where there is none."""
    from serq.studies.conditions import condition_estimates, conditions, conditions_data

    try:
        found = conditions(program, solved)
    except LimitError as error:
        return replace(done, remark="; ".join(x for x in (done.remark, f"no verdict on conditions: {error}") if x))
    estimates = (*done.estimates, *condition_estimates(found))
    return replace(done, estimates=estimates, conditions=conditions_data(found))


def _closed(program: Program, task: Task) -> Outcome:
    from serq.closedforms.match_bounds import bounds_of

    matches = closed_forms(program)
    if not matches.matches:
        return Outcome("silent", matches.why_not)
    bounded = bounds_of(matches)
    return Outcome(
        "done",
        how="; ".join(dict.fromkeys(match.formula.title for match in matches.matches)),
        estimates=matches.estimates,
        bounds=tuple(Bounds(b.measure, b.kind, b.low, b.high) for b in bounded.bounds),
        saturation=bounded.saturation,
    )


def _simulated(program: Program, task: Task) -> Outcome:
    options = task.simulation
    settings = run_options(program, options)
    run = run_replications(program, settings, options.replications, 1, None, options.engine)
    stability = stability_of(run.results)
    span = f"{options.replications} x time {settings.warmup:g} to {settings.horizon:g}, seed {settings.seed}"
    remarks = coarse_clock(program, [r.counts for r in run.results], settings.horizon)
    if stability.kind != "stationary":
        remarks = (f"{stability.kind}: {stability.text}", *remarks)
    return Outcome(
        "done",
        how=f"{span}, {sum(r.events for r in run.results)} events, {run.engine} engine",
        remark="; ".join(remarks),
        estimates=(
            *pooled_estimates(program, run.results, options.confidence),
            *tested_quantiles(program, run.results, run.observations, options.confidence),
        ),
        usual=usual_values(program, run.results, settings.horizon),
        shares={name: _stretches(batches) for name, batches in batches_of([r.series for r in run.results]).items()},
    )


_METHODS: Mapping[str, Callable[[Program, Task], Outcome]] = {"exact": _exact, "closed": _closed, "sim": _simulated}


def _stretches(batches: Batches) -> Rows:
    """The shares of the batches, neighbours put together."""
    out = []
    for row in shares(batches):
        size = max(1, len(row) // STRETCHES)
        out.append(tuple(sum(row[k : k + size]) for k in range(0, len(row), size)))
    return tuple(out)

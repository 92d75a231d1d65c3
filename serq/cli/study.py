"""`serq study`: tables and pictures over a grid of constants and policies."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from serq.api.files import find_file
from serq.api.studied import StudyAnswer
from serq.base.errors import UsageError
from serq.base.output import check_target, write_text
from serq.cli.common import Common, common_options, parse_sets
from serq.cli.options import CHANCE, chain_options, simulation_options
from serq.cli.progress import working
from serq.cli.streams import to_stderr, to_stdout
from serq.cli.study_text import study_text
from serq.compare.agree import FALSE_ALARM
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.change import parse_change
from serq.studies.cluster import cluster, need_dask
from serq.studies.grid import parse_axis, split
from serq.studies.plan import AS_WRITTEN, Plan, Policy
from serq.studies.plots import check_plot, need_plots
from serq.studies.results import StudyResult
from serq.studies.runners import processes
from serq.studies.store import Directory
from serq.studies.study import Work, study
from serq.studies.tables import FORMATS, csv_text, format_of, need_parquet, write_parquet
from serq.studies.tasks import METHODS, Method
from serq.syntax.reader import read_source

_VARY = "Values of a constant: 1:20, 1:20:3, or 0.5,1,2 (repeatable: the product)."
_POLICY = "Compare FILE with another program, or with itself under NAME=EXPR,... (repeatable)."
_MEASURE = "Only these measures; * fits anything (repeatable)."
_METHODS = "Which of exact, sim, closed; by default all three."
_REFINE = "Add up to K points to each line, where the first measure bends most."
_PRICE = "What changing a constant to EXPR costs at every point, such as N=N+1, a session more."
_CONDITIONS = "Whether the chain switches rarely between two conditions, at every point."
_RESUME = "Keep every finished point in DIR, and use what is there (default: beside --out)."
_DASK = "Let the workers of this dask scheduler do the work."
_LAWS = "Exact second moments and quantiles of observed times (default: where that costs little)."
_PLOT = "Draw the measures over the first constant that is varied: an SVG, PNG or PDF file."
_HTML = "Write a report with pictures and tables in one file that needs no network."
_FORMAT = "Form of the report (default: by the name of --out, else text)."
_FALSE_ALARM_HELP = "Probability that methods which agree are said to disagree anywhere."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line asks for, option by option."""

    common: Common
    vary: tuple[str, ...]
    policies: tuple[str, ...]
    measures: tuple[str, ...]
    methods: str | None
    refine: int
    price: str | None
    conditions: bool
    plot: str | None
    html: str | None
    form: str | None
    resume: str | None
    dask: str | None
    simulation: SimulateOptions
    solving: SolveOptions
    laws: bool | None
    false_alarm: float

    def plan(self) -> Plan:
        """The study, its programs read."""
        solving = replace(self.solving, states=self.solving.states or Plan.solving.states)
        solving = replace(solving, distributions=self.laws)
        return Plan(
            policies=self._policies(),
            axes=tuple(parse_axis(text) for text in self.vary),
            methods=methods_of(self.methods),
            measures=self.measures,
            simulation=self.simulation,
            solving=solving,
            false_alarm=self.false_alarm,
            refine=self.refine,
            price=None if self.price is None else parse_change(self.price),
            conditions=self.conditions,
        ).checked()

    def _policies(self) -> tuple[Policy, ...]:
        base = tuple(parse_sets(self.common.sets).items())
        source = read_source(find_file(self.common.file))
        self.common.load()  # warns, and refuses what does not load before anything else
        found = [Policy(AS_WRITTEN if self.policies else Path(source.name).stem, source, base)]
        for text in self.policies:
            if "=" in text:
                sets = tuple(parse_sets(tuple(split(text, ","))).items())
                found.append(Policy(text, source, (*base, *sets)))
            else:
                other = read_source(find_file(text))
                found.append(Policy(Path(other.name).stem, other, base))
        labels = [policy.label for policy in found]
        if len(set(labels)) < len(labels):
            raise UsageError(f"two policies have the same name: {', '.join(labels)}")
        return tuple(found)

    def check_targets(self) -> str:
        """The form of the report, after a look at whether all files can be written."""
        form = format_of(self.common.out, self.common.as_json, self.form)
        if form == "parquet":
            need_parquet()
        if self.plot is not None:
            check_plot(Path(self.plot))
        if self.html is not None:
            need_plots()
        if self.dask is not None:
            need_dask()
        if (self.plot or self.html) and not self.vary:
            raise UsageError("a picture needs a constant to draw over: --vary N=1:20")
        for path in (self.common.out, self.html):
            if path is not None:
                check_target(Path(path))
        return form

    @property
    def folder(self) -> Path | None:
        """Where finished points are kept: what --resume says, else beside --out."""
        if self.resume is not None:
            return Path(self.resume)
        if self.common.out is None or not _is_plain(Path(self.common.out)):
            return None
        out = Path(self.common.out)
        return out.with_name(f"{out.stem}.study")


@click.command("study")
@common_options
@click.option("--vary", "vary", multiple=True, metavar="NAME=VALUES", help=_VARY)
@click.option("--policy", "policies", multiple=True, metavar="FILE|NAME=EXPR", help=_POLICY)
@click.option("--measure", "measures", multiple=True, metavar="M", help=_MEASURE)
@click.option("--methods", metavar="LIST", help=_METHODS)
@click.option("--refine", type=click.IntRange(min=0), metavar="K", default=0, help=_REFINE)
@click.option("--price", metavar="NAME=EXPR", help=_PRICE)
@click.option("--metastability", "conditions", is_flag=True, help=_CONDITIONS)
@click.option("--plot", metavar="F.svg", help=_PLOT)
@click.option("--html", metavar="F.html", help=_HTML)
@click.option("--format", "form", type=click.Choice(FORMATS), help=_FORMAT)
@click.option("--resume", metavar="DIR", help=_RESUME)
@click.option("--dask", metavar="ADDRESS", help=_DASK)
@simulation_options(replications=4, jobs_help="Tasks at a time (default: as many as there are processors).")
@click.option("--false-alarm", type=CHANCE, metavar="P", default=FALSE_ALARM, show_default=True, help=_FALSE_ALARM_HELP)
@chain_options(phase_type=False)
@click.option("--distributions/--no-distributions", "laws", default=None, help=_LAWS)
@click.pass_context
def command(ctx: click.Context, /, common: Common, **given: Any) -> None:
    """Study a program over a grid of constants.

    FILE at every point of the grid by up to three methods: the exact solution of its Markov chain, simulation, and the
    closed form that fits. All answers are compared, as one family of tests.

    A method that does not apply at a point says so. A point that fails is named, the others go on, and the exit status
    is 1; so it is when two methods disagree. With --out or --resume a study that was ended, in whatever way, goes on
    where it was.
    """
    asked = Asked(common=common, **given)
    form = asked.check_targets()
    result = _carry_out(asked)
    _write(asked, form, result)
    if not result.sound:
        ctx.exit(1)


def _carry_out(asked: Asked) -> StudyResult:
    plan = asked.plan()
    with ExitStack() as stack:
        store = None if asked.folder is None else stack.enter_context(Directory(asked.folder, plan.identity()))
        runner = processes(asked.simulation.jobs) if asked.dask is None else cluster(asked.dask)
        progress = stack.enter_context(working(asked.common.quiet))
        result = study(plan, Work(runner, store, progress))
    if result.reused and not asked.common.quiet:
        to_stderr(f"{result.reused} of {result.reused + result.computed} tasks had been done before")
    return result


def _write(asked: Asked, form: str, result: StudyResult) -> None:
    answer = StudyAnswer(result)
    if asked.plot is not None:
        answer.plot(asked.plot)
    if asked.html is not None:
        write_text(Path(asked.html), answer.to_html())
    _report(asked, form, result)


def _report(asked: Asked, form: str, result: StudyResult) -> None:
    if form == "parquet":
        write_parquet(result, Path(asked.common.out or ""))
        return
    if form == "json":
        text = json.dumps(StudyAnswer(result).to_dict(), indent=2, allow_nan=False) + "\n"
    else:
        text = csv_text(result) if form == "csv" else study_text(result)
    if asked.common.out is None:
        to_stdout(text)
    else:
        write_text(Path(asked.common.out), text)


def methods_of(text: str | None) -> tuple[Method, ...]:
    """What `--methods` says; all of them where it says nothing."""
    if text is None:
        return METHODS
    wanted = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in wanted if part not in METHODS]
    if unknown or not wanted:
        raise UsageError(f"--methods takes some of {', '.join(METHODS)}, not {text!r}")
    return tuple(method for method in METHODS if method in wanted)


def _is_plain(path: Path) -> bool:
    """Whether a report there is a file of its own: no pipe and no terminal."""
    return not path.exists() or path.is_file()

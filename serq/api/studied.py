"""A study as an answer: `serq.study(serq.load("mm1n"), {"N": range(1, 21)})`."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict, Unpack

from serq.api.keywords import methods_from, refuse_unknown, split
from serq.api.model import Model
from serq.api.tabular import Tabular, html_table
from serq.base.errors import UsageError
from serq.ir.expr import double
from serq.ir.numbers import short
from serq.ir.provenance import provenance
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.change import parse_change
from serq.studies.grid import axis, number_text
from serq.studies.plan import AS_WRITTEN, Plan, Policy
from serq.studies.results import PointResult, StudyResult
from serq.studies.runners import processes
from serq.studies.shown import shown
from serq.studies.store import Directory
from serq.studies.study import Work
from serq.studies.study import study as carry_out
from serq.studies.tables import columns, records, study_data
from serq.studies.tasks import METHODS, Method


@dataclass(frozen=True, repr=False)
class StudyAnswer(Tabular):
    """A study that is done: `agrees`, `sound`, and a row for each point and measure."""

    result: StudyResult

    @property
    def agrees(self) -> bool:
        """Whether no two methods disagree at any point."""
        return self.result.agrees

    @property
    def sound(self) -> bool:
        """Whether everything agrees and no point has failed."""
        return self.result.sound

    @property
    def points(self) -> tuple[PointResult, ...]:
        """The points with what every method said there."""
        return self.result.points

    def curve(self, measure: str) -> list[tuple[float, float]]:
        """The best answers about a measure over the first constant that is varied, for a study of one line."""
        from serq.studies.results import curve

        return curve(self.points, self.result.axis, measure)

    def to_dict(self) -> dict[str, object]:
        """What `serq study --json` prints."""
        return self._provenance() | study_data(self.result)

    def _provenance(self) -> dict[str, object]:
        plan = self.result.plan
        head = provenance(plan.policies[0].base, "study", "numpy", "scipy", "sympy", "python-flint")
        return head | {"seed": plan.simulation.seed}

    def to_html(self) -> str:
        """The report of `serq study --html`: one file with pictures and tables (needs the extra `plot`)."""
        from serq.studies.page import page

        simulation = self.result.plan.simulation
        settings = {name: getattr(simulation, name) for name in ("horizon", "warmup", "replications", "confidence")}
        return page(self.result, self._provenance() | settings)

    def plot(self, path: str | Path) -> None:
        """Draw the usual measures, or those that were asked for, into an SVG, PNG or PDF file (needs `plot`)."""
        from serq.studies.plots import write_plot

        write_plot(self.result, shown(self.result.plan), Path(path))

    def rows(self) -> list[dict[str, object]]:
        """A row per point and measure, as in the CSV file."""
        return [{name: row.get(name) for name in columns(self.result)} for row in records(self.result)]

    def _repr_html_(self) -> str:
        measures = shown(self.result.plan)
        names = [a.name for a in self.result.plan.axes]
        rows = [
            (point.policy, *(_text(v) for v in point.values.values()), *(_best(point, m.name) for m in measures))
            for point in self.points
        ]
        verdict = "all methods agree" if self.agrees else "methods disagree"
        title = f"{self.result.plan.policies[0].base.name}: {verdict}"
        return html_table(title, ("policy", *names, *(m.name for m in measures)), rows)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else short(value, 8)


def _best(point: PointResult, measure: str) -> str:
    answer = point.best(measure)
    return "" if answer is None or answer.value is None else f"{double(answer.value):.6g}"


class StudyKeywords(TypedDict, total=False):
    """Beside the options of simulating and solving: which methods and measures, how many processes, where to keep
    finished points, how many points to add to each line where it bends, the change whose price is wanted (`N=N+1`),
    whether the chains are asked for their conditions, the false-alarm rate of the whole.
    """

    methods: Collection[Method]
    measures: Collection[str]
    jobs: int
    resume: str | Path | None
    refine: int
    price: str | None
    metastability: bool
    false_alarm: float


def study(
    model: Model,
    vary: Mapping[str, Iterable[object]],
    policies: Mapping[str, Model] | None = None,
    **options: Unpack[StudyKeywords],
) -> StudyAnswer:
    """Study a model over the product of the values in `vary`, beside further models by name as its policies.

    Every keyword of `simulate` and `solve` is taken too. What fails at a point is in the answer; SerqError is raised
    for a study that cannot be carried out.
    """
    _check(model, vary, policies)
    to_simulate, to_solve, rest = split(options)
    to_simulate.pop("jobs", None)
    refuse_unknown(rest, list(StudyKeywords.__annotations__))
    simulation = SimulateOptions(**({"replications": Plan.simulation.replications} | to_simulate))
    solving = SolveOptions(**({"states": Plan.solving.states} | to_solve))
    models = {AS_WRITTEN if policies else model.name: model, **(policies or {})}
    plan = Plan(
        policies=tuple(_policy(label, each) for label, each in models.items()),
        axes=tuple(axis(name, values) for name, values in vary.items()),
        methods=methods_from(rest.get("methods", METHODS)),
        measures=tuple(rest.get("measures", ())),
        simulation=simulation,
        solving=solving,
        false_alarm=rest.get("false_alarm", Plan.false_alarm),
        refine=rest.get("refine", 0),
        price=None if rest.get("price") is None else parse_change(str(rest["price"])),
        conditions=bool(rest.get("metastability", False)),
    ).checked()
    with ExitStack() as stack:
        folder = rest.get("resume")
        store = None if folder is None else stack.enter_context(Directory(Path(folder), plan.identity()))
        return StudyAnswer(carry_out(plan, Work(processes(options.get("jobs", 1)), store)))


def _check(model: object, vary: object, policies: object) -> None:
    """UsageError for what is no model, no grid, or no policies."""
    models = [model, *(policies.values() if isinstance(policies, Mapping) else ())]
    for each in models:
        if not isinstance(each, Model):
            raise UsageError(f"a study is about models, as `serq.load` gives them, not {each!r}")
    if policies is not None and not isinstance(policies, Mapping):
        raise UsageError(f"policies are models by name, not {policies!r}")
    if not isinstance(vary, Mapping) or not all(_is_grid(values) for values in vary.values()):
        raise UsageError(f"a grid is a mapping of names to lists of numbers and texts, not {vary!r}")


def _is_grid(values: object) -> bool:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return False
    return not isinstance(values, Collection) or all(isinstance(x, str | Real) for x in values)


def _policy(label: str, model: Model) -> Policy:
    sets = {k: number_text(v) if isinstance(v, Fraction) else str(v) for k, v in model.constants.items()}
    return Policy(label, model.source, tuple(sets.items()))

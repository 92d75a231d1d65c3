"""What a study is made of: programs, a grid, methods; and the tasks that follow from them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property

from serq.base.errors import LoadError, SerqError, UsageError
from serq.base.source import SourceFile
from serq.base.version import __version__
from serq.compare.agree import FALSE_ALARM
from serq.ir.expr import Number
from serq.ir.fingerprint import fingerprint
from serq.ir.measures import Measure, condition_measures, distribution_measures_of, measures_of
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, SolveOptions, load_text
from serq.studies.change import Change, price_measures
from serq.studies.errors import NoSuchMeasure, NothingToVary
from serq.studies.grid import Axis, GridError, Values, number_text, points
from serq.studies.tasks import METHODS, Method, Task, key_of

AS_WRITTEN = "as written"
"""The label of the program that is studied, beside its policies."""


class MeasureError(GridError):
    """A measure that nothing has."""


@dataclass(frozen=True)
class Policy:
    """A program, and the constants that make it one policy among others."""

    label: str
    source: SourceFile
    sets: tuple[tuple[str, str], ...] = ()

    def program(self, values: Values = ()) -> Program:
        """The linked program with these constants; LoadError or UsageError where it does not load."""
        return load_text(self.source.text, self.source.name, dict((*self.sets, *values))).program

    @cached_property
    def base(self) -> Program:
        """The program as it stands, nothing varied."""
        return self.program()


@dataclass(frozen=True)
class Plan:
    """A study. The first policy is the one that others are compared with. `measures` are names in which `*` stands for
    anything; none: all are computed and the usual ones shown. `refine`: points added to each line of the first axis.
    `price`: the change whose price is a measure of its own at every point. `conditions`: whether every chain says if it
    switches rarely between two conditions.
    """

    policies: tuple[Policy, ...]
    axes: tuple[Axis, ...]
    methods: tuple[Method, ...] = METHODS
    measures: tuple[str, ...] = ()
    simulation: SimulateOptions = SimulateOptions(replications=4)
    solving: SolveOptions = SolveOptions(states=20_000)
    false_alarm: float = FALSE_ALARM
    refine: int = 0
    price: Change | None = None
    conditions: bool = False

    def checked(self) -> "Plan":
        """The plan, after a look at whether it can be carried out: SerqError says why not."""
        points(self.axes)
        for policy in self.policies:
            known = [c.name for c in policy.base.constants]
            for axis in self.axes:
                if axis.name not in known:
                    raise GridError.of(NothingToVary.of(axis.name, policy.base.name, known))
            if self.price is not None and self.price.name not in known:
                raise UsageError(f"--price {self.price}: `{policy.base.name}` has no `let {self.price.name}`")
        names = list(dict.fromkeys(m.name for policy in self.policies for m in self.known(policy)))
        for pattern in self.measures:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise MeasureError.of(NoSuchMeasure.of(pattern, names))
        if not self.methods:
            raise UsageError("a study needs a method: --methods exact,sim,closed")
        if self.conditions and "exact" not in self.methods:
            raise UsageError("--metastability asks the chain: it needs the method exact")
        return self

    def known(self, policy: Policy) -> tuple[Measure, ...]:
        """What may be asked of a policy in this study: its measures, the prices of the change, the conditions."""
        prices = () if self.price is None else price_measures(policy.base, self.price)
        conditions = condition_measures() if self.conditions else ()
        return (*study_measures(policy.base), *prices, *conditions)

    def identity(self) -> dict[str, object]:
        """What tells this study from another one; the grid, the methods and the measures may grow."""
        simulation, solving = self.simulation, self.solving
        return {
            "serq_version": __version__,
            "programs": {p.label: [p.base.name, fingerprint(p.base)] for p in self.policies},
            "seed": simulation.seed,
            "horizon": simulation.horizon,
            "warmup": simulation.warmup,
            "replications": simulation.replications,
            "confidence": simulation.confidence,
            "exact": solving.exact,
            "solver": solving.method,
            "max_states": solving.states,
            "limit": solving.limit,
            "distributions": solving.distributions,
        }


def study_measures(program: Program) -> tuple[Measure, ...]:
    """The measures of a program, with those of the laws of what it observes."""
    return (*measures_of(program), *distribution_measures_of(program))


def selected(measures: Iterable[Measure], patterns: Sequence[str]) -> tuple[Measure, ...]:
    """The measures that a pattern fits, in the order of the patterns; all where there is none."""
    known = tuple(measures)
    if not patterns:
        return known
    found = [m for pattern in patterns for m in known if fnmatchcase(m.name, pattern)]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Planned:
    """One point of the grid under one policy: its program, or why there is none."""

    policy: int
    values: Values
    program: Program | None
    fault: str = ""
    tasks: Mapping[Method, Task] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, Number]:
        """The values of the varied constants, where the program loads."""
        if self.program is None:
            return {}
        known = {c.name: c.folded.exact for c in self.program.constants}
        return {name: known[name] for name, _ in self.values}


def planned(plan: Plan, grid: Iterable[Values]) -> list[Planned]:
    """The points of the grid under every policy, with their tasks."""
    return [_point(plan, place, values) for values in grid for place in range(len(plan.policies))]


def _point(plan: Plan, place: int, values: Values) -> Planned:
    policy = plan.policies[place]
    try:
        program = policy.program(values)
        tasks = {method: _task(plan, policy, values, program, method) for method in plan.methods}
    except LoadError as error:
        return Planned(place, values, None, "; ".join(_fault(d.span.line, d.message) for d in error.diagnostics))
    except SerqError as error:
        return Planned(place, values, None, str(error))
    return Planned(place, values, program, "", tasks)


def changed(plan: Plan, change: Change, point: Planned) -> Planned:
    """The point after a change of one constant, which stands there as a number: so a point of the grid may be the same
    program, and is not computed twice.
    """
    if point.program is None:
        return point
    name, text = change.at(point.program)
    try:
        value = plan.policies[point.policy].program((*point.values, (name, text))).constant(name).folded.exact
    except SerqError as error:
        return Planned(point.policy, point.values, None, str(error))
    text = number_text(value) if isinstance(value, Fraction) else text
    return _point(plan, point.policy, (*point.values, (name, text)))


def _fault(line: int, message: str) -> str:
    return f"line {line}: {message}" if line else message


def _task(plan: Plan, policy: Policy, values: Values, program: Program, method: Method) -> Task:
    simulation = replace(plan.simulation, jobs=1)
    conditions = plan.conditions and method == "exact"
    key = key_of(program, method, simulation, plan.solving, conditions)
    return Task(key, method, policy.source, (*policy.sets, *values), simulation, plan.solving, __version__, conditions)

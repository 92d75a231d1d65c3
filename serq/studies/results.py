"""The result of a study as data: points with what each method said, verdicts, differences between policies, knees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.compare.agree import Agreement, Row
from serq.ir import program as p
from serq.ir.expr import Number, double
from serq.ir.measures import Measure
from serq.ir.results import Estimate
from serq.studies.encoding import Outcome
from serq.studies.grid import Values
from serq.studies.knees import knee, meeting_point
from serq.studies.plan import Plan, Planned
from serq.studies.tasks import Method

ORDER: tuple[Method, ...] = ("exact", "closed", "sim")
"""Which answer stands for a point in a curve: the best there is."""


@dataclass(frozen=True)
class PointResult:
    """One point under one policy: what every method said, and how the answers compare."""

    planned: Planned
    policy: str
    outcomes: Mapping[Method, Outcome]
    agreement: Agreement | None = None

    def judged(self, agreement: Agreement) -> "PointResult":
        """The point with its verdicts."""
        return replace(self, agreement=agreement)

    @property
    def values(self) -> dict[str, Number | str]:
        """The varied constants: numbers, or the texts that were given where the program does not load."""
        numbers = self.planned.numbers
        return {name: numbers[name] if name in numbers else _read(text) for name, text in self.planned.values}

    def outcome(self, method: Method) -> Outcome | None:
        """What a method said; None when it was not asked or could not be."""
        return self.outcomes.get(method)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row for each measure that was asked for."""
        return () if self.agreement is None else self.agreement.rows

    def row(self, measure: str) -> Row | None:
        """The row of a measure."""
        return next((row for row in self.rows if row.measure.name == measure), None)

    def best(self, measure: str) -> Estimate | None:
        """The answer to draw a curve by: exact, else closed form, else simulated."""
        for method in ORDER:
            outcome = self.outcomes.get(method)
            answer = None if outcome is None else outcome.answer(measure)
            if answer is not None and answer.value is not None:
                return answer
        return None

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the point has failed, where it has: it does not load, a method failed, or none has an answer."""
        if self.planned.fault:
            return (self.planned.fault,)
        failed = [f"{m}: {o.reason}" for m, o in self.outcomes.items() if o.status in ("failed", "broken")]
        if failed or any(o.status == "done" for o in self.outcomes.values()):
            return tuple(failed)
        return tuple(f"{m}: {o.reason}" for m, o in self.outcomes.items())

    @property
    def silent(self) -> dict[Method, str]:
        """The methods that do not apply here or would take too much, with the reason."""
        return {m: o.reason for m, o in self.outcomes.items() if o.status in ("silent", "limit")}


@dataclass(frozen=True)
class Contrast:
    """One policy against the first one at one point: its rows are differences, after minus before."""

    texts: Values
    before: str
    after: str
    agreement: Agreement | None = None

    def judged(self, agreement: Agreement) -> "Contrast":
        """The contrast with its verdicts."""
        return replace(self, agreement=agreement)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row for each measure."""
        return () if self.agreement is None else self.agreement.rows

    def row(self, measure: str) -> Row | None:
        """The row of a measure."""
        return next((row for row in self.rows if row.measure.name == measure), None)


@dataclass(frozen=True)
class Bend:
    """A knee of one curve, or the point at which a closed system saturates."""

    policy: str
    line: Values
    measure: str
    kind: str
    x: float


@dataclass(frozen=True)
class StudyResult:
    """A study that is done. `computed` tasks were worked on now, `reused` were there before. `remark`: on all of it."""

    plan: Plan
    measures: tuple[Measure, ...]
    points: tuple[PointResult, ...]
    contrasts: tuple[Contrast, ...]
    tests: int
    computed: int = 0
    reused: int = 0
    remark: str = ""

    @property
    def axis(self) -> str:
        """The constant that plots run over."""
        return self.plan.axes[0].name if self.plan.axes else ""

    @property
    def failed(self) -> tuple[PointResult, ...]:
        """The points that have failed."""
        return tuple(point for point in self.points if point.faults)

    @property
    def judgements(self) -> tuple[Agreement, ...]:
        """Of all points and contrasts."""
        found = [*(p.agreement for p in self.points), *(c.agreement for c in self.contrasts)]
        return tuple(agreement for agreement in found if agreement is not None)

    @property
    def agrees(self) -> bool:
        """Whether no two methods disagree anywhere."""
        return all(a.agrees for a in self.judgements)

    @property
    def compared(self) -> int:
        """Rows in which methods could be compared."""
        return sum(a.compared for a in self.judgements)

    @property
    def sound(self) -> bool:
        """Whether nothing failed and nothing disagrees."""
        return self.agrees and not self.failed

    def lines(self) -> dict[tuple[str, Values], list[PointResult]]:
        """The points by policy and by the constants other than the first, in the order of the first."""
        out: dict[tuple[str, Values], list[PointResult]] = {}
        for point in self.points:
            out.setdefault((point.policy, point.planned.values[1:]), []).append(point)
        return out

    def bends(self, measures: Iterable[Measure]) -> tuple[Bend, ...]:
        """Where the curves of these measures bend, and where closed systems saturate."""
        out = []
        for (policy, line), found in self.lines().items():
            for measure in measures:
                bend = knee(curve(found, self.axis, measure.name))
                if bend is not None:
                    out.append(Bend(policy, line, measure.name, "knee", bend.x))
            saturation = self._saturation(found)
            if saturation is not None:
                out.append(Bend(policy, line, "", *saturation))
        return tuple(out)

    def _saturation(self, line: Sequence[PointResult]) -> tuple[str, float] | None:
        """The population at which a line saturates, by formula or by its throughput, if the first axis is it."""
        programs = [point.planned.program for point in line if point.planned.program is not None]
        if not programs or not all(_population(program) == _x(program, self.axis) for program in programs):
            return None
        closed = (point.outcome("closed") for point in line)
        known = [outcome.saturation for outcome in closed if outcome is not None and outcome.saturation is not None]
        if known:
            return "saturation", double(known[0])
        shared = [s.name for s in programs[0].stages if not isinstance(s.kind, p.Delay)]
        name = f"stage.{shared[0]}.throughput" if shared else ""
        at = meeting_point(curve(line, self.axis, name))
        return None if at is None else ("saturation (of the curve)", at)


def curve(points: Iterable[PointResult], axis: str, measure: str) -> list[tuple[float, float]]:
    """The best answers about a measure over an axis, ascending; points without an answer are left out."""
    out = []
    for point in points:
        x, answer = point.planned.numbers.get(axis), point.best(measure)
        if x is not None and answer is not None and answer.value is not None:
            out.append((double(x), double(answer.value)))
    return sorted(dict(out).items())


def _read(text: str) -> Number | str:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return text


def _population(program: p.Program) -> Number | None:
    return program.arrivals.population.exact if isinstance(program.arrivals, p.Closed) else None


def _x(program: p.Program, name: str) -> Number | None:
    return next((c.folded.exact for c in program.constants if c.name == name), None)

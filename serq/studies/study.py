"""A study from its plan to its result: plan the points, do what is not done yet, compare, look for knees."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.base.errors import LimitError
from serq.compare.agree import Untested, judge, side_by_side
from serq.ir.measures import Measure
from serq.ir.results import Estimate
from serq.studies.change import priced
from serq.studies.differences import difference, usual_difference
from serq.studies.encoding import Outcome
from serq.studies.grid import Values, number_text, points
from serq.studies.knees import bent_intervals
from serq.studies.plan import Plan, Planned, changed, planned, selected
from serq.studies.results import Contrast, PointResult, StudyResult, curve
from serq.studies.runners import Runner, in_turn
from serq.studies.shown import shown, with_unit
from serq.studies.store import Memory, Store
from serq.studies.tasks import Method, Task

Progress = Callable[[int, int], object]
"""Told how many tasks are done, and of how many."""


@dataclass(frozen=True)
class Work:
    """How a study is carried out: who works, where results are kept, who is told."""

    runner: Runner = in_turn
    store: Store | None = None
    progress: Progress | None = None


def study(plan: Plan, work: Work = Work()) -> StudyResult:
    """Carry out a study. The result depends on the plan alone, not on who worked or on what had been done before.

    Raises SerqError for a plan that cannot be carried out, and for a store that fails; what was finished is kept.
    """
    plan = plan.checked()
    done = _Done(plan, work)
    grid = list(points(plan.axes))
    results = _distinct(done.points(grid))
    left = plan.refine
    while left > 0:
        more = _more(plan, results, left)
        if not more:
            break
        left -= max(sum(1 for m in more if m[1:] == line) for line in {m[1:] for m in more})
        results = _in_order(plan, _distinct([*results, *done.points(more)]))
    remark = _why_not(plan, results) if left == plan.refine > 0 else ""
    return replace(_judged(plan, results, done), remark=remark)


def _distinct(results: Sequence[PointResult]) -> list[PointResult]:
    """The results without those at values that are the numbers of others, such as `2/2` after `1`, for every policy."""
    by_values: dict[Values, list[PointResult]] = {}
    for result in results:
        by_values.setdefault(result.planned.values, []).append(result)
    kept: dict[object, list[PointResult]] = {}
    for values, found in by_values.items():
        loads = all(result.planned.program is not None for result in found)
        numbers = tuple(tuple(result.planned.numbers.items()) for result in found)
        kept.setdefault(numbers if loads else values, found)
    return [result for found in kept.values() for result in found]


class _Done:
    """The tasks that are done, from the store or anew."""

    def __init__(self, plan: Plan, work: Work) -> None:
        self.plan = plan
        self.work = work
        self.store = work.store or Memory()
        self.computed = 0
        self.reused = 0

    def points(self, grid: Sequence[Values]) -> list[PointResult]:
        """The points of the grid, computed where they are not in the store."""
        found = planned(self.plan, grid)
        change = self.plan.price
        after = [None if change is None else changed(self.plan, change, point) for point in found]
        tasks = {task.key: task for point in (*found, *after) if point is not None for task in point.tasks.values()}
        outcomes = {key: Outcome.of_data(data) for key in tasks if (data := self.store.get(key)) is not None}
        missing = [task for key, task in tasks.items() if key not in outcomes]
        self.reused += len(outcomes)
        self._do(missing, outcomes)
        return [self._result(*pair, outcomes) for pair in zip(found, after, strict=True)]

    def _do(self, missing: list[Task], outcomes: dict[str, Outcome]) -> None:
        total = len(outcomes) + len(missing)
        for task, data in self.work.runner(missing):
            if data["status"] != "broken":
                try:
                    self.store.put(task.key, data)
                except LimitError as error:
                    raise LimitError(f"{error}; what was finished before is kept ({self.computed} tasks)") from error
            outcomes[task.key] = Outcome.of_data(data)
            self.computed += 1
            if self.work.progress is not None:
                self.work.progress(len(outcomes), total)

    def _result(self, point: Planned, after: Planned | None, outcomes: dict[str, Outcome]) -> PointResult:
        by_method: dict[Method, Outcome] = {method: outcomes[task.key] for method, task in point.tasks.items()}
        if after is not None and point.program is not None:
            for method, before in by_method.items():
                then = outcomes[after.tasks[method].key] if after.program is not None else after.fault
                by_method[method] = priced(point.program, before, then, self.plan.simulation.confidence)
        return PointResult(point, self.plan.policies[point.policy].label, by_method)


# -- judging ---------------------------------------------------------------------------------------------------------


def _judged(plan: Plan, results: list[PointResult], done: _Done) -> StudyResult:
    """All points and all differences, tested as one family."""
    asked = _asked(plan)
    tables = [_table(asked, result) for result in results]
    contrasts = _contrasts(plan, asked, results)
    agreements = judge([*tables, *(table for _, table in contrasts)], plan.false_alarm)
    judged = tuple(result.judged(a) for result, a in zip(results, agreements[: len(results)], strict=True))
    compared = tuple(c.judged(a) for (c, _), a in zip(contrasts, agreements[len(results) :], strict=True))
    tests = agreements[0].tests if agreements else 0
    return StudyResult(plan, asked, judged, compared, tests, done.computed, done.reused)


def _asked(plan: Plan) -> tuple[Measure, ...]:
    every = {m.name: with_unit(policy.base, m) for policy in plan.policies for m in plan.known(policy)}
    return selected(every.values(), plan.measures)


def _table(asked: Iterable[Measure], result: PointResult) -> Untested:
    simulated, exact, closed = (_estimates(result.outcome(method)) for method in ("sim", "exact", "closed"))
    sim = result.outcome("sim")
    return side_by_side(asked, simulated, exact, closed, {} if sim is None else sim.usual)


def _estimates(outcome: Outcome | None) -> tuple[Estimate, ...]:
    return () if outcome is None else outcome.estimates


def _contrasts(plan: Plan, asked: Sequence[Measure], results: Sequence[PointResult]) -> list[tuple[Contrast, Untested]]:
    """Every policy against the first one, at every point."""
    by_place = {(r.planned.values, r.planned.policy): r for r in results}
    out = []
    for (values, place), after in by_place.items():
        if place > 0:
            before = by_place[values, 0]
            rows = {method: _differences(plan, asked, method, before, after) for method in ("sim", "exact", "closed")}
            pair = before.outcome("sim"), after.outcome("sim")
            rare = {m.name: u for m in asked if (u := usual_difference(m.name, *pair)) is not None}
            table = side_by_side(asked, rows["sim"], rows["exact"], rows["closed"], rare)
            out.append((Contrast(values, before.policy, after.policy), table))
    return out


def _differences(
    plan: Plan, asked: Sequence[Measure], method: Method, before: PointResult, after: PointResult
) -> list[Estimate]:
    pair = before.outcome(method), after.outcome(method)
    found = (difference(m.name, *pair, plan.simulation.confidence) for m in asked)
    return [e for e in found if e is not None]


# -- refining --------------------------------------------------------------------------------------------------------


def _why_not(plan: Plan, results: Sequence[PointResult]) -> str:
    """Why no point was added, in words."""
    name, measure = plan.axes[0].name, shown(plan)[0].name
    if plan.axes[0].whole and any(map(len, _bent(plan, results, whole=False).values())):
        between = "there is none left between them; written as 1.0 they may be any numbers"
        return f"--refine added no point: the values of {name} are whole numbers as they are written, and {between}"
    return f"--refine added no point: {measure} is all but straight between neighbours, or has no value"


def _bent(plan: Plan, results: Sequence[PointResult], whole: bool) -> dict[Values, dict[Fraction, float]]:
    """By line of the first axis, the places for further points, and how much the first measure shown bends there."""
    measure, name = shown(plan)[0], plan.axes[0].name
    out: dict[Values, dict[Fraction, float]] = {}
    for line in dict.fromkeys(result.planned.values[1:] for result in results):
        best = out.setdefault(line, {})
        for place in range(len(plan.policies)):
            points_of_line = [r for r in results if r.planned.values[1:] == line and r.planned.policy == place]
            for bent, middle in bent_intervals(curve(points_of_line, name, measure.name), whole):
                best[middle] = max(bent, best.get(middle, 0.0))
    return out


def _more(plan: Plan, results: Sequence[PointResult], left: int) -> list[Values]:
    """Further points where the first measure shown bends most, at most `left` on each line of the first axis."""
    first = plan.axes[0]
    out: list[Values] = []
    for line, best in _bent(plan, results, first.whole).items():
        ranked = sorted(best, key=lambda x: (-best[x], x))
        chosen = [x for x in ranked if best[x] > best[ranked[0]] / 2][:left]
        out += [((first.name, number_text(x)), *line) for x in chosen]
    return out


def _in_order(plan: Plan, results: Iterable[PointResult]) -> list[PointResult]:
    """By the value of the first axis, then as the grid has it."""
    name = plan.axes[0].name
    places = [{value: i for i, value in enumerate(axis.values)} for axis in plan.axes[1:]]

    def key(result: PointResult) -> tuple[object, ...]:
        x = result.planned.numbers.get(name)
        rest = [place[value] for place, (_, value) in zip(places, result.planned.values[1:], strict=True)]
        return (x is None, x or 0, rest, result.planned.policy)

    return sorted(results, key=key)

"""A study in words: tables of texts and sentences, which a terminal and a page lay out in their own ways."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from serq.compare.agree import POWER, Row
from serq.ir.expr import Number
from serq.ir.measures import Measure
from serq.ir.numbers import cut, holding, rational, short, with_interval
from serq.ir.results import Estimate
from serq.studies.results import PointResult, StudyResult
from serq.studies.tasks import Method

TITLES: dict[Method, str] = {"exact": "exact", "sim": "simulated", "closed": "closed form"}
_COLUMNS: tuple[Method, ...] = ("sim", "exact", "closed")


@dataclass(frozen=True)
class Table:
    """A table of texts; the columns whose places are in `right` are numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...]


def head(study: StudyResult) -> str:
    """What was studied, in a line."""
    plan = study.plan
    axes = ", ".join(f"{a.name} = {', '.join(a.values) if len(a.values) <= 8 else _ends(a.values)}" for a in plan.axes)
    policies = "" if len(plan.policies) == 1 else f"; policies: {', '.join(p.label for p in plan.policies)}"
    methods = ", ".join(TITLES[m] for m in plan.methods)
    name = plan.policies[0].base.name
    return f"{name}: {_points(len(study.points))}, {axes or 'nothing varied'}{policies}; {methods}"


def _points(number: int) -> str:
    return f"{number} point" if number == 1 else f"{number} points"


def _ends(values: Sequence[str]) -> str:
    return f"{values[0]}, {values[1]}, ..., {values[-1]} ({len(values)} values)"


# -- tables ----------------------------------------------------------------------------------------------------------


def measure_table(study: StudyResult, measure: Measure) -> Table | None:
    """The value of a measure by every method at every point; None where nobody has an answer."""
    rows = ((point, point.row(measure.name)) for point in study.points)
    found = [(point, row) for point, row in rows if row is not None and row.verdict != "no answer"]
    used = [m for m in _COLUMNS if any(_answer(row, m) is not None for _, row in found)]
    if not used:
        return None
    first = ["policy"] if _several(study) else []
    names = [a.name for a in study.plan.axes]
    header = (*first, *names, *(TITLES[m] for m in used), "z", "verdict")
    lines = []
    for point, row in found:
        leading = [*([point.policy] if first else []), *_values(point)]
        lines.append((*leading, *(_shown(_answer(row, m)) for m in used), _z(row), _verdict_of(row)))
    unit = f" [{measure.unit}]" if measure.unit else ""
    right = (*range(len(first), len(first) + len(names)), len(header) - 2)
    return Table(f"{measure.name}: {measure.meaning}{unit}", header, tuple(lines), right)


def tables(study: StudyResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """All tables of a study: of the measures, of the conditions, and of what policies differ by."""
    for measure in measures:
        table = None if measure.prefix == "metastability" else measure_table(study, measure)
        if table is not None:
            yield table
    if study.plan.conditions:
        yield condition_table(study)
    yield from contrast_tables(study, measures)


def condition_table(study: StudyResult) -> Table:
    """The verdict of every chain on its conditions, and what it rests on."""
    first = ["policy"] if _several(study) else []
    names = [a.name for a in study.plan.axes]
    header = (*first, *names, "verdict", "slowest dies out in", "next faster by", "conditions", "modes", "up", "down")
    lines = []
    for point in study.points:
        exact = point.outcome("exact")
        found = None if exact is None else exact.conditions
        if found is not None:
            leading = [*([point.policy] if first else []), *_values(point)]
            lines.append((*leading, *_condition_cells(found)))
    before = len(first) + len(names)
    right = (*range(len(first), before), *(before + place for place in (1, 2, 5, 6)))
    title = "metastability: does the chain switch rarely between two conditions? Times of switching, up and down"
    return Table(title, header, tuple(lines), right)


def _condition_cells(found: Mapping[str, Any]) -> tuple[str, ...]:
    up, down = found["switching"] or (None, None)
    return (
        found["verdict"],
        holding(found["relaxation"], found["relaxation_bound"], 5),
        "" if found["gap"] is None else holding(found["gap"], found["gap_bound"], 4),
        " and ".join(short(x, 3) for x in found["basins"]),
        ", ".join(map(str, found["modes"])),
        *("" if x is None else short(x, 5) for x in (up, down)),
    )


def contrast_tables(study: StudyResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """What each policy has more than the first one."""
    names = [a.name for a in study.plan.axes]
    for policy in study.plan.policies[1:]:
        contrasts = [c for c in study.contrasts if c.after == policy.label]
        for measure in measures:
            rows = ((c, c.row(measure.name)) for c in contrasts)
            found = [(c, row) for c, row in rows if row is not None and row.verdict != "no answer"]
            used = [m for m in _COLUMNS if any(_answer(row, m) is not None for _, row in found)]
            header = (*names, *(TITLES[m] for m in used), "z", "verdict")
            lines = [
                (*(text for _, text in c.texts), *(_shown(_answer(row, m)) for m in used), _z(row), _verdict_of(row))
                for c, row in found
            ]
            if lines:
                title = f"{measure.name}: {policy.label} minus {study.plan.policies[0].label}"
                yield Table(title, header, tuple(lines), (*range(len(names)), len(header) - 2))


def _several(study: StudyResult) -> bool:
    return len(study.plan.policies) > 1


def _values(point: PointResult) -> list[str]:
    return [value if isinstance(value, str) else short(value, 8) for value in point.values.values()]


def _z(row: Row) -> str:
    return "" if row.z is None else f"{row.z:+.1f}"


def _verdict_of(row: Row) -> str:
    return row.verdict.upper() if row.verdict == "disagrees" else row.verdict


def _answer(row: Row, method: Method) -> Estimate | None:
    found = {"sim": row.simulated, "exact": row.exact, "closed": row.closed}[method]
    return None if found is None or found.value is None else found


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return with_interval(estimate) if estimate.witness == "simulation" else _known(estimate.value)


def _known(value: Number | None) -> str:
    text = rational(value)
    return text if text and len(text) <= 16 else cut(short(value, 10), 24)


# -- sentences -------------------------------------------------------------------------------------------------------


def bend_lines(study: StudyResult, measures: Sequence[Measure]) -> list[str]:
    """Knees and saturation points."""
    lines = []
    for bend in study.bends(measures):
        where = [*([bend.policy] if _several(study) else []), *(f"{k} = {v}" for k, v in bend.line)]
        what = f"{bend.kind} of {bend.measure}" if bend.measure else bend.kind
        lines.append(f"{what} at {study.axis} = {bend.x:.4g}" + (f" ({', '.join(where)})" if where else ""))
    return lines


def silent_lines(study: StudyResult) -> list[str]:
    """The methods that do not apply, by the reason, with the points."""
    reasons: dict[tuple[Method, str], list[str]] = {}
    for point in study.points:
        for method, reason in point.silent.items():
            reasons.setdefault((method, reason), []).append(_place(study, point))
    lines = []
    for (method, reason), places in reasons.items():
        where = "everywhere" if len(places) == len(study.points) else _few(places)
        lines.append(f"{TITLES[method]}: no answer {where}: {reason}")
    return lines


def missing_lines(study: StudyResult, measures: Sequence[Measure]) -> list[str]:
    """Why a chain that was solved has no answer about a measure that is shown, by the reason, with the points."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for point in study.points:
        exact = point.outcome("exact")
        answers = () if exact is None else (exact.answer(m.name) for m in measures)
        for answer in answers:
            if answer is not None and answer.value is None and answer.reason:
                reasons.setdefault((answer.measure, answer.reason), []).append(_place(study, point))
    return [f"exact: no {measure} {_few(places)}: {reason}" for (measure, reason), places in reasons.items()]


def remark_lines(study: StudyResult) -> list[str]:
    """What a reader must know of single answers, by the remark."""
    remarks: dict[tuple[Method, str], list[str]] = {}
    for point in study.points:
        for method, outcome in point.outcomes.items():
            if outcome.remark:
                remarks.setdefault((method, outcome.remark), []).append(_place(study, point))
    of_points = [f"{TITLES[method]} {_few(places)}: {text}" for (method, text), places in remarks.items()]
    return [*of_points, *([study.remark] if study.remark else [])]


def failed_lines(study: StudyResult) -> list[str]:
    """The points that have failed, with the reasons."""
    return [f"FAILED at {_place(study, point)}: {'; '.join(point.faults)}" for point in study.failed]


def _few(places: Sequence[str]) -> str:
    more = f" and {len(places) - 3} other points" if len(places) > 3 else ""
    return f"at {'; '.join(places[:3])}{more}"


def _place(study: StudyResult, point: PointResult) -> str:
    policy = [point.policy] if _several(study) else []
    return ", ".join([*policy, *(f"{name} = {text}" for name, text in point.planned.values)])


def verdict_lines(study: StudyResult) -> list[str]:
    """Whether all methods agree, what would have been found, and how often this is a false alarm."""
    failed = [f"FAILED at {len(study.failed)} of {len(study.points)} points"] if study.failed else []
    rate = f"false alarm in the whole study: at most {study.plan.false_alarm:g} (Holm, {study.tests} tests)"
    wrong = sum(row.verdict == "disagrees" for a in study.judgements for row in a.rows)
    if wrong:
        return [*failed, f"DISAGREES in {wrong} of {study.compared} comparisons; {_first(study)}", rate]
    if not study.compared:
        return [*failed, "NOTHING TO COMPARE: no measure has answers of two methods"]
    agreeing, every = _agreeing(study), len(study.points)
    each = len(study.plan.policies)
    grid = f" ({every // each} with each of {each} policies)" if each > 1 else ""
    where = f"at all {_points(every)}{grid}" if agreeing == every else f"at {agreeing} of {every} points{grid}"
    return [*failed, f"AGREES {where}, in {study.compared} comparisons{_power(study)}", rate]


def _power(study: StudyResult) -> str:
    finds = [p.agreement.finds for p in study.points if p.agreement is not None and p.agreement.finds is not None]
    if not finds:
        return ""
    error = f"an error of {percentage(max(finds))} in some measure would have been found"
    return f"; at every point {error} with probability {POWER:.0%}"


def percentage(share: float) -> str:
    """Two digits, and no exponent: `0.17%`, `110%`."""
    percent = 100 * share
    return f"{percent:.2g}%" if percent < 99.5 else f"{float(f'{percent:.2g}'):.0f}%"


def _agreeing(study: StudyResult) -> int:
    return sum(point.agreement is not None and bool(point.agreement.compared) for point in study.points)


def _first(study: StudyResult) -> str:
    """The first disagreement, in words."""
    for point in study.points:
        for row in point.rows:
            if row.verdict == "disagrees":
                return f"{row.measure.name} at {_place(study, point)}: {row.why}"
    for contrast in study.contrasts:
        for row in contrast.rows:
            if row.verdict == "disagrees":
                place = ", ".join(f"{name} = {text}" for name, text in contrast.texts)
                return f"{row.measure.name}, {contrast.after} minus {contrast.before}, at {place}: {row.why}"
    return ""

"""A study as text: one table for each measure that is shown, what the policies differ by, and the verdict."""

from collections.abc import Iterator, Sequence

from serq.cli.check import percentage
from serq.cli.tables import table
from serq.compare.agree import POWER, Row
from serq.ir.expr import Number
from serq.ir.measures import Measure
from serq.ir.numbers import cut, rational, short, with_interval
from serq.ir.results import Estimate
from serq.studies.results import PointResult, StudyResult
from serq.studies.shown import shown
from serq.studies.tasks import Method

_TITLES: dict[Method, str] = {"exact": "exact", "sim": "simulated", "closed": "closed form"}
_COLUMNS: tuple[Method, ...] = ("sim", "exact", "closed")


def study_text(study: StudyResult) -> str:
    """Everything a person wants to see first."""
    measures = shown(study.plan)
    parts = [_head(study), *(_measure(study, m) for m in measures), *_contrasts(study, measures)]
    parts += [_bends(study, measures), _silent(study), _failed(study), _verdict(study)]
    return "\n".join(part for part in parts if part)


def _head(study: StudyResult) -> str:
    plan = study.plan
    axes = ", ".join(f"{a.name} = {', '.join(a.values) if len(a.values) <= 8 else _ends(a.values)}" for a in plan.axes)
    policies = "" if len(plan.policies) == 1 else f"; policies: {', '.join(p.label for p in plan.policies)}"
    methods = ", ".join(_TITLES[m] for m in plan.methods)
    return (
        f"{plan.policies[0].base.name}: {len(study.points)} points, {axes or 'nothing varied'}{policies}; {methods}\n"
    )


def _ends(values: Sequence[str]) -> str:
    return f"{values[0]}, {values[1]}, ..., {values[-1]} ({len(values)} values)"


def _measure(study: StudyResult, measure: Measure) -> str:
    """The table of one measure: its value by every method at every point."""
    rows = ((point, point.row(measure.name)) for point in study.points)
    found = [(point, row) for point, row in rows if row is not None and row.verdict != "no answer"]
    used = [m for m in _COLUMNS if any(_answer(row, m) is not None for _, row in found)]
    if not used:
        return ""
    several = len(study.plan.policies) > 1
    header = [*(["policy"] if several else []), *(a.name for a in study.plan.axes), *(_TITLES[m] for m in used)]
    lines = []
    for point, row in found:
        head = [*([point.policy] if several else []), *_cells(point)]
        z = "" if row.z is None else f"{row.z:+.1f}"
        verdict = row.verdict.upper() if row.verdict == "disagrees" else row.verdict
        lines.append([*head, *(_shown(_answer(row, m)) for m in used), z, verdict])
    unit = f" [{measure.unit}]" if measure.unit else ""
    z_column = len(header)
    numbers = tuple(range(1 if several else 0, len(study.plan.axes) + (1 if several else 0)))
    text = table(lines, [*header, "z", "verdict"], right=(*numbers, z_column))
    return f"{measure.name}: {measure.meaning}{unit}\n\n{text}"


def _cells(point: PointResult) -> list[str]:
    return [value if isinstance(value, str) else short(value, 8) for value in point.values.values()]


def _answer(row: Row, method: str) -> Estimate | None:
    found = {"sim": row.simulated, "exact": row.exact, "closed": row.closed}[method]
    return None if found is None or found.value is None else found


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.witness == "simulation":
        return with_interval(estimate)
    return _known(estimate.value)


def _known(value: Number | None) -> str:
    text = rational(value)
    return text if text and len(text) <= 16 else cut(short(value, 10), 24)


def _contrasts(study: StudyResult, measures: Sequence[Measure]) -> Iterator[str]:
    """What each policy has more than the first one."""
    for policy in study.plan.policies[1:]:
        found = [c for c in study.contrasts if c.after == policy.label]
        for measure in measures:
            lines = []
            for contrast in found:
                row = contrast.row(measure.name)
                if row is not None and row.verdict != "no answer":
                    known = row.exact if _answer(row, "exact") is not None else row.closed
                    values = [text for _, text in contrast.texts]
                    z = "" if row.z is None else f"{row.z:+.1f}"
                    lines.append([*values, _shown(row.simulated), _shown(known), z, row.verdict])
            if lines:
                header = [*(a.name for a in study.plan.axes), "simulated", "exact", "z", "verdict"]
                first = study.plan.policies[0].label
                text = table(lines, header, right=tuple(range(len(study.plan.axes))))
                yield f"{measure.name}: {policy.label} minus {first}\n\n{text}"


def _bends(study: StudyResult, measures: Sequence[Measure]) -> str:
    lines = []
    for bend in study.bends(measures):
        where = ", ".join(
            [*([bend.policy] if len(study.plan.policies) > 1 else []), *(f"{k} = {v}" for k, v in bend.line)]
        )
        what = f"{bend.kind} of {bend.measure}" if bend.measure else bend.kind
        lines.append(f"{what} at {study.axis} = {bend.x:.4g}{f' ({where})' if where else ''}")
    return "\n".join(lines) + "\n" if lines else ""


def _silent(study: StudyResult) -> str:
    """The methods that do not apply, by the reason, with the points."""
    reasons: dict[tuple[Method, str], list[str]] = {}
    for point in study.points:
        for method, reason in point.silent.items():
            reasons.setdefault((method, reason), []).append(_place(study, point))
    lines = []
    for (method, reason), places in reasons.items():
        where = "everywhere" if len(places) == len(study.points) else _few(places)
        lines.append(f"{_TITLES[method]}: no answer {where}: {reason}")
    return "\n".join(lines) + "\n" if lines else ""


def _few(places: Sequence[str]) -> str:
    more = f" and {len(places) - 3} other points" if len(places) > 3 else ""
    return f"at {'; '.join(places[:3])}{more}"


def _place(study: StudyResult, point: PointResult) -> str:
    policy = [point.policy] if len(study.plan.policies) > 1 else []
    return ", ".join([*policy, *(f"{name} = {text}" for name, text in point.planned.values)])


def _failed(study: StudyResult) -> str:
    lines = [f"FAILED at {_place(study, point)}: {'; '.join(point.faults)}" for point in study.failed]
    return "\n".join(lines) + "\n" if lines else ""


def _verdict(study: StudyResult) -> str:
    rate = f"false alarm in the whole study: at most {study.plan.false_alarm:g} (Holm, {study.tests} tests)"
    rows = [(a, row) for a in study.judgements for row in a.rows]
    wrong = [row for _, row in rows if row.verdict == "disagrees"]
    failed = f"FAILED at {len(study.failed)} of {len(study.points)} points\n" if study.failed else ""
    if wrong:
        return f"{failed}DISAGREES in {len(wrong)} of {study.compared} comparisons; {_first(study)}\n{rate}\n"
    if not study.compared:
        return f"{failed}NOTHING TO COMPARE: no measure has answers of two methods\n"
    finds = [p.agreement.finds for p in study.points if p.agreement is not None and p.agreement.finds is not None]
    power = ""
    if finds:
        error = f"an error of {percentage(max(finds))} in some measure would have been found"
        power = f"; at every point {error} with probability {POWER:.0%}"
    where = f"at {_agreeing(study)} points" if study.failed else f"at all {len(study.points)} points"
    return f"{failed}AGREES {where}, in {study.compared} comparisons{power}\n{rate}\n"


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

"""A study as files that other programs read: rows for CSV and Parquet, one value for JSON."""

import csv
import io
import os
import tempfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from serq.base.errors import UsageError
from serq.base.output import cannot_write, check_target, make_directory
from serq.base.source import NOWHERE
from serq.compare.agree import Row
from serq.ir.expr import Number, double
from serq.ir.fingerprint import fingerprint
from serq.ir.results import Estimate
from serq.studies.encoding import Outcome
from serq.studies.errors import MissingExtra
from serq.studies.grid import GridError
from serq.studies.results import Contrast, PointResult, StudyResult
from serq.studies.shown import shown

LEADING = ("policy",)
ROW = (
    "measure", "unit", "sim", "sim_half_width", "sim_standard_error", "exact", "exact_rational", "closed",
    "closed_rational", "z", "p_value", "finds", "verdict", "why",
)  # fmt: skip


def columns(study: StudyResult) -> tuple[str, ...]:
    """The columns of the table: the policy, the varied constants, and those of a row."""
    return (*LEADING, *(axis.name for axis in study.plan.axes), *ROW)


def records(study: StudyResult) -> Iterator[dict[str, object]]:
    """One row for each point and measure that somebody has an answer about, and one for each point that failed."""
    for point in study.points:
        head: dict[str, object] = {"policy": point.policy}
        head |= {name: _plain(value) for name, value in point.values.items()}
        rows = [row for row in point.rows if row.verdict != "no answer"]
        for row in rows:
            yield head | _row_record(row)
        if not rows:
            yield head | dict.fromkeys(ROW) | {"verdict": "failed", "why": "; ".join(point.faults)}


def _row_record(row: Row) -> dict[str, object]:
    sim, exact, closed = row.simulated, row.exact, row.closed
    return {
        "measure": row.measure.name,
        "unit": row.measure.unit,
        "sim": _number(None if sim is None else sim.value),
        "sim_half_width": _number(None if sim is None else sim.half_width),
        "sim_standard_error": _number(None if sim is None else sim.standard_error),
        "exact": _number(None if exact is None else exact.value),
        "exact_rational": _rational(exact),
        "closed": _number(None if closed is None else closed.value),
        "closed_rational": _rational(closed),
        "z": _number(row.z),
        "p_value": _number(row.p_value),
        "finds": _number(row.finds),
        "verdict": row.verdict,
        "why": row.why or _verdict(row),
    }


def _verdict(row: Row) -> str:
    """What stands in words beside the numbers of a chain's conditions."""
    return row.exact.reason if row.measure.prefix == "metastability" and row.exact is not None else ""


def _plain(value: Number | str) -> object:
    """A varied constant: whole numbers as such."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value if isinstance(value, str) else double(value)


def _number(value: Number | None) -> float | None:
    if value is None:
        return None
    number = double(value)
    return number if isfinite(number) else None


def _rational(estimate: Estimate | None) -> str | None:
    return str(estimate.value) if estimate is not None and estimate.is_exact else None


# -- files -----------------------------------------------------------------------------------------------------------


def csv_text(study: StudyResult) -> str:
    """The table as CSV; numbers read back as the same doubles."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns(study), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records(study))
    return out.getvalue()


def write_parquet(study: StudyResult, path: Path) -> None:
    """The table as a Parquet file, whole or not at all. GridError where pyarrow is not installed."""
    check_target(path)
    pyarrow = need_parquet()
    rows = list(records(study))
    table = pyarrow.table({name: pyarrow.array(_column([row[name] for row in rows])) for name in columns(study)})
    make_directory(path.parent)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            import pyarrow.parquet as parquet

            parquet.write_table(table, temporary)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise cannot_write(path, error) from error


def need_parquet() -> Any:
    """The module that writes Parquet; GridError (SQ827) where there is none."""
    try:
        import pyarrow
    except ImportError:
        raise GridError.of(
            MissingExtra(span=NOWHERE, what="a Parquet file", package="pyarrow", extra="frames")
        ) from None
    return pyarrow


def _column(values: list[object]) -> list[object]:
    """Values of one type: a varied constant may be whole at some points only, or no number where a point failed."""
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return [None if v is None else float(v) for v in values]  # type: ignore[arg-type]
    return [None if v is None else str(v) for v in values] if len(kinds) > 1 else values


FORMATS = ("text", "csv", "parquet", "json")


def format_of(path: str | None, as_json: bool, wanted: str | None) -> str:
    """The format of the report: what is asked for, else what the file's name says. UsageError for Parquet on stdout."""
    known = {".csv": "csv", ".parquet": "parquet", ".json": "json"}
    found = wanted or ("json" if as_json else known.get(Path(path or "").suffix, "text"))
    if found == "parquet" and path is None:
        raise UsageError("a Parquet file needs a name: --out study.parquet")
    return found


# -- JSON ------------------------------------------------------------------------------------------------------------


def study_data(study: StudyResult) -> dict[str, object]:
    """The study but for its provenance: axes, points, contrasts, knees and the verdict. Strict JSON."""
    plan = study.plan
    return {
        "methods": list(plan.methods),
        "axes": [{"name": a.name, "values": list(a.values)} for a in plan.axes],
        "policies": [
            {"label": p.label, "program": p.base.name, "file": p.source.name, "program_hash": fingerprint(p.base),
             "sets": dict(p.sets)}
            for p in plan.policies
        ],
        "replications": plan.simulation.replications,
        "confidence": plan.simulation.confidence,
        "max_states": plan.solving.states,
        "price": None if plan.price is None else str(plan.price),
        "metastability": plan.conditions,
        "measures": {
            m.name: {"meaning": m.meaning, "unit": m.unit} for m in study.measures
        },
        "points": [_point(point) for point in study.points],
        "contrasts": [_contrast(contrast) for contrast in study.contrasts],
        "bends": [
            {"policy": b.policy, "line": dict(b.line), "measure": b.measure or None, "kind": b.kind, "x": b.x}
            for b in study.bends(shown(plan))
        ],
        "agrees": study.agrees,
        "compared": study.compared,
        "tests": study.tests,
        "false_alarm": plan.false_alarm,
        "failed": len(study.failed),
    }  # fmt: skip


def _point(point: PointResult) -> dict[str, object]:
    return {
        "policy": point.policy,
        "values": {name: _plain(value) for name, value in point.values.items()},
        "program_hash": None if point.planned.program is None else fingerprint(point.planned.program),
        "faults": list(point.faults),
        "methods": {method: _outcome(outcome) for method, outcome in point.outcomes.items()},
        "measures": _rows(point.rows),
    }


def _outcome(outcome: Outcome) -> dict[str, object]:
    out: dict[str, object] = {"status": outcome.status}
    out |= {k: v for k, v in (("how", outcome.how), ("reason", outcome.reason), ("remark", outcome.remark)) if v}
    if outcome.bounds:
        out["bounds"] = [
            {"measure": b.measure, "kind": b.kind, "low": _number(b.low), "high": _number(b.high)}
            for b in outcome.bounds
        ]
    if outcome.saturation is not None:
        out["saturation"] = _number(outcome.saturation)
    if outcome.conditions is not None:
        out["metastability"] = dict(outcome.conditions)
    return out


def _contrast(contrast: Contrast) -> dict[str, object]:
    return {
        "values": dict(contrast.texts),
        "before": contrast.before,
        "after": contrast.after,
        "differences": _rows(contrast.rows),
    }


def _rows(rows: tuple[Row, ...]) -> Mapping[str, object]:
    return {row.measure.name: _row_data(row) for row in rows if row.verdict != "no answer"}


def _row_data(row: Row) -> dict[str, object]:
    witnesses = (("simulated", row.simulated), ("exact", row.exact), ("closed_form", row.closed))
    out: dict[str, object] = {name: _estimate(e) for name, e in witnesses if e is not None}
    return out | {
        "z": _number(row.z), "p_value": _number(row.p_value), "finds": _number(row.finds),
        "verdict": row.verdict, "why": row.why,
    }  # fmt: skip


def _estimate(estimate: Estimate) -> dict[str, object]:
    """An answer: the value as a double and, where it is exact, as a rational."""
    out: dict[str, object] = {"value": _number(estimate.value), "method": estimate.method}
    if estimate.is_exact:
        out["exact"] = str(estimate.value)
    for name in ("half_width", "confidence", "standard_error", "degrees", "bound"):
        value = getattr(estimate, name)
        if value is not None:
            out[name] = _number(value)
    return out | ({"reason": estimate.reason} if estimate.reason else {})

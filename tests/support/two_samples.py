"""Two samples of runs, ours and the peer's, and the measures in which they differ by Welch's test."""

from collections.abc import Mapping
from typing import Any

from scipy import stats

from serq import pipeline
from serq.ir.program import Program

Samples = Mapping[str, tuple[float, ...]]


def their_samples(linked: Program, reports: list[dict[str, Any]]) -> Samples:
    """The same of the peer's reports."""
    rows: list[dict[str, float | None]] = []
    for report in reports:
        row = {f"observe.{name}.mean": o["mean"] if o["count"] else None for name, o in report["observes"].items()}
        row |= {f"observe.{name}.rate": o["count"] / report["end"] for name, o in report["observes"].items()}
        for stage, s in zip(linked.stages, report["stages"], strict=True):
            row[f"stage.{stage.name}.number"] = s["mean_number"]
        for pool, p in zip(linked.pools, report["pools"], strict=True):
            row[f"pool.{pool.name}.used"] = p["mean_used"]
            row[f"pool.{pool.name}.cached"] = p["mean_cached"]
        rows.append(row)
    return {name: tuple(float(row[name]) for row in rows if row[name] is not None) for name in rows[0]}  # type: ignore[arg-type]


def our_samples(linked: Program, horizon: float, replications: int) -> Samples:
    """Means over each of so many runs from an empty start, by measure."""
    out: dict[str, list[float]] = {}
    for seed in range(1, replications + 1):
        report, _ = pipeline.simulate(linked, pipeline.SimulateOptions(seed=seed, horizon=horizon, warmup=0.0))
        for estimate in report.estimates:
            if estimate.value is not None:
                out.setdefault(estimate.measure, []).append(float(estimate.value))
    return {name: tuple(values) for name, values in out.items()}


def disagreements(mine: Samples, others: Samples, level: float) -> dict[str, float]:
    """The measures that differ at that level, with their p-values."""
    out = {}
    for name, right in others.items():
        if len(right) == len(mine.get(name, ())):
            p = p_value(mine[name], right)
            if p < level:
                out[name] = p
    return out


def p_value(mine: tuple[float, ...], right: tuple[float, ...]) -> float:
    spread = max(*mine, *right) - min(*mine, *right)
    if spread <= 1e-9 * max(abs(x) for x in (*mine, *right, 1.0)):
        return 1.0
    return float(stats.ttest_ind(mine, right, equal_var=False).pvalue)

"""The three-way comparison as an answer."""

from dataclasses import dataclass

from serq.api.tabular import Tabular, find_estimate, html_table
from serq.base.errors import UsageError
from serq.compare.agree import Row
from serq.compare.three_way import ThreeWay
from serq.ir.numbers import as_json, cut, estimate_json, rational, short, with_interval
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate


@dataclass(frozen=True, repr=False)
class CheckResult(Tabular):
    """A program with what simulation, chain and formula say of each measure, and whether they agree."""

    comparison: ThreeWay

    @property
    def program(self) -> Program:
        """The program that was compared."""
        return self.comparison.program

    @property
    def agrees(self) -> bool:
        """Whether witnesses could be compared somewhere, and disagree nowhere; False where the run says nothing."""
        agreement = self.comparison.agreement
        return agreement.agrees and agreement.compared > 0 and not agreement.is_blind

    def row(self, measure: str) -> Row:
        """The row of one measure. UsageError, with what there is, when there is none."""
        by_name = {row.measure.name: row for row in self.comparison.agreement.rows}
        nameless = [Estimate(name, "exact", None, "") for name in by_name]
        return by_name[find_estimate(nameless, measure).measure]

    def rows(self) -> list[dict[str, object]]:
        """A row per measure that anybody has an answer about."""
        shown = [row for row in self.comparison.agreement.rows if row.verdict != "no answer"]
        return [_flat(row) for row in shown]

    def to_dict(self) -> dict[str, object]:
        """What `serq check --json` prints."""
        result, agreement = self.comparison, self.comparison.agreement
        return provenance(result.program, "check", "numpy", "scipy", "sympy", "python-flint") | {
            "engine": result.engine,
            "seed": result.seed,
            "horizon": result.horizon,
            "warmup": result.warmup,
            "replications": result.replications,
            "events": result.events,
            "remarks": list(result.remarks),
            "chain": result.chain or None,
            "no_chain": list(result.no_chain),
            "formulas": list(result.formulas),
            "no_formula": result.no_formula or None,
            "agrees": self.agrees,
            "compared": agreement.compared,
            "tests": agreement.tests,
            "false_alarm": agreement.false_alarm,
            "finds": agreement.finds,
            "measures": {row.measure.name: _row(row) for row in agreement.rows},
        }

    def _repr_html_(self) -> str:
        verdict = "agrees" if self.agrees else "nothing to compare" if self.comparison.agreement.agrees else "DISAGREES"
        header = ("measure", "simulated", "exact", "closed form", "z", "verdict")
        rows = [_cells(row) for row in self.comparison.agreement.rows if row.verdict in ("agrees", "disagrees")]
        return html_table(f"{self.program.name}: {verdict}", header, rows)


def share(text: str | None, option: str) -> float | None:
    """A share such as `0.5%` or `0.005` as a number; UsageError when it is none between 0 and 1."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(f"{option} takes a relative error such as 0.5%, not {text!r}")
    return value


def _row(row: Row) -> dict[str, object]:
    witnesses = (("simulated", row.simulated), ("exact", row.exact), ("closed_form", row.closed))
    out: dict[str, object] = {name: estimate_json(e) for name, e in witnesses if e is not None}
    return out | {
        "z": as_json(row.z),
        "p_value": as_json(row.p_value),
        "finds": as_json(row.finds),
        "verdict": row.verdict,
        "why": row.why,
    }


def _flat(row: Row) -> dict[str, object]:
    return {
        "measure": row.measure.name,
        "simulated": _value(row.simulated),
        "half_width": None if row.simulated is None else row.simulated.half_width,
        "exact": _value(row.exact),
        "closed_form": _value(row.closed),
        "z": row.z,
        "finds": row.finds,
        "verdict": row.verdict,
        "why": row.why or None,
    }


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None or estimate.value is None else float(estimate.value)


def _cells(row: Row) -> tuple[str, ...]:
    simulated = "" if row.simulated is None else with_interval(row.simulated)
    z = "" if row.z is None else f"{row.z:+.1f}"
    return (row.measure.name, simulated, _known(row.exact), _known(row.closed), z, row.verdict)


def _known(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return ""
    return cut(rational(estimate.value) if estimate.is_exact else "", 24) or short(estimate.value, 10)

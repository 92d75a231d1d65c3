"""What a change of constants costs, and what one event that goes another way: prices as answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from serq.api.keywords import methods_from, number_from, refuse_unknown, split, text_from
from serq.api.tabular import Tabular, html_table, no_such_measure
from serq.base.errors import NoRationalsError, UsageError
from serq.compare.agree import Row
from serq.ir.expr import Number, double
from serq.ir.numbers import as_json, cut, estimate_json, rational, short
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.pipeline import SimulateOptions, Solved, SolveOptions, closed_forms, limited, solve
from serq.studies.event_formulas import Assumed
from serq.studies.event_price import EventAnswer, EventQuestion
from serq.studies.price import Change, changes, prices
from serq.studies.twins import PAIRS, PRESENT, TwinPrice


@dataclass(frozen=True, repr=False)
class PriceResult(Tabular):
    """A program before and after a change of constants: every measure by the chain, and by the formula that fits.

    `before` and `after` say what changed, as texts `NAME=EXPR`.
    """

    program: Program
    before: tuple[str, ...]
    after: tuple[str, ...]
    exact: tuple[Change, ...]
    by_formula: tuple[Change, ...]

    @property
    def prices(self) -> Mapping[str, Number]:
        """The price at each stage that sessions share: how many more jobs are present there."""
        return {c.measure.subject: c.difference for c in prices(self.program, self.exact)}

    def __getitem__(self, measure: str) -> Change:
        """A measure before and after, and the `difference`; UsageError with the nearest names when there is none."""
        for change in self.exact:
            if change.measure.name == measure:
                return change
        raise UsageError(no_such_measure(measure, [change.measure.name for change in self.exact]))

    def rows(self) -> list[dict[str, object]]:
        """A row per measure: before, after and their difference, which is also given as the rational that it is."""
        return [
            {
                "measure": c.measure.name,
                "before": double(c.before),
                "after": double(c.after),
                "difference": double(c.difference),
                "exact": rational(c.difference) or None,
            }
            for c in self.exact
        ]

    def to_dict(self) -> dict[str, object]:
        """What `serq price --json` prints."""
        return provenance(self.program, "price", "python-flint", "sympy") | {
            "from": list(self.before),
            "to": list(self.after),
            "price": {stage: _number(price) for stage, price in self.prices.items()},
            "exact": {c.measure.name: _change(c) for c in self.exact},
            "closed_form": {c.measure.name: _change(c) for c in self.by_formula},
        }

    def _repr_html_(self) -> str:
        header = ("measure", "before", "after", "difference", "exact")
        shown = [c for c in self.exact if c.before or c.after]
        rows = [
            (c.measure.name, *(short(x, 8) for x in (c.before, c.after, c.difference)), cut(rational(c.difference), 32))
            for c in shown
        ]
        given = f"{', '.join(self.before) or 'as written'} to {', '.join(self.after)}"
        return html_table(f"{self.program.name}: the price of {given}", header, rows)


@dataclass(frozen=True, repr=False)
class EventPriceResult(Tabular):
    """What one event costs that goes another way, once, all sessions together: by the methods that were asked for."""

    program: Program
    answer: EventAnswer

    @property
    def price(self) -> Number | None:
        """Session-time away from delays: exact where there is a chain, else simulated; None where only formulas are."""
        answer = self.answer
        if answer.exact is not None:
            return answer.exact.present
        return None if answer.simulated is None else answer.simulated.present.value

    @property
    def formulas(self) -> Mapping[str, Assumed]:
        """What formulas say, by their title, with what they assume."""
        return {found.formula: found for found in self.answer.formulas}

    @property
    def agrees(self) -> bool:
        """Whether chain and simulation agree, where both have an answer."""
        return self.answer.agrees

    def rows(self) -> list[dict[str, object]]:
        """A row per measure that changes."""
        shown = (
            row for row in self.answer.agreement.rows if row.verdict != "no answer" and row.measure.name != PRESENT
        )
        return [_event_row(row) for row in shown if _changes(row.exact) or _changes(row.simulated)]

    def to_dict(self) -> dict[str, object]:
        """What `serq price --do ... --json` prints."""
        answer, exact = self.answer, self.answer.exact
        data = provenance(self.program, "price-event", "python-flint") | {"event": answer.event, "line": answer.line}
        if exact is not None:
            data |= {
                "rate": _number(exact.price.rate),
                "price": _number(exact.present, exact.bound),
                "by_number": {str(number): _number(x) for number, x in exact.by_number.items()},
                "measures": {name: _number(x, exact.bounds.get(name)) for name, x in exact.price.measures.items()},
            }
        return data | {
            "no_chain": answer.no_chain or None,
            "simulated": None if answer.simulated is None else _twins(answer.simulated),
            "formulas": [
                {"formula": f.formula, "price": f.value, "assumes": f.assumes, "reason": f.reason or None}
                | ({"standard_error": f.error} if f.error else {})
                for f in answer.formulas
            ],
            "agrees": answer.agrees,
        }

    def _repr_html_(self) -> str:
        rows = [
            (
                str(row["measure"]),
                *(str(row[name] or "") for name in ("simulated", "price")),
                cut(str(row["exact"] or ""), 32),
            )
            for row in self.rows()
        ]
        title = f"{self.program.name}: do({self.answer.event}) once at line {self.answer.line}"
        return html_table(title, ("measure", "simulated", "price", "exact"), rows)


def event_question(event: str, at: str | None, given: Mapping[str, Any]) -> EventQuestion:
    """The question that the keywords of `serq.api.model.Model.price_event` ask; UsageError where they make no sense."""
    to_simulate, to_solve, rest = split(given)
    refuse_unknown(rest, ["methods", "pairs", "follow"])
    methods = methods_from(rest.get("methods", ("exact",)))
    simulation = SimulateOptions(**to_simulate | {"replications": rest.get("pairs", PAIRS)})
    place = None if at is None else text_from("at", at)
    follow = number_from("follow", rest.get("follow"))
    return EventQuestion(text_from("the event", event), place, methods, SolveOptions(**to_solve), simulation, follow)


def _changes(estimate: Estimate | None) -> bool:
    return estimate is not None and bool(estimate.value)


def _event_row(row: Row) -> dict[str, object]:
    exact = None if row.exact is None else row.exact.value
    sim = row.simulated
    return {
        "measure": row.measure.name,
        "price": None if exact is None else double(exact),
        "exact": rational(exact) or None,
        "simulated": None if sim is None or sim.value is None else double(sim.value),
        "half_width": None if sim is None else sim.half_width,
        "z": row.z,
        "verdict": row.verdict,
    }


def _twins(found: TwinPrice) -> dict[str, object]:
    return {
        "pairs": found.pairs,
        "seed": found.seed,
        "passage": found.passage,
        "followed": found.followed,
        "engine": found.engine,
        "rate": estimate_json(found.rate),
        "price": estimate_json(found.present),
        "late": estimate_json(found.late),
        "measures": {e.measure: estimate_json(e) for e in found.measures},
        "remark": found.remark or None,
    }


def price_change(
    first: Program, second: Program, before: tuple[str, ...], after: tuple[str, ...], options: SolveOptions
) -> PriceResult:
    """The price of a change from one program to another that differs in its constants.

    Raises what `serq.pipeline.solve` raises. Chain and formula that differ are a defect (AssertionError).
    """
    pair = tuple(limited(program, options.limit) for program in (first, second))
    found = changes(pair[0], "exact", *(_values(_solved(program, options).estimates) for program in pair))
    formulas = changes(pair[0], "closed form", *(_values(closed_forms(program).estimates) for program in pair))
    _compare(found, formulas)
    return PriceResult(pair[0], before, after, found, formulas)


def _solved(program: Program, options: SolveOptions) -> Solved:
    """In rationals; in doubles where an irrational number decides."""
    try:
        return solve(program, replace(options, exact=True))
    except NoRationalsError:
        return solve(program, replace(options, exact=False))


def _values(estimates: tuple[Estimate, ...]) -> dict[str, Number | None]:
    return {e.measure: e.value for e in estimates}


def _compare(exact: tuple[Change, ...], formulas: tuple[Change, ...]) -> None:
    """Two witnesses that differ are a defect, not an answer."""
    by_name = {c.measure.name: c for c in formulas}
    for change in exact:
        other = by_name.get(change.measure.name)
        if other is not None and not _same(change, other):
            raise AssertionError(f"chain and formula differ on {change.measure.name}: {change} {other}")


def _same(exact: Change, formula: Change) -> bool:
    """Whether two differences are equal, or as near as the values that they are differences of can be as doubles."""
    one, other = exact.difference, formula.difference
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    largest = max(abs(double(x)) for x in (exact.before, exact.after, formula.before, formula.after))
    return abs(double(one) - double(other)) <= 1e-9 * largest


def _change(change: Change) -> dict[str, object]:
    return {
        "before": _number(change.before),
        "after": _number(change.after),
        "difference": _number(change.difference),
    }


def _number(value: Number, bound: float | None = None) -> dict[str, object]:
    """A rational as such; a double with a bound on its error, where there is one."""
    if rational(value):
        return {"value": as_json(value), "exact": rational(value)}
    return {"value": as_json(value)} | ({} if bound is None else {"bound": bound})

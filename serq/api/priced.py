"""What a change of constants costs, and what one event that goes another way: prices as answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.api.tabular import Tabular, html_table
from serq.ir.expr import Number, double
from serq.ir.numbers import as_json, cut, rational, short
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.pipeline import SolveOptions, closed_forms, limited, solve
from serq.studies.event import PricedEvent
from serq.studies.price import Change, changes, prices


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class EventPriceResult(Tabular):
    """What one event that goes another way costs all sessions together, once."""

    program: Program
    priced: PricedEvent

    @property
    def price(self) -> Number:
        """Session-time away from delays."""
        return self.priced.present

    def rows(self) -> list[dict[str, object]]:
        """A row per measure that changes."""
        changed = {name: x for name, x in self.priced.price.measures.items() if x}
        return [{"measure": name, "price": double(x), "exact": rational(x) or None} for name, x in changed.items()]

    def to_dict(self) -> dict[str, object]:
        """What `serq price --do ... --json` prints."""
        priced = self.priced
        return provenance(self.program, "price-event", "python-flint") | {
            "event": priced.event,
            "line": priced.line,
            "rate": _number(priced.price.rate),
            "price": _number(priced.present),
            "by_number": {str(number): _number(x) for number, x in priced.by_number.items()},
            "measures": {name: _number(x) for name, x in priced.price.measures.items()},
        }

    def _repr_html_(self) -> str:
        rows = [(str(row["measure"]), str(row["price"]), cut(str(row["exact"] or ""), 32)) for row in self.rows()]
        title = f"{self.program.name}: do({self.priced.event}) once at line {self.priced.line}"
        return html_table(title, ("measure", "price", "exact"), rows)


def price_change(
    first: Program, second: Program, before: tuple[str, ...], after: tuple[str, ...], options: SolveOptions
) -> PriceResult:
    """The price of a change from one program to another that differs in its constants.

    Raises what `serq.pipeline.solve` raises. Chain and formula that differ are a defect (AssertionError).
    """
    pair = tuple(limited(program, options.limit) for program in (first, second))
    exactly = replace(options, exact=True)
    found = changes(pair[0], "exact", *(_values(solve(program, exactly).estimates) for program in pair))
    formulas = changes(pair[0], "closed form", *(_values(closed_forms(program).estimates) for program in pair))
    _compare(found, formulas)
    return PriceResult(pair[0], before, after, found, formulas)


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


def _number(value: Number) -> dict[str, object]:
    return {"value": as_json(value)} | ({"exact": rational(value)} if rational(value) else {})

"""What an answer looks like outside of serQ: rows for pandas, a table for notebooks, a dictionary for JSON."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape, unescape
from typing import Any

from serq.base.errors import UsageError
from serq.base.suggestions import near
from serq.ir.numbers import cut, rational, short, with_interval
from serq.ir.results import Estimate


class Tabular(ABC):
    """An answer that can be taken along: what `--json` prints, a data frame, and a table in a notebook."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The answer as strict JSON data, the same that the command line prints with `--json`."""

    @abstractmethod
    def rows(self) -> list[dict[str, object]]:
        """The answer as rows with the same members each."""

    @abstractmethod
    def _repr_html_(self) -> str:
        """The answer as a table for notebooks."""

    def __repr__(self) -> str:
        """One line: what kind of answer, and what stands above its table."""
        found = re.search("<caption>(.*?)</caption>", self._repr_html_())
        return f"<{type(self).__name__} {unescape(found[1])}>" if found else f"<{type(self).__name__}>"

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame. UsageError when pandas (the extra `frames`) is not installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("a data frame needs pandas: pip install 'serq[frames]'") from None
        return pandas.DataFrame(self.rows())


class Answers(Tabular):
    """An answer with one estimate per measure, which `answer["stage.svc.number"]` gives the value of."""

    @property
    @abstractmethod
    def estimates(self) -> tuple[Estimate, ...]:
        """Every measure with its error and provenance, in the order of a report."""

    def estimate(self, measure: str) -> Estimate:
        """The estimate of a measure by its full name. UsageError, with what there is, when there is none."""
        return find_estimate(self.estimates, measure)

    def __getitem__(self, measure: str) -> Any:
        """The value of a measure: a `Fraction` where it is exact, else a float; None where there is no value."""
        return self.estimate(measure).value

    def rows(self) -> list[dict[str, object]]:
        """A row per measure."""
        return [estimate_row(e) for e in self.estimates]


def find_estimate(estimates: Sequence[Estimate], measure: str) -> Estimate:
    """The estimate of that name; UsageError with the nearest names when there is none."""
    for e in estimates:
        if e.measure == measure:
            return e
    raise UsageError(no_such_measure(measure, [e.measure for e in estimates]))


def no_such_measure(measure: object, names: Sequence[str]) -> str:
    """That there is no measure of that name, and which come nearest."""
    alike = near(measure, names) if isinstance(measure, str) else ()
    return f"there is no measure {measure!r}; there is {', '.join(alike or names)}"


def estimate_row(e: Estimate) -> dict[str, object]:
    """An estimate as a row: the value as a double, the exact one as text, the error, and where it comes from."""
    return {
        "measure": e.measure,
        "value": None if e.value is None else float(e.value),
        "exact": (e.is_exact and rational(e.value)) or None,
        "half_width": e.half_width,
        "standard_error": e.standard_error,
        "degrees": e.degrees,
        "bound": e.bound,
        "method": e.method,
        "reason": e.reason or None,
    }


def estimates_table(caption: str, estimates: Sequence[Estimate]) -> str:
    """The measures that have a value, as HTML."""
    known = [e for e in estimates if e.value is not None]
    exact = any(e.is_exact for e in known)
    header = ("measure", "value", "exact") if exact else ("measure", "value")
    shown = [(e.measure, _value(e), cut(rational(e.value) if e.is_exact else "", 32))[: len(header)] for e in known]
    return html_table(caption, header, shown)


def _value(e: Estimate) -> str:
    return short(e.value, 10) if e.half_width is None else with_interval(e)


def html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for notebooks; every text is escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{top}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

"""Pictures of a study: one panel for each measure over the first constant that was varied.

The exact values are a line, closed forms rings on it, simulations points with their intervals. Where they apply: the
asymptotic bounds (dashed) and the balanced job bounds (shaded) of a closed network, the knee of the curve, and the
population at which the network saturates.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serq.base.errors import UsageError
from serq.base.output import cannot_write, check_target, make_directory
from serq.base.source import NOWHERE
from serq.ir.expr import double
from serq.ir.measures import Measure
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.studies.bounded import bounds_of
from serq.studies.errors import MissingExtra
from serq.studies.grid import GridError
from serq.studies.results import PointResult, StudyResult
from serq.studies.tasks import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
"""Okabe and Ito's colours, which people with any kind of colour vision can tell apart."""
SUFFIXES = (".svg", ".png", ".pdf")
_STYLE = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6, "axes.axisbelow": True, "svg.hashsalt": "serq", "svg.fonttype": "path",
    "legend.framealpha": 0.85, "legend.edgecolor": "none", "legend.fontsize": 8, "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlelocation": "left",
}  # fmt: skip
_PANEL = (4.2, 3.1)
_FAR = 20
"""Values whose ratio is larger stand on a logarithmic axis."""


def need_plots() -> None:
    """GridError (SQ827) where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise GridError.of(MissingExtra(span=NOWHERE, what="a plot", package="matplotlib", extra="plot")) from None
    del matplotlib


def check_plot(path: Path) -> None:
    """GridError or UsageError when the plot cannot be made: better before a long study than after it."""
    need_plots()
    if path.suffix not in SUFFIXES:
        raise UsageError(f"--plot takes a name that ends in {', '.join(SUFFIXES)}, not {path.name}")
    check_target(path)


def write_plot(study: StudyResult, measures: Sequence[Measure], path: Path) -> None:
    """Draw the measures into one file, whole or not at all."""
    check_plot(path)
    make_directory(path.parent)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            _save(_figure(study, measures), temporary, path.suffix[1:])
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise cannot_write(path, error) from error


def panel_svg(study: StudyResult, measure: Measure) -> str:
    """The picture of one measure, as SVG text."""
    out = StringIO()
    _save(_figure(study, [measure]), out, "svg")
    return out.getvalue()


def _save(figure: Any, target: Any, form: str) -> None:
    import matplotlib

    with matplotlib.rc_context(_STYLE):  # type: ignore[arg-type]
        figure.savefig(target, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)


def _figure(study: StudyResult, measures: Sequence[Measure]) -> Any:
    """One panel for each measure, two beside each other; the title says what is fixed."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):  # type: ignore[arg-type]
        wide = 1 if len(measures) == 1 else 2
        high = -(-len(measures) // wide)
        figure = Figure(figsize=(_PANEL[0] * wide, _PANEL[1] * high + 0.4), layout="constrained")
        figure.suptitle(_title(study), x=0.02, ha="left", fontsize=8, color="#444444")
        for place, measure in enumerate(measures):
            _Panel(study, measure, figure.add_subplot(high, wide, place + 1)).draw()
        return figure


def _title(study: StudyResult) -> str:
    varied = {axis.name for axis in study.plan.axes}
    program = study.plan.policies[0].base
    fixed = [f"{c.name} = {c.folded.value:g}" for c in program.constants if c.name not in varied]
    text = program.name + (f"; {', '.join(fixed)}" if fixed else "")
    marks = "line: exact, rings: closed form, points: simulated, with intervals"
    return (text if len(text) <= 64 else f"{text[:61]}...") + f"\n{marks}"


@dataclass
class _Panel:
    study: StudyResult
    measure: Measure
    axes: "Axes"

    def draw(self) -> None:
        lines = self.study.lines()
        several = len(self.study.plan.policies) > 1
        for place, ((policy, line), points) in enumerate(lines.items()):
            label = ", ".join([*([policy] if several else []), *(f"{k} = {v}" for k, v in line)])
            self._line(points, COLOURS[place % len(COLOURS)], label)
        if len(lines) == 1:
            self._bounds(next(iter(lines.values())))
        self._bends(single=len(lines) == 1)
        self._scales()
        self.axes.set_title(self.measure.name)
        self.axes.set_xlabel(_meaning(self.study))
        unit = f" [{self.measure.unit}]" if self.measure.unit else ""
        self.axes.set_ylabel(f"{_wrapped(self.measure.meaning)}{unit}")
        if self.axes.get_legend_handles_labels()[1]:
            self.axes.legend(loc="best", ncols=2 if len(lines) > 4 else 1)

    # -- the curves --------------------------------------------------------------------------------------------------

    def _line(self, points: Sequence[PointResult], colour: str, label: str) -> None:
        """One curve by every method; only the first method that is there carries the label of the line."""
        titles: dict[Method, str] = {"exact": "exact", "closed": "closed form", "sim": "simulated"}
        for method in ("exact", "closed", "sim"):
            found = self._answers(points, method)
            if found:
                named = self._first(label, method, points)
                self._marks(method, found, colour, (label or titles[method]) if named else "_")

    def _first(self, label: str, method: Method, points: Sequence[PointResult]) -> bool:
        """Whether a method is in the legend: with one line every one, with several the best."""
        if not label:
            return True
        return method == next(m for m in ("exact", "closed", "sim") if self._answers(points, m))

    def _marks(self, method: Method, found: Sequence[tuple[float, Estimate]], colour: str, label: str) -> None:
        xs, ys = [x for x, _ in found], [double(e.value) for _, e in found if e.value is not None]
        if method == "exact":
            self.axes.plot(xs, ys, "-", color=colour, linewidth=1.4, label=label)
        elif method == "closed":
            self.axes.plot(xs, ys, "o", color=colour, markerfacecolor="none", markersize=6.5, label=label)
        else:
            half = [e.half_width if e.half_width is not None and isfinite(e.half_width) else 0.0 for _, e in found]
            self.axes.errorbar(
                xs, ys, half, fmt=".", color=colour, markersize=4, elinewidth=1, capsize=2.5, label=label
            )

    def _answers(self, points: Sequence[PointResult], method: Method) -> list[tuple[float, Estimate]]:
        out = []
        for point in points:
            outcome, x = point.outcome(method), point.planned.numbers.get(self.study.axis)
            answer = None if outcome is None else outcome.answer(self.measure.name)
            if x is not None and answer is not None and answer.value is not None and isfinite(double(answer.value)):
                out.append((double(x), answer))
        return sorted(out, key=lambda pair: pair[0])

    # -- what is known beside them -----------------------------------------------------------------------------------

    def _bounds(self, points: Sequence[PointResult]) -> None:
        found = bounds_of(points, self.study.axis, self.measure.name)
        if not found:
            return
        low, high = self.axes.get_ylim()
        self.axes.set_ylim(low, high)
        if "balanced" in found:
            xs, lows, highs = zip(*found["balanced"], strict=True)
            self.axes.fill_between(xs, lows, highs, color="#999999", alpha=0.25, linewidth=0, label="balanced bounds")
        if "asymptotic" in found:
            xs, lows, highs = zip(*found["asymptotic"], strict=True)
            self.axes.plot(xs, lows, "--", color="#777777", linewidth=0.9, label="asymptotic bounds")
            self.axes.plot(xs, highs, "--", color="#777777", linewidth=0.9)

    def _bends(self, single: bool) -> None:
        """The knee of this curve and the saturation point, where there is one curve."""
        if not single:
            return
        for bend in self.study.bends([self.measure]):
            style = ":" if bend.kind == "knee" else "-."
            name = "knee" if bend.kind == "knee" else "saturation"
            label = f"{name}: {self.study.axis} = {bend.x:.3g}"
            self.axes.axvline(bend.x, linestyle=style, color="#444444", linewidth=0.9, label=label)

    def _scales(self) -> None:
        from matplotlib.ticker import MaxNLocator, ScalarFormatter

        xs = [double(x) for p in self.study.points if (x := p.planned.numbers.get(self.study.axis)) is not None]
        if xs and min(xs) > 0 and max(xs) / min(xs) > _FAR and not self.study.plan.axes[0].whole:
            self.axes.set_xscale("log")
            self.axes.xaxis.set_major_formatter(ScalarFormatter())
        elif self.study.plan.axes and self.study.plan.axes[0].whole:
            self.axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        low, high = self.axes.get_ylim()
        if 0 < low < high / 2 or low < 0 <= self._least():
            self.axes.set_ylim(0, high)

    def _least(self) -> float:
        points = self.study.points
        values = (e.value for m in ("exact", "closed", "sim") for _, e in self._answers(points, m))
        return min((double(v) for v in values if v is not None), default=0.0)


def _meaning(study: StudyResult) -> str:
    """The first constant, with what the program's comment says it is."""
    return " ".join([study.axis, *_comment(study.plan.policies[0].base, study.axis)])


def _comment(program: Program, name: str) -> list[str]:
    """The comment behind the `let` of a constant, where it has a line of its own."""
    spans = [c.span for c in program.constants]
    span = next((c.span for c in program.constants if c.name == name), NOWHERE)
    _, mark, text = program.source.line(span.line).partition("//")
    alone = sum(s.line == span.line for s in spans) == 1
    return [f"({text.strip()})"] if mark and alone and 0 < len(text.strip()) <= 40 else []


def _wrapped(text: str) -> str:
    """A label on at most two lines."""
    if len(text) <= 34:
        return text
    words, first = text.split(), ""
    while words and len(first) + len(words[0]) <= 34:
        first += f"{words.pop(0)} "
    rest = " ".join(words)
    return f"{first.strip()}\n{rest if len(rest) <= 38 else rest[:35] + '...'}"

"""A program's Markov chain as texts for other tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from serq.api.remarks import differences
from serq.api.tabular import Tabular, html_table
from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, NoSteadyStateError, UsageError
from serq.base.output import check_directory, write_bytes, write_text
from serq.exporters.errors import NotSymbolicError
from serq.exporters.explored import TIME
from serq.exporters.jani import jani_texts
from serq.exporters.prism import Prism, PrismExport
from serq.exporters.rewards import ExportedMeasure
from serq.exporters.slots import SlottedPrism, commands, has_slotted_text
from serq.exporters.target import Content, Target
from serq.ir.chain import Chain
from serq.ir.expr import Const, Number, walk
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.pipeline import SolveOptions, explore_chain, explore_finite, limited, solve_chain
from serq.semantics.derived import definitions, in_terms_of_others
from serq.semantics.near_values import near_number

LARGEST_RESULT = 400
"""States up to which the property file carries the values, which are rationals."""

TARGETS: Mapping[str, str] = {
    "prism": "PRISM text with open constants (also for Storm).",
    "jani": "JANI with open constants.",
    "umb": "The explored chain in the binary format of Storm and PRISM.",
    "drn": "The explored chain in Storm's DRN format.",
    "parametric": "The explored chain in DRN, its rates as functions of the constants.",
    "explicit": "The explored chain as .tra, .sta, .lab, .srew.",
    "dot": "A small chain as a picture for Graphviz.",
}
"""What there is to export to, and what it is."""

SYMBOLIC = ("prism", "jani")
"""The targets that leave constants open; what they cannot express is written as explicit files."""


@dataclass(frozen=True, repr=False)
class ExportResult(Tabular):
    """The texts by file name, the commands that read them, and how the exported chain differs from the program's.

    `not_symbolic` says why a program that was to become a symbolic text is written in another way, and `instead` in
    which.
    """

    program: Program
    target: str
    texts: Mapping[str, Content]
    commands: tuple[str, ...]
    differences: tuple[str, ...]
    not_symbolic: tuple[Diagnostic, ...] = ()
    instead: str = ""

    @property
    def symbolic(self) -> bool:
        """Whether constants are left open."""
        return self.target in SYMBOLIC and not self.not_symbolic

    def write(self, directory: str | Path = ".") -> tuple[Path, ...]:
        """Write the files into a directory, which is made where it does not exist. OutputError when that fails."""
        folder = check_directory(Path(directory))
        for name, content in self.texts.items():
            if isinstance(content, bytes):
                write_bytes(folder / name, content)
            else:
                write_text(folder / name, content)
        return tuple(folder / name for name in self.texts)

    def rows(self) -> list[dict[str, object]]:
        """A row per file."""
        return [{"file": name, "size": _size(content), "content": content} for name, content in self.texts.items()]

    def to_dict(self, directory: str | Path = ".") -> dict[str, object]:
        """What `serq export --json` prints when the files are written to that directory."""
        return provenance(self.program, "export") | {
            "target": self.target,
            "files": [str(Path(directory) / name) for name in self.texts],
            "symbolic": self.symbolic,
            "differences": list(self.differences),
            "not_symbolic": [d.to_dict(self.program.source.name) for d in self.not_symbolic],
            "commands": list(self.commands),
        }

    def _repr_html_(self) -> str:
        rows = [(name, _size(content)) for name, content in self.texts.items()]
        return html_table(f"{self.program.name}: {self.target}", ("file", "size"), rows)


def _size(content: Content) -> str:
    return f"{len(content)} bytes" if isinstance(content, bytes) else f"{content.count(chr(10))} lines"


def export_program(
    program: Program,
    target: str,
    options: SolveOptions = SolveOptions(),
    keep_open: frozenset[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ExportResult:
    """Export to one of the TARGETS; `keep_open`: the only constants left open in a symbolic text, None: all.

    UsageError for an unknown target or constant, or one that cannot stay open; otherwise what
    `serq.pipeline.explore_chain` raises.
    """
    if target not in TARGETS:
        raise UsageError(f"there is no export to {target!r}; there is {', '.join(TARGETS)}")
    unknown = (keep_open or frozenset()) - {c.name for c in program.constants}
    if unknown:
        raise UsageError(f"--const-open: no let is called {', '.join(sorted(unknown))}")
    exporter = _Export(program, options, progress)
    reasons: tuple[Diagnostic, ...] = ()
    commands: tuple[str, ...] = ()
    instead = ""
    texts: Mapping[str, Content]
    if target in SYMBOLIC:
        try:
            done = exporter.prism(keep_open, immediate=target == "prism")
            if target == "jani":
                texts = jani_texts(done, program.name)
            else:
                texts, commands = done.texts(program.name), done.commands
        except NotSymbolicError as error:
            reasons = error.diagnostics
            texts, commands, instead = exporter.instead(target)
    else:
        texts = exporter.explored(target)
    return ExportResult(program, target, texts, commands, tuple(exporter.differences()), reasons, instead)


def _check_open(program: Program, asked: frozenset[str], done: PrismExport) -> None:
    """UsageError where a constant that was to stay open has its value in the text, with the reason."""
    opened = {done.names.named(identifier).name for identifier in done.open_constants}
    closed = []
    for name in sorted(asked - opened):
        constant = program.constant(name)
        inner = [] if constant.overridden else [n.name for n in walk(constant.folded.expr) if isinstance(n, Const)]
        if opened.intersection(inner):
            continue  # it moves with what it follows from
        if inner:
            closed.append(f"`{name}` follows from {', '.join(dict.fromkeys(inner))}, which would have to be open")
        else:
            closed.append(f"`{name}` cannot: the structure depends on it, or nothing does")
    if closed:
        raise UsageError(f"--const-open: {'; '.join(closed)}")


class _Export:
    """Explores only when somebody needs the chain, and at most once."""

    def __init__(self, program: Program, options: SolveOptions, progress: Callable[[int, int], None] | None) -> None:
        self.program = limited(program, options.limit)
        self.options = options
        self.progress = progress
        self._chain: Chain | None = None

    @property
    def chain(self) -> Chain:
        if self._chain is None:
            self._chain = explore_finite(self.program, self.options, "an export", self.progress)
        return self._chain

    def prism(self, keep_open: frozenset[str] | None, *, immediate: bool) -> PrismExport:
        bound = self._bound()
        done = Prism(keep_open, bound, immediate=immediate).export(self.program)
        _check_open(self.program, keep_open or frozenset(), done)
        results = self._results({m.measure.name: m for m in done.measures if isinstance(m, ExportedMeasure)})
        return Prism(keep_open, bound, results, immediate).export(self.program)

    def differences(self) -> list[str]:
        """In what the chain is another one than the program's, where it was explored; the PRISM text is exact."""
        return [] if self._chain is None else differences(self._chain)

    def _bound(self) -> int | None:
        """The largest number of sessions present, where the program itself does not say it."""
        from serq.ir.program import Poisson, Renewal

        arrivals = self.program.arrivals
        if not isinstance(arrivals, Poisson | Renewal) or arrivals.limit is not None:
            return None
        return int(max(self.chain.state_rewards["sessions.number"]))

    def _results(self, measures: Mapping[str, ExportedMeasure]) -> dict[str, Number]:
        """Long-run values of the rewards, from the explored chain; none where it is large or has no steady state."""
        try:
            options = replace(self.options, states=min(self.options.states or LARGEST_RESULT, LARGEST_RESULT))
            chain = self._chain or explore_chain(self.program, options)
            if chain.size > LARGEST_RESULT:
                return {}
            solved = solve_chain(chain, self.program, SolveOptions())
        except (LimitError, NoSteadyStateError):
            return {}
        known = ((e.measure, e.value) for e in solved.estimates)
        values = {name: near_number(chain, value) for name, value in known if value is not None}
        rewards = {m.numerator: values[name] for name, m in measures.items() if not m.denominator and name in values}
        for name, measure in measures.items():
            if measure.denominator in rewards and name in values:
                rewards.setdefault(measure.numerator, values[name] * rewards[measure.denominator])
        return rewards

    def instead(self, target: str) -> tuple[Mapping[str, Content], tuple[str, ...], str]:
        """The explored chain in place of a symbolic text: its files, how they are read, and what they are."""
        if target == "prism" and has_slotted_text(self.chain):
            texts = SlottedPrism(self._per_step()).emit(self.chain, self.program.name)
            return texts, commands(self.program.name), "as PRISM text of the explored chain, without open constants,"
        return self.explored("explicit"), (), "as explicit files"

    def _per_step(self) -> dict[str, Number]:
        """What a chain with clocks earns per step in the long run, by reward: rates times the mean length of a stay."""
        chain = self.chain
        if chain.embedded is None or chain.size > LARGEST_RESULT:
            return {}
        try:
            solution = solve_chain(chain, self.program, SolveOptions()).solution
        except (LimitError, NoSteadyStateError):
            return {}
        shares = [Fraction(x) for x in solution.probabilities]
        stay = 1 / sum((x / h for x, h in zip(shares, chain.embedded.holding, strict=True)), Fraction(0))
        table = chain.reward_table(sorted({*chain.state_rewards, *chain.impulse_names()}))
        rates = {
            name: sum((x * r for x, r in zip(shares, vector, strict=True)), Fraction(0))
            for name, vector in table.items()
        }
        return {TIME: stay, **{name: rate * stay for name, rate in rates.items()}}

    def explored(self, target: str) -> Mapping[str, Content]:
        from serq.exporters.dot import Dot
        from serq.exporters.drn import Drn
        from serq.exporters.explicit import Explicit
        from serq.exporters.parametric import Parametric
        from serq.exporters.umb import Umb

        targets: tuple[Target[Chain], ...] = (Drn(), Parametric(), Explicit(), Dot(), Umb())
        chain = self.chain
        if target == "parametric":
            chain = in_terms_of_others(chain, definitions(self.program))
        return {t.name: t for t in targets}[target].emit(chain, self.program.name)

"""Whether a program is a Markov chain, as an answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from serq.api.tabular import Tabular, html_table
from serq.base.diagnostics import Diagnostic, Note
from serq.base.errors import OutsideFragmentError, SerqError
from serq.base.render import render_all
from serq.ir.chain import Chain
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.pipeline import SolveOptions, explore_chain, explore_options, unlimited


@dataclass(frozen=True, repr=False)
class ExplainResult(Tabular):
    """A program with its chain, or with every reason why it is no finite one."""

    program: Program
    chain: Chain | None
    reasons: tuple[Diagnostic, ...] = ()

    @property
    def markov(self) -> bool:
        """Whether the program is a finite Markov chain."""
        return self.chain is not None

    def rows(self) -> list[dict[str, object]]:
        """A row per reason; none where the program is a chain."""
        return [d.to_dict(self.program.source.name) for d in self.reasons]

    def to_dict(self) -> dict[str, object]:
        """What `serq explain --json` prints."""
        data = provenance(self.program, "explain")
        if self.chain is None:
            return data | {"markov": False, "reasons": self.rows()}
        return data | {
            "markov": True,
            "states": self.chain.size,
            "transitions": len(self.chain.transitions),
            "time": self.chain.timing,
            "lumped": list(self.chain.lumped),
            "truncated": list(self.chain.truncated),
            "approximated": [a.text for a in self.chain.approximated],
        }

    def __str__(self) -> str:
        """The reasons with their lines and carets, or the size of the chain."""
        if self.chain is None:
            return render_all(self.program.source, self.reasons)
        size = f"{self.chain.size} states, {len(self.chain.transitions)} transitions"
        return f"{self.program.name} is a finite Markov chain: {size}."

    def _repr_html_(self) -> str:
        if self.chain is not None:
            return html_table(str(self), (), ())
        rows = [(str(d.span.line), d.message, d.hint) for d in self.reasons]
        return html_table(f"{self.program.name} is no finite Markov chain", ("line", "reason", "hint"), rows)


def explain_program(
    program: Program, options: SolveOptions, progress: Callable[[int, int], None] | None = None
) -> ExplainResult:
    """Explore the program. LimitError when the chain is too large.

    Of an open program without a limit the reason says whether `serq solve` needs one.
    """
    try:
        return ExplainResult(program, explore_chain(program, options, progress))
    except OutsideFragmentError as error:
        reasons = error.diagnostics
    if unlimited(program, options):
        first, *others = reasons
        reasons = (replace(first, notes=(*first.notes, Note(message=_without_limit(program, options)))), *others)
    return ExplainResult(program, None, reasons)


def _without_limit(program: Program, options: SolveOptions) -> str:
    from serq.semantics.level_search import NoLevelsError
    from serq.semantics.unbounded import levels_of

    try:
        levels = levels_of(program, explore_options(options))
    except NoLevelsError as reason:
        return f"`serq solve` needs a limit too: {reason}"
    except SerqError as reason:
        return f"`serq solve` has no answer either: {reason}"
    return f"`serq solve` needs no limit: {levels.text}"

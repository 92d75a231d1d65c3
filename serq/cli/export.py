"""`serq export`: the program's Markov chain for other tools."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, NoSteadyStateError, UsageError
from serq.base.output import check_directory, write_text
from serq.base.render import render_all
from serq.cli.common import Common, common_options
from serq.cli.options import Verb, chain_options, with_options
from serq.cli.progress import exploring
from serq.cli.remarks import differences
from serq.cli.streams import to_stderr
from serq.exporters.errors import NotSymbolicError
from serq.exporters.prism import Prism, PrismExport
from serq.exporters.rewards import ExportedMeasure
from serq.exporters.target import Target
from serq.ir.chain import Chain
from serq.ir.expr import Number
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.pipeline import SolveOptions, explore_chain, limited, solve_chain

LARGEST_RESULT = 400
"""States up to which the property file carries the values, which are rationals."""


_TARGETS = {
    "prism": "PRISM text with open constants (also for Storm).",
    "drn": "The explored chain in Storm's DRN format.",
    "explicit": "The explored chain as .tra, .sta, .lab, .srew.",
    "dot": "A small chain as a picture for Graphviz.",
}


def _target_option(function: Verb) -> Verb:
    """A flag for each target, of which exactly one must be given; it is handed over as `target`."""

    def verb(*args: Any, **given: Any) -> Any:
        asked = [name for name in _TARGETS if given.pop(name)]
        if not asked:
            raise UsageError("say what to export: --prism, --drn, --explicit or --dot")
        if len(asked) > 1:
            raise UsageError(f"one export at a time: {' or '.join(f'--{name}' for name in asked)}")
        return function(*args, target=asked[0], **given)

    return with_options([click.option(f"--{n}", is_flag=True, help=h) for n, h in _TARGETS.items()], verb, function)


@click.command("export")
@common_options
@_target_option
@click.option("--const-open", metavar="N,mu", help="Leave only these constants open in the PRISM text.")
@chain_options()
def command(common: Common, solving: SolveOptions, target: str, const_open: str | None) -> None:
    """Write a program's Markov chain for other tools.

    The files go into the directory --out (default: here). The PRISM text is symbolic where counters can express the
    program; otherwise the explored chain is written in explicit files, and the construct that forced it is named.
    """
    directory = check_directory(Path(common.out or "."))
    report = replace(common, out=None)
    program = report.load()
    exporter = _Export(program, solving, common.quiet)
    texts: Mapping[str, str]
    reasons: tuple[Diagnostic, ...] = ()
    commands: tuple[str, ...] = ()
    if target == "prism":
        try:
            done = exporter.prism(_asked(program, const_open))
            texts, commands = done.texts(program.name), done.commands
        except NotSymbolicError as error:
            reasons = error.diagnostics
            texts = exporter.explored("explicit")
    else:
        texts = exporter.explored(target)
    for name, text in texts.items():
        write_text(directory / name, text)
    noted = exporter.differences()
    if noted and not common.quiet:
        to_stderr("\n".join(noted))
    if reasons and not common.quiet:
        to_stderr(f"{render_all(program.source, reasons)}\n\nwritten as explicit files instead")
    files = [str(directory / name) for name in texts]
    data = provenance(program, "export") | {
        "target": target,
        "files": files,
        "symbolic": target == "prism" and not reasons,
        "differences": noted,
        "not_symbolic": [d.to_dict(program.source.name) for d in reasons],
        "commands": list(commands),
    }
    report.emit("\n".join([*files, *commands]) + "\n", data)


class _Export:
    """Explores only when somebody needs the chain, and at most once."""

    def __init__(self, program: Program, options: SolveOptions, quiet: bool) -> None:
        self.program = limited(program, options.limit)
        self.options = options
        self.quiet = quiet
        self._chain: Chain | None = None

    @property
    def chain(self) -> Chain:
        if self._chain is None:
            with exploring(self.quiet) as progress:
                self._chain = explore_chain(self.program, self.options, progress)
        return self._chain

    def prism(self, keep_open: frozenset[str] | None) -> PrismExport:
        bound = self._bound()
        done = Prism(keep_open, bound).export(self.program)
        results = self._results({m.measure.name: m for m in done.measures if isinstance(m, ExportedMeasure)})
        return Prism(keep_open, bound, results).export(self.program)

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
            solved = solve_chain(chain, self.program, SolveOptions(exact=True))
        except (LimitError, NoSteadyStateError):
            return {}
        values = {e.measure: e.value for e in solved.estimates if e.value is not None}
        rewards = {m.numerator: values[name] for name, m in measures.items() if not m.denominator and name in values}
        for name, measure in measures.items():
            if measure.denominator in rewards and name in values:
                rewards.setdefault(measure.numerator, values[name] * rewards[measure.denominator])
        return rewards

    def explored(self, target: str) -> Mapping[str, str]:
        from serq.exporters.dot import Dot
        from serq.exporters.drn import Drn
        from serq.exporters.explicit import Explicit

        targets: dict[str, Target[Chain]] = {"drn": Drn(), "explicit": Explicit(), "dot": Dot()}
        return targets[target].emit(self.chain, self.program.name)


def _asked(program: Program, const_open: str | None) -> frozenset[str] | None:
    if const_open is None:
        return None
    names = frozenset(n.strip() for n in const_open.split(",") if n.strip())
    unknown = names - {c.name for c in program.constants}
    if unknown:
        raise UsageError(f"--const-open: no let is called {', '.join(sorted(unknown))}")
    return names

"""A loaded program, and a method for each question that can be asked of it.

For instance::

    import serq

    p = serq.load("mm1n", N=8)
    p.solve(exact=True)["stage.svc.throughput"]

The methods are the verbs of the command line: the same options, the same answers, errors as exceptions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import serq.pipeline as pipeline
from serq.api.files import find_file
from serq.api.keywords import (
    CheckKeywords,
    EventKeywords,
    PreciseKeywords,
    QuestionKeywords,
    ReplayKeywords,
    SolveKeywords,
    constants_from,
    names_from,
    number_from,
    options_from,
    refuse_unknown,
    split,
    text_from,
    value_from,
)
from serq.base.diagnostics import Diagnostic
from serq.base.errors import UsageError
from serq.base.source import SourceFile
from serq.base.suggestions import did_you_mean
from serq.check.link import link
from serq.check.overrides import OverrideValue
from serq.ir.expr import Number
from serq.ir.measures import measures_of
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, SolveOptions
from serq.syntax.parser import parse
from serq.syntax.reader import read_source

if TYPE_CHECKING:
    # Named in signatures only: a program pays for the answers that it asks for.
    from serq.api.checked import CheckResult
    from serq.api.explained import ExplainResult
    from serq.api.exported import ExportResult
    from serq.api.matched import ClosedFormResult
    from serq.api.passed import TransientResult
    from serq.api.priced import EventPriceResult, PriceResult
    from serq.api.replayed import ReplayResult
    from serq.api.simulated import SimulateResult
    from serq.api.solved import SolveResult
    from serq.api.symbolic import SymbolicResult


@dataclass(frozen=True)
class Model:
    """A loaded program. `constants`: the values given for its lets; `warnings`: what is odd about it."""

    source: SourceFile
    program: Program = field(repr=False)
    constants: Mapping[str, OverrideValue] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, source: SourceFile, constants: Mapping[str, OverrideValue]) -> "Model":
        """Parse and link a text. LoadError with every fault, UsageError for a constant that the program has not."""
        linked = link(parse(source), constants)
        return cls(source, linked.program, dict(constants), linked.warnings)

    @property
    def name(self) -> str:
        """The program's name: the file's, without folders and suffix."""
        return self.program.name

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of everything that can be asked."""
        return tuple(m.name for m in measures_of(self.program))

    def let(self, name: str) -> Number:
        """The value of a constant, a `Fraction` where it is rational. UsageError when there is no such `let`."""
        for constant in self.program.constants:
            if constant.name == name:
                return constant.folded.exact
        names = [constant.name for constant in self.program.constants]
        known = f"the constants are {', '.join(names)}" if names else "the program has no constants"
        raise UsageError(" ".join(filter(None, (f"there is no `let {name}`;", did_you_mean(str(name), names), known))))

    def having(self, **constants: OverrideValue) -> "Model":
        """The same program with other constants: numbers, or texts of expressions such as `"1/mu"`."""
        return Model.of(self.source, {**self.constants, **constants})

    def simulate(self, **options: Unpack[PreciseKeywords]) -> "SimulateResult":
        """Run the program: every measure with its confidence interval (see `serq.pipeline.SimulateOptions`).

        With `until="1%"` it runs until every interval is so narrow, or the work is `most_work` times that of the first
        round: see `reached`. RunError, with the line, when the program fails; LimitError when a limit is reached.
        """
        from serq.api.simulated import SimulateResult, precision_from

        until, rest = precision_from(options)
        asked = options_from(SimulateOptions, rest)
        if until is None:
            return SimulateResult(self.program, *pipeline.simulate(self.program, asked))
        from serq.studies.precision import simulate_until

        return SimulateResult(self.program, *simulate_until(self.program, asked, until))

    def replay(self, trace: str | None = None, **options: Unpack[ReplayKeywords]) -> "ReplayResult":
        """Replay a trace, the program's own when none is given, request for request.

        InputError or LoadError for a trace that is none, RunError when the program fails; who waits for ever is in the
        answer.
        """
        from serq.api.replayed import ReplayResult, replay_options

        asked, engine = replay_options(self.program, options)
        return ReplayResult(self.program, pipeline.replay(self.program, trace, asked, engine=engine))

    def solve(self, **options: Unpack[QuestionKeywords]) -> "SolveResult":
        """The exact steady state (see `serq.pipeline.SolveOptions`); rational when small or with `exact=True`.

        With `derivative=("mu",)` also how fast every measure changes, with `metastability=True` whether the chain
        switches rarely between two conditions, with `lumping=True` what was lumped.
        OutsideFragmentError with every reason, NoSteadyStateError, LimitError.
        """
        from serq.api.solved import solve_question

        given = dict(options)
        names = names_from("derivative", given.pop("derivative", ()))
        stable, lumping = (bool(value_from(name, given.pop(name, False))) for name in ("metastability", "lumping"))
        asked = options_from(SolveOptions, given)
        return solve_question(
            self.program, asked, lambda name, x: self.having(**{name: x}).program, names, stable, lumping
        )

    def transient(
        self,
        time: float | None = None,
        until: str | None = None,
        initial: str | None = None,
        **options: Unpack[SolveKeywords],
    ) -> "TransientResult":
        """The measures at a time, and the mean time until states such as `stage.svc.number >= 3` are first entered.

        It begins as the program does, or in the long run's states `initial`.
        UsageError for states that are none, or when neither a time nor states are given.
        """
        from serq.api.passed import TransientResult
        from serq.studies.passing import passing

        asked = options_from(SolveOptions, options)
        states = {"initial": initial, "until": until}
        first, last = (None if given is None else text_from(name, given) for name, given in states.items())
        return TransientResult(self.program, passing(self.program, number_from("time", time), first, last, asked))

    def symbolic(self, opened: Collection[str] | None = None, **options: Unpack[SolveKeywords]) -> "SymbolicResult":
        """The measures of a small chain as formulas in the constants of its rates, in all or in those `opened`.

        UsageError for a constant of which no rate is made, LimitError when the formulas grow too large.
        """
        from serq.api.symbolic import SymbolicResult
        from serq.compare.symbolic import formulas

        asked = options_from(SolveOptions, options)
        names = None if opened is None else names_from("opened", opened)
        return SymbolicResult(self.program, formulas(self.program, lambda x: self.having(**x).program, asked, names))

    def explain(self, **options: Unpack[SolveKeywords]) -> "ExplainResult":
        """Whether the program is a finite Markov chain; if not, every reason."""
        from serq.api.explained import explain_program

        return explain_program(self.program, options_from(SolveOptions, options))

    def check(self, **options: Unpack[CheckKeywords]) -> "CheckResult":
        """Simulation, chain and formula side by side, four replications unless told otherwise."""
        from serq.api.checked import CheckResult
        from serq.compare.three_way import CheckOptions, three_way

        to_simulate, to_solve, rest = split(options)
        refuse_unknown(rest, list(CheckKeywords.__annotations__))
        plain = CheckOptions()
        simulation = replace(plain.simulation, **to_simulate)
        wanted = replace(plain, simulation=simulation, solving=SolveOptions(**to_solve), **rest)
        return CheckResult(three_way(self.program, wanted))

    def closed_forms(self) -> "ClosedFormResult":
        """The known formulas that fit the program, their values, and why others do not fit."""
        from serq.api.matched import ClosedFormResult

        return ClosedFormResult(pipeline.closed_forms(self.program))

    def price(
        self,
        to: Mapping[str, OverrideValue],
        start: Mapping[str, OverrideValue] | None = None,
        **options: Unpack[SolveKeywords],
    ) -> "PriceResult":
        """What a change of constants costs: every measure with those in `start`, with those in `to`, the difference.
        `{"N": "N + 1"}` is one more than in this program.

        Raises what `solve` raises, and UsageError for a constant that the program has not.
        """
        from serq.api.priced import price_change
        from serq.studies.change import from_before

        first, last = constants_from("start", start or {}), constants_from("to", to)
        before, after = (self.having(**from_before(self.program, given)) for given in (first, last))
        asked = options_from(SolveOptions, options)
        return price_change(before.program, after.program, _said(first), _said(last), asked)

    def price_event(self, event: str, at: str | None = None, **options: Unpack[EventKeywords]) -> "EventPriceResult":
        """What one event costs that goes another way: `work := EXPR` at a run, `entry lost` at a hold.

        `at` is its LINE or LINE:COLUMN. By the chain alone, or by the `methods` `exact`, `sim` (for any program, from
        `pairs` of runs that differ in the event alone, each followed for the time `follow`) and `closed`.
        UsageError for an event or a place that is none.
        """
        from serq.api.priced import EventPriceResult, event_question
        from serq.studies.event_price import answer_event

        return EventPriceResult(
            self.program, answer_event(self.program, self.constants, event_question(event, at, options))
        )

    def export(
        self, target: str, keep_open: Collection[str] | None = None, **options: Unpack[SolveKeywords]
    ) -> "ExportResult":
        """The Markov chain for other tools: `prism`, `drn`, `explicit` or `dot`, as texts that `write` puts on disk."""
        from serq.api.exported import export_program

        opened = None if keep_open is None else frozenset(names_from("keep_open", keep_open))
        return export_program(self.program, target, options_from(SolveOptions, options), opened)

    def draw(self, form: str = "svg") -> str:
        """The deployment and the way of a session as a picture: text in `svg`, `dot` or `mermaid`."""
        from serq.draw.formats import draw

        return draw(self.program, form)

    def _repr_html_(self) -> str:
        from serq.api.tabular import html_table

        rows = [(c.name, str(c.folded.exact)) for c in self.program.constants]
        return html_table(self.name, ("constant", "value"), rows)


def _said(given: Mapping[str, OverrideValue]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in given.items())


def load(file: str | Path, /, **constants: OverrideValue) -> Model:
    """Load a program: a path, or the name of one that ships. Keywords are other values for its lets.

    InputError when there is no such file, LoadError with every fault of the program, UsageError for an unknown `let`.
    """
    return Model.of(read_source(find_file(str(file))), constants)


def loads(text: str, /, name: str = "program.sq", **constants: OverrideValue) -> Model:
    """Load a program from its text; `name` is what diagnostics call it.

    LoadError with every fault of the program, UsageError for an unknown `let` and for what is no text.
    """
    return Model.of(SourceFile(text_from("name", name), text_from("the program", text)), constants)

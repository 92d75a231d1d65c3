"""The PRISM target: a readable `ctmc` with the constants left open, its rewards, and a property file.

One bounded integer counts the sessions at each program point (and class, and phase of work); the order of several
classes at a fifo stage is one more integer. Nothing here knows a model: the text follows from the program's automaton.
"""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from serq.exporters.automaton import Automaton, automaton
from serq.exporters.constants import Constants, bounding
from serq.exporters.counters import Branch, Command, CounterModel, Variable, prism_text
from serq.exporters.errors import NoCounterForm, NoPopulationBound, NotSymbolicError
from serq.exporters.initial import chosen_at_random, initial_values
from serq.exporters.layout import Layout, layout
from serq.exporters.moves import Change, Move, Moves, observable
from serq.exporters.names import NameMap
from serq.exporters.partial import UnknownValueError
from serq.exporters.rewards import ExportedMeasure, NotExported, Reward, Rewards
from serq.exporters.text import ATOM, PRODUCT, SUM, NoTextError, Piece, Printer, literal, total
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number

WIDEST_WORD = 2**31 - 1
SUFFIXES = (".prism", ".props", ".map.json")


@dataclass(frozen=True)
class PrismExport:
    """The model, the text of its properties, and what is needed to use them.

    `open_constants` are the identifiers that a tool must be given a value for, with the program's values; `measures`
    say how our measures follow from the rewards; `names` leads back to the program.
    """

    counters: CounterModel
    properties: str
    open_constants: Mapping[str, Number]
    integers: frozenset[str]
    measures: tuple[ExportedMeasure | NotExported, ...]
    rewards: tuple[str, ...]
    names: NameMap
    commands: tuple[str, str]
    """How PRISM and Storm are called on the files."""

    @property
    def model(self) -> str:
        """The PRISM text of the model."""
        return prism_text(self.counters)

    def texts(self, stem: str) -> dict[str, str]:
        """The files: the model, its properties, and the way back to the program."""
        described = {
            "program": stem,
            "names": self.names.to_dict(),
            "open": {k: _plain(v) for k, v in self.open_constants.items()},
            "measures": {m.measure.name: _measure_json(m) for m in self.measures},
        }
        texts = (self.model, self.properties, json.dumps(described, indent=2) + "\n")
        return {stem + suffix: text for suffix, text in zip(SUFFIXES, texts, strict=True)}


@dataclass(frozen=True)
class Prism:
    """Options of the target. `keep_open` None: every constant that can stay open does. `bound`: the largest number of
    sessions present, for an open program without a limit. `results`: long-run values by reward identifier.
    """

    keep_open: frozenset[str] | None = None
    bound: int | None = None
    results: Mapping[str, Number] = field(default_factory=dict)

    name: str = "prism"
    suffixes: tuple[str, ...] = SUFFIXES

    def export(self, program: p.Program) -> PrismExport:
        """The export; NotSymbolicError names what no counters can express."""
        return _Writer(program, self).export()

    def emit(self, subject: p.Program, stem: str) -> Mapping[str, str]:
        """The texts by file name."""
        return self.export(subject).texts(stem)


class _Writer:
    def __init__(self, program: p.Program, options: Prism) -> None:
        self.program = program
        self.options = options
        self.names = NameMap()
        self.automaton: Automaton = automaton(program)
        self.constants = Constants(program, self.automaton.partial, self.names, options.keep_open)
        self.printer = Printer(self.constants.use, self._state)
        self.layout: Layout = layout(self.automaton, self.names)

    def _state(self, node: e.StageState | e.Context) -> Piece:
        return observable(node, self.layout, self.printer, None)

    def export(self) -> PrismExport:
        try:
            return self._export()
        except (NoTextError, UnknownValueError) as error:
            reason = f"it needs {error}" if str(error) else "it depends on the state in a way that is no counter"
            problem = NoCounterForm(span=self.program.code[0].span, construct="this session", reason=reason)
            raise NotSymbolicError(self.program.source, [problem]) from error

    def _export(self) -> PrismExport:
        population = self._population()
        moves = Moves(self.automaton, self.layout, self.printer)
        arriving, lost = self._arriving(population)
        every = [*moves.completions(), *(moves.arrivals(*arriving) if arriving else ())]
        rewards = Rewards(self.automaton, self.layout, every, self.names, self.printer)
        rewards.lost = lost
        measures = rewards.measures()
        counters, commands = self._counters(population), self._commands(every)
        formulas, labels = self._formulas(population), self._labels()
        # The constants come last: they are those that have been used.
        model = CounterModel(
            tuple(self._remarks(population)),
            tuple(self.constants.declarations()),
            tuple(formulas),
            tuple(counters),
            tuple(commands),
            tuple(labels),
            tuple(rewards.structures.values()),
        )
        return PrismExport(
            model,
            self._properties(rewards.structures, measures),
            self.constants.open_values(),
            self.constants.integers,
            measures,
            tuple(rewards.structures),
            self.names,
            self._calls(),
        )

    # -- population ------------------------------------------------------------------------------------------------

    def _population(self) -> Piece:
        """The text of the largest number of sessions present."""
        match self.program.arrivals:
            case p.Closed(population=n) | p.Batch(size=n):
                return self.constants.whole(n)
            case p.Poisson(limit=limit) | p.Renewal(limit=limit) if limit is not None:
                return self.constants.whole(limit)
            case p.NoArrivals():
                return Piece("1")
        if self.options.bound is None:
            raise NotSymbolicError(self.program.source, [NoPopulationBound(span=self.program.code[0].span)])
        self.constants.fix(bounding(self.program, self.automaton.partial))
        return Piece(str(self.options.bound))

    def _arriving(self, population: Piece) -> tuple[tuple[Piece, str, bool] | None, tuple[str, Piece] | None]:
        """Of an arrival the rate, where there is room for it, and whether it is lost elsewhere; of a lost one guard and
        rate.
        """
        match self.program.arrivals:
            case p.Poisson(rate=rate, limit=limit):
                value = self.printer.number(rate.expr)
            case p.Renewal(gap=e.Draw(law="exp", args=(mean,)), limit=limit):
                value = Piece(f"1 / {self.printer.number(mean).at(ATOM)}", PRODUCT)
            case p.Renewal():
                raise NoTextError("exponential gaps between arrivals")
            case _:
                return None, None
        present = total([s.present() for s in self.layout.stations])
        room = f"{present.at(SUM)} < {population.at(SUM)}"
        lost = (f"{present.at(SUM)} >= {population.at(SUM)}", value) if limit is not None else None
        return (value, room, lost is not None), lost

    # -- text ------------------------------------------------------------------------------------------------------

    def _calls(self) -> tuple[str, str]:
        """How PRISM and Storm are called on the files, at the constants of the program."""
        model, properties = (shlex.quote(f"{self.program.name}{suffix}") for suffix in (".prism", ".props"))
        values = self._values()
        prism = f"prism {model} {properties}" + (f" -const {values}" if values else "") + " -exact"
        constants = f" --constants {values}" if values else ""
        return prism, f"storm --prism {model} --prop {properties}{constants} --prismcompat --exact"

    def _values(self) -> str:
        """The program's own values of the open constants; as decimals where they are short ones."""
        return ",".join(f"{k}={literal(v)}".replace(" ", "") for k, v in self.constants.open_values().items())

    def _remarks(self, population: Piece) -> list[str]:
        program = self.program.name
        lines = [
            f"{program}: exported by serQ; one bounded integer per program point, class and phase.",
            f"The values in {program}.props are those at the constants of the program; any others may be given.",
            *self._calls(),
        ]
        for name, identifier in self.names.renamed().items():
            if self.names.named(identifier).kind == "constant":
                lines.append(f"The constant {name} is called {identifier} here.")
        closed = self.constants.closed_names()
        if closed:
            lines.append(f"Fixed, because the structure depends on them: {', '.join(sorted(closed))}.")
        arrivals = self.program.arrivals
        if isinstance(arrivals, p.Poisson | p.Renewal) and arrivals.limit is not None:
            lines.append(f"An arrival that finds {population.text} sessions present is lost.")
        if chosen_at_random(self.automaton):
            lines.append("Where sessions begin is random; here all take the first way. Long-run values are the same.")
        for station in self.layout.stations:
            if station.word:
                room = int(math.log(WIDEST_WORD, station.base))
                lines.append(f"PRISM's integers have 32 bits: {station.word} holds at most {room} waiting jobs.")
        return lines

    def _formulas(self, population: Piece) -> list[tuple[str, str]]:
        out = []
        dropped = self.layout.dropped
        if dropped:
            others = [Piece(v) for v in self._variables() if v != dropped]
            out.append((dropped, " - ".join([population.at(SUM), *(o.text for o in others)])))
        for station in self.layout.stations:
            if isinstance(station.kind, p.ProcessorSharing) and station.speed:
                present = station.present()

                def state(node: e.StageState | e.Context, jobs: Piece = present) -> Piece:
                    return jobs if isinstance(node, e.Context) and node.name == "n" else self._state(node)

                speed = Printer(self.printer.names, state).number(station.kind.rate)
                out.append((station.speed, speed.text))
        return out

    def _variables(self) -> list[str]:
        """All counters of sessions (not the words)."""
        out = []
        for station in self.layout.stations:
            out += [slot.variable for slot in station.slots]
            out += [station.waiting] if station.waiting else []
        return out

    def _counters(self, population: Piece) -> list[Variable]:
        start = initial_values(self.automaton, self.layout, self.printer, population)
        nothing = Piece("0")
        out = []
        for name in self._variables():
            if name != self.layout.dropped:
                lines = self.names.named(name).lines
                note = f"line {', '.join(str(n) for n in sorted(set(lines)))}"
                out.append(Variable(name, population.text, start.get(name, nothing).text, note))
        for station in self.layout.stations:
            if station.word:
                largest = f"pow({station.base}, {population}) - 1"
                note = f"classes of the waiting jobs at {station.name}, the oldest in the lowest digit"
                out.append(Variable(station.word, largest, start.get(station.word, nothing).text, note))
        return out

    def _commands(self, moves: Sequence[Move]) -> list[Command]:
        grouped: dict[tuple[str, ...], list[Branch]] = {}
        for move in moves:
            grouped.setdefault(move.guards, []).append(Branch(move.rate.text, tuple(self._updates(move.change))))
        return [Command(guards, tuple(branches)) for guards, branches in grouped.items()]

    def _labels(self) -> list[tuple[str, str]]:
        """Where somebody is at a stage, and where somebody waits there."""
        out = []
        for station in self.layout.stations:
            line = self.program.stages[station.stage].span.line
            occupied = self.names.identifier(f"occupied.{station.name}", "label", (line,))
            out.append((occupied, f"{station.present().at(SUM)} > 0"))
            if isinstance(station.kind, p.Fifo):
                fact = e.StageState("queue", e.Ref(station.name, station.stage))
                waiting = Piece(station.waiting) if station.waiting else self.printer.state(fact)
                queueing = self.names.identifier(f"queueing.{station.name}", "label", (line,))
                out.append((queueing, f"{waiting.at(SUM)} > 0"))
        return out

    def _updates(self, change: Change) -> Iterator[tuple[str, str]]:
        for variable, amount in change.add:
            if variable != self.layout.dropped:
                yield variable, f"{variable} {'+' if amount > 0 else '-'} {abs(amount)}"
        pushed = dict.fromkeys(station.stage for station, _ in change.push)
        for station, code in change.push:
            word = self._popped(change, station.stage)
            if code:
                # The length of the word before the push: what is waiting now, less what was popped.
                length = change.amount(station.waiting or "") - 1
                exponent = station.waiting or ""
                if length:
                    exponent += f" {'+' if length > 0 else '-'} {abs(length)}"
                factor = "" if code == 1 else f"{code} * "
                word = f"{word or station.word} + {factor}pow({station.base}, {exponent})"
            if word and station.word:
                yield station.word, word
        if change.pop is not None and change.pop.stage not in pushed and change.pop.word:
            yield change.pop.word, self._popped(change, change.pop.stage)

    @staticmethod
    def _popped(change: Change, stage: int) -> str:
        station = change.pop
        if station is None or station.stage != stage:
            return ""
        return f"floor({station.word} / {station.base})"

    # -- properties ------------------------------------------------------------------------------------------------

    def _properties(self, structures: Mapping[str, Reward], measures: Sequence[ExportedMeasure | NotExported]) -> str:
        out = [f"// Long-run values of {self.program.name}: one property per reward."]
        for measure in measures:
            name = measure.measure.name
            if isinstance(measure, NotExported):
                out.append(f"// {name}: not here, it needs {measure.reason}")
            elif measure.denominator is not None:
                out.append(f'// {name} = R{{"{measure.numerator}"}} / R{{"{measure.denominator}"}}')
            else:
                out.append(f'// {name} = R{{"{measure.numerator}"}}')
        values = self._values()
        given = f" ({values})" if values else ""
        for identifier, reward in structures.items():
            out += ["", f"// {reward.meaning}"]
            if identifier in self.options.results:
                out.append(f"// RESULT{given}: {_plain(self.options.results[identifier])}")
            label = self.names.identifier(f"longrun.{identifier}", "property")
            out.append(f'"{label}": R{{"{identifier}"}}=? [ S ];')
        return "\n".join(out) + "\n"


def _measure_json(measure: ExportedMeasure | NotExported) -> dict[str, str | None]:
    if isinstance(measure, NotExported):
        return {"reason": f"it needs {measure.reason}"}
    return {"reward": measure.numerator, "per": measure.denominator}


def _plain(value: Number) -> str:
    """A number without spaces: `3`, `1/3`, or a double in full."""
    if isinstance(value, Fraction):
        return str(value)
    return repr(value)

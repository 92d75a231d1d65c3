"""The PRISM target: a readable `ctmc` with the constants left open, its rewards, and a property file.

One bounded integer counts the sessions at each program point (and class, and phase of work); the order of several
classes at a fifo stage is one more integer. Nothing here knows a model: the text follows from the program's automaton.
"""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from serq.exporters.admissions import NoPoolError, sequential
from serq.exporters.automaton import Automaton, automaton
from serq.exporters.constants import Constants, bounding
from serq.exporters.counters import Branch, Command, CounterModel, Variable, prism_text
from serq.exporters.errors import NoCounterForm, NoPopulationBound, NotSymbolicError
from serq.exporters.formulas import Formulas
from serq.exporters.gathering import check_beginnings, check_gathering, gathered, gathering_place
from serq.exporters.initial import chosen_at_random, initial_values
from serq.exporters.layout import Layout, irrational_branches, layout
from serq.exporters.moves import Move, Moves
from serq.exporters.names import NameMap
from serq.exporters.observables import observing
from serq.exporters.partial import UnknownValueError
from serq.exporters.passages import Place, Rest
from serq.exporters.properties import counter_properties, long_run_property, measure_json, plain_number
from serq.exporters.rewards import ExportedMeasure, NotExported, Rewards
from serq.exporters.stores import stores
from serq.exporters.text import ATOM, PRODUCT, SUM, NoTextError, Piece, Printer, literal, shifted
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
    commands: tuple[str, ...]
    """How PRISM and Storm are called on the files; Storm alone where it is a Markov automaton."""

    @property
    def model(self) -> str:
        """The PRISM text of the model."""
        return prism_text(self.counters)

    def property_of(self, reward: str) -> str:
        """The property that asks for the long-run value of a reward."""
        return long_run_property(self.counters, reward)

    def texts(self, stem: str) -> dict[str, str]:
        """The files: the model, its properties, and the way back to the program."""
        described = {
            "program": stem,
            "names": self.names.to_dict(),
            "open": {k: plain_number(v) for k, v in self.open_constants.items()},
            "measures": {m.measure.name: measure_json(m) for m in self.measures},
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
    immediate: bool = True
    """Whether a Markov automaton will do, which PRISM and JANI do not read."""

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
        self.automaton: Automaton = automaton(program)
        self.reached: set[Rest] | None = None
        self.home: tuple[Place, ...] = ()
        """Where all begin together, where that is not where the program begins."""
        self.closed: tuple[p.Folded, ...] = ()
        self.one = False

    def export(self) -> PrismExport:
        """The export with as many caps open as possible: how large a pool is may decide who can ever wait."""
        shaping = set(self.automaton.partial.shaping)
        first: Exception | None = None
        for closed, one in self._ways():
            self.automaton.partial.shaping.clear()
            self.automaton.partial.shaping |= shaping
            self.closed, self.one = closed, one
            try:
                return self._attempt()
            except (NoTextError, UnknownValueError) as error:
                first = first or error
        assert first is not None
        raise NotSymbolicError(self.program.source, [self._reason(first)]) from first

    def _reason(self, error: Exception) -> NoCounterForm:
        if isinstance(error, NoPoolError):
            pool = self.program.pools[error.pool]
            return NoCounterForm(span=pool.span, construct=f"{error.construct} of {pool.name}", reason=str(error))
        reason = f"it needs {error}" if str(error) else "it depends on the state in a way that is no counter"
        return NoCounterForm(span=self.program.code[0].span, construct="this session", reason=reason)

    def _ways(self) -> Iterator[tuple[tuple[p.Folded, ...], bool]]:
        """Which caps to fix at their values: none, one, all; and whether to admit one by one."""
        yield from ((caps, False) for caps in self._closed_caps())
        if self.options.immediate and self.automaton.claims and sequential(self.automaton):
            yield (), True

    def _closed_caps(self) -> Iterator[tuple[p.Folded, ...]]:
        yield ()
        claimed = {part.pool for claim in self.automaton.claims for part in claim.parts}
        caps = [self.program.pools[pool].cap for pool in sorted(claimed)]
        if len(caps) > 1:
            yield from ((cap,) for cap in caps)
        if caps:
            yield tuple(caps)

    def _attempt(self) -> PrismExport:
        if self.automaton.claims:
            self._begin()
        while True:
            self._lay()
            every, missing = self._moved()
            if not missing:
                return self._export(every)
            assert self.reached is not None
            self.reached |= missing

    def _begin(self) -> None:
        """With pools only what sessions can come to is laid out; what that is turns out on the way."""
        self.reached = set()
        if not isinstance(self.program.arrivals, p.Poisson | p.Renewal):
            self.home = gathering_place(self.automaton)
            self.reached |= set(self.home)

    def _lay(self) -> None:
        self.names = NameMap()
        self.constants = Constants(self.program, self.automaton.partial, self.names, self.options.keep_open)
        self.constants.fix(n.name for cap in self.closed for n in e.walk(cap.expr) if isinstance(n, e.Const))
        self.layout: Layout = layout(self.automaton, self.names, self.reached)
        self.stores = stores(self.automaton, self.layout, self.names, self.constants)
        plain = Printer(self.constants.use, _no_state)
        self.printer = observing(plain, self.layout, self.stores, None)
        self.population = self._population()
        self.arriving, self.lost = self._arriving(self.population)

    def _moved(self) -> tuple[list[Move], set[Rest]]:
        """All transitions, and the places that are missing in the layout."""
        moves = Moves(self.automaton, self.layout, self.stores, self.printer, one=self.one)
        every = [*moves.completions(), *(moves.arrivals(*self.arriving) if self.arriving else ())]
        if self.one:
            every += moves.admitted_at_once()
        if self.lost is not None and self._nobody_enters():
            # A state without any transition has no long-run rewards in Storm.
            every.append(Move((self.lost[0],), self.lost[1], (), ()))
        return every, moves.unplaced

    def _nobody_enters(self) -> bool:
        """Whether every arrival is lost."""
        arrivals = self.program.arrivals
        limit = arrivals.limit if isinstance(arrivals, p.Poisson | p.Renewal) else None
        return limit is not None and p.whole(limit) == 0

    def _export(self, every: list[Move]) -> PrismExport:
        at_random = not self.home and chosen_at_random(self.automaton, self.layout)
        possible = self._possible(at_random)
        population = self.population
        rewards = Rewards(self.automaton, self.layout, self.stores, every, self.names, self.printer)
        rewards.lost = self.lost
        measures = rewards.measures()
        formulas = Formulas(self.layout, self.stores, self.names, self.printer, population)
        counters, commands = self._counters(formulas), self._commands(every, formulas)
        texts, labels, requires = formulas.texts(), self._labels(), tuple(dict.fromkeys(self._requires(possible)))
        # The constants come last: they are those that have been used.
        model = CounterModel(
            tuple(self._remarks(population, requires, at_random=at_random)),
            tuple(self.constants.declarations()),
            tuple(texts),
            tuple(counters),
            tuple(commands),
            tuple(labels),
            tuple(rewards.structures.values()),
            requires,
        )
        return PrismExport(
            model,
            counter_properties(model, measures, self.names, self.options.results, (self.program.name, self._values())),
            self.constants.open_values(),
            self.constants.integers,
            measures,
            tuple(rewards.structures),
            self.names,
            self._calls(model.immediate),
        )

    def _possible(self, at_random: bool) -> tuple[e.Expr, ...]:
        """The probabilities that are positive where long-run values do not depend on the beginning."""
        if self.home:
            return check_gathering(self.automaton, self.home, self.reached or ())
        return check_beginnings(self.automaton) if at_random else ()

    def _requires(self, possible: Sequence[e.Expr]) -> Iterator[str]:
        """What must be true of the constants that stay open, these probabilities being positive."""
        for chance in possible:
            if self.constants.opens(chance):
                yield self._positive(chance)
        arrivals = self.program.arrivals
        population_open = isinstance(arrivals, p.Closed) and self.constants.is_open(arrivals.population)
        for store in self.stores.values():
            if store.cap is None:
                continue
            cap = store.cap.at(SUM)
            if not store.exact:
                yield f"{cap} >= {store.least}"
            if not store.exact and store.step > 1:
                # Storm computes no `mod` in the initial condition of JANI.
                multiple = Piece(f"{store.step} * floor({store.cap.at(PRODUCT)} / {store.step})", PRODUCT)
                yield f"{shifted(multiple, store.residue)} = {cap}"
            if store.full and (population_open or not store.exact):
                room = cap if store.step == 1 else f"floor({store.cap.at(PRODUCT)} / {store.step})"
                yield f"{room} < {self.population.at(SUM)}"

    def _positive(self, chance: e.Expr) -> str:
        match chance:
            case e.Binary(op="-", left=e.Num(value=1), right=other):
                return f"{self.printer.number(other).at(SUM)} < 1"
            case _:
                return f"{self.printer.number(chance).at(SUM)} > 0"

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
        present = self.layout.present()
        room = f"{present.at(SUM)} < {population.at(SUM)}"
        lost = (f"{present.at(SUM)} >= {population.at(SUM)}", value) if limit is not None else None
        return (value, room, lost is not None), lost

    # -- text ------------------------------------------------------------------------------------------------------

    def _calls(self, immediate: bool) -> tuple[str, ...]:
        """How PRISM and Storm are called on the files, at the constants of the program."""
        model, properties = (shlex.quote(f"{self.program.name}{suffix}") for suffix in (".prism", ".props"))
        values = self._values()
        constants = f" --constants {values}" if values else ""
        storm = f"storm --prism {model} --prop {properties}{constants} --prismcompat --exact"
        if immediate:
            return (storm,)
        return f"prism {model} {properties}" + (f" -const {values}" if values else "") + " -exact", storm

    def _values(self) -> str:
        """The program's own values of the open constants; as decimals where they are short ones."""
        return ",".join(f"{k}={literal(v)}".replace(" ", "") for k, v in self.constants.open_values().items())

    def _remarks(self, population: Piece, requires: Sequence[str], *, at_random: bool) -> list[str]:
        program = self.program.name
        others = "others that this is valid for" if requires else "any others"
        lines = [
            f"{program}: exported by serQ; one bounded integer per program point, class and phase.",
            *([f"Valid for {' and '.join(requires)}; other constants are refused."] if requires else []),
            f"The values in {program}.props are those at the constants of the program; {others} may be given.",
            *self._calls(self.one),
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
        if at_random:
            lines.append("Where sessions begin is random; here all take the first way. Long-run values are the same.")
        if self.one:
            lines.append("A Markov automaton: whoever fits is admitted at once. Storm reads it, PRISM does not.")
        if self.home:
            stage = self.program.stages[self.home[0].stage].name
            lines.append(f"All sessions begin at {stage}, wherever the program does. Long-run values are the same.")
        lines += irrational_branches(self.program, self.automaton.partial)
        for line in self.layout.lines():
            if line.word:
                room = int(math.log(WIDEST_WORD, line.base))
                lines.append(f"PRISM's integers have 32 bits: {line.word} holds at most {room} waiting jobs.")
        return lines

    def _counters(self, formulas: Formulas) -> list[Variable]:
        if self.home:
            start: Mapping[str, Piece] = gathered(self.home, self.layout, self.stores, self.population)
        else:
            start = initial_values(self.automaton, self.layout, self.printer, self.population)
        nothing = Piece("0")
        out = []
        for name in self.layout.variables():
            if name not in formulas.written:
                lines = self.names.named(name).lines
                note = f"line {', '.join(str(n) for n in sorted(set(lines)))}"
                out.append(
                    Variable(
                        name, formulas.most([self.layout.memory_of[name]]).text, start.get(name, nothing).text, note
                    )
                )
        for line in self.layout.lines():
            if line.word:
                largest = f"pow({line.base}, {formulas.most([rest.memory for rest in line.classes])}) - 1"
                kind, _, name = line.key.partition(".")
                those = f"jobs at {name}" if kind == "stage" else f"claims of {name}"
                note = f"classes of the waiting {those}, the oldest in the lowest digit"
                out.append(Variable(line.word, largest, start.get(line.word, nothing).text, note))
        return out

    def _commands(self, moves: Sequence[Move], formulas: Formulas) -> list[Command]:
        grouped: dict[tuple[bool, tuple[str, ...]], list[Branch]] = {}
        for move in moves:
            updates = tuple((name, text) for name, text in move.updates if name not in formulas.written)
            grouped.setdefault((move.immediate, move.guards), []).append(Branch(move.rate.text, updates))
        return [Command(guards, tuple(branches), now) for (now, guards), branches in grouped.items()]

    def _labels(self) -> list[tuple[str, str]]:
        """Where somebody is at a stage, and where somebody waits there."""
        out = []
        for station in self.layout.stations:
            line = self.program.stages[station.stage].span.line
            occupied = self.names.identifier(f"occupied.{station.name}", "label", (line,))
            out.append((occupied, f"{station.present().at(SUM)} > 0"))
            if isinstance(station.kind, p.Fifo):
                fact = e.StageState("queue", e.Ref(station.name, station.stage))
                waiting = station.line.length() if station.line else self.printer.state(fact)
                queueing = self.names.identifier(f"queueing.{station.name}", "label", (line,))
                out.append((queueing, f"{waiting.at(SUM)} > 0"))
        for pool, queue in self.layout.queues.items():
            if queue.classes:
                name = self.program.pools[pool].name
                line = self.program.pools[pool].span.line
                claimed = self.names.identifier(f"queueing.{name}", "label", (line,))
                out.append((claimed, f"{queue.length().at(SUM)} > 0"))
        return out


def _no_state(node: e.StageState | e.PoolState | e.Context) -> Piece:
    raise NoTextError("a value that is no function of the counters")
